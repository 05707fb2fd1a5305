"""The daemon: one for each home, started by whoever needs it, gone when nobody does.

It holds a lock while it lives, and its socket is there while it answers. It starts no process. On SIGTERM it takes no
more requests, finishes those it has taken, and leaves nothing but its log.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import foreword
from foreword.errors import DaemonError, ForewordError
from foreword.serve.address import Address, address, reachable
from foreword.serve.trail import Log

if TYPE_CHECKING:
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
    here = address(os.environ)
    log = Log(here.log, echo=not detached)
    try:
        here.make()
        if detached:
            _complain_into(here)
        lock = _lock(here)
        if lock is None:
            return 0
        listening = _listen(here)
    except (OSError, ForewordError) as error:
        log.say(f"cannot start: {error}")
        return 1
    # Clients may wait at the socket from here on; what takes long to load comes after it.
    from foreword.serve.doors import Doors

    try:
        asyncio.run(_serve(here, listening, Doors(os.environ, here, log), log))
    finally:
        log.say(f"ended, process {os.getpid()}")
        os.close(lock)
    return 0


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
    log = os.open(here.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def _lock(here: Address) -> int | None:
    """The lock, held until it is closed; None when another daemon answers."""
    descriptor = os.open(here.lock, os.O_RDWR | os.O_CREAT, 0o600)
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
    with contextlib.suppress(OSError), reachable(path) as short, socket.socket(socket.AF_UNIX) as trying:
        trying.connect(short)
        return True
    return False


def _listen(here: Address) -> socket.socket:
    """The lock is ours, so a socket that lies there was left by one that was killed. Anything else is not ours."""
    try:
        if not stat.S_ISSOCK(here.socket.lstat().st_mode):
            raise DaemonError(f"{here.socket} is not a socket, so it is left alone.", hint="Move it away.")
        here.socket.unlink()
    except FileNotFoundError:
        pass
    listening = socket.socket(socket.AF_UNIX)
    usual = os.umask(0o177)
    try:
        with reachable(here.socket) as short:
            listening.bind(short)
    finally:
        os.umask(usual)
    listening.listen(BACKLOG)
    return listening


async def _serve(here: Address, listening: socket.socket, doors: Doors, log: Log) -> None:
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    ours = here.socket.lstat().st_ino
    await doors.open(listening, BACKLOG, ending)
    log.say(f"started, version {foreword.__version__}, process {os.getpid()}")
    try:
        await doors.until(ending)
    finally:
        # First out of sight, so that whoever comes now starts another, which waits for the lock; then finish.
        with contextlib.suppress(OSError):
            if here.socket.lstat().st_ino == ours:
                here.socket.unlink()
        await doors.close(within_s=_FINISH_WITHIN_S)


if __name__ == "__main__":
    sys.exit(main())
