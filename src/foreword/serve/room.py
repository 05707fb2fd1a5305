"""The engine as the daemon holds it: opened when it is first needed, and opened anew when the ground has moved, because
the settings were edited, the file was restored from a backup, or the last attempt failed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from foreword.engine import Foreword
from foreword.errors import ForewordError, StoreError
from foreword.settings import PROJECT_FILE, Loaded, config_file, load
from foreword.store import FILE_NAME

_TRY_AGAIN_AFTER_S = 1.0
_LEAVE_WITHIN_S = 15.0
_MOST_PROJECTS = 64
_Stamp = tuple[int, int, int] | None


@dataclass(slots=True)
class _Held:
    """An open engine, what it was opened from, and how many are using it."""

    engine: Foreword
    file: str
    stamps: tuple[_Stamp, _Stamp]
    users: int = 0
    projects: dict[str, tuple[_Stamp, Foreword]] = field(default_factory=dict)


class Room:
    """Safe to use from several threads."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._config = str(config_file(environ))
        self._free = threading.Condition()
        self._held: _Held | None = None
        # Read once for whoever asks first; before they are read, as in `_open`.
        stamp = _stamp(self._config)
        self._read: tuple[_Stamp, Loaded] | None = (stamp, load(environ=environ))
        # As they were when an engine was last opened; read without the lock, which is held while one is.
        self.settings = self._read[1].settings
        self._failure: tuple[float, ForewordError] | None = None

    @contextmanager
    def engine(self, project: str = "") -> Iterator[Foreword]:
        """The engine, under the project's settings where it has any; it stays open until the block ends. Raises what
        opening it raises; a failure counts for a second, so that a broken home is not opened for each request."""
        held = self._enter()
        try:
            yield self._under(held, project)
        finally:
            self._leave(held)

    def is_there(self) -> bool:
        """Whether there is a store: entering the room would make one."""
        return os.path.exists(Path(self.settings.store.home).expanduser() / FILE_NAME)

    def close(self) -> None:
        with self._free:
            self._let_go()

    def _enter(self) -> _Held:
        with self._free:
            if self._held is not None and self._held.stamps != self._stamps(self._held.file):
                self._let_go()
            if self._held is None:
                self._held = self._open()
            self._held.users += 1
            return self._held

    def _leave(self, held: _Held) -> None:
        with self._free:
            held.users -= 1
            self._free.notify_all()

    def _let_go(self) -> None:
        """Close the engine when those inside have left: two on one path, of which one was moved away, would take one
        another's journal for their own."""
        held, self._held = self._held, None
        if held is None:
            return
        self._free.wait_for(lambda: held.users == 0, timeout=_LEAVE_WITHIN_S)
        _clear(held.engine)
        held.engine.close()

    def _open(self) -> _Held:
        now = time.monotonic()
        if self._failure is not None and now - self._failure[0] < _TRY_AGAIN_AFTER_S:
            raise self._failure[1]
        try:
            # Before they are read: an edit in the meantime must not be taken for the one that was read.
            settings = _stamp(self._config)
            read, self._read = self._read, None
            loaded = read[1] if read is not None and read[0] == settings else load(environ=self._environ)
            self.settings = loaded.settings
            engine = Foreword.open(settings=loaded)
            # What one that was killed left there is of a turn long past.
            _clear(engine)
        except ForewordError as error:
            self._failure = (now, error)
            raise
        self._failure = None
        file = str(Path(loaded.settings.store.home).expanduser() / FILE_NAME)
        return _Held(engine, file, (settings, self._stamps(file)[1]))

    def _stamps(self, file: str) -> tuple[_Stamp, _Stamp]:
        settings = _stamp(self._config)
        database = _stamp(file)
        # The database grows all the time; only its being another file matters.
        return settings, (database[0], 0, 0) if database else None

    def _under(self, held: _Held, project: str) -> Foreword:
        """A project's file may only tighten; it is looked for where the host says the project is."""
        if not os.path.isabs(project) or (stamp := _stamp(os.path.join(project, PROJECT_FILE))) is None:
            return held.engine
        with self._free:
            known = held.projects.get(project)
            if known is None or known[0] != stamp:
                if len(held.projects) >= _MOST_PROJECTS:
                    held.projects.clear()
                loaded = load(project=Path(project), environ=self._environ)
                known = held.projects[project] = (stamp, held.engine.under(loaded))
        return known[1]


def _clear(engine: Foreword) -> None:
    """Nobody keeps the context files true while no engine is open."""
    try:
        engine.clear_files()
    except StoreError:
        return  # the store cannot say which they are; the next engine that can asks it again


def _stamp(file: str) -> _Stamp:
    try:
        about = os.stat(file)
    except (OSError, ValueError):
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size
