"""A settings file in TOML, changed in place: what a person wrote around the changed values stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foreword.values import dataclass

_KEY = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEYS = re.compile(rf"[ \t]*(?P<keys>{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*)[ \t]*")
_UNSAFE = "it is written in a way that is not changed safely"
_HEADER = re.compile(r"\s*\[\s*(?P<room>[^\[\]]+?)\s*\]\s*(#.*)?")


def rewritten(text: str, values: Mapping[str, Any]) -> str:
    """`text` with values such as `{"gate.floor": 0.5}` and nothing else changed, which reading it again proves; None
    takes the value out, and the table's header with its last. Raises ValueError, of which TOMLDecodeError is one."""
    wanted: dict[str, Any] = tomllib.loads(text)
    for name, value in values.items():
        room, _, key = name.rpartition(".")
        table = _table(wanted, room)
        if value is not None:
            table[key] = value
            text = _with(text, room, key, json.dumps(value, ensure_ascii=False))
        elif key in table:
            del table[key]
            text = _with(text, room, key, None)
            text = text if table else _without_header(text, room)
    return _proved(text, wanted)


def with_item(text: str, name: str, value: Any) -> str:
    """`text` with one more item at the end of the list of this name, which is made where there is none; every other
    byte stays. Raises ValueError."""
    found = _list(text, name)
    if found is None:
        return rewritten(text, {name: [value]})
    begins, items = found
    wanted, table, key = _wanted(text, name)
    table[key] = [*table[key], value]
    return _proved(_added(text, begins, items, json.dumps(value, ensure_ascii=False)), wanted)


def without_item(text: str, name: str, value: Any) -> str:
    """`text` without the items of the list of this name that equal the value; every other byte stays. Raises
    ValueError."""
    while (found := _list(text, name)) is not None:
        wanted, table, key = _wanted(text, name)
        if value not in table[key]:
            break
        number = table[key].index(value)
        del table[key][number]
        text = _proved(_cut_item(text, found[1], number), wanted)
    return text


def without(text: str, path: Sequence[str]) -> str:
    """`text` without the value at the path, whatever it holds and in however many tables that is written, and nothing
    else changed but blank lines; comments stay. Raises ValueError."""
    wanted: dict[str, Any] = tomllib.loads(text)
    above = _table(wanted, ".".join(path[:-1])) if path[:-1] else wanted
    above.pop(path[-1], None)
    kept: list[str] = []
    inside = False
    for said, part in _statements(text.splitlines(keepends=True)):
        ours = said is not None and said[1][: len(path)] == tuple(path)
        if said is not None and said[0]:
            inside = ours
        if not ours and (part.strip() or not inside):
            kept.append(part)
    if inside:  # the blank lines before the last table were there for it
        while kept and not kept[-1].strip():
            kept.pop()
    return _proved("".join(kept), wanted)


def _statements(lines: Sequence[str]) -> Iterator[tuple[tuple[bool, tuple[str, ...]] | None, str]]:
    """The text in parts: for each whether it is a table's header, and the whole path that it names; None for blank
    lines and comments. Raises ValueError for what is not understood."""
    section: tuple[str, ...] = ()
    place = 0
    while place < len(lines):
        line, bare = lines[place], lines[place].lstrip()
        if not bare or bare.startswith("#"):
            yield None, line
            place += 1
            continue
        header = bare.startswith("[")
        found = _KEYS.match(bare.lstrip("[") if header else bare)
        if found is None:
            raise ValueError(_UNSAFE)
        keys = _keys(found["keys"])
        if header:
            section = keys
            yield (True, keys), line
            place += 1
            continue
        _, ends = _span(lines, place)
        start, after = sum(map(len, lines[:place])), place + 1
        while start + sum(map(len, lines[place:after])) < ends:
            after += 1
        yield (False, (*section, *keys)), "".join(lines[place:after])
        place = after


def _keys(written: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(f"{written} = 0")
    found: list[str] = []
    while isinstance(value, dict):
        ((key, value),) = value.items()
        found.append(key)
    return tuple(found)


def _proved(text: str, wanted: Mapping[str, Any]) -> str:
    try:
        done = _filled(tomllib.loads(text)) == _filled(wanted)
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        raise ValueError(_UNSAFE)
    return text


def _table(values: dict[str, Any], room: str) -> dict[str, Any]:
    """The table of this name, such as `mcp_servers.foreword`, made where there is none."""
    table = values
    for part in room.split("."):
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ValueError(f"it gives {part} a value where a table belongs")
    return table


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """An empty table says as much as none."""
    filled = {name: _filled(value) if isinstance(value, dict) else value for name, value in values.items()}
    return {name: value for name, value in filled.items() if value != {}}


def _with(text: str, room: str, key: str, value: str | None) -> str:
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    place, written = _place(lines, room, key)
    if value is None:
        return _cut(lines, place) if place is not None and written else text
    if place is None:
        gap = [end] if lines and lines[-1].strip() else []
        if lines and not lines[-1].endswith(("\n", "\r")):
            lines[-1] += end
        return "".join([*lines, *gap, f"[{room}]{end}", f"{key} = {value}{end}"])
    if written:
        begins, ends = _span(lines, place)
        return text[:begins] + value + text[ends:]
    if not lines[place].endswith(("\n", "\r")):
        lines[place] += end
    dotted = not _HEADER.match(lines[place]) and _section(lines, place) != room
    lines.insert(place + 1, f"{room}.{key} = {value}{end}" if dotted else f"{key} = {value}{end}")
    return "".join(lines)


def _cut(lines: Sequence[str], place: int) -> str:
    """Without the lines from the one that sets a value to the one where it ends."""
    text = "".join(lines)
    _, ends = _span(lines, place)
    after = text.find("\n", ends)
    return "".join(lines[:place]) + (text[after + 1 :] if after >= 0 else "")


def _without_header(text: str, room: str) -> str:
    """Without the header of a table that is empty: to some programs that is a table that lacks something. One with a
    comment in it stays, for that is somebody's."""
    lines = text.splitlines(keepends=True)
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number, following in zip(headers, [*headers[1:], len(lines)], strict=True):
        if _section(lines, number) == room and not "".join(lines[number + 1 : following]).strip():
            before = number
            while following == len(lines) and before and not lines[before - 1].strip():
                before -= 1
            return "".join([*lines[:before], *lines[following:]])
    return text


def _span(lines: Sequence[str], place: int) -> tuple[int, int]:
    """Where the value begins and ends that a line sets; a list may end on a later line."""
    text, line = "".join(lines), "".join(lines[:place])
    begins = text.index("=", len(line)) + 1
    while text[begins : begins + 1] in (" ", "\t"):
        begins += 1
    depth, at = 0, begins
    while at < len(text):
        one = text[at]
        if one in "\"'":
            at = _string_end(text, at)
            continue
        if one == "#" or (one in "\r\n" and not depth):
            if not depth:
                break
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        depth += (one in "[{") - (one in "]}")
        at += 1
    return begins, begins + len(text[begins:at].rstrip())


def _string_end(text: str, at: int) -> int:
    quote = text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
    here = at + len(quote)
    while here < len(text) and not text.startswith(quote, here):
        here += 2 if text[here] == "\\" and quote[0] == '"' else 1
    return here + len(quote)


def _place(lines: Sequence[str], room: str, key: str) -> tuple[int | None, bool]:
    """The line that sets the key and True; or the line after which it belongs and False; or neither."""
    section, after, near = "", None, None
    for number, line in enumerate(lines):
        if line.lstrip().startswith("["):
            header = _HEADER.match(line)
            section = header["room"].strip("\"'") if header else "["
            after = number if section == room else after
        elif section == room and _sets(line, key):
            return number, True
        elif section == room and re.match(rf"\s*#\s*{key}\s*=", line):
            near = number
        elif not section and _sets(line, room, key):
            return number, True
        elif not section and re.match(rf"\s*[\"']?{room}[\"']?\s*\.", line):
            after = number
    return after if near is None else near, False


def _sets(line: str, *names: str) -> bool:
    return bool(re.match(r"\s*" + r"\s*\.\s*".join(rf"[\"']?{name}[\"']?" for name in names) + r"\s*=", line))


def _section(lines: Sequence[str], place: int) -> str:
    headers = [match["room"].strip("\"'") for line in lines[: place + 1] if (match := _HEADER.match(line))]
    return headers[-1] if headers else ""


def values(text: str) -> dict[str, Any]:
    """What the text says. Raises ValueError."""
    return tomllib.loads(text)


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a list, and where the comma after it stands, or None."""

    start: int
    end: int
    comma: int | None


def _wanted(text: str, name: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """What the text says, and the table in it and the key that the name stands for."""
    wanted = tomllib.loads(text)
    room, _, key = name.rpartition(".")
    return wanted, _table(wanted, room), key


def _list(text: str, name: str) -> tuple[int, list[_Item]] | None:
    """Where the list of this name begins, and its items; None where there is none."""
    _, table, key = _wanted(text, name)
    if key not in table:
        return None
    if not isinstance(table[key], list):
        raise ValueError(f"{name} is not a list")
    lines = text.splitlines(keepends=True)
    place, written = _place(lines, *name.rpartition(".")[::2])
    if place is None or not written:
        raise ValueError(_UNSAFE)
    begins, ends = _span(lines, place)
    items = list(_items(text, begins + 1, ends - 1))
    if len(items) != len(table[key]):
        raise ValueError(_UNSAFE)
    return begins, items


def _items(text: str, at: int, ends: int) -> Iterator[_Item]:
    start: int | None = None
    end = depth = 0
    while at < ends:
        one = text[at]
        if one == "#":
            at = _line_end(text, at)
            continue
        if one == "," and not depth and start is not None:
            yield _Item(start, end, at)
            start = None
        elif not one.isspace():
            start = at if start is None else start
            depth += (one in "[{") - (one in "]}")
            end = _string_end(text, at) if one in "\"'" else at + 1
            at = end
            continue
        at += 1
    if start is not None:
        yield _Item(start, end, None)


def _line_end(text: str, at: int) -> int:
    found = re.compile(r"\r?\n").search(text, at)
    return found.start() if found else len(text)


def _added(text: str, begins: int, items: Sequence[_Item], shown: str) -> str:
    if not items:
        return text[: begins + 1] + shown + text[begins + 1 :]
    last = items[-1]
    indent = text[text.rfind("\n", 0, last.start) + 1 : last.start]
    after = last.end if last.comma is None else last.comma + 1
    end = _line_end(text, after)
    rest = text[after:end].strip()
    if indent.strip() or (rest and not rest.startswith("#")):
        return text[:after] + (f", {shown}" if last.comma is None else f" {shown},") + text[after:]
    new = ("\r\n" if text.startswith("\r\n", end) else "\n") + indent + shown
    if last.comma is None:
        return f"{text[:after]},{text[after:end]}{new}{text[end:]}"
    return f"{text[:end]}{new},{text[end:]}"


def _cut_item(text: str, items: Sequence[_Item], number: int) -> str:
    """Without one item, the comma that it needed, and the line that it stood on alone. Comments stay."""
    one, start = items[number], items[number].start
    line = text.rfind("\n", 0, start) + 1
    between = text[one.end : one.comma] if one.comma is not None else ""
    between = between if "#" in between else ""
    after = one.end if one.comma is None else one.comma + 1
    rest = text[after : _line_end(text, after)]
    if not text[line:start].strip() and not between and not rest.strip():
        start, after = line - 1 - text.startswith("\r", line - 2), after + len(rest)
    elif number:
        start = len(text[:start].rstrip(" \t"))
    elif one.comma is not None and text[line:start].strip():
        after += len(rest) - len(rest.lstrip())
    before = text[:start]
    if one.comma is None and number and (comma := items[number - 1].comma) is not None:
        before = before[:comma] + before[comma + 1 :]
    return before + between + text[after:]
