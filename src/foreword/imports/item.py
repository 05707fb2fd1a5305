"""What reading a source gives, step by step, and what a format is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from foreword.errors import BadInput
from foreword.hosts import Request, understand
from foreword.model import Audience, Event, Kind, Origin
from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """One step: an event, or a `problem` with what stands at `where`, or neither. With a `mark`, a later reading may
    begin here: all that came before is told, and nothing that comes needs it."""

    event: Event | None = None
    where: str = ""
    problem: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Format:
    """`sources` are the files of this format under a folder, `usual` where its program keeps them. `fits` tells whether
    a file looks like one, and never raises; `read` begins at a mark, or anew where the mark no longer holds, and raises
    BadInput for a file that cannot be read at all."""

    name: str
    title: str
    sources: Callable[[Path], Iterable[Path]]
    usual: Callable[[Mapping[str, str]], list[Path]]
    fits: Callable[[Path], bool]
    read: Callable[[Path, str], Iterator[Item]]


def moment(text: str) -> float:
    """Seconds since 1970 from such seconds, or from an ISO date or time; one without a zone is local. Raises
    BadInput."""
    try:
        seconds = float(text)
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    except ValueError:
        try:
            return max(datetime.fromisoformat(text.strip()).timestamp(), 0.0)
        except (ValueError, OverflowError, OSError):
            pass
    raise BadInput(f"'{text[:40]}' is not a time; write 2026-03-01, 2026-03-01T09:30 or seconds since 1970")


def when(value: object) -> float | None:
    """A time as hosts write it: ISO, or milliseconds or seconds since 1970; None for anything else."""
    if isinstance(value, str):
        try:
            return moment(value)
        except BadInput:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    # In seconds, this is the year 5138.
    return value / 1000 if value > 1e11 else float(value)


def told(host: str, event: str, document: Mapping[str, Any], at: float | None) -> Iterator[Event]:
    """What would have been kept had the host told this at one of its hooks. So a memory that was captured when it
    happened and the same one read from a transcript later are one."""
    for request in understand(host, event, document).records:
        yield _event(request, at)


def as_summary(event: Event) -> Event:
    return replace(event, kind=Kind.SUMMARY, origin=Origin.AGENT)


def _event(request: Request, at: float | None) -> Event:
    given = dict(request["payload"])
    text, kind, origin = given.pop("content"), given.pop("kind"), given.pop("origin", None)
    audience = Audience.named(given.pop("audience")) if "audience" in given else None
    return Event(text, kind=Kind(kind), origin=Origin(origin) if origin else None, audience=audience, at=at, **given)


def words(content: object) -> str:
    """The text of a message, whether it is one or a list of parts; images, thinking and calls are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (one.get("text") for one in content if isinstance(one, Mapping) and one.get("type") == "text")
    return "\n".join(one for one in texts if isinstance(one, str) and one.strip())


def parts(content: object, kind: str) -> list[Mapping[str, Any]]:
    """The parts of a message that are of a kind."""
    return (
        [one for one in content if isinstance(one, Mapping) and one.get("type") == kind]
        if isinstance(content, list)
        else []
    )


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
