"""import, export: what other programs have kept comes in, and all that is kept goes out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, moment
from foreword.cli.recording import rebuild_waiting
from foreword.cli.screen import Progress, count, printable, size, when
from foreword.errors import BadInput, StoreUnwritable
from foreword.files import replace_file
from foreword.imports import FORMATS, Format
from foreword.model import Audience, Memory, Outcome
from foreword.serve import documents

if TYPE_CHECKING:
    from foreword.transfer import Found, Tally

_DETECT = "detect"
_MORE = """\
Secrets are redacted
before anything is written; times, agents, projects and audiences stay what they were. What is known
already is not kept twice, so an import can be stopped and given again: it goes on where it was.

"""
_EXAMPLE = """\
foreword import detect
foreword import claude-code --dry-run
foreword import claude-code ~/.claude/projects --since 2026-01-01
foreword import jsonl history.jsonl --agent main --project /srv/shop"""


def add(verbs: Verbs) -> None:
    width = max(map(len, FORMATS))
    kinds = "\n".join(f"  {one.name:<{width}}  {one.title}" for one in FORMATS.values())
    parser = verbs.add(
        "import",
        import_,
        summary="keep what other programs remember: transcripts, sessions, exports",
        more=f"{_MORE}Kinds:\n{kinds}\n  {_DETECT:<{width}}  what there is on this machine; nothing is imported",
        example=_EXAMPLE,
    )
    parser.add_argument("kind", metavar="KIND", choices=[*FORMATS, _DETECT], help="what is to be imported, or `detect`")
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help="files or folders; where the program usually keeps them, by default"
    )
    parser.add_argument("--dry-run", action="store_true", help="read everything, tell what there is, change nothing")
    parser.add_argument("--agent", default="", metavar="AGENT", help="whose memories they become; their own agents'")
    parser.add_argument("--project", default="", metavar="PROJECT", help="the project of all of them; their own")
    parser.add_argument(
        "--audience", choices=[one.label for one in Audience], help="who may see them; as it was when they were said"
    )
    parser.add_argument(
        "--since", type=moment, default=0.0, metavar="TIME", help="leave out what is older, ISO or seconds"
    )
    parser.add_argument(
        "--again", action="store_true", help="read everything from its beginning, whatever was read before"
    )
    parser.add_argument("--progress", action="store_true", help="count on stderr without a terminal too")

    parser = verbs.add(
        "export",
        export,
        summary="write all memories to a file, or to standard output",
        more="JSON lines can be read back with `foreword import jsonl`; Markdown is for people. A file is the user's"
        " alone, and is there whole or not at all. Left out are the summaries that Foreword makes itself, and the notes"
        " of vaults.",
        example="foreword export memories.jsonl\nforeword export --agent main --format markdown > main.md",
    )
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default="-", help="a file; standard output, or `-`, by default"
    )
    parser.add_argument("--format", choices=list(_WRITERS), default="jsonl", help="jsonl by default")
    parser.add_argument("--agent", default="", metavar="AGENT", help="only this agent's memories")


def import_(call: Call) -> int:
    from foreword import transfer

    args = call.args
    if args.kind == _DETECT:
        return _detect(call)
    kind = FORMATS[args.kind]
    changes = transfer.Changes(
        agent=args.agent,
        project=args.project,
        audience=Audience.named(args.audience) if args.audience else None,
        since=args.since,
    )
    files = transfer.files_of(kind, _paths(kind, args.paths))
    if args.dry_run:
        journal = None if args.again else transfer.Journal(call.home)
        tally = transfer.look(kind, files, changes, journal)
    else:
        with call.open() as engine, Progress("imported", forced=args.progress) as progress:
            journal = transfer.Journal(call.home)
            if args.again:
                journal.forget(kind, files, changes)
            tally = transfer.bring_in(engine, kind, files, changes, journal, progress=progress.update)
            rebuild_waiting(engine, forced=args.progress)
    for problem in tally.named:
        call.screen.warn(printable(problem))
    if tally.problems > len(tally.named):
        call.screen.warn(f"and {count(tally.problems - len(tally.named), 'more like these', 'more like these')}")
    call.answer(_document(tally, dry=args.dry_run), _lines(tally, dry=args.dry_run))
    return Exit.USAGE if tally.unread and not tally.files - len(tally.unread) else Exit.OK


def _paths(kind: Format, given: list[str]) -> list[Path]:
    if given:
        return [Path(one).expanduser() for one in given]
    usual = [one for one in kind.usual(dict(os.environ)) if one.exists()]
    if not usual:
        raise BadInput(f"There are no {kind.title} where they usually are.", hint="Name a file or a folder.")
    return usual


def _document(tally: Tally, *, dry: bool) -> dict[str, Any]:
    kept = {} if dry else {one.value: tally.outcomes[one.value] for one in Outcome}
    return {
        "dry_run": dry,
        "files": tally.files,
        "unchanged": tally.unchanged,
        "events": tally.events,
        "older": tally.older,
        "sessions": len(tally.sessions),
        "kinds": dict(tally.kinds),
        **kept,
        **({} if dry else {"redacted": tally.redacted, "reasons": dict(tally.reasons.most_common())}),
        "first": documents.timestamp(tally.first) if tally.first is not None else None,
        "last": documents.timestamp(tally.last) if tally.last is not None else None,
        "problems": tally.problems,
        "named": tally.named,
    }


def _lines(tally: Tally, *, dry: bool) -> Iterator[str]:
    files = count(tally.files, "file")
    if tally.unchanged:
        files += f", {tally.unchanged:,} more unchanged since it was last read"
    kinds = ", ".join(
        f"{number:,} {name}s" if number > 1 else f"1 {name}" for name, number in tally.kinds.most_common()
    )
    yield f"read     {files}"
    yield f"found    {kinds or 'nothing'} in {count(len(tally.sessions), 'conversation')}"
    if tally.first is not None and tally.last is not None:
        yield f"dated    {when(tally.first)} to {when(tally.last)}"
    if tally.older:
        yield f"older    {tally.older:,} left out"
    if tally.problems:
        yield f"problems {tally.problems:,}"
    if dry:
        yield "Nothing was changed. What is known already, and what no person said, is left out when it is kept."
        return
    yield f"kept     {tally.outcomes[Outcome.STORED.value]:,}; {tally.outcomes[Outcome.KNOWN.value]:,} known already"
    if tally.redacted:
        yield f"redacted secrets in {tally.redacted:,}"
    for reason, number in tally.reasons.most_common():
        yield f"left out {number:,}: {printable(reason)}"


def _detect(call: Call) -> int:
    from foreword import transfer

    if call.args.paths:
        raise BadInput("detect looks where programs usually keep things, and takes no path.")
    found = transfer.detect(FORMATS.values(), dict(os.environ))
    if call.screen.as_json:
        call.answer({"found": [_detected(one) for one in found]})
        return Exit.OK
    if not found:
        call.screen.write("Nothing was found where programs usually keep it.")
        return Exit.OK
    call.screen.table(
        ("kind", "files", "size", "first", "last", "where"),
        [
            (one.kind.name, f"{one.files:,}", size(one.bytes), when(one.first), when(one.last), str(one.path))
            for one in found
        ],
    )
    call.screen.write("")
    for one in found:
        call.screen.write(f"foreword import {one.kind.name} --dry-run")
    return Exit.OK


def _detected(one: Found) -> dict[str, Any]:
    return {
        "kind": one.kind.name,
        "title": one.kind.title,
        "path": str(one.path),
        "files": one.files,
        "bytes": one.bytes,
        "first": documents.timestamp(one.first),
        "last": documents.timestamp(one.last),
    }


def export(call: Call) -> int:
    args = call.args
    write = _WRITERS[args.format]
    to_screen = args.path == "-"
    if to_screen and call.screen.as_json:
        raise BadInput("--json needs a file to write to.", hint="Name one, or leave --json out.")
    with call.open() as engine:
        lines = write(engine.memories(agent=args.agent))
        if to_screen:
            for line in lines:
                sys.stdout.buffer.write(line.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
            return Exit.OK
        file = Path(args.path).expanduser()
        if file.is_dir():
            raise BadInput(f"{file} is a folder.", hint="Name a file in it.")
        try:
            with Progress("exported") as progress:
                counted = _Counted(lines, progress)
                replace_file(file, counted, mode=0o600)
        except OSError as error:
            raise StoreUnwritable(f"{file} cannot be written: {error.strerror}.") from error
    call.answer({"path": str(file), "lines": counted.done}, [f"{file}: {count(counted.done, 'line')}"])
    return Exit.OK


class _Counted:
    """Lines on their way to a file."""

    def __init__(self, lines: Iterator[str], progress: Progress) -> None:
        self._lines, self._progress = lines, progress
        self.done = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            yield line.encode("utf-8", "replace")
            self.done += 1
            self._progress.update(self.done)


def _jsonl(memories: Iterator[Memory]) -> Iterator[str]:
    from foreword.transfer import line_of

    return map(line_of, memories)


def _markdown(memories: Iterator[Memory]) -> Iterator[str]:
    """One heading for each conversation, whenever another begins to speak."""
    yield "# Memories\n"
    here: tuple[str, str] | None = None
    for one in memories:
        if (one.agent, one.session) != here:
            here = (one.agent, one.session)
            project = f", project {one.project}" if one.project else ""
            yield f"\n## {one.session or 'no conversation'} (agent {one.agent}{project})\n"
        by = f"{one.origin.value}{' ' + one.sender if one.sender else ''}, {one.kind.value}, {one.audience.label}"
        title = f": {one.title}" if one.title else ""
        quoted = "\n".join(f"> {line}".rstrip() for line in one.text.split("\n"))
        yield f"\n{when(one.at)} {by}{title}\n\n{quoted}\n"


_WRITERS = {"jsonl": _jsonl, "markdown": _markdown}
