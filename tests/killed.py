"""Work that is killed at each of its writes in turn.

Every write that Python makes announces itself to an audit hook before it is made: opening a file to write, renaming,
removing, changing a mode, making and removing a folder. `fsync` does not, and is wrapped. So the places are counted by
the work itself and none is left out; the child is killed there by SIGKILL, in the middle of what it was about to do.
Where a file may be half written at that moment, it is: at an `fsync`, and once more after a file that exists is opened
to be written anew, its second half is cut off first.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}


# What is watched begins when the work calls what it is handed.
Work = Callable[[Callable[[], None]], object]
Tear = Callable[[], None]


def done(work: Work) -> None:
    """In a child, to its end."""
    assert _in_a_child(lambda: work(lambda: None)) == 0


def writes(work: Work, folder: Path) -> list[str]:
    """What the work writes below the folder, in order; it is done to its end in a child."""
    log = folder.with_name(f"{folder.name}.writes")
    with log.open("w") as told:

        def tell(what: str, _: Tear | None) -> None:
            print(what, file=told, flush=True)

        assert _in_a_child(lambda: work(lambda: _watch(folder, tell))) == 0
    return log.read_text().splitlines()


def killed(work: Work, folder: Path, at: int) -> None:
    """The work in a child that is killed at its write number `at`."""
    seen = 0

    def counted(_: str, tear: Tear | None) -> None:
        nonlocal seen
        if seen == at:
            if tear:
                tear()
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    ended = _in_a_child(lambda: work(lambda: _watch(folder, counted)))
    assert ended == -signal.SIGKILL, f"it was to be killed at write {at}"


def _watch(folder: Path, tell: Callable[[str, Tear | None], None]) -> None:
    """For the rest of this process."""
    inside = f"{folder.resolve()}{os.sep}"
    sync = os.fsync
    tearing = False

    def heard(event: str, args: tuple[Any, ...]) -> None:
        path, flags = args[0] if args else None, 0
        if event == "open":
            flags = args[2] if isinstance(args[2], int) else 0
            if not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event not in _WRITES:
            return
        if tearing or not isinstance(path, str | bytes | os.PathLike):
            return
        name = os.fsdecode(path)
        if name.startswith(inside):
            what = f"{event} {os.path.relpath(name, folder)}"
            tell(what, None)
            if flags & os.O_TRUNC and os.path.exists(name):
                tell(f"{what}, half written", lambda: halve(name, os.path.getsize(name)))

    def halve(file: str | int, size: int) -> None:
        nonlocal tearing
        tearing = True
        os.truncate(file, size // 2)

    def synced(descriptor: int) -> None:
        tell("os.fsync", lambda: halve(descriptor, os.fstat(descriptor).st_size))
        sync(descriptor)

    os.fsync = synced
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
