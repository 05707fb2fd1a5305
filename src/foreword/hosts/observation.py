"""What of a tool's call and result is worth keeping: a title, the files in play, and a bounded, readable text.

The text is cut before its secrets are taken out, so a cut must hide none from redaction: no word is cut in two, the
tail begins with a line, and where a secret or a frame of Foreword's may span lines there is no tail at all. What is
open at the end redaction takes out by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foreword.model import Kind, Origin

MOST_TEXT_CHARS = 4_000
MOST_TITLE_CHARS = 100
_MOST_INPUT_CHARS = 1_500
_MOST_FILES = 20
_MOST_ITEMS = 200
# Nothing that a person would read lies deeper, and the document is a stranger's.
_DEEPEST = 6

# The argument that tells best what was done, best first. A search has a path too, and is known by its pattern.
_MAIN = ("file_path", "notebook_path", "absolute_path", "command", "pattern", "query", "url", "path")
_FILE = ("file_path", "filePath", "notebook_path", "absolute_path", "path")
_FILES = ("filenames", "paths")
# Where a result's words are. Beside them stand counts, flags and whole files that were only changed.
_WORDS = (
    "stdout",
    "stderr",
    "output",
    "result",
    "results",
    "text",
    "content",
    "file",
    "filenames",
    "llmContent",
    "textResultForLlm",
    "error",
    "message",
)
_TRIVIAL = frozenset(
    {
        "",
        "0",
        "done",
        "false",
        "no content",
        "no files found",
        "no matches found",
        "no output",
        "none",
        "null",
        "ok",
        "success",
        "true",
        "undefined",
    }
)
_TRIVIAL_MARKS = " \t\r\n.!\"'`()[]{}<>"
# Anything longer without a space is an image or an archive.
_BLOB_CHARS = 400
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_MAY_SPAN_LINES = re.compile(
    r'private|passw|passphrase|passcode|mnemonic|"kty"|foreword|open_mem|ethos:', re.IGNORECASE
)


def observation(tool: str, type_: str, given: object, result: object, *, folder: str) -> dict[str, Any] | None:
    """The part of an `ingest` that a tool's use makes, or None when it says nothing. `type_` is what the tool does."""
    if not type_:
        return None
    given, result = _opened(given), _opened(result)
    asked = shortened(_lines(given), _MOST_INPUT_CHARS)
    # What an edit did is in its input; its result repeats it, often with the whole file.
    words = "" if type_ == "edit" else _result(result)
    if words.strip(_TRIVIAL_MARKS).casefold() in _TRIVIAL and not (type_ == "edit" and asked):
        return None
    shown = shortened(words, MOST_TEXT_CHARS - len(asked) - 1)
    text = "\n".join(part for part in (asked, shown) if part)
    if not text:
        return None
    seen = {
        "content": text,
        "kind": Kind.OBSERVATION.value,
        "tool": tool,
        "type": type_,
        "title": _title(tool, given, folder),
        "files": _files(given, result, folder, named=type_ in ("read", "edit", "other")),
    }
    # Elsewhere the engine tells a web page from other output by the tool's name.
    return {**seen, "origin": Origin.WEB.value} if type_ == "web" else seen


def shortened(text: str, most_chars: int) -> str:
    """`text` within `most_chars`: whole, or its head and tail around a line that tells how much is missing."""
    text = text.strip()
    if len(text) <= most_chars:
        return text
    room = most_chars - len(_gap(len(text)))
    if room < 1:
        return ""
    head_room = room if _MAY_SPAN_LINES.search(text) else room * 2 // 3
    head = text[:head_room]
    if text[head_room] in _VISIBLE:
        head = head.rstrip(_VISIBLE)
    head = head.rstrip()
    _, _, tail = text[len(text) - (room - head_room) :].partition("\n")
    tail = tail.lstrip("\n")
    left_out = len(text) - len(head) - len(tail)
    return f"{head}{_gap(left_out)}{tail}".strip() if head or tail else ""


def _gap(left_out: int) -> str:
    return f"\n[… {left_out:,} characters left out …]\n"


def _opened(value: object) -> object:
    """Some hosts hand a tool's arguments over as JSON in a string."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        opened: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return opened


def _result(value: object, depth: int = 0) -> str:
    """The words of a result, without what stands beside them."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        telling = [value[name] for name in _WORDS if name in value]
        return _joined(_result(one, depth + 1) for one in telling) if telling else _lines(value, depth)
    if isinstance(value, list) and depth < _DEEPEST:
        return _joined(_result(one, depth + 1) for one in value[:_MOST_ITEMS])
    return _lines(value, depth)


def _lines(value: object, depth: int = 0) -> str:
    """A JSON value as a person would write it down; flags and empty values are left out."""
    if isinstance(value, str):
        return "" if _is_blob(value) else value.strip("\n")
    if isinstance(value, bool) or value is None or depth >= _DEEPEST:
        return ""
    if isinstance(value, Mapping):
        items = [(name, _lines(one, depth + 1)) for name, one in list(value.items())[:_MOST_ITEMS]]
        return _joined(f"{name}:{_separator(text)}{text}" for name, text in items if text)
    if isinstance(value, list):
        return _joined(_lines(one, depth + 1) for one in value[:_MOST_ITEMS])
    # Python refuses to write a whole number of thousands of digits.
    return str(value) if isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64) else ""


def _separator(text: str) -> str:
    return "\n" if "\n" in text else " "


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part.strip())


def _is_blob(text: str) -> bool:
    start = text[:_BLOB_CHARS]
    return len(text) > _BLOB_CHARS and start.isascii() and not any(char.isspace() for char in start)


def _title(tool: str, given: object, folder: str) -> str:
    """The tool and its main argument, in one short line."""
    arguments = given if isinstance(given, Mapping) else {"": given}
    names = [name for name in _MAIN if name in arguments] or list(arguments)[:1]
    argument = _lines(arguments[names[0]]) if names else ""
    room = MOST_TITLE_CHARS - len(tool) - 2
    if names and names[0] in _FILE:
        argument = _within(argument, folder)
        argument = argument if len(argument) <= room else re.split(r"[/\\]", argument)[-1]
    line = " ".join(argument[: 4 * MOST_TITLE_CHARS].split())
    if len(line) > room:
        line = line[: max(room - 2, 0)].rstrip(_VISIBLE).rstrip()
        line = f"{line} …" if line else ""
    return f"{tool}: {line}" if line else tool[:MOST_TITLE_CHARS]


def _files(given: object, result: object, folder: str, *, named: bool) -> list[str]:
    """The files that a call names. A search's path is a folder, which would link everything with everything."""
    found: dict[str, None] = {}
    for part in (given, result, result.get("file") if isinstance(result, Mapping) else None):
        if isinstance(part, Mapping):
            names = [part.get(field) for field in _FILE] if named else []
            found.update((_within(name, folder), None) for name in _strings([*names, *map(part.get, _FILES)]))
    return list(found)[:_MOST_FILES]


def _strings(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _strings(one for one in value[:_MOST_ITEMS] if isinstance(one, str))
        elif isinstance(value, str) and value.strip() and "\n" not in value:
            yield value.strip()


def _within(path: str, folder: str) -> str:
    """A path as people in the project write it."""
    base = folder.rstrip("/\\")
    inside = path.startswith((f"{base}/", f"{base}\\")) and len(path) > len(base) + 1
    return path[len(base) + 1 :] if base and inside else path
