"""record: one event from the arguments, or many from JSON lines."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, add_place, add_text, moment
from foreword.cli.screen import Progress, count
from foreword.errors import BadInput
from foreword.imports import event_of, opened
from foreword.model import Audience, Event, Kind, Origin, Outcome, Recorded
from foreword.serve import documents
from foreword.transfer import record_each
from foreword.values import dataclass

if TYPE_CHECKING:
    from foreword.engine import Foreword

_LINES_AT_ONCE = 256
_EXAMPLE = """\
foreword record "Maya's cat is called Biscuit." --session agent:main:main
make test 2>&1 | foreword record --kind observation --tool bash --title "test run" --session ses_1
foreword record --jsonl history.jsonl"""
_JSONL = """\
With --jsonl every line is an object with `text` and any of: kind, session, agent, origin, audience, sender, channel,
project, source_id, at, tool, title, type, files, concepts, decisions. Recording the same thing twice keeps it once, so
a file that was stopped half-way can simply be given again."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "record",
        record,
        summary="keep what an agent saw",
        more="Secrets are redacted before anything is written.\n\n" + _JSONL,
        example=_EXAMPLE,
    )
    add_text(parser, "what was said or seen")
    add_place(parser, "session", "agent", "sender", "channel", "project")
    parser.add_argument("--kind", choices=[one.value for one in Kind], default="message", help="message by default")
    parser.add_argument("--origin", choices=[one.value for one in Origin], help="whose words; derived when left out")
    parser.add_argument(
        "--audience", choices=[one.label for one in Audience], help="who may see it; derived from the session"
    )
    parser.add_argument("--source-id", default="", metavar="ID", help="the host's own id of the event")
    parser.add_argument("--at", type=moment, metavar="TIME", help="when it happened, ISO or seconds; now by default")
    parser.add_argument("--title", default="", help="a line to know it by")
    parser.add_argument("--type", default="", help="kind of observation, such as `bugfix` or `test`")
    parser.add_argument("--tool", default="", help="the tool whose result it is")
    for name, what in (
        ("file", "a file it is about"),
        ("concept", "what it is about"),
        ("decision", "what was decided"),
    ):
        parser.add_argument(
            f"--{name}", action="append", default=[], metavar=name.upper(), help=f"{what}; may be repeated"
        )
    parser.add_argument("--jsonl", metavar="FILE", help="record every line of a file, or of standard input with `-`")
    parser.add_argument("--keep-going", action="store_true", help="with --jsonl: pass over lines that cannot be used")
    parser.add_argument("--progress", action="store_true", help="with --jsonl: count on stderr without a terminal too")


def record(call: Call) -> int:
    if call.args.jsonl is not None:
        return _record_lines(call)
    event = _event(call.args, call.text())
    with call.open() as engine:
        result = engine.record(event)
    call.answer(documents.recorded(result), [_line(result)])
    return Exit.OK


def _event(args: argparse.Namespace, text: str) -> Event:
    return Event(
        text,
        kind=Kind(args.kind),
        session=args.session,
        agent=args.agent,
        origin=Origin(args.origin) if args.origin else None,
        audience=Audience.named(args.audience) if args.audience else None,
        sender=args.sender,
        channel=args.channel,
        project=args.project,
        source_id=args.source_id,
        at=args.at,
        tool=args.tool,
        title=args.title,
        type=args.type,
        files=args.file,
        concepts=args.concept,
        decisions=args.decision,
    )


def _line(result: Recorded) -> str:
    redacted = f" ({', '.join(result.redactions)} redacted)" if result.redactions else ""
    if result.outcome is Outcome.STORED:
        return f"{result.id} stored{redacted}"
    return f"{result.outcome.value}: {result.reason}{redacted}"


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    event: Event


class _Tally:
    """What became of the lines so far."""

    def __init__(self, source: str, *, keep_going: bool) -> None:
        self._source = source
        self._keep_going = keep_going
        self.outcomes: Counter[str] = Counter()
        self.redacted = 0
        self.failed: list[dict[str, Any]] = []

    def add(self, result: Recorded) -> None:
        self.outcomes[result.outcome.value] += 1
        self.redacted += bool(result.redactions)

    def fail(self, number: int, error: BadInput) -> None:
        """Raises, unless lines that cannot be used are to be passed over."""
        if not self._keep_going:
            raise BadInput(
                f"{self._source}, line {number}: {error}",
                hint=f"The lines before it are kept ({self.summary()}). --keep-going passes over such lines.",
            ) from error
        self.failed.append({"line": number, "message": str(error)})

    @property
    def lines(self) -> int:
        return self.outcomes.total() + len(self.failed)

    def summary(self) -> str:
        parts = [f"{self.outcomes[name.value]:,} {word}" for name, word in _WORDS.items()]
        return ", ".join(parts) + (f"; secrets redacted in {self.redacted:,}" if self.redacted else "")


_WORDS = {Outcome.STORED: "stored", Outcome.KNOWN: "known already", Outcome.SKIPPED: "skipped"}


def _record_lines(call: Call) -> int:
    args = call.args
    if args.text:
        raise BadInput("A text and --jsonl were both given.", hint="Give one of them.")
    source = "standard input" if args.jsonl == "-" else args.jsonl
    tally = _Tally(source, keep_going=args.keep_going)
    with _opened(args.jsonl) as lines, call.open() as engine, Progress("recorded", forced=args.progress) as progress:
        for batch in _batches(lines, tally, engine):
            _record_batch(engine, batch, tally)
            progress.update(tally.lines)
        rebuild_waiting(engine, forced=args.progress)
    for failure in tally.failed:
        call.screen.warn(f"{source}, line {failure['line']}: {failure['message']}")
    data = {
        **{one.value: tally.outcomes[one.value] for one in Outcome},
        "redacted": tally.redacted,
        "failed": tally.failed,
    }
    call.answer(data, [f"{count(tally.lines, 'line')}: {tally.summary()}"])
    return Exit.USAGE if tally.failed else Exit.OK


def rebuild_waiting(engine: Foreword, *, forced: bool = False) -> int:
    """Embed here and now what waits for a vector: a program that ends cannot leave it to the background."""
    with Progress("embedded", forced=forced) as progress:
        return engine.rebuild_vectors(progress=progress.update)


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if name == "-" else opened(Path(name))


def _batches(lines: Iterable[bytes], tally: _Tally, engine: Foreword) -> Iterator[Sequence[_Line]]:
    pending: list[_Line] = []
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        try:
            pending.append(_Line(number, event_of(raw)))
        except BadInput as error:
            # What came before a bad line is on disk before anything is said about it.
            _record_batch(engine, pending, tally)
            pending = []
            tally.fail(number, error)
        if len(pending) == _LINES_AT_ONCE:
            yield pending
            pending = []
    if pending:
        yield pending


def _record_batch(engine: Foreword, batch: Sequence[_Line], tally: _Tally) -> None:
    for line, result in zip(batch, record_each(engine, [line.event for line in batch]), strict=True):
        if isinstance(result, BadInput):
            tally.fail(line.number, result)
        else:
            tally.add(result)
