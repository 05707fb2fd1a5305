"""The file lane: one file in a workspace that holds the brief of its last turn, and is empty when there was none."""

from __future__ import annotations

import os
from dataclasses import field

from foreword.errors import LaneError
from foreword.lanes import folder
from foreword.model import frames
from foreword.values import dataclass

_NAMES = ("FOREWORD.md", "ETHOS_CONTEXT.md")
_IGNORE_FILE = ".gitignore"
_MARK = frames.CONTEXT_BEGIN.encode()


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """What is written where, so none of it may come from a project's file."""

    hot: str = field(
        default="runtime",
        metadata={
            "help": "How a turn's brief goes out: `runtime` returns it to the host; `file` writes it into a file of the"
            " session's workspace, for hosts that read it themselves; `both` does both.",
            "choices": ("runtime", "file", "both"),
        },
    )
    file_name: str = field(
        default=_NAMES[0], metadata={"help": f"That file: {' or '.join(_NAMES)}.", "choices": _NAMES}
    )
    journal: bool = field(
        default=False,
        metadata={
            "help": "Add a section to `memory/YYYY-MM-DD.md` of the workspace for a session's first brief of the day."
        },
    )

    @property
    def to_file(self) -> bool:
        return self.hot != "runtime"

    @property
    def to_disk(self) -> bool:
        return self.to_file or self.journal


def is_context_file(name: str) -> bool:
    """Whether a workspace file of this name is the lane's. On some disks the case of letters makes no difference."""
    return os.path.basename(name).casefold() in {one.casefold() for one in _NAMES}


def put(workspace: str, name: str, text: str) -> None:
    """Replace the context file; "" leaves it empty, not missing. A file that Foreword did not write, a link and a
    folder are left alone. A new file is listed in the ignore file first. Raises LaneError."""
    with folder.held(workspace) as here:
        present = folder.read(here, name, most=max(len(_MARK), 64))
        if present and not present.startswith(_MARK):
            raise LaneError(
                f"{os.path.join(workspace, name)} was not written by Foreword, so it is left alone.",
                hint="Move it away, or set lanes.file_name to the other name.",
            )
        if present == b"" and not text:
            return
        if present is None or (text and not present):
            _ignore(here, workspace, name)
        folder.replace(here, name, text.encode("utf-8", "replace"), mode=0o600)


def _ignore(here: int, workspace: str, name: str) -> None:
    """List the file in the workspace's ignore file, which is made only where git would read it: before anything is
    written into the file, for git may have come since the last time."""
    present = folder.read(here, _IGNORE_FILE)
    if present is None and not _in_a_worktree(workspace):
        return
    before = present or b""
    if {f"{name}".encode(), f"/{name}".encode()} & {line.strip() for line in before.splitlines()}:
        return
    end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = end if before and not before.endswith(b"\n") else b""
    folder.replace(
        here, _IGNORE_FILE, before + gap + f"/{name}".encode() + end, mode=0o644 if present is None else None
    )


def _in_a_worktree(workspace: str) -> bool:
    at = os.path.realpath(workspace)
    while not os.path.lexists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return False
        at = above
    return True
