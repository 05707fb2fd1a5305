"""The daemon: one for each home, started by whoever needs it, gone when nobody does.

It holds a lock while it lives, and its socket is there while it answers. It starts no process. On SIGTERM it takes no
more requests, finishes those it has taken, and leaves nothing but its log.
"""

from __future__ import annotations

import fcntl
import gc
import os
import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.errors import DaemonError, ForewordError
from foreword.serve.address import Address, absolute, address, reachable
from foreword.serve.trail import Log

if TYPE_CHECKING:
    import socket

    from foreword.serve.doors import Doors

# How many may stand at the door before they are let in; beyond, a Unix socket turns them away at once.
BACKLOG = 1024
_MOST_INHERITED = 4096
# One that ends still holds the lock for as long as its last answers take.
_WAIT_FOR_LOCK_S = 5.0
_FINISH_WITHIN_S = 10.0


def main(argv: list[str] | None = None) -> int:
    """`foreword-daemon [--detach]`: answer until idle or told to end; with --detach in the background."""
    given = sys.argv[1:] if argv is None else argv
    if unknown := [one for one in given if one != "--detach"]:
        print(f"foreword-daemon: {unknown[0]} is not an option; there is --detach", file=sys.stderr)
        return 2
    detached = "--detach" in given
    if detached and not _detach():
        return 0
    _settle_names()
    here = address(os.environ)
    try:
        here.make()
    except (OSError, ForewordError) as error:
        print(f"foreword-daemon: {error}", file=sys.stderr)
        return 1
    log = Log(here.log, echo=not detached)
    try:
        if detached:
            _complain_into(here)
        lock = _lock(here)
        if lock is None:
            return 0
        here.deadlines.unlink(missing_ok=True)
        listening = _listen(here)
    except (OSError, ForewordError) as error:
        log.say(f"cannot start: {error}")
        return 1
    # Threads of numpy's own do not pay for vectors of this size, and waking them falls on somebody's turn.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Nothing of what is loaded now is garbage; `Doors` begins to look for it when it is warm.
    gc.disable()
    # Clients may wait at the socket from here on, and whoever lost the race for the lock is gone already: what takes
    # long to load comes after it.
    import asyncio

    from foreword.serve.doors import Doors

    try:
        asyncio.run(_serve(here, listening, Doors(os.environ, here, log), log, lock))
    finally:
        log.say(f"ended, process {os.getpid()}")
        os.close(lock)
    return 0


def _settle_names() -> None:
    """Names that are relative are so to where it was started, not to where it goes."""
    for name in ("FOREWORD_HOME", "FOREWORD_CONFIG", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        if given := os.environ.get(name):
            os.environ[name] = absolute(given)


def _detach() -> bool:
    """Whether this is the child that goes on: in a session of its own, taken care of by init whoever started it, and
    with nothing in its hands that was inherited. A host waits until its hook's pipes are closed by everybody."""
    if os.fork():
        return False
    os.setsid()
    os.umask(0o077)
    os.closerange(3, _MOST_INHERITED)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)
    return True


def _complain_into(here: Address) -> None:
    """What the interpreter itself has to say goes into the log; and nobody's folder is kept from being unmounted."""
    os.chdir(here.folder)
    log = os.open(here.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def _lock(here: Address) -> int | None:
    """The lock, held until it is closed; None when another daemon answers."""
    descriptor = os.open(here.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    until = time.monotonic() + _WAIT_FOR_LOCK_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if _answers(here.socket):
                os.close(descriptor)
                return None
        if time.monotonic() > until:
            os.close(descriptor)
            raise DaemonError("Another daemon holds the lock and does not answer.", hint="Try `foreword down`.")
        time.sleep(0.01)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


def _answers(path: Path) -> bool:
    import socket

    try:
        with reachable(path) as short, socket.socket(socket.AF_UNIX) as trying:
            trying.connect(short)
            return True
    except OSError:
        return False


def _listen(here: Address) -> socket.socket:
    """The lock is ours, so a socket that lies there was left by one that was killed. Anything else is not ours."""
    try:
        if not stat.S_ISSOCK(here.socket.lstat().st_mode):
            raise DaemonError(f"{here.socket} is not a socket, so it is left alone.", hint="Move it away.")
        here.socket.unlink()
    except FileNotFoundError:
        pass
    import socket

    listening = socket.socket(socket.AF_UNIX)
    usual = os.umask(0o177)
    try:
        with reachable(here.socket) as short:
            listening.bind(short)
    finally:
        os.umask(usual)
    listening.listen(BACKLOG)
    return listening


async def _serve(here: Address, listening: socket.socket, doors: Doors, log: Log, lock: int) -> None:
    import asyncio
    import signal

    import foreword

    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    ours = here.socket.lstat().st_ino
    try:
        await doors.open(listening, BACKLOG, ending)
        log.say(f"started, version {foreword.__version__}, process {os.getpid()}")
        await doors.until(ending, lambda: _same(here.lock, os.fstat(lock).st_ino))
    finally:
        # First out of sight, so that whoever comes now starts another, which waits for the lock; then finish.
        if _same(here.socket, ours):
            here.socket.unlink()
            here.deadlines.unlink(missing_ok=True)
        await doors.close(within_s=_FINISH_WITHIN_S)


def _same(path: Path, number: int) -> bool:
    """Whether a path still leads to what it led to; the folder may have been deleted, and made anew by another."""
    try:
        return path.lstat().st_ino == number
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
