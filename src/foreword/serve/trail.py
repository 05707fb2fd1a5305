"""What a process that nobody watches leaves behind: a log, and a line for each failure in a host's hook.

Neither ever holds a word that was recorded or asked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from foreword.errors import ForewordError
from foreword.values import dataclass

_LARGEST_BYTES = 1_000_000
_LARGEST_FAILURES_BYTES = 64_000
_STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure that a host did not notice. `at` is in UTC, as text."""

    at: str
    host: str
    event: str
    cause: str


def cause(error: Exception) -> str:
    """Without a word that was said: only Foreword's own errors are known to hold none."""
    return str(error) if isinstance(error, ForewordError) else f"Foreword failed inside ({type(error).__name__})."


class Log:
    """Lines with their time, in a file that is the user's alone and never grows beyond two megabytes with its past."""

    def __init__(self, file: Path, *, echo: bool = False) -> None:
        self._file = file
        self._echo = echo

    def say(self, text: str) -> None:
        line = f"{time.strftime(_STAMP, time.gmtime())} {' '.join(text.split())}"
        if self._echo:
            print(line, flush=True)
        _append(self._file, line, _LARGEST_BYTES)


def note_failure(file: Path, host: str, event: str, cause: str) -> None:
    """Also written, in the same form, by the hook client itself, which cannot afford to import this."""
    stamp = time.strftime(_STAMP, time.gmtime())
    fields = (" ".join(one.split())[:300] for one in (host, event, cause))
    _append(file, "\t".join((stamp, *fields)), _LARGEST_FAILURES_BYTES)


def failures(file: Path, *, since_s: float) -> Sequence[Failure]:
    """Those not older than `since_s` seconds, oldest first."""
    oldest = time.strftime(_STAMP, time.gmtime(time.time() - since_s))
    found = []
    for part in (file.with_name(file.name + ".1"), file):
        try:
            lines = part.read_text("utf-8", errors="replace").splitlines()
        except OSError:
            continue
        found += [line.split("\t") for line in lines]
    return [Failure(*fields) for fields in found if len(fields) == 4 and fields[0] >= oldest]


def _append(file: Path, line: str, largest: int) -> None:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, line.encode("utf-8", "replace") + b"\n")
            if os.fstat(descriptor).st_size > largest:
                os.replace(file, file.with_name(file.name + ".1"))
        finally:
            os.close(descriptor)
    except OSError:
        # A full disk or a folder that is gone: there is no other place to say it, and the turn must go on.
        return
