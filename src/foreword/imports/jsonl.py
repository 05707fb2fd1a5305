"""Plain JSON lines: each an object with the fields of an event. What `foreword export` writes is read back by this."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from foreword.errors import BadInput
from foreword.imports.item import Format, Item, moment
from foreword.imports.lines import head, lines, parsed
from foreword.model import Audience, Event, Kind, Origin

_KEYS = [one.name for one in fields(Event)]


def event_of(raw: bytes) -> Event:
    """One JSON line as an event; raises BadInput with what is wrong in it."""
    return _event(parsed(raw))


def _event(values: dict[str, Any]) -> Event:
    if unknown := [name for name in values if name not in _KEYS]:
        close = get_close_matches(unknown[0], _KEYS, n=1)
        raise BadInput(
            f"'{unknown[0][:40]}' is not a key of an event." + (f" Did you mean '{close[0]}'?" if close else "")
        )
    given = {name: value for name, value in values.items() if value is not None}
    if "text" not in given:
        raise BadInput("'text' is missing.")
    return Event(**{name: _read(name, value) for name, value in given.items()})


def _read(name: str, value: Any) -> Any:
    return _READERS[name](name, value) if name in _READERS else _string(name, value)


def _string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadInput(f"'{name}' is not a string.")
    return value


def _strings(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadInput(f"'{name}' is not a list of strings.")
    return value


def _kind(_: str, value: Any) -> Kind:
    try:
        return Kind(value)
    except ValueError:
        raise BadInput(f"'{str(value)[:40]}' is not a kind; there are {', '.join(Kind)}.") from None


def _origin(_: str, value: Any) -> Origin:
    try:
        return Origin(value)
    except ValueError:
        raise BadInput(f"'{str(value)[:40]}' is not an origin; there are {', '.join(Origin)}.") from None


def _audience(_: str, value: Any) -> Audience:
    return Audience.named(str(value)[:40])


def _at(_: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return moment(value)
    except BadInput as error:
        raise BadInput(f"{error}.") from None


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "kind": _kind,
    "origin": _origin,
    "audience": _audience,
    "at": _at,
    **dict.fromkeys(("files", "concepts", "decisions"), _strings),
}


def _fits(path: Path) -> bool:
    first = head(path, 1)
    return bool(first) and isinstance(first[0].get("text"), str)


def _items(path: Path, mark: str) -> Iterator[Item]:
    for line in lines(path, mark):
        if line.document is None:
            yield Item(where=line.where, problem=line.problem, mark=line.mark)
            continue
        try:
            yield Item(_event(line.document), line.where, mark=line.mark)
        except BadInput as error:
            yield Item(where=line.where, problem=str(error), mark=line.mark)


FORMAT = Format(
    "jsonl",
    "plain JSON lines",
    sources=lambda folder: folder.rglob("*.jsonl"),
    usual=lambda environ: [],
    fits=_fits,
    read=_items,
)
