"""A host's JSON file as a person wrote it: comments, trailing commas, bare keys, odd spacing. It is read with the place
of every value, so that one value is put in or taken out and every other byte stays.

Reads JSON, JSON with comments and JSON5; writes plain JSON, which all of them read. Taking out what was put in gives
the text as it was. Every change is read again, and one that did more or less than it should is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from foreword.values import dataclass

Path = tuple[str, ...]

# No settings file is nested deeper, and one that is would exhaust the stack.
_DEEPEST = 200
_LINE_END = re.compile(r"[\n\r\u2028\u2029]")
_WHITESPACE = re.compile(r"[\s\ufeff]*")
_BARE = re.compile(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$\u200c\u200d]*")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_WORDS = {"true": True, "false": False, "null": None}


class Unreadable(ValueError):
    """The text is not JSON5; the message says what, `line` and `column` where, both from 1."""

    def __init__(self, text: str, at: int, what: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class _Node:
    """A value from `start` to `end` in the text; `members` are those of an object or the items of an array."""

    start: int
    end: int
    value: Any
    members: list[_Member] | None = None


@dataclass(frozen=True, slots=True)
class _Member:
    """`start` is where its key begins, or the item itself; `comma` is where the comma after it stands, or None."""

    key: str | None
    start: int
    node: _Node
    comma: int | None


def parse(text: str) -> Any:
    """The value of the text. Raises Unreadable."""
    return _Reader(text).document().value


def member(value: Any, path: Path) -> Any:
    """What stands at a path of a parsed value; None where nothing does."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put(text: str, path: Path, value: Any) -> str:
    """The text with this value at the path; objects on the way are made. Raises Unreadable, and ValueError where
    something else than an object is in the way or the change is not made safely."""
    node, rest = _nearest(text, path)
    wanted = _with(parse(text), path, value)
    if not rest:
        return _proved(text[: node.start] + _written(text, node.start, value) + text[node.end :], wanted)
    for key in reversed(rest[1:]):
        value = {key: value}
    return _proved(_added(text, node, rest[0], value), wanted)


def put_item(text: str, path: Path, value: Any) -> str:
    """The text with this value as the last item of the array at the path, unless it is one already; the array is made.
    Raises as `put` does."""
    node, rest = _nearest(text, path)
    if rest:
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(path)} is not a list")
    if value in node.value:
        return text
    return _proved(_added(text, node, None, value), _with(parse(text), path, [*node.value, value]))


def taken(text: str, path: Path, *, made: int = 0) -> str:
    """The text without the member at the path; the last `made` objects above it go with it where they are empty then.
    Raises Unreadable, and ValueError where the change is not made safely."""
    node, rest = _nearest(text, path[:-1])
    if rest or not isinstance(node.value, dict) or path[-1] not in node.value:
        return text
    left = {key: one for key, one in node.value.items() if key != path[-1]}
    text = _proved(_without(text, node, _last(node, path[-1])), _with(parse(text), path[:-1], left))
    return _emptied(text, path[:-1], made)


def taken_item(text: str, path: Path, value: Any, *, made: int = 0) -> str:
    """The text without the items of the array at the path that equal the value; see `taken` for `made`, which counts
    the array too, and for what it raises."""
    while True:
        node, rest = _nearest(text, path)
        if rest or not isinstance(node.value, list) or value not in node.value:
            break
        number = node.value.index(value)
        left = [*node.value[:number], *node.value[number + 1 :]]
        text = _proved(_without(text, node, number), _with(parse(text), path, left))
    return _emptied(text, path, made)


def absent(text: str, path: Path) -> int:
    """How many parts of the path are not there, counted from its end; 0 when there is a value. Raises as `put` does."""
    return len(_nearest(text, path)[1])


def _with(value: Any, path: Path, new: Any) -> Any:
    return {**value, path[0]: _with(value.get(path[0], {}), path[1:], new)} if path else new


def _proved(text: str, wanted: Any) -> str:
    """The text, when it says what is wanted and nothing else. Written out, NaN is itself and true is not 1."""
    try:
        done = json.dumps(parse(text)) == json.dumps(wanted)
    except Unreadable:
        done = False
    if not done:
        raise ValueError("it is written in a way that is not changed safely")
    return text


def _emptied(text: str, path: Path, made: int) -> str:
    if not made or not path:
        return text
    node, rest = _nearest(text, path)
    if rest or node.members:
        return text
    return taken(text, path, made=made - 1)


def _nearest(text: str, path: Path) -> tuple[_Node, Path]:
    """The value at the path and (); or the last object on the way, and the part of the path that is not there."""
    node = _Reader(text).document()
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the whole'} is not an object")
        if key not in node.value:
            return node, path[depth:]
        node = _members(node)[_last(node, key)].node
    return node, ()


def _members(node: _Node) -> list[_Member]:
    return node.members or []


def _last(node: _Node, key: str) -> int:
    """Of several members with one key, the last is the one that counts."""
    return max(number for number, one in enumerate(_members(node)) if one.key == key)


def _added(text: str, node: _Node, key: str | None, value: Any) -> str:
    """With one more member at the end of an object or an array, in the manner of those that are there."""
    members = _members(node)
    named = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if not members:
        inside = text[node.start + 1 : node.end - 1]
        if "\n" not in inside:
            at = node.start + 1
            return text[:at] + named + json.dumps(value, ensure_ascii=False) + text[at:]
        indent = _indent(text, node.start) + _unit(text)
        shown = _dumped(text, value, indent)
        return text[: node.start + 1] + f"{_newline(text)}{indent}{named}{shown}" + text[node.start + 1 :]
    last = members[-1]
    lined = "\n" in text[node.start : members[0].start]
    if lined:
        indent = _indent(text, last.start)
        new = f"{_newline(text)}{indent}{named}{_dumped(text, value, indent)}"
    else:
        new = f" {named}{json.dumps(value, ensure_ascii=False)}"
    if last.comma is not None:
        at = _line_end(text, last.comma + 1, node.end - 1) if lined else last.comma + 1
        return f"{text[:at]}{new},{text[at:]}"
    at = _line_end(text, last.node.end, node.end - 1) if lined else last.node.end
    return f"{text[: last.node.end]},{text[last.node.end : at]}{new}{text[at:]}"


def _without(text: str, node: _Node, number: int) -> str:
    """Without one member, the comma that it needed, and the line that it stood on alone."""
    members = _members(node)
    one = members[number]
    left = _size(_Reader(text).document()) - _size(one.node)
    begins = one.start
    while begins > node.start + 1 and text[begins - 1].isspace():
        begins -= 1
    if "\n" in text[begins : one.start]:
        begins = text.rindex("\n", begins, one.start)
        begins -= text[begins - 1] == "\r"
    # What follows on the member's line must not come to stand behind a comment on the line before it.
    for start in (begins, one.start):
        shorter = _cut(text, members, number, start)
        try:
            if _size(_Reader(shorter).document()) == left:
                return shorter
        except Unreadable:
            continue
    raise ValueError(f"what stands at line {text.count(chr(10), 0, one.start) + 1} is not taken out safely")


def _cut(text: str, members: Sequence[_Member], number: int, start: int) -> str:
    one = members[number]
    if one.comma is not None:
        between = text[one.node.end : one.comma]
        return text[:start] + (between if between.strip() else "") + text[one.comma + 1 :]
    if number and (comma := members[number - 1].comma) is not None:
        return text[:comma] + text[comma + 1 : start] + text[one.node.end :]
    return text[:start] + text[one.node.end :]


def _size(node: _Node) -> int:
    return 1 + sum(_size(one.node) for one in _members(node))


def _line_end(text: str, at: int, most: int) -> int:
    """Where the line ends that holds `at`, when only blanks and comments follow on it; else `at`."""
    here = at
    while here < most:
        if text.startswith("//", here):
            end = _LINE_END.search(text, here)
            return end.start() if end else most
        if text.startswith("/*", here):
            closed = text.index("*/", here + 2) + 2
            if _LINE_END.search(text, here, closed):
                return at
            here = at = closed
        elif _LINE_END.match(text, here):
            return at
        elif text[here].isspace():
            here += 1
        else:
            return at
    return at


def _indent(text: str, at: int) -> str:
    """The blanks that the line begins with on which `at` is."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str) -> str:
    """One step of indentation, as the first indented line has it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return ("\t" if found[1].startswith("\t") else found[1]) if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dumped(text: str, value: Any, indent: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return shown.replace("\n", _newline(text) + indent)


def _written(text: str, at: int, value: Any) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    # A value that shares its line with others stays on it.
    if any(mark in line for mark in "{[") or "\n" not in text:
        return json.dumps(value, ensure_ascii=False)
    return _dumped(text, value, _indent(text, at))


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    depth: int = field(default=0)

    def document(self) -> _Node:
        self._skip()
        node = self._value()
        self._skip()
        if self.at < len(self.text):
            raise self._wrong("something follows after the end")
        return node

    def _wrong(self, what: str, at: int | None = None) -> Unreadable:
        return Unreadable(self.text, self.at if at is None else at, what)

    def _skip(self) -> None:
        while True:
            found = _WHITESPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.text.startswith("//", self.at):
                end = _LINE_END.search(self.text, self.at)
                self.at = end.start() if end else len(self.text)
            elif self.text.startswith("/*", self.at):
                closed = self.text.find("*/", self.at + 2)
                if closed < 0:
                    raise self._wrong("a comment does not end")
                self.at = closed + 2
            else:
                return

    def _value(self) -> _Node:
        start = self.at
        mark = self.text[start : start + 1]
        if mark in ("{", "["):
            return self._container(mark)
        if mark in ('"', "'"):
            value: Any = self._string()
            return _Node(start, self.at, value)
        if number := _NUMBER.match(self.text, start):
            self.at = number.end()
            if not re.match(r"[\w$]", self.text[self.at : self.at + 1]):
                return _Node(start, self.at, _number(number[0]))
            self.at = start
        if (word := _BARE.match(self.text, start)) and word[0] in _WORDS:
            self.at = word.end()
            return _Node(start, self.at, _WORDS[word[0]])
        raise self._wrong("a value is expected" if mark else "it ends too soon")

    def _container(self, mark: str) -> _Node:
        start, close = self.at, "}" if mark == "{" else "]"
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._wrong("it is nested too deeply")
        self.at += 1
        members: list[_Member] = []
        while True:
            self._skip()
            if self.text.startswith(close, self.at):
                self.at += 1
                break
            if members and members[-1].comma is None:
                raise self._wrong(f"a comma or {close} is expected")
            begins, key = self.at, None
            if mark == "{":
                key = self._key()
                self._skip()
                if not self.text.startswith(":", self.at):
                    raise self._wrong("a colon is expected")
                self.at += 1
                self._skip()
            node = self._value()
            self._skip()
            comma = self.at if self.text.startswith(",", self.at) else None
            if comma is not None:
                self.at += 1
            members.append(_Member(key, begins, node, comma))
        self.depth -= 1
        value = [one.node.value for one in members] if mark == "[" else {one.key: one.node.value for one in members}
        return _Node(start, self.at, value, members)

    def _key(self) -> str:
        if self.text[self.at : self.at + 1] in ('"', "'"):
            return self._string()
        if word := _BARE.match(self.text, self.at):
            self.at = word.end()
            return word[0]
        raise self._wrong("a key is expected" if self.at < len(self.text) else "it ends too soon")

    def _string(self) -> str:
        begins, quote = self.at, self.text[self.at]
        self.at += 1
        parts: list[str] = []
        while True:
            one = self.text[self.at : self.at + 1]
            self.at += 1
            if one == quote:
                # A character beyond the first 65,536 may be written as two halves.
                return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if one in ("", "\n", "\r"):
                raise self._wrong("a string does not end", begins)
            parts.append(self._escaped() if one == "\\" else one)

    def _escaped(self) -> str:
        one = self.text[self.at : self.at + 1]
        self.at += 1
        if one in ("x", "u"):
            digits = self.text[self.at : self.at + (2 if one == "x" else 4)]
            if not re.fullmatch(r"[0-9a-fA-F]{2}|[0-9a-fA-F]{4}", digits) or len(digits) != (2 if one == "x" else 4):
                raise self._wrong("an escape in a string is not complete")
            self.at += len(digits)
            return chr(int(digits, 16))
        if one == "\r" and self.text.startswith("\n", self.at):
            self.at += 1
        if one in ("\n", "\r", "\u2028", "\u2029"):
            return ""
        return _ESCAPES.get(one, one)


def _number(written: str) -> int | float:
    sign = -1 if written.startswith("-") else 1
    bare = written.lstrip("+-")
    if bare[:2] in ("0x", "0X"):
        return sign * int(bare, 16)
    if bare.isdigit():
        return sign * int(bare)
    return sign * float(bare.replace("Infinity", "inf"))
