"""Opening the database file, and turning SQLite's errors into Foreword's: the one seam where both are known."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from foreword.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from foreword.store import migrations
from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class StoreSettings:
    home: str = field(
        default="~/.local/share/foreword",
        metadata={"help": "The folder that holds the memories; FOREWORD_HOME and --home come before it."},
    )


FILE_NAME = "foreword.db"
_LOCK_WAIT_S = 10.0
_LOOK_AGAIN_S = 0.005
_CLOSE_WAIT_S = 5.0
_UNWRITABLE = frozenset(
    {
        *(errno.EACCES, errno.EROFS, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
        *(errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG),
    }
)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error
    except OSError as error:
        if error.errno in _UNWRITABLE:
            raise StoreUnwritable(
                f"The folder {path.parent} cannot be written: {error.strerror}.",
                hint="Free some space, fix its permissions, or choose another home with --home or FOREWORD_HOME.",
            ) from error
        raise


def _translate(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"Another process keeps the lock on {path}.")
    if code == sqlite3.SQLITE_FULL:
        return StoreUnwritable(
            f"No room is left to write to {path}; nothing was changed.", hint="Free some space, then try again."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreUnwritable(
            f"{path} cannot be written: {error}.",
            hint="Fix its permissions, or choose another home with --home or FOREWORD_HOME.",
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreUnwritable(
            f"Reading or writing {path} failed: {error}.", hint="Nothing was changed; look at the disk."
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamaged(
            f"{path} is damaged: {error}.",
            hint="Nothing was changed. Run `foreword doctor`; restore a backup, or move the file away to start anew.",
        )
    return StoreError(f"The memory store {path} refused: {error}.", hint="Run `foreword doctor`.")


def _begin_writing(connection: sqlite3.Connection, until: float) -> None:
    """Take the write lock, waiting for other processes. SQLite's own waiting sleeps ever longer, up to a tenth of a
    second, and one that writes without pause then starves the others; short naps find the gaps between its
    transactions."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            import random  # only who meets another writer waits for it

            time.sleep(random.uniform(0.0002, 0.002))
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(_LOCK_WAIT_S * 1000)}")


class Connections:
    """One connection for each thread; the file and its folder are the user's alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._open: weakref.WeakSet[_Mine] = weakref.WeakSet()
        self._closed = False
        # Writers of this process queue here; napping for SQLite's lock, as they do for other processes, is slower.
        self._write_lock = threading.Lock()
        self._latest = migrations.newest()
        with translated(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Made before SQLite does, so that it never exists with a wider mode; WAL and journal inherit it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            migrations.migrate(self.here(), latest=self._latest)

    def here(self) -> sqlite3.Connection:
        """This thread's connection; it is closed with the thread, or with the store."""
        if self._closed:
            raise StoreError("The memory store is closed.")
        return self._mine().connection

    def _mine(self) -> _Mine:
        mine: _Mine | None = getattr(self._local, "mine", None)
        if mine is None:
            mine = self._local.mine = _Mine(_connect(self.path))
            self._open.add(mine)
        return mine

    @contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, which nobody closes meanwhile."""
        with translated(self.path), self._mine().busy:
            yield self.here()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One moment of the database, however many statements look at it."""
        with self.using() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def writing(self, *, synced: bool = True, wait_ms: float | None = None) -> Iterator[sqlite3.Connection]:
        """All or nothing. `synced` waits for the disk, so that what is acknowledged survives a power cut; without it
        a killed process still loses nothing, and a power cut loses at most the last moments. Raises StoreBusy when
        others keep the lock for longer than `wait_ms`."""
        if self._together():
            with self.using() as connection:
                yield connection
            return
        until = time.monotonic() + (_LOCK_WAIT_S if wait_ms is None else wait_ms / 1000)
        with self._queued(until), self.using() as connection:
            self._mine().wait_for_the_disk(synced)
            _begin_writing(connection, until)
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            try:
                connection.execute("COMMIT")
            except sqlite3.Error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def together(self) -> Iterator[None]:
        """What this thread writes within the block is one transaction, and waits for the disk once."""
        with self.writing():
            self._local.together = True
            try:
                yield
            finally:
                self._local.together = False

    def _together(self) -> bool:
        return bool(getattr(self._local, "together", False))

    @contextmanager
    def _queued(self, until: float) -> Iterator[None]:
        if not self._write_lock.acquire(timeout=max(until - time.monotonic(), 0)):
            raise StoreBusy(f"Others keep writing to {self.path}.")
        try:
            yield
        finally:
            self._write_lock.release()

    def close(self) -> None:
        """What is under way is finished first; a statement that takes longer is left, and closes with its thread."""
        self._closed = True
        for mine in list(self._open):
            if mine.busy.acquire(timeout=_CLOSE_WAIT_S):
                mine.connection.close()
                mine.busy.release()


class _Mine:
    """A thread's own connection. Threads keep it in their locals, so it goes when they do."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.busy = threading.RLock()
        self._synced: bool | None = None

    def wait_for_the_disk(self, synced: bool) -> None:
        if synced != self._synced:
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
            self._synced = synced

    def __del__(self) -> None:
        self.connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_LOCK_WAIT_S, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    # Freed bytes are overwritten: what was forgotten must not stay readable in the file.
    connection.execute("PRAGMA secure_delete = ON")
    _journal_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _journal_ahead(connection: sqlite3.Connection) -> None:
    """Readers and a writer at once need SQLite's write-ahead journal. While another process changes to it, or has just
    made the file, SQLite says that it is locked without waiting as it does elsewhere, so the waiting is done here."""
    until = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(_LOOK_AGAIN_S)
