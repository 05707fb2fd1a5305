"""The journal lane: a section in a day's notes for what a session was given. The notes are the user's; the section is
ours, is written once, is known by its marks, and is no memory: whoever reads the notes leaves it out."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from foreword.errors import LaneError
from foreword.lanes import folder
from foreword.model import frames

_FOLDER = "memory"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
# What our lines look like where somebody took the end mark away.
_LINE = re.compile(r"(?:|## Recalled memory|- (?:Time|Query): .*|\d+\. \d+% `m\d+` .*)")
_About = tuple[int, int, int] | None
_TRIES = 20
# Somebody waits for the brief; another of us takes a few milliseconds.
_PATIENCE_S = 2.0


def add(workspace: str, day: str, section: str) -> bool:
    """Append a section to the day's notes, unless its session has one there. Every other byte is kept, the notes are
    replaced in one step, and of several processes each gets its turn. Whether it was added. Raises LaneError."""
    mark = section.partition("\n")[0].encode()
    name = f"{day}.md"

    def with_it(before: bytes) -> bytes:
        if mark in before.splitlines():
            return before
        gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
        return before + gap + section.encode("utf-8", "replace")

    with _notes(workspace, make=True) as here:
        return _change(here, name, with_it)


def take_out(workspace: str, holds: Callable[[str], bool]) -> tuple[int, list[str]]:
    """Take every section that `holds` says so of out of all days' notes. How many, and the notes that could not be
    changed. Raises LaneError where the folder itself cannot be used."""
    taken, left = 0, []
    notes = os.path.join(workspace, _FOLDER)
    # Through a link nothing was ever written.
    if os.path.islink(notes) or not os.path.isdir(notes):
        return 0, []
    with _notes(workspace) as here:
        for name in sorted(one for one in os.listdir(here) if _DAY.fullmatch(one)):
            try:
                taken += _taken_out(here, name, holds)
            except LaneError:
                left.append(os.path.join(notes, name))
    return taken, left


def _taken_out(here: int, name: str, holds: Callable[[str], bool]) -> int:
    found = 0

    def without(before: bytes) -> bytes:
        nonlocal found
        parts = list(_parts(before.decode("utf-8", "surrogateescape")))
        kept = [part for part, ours in parts if not (ours and holds(part))]
        found = len(parts) - len(kept)
        return "".join(kept).encode("utf-8", "surrogateescape") if found else before

    _change(here, name, without)
    return found


def sweep(workspace: str) -> None:
    """Take away what a killed process left half-written, beside the context file and among the notes. Raises
    LaneError."""
    with folder.held(workspace) as outer:
        folder.sweep(outer)
        with suppress(LaneError), folder.held(_FOLDER, inside=outer) as here:
            folder.sweep(here)


def is_section(markdown: str) -> bool:
    """Whether a piece of Markdown begins as a journal section, and so is nobody's note."""
    return markdown.lstrip().startswith(frames.JOURNAL_BEGIN)


def without_sections(markdown: str) -> str:
    """A day's notes as the user wrote them: what may be indexed."""
    if frames.JOURNAL_BEGIN not in markdown:
        return markdown
    return "".join(part for part, ours in _parts(markdown) if not ours)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces that make it up again, each with whether it is a section of ours. One without an end reaches
    as far as its lines look like ours, so that no word of the user's goes with it."""
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        if not lines[at].startswith(frames.JOURNAL_BEGIN):
            yield lines[at], False
            at += 1
            continue
        end = at + 1
        while end < len(lines) and not lines[end].startswith((frames.JOURNAL_BEGIN, frames.JOURNAL_END)):
            end += 1
        if end < len(lines) and lines[end].startswith(frames.JOURNAL_END):
            end += 1
        else:
            end = at + 1
            while end < len(lines) and _LINE.fullmatch(lines[end].rstrip("\r\n")):
                end += 1
        yield "".join(lines[at:end]), True
        at = end


@contextmanager
def _notes(workspace: str, *, make: bool = False) -> Iterator[int]:
    """The folder of the notes, locked: the lock is on the folder itself, so that no file of ours lies among them."""
    with folder.held(workspace) as outer, folder.held(_FOLDER, inside=outer, make=make) as here:
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(here, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise LaneError("Others keep writing to the notes.", hint="It is tried again later.") from None
            time.sleep(0.002)
        yield here


def _change(here: int, name: str, changed: Callable[[bytes], bytes]) -> bool:
    """Others that know of no lock, an editor or the agent itself, may write meanwhile: then it is done again on what
    they wrote."""
    for _ in range(_TRIES):
        about = _about(here, name)
        before = folder.read(here, name) or b""
        after = changed(before)
        if after == before:
            return False
        if folder.replace(here, name, after, while_true=partial(_is_still, here, name, about)):
            return True
    raise LaneError(f"{name} is being changed all the time.", hint="It is tried again on the next turn.")


def _is_still(here: int, name: str, about: _About) -> bool:
    return _about(here, name) == about


def _about(here: int, name: str) -> _About:
    try:
        about = os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size
