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
from foreword.errors import ForewordError
from foreword.settings import PROJECT_FILE, Settings, config_file, load
from foreword.store import FILE_NAME

_TRY_AGAIN_AFTER_S = 1.0
_MOST_PROJECTS = 64
_Stamp = tuple[int, int, int] | None


@dataclass(slots=True)
class _Held:
    """An open engine, what it was opened from, and how many are using it."""

    engine: Foreword
    file: Path
    stamps: tuple[_Stamp, _Stamp]
    users: int = 0
    left: bool = False
    projects: dict[str, tuple[_Stamp, Foreword]] = field(default_factory=dict)


class Room:
    """Safe to use from several threads."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._held: _Held | None = None
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

    @property
    def settings(self) -> Settings:
        """As they are now, also while no engine can be opened."""
        with self._lock:
            if self._held is not None:
                return self._held.engine.settings
        return load(environ=self._environ).settings

    def close(self) -> None:
        with self._lock:
            held, self._held = self._held, None
            if held is not None:
                held.left = True
        if held is not None and not held.users:
            held.engine.close()

    def _enter(self) -> _Held:
        with self._lock:
            held = self._held
            if held is not None and held.stamps != self._stamps(held.file):
                # Whoever is still inside finishes there; the last one closes it.
                held.left, self._held = True, None
                if not held.users:
                    held.engine.close()
                held = None
            if held is None:
                held = self._held = self._open()
            held.users += 1
            return held

    def _leave(self, held: _Held) -> None:
        with self._lock:
            held.users -= 1
            done = held.left and not held.users
        if done:
            held.engine.close()

    def _open(self) -> _Held:
        now = time.monotonic()
        if self._failure is not None and now - self._failure[0] < _TRY_AGAIN_AFTER_S:
            raise self._failure[1]
        try:
            loaded = load(environ=self._environ)
            engine = Foreword.open(settings=loaded)
        except ForewordError as error:
            self._failure = (now, error)
            raise
        self._failure = None
        file = Path(loaded.settings.store.home).expanduser() / FILE_NAME
        return _Held(engine, file, self._stamps(file))

    def _stamps(self, file: Path) -> tuple[_Stamp, _Stamp]:
        settings = _stamp(config_file(self._environ))
        database = _stamp(file)
        # The database grows all the time; only its being another file matters.
        return settings, (database[0], 0, 0) if database else None

    def _under(self, held: _Held, project: str) -> Foreword:
        """A project's file may only tighten; it is looked for where the host says the project is."""
        if not os.path.isabs(project) or (stamp := _stamp(Path(project) / PROJECT_FILE)) is None:
            return held.engine
        with self._lock:
            known = held.projects.get(project)
            if known is None or known[0] != stamp:
                if len(held.projects) >= _MOST_PROJECTS:
                    held.projects.clear()
                loaded = load(project=Path(project), environ=self._environ)
                known = held.projects[project] = (stamp, held.engine.under(loaded))
        return known[1]


def _stamp(file: Path) -> _Stamp:
    try:
        about = os.stat(file)
    except (OSError, ValueError):
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size
