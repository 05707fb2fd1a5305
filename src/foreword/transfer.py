"""Many memories in from other programs, and all of them out again.

An import goes on where it stopped: how far each file was read is kept in the home, beside the memories, and written
once what came before is on disk. What is read again is known again, so a mark that is too old costs time and no more.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.errors import BadInput, StoreUnwritable
from foreword.files import replace_file
from foreword.imports import Format, Item, recognised
from foreword.model import Audience, Event, Memory, Outcome, Recorded
from foreword.values import dataclass

if TYPE_CHECKING:
    from foreword.engine import Foreword

FILE_NAME = "imports.json"
# The store's own, by another name: to look at the command line's help, nobody should have to load the store.
DATABASE_NAME = "foreword.db"
_AT_ONCE = 256
_MOST_NAMED = 20
_WRITTEN_EVERY_S = 1.0
# Beside a database that is in use lies what has not been moved into it yet.
_LOGS = ("", "-wal")


@dataclass(frozen=True, slots=True)
class Changes:
    """What an import changes in every event, or leaves out."""

    agent: str = ""
    project: str = ""
    audience: Audience | None = None
    since: float = 0.0

    def of(self, event: Event) -> Event | None:
        if event.at is not None and event.at < self.since:
            return None
        changed: dict[str, Any] = {
            name: value for name in ("agent", "project", "audience") if (value := getattr(self, name)) not in ("", None)
        }
        return replace(event, **changed) if changed else event

    @property
    def name(self) -> str:
        """By which a reading with other changes is another reading."""
        audience = self.audience.label if self.audience is not None else ""
        return json.dumps([self.agent, self.project, audience, self.since])


@dataclass(slots=True)
class Tally:
    """What became of an import so far. Of the problems, only the first are named."""

    files: int = 0
    unchanged: int = 0
    events: int = 0
    older: int = 0
    redacted: int = 0
    first: float | None = None
    last: float | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    sessions: set[int] = field(default_factory=set)
    problems: int = 0
    named: list[str] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)

    def read(self, event: Event) -> None:
        self.events += 1
        self.kinds[event.kind.value] += 1
        self.sessions.add(hash((event.agent, event.session)))
        if event.at is not None:
            self.first = event.at if self.first is None else min(self.first, event.at)
            self.last = event.at if self.last is None else max(self.last, event.at)

    def kept(self, result: Recorded) -> None:
        self.outcomes[result.outcome.value] += 1
        self.redacted += bool(result.redactions)
        if result.outcome is Outcome.SKIPPED:
            self.reasons[result.reason] += 1

    def problem(self, path: Path, where: str, cause: str) -> None:
        self.problems += 1
        if len(self.named) < _MOST_NAMED:
            self.named.append(f"{path}{', ' + where if where else ''}: {cause}")


class Journal:
    """How far each file was read, in one file of the home. It holds for the database it was written beside, and for no
    other: with a new one everything is read anew."""

    def __init__(self, home: Path) -> None:
        self._file = home / FILE_NAME
        self._beside = home / DATABASE_NAME
        self._entries: dict[str, dict[str, Any]] = {}
        self._written = 0.0
        try:
            kept = json.loads(self._file.read_text("utf-8"))
            if kept["database"] == self._database():
                self._entries = {str(name): dict(entry) for name, entry in kept["files"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # Missing, or not ours any more: then nothing has been read yet.
            self._entries = {}

    def mark(self, name: str) -> str:
        return str(self._entries.get(name, {}).get("mark", ""))

    def unchanged(self, name: str, stamp: str) -> bool:
        """Whether the file was read to its end, and is as it was then."""
        return bool(stamp) and self._entries.get(name, {}).get("stamp") == stamp

    def keep(self, name: str, mark: str, stamp: str = "") -> None:
        self._entries[name] = {"mark": mark, **({"stamp": stamp} if stamp else {})}
        if time.monotonic() - self._written > _WRITTEN_EVERY_S:
            self.write()

    def forget(self, kind: Format, files: Sequence[Path], changes: Changes) -> None:
        """These files are to be read from their beginning."""
        for file in files:
            self._entries.pop(_name(kind, file, changes), None)

    def write(self) -> None:
        """Raises StoreUnwritable."""
        try:
            kept = json.dumps({"database": self._database(), "files": self._entries})
            replace_file(self._file, kept.encode() + b"\n", mode=0o600)
        except OSError as error:
            raise StoreUnwritable(f"{self._file} cannot be written: {error.strerror}.") from error
        self._written = time.monotonic()

    def _database(self) -> int:
        try:
            return self._beside.stat().st_ino
        except OSError:
            return 0


def files_of(kind: Format, paths: Sequence[Path]) -> list[Path]:
    """The files to read, each once, in a steady order. Raises BadInput for what is not there, a folder without any, and
    a file that is plainly something else."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in kind.sources(path) if one.is_file())
            if not inside:
                raise BadInput(f"{path} holds no {kind.title}.", hint="Name a file, or another folder.")
            found.update((one.absolute(), None) for one in inside if kind.fits(one) or recognised(one) is None)
            continue
        if not path.exists():
            raise BadInput(f"{path} is not there.")
        _check(kind, path)
        found[path.absolute()] = None
    return list(found)


def _check(kind: Format, path: Path) -> None:
    if kind.fits(path):
        return
    other = recognised(path)
    if other is not None and other is not kind:
        raise BadInput(
            f"{path} does not hold {kind.title}: it looks like {other.title}.",
            hint=f"Use `foreword import {other.name}`.",
        )


def look(kind: Format, files: Sequence[Path], changes: Changes, journal: Journal | None = None) -> Tally:
    """What an import would read; nothing is changed, and what is known already is not told apart."""
    tally = Tally()
    for file, items in _each(kind, files, changes, journal, tally):
        for item in items:
            if item.problem:
                tally.problem(file, item.where, item.problem)
            elif item.event is not None:
                _changed(item.event, changes, tally)
    return tally


def bring_in(
    engine: Foreword,
    kind: Format,
    files: Sequence[Path],
    changes: Changes,
    journal: Journal,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> Tally:
    """Keep what the files hold. What is read is on disk before the journal says so. A file that cannot be read, and an
    event that cannot be kept, is a problem of the tally and ends nothing."""
    tally = Tally()
    try:
        for file, items in _each(kind, files, changes, journal, tally):
            name, mark, stamp = _name(kind, file, changes), "", _stamp(file)
            pending: list[tuple[str, Event]] = []
            for item in items:
                mark = item.mark or mark
                if item.problem:
                    tally.problem(file, item.where, item.problem)
                elif item.event is not None and (event := _changed(item.event, changes, tally)) is not None:
                    pending.append((item.where, event))
                if len(pending) >= _AT_ONCE:
                    # What the last item says is of what comes before it, and it is kept as well.
                    _keep(engine, file, pending, tally)
                    journal.keep(name, mark)
                    progress(tally.events)
            _keep(engine, file, pending, tally)
            journal.keep(name, mark or journal.mark(name), "" if file in tally.unread else stamp)
            progress(tally.events)
    finally:
        journal.write()
    return tally


def _each(
    kind: Format, files: Sequence[Path], changes: Changes, journal: Journal | None, tally: Tally
) -> Iterator[tuple[Path, Iterator[Item]]]:
    for file in files:
        name = _name(kind, file, changes)
        if journal is not None and journal.unchanged(name, _stamp(file)):
            tally.unchanged += 1
            continue
        tally.files += 1
        yield file, _readable(kind, file, journal.mark(name) if journal else "", tally)


def _readable(kind: Format, file: Path, mark: str, tally: Tally) -> Iterator[Item]:
    try:
        yield from kind.read(file, mark)
    except BadInput as error:
        tally.unread.add(file)
        tally.problem(file, "", str(error))
    except OSError as error:
        tally.unread.add(file)
        tally.problem(file, "", f"it cannot be read: {error.strerror}.")


def _changed(event: Event, changes: Changes, tally: Tally) -> Event | None:
    changed = changes.of(event)
    if changed is None:
        tally.older += 1
    else:
        tally.read(changed)
    return changed


def _keep(engine: Foreword, file: Path, pending: list[tuple[str, Event]], tally: Tally) -> None:
    results = record_each(engine, [event for _, event in pending])
    for (where, _), result in zip(pending, results, strict=True):
        if isinstance(result, BadInput):
            tally.problem(file, where, str(result))
        else:
            tally.kept(result)
    pending.clear()


def record_each(engine: Foreword, events: Sequence[Event]) -> Iterator[Recorded | BadInput]:
    """What became of each event, in order; one that cannot be used hinders no other."""
    done = 0
    try:
        for result in engine.record_all(events):
            done += 1
            yield result
    except BadInput:
        # The engine refuses the rest of a batch with it; one by one, only the one at fault is refused.
        for event in events[done:]:
            try:
                yield engine.record(event)
            except BadInput as error:
                yield error


def _name(kind: Format, file: Path, changes: Changes) -> str:
    return f"{kind.name} {file} {changes.name}"


def _stamp(file: Path) -> str:
    """Another whenever something was written to the file; "" where it cannot be told."""
    told = []
    for suffix in _LOGS:
        try:
            state = os.stat(f"{file}{suffix}")
        except OSError:
            continue
        told.append(f"{state.st_size}.{state.st_mtime_ns}")
    return " ".join(told)


@dataclass(frozen=True, slots=True)
class Found:
    """Something on this machine that can be imported."""

    kind: Format
    path: Path
    files: int
    bytes: int
    first: float
    last: float


def detect(formats: Iterable[Format], environ: dict[str, str]) -> list[Found]:
    """What the programs on this machine have kept, where they usually keep it. Only names, sizes and dates are read."""
    found = []
    for kind in formats:
        for place in kind.usual(environ):
            files = _there(kind, place)
            states = []
            for file in files:
                with suppress(OSError):
                    states.append(file.stat())
            if states:
                times = [state.st_mtime for state in states]
                size = sum(state.st_size for state in states)
                found.append(Found(kind, place, len(states), size, min(times), max(times)))
    return found


def _there(kind: Format, place: Path) -> list[Path]:
    try:
        if place.is_dir():
            return [one for one in kind.sources(place) if one.is_file()]
        return [place] if place.is_file() else []
    except OSError:
        return []


def line_of(memory: Memory) -> str:
    """A memory as a line that `import jsonl` reads back; its id is not a part of it."""
    document: dict[str, Any] = {
        "text": memory.text,
        "kind": memory.kind.value,
        "session": memory.session,
        "agent": memory.agent,
        "origin": memory.origin.value,
        "audience": memory.audience.label,
        "sender": memory.sender,
        "channel": memory.channel,
        "project": memory.project,
        "source_id": memory.source_id,
        "at": memory.at,
        "title": memory.title,
        "type": memory.type,
        "files": list(memory.files),
        "concepts": list(memory.concepts),
        "decisions": list(memory.decisions),
    }
    return (
        json.dumps({name: value for name, value in document.items() if value not in ("", [])}, ensure_ascii=False)
        + "\n"
    )
