"""vault: folders of notes that are read into the memories and followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs
from foreword.cli.recording import rebuild_waiting
from foreword.cli.screen import Progress, count, printable, size, when
from foreword.errors import BadInput
from foreword.model import Audience

if TYPE_CHECKING:
    from foreword.engine import Foreword
    from foreword.store import Vault
    from foreword.vaults import Report, Summary

_SHOWN = 3
# Which options belong to which verb; the others are refused rather than ignored.
_OPTIONS = {"add": ("name", "agent", "project", "audience", "dry_run"), "list": (), "remove": (), "check": ()}
_EXAMPLE = """\
foreword vault add ~/notes --dry-run
foreword vault add ~/.openclaw/workspace/memory --name diary --agent main
foreword vault list
foreword vault check notes
foreword vault remove notes"""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "vault",
        vault,
        summary="read folders of Markdown notes, and follow what changes in them",
        more="`add` reads a folder, `check` looks through it again and tells what changed and what is left out,"
        " `remove` takes all that was made of it out of the memories. The notes themselves are never written.",
        example=_EXAMPLE,
    )
    parser.add_argument("what", choices=tuple(_OPTIONS), help="what to do")
    parser.add_argument("which", nargs="?", default="", metavar="DIR|NAME", help="add: a folder; else a vault's name")
    parser.add_argument("--name", default="", help="add: what to call it; without it, as its folder is called")
    parser.add_argument("--agent", default="", help="add: for this agent alone; without it, for every agent")
    parser.add_argument("--project", default="", help="add: for this project alone; without it, for every project")
    parser.add_argument(
        "--audience", choices=[one.label for one in Audience], help="add: who may see it; private by default"
    )
    parser.add_argument("--dry-run", action="store_true", help="add: tell what would be read, and keep nothing")


def vault(call: Call) -> int:
    args = call.args
    for option in sorted({one for options in _OPTIONS.values() for one in options} - {*_OPTIONS[args.what]}):
        if getattr(args, option):
            raise BadInput(f"--{option.replace('_', '-')} does not belong to {args.what}.")
    if args.what == "list" and args.which:
        raise BadInput("list takes no name.", hint=f"`foreword vault check {args.which}` looks at one.")
    if args.what in ("add", "remove") and not args.which:
        hint = "`foreword vault add ~/notes`" if args.what == "add" else "`foreword vault list` has the names."
        raise BadInput(f"{args.what} needs a {'folder' if args.what == 'add' else 'name'}.", hint=hint)
    verb: Callable[[Call, Foreword], int] = {"add": _add, "list": _list, "remove": _remove, "check": _check}[args.what]
    with call.open() as engine:
        return verb(call, engine)


def _add(call: Call, engine: Foreword) -> int:
    args = call.args
    proposed = engine.vaults.proposed(
        args.which,
        name=args.name,
        agent=args.agent,
        project=args.project,
        audience=Audience.named(args.audience or "private"),
    )
    if not args.dry_run:
        engine.vaults.add(proposed)
    done = _read(engine, proposed, dry_run=args.dry_run)
    would = "would be " if args.dry_run else ""
    lines = [
        f"{proposed.name}  {printable(proposed.path)}",
        f"{count(done.files, 'note')}, {size(done.size)}: {count(done.added, 'chunk')} {would}kept",
        *_left_out(done.skipped),
    ]
    if done.problem:
        lines.append(done.problem)
    call.answer({**_document(proposed), **_told(done), "dry_run": bool(args.dry_run)}, lines)
    return Exit.NO if done.problem else Exit.OK


def _list(call: Call, engine: Foreword) -> int:
    found = engine.vaults.reports()
    if call.screen.as_json:
        call.answer({"vaults": [_report(one) for one in found]})
    elif not found:
        call.screen.write("There is no vault yet: `foreword vault add ~/notes`.")
    else:
        heads = ("name", "notes", "chunks", "left out", "looked at", "for", "folder")
        call.screen.table(heads, [_row(one) for one in found])
    return Exit.OK


def _row(one: Report) -> tuple[str, ...]:
    vault = one.vault
    whom = ", ".join(part for part in (vault.agent, vault.project, vault.audience.label) if part)
    at = "being removed" if vault.leaving else when(vault.scanned_at)
    skipped = sum(map(len, one.skipped.values()))
    return vault.name, f"{one.files:,}", f"{one.chunks:,}", f"{skipped:,}", at, whom, vault.path


def _remove(call: Call, engine: Foreword) -> int:
    found = engine.vaults.named(call.args.which)
    gone = engine.remove_vault(found.name)
    receipts = f" and {count(gone.receipts, 'receipt')} that named them" if gone.receipts else ""
    call.answer(
        {**_document(found), "forgotten": gone.memories, "receipts": gone.receipts},
        [f"{found.name} is no longer a vault; {count(gone.memories, 'chunk')}{receipts} forgotten. The notes stay."],
    )
    return Exit.OK


def _check(call: Call, engine: Foreword) -> int:
    chosen = [engine.vaults.named(call.args.which)] if call.args.which else engine.vaults.all()
    done = [_read(engine, one) for one in chosen]
    found = {one.vault.name: one for one in engine.vaults.reports()}
    data = [{**_told(one), **_report(found[one.vault.name])} for one in done]
    lines = [line for one in done for line in _changes(one, found[one.vault.name].skipped)]
    call.answer({"vaults": data}, lines or ["There is no vault yet: `foreword vault add ~/notes`."])
    return Exit.NO if any(one.problem for one in done) else Exit.OK


def _changes(done: Summary, skipped: Mapping[str, list[str]]) -> Iterator[str]:
    yield f"{done.vault.name}  {printable(done.vault.path)}"
    if done.problem:
        yield f"  {printable(done.problem)}"
        return
    if done.read or done.gone:
        yield f"  {count(done.files, 'note')}: {done.read:,} read, {done.gone:,} gone"
        yield f"  chunks: {done.added:,} new, {done.kept:,} as before, {done.superseded:,} replaced"
    else:
        yield f"  {count(done.files, 'note')}, nothing changed"
    being_written = [path for path, reason in done.skipped.items() if reason not in skipped]
    yield from (f"  {line}" for line in skipped_lines(skipped))
    if being_written:
        yield f"  {', '.join(map(printable, being_written[:_SHOWN]))}: it is being written"


def _read(engine: Foreword, one: Vault, *, dry_run: bool = False) -> Summary:
    with Progress("read") as progress:
        done = engine.vaults.bring_up_to_date(one, dry_run=dry_run, progress=progress.update)
    if not dry_run:
        rebuild_waiting(engine)
    return done


def skipped_lines(skipped: Mapping[str, list[str]]) -> Iterator[str]:
    """A line for each reason, with the first of its files."""
    for reason, paths in sorted(skipped.items()):
        more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
        yield f"{', '.join(map(printable, paths[:_SHOWN]))}{more}: {reason}"


def _left_out(skipped: Mapping[str, str]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for path, reason in skipped.items():
        by_reason.setdefault(reason, []).append(path)
    yield from (f"left out: {line}" for line in skipped_lines(by_reason))


def _document(one: Vault) -> dict[str, Any]:
    return {
        "name": one.name,
        "path": one.path,
        "agent": one.agent,
        "project": one.project,
        "audience": one.audience.label,
    }


def _report(one: Report) -> dict[str, Any]:
    return {
        **_document(one.vault),
        "files": one.files,
        "chunks": one.chunks,
        "scanned_at": one.vault.scanned_at,
        "problem": one.vault.problem,
        "skipped": one.skipped,
    }


def _told(done: Summary) -> dict[str, Any]:
    return {
        "files": done.files,
        "read": done.read,
        "gone": done.gone,
        "bytes": done.size,
        "added": done.added,
        "kept": done.kept,
        "replaced": done.superseded,
        "skipped": done.skipped,
        "problem": done.problem,
    }
