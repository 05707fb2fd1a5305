"""The user's settings file, changed in place: what a person wrote around the changed values stays as it is."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foreword.errors import BadSettings

_HEADER = re.compile(r"\s*\[\s*(?P<room>[^\[\]]+?)\s*\]\s*(#.*)?")


def change(file: Path, values: Mapping[str, float], *, fresh: str) -> Path | None:
    """Put values such as `{"gate.floor": 0.5}` into the file, all of them or none; a file that is missing begins as
    `fresh`. Returns where the file is kept as it was before, None when there was none. Raises BadSettings."""
    # A settings file is often a link into a folder that is kept elsewhere; replaced, the link would be lost.
    real = file.resolve()
    before: bytes | None = None
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        if real.exists():
            if not real.is_file():
                raise BadSettings(f"{file} is not a file.", hint="Set FOREWORD_CONFIG to another path.")
            before = real.read_bytes()
        after = rewritten(fresh if before is None else before.decode("utf-8"), values)
        if before is None:
            replace_file(real, after.encode(), mode=0o600)
            return None
        mode = stat.S_IMODE(real.stat().st_mode)
        backup = real.with_name(real.name + ".bak")
        replace_file(backup, before, mode=mode)
        replace_file(real, after.encode(), mode=mode)
    except OSError as error:
        raise BadSettings(
            f"{file} cannot be written: {error.strerror}; it is as it was.",
            hint="Fix its permissions, or set FOREWORD_CONFIG to another path.",
        ) from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{file} is not UTF-8 text; it is as it was.", hint=_by_hand(values)) from error
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{file} is not valid TOML: {error}; it is as it was.", hint="Correct it first.") from error
    except ValueError as error:
        raise BadSettings(f"{file} {error}; it is as it was.", hint=_by_hand(values)) from error
    return backup


def rewritten(text: str, values: Mapping[str, float]) -> str:
    """`text` with these values and nothing else changed, which reading it again proves. Raises ValueError."""
    wanted: dict[str, Any] = tomllib.loads(text)
    for name, value in values.items():
        room, _, key = name.partition(".")
        table = wanted.setdefault(room, {})
        if not isinstance(table, dict):
            raise ValueError(f"gives {room} a value where a table belongs")
        wanted[room] = {**table, key: value}
        text = _with(text, room, key, repr(value))
    try:
        done = tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        raise ValueError("is written in a way that is not changed safely")
    return text


def _with(text: str, room: str, key: str, value: str) -> str:
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    place, written = _place(lines, room, key)
    if place is None:
        gap = [end] if lines and lines[-1].strip() else []
        if lines and not lines[-1].endswith(("\n", "\r")):
            lines[-1] += end
        return "".join([*lines, *gap, f"[{room}]{end}", f"{key} = {value}{end}"])
    if written:
        lines[place] = re.sub(r"(=\s*)[^#\r\n]*?(\s*(?:#.*)?)$", rf"\g<1>{value}\g<2>", lines[place], count=1)
        return "".join(lines)
    if not lines[place].endswith(("\n", "\r")):
        lines[place] += end
    dotted = not _HEADER.match(lines[place]) and _section(lines, place) != room
    lines.insert(place + 1, f"{room}.{key} = {value}{end}" if dotted else f"{key} = {value}{end}")
    return "".join(lines)


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


def replace_file(file: Path, data: bytes, *, mode: int) -> None:
    """Whoever reads the file at any moment reads the old one or the new one."""
    number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(number, "wb") as target:
            target.write(data)
            target.flush()
            os.fsync(target.fileno())
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _by_hand(values: Mapping[str, float]) -> str:
    return f"Set it by hand: {', '.join(f'{name} = {value}' for name, value in values.items())}."
