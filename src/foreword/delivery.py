"""Which file a brief goes into: the workspaces that hosts told of, and what Foreword has written there. What cannot be
written is remembered and told; no turn fails by it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from foreword import compose, lanes
from foreword.errors import BadInput, LaneError, StoreError
from foreword.lanes import LaneSettings
from foreword.place import Place
from foreword.record import redact
from foreword.store import LaneFile, Store

_MOST_KNOWN = 512
_UNKNOWN = "No workspace is known for this session, so nothing was written into a file."
_JOURNAL = "memory"
# A short text is quoted only by an ask that says nothing else.
_QUOTABLE_CHARS = 12
_ITEM = re.compile(r"^\d+\. \d+% `m(\d+)` ", re.MULTILINE)
_QUERY = re.compile(r"^- Query: (.*)$", re.MULTILINE)


class Delivery:
    """Safe to use from several threads; several processes may share a store."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        # For when the store cannot be asked, or forgot a session that had only begun.
        self._known: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def learn(self, place: Place, workspace: str, settings: LaneSettings, wait_ms: float | None = None) -> None:
        """From now on the session's agent works in this folder; its file where it worked before is emptied. Raises
        BadInput and StoreError."""
        if not os.path.isabs(workspace):
            raise BadInput("The workspace must be an absolute path.")
        # A path is a host's text too, and one with a secret in it cannot be written down.
        if not settings.to_disk or not place.host_key or redact(workspace).text != workspace:
            return
        kept = self._store.workspace(*_session(place))
        before = kept or self._known.get(_session(place), "")
        if before and before != workspace and settings.to_file:
            self._put(place, before, "", settings, wait_ms)
        with self._lock:
            while len(self._known) >= _MOST_KNOWN:
                self._known.pop(next(iter(self._known)))
            self._known[_session(place)] = workspace
        if kept != workspace:
            self._store.keep_workspace(*_session(place), workspace, wait_ms=wait_ms)

    def begun(self, place: Place, settings: LaneSettings) -> str:
        """A turn of the session begins: its file, which holds no earlier turn's brief any more; "" where the lane is
        off."""
        workspace = self._workspace(place) if settings.to_file else ""
        if not workspace:
            return ""
        path = os.path.join(workspace, settings.file_name)
        known = [one for one in self._store.lane_files() if one.path == path]
        if not known or any(one.holds or (one.agent, one.key) != _session(place) for one in known):
            self._put(place, workspace, "", settings)
        return path

    def put(
        self, place: Place, shown: Sequence[compose.Snippet], settings: LaneSettings, wait_ms: float | None = None
    ) -> tuple[str, str]:
        """Replace the session's file by this turn's brief, or empty it: its path where it now holds the brief, and the
        reason why nothing was written. Raises StoreError."""
        if not settings.to_file:
            return "", ""
        workspace = self._workspace(place)
        if not workspace:
            return "", _UNKNOWN
        problem = self._put(place, workspace, self._rendered(shown), settings, wait_ms)
        return (os.path.join(workspace, settings.file_name) if shown and not problem else ""), problem

    def note(
        self, place: Place, shown: Sequence[compose.Snippet], query: str, at: float, settings: LaneSettings
    ) -> bool:
        """Add the brief to the journal of the day, unless the session is in it: whether it was added."""
        workspace = self._workspace(place) if settings.journal and shown else ""
        if not workspace:
            return False
        section = compose.journal_section(shown, session=place.host_key, query=query, at=at)
        problem, added = "", False
        try:
            added = lanes.add(workspace, datetime.fromtimestamp(at).strftime("%Y-%m-%d"), section)
        except LaneError as error:
            problem = str(error)
        self._mark(LaneFile(os.path.join(workspace, _JOURNAL), *_session(place), holds=False, problem=problem))
        return added

    def empty(self, place: Place, settings: LaneSettings) -> None:
        """After a turn that failed: what an earlier one left is not for this one. Does what it can, and never fails."""
        if not settings.to_file:
            return
        try:
            workspace = self._workspace(place)
        except StoreError:
            workspace = self._known.get(_session(place), "")
        try:
            if workspace:
                lanes.put(workspace, settings.file_name, "")
        except LaneError:
            return  # then this turn's failure is not the first: the reason is in the store, or the folder is gone

    def clear(self) -> None:
        """Empty every file that holds anything, and take away what a killed process left. Raises StoreError."""
        for file in self._store.lane_files():
            workspace, name = os.path.split(file.path)
            # The session's key goes too: after everything of it was forgotten, it must not be found here.
            cleared = LaneFile(file.path, "", "", holds=False, problem=file.problem)
            try:
                if os.path.isdir(workspace):
                    lanes.sweep(workspace)
                    if file.holds:
                        lanes.put(workspace, name, "")
            except LaneError as error:
                cleared = replace(cleared, holds=file.holds, problem=str(error))
            self._mark(cleared)

    def forget(
        self, workspaces: Collection[str], rows: Collection[int], texts: Collection[str]
    ) -> tuple[int, list[str]]:
        """Take the sections that name these memories, or quote these texts, out of the journals of workspaces: how
        many, and the notes in which some had to be left."""

        quotable = [compose.filed(text) for text in texts]

        def holds(section: str) -> bool:
            if any(int(row) in rows for row in _ITEM.findall(section)):
                return True
            found = _QUERY.search(section)
            asked = found[1] if found else ""
            return any(_quotes(asked, text) for text in quotable)

        taken = 0
        left: list[str] = []
        for workspace in workspaces:
            try:
                out, kept = lanes.take_out(workspace, holds)
                taken, left = taken + out, left + kept
            except LaneError:
                if os.path.isdir(workspace):
                    left.append(os.path.join(workspace, _JOURNAL))
        return taken, left

    def workspaces(self) -> set[str]:
        """Every folder that a host told of, and of which something is known still."""
        with self._lock:
            known = list(self._known.values())
        return {*self._store.workspaces(), *known}

    def report(self, settings: LaneSettings) -> dict[str, Any]:
        """For `status` and `doctor`."""
        on = {settings.file_name: settings.to_file, _JOURNAL: settings.journal}
        files = [one for one in self._store.lane_files() if on.get(os.path.basename(one.path))]
        return {
            "hot": settings.hot,
            "file_name": settings.file_name if settings.to_file else "",
            "journal": settings.journal,
            "files": [
                {"path": one.path, "written": _written(one.path), "holds": one.holds}
                for one in files
                if os.path.basename(one.path) != _JOURNAL and os.path.exists(one.path)
            ],
            "problems": [one.problem for one in files if one.problem],
        }

    def _workspace(self, place: Place) -> str:
        if not place.host_key:
            return ""
        return self._store.workspace(*_session(place)) or self._known.get(_session(place), "")

    def _put(
        self, place: Place, workspace: str, text: str, settings: LaneSettings, wait_ms: float | None = None
    ) -> str:
        """The reason why it could not be written, or ""."""
        file = LaneFile(os.path.join(workspace, settings.file_name), *_session(place), holds=bool(text))
        held = any(one.holds for one in self._store.lane_files() if one.path == file.path)
        if text:
            # Before it is written: whoever is killed in between leaves a file that is known, and cleared.
            self._mark(file, wait_ms)
        try:
            lanes.put(workspace, settings.file_name, text)
        except LaneError as error:
            file = replace(file, holds=held, problem=str(error))
        self._mark(file, wait_ms)
        return file.problem

    def _mark(self, file: LaneFile, wait_ms: float | None = None) -> None:
        if file not in self._store.lane_files():
            self._store.keep_lane_file(file, wait_ms=wait_ms)

    def _rendered(self, shown: Sequence[compose.Snippet]) -> str:
        return compose.context_file(shown, at=self._clock())


def _session(place: Place) -> tuple[str, str]:
    """As the host names it: it does not tell at bootstrap who will ask."""
    return place.agent, place.host_key


def _quotes(asked: str, text: str) -> bool:
    if not asked or not text:
        return False
    short, long = sorted((asked, text), key=len)
    return asked == text or (len(short) >= _QUOTABLE_CHARS and short in long)


def _written(path: str) -> float:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0
