"""forget: for good, after a look at what would go."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, moment, share
from foreword.cli.reading import about
from foreword.cli.screen import Screen, count, cut
from foreword.errors import BadInput
from foreword.model import Memory, how_sure
from foreword.serve import documents

if TYPE_CHECKING:
    from foreword.engine import Foreword

_PREVIEWED = 10
_SEARCHED = 100
# About a second's work.
_SLOW_FROM = 5_000
_EXAMPLE = """\
foreword forget m12 m13
foreword forget --session agent:main:telegram:group:42 --before 2026-01-01
foreword forget --search "my old address" --dry-run"""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "forget",
        forget,
        summary="forget memories for good",
        more="By id, by every filter given together, or by what a search is sure of. It shows what would go and asks"
        " first; no byte of it stays in the store, nor in a receipt.",
        example=_EXAMPLE,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="ids such as m12")
    parser.add_argument("--session", default="", metavar="SESSION", help="of this conversation")
    parser.add_argument("--agent", default="", metavar="AGENT", help="of this agent")
    parser.add_argument("--source", default="", metavar="ID", help="with this id of the host's")
    parser.add_argument("--before", type=moment, metavar="DATE", help="older than this, ISO or seconds")
    parser.add_argument("--search", metavar="TEXT", help="what a search for this is sure of")
    parser.add_argument(
        "--sure", type=share, metavar="X", help="with --search: how sure, from 0 to 1; gate.confident by default"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what would go, and stop")


def forget(call: Call) -> int:
    _check(call)
    args = call.args
    with call.open() as engine:
        memories = _meant(call, engine)
        preview = {"memories": [documents.memory(one) for one in memories]}
        nothing = {"forgotten": 0, "receipts": 0, "sections": 0, "left": []}
        if not memories:
            call.answer({**preview, **nothing}, ["Nothing matches; nothing was forgotten."])
            return Exit.NO
        if args.dry_run:
            call.answer({**preview, **nothing}, _preview(memories, call.screen))
            return Exit.OK
        if not args.yes and not _confirmed(call, memories):
            call.screen.note("Nothing was forgotten.")
            return Exit.NO
        if len(memories) >= _SLOW_FROM and sys.stderr.isatty():
            call.screen.note(f"Forgetting {len(memories):,} memories …")
        gone = engine.forget([one.id for one in memories])
    receipts = f" and {count(gone.receipts, 'receipt')} that named or quoted them" if gone.receipts else ""
    journals = f" They also went from {count(gone.sections, 'section')} of journals." if gone.sections else ""
    left = [
        f"{file} could not be changed and may still quote them: take the section out by hand." for file in gone.left
    ]
    call.answer(
        {
            **preview,
            "forgotten": gone.memories,
            "receipts": gone.receipts,
            "sections": gone.sections,
            "left": list(gone.left),
        },
        [f"Forgotten: {count(gone.memories, 'memory', 'memories')}{receipts}.{journals}", *left],
    )
    return Exit.NO if left else Exit.OK


def _check(call: Call) -> None:
    args = call.args
    ways = [
        bool(args.ids),
        any((args.session, args.agent, args.source, args.before is not None)),
        args.search is not None,
    ]
    if sum(ways) != 1:
        raise BadInput(
            "Nothing says what to forget." if not any(ways) else "Ids, filters and --search cannot be mixed.",
            hint="Give ids, or --session, --agent, --source and --before, or --search.",
        )
    if args.sure is not None and args.search is None:
        raise BadInput("--sure belongs to --search.")


def _meant(call: Call, engine: Foreword) -> list[Memory]:
    args = call.args
    if args.search is None:
        return engine.forgettable(
            list(dict.fromkeys(args.ids)),
            session=args.session,
            agent=args.agent,
            source_id=args.source,
            before=args.before,
        )
    sure = engine.settings.gate.confident if args.sure is None else args.sure
    # Whoever forgets must miss none for its place.
    found = engine.search(args.search, limit=_SEARCHED, thorough=True)
    meant = [one.memory for one in found if one.confidence >= sure]
    if not meant and found:
        best = found[0]
        call.screen.note(
            f"The best match, {best.memory.id}, is {how_sure(best.confidence)} sure, below {sure:.2f}:"
            f" {cut(best.memory.text, 80)}\n--sure lowers the bar, or name ids from `foreword search`."
        )
    return meant


def _preview(memories: Sequence[Memory], screen: Screen) -> Iterator[str]:
    yield f"This would forget {count(len(memories), 'memory', 'memories')}:"
    for one in memories[:_PREVIEWED]:
        yield f"  {one.id}  {about(one)}"
        yield f"      {cut(one.text, screen.width - 6)}"
    if len(memories) > _PREVIEWED:
        yield f"  … and {len(memories) - _PREVIEWED:,} more"


def _confirmed(call: Call, memories: Sequence[Memory]) -> bool:
    if call.screen.as_json or not (sys.stdin and sys.stdin.isatty()):
        raise BadInput(
            f"Nobody is here to confirm that {count(len(memories), 'memory', 'memories')} should go for good.",
            hint="Give --yes to do it, or --dry-run to see them.",
        )
    for line in _preview(memories, call.screen):
        call.screen.note(line)
    print("Forget for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
