"""Work that is killed at each of its writes in turn.

Every write that Python makes announces itself to an audit hook before it is made: opening a file to write, renaming,
removing, changing a mode, making and removing a folder. `fsync` does not, and is wrapped. So the places are counted by
the work itself and none is left out; the child is killed there by SIGKILL, in the middle of what it was about to do. At
an `fsync` the file loses its second half first, as after a power cut.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

_WRITES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}


# What is watched begins when the work calls what it is handed.
Work = Callable[[Callable[[], None]], object]


def done(work: Work) -> None:
    """In a child, to its end."""
    assert _in_a_child(lambda: work(lambda: None)) == 0


def writes(work: Work, folder: Path) -> list[str]:
    """What the work writes below the folder, in order; it is done to its end in a child."""
    log = folder.with_name(f"{folder.name}.writes")
    with log.open("w") as told:
        tell = partial(print, file=told, flush=True)
        assert _in_a_child(lambda: work(lambda: _watch(folder, tell))) == 0
    return log.read_text().splitlines()


def killed(work: Work, folder: Path, at: int) -> None:
    """The work in a child that is killed at its write number `at`."""
    seen = 0

    def counted(_: str) -> None:
        nonlocal seen
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    ended = _in_a_child(lambda: work(lambda: _watch(folder, counted)))
    assert ended == -signal.SIGKILL, f"it was to be killed at write {at}"


def _watch(folder: Path, tell: Callable[[str], None]) -> None:
    """For the rest of this process."""
    inside = f"{folder.resolve()}{os.sep}"
    sync = os.fsync

    def heard(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event in _WRITES:
            path = args[0]
        else:
            return
        if isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(inside):
            tell(f"{event} {os.path.relpath(os.fsdecode(path), folder)}")

    def torn(descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        whole = os.pread(descriptor, size, 0) if size else b""
        os.ftruncate(descriptor, size // 2)
        tell("os.fsync")
        os.pwrite(descriptor, whole[size // 2 :], size // 2)
        sync(descriptor)

    os.fsync = torn
    sys.addaudithook(heard)


def _in_a_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001  a child of a test ends here, whatever happens
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
