"""Files of JSON lines: read line by line, however long the file, and from where an earlier reading stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from foreword.errors import BadInput
from foreword.values import dataclass

# A transcript may hold an image; nothing that is worth keeping is longer.
_LONGEST_BYTES = 64 * 1024 * 1024
_LOOKED_BACK_BYTES = 256
_HEAD_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """`mark` leads back to before this line. `document` is None where there is a `problem`."""

    where: str
    mark: str
    document: dict[str, Any] | None = None
    problem: str = ""


def parsed(raw: bytes) -> dict[str, Any]:
    """One line as a JSON object; raises BadInput with what is wrong in it."""
    try:
        values = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        reason = (
            f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else "nested too deep"
        )
        raise BadInput(f"this is not JSON: {reason}.") from None
    if not isinstance(values, dict):
        raise BadInput("this is not a JSON object.")
    return values


def opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> BadInput:
    reason = error.strerror if isinstance(error, OSError) else error
    return BadInput(f"{path} cannot be read: {reason}.")


def lines(path: Path, mark: str) -> Iterator[Line]:
    """Every line from the mark on; from the first where the file is no longer the one that was marked. Its last line
    may be half-written: it is nothing yet. Ends with an empty line, whose mark is where to go on."""
    with opened(path) as file:
        number, at = _begin(file, mark)
        before = b""
        while raw := file.readline(_LONGEST_BYTES):
            here = _mark(number, at, before)
            number, at, begun = number + 1, at + len(raw), raw
            where = f"line {number}"
            if len(raw) == _LONGEST_BYTES and not raw.endswith(b"\n"):
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(_LONGEST_BYTES)
                    at += len(raw)
                    begun = raw or begun
                yield Line(where, here, problem=f"it is longer than {_LONGEST_BYTES:,} bytes.")
            elif raw.strip():
                try:
                    yield Line(where, here, parsed(raw))
                except BadInput as error:
                    if not raw.endswith(b"\n"):
                        yield Line("", here)
                        return
                    yield Line(where, here, problem=str(error))
            before = (before + begun)[-_LOOKED_BACK_BYTES:]
        yield Line("", _mark(number, at, before))


def head(path: Path, most: int = 20) -> list[dict[str, Any]]:
    """The first objects of a file of lines, for a guess at what it is; empty for anything else."""
    try:
        with path.open("rb") as file:
            raws = file.read(_HEAD_BYTES).split(b"\n")[: most + 1]
    except (OSError, ValueError):
        return []
    found = []
    for raw in raws:
        try:
            found.append(parsed(raw))
        except BadInput:
            if raw.strip():
                break
    return found


def _begin(file: BinaryIO, mark: str) -> tuple[int, int]:
    """The line and the byte to go on from."""
    number, _, rest = mark.partition(":")
    at, _, digest = rest.partition(":")
    if number.isdecimal() and at.isdecimal():
        file.seek(max(int(at) - _LOOKED_BACK_BYTES, 0))
        before = file.read(min(int(at), _LOOKED_BACK_BYTES))
        if _digest(before) == digest and file.tell() == int(at):
            return int(number), int(at)
        file.seek(0)
    return 0, 0


def _mark(number: int, at: int, before: bytes) -> str:
    return f"{number}:{at}:{_digest(before)}"


def _digest(before: bytes) -> str:
    # Redaction never saw these bytes: so few of the digest are kept that nothing can be guessed by them.
    return hashlib.blake2b(before, digest_size=3).hexdigest()
