"""search, get, sessions: what is kept, asked for on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, add_place, add_text, at_least, share
from foreword.cli.screen import Screen, count, cut, printable, when
from foreword.model import Memory, how_sure
from foreword.serve import documents

_SUMMARY_CHARS = 80


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "search",
        search,
        summary="find memories by meaning, best first",
        more="Without --session and --agent the owner asks, and everything is searched.",
        example='foreword search "when do we deploy" --limit 3',
    )
    add_text(parser, "what to look for")
    parser.add_argument("--limit", type=at_least(1), default=5, metavar="N", help="how many at most; 5 by default")
    parser.add_argument(
        "--sure", type=share, default=0.0, metavar="X", help="leave out what is less sure than this, from 0 to 1"
    )
    add_place(parser, "session", "agent", "sender", "project")

    parser = verbs.add(
        "get",
        get,
        summary="memories in full, by id",
        more="With --session or --agent only what that session may see.",
        example="foreword get m12 --around 2",
    )
    parser.add_argument("ids", nargs="+", metavar="ID", help="ids such as m12")
    parser.add_argument(
        "--around", type=at_least(0), default=0, metavar="N", help="with so many neighbours on each side"
    )
    parser.add_argument("--whole-session", action="store_true", help="with the whole conversation they belong to")
    add_place(parser, "session", "agent", "sender")

    parser = verbs.add(
        "sessions",
        sessions,
        summary="the conversations that are kept, newest first",
        example="foreword sessions --agent main --limit 10",
    )
    parser.add_argument("--limit", type=at_least(1), default=20, metavar="N", help="how many at most; 20 by default")
    add_place(parser, "agent")


def search(call: Call) -> int:
    args = call.args
    text = call.text()
    with call.open() as engine:
        results = engine.search(
            text,
            limit=args.limit,
            session=args.session,
            agent=args.agent,
            sender=args.sender,
            project=args.project,
        )
        floor = engine.settings.gate.floor
    results = [one for one in results if one.confidence >= args.sure]
    screen = call.screen

    def lines() -> Iterator[str]:
        for one in results:
            memory = one.memory
            yield f"{how_sure(one.confidence)}  {screen.paint(memory.id, 'bold')}  {screen.paint(about(memory), 'dim')}"
            # What a turn would never be given is shown, since it was asked for, but not as if it were an answer.
            faint = ["dim"] if one.confidence < floor else []
            yield f"      {screen.paint(cut(memory.text, screen.width * 2), *faint)}"
        if not results:
            yield "Nothing found."

    call.answer({"results": [documents.found(one) for one in results]}, lines())
    return Exit.OK if results else Exit.NO


def get(call: Call) -> int:
    args = call.args
    with call.open() as engine:
        memories = engine.get(
            args.ids,
            around=args.around,
            whole_session=args.whole_session,
            session=args.session,
            agent=args.agent,
            sender=args.sender,
        )
    data = {"memories": [documents.memory(one) for one in memories]}
    call.answer(data, _in_full(memories, asked=args.ids, screen=call.screen))
    return Exit.OK


def _in_full(memories: Sequence[Memory], *, asked: Sequence[str], screen: Screen) -> Iterator[str]:
    for place, one in enumerate(memories):
        if place:
            yield ""
        # Among its neighbours, the one that was asked for stands out.
        yield f"{screen.paint(one.id, *(['bold'] if one.id in asked else []))}  {screen.paint(about(one), 'dim')}"
        if one.title:
            yield screen.paint(cut(one.title, screen.width), "bold")
        yield printable(one.text)
        for name, values in (("files", one.files), ("concepts", one.concepts), ("decisions", one.decisions)):
            if values:
                yield screen.paint(f"{name}: {printable('; '.join(values))}", "dim")


def about(memory: Memory) -> str:
    """Where a memory comes from, in one line."""
    parts = [
        when(memory.at),
        memory.kind.value + (f"/{memory.type}" if memory.type else ""),
        memory.sender or memory.origin.value,
        memory.audience.label,
        memory.session or (f"agent {memory.agent}" if memory.agent else next(iter(memory.files), "every agent")),
        f"~{count(memory.tokens, 'token')}",
    ]
    return printable(" · ".join(parts))


def sessions(call: Call) -> int:
    with call.open() as engine:
        kept = engine.sessions(limit=call.args.limit, agent=call.args.agent)
    if call.screen.as_json or not kept:
        call.answer({"sessions": [documents.session(one) for one in kept]}, ["No session is kept yet."])
    else:
        call.screen.table(
            ("last", "memories", "agent", "kind", "audience", "session", "summary"),
            [
                (
                    when(one.last_at),
                    f"{one.memories:,}",
                    one.agent,
                    one.kind.value,
                    one.audience.label,
                    one.key or "-",
                    cut(one.summary.partition("\n")[0], _SUMMARY_CHARS),
                )
                for one in kept
            ],
        )
    return Exit.OK
