"""The daemon's look at vaults: one thread for all of them, in steps so small that no brief waits for them.

Each folder is watched by itself, because a watcher that goes down by itself follows links out of the vault. What is
heard is only a sign to look: the store is compared with the disk, whatever was missed. Where the system has no more
watches to give, the folders are looked through every few seconds instead.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from foreword.record import is_note
from foreword.serve.room import Room
from foreword.serve.trail import Log, cause
from foreword.store import Vault
from foreword.vaults import WRITE_EVERY_S, Look, Prepared

# Who starts the daemon wants a brief; reading the index comes before vaults, too.
_BEGIN_AFTER_S = 1.5
_ASK_FOR_VAULTS_S = 5.0
_LOOK_EVERY_S = 10.0
_TICK_MS = 500
_GROUP_MS = 200
_STEP_MS = 20
# Between two steps others get the interpreter, and while somebody waits for an answer no step is begun.
_PAUSE_S = 0.001
_NAP_S = 0.002
_MOST_NAPS = 100
_TRY_AGAIN_S = 0.1
_ENDS_WITHIN_S = 5.0


class _Unwatched(Exception):
    """The system has no watches to give."""


class Watcher:
    def __init__(self, room: Room, log: Log, *, is_there: Callable[[], bool], busy: Callable[[], bool]) -> None:
        """`is_there` tells whether there is a store at all: none is made for this. `busy` tells that somebody waits."""
        self._room = room
        self._log = log
        self._is_there = is_there
        self._busy = busy
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="foreword-vaults", daemon=True)
        self._said = ""
        self._seen: dict[str, bool] | None = None
        self._pending: dict[str, set[str]] = {}
        self._caught_up = time.monotonic()
        self._about: dict[str, Any] = {"vaults": 0, "folders": 0, "problem": ""}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the step at hand is done; one that waits for a lock is left, and finds the store closed."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_ENDS_WITHIN_S)

    def about(self) -> dict[str, Any]:
        """How many vaults are followed and folders watched; `problem` is why they are looked through instead."""
        return self._about

    def _run(self) -> None:
        wait_s = _BEGIN_AFTER_S
        while not self._stop.wait(wait_s):
            wait_s = _ASK_FOR_VAULTS_S
            try:
                if vaults := self._vaults():
                    self._follow(vaults)
                    wait_s = _TRY_AGAIN_S
            except Exception as error:  # noqa: BLE001 - a door: what goes wrong here must not end the daemon
                self._say(f"vaults: {cause(error)}")

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._log.say(text)

    def _vaults(self) -> list[Vault]:
        if not self._is_there() or not self._room.settings.vaults.watch:
            return []
        with self._room.engine() as engine:
            found = engine.vaults.all()
        if self._seen is None:
            self._seen = {one.name: True for one in found}
        # One that was added since, and never read whole, is being read by whoever adds it.
        self._seen = {one.name: self._seen.get(one.name, False) or one.scanned_at > 0 for one in found}
        return [one for one in found if self._seen[one.name]]

    # following

    def _follow(self, vaults: Sequence[Vault]) -> None:
        """Until told to stop, or there are other vaults or other folders than before."""
        folders: dict[str, tuple[Vault, str]] = {}
        for vault in vaults:
            folders |= _places(self._look(vault))
        names = _known(vaults)
        # What waits is found again by the first look.
        self._pending = {}
        self._about = {"vaults": len(vaults), "folders": len(folders), "problem": ""}
        try:
            self._listen(vaults, folders, names)
        except _Unwatched as error:
            self._about = {**self._about, "folders": 0, "problem": str(error)}
            self._say(f"vaults: {error} They are looked through every {_LOOK_EVERY_S:.0f} s instead.")
            self._poll(names)

    def _listen(self, vaults: Sequence[Vault], folders: dict[str, tuple[Vault, str]], names: object) -> None:
        asked_at = time.monotonic()
        for heard in self._heard(list(folders)):
            if heard is None:
                # Everything is watched from here on: what changed before is found by looking again.
                if self._read_all(vaults) != folders.keys():
                    return
            elif self._other_folders(heard, folders):
                return
            else:
                self._read_some(heard, folders)
            if time.monotonic() - asked_at > _ASK_FOR_VAULTS_S:
                asked_at = time.monotonic()
                # A vault that was not there may be back.
                lost = [one.path for one in vaults if one.path not in folders]
                if any(map(os.path.isdir, lost)) or not self._is_there() or _known(self._vaults()) != names:
                    return
                self._catch_up()

    def _heard(self, folders: Sequence[str]) -> Iterator[set[str] | None]:
        """None when the watch has begun, then the paths that changed, none of them on a tick. Raises _Unwatched."""
        from watchfiles import watch

        changes = watch(
            *folders,
            watch_filter=None,
            debounce=_GROUP_MS,
            step=_STEP_MS,
            stop_event=self._stop,
            rust_timeout=_TICK_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        )
        try:
            first = next(changes, None)
        except FileNotFoundError:
            return  # a folder went since it was walked: the next look finds the others
        except (OSError, RuntimeError) as error:
            reason = str(error).partition(" about [")[0]
            raise _Unwatched(f"The vaults' folders cannot be watched: {reason}.") from error
        yield None
        for heard in chain((first or (),), changes):
            yield {path for _, path in heard}

    def _other_folders(self, heard: set[str], folders: dict[str, tuple[Vault, str]]) -> bool:
        for path in heard:
            folder, name = os.path.split(path)
            if path in folders or (folder in folders and name[:1] != "." and os.path.isdir(path)):
                return True
        return False

    def _poll(self, names: object) -> None:
        while self._is_there() and _known(vaults := self._vaults()) == names:
            self._read_all(vaults)
            if self._stop.wait(_LOOK_EVERY_S):
                return

    # reading

    def _read_all(self, vaults: Sequence[Vault]) -> set[str]:
        """The folders that were met."""
        folders: set[str] = set()
        for vault in vaults:
            look = self._look(vault)
            folders |= _places(look).keys()
            waiting = self._take(vault, look)
            if waiting:
                self._pending[vault.name] = waiting
            if not self._stop.is_set():
                with self._room.engine() as engine:
                    engine.vaults.looked(look, whole=not waiting)
        self._catch_up()
        return folders

    def _read_some(self, heard: set[str], folders: dict[str, tuple[Vault, str]]) -> None:
        for path in heard:
            folder, name = os.path.split(path)
            if folder in folders and is_note(name):
                vault, inside = folders[folder]
                self._pending.setdefault(vault.name, set()).add(inside + name)
        if self._pending:
            self._read_pending({vault.name: vault for vault, _ in folders.values()})

    def _read_pending(self, vaults: Mapping[str, Vault]) -> None:
        """Take what changed as soon as nobody writes to it. After a little while others are heard again; what is still
        being written waits for the next tick."""
        until = time.monotonic() + 2 * self._room.settings.vaults.settle_ms / 1000
        while self._pending and not self._stop.is_set():
            for name, paths in self._pending.items():
                self._pending[name] = self._take(vaults[name], self._look(vaults[name], paths))
            self._pending = {name: paths for name, paths in self._pending.items() if paths}
            if time.monotonic() > until or (self._pending and self._stop.wait(_TRY_AGAIN_S)):
                return

    def _look(self, vault: Vault, only: set[str] | None = None) -> Look:
        with self._room.engine() as engine:
            steps = engine.vaults.look(vault, only)
            look = next(steps)
            for _ in steps:
                self._breathe()
        if look.problem:
            self._say(f"vault {vault.name}: {look.problem}")
        return look

    def _take(self, vault: Vault, look: Look) -> set[str]:
        """Every file in an engine of its own, which may be opened anew meanwhile. Which have to be looked at again."""
        waiting = set(look.waiting)
        ready: list[Prepared] = []
        for path in look.read:
            if self._stop.is_set():
                return waiting | set(look.read)
            with self._room.engine() as engine:
                for step in engine.vaults.prepare(vault, path):
                    if isinstance(step, Prepared):
                        ready.append(step)
                    elif step is not None and step.waiting:
                        waiting.add(path)
                    self._breathe()
            if time.monotonic() - self._caught_up > WRITE_EVERY_S:
                waiting |= self._keep(ready)
                ready = []
        return waiting | self._keep(ready)

    def _keep(self, ready: Sequence[Prepared]) -> set[str]:
        """Written together, and taken up by the index at once: the next brief has nothing of it to do."""
        waiting = set()
        for prepared in ready:
            with self._room.engine() as engine:
                if engine.vaults.keep(prepared).waiting:
                    waiting.add(prepared.file.path)
            self._breathe()
        self._catch_up()
        return waiting

    def _catch_up(self) -> None:
        self._caught_up = time.monotonic()
        if not self._busy():
            with self._room.engine() as engine:
                engine.catch_up()

    def _breathe(self) -> None:
        time.sleep(_PAUSE_S)
        for _ in range(_MOST_NAPS):
            if not self._busy() or self._stop.is_set():
                return
            time.sleep(_NAP_S)


def _places(look: Look) -> dict[str, tuple[Vault, str]]:
    """Each folder by its path, with its vault and how it is called there."""
    return {os.path.join(look.vault.path, inside).rstrip("/"): (look.vault, inside) for inside in look.folders}


def _known(vaults: Sequence[Vault]) -> object:
    return [(one.name, one.path, one.agent, one.project, one.audience, one.reading) for one in vaults]
