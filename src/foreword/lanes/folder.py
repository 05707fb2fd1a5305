"""Reading and replacing files in a folder that is held open: a name is looked up in it and nowhere else, and a link is
never followed. A workspace may have come with somebody's repository, and what is written into it is private."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from foreword.errors import LaneError

_OURS = os.O_CLOEXEC | os.O_NOFOLLOW
# Beside what it will replace, in one form, so that what a killed process left can be known and taken away.
_NEW = ".foreword-new"


@contextmanager
def held(path: str, *, inside: int | None = None, make: bool = False) -> Iterator[int]:
    """The folder, open. `inside` another, no link leads to it. Raises LaneError where it is missing, is not a folder,
    or is somebody else's; and for whatever the system refuses meanwhile."""
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(path, 0o700, dir_fd=inside)
        follow = 0 if inside is None else os.O_NOFOLLOW
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | follow, dir_fd=inside)
        try:
            if os.fstat(folder).st_uid != os.getuid():
                raise LaneError(f"The folder {path} is another user's, so nothing is written there.")
            yield folder
        finally:
            os.close(folder)
    except (OSError, ValueError) as error:
        raise _refused(path, error) from error


def read(folder: int, name: str, *, most: int = -1) -> bytes | None:
    """A plain file's bytes, at most `most`; None where there is none. Raises LaneError for a link, a folder and the
    like."""
    try:
        # Opening a pipe would wait for somebody to write to it.
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _OURS, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(name, error) from error
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise LaneError(f"{name} is not a file, so it is left alone.")
        return file.read(most)


def replace(
    folder: int, name: str, data: bytes, *, mode: int | None = None, while_true: Callable[[], bool] = lambda: True
) -> bool:
    """Whoever reads the file at any moment reads the old one or the new one. A new file is the user's alone; one that
    was there keeps its mode unless told otherwise. Nothing is changed where `while_true`, asked in the last moment, no
    longer holds: whether it did."""
    _lock(folder, fcntl.LOCK_SH)
    made = f".{name}.{os.urandom(6).hex()}{_NEW}"
    try:
        if mode is None:
            mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        mode = 0o600
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OURS, 0o600, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            os.fchmod(descriptor, mode)
        if not while_true():
            os.unlink(made, dir_fd=folder)
            return False
        os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder)
        return True
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(made, dir_fd=folder)
        raise


def sweep(folder: int) -> None:
    """Take away what processes that were killed while they replaced something have left; who is still at it is waited
    for."""
    _lock(folder, fcntl.LOCK_EX)
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(_NEW):
            with suppress(FileNotFoundError):  # where there are no locks, it has just become what it was made for
                os.unlink(name, dir_fd=folder)


def _lock(folder: int, kind: int) -> None:
    """Held until the folder is closed, or its process ends. Some network disks have none; there, what is swept away
    under somebody's hands is an error to them."""
    with suppress(OSError):
        fcntl.flock(folder, kind)


def _refused(name: str, error: Exception) -> LaneError:
    code = getattr(error, "errno", None)
    if code == errno.ELOOP:
        return LaneError(f"{name} is a link, so it is left alone.", hint="Put the file itself there, or remove it.")
    if code == errno.ENOENT:
        return LaneError(f"{name} does not exist.", hint="It is looked for again on the next turn.")
    return LaneError(
        f"{name} cannot be used: {getattr(error, 'strerror', None) or error}.", hint="Fix it, or remove it."
    )
