"""What a person or a script sees: colour only on a terminal, answers on stdout, remarks on stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
_SHOW_PROGRESS_AFTER_S = 0.5
_PROGRESS_EVERY_S = 0.1


class Screen:
    def __init__(self, *, as_json: bool = False, color: bool | None = None) -> None:
        """`color` None decides by the terminal."""
        self.as_json = as_json
        self._color = color

    @property
    def width(self) -> int:
        return max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))

    def write(self, text: str) -> None:
        print(text)

    def note(self, text: str) -> None:
        print(text, file=sys.stderr)

    def warn(self, text: str) -> None:
        self.note(f"foreword: {self.paint('warning:', 'yellow', on=sys.stderr)} {text}")

    def refuse(self, code: str, message: str) -> None:
        if self.as_json:
            self.document({"status": "error", "error": {"code": code, "message": message}})
        else:
            self.note(f"{self.paint('foreword:', 'red', on=sys.stderr)} {message}")

    def document(self, value: Any) -> None:
        print(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))

    def paint(self, text: str, *styles: str, on: TextIO | None = None) -> str:
        if not styles or not self._colored(on or sys.stdout):
            return text
        return f"\x1b[{';'.join(_CODES[one] for one in styles)}m{text}\x1b[0m"

    def _colored(self, stream: TextIO) -> bool:
        if self._color is not None:
            return self._color
        return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Columns as wide as their widest cell, the last one cut to what is left of the line when somebody looks."""
        body = [[_one_line(cell) for cell in row] for row in rows]
        widths = [max(map(columns, column)) for column in zip(heads, *body, strict=True)]
        room = self.width - sum(widths[:-1]) - 2 * (len(widths) - 1) if sys.stdout.isatty() else 0

        def line(cells: Sequence[str]) -> str:
            *first, last = cells
            padded = [cell + " " * (width - columns(cell)) for cell, width in zip(first, widths[:-1], strict=True)]
            return "  ".join([*padded, cut(last, max(room, 20)) if room else last])

        self.write(self.paint(line(heads), "dim"))
        for row in body:
            self.write(line(row))


class Progress:
    """One line on stderr that counts, on a terminal or when asked for, and only once a second is nearly over."""

    def __init__(self, what: str, *, forced: bool = False) -> None:
        self._what = what
        self._live = sys.stderr.isatty()
        self._shown = self._live or forced
        self._started = self._last = time.monotonic()
        self._drawn = False

    def update(self, done: int, of: int = 0) -> None:
        now = time.monotonic()
        if not self._shown or now - self._started < _SHOW_PROGRESS_AFTER_S or now - self._last < _PROGRESS_EVERY_S:
            return
        self._last = now
        rate = done / (now - self._started)
        bar = f"[{'#' * (20 * done // of):<20}] " if of else ""
        total = f" of {of:,}" if of else ""
        print(f"{bar}{self._what} {done:,}{total} ({rate:,.0f}/s)", end=self._end, file=sys.stderr, flush=True)
        self._drawn = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn and self._live:
            print("\x1b[2K\r", end="", file=sys.stderr, flush=True)

    @property
    def _end(self) -> str:
        # On a terminal the line is written over; in a log each is its own.
        return "\x1b[K\r" if self._live else "\n"


def columns(text: str) -> int:
    """How many columns a terminal gives to a text."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )


def cut(text: str, room: int) -> str:
    """`text` on one line within `room` columns."""
    text = _one_line(text)
    if columns(text) <= room:
        return text
    kept, used = "", 1
    for one in text:
        used += columns(one)
        if used > room:
            break
        kept += one
    return kept.rstrip() + "…"


def when(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M") if at else "-"


def size(number: int) -> str:
    return f"{number / 1e6:,.1f} MB" if number < 1e9 else f"{number / 1e9:,.1f} GB"


def count(number: int, thing: str, things: str = "") -> str:
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def _one_line(text: str) -> str:
    # A memory may hold what moves a terminal's cursor or changes its colours.
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """`text` without the characters by which a text could take over the terminal it is shown on."""
    return "".join(
        one if one in "\n\t" or unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co") or one == "\u200d" else " "
        for one in text
    )
