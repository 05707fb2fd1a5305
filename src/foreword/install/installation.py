"""What is changed in a user's files, by an installer or by a rollout, and how it is undone.

A plan is a list of changes: a file as it is and as it should be. It is shown as a diff, or applied: first a copy of
every file goes into Foreword's own folder, then a record with the checksums, then the files are replaced one by one,
each whole or not at all. The record alone tells how far that came, so a crash between two steps leaves nothing that
`apply` does not finish or `undo` does not take back.

Undoing puts back the very bytes of the copy, when the file is as it was left. When a person or the host has changed it
since, only the values that were put in are taken out, and every other byte stays. A whole file that was changed since
is left as it is, or, where the installation is told to put back everything, kept aside first.
"""

from __future__ import annotations

import difflib
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from dataclasses import replace as changed_in
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foreword.errors import HostError
from foreword.files import checksum, make_private, replace_file, sweep
from foreword.install import json5, toml
from foreword.values import dataclass

_RECORD = "installed.json"
# Below Foreword's home: what is kept of all installs.
FOLDER = "hosts"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Edit:
    """A value that belongs at a path of a settings file; an `item` belongs into the list there. A `table` is ours by
    its name: its members go in each by itself, and it is taken out whole, with what others put into it, because a host
    may not start with the rest. An item that is `out` is an older one of ours, and goes."""

    path: tuple[str, ...]
    value: Any
    item: bool = False
    table: bool = False
    out: bool = False

    @property
    def _name(self) -> tuple[Any, ...]:
        return (self.path, json.dumps(self.value)) if self.item else (self.path,)


@dataclass(frozen=True, slots=True)
class Put(Edit):
    """An edit as it was made: how many levels above it were made for it, and what stood there before. An item that was
    there before is the user's, and stays."""

    made: int = 0
    had: bool = False
    before: Any = None

    def document(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("path", "value", "item", "table", "made", "had", "before")}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Put:
        return cls(**{**document, "path": tuple(document["path"])})


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it is and as it should be; None is no file. `puts` are what of it is ours: nothing else is taken out
    of a file that somebody changed. Without any, the file is ours as a whole; `prose` is a person's own text, which a
    diff shows line by line. `mode` is what the file has to have where that is not the one it has."""

    file: Path
    before: bytes | None
    after: bytes | None
    puts: tuple[Put, ...] = ()
    said: str = ""
    prose: bool = False
    mode: int | None = None

    @property
    def changes(self) -> bool:
        return self.before != self.after


def whole(file: Path, data: bytes | None) -> Change:
    """A file that is ours from its first byte to its last; None is to have none."""
    return Change(file, _read(file), data)


def edited(file: Path, edits: Sequence[Edit], *, fresh: str = "{\n}\n") -> Change:
    """A settings file, in TOML or any kind of JSON by its name, with these values in it; one that is missing begins as
    `fresh`. Raises HostError for a file that cannot be read, or that holds something else where a value belongs."""
    before = _read(file)
    text = fresh if before is None else _text(file, before)
    puts: list[Put] = []
    with _named(file):
        for edit in edits:
            if edit.out:
                text = json5.taken_item(text, edit.path, edit.value, made=1)
                continue
            text, put = _put(file, text, edit)
            puts.append(put)
    return Change(file, before, text.encode(), tuple(puts))


def without(file: Path, puts: Sequence[Put]) -> Change:
    """A settings file without these values. Raises HostError."""
    before = _read(file)
    return Change(file, before, _taken_out(file, before, puts), tuple(puts), EDITED)


def parsed(file: Path) -> Any:
    """What a settings file holds, in TOML or any kind of JSON; None where there is none. Raises HostError."""
    data = _read(file)
    if data is None:
        return None
    with _named(file):
        return _values(file, _text(file, data))


def diff(changes: Sequence[Change], *, redact: Callable[[str], str]) -> str:
    """What applying would change, for people. Secrets may stand near a change; `redact` takes them out."""
    parts = []
    for one in changes:
        if not one.changes:
            continue
        if not one.puts and not one.prose:
            verb = "delete" if one.after is None else "replace" if one.before is not None else "new file"
            size = f" ({len(one.after):,} bytes)" if one.after is not None else ""
            parts.append(f"{verb} {one.file}{size}\n")
            continue
        old, new = (("" if data is None else data.decode("utf-8", "replace")) for data in (one.before, one.after))
        named, none = str(one.file), os.devnull
        lines = difflib.unified_diff(
            old.splitlines(),
            new.splitlines(),
            none if one.before is None else named,
            none if one.after is None else named,
            lineterm="",
            n=2,
        )
        parts.append(redact("\n".join(lines)) + "\n")
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Known:
    """A file as the record has it: the copy of what it was (None: there was none), and the checksums of what it was
    left as. One that is only `kept` was copied and never touched: whatever it is now, it is left alone."""

    file: Path
    copy: str | None
    before: str | None
    after: tuple[str | None, ...]
    puts: tuple[Put, ...]
    folders: tuple[str, ...]
    mode: int | None = None
    kept: bool = False

    def document(self) -> dict[str, Any]:
        return {
            "file": str(self.file),
            "copy": self.copy,
            "before": self.before,
            "after": list(self.after),
            "puts": [one.document() for one in self.puts],
            "folders": list(self.folders),
            "mode": self.mode,
            "kept": self.kept,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> _Known:
        return cls(
            Path(document["file"]),
            document["copy"],
            document["before"],
            tuple(document["after"]),
            tuple(Put.read(one) for one in document["puts"]),
            tuple(document["folders"]),
            document.get("mode"),
            document.get("kept", False),
        )


@dataclass(slots=True)
class Installation:
    """What is kept of one host's install, or of one workspace's rollout, in a folder of Foreword's own. `about` is what
    the owner of the folder wants to know later; it is in the record, and changes with it or not at all. With `whole`,
    undoing puts back what somebody changed since as well, and keeps that aside."""

    folder: Path
    whole: bool = False
    _files: dict[Path, _Known] = field(default_factory=dict)
    at: str = ""
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._read_record()

    def _read_record(self) -> None:
        """Raises HostError for a record that cannot be read: without it nothing is undone by guess."""
        try:
            data = (self.folder / _RECORD).read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise HostError(f"{self.folder / _RECORD} cannot be read: {error.strerror}.") from error
        try:
            document = json.loads(data)
            if document["version"] != _VERSION:
                raise HostError(f"{self.folder / _RECORD} was made by a newer Foreword.", hint="Upgrade Foreword.")
            self.at = document["at"]
            self.about = document.get("about", {})
            self._files = {one.file: one for one in map(_Known.read, document["files"])}
        except (ValueError, KeyError, TypeError) as error:
            raise HostError(
                f"{self.folder / _RECORD} is damaged.", hint="Move it away; your files are untouched."
            ) from error

    @property
    def exists(self) -> bool:
        return bool(self._files)

    def apply(self, plan: Sequence[Change], about: Mapping[str, Any] | None = None) -> list[Path]:
        """Make the changes, and answer which files were changed; none, and not even the record, where nothing differs.
        Raises HostError where a file is no longer as the plan found it, or cannot be written."""
        changed = [one for one in plan if one.changes]
        if not changed and about is None:
            return []
        with self._alone():
            for one in changed:
                self._as_planned(one)
            for one in changed:
                sweep(one.file.resolve().parent, one.file.resolve().name)
                self._files[one.file] = self._noted(one)
            self._write_record(about)
            for one in changed:
                self._as_planned(one)
                replace(one)
        return [one.file for one in changed]

    def keep(self, touched: Sequence[Path], copied: Sequence[Path], about: Mapping[str, Any]) -> None:
        """Copy files before anything is changed, and read every copy again. Those that are to be `touched`, here or by
        an approval elsewhere, are put back by undoing; those that are only `copied` are left alone by it. Raises
        HostError for a copy that is not what was copied."""
        with self._alone():
            for file in (*touched, *copied):
                if file not in self._files:
                    data = _read(file)
                    here = Change(file, data, data)
                    self._files[file] = changed_in(self._noted(here), kept=file in copied)
            self.verify()
            self._write_record(about)

    def verify(self) -> None:
        """Raises HostError where a copy is no longer what was copied: then nothing may be touched."""
        for known in self._files.values():
            if known.copy is not None and self._copy(known) is None:
                raise HostError(
                    f"The copy {self.folder / known.copy} of {known.file} is not what was copied.",
                    hint="Nothing was touched. Check the disk.",
                )

    def rehearse(self, folder: Path) -> list[tuple[Change, bool]]:
        """Undo everything on copies in an empty `folder`; for each file what was done, and whether it is again what it
        was before, its mode too. Nothing else is touched. Raises HostError."""
        other = Installation(folder / "record", whole=self.whole)
        with other._alone():
            for number, known in enumerate(self._files.values()):
                copy = folder / str(number) / known.file.name
                make_private(copy.parent)
                if (present := _read(known.file)) is not None:
                    replace_file(copy, present, mode=stat.S_IMODE(known.file.stat().st_mode))
                if known.copy is not None:
                    replace_file(other.folder / known.copy, _read(self.folder / known.copy) or b"", mode=0o600)
                other._files[copy] = changed_in(known, file=copy, folders=())
            other._write_record(None)
        files = dict(zip(other._files, self._files.values(), strict=True))
        found = []
        for change in other.undo():
            known, data = files[change.file], _read(change.file)
            mode = stat.S_IMODE(change.file.stat().st_mode) if data is not None else None
            same = checksum(data) == known.before and (known.mode is None or mode == known.mode)
            found.append((changed_in(change, file=known.file), same))
        return found

    def undoing(self) -> list[Change]:
        """What undoing would change, in order; `said` tells how each file is undone. Raises HostError."""
        return [self._undone(one) for one in reversed(self._files.values())]

    def undo(self) -> list[Change]:
        """Take everything back, then forget that it was ever there. Copies stay only of files that were changed since.
        Raises HostError; what was undone until then stays undone, and the rest can be undone later."""
        with self._alone():
            plan = self.undoing()
            folders: list[str] = []
            for one in plan:
                sweep(one.file.resolve().parent, one.file.resolve().name)
                if one.said == ASIDE and one.before is not None:
                    self._put_aside(one.file, one.before)
                if one.changes or one.mode is not None:
                    replace(one)
            for known in self._files.values():
                folders += known.folders
            for name in sorted(folders, key=len, reverse=True):
                _remove_empty(Path(name))
            kept = {self._files[one.file].copy for one in plan if one.said in (EDITED, LEFT, DAMAGED)}
            (self.folder / _RECORD).unlink(missing_ok=True)
            for copy in (*self.folder.glob("before-*"), *self.folder.glob(".*")):
                if copy.name not in kept:
                    copy.unlink(missing_ok=True)
            self._files, self.about = {}, {}
        (self.folder / "lock").unlink(missing_ok=True)
        for folder in (self.folder, *self.folder.parents):
            if not _remove_empty(folder) or folder.name == FOLDER:
                break
        return plan

    def copies(self) -> dict[Path, Path]:
        """Where each file is kept as it was before the install."""
        return {one.file: self.folder / one.copy for one in self._files.values() if one.copy}

    def _noted(self, change: Change) -> _Known:
        known = self._files.get(change.file)
        before, puts, after = change.before, change.puts, checksum(change.after)
        folders = tuple(_missing_folders(change.file))
        if known is not None and known.kept:
            known = None
        if known is not None:
            puts = _merged(known.puts, puts)
            folders = tuple(dict.fromkeys((*known.folders, *folders)))
            if checksum(before) in known.after or not known.puts:
                if self.whole and before is not None and checksum(before) not in (*known.after, known.before):
                    self._put_aside(change.file, before)
                # Still as it was left: what it was before that is what counts. Both may be on disk after a crash.
                return changed_in(known, after=(checksum(before), after), puts=puts, folders=folders)
            if checksum(before) != known.before:
                before = _taken_out(change.file, before, known.puts)
        copy = None
        if before is not None:
            copy = f"before-{str(checksum(before))[:12]}-{change.file.name}"
            replace_file(self.folder / copy, before, mode=0o600)
        mode = None if change.before is None else stat.S_IMODE(change.file.stat().st_mode)
        return _Known(change.file, copy, checksum(before), (after,), puts, folders, mode)

    def _undone(self, known: _Known) -> Change:
        present = _read(known.file)
        if known.kept:
            return Change(known.file, present, present, (), NOTHING if checksum(present) == known.before else LEFT)
        mode = known.mode if known.mode is not None and self._mode(known.file) != known.mode else None
        if checksum(present) == known.before:
            return Change(known.file, present, present, known.puts, NOTHING, mode=mode)
        copy = self._copy(known) if known.copy else None
        if known.copy is None or copy is not None:
            how = RESTORED if known.copy else REMOVED
            if checksum(present) in known.after:
                return Change(known.file, present, copy, known.puts, how, mode=mode)
            if self.whole and not known.puts:
                return Change(known.file, present, copy, (), ASIDE, mode=mode)
        if known.puts:
            return Change(known.file, present, _taken_out(known.file, present, known.puts), known.puts, EDITED)
        sound = known.copy is None or copy is not None
        return Change(known.file, present, present, (), LEFT if sound else DAMAGED)

    @staticmethod
    def _mode(file: Path) -> int | None:
        try:
            return stat.S_IMODE(file.stat().st_mode)
        except FileNotFoundError:
            return None

    def asides(self) -> list[Path]:
        """Where what somebody changed since is kept."""
        return sorted(self.folder.glob("since-*"))

    def _put_aside(self, file: Path, data: bytes) -> None:
        replace_file(self.folder / f"since-{str(checksum(data))[:12]}-{file.name}", data, mode=0o600)

    def _copy(self, known: _Known) -> bytes | None:
        """The bytes of the copy; None where they are no longer those that were kept."""
        data = _read(self.folder / str(known.copy))
        return data if checksum(data) == known.before else None

    def _as_planned(self, change: Change) -> None:
        if _read(change.file) != change.before:
            raise HostError(f"{change.file} has changed in the meantime.", hint="Run the command again.")

    def _write_record(self, about: Mapping[str, Any] | None) -> None:
        self.at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.about = self.about if about is None else dict(about)
        files = [one.document() for one in self._files.values()]
        document = {"version": _VERSION, "at": self.at, "about": self.about, "files": files}
        replace_file(self.folder / _RECORD, json.dumps(document, indent=1).encode(), mode=0o600)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time. Raises HostError where the folder cannot be made."""
        try:
            make_private(self.folder)
            number = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise HostError(f"{self.folder} cannot be written: {error.strerror}.") from error
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            # Whoever was here first may have written it since it was read.
            self._read_record()
            yield
        except OSError as error:
            raise HostError(
                f"{error.filename or self.folder} cannot be written: {error.strerror}.",
                hint="Fix that, then run the command again; it goes on where it stopped.",
            ) from error
        finally:
            os.close(number)


RESTORED = "as it was, byte for byte"
REMOVED = "removed, as there was none before"
EDITED = "changed since: only what Foreword put in was taken out"
LEFT = "changed since, and left as it is"
ASIDE = "as it was, byte for byte; it had been changed since, and that is kept aside"
DAMAGED = "left as it is, for its copy is no longer what was copied"
NOTHING = "as it was already"


def _merged(known: Sequence[Put], new: Sequence[Put]) -> tuple[Put, ...]:
    """The first one knows what stood there before Foreword came; the last one knows what stands there now."""
    merged = {one._name: one for one in known}
    for one in new:
        first = merged.get(one._name)
        # An item that the user had and took out since is ours when it was put in again.
        is_new = first is None or (one.item and first.had and not one.had)
        merged[one._name] = one if first is None or is_new else changed_in(first, value=one.value)
    return tuple(merged.values())


def _put(file: Path, text: str, edit: Edit) -> tuple[str, Put]:
    if edit.table:
        return _put_table(file, text, edit)
    if file.suffix == ".toml":
        return _put_toml(text, edit)
    absent = json5.absent(text, edit.path)
    if edit.item:
        listed = json5.member(json5.parse(text), edit.path)
        had = isinstance(listed, list) and edit.value in listed
        made = Put(edit.path, edit.value, item=True, made=absent, had=had)
        return json5.put_item(text, edit.path, edit.value), made
    present = json5.member(json5.parse(text), edit.path)
    made = Put(edit.path, edit.value, made=max(absent - 1, 0), had=not absent, before=None if absent else present)
    if not absent and present == edit.value and type(present) is type(edit.value):
        return text, made
    return json5.put(text, edit.path, edit.value), made


def _put_table(file: Path, text: str, edit: Edit) -> tuple[str, Put]:
    before = json5.member(_values(file, text), edit.path)
    puts = []
    for key, value in edit.value.items():
        text, put = _put(file, text, Edit((*edit.path, key), value))
        puts.append(put)
    made = max(puts[0].made - 1, 0)
    return text, Put(edit.path, edit.value, table=True, made=made, had=before is not None, before=before)


def _put_toml(text: str, edit: Edit) -> tuple[str, Put]:
    present = json5.member(toml.values(text), edit.path)
    made = 0 if present is not None else 1
    if not edit.item:
        put = Put(edit.path, edit.value, made=made, had=not made, before=present)
        return toml.rewritten(text, {".".join(edit.path): edit.value}), put
    put = Put(edit.path, edit.value, item=True, made=made, had=isinstance(present, list) and edit.value in present)
    return (text if put.had else toml.with_item(text, ".".join(edit.path), edit.value)), put


def _taken_out(file: Path, data: bytes | None, puts: Sequence[Put]) -> bytes | None:
    if data is None:
        return None
    text = _text(file, data)
    with _named(file):
        for put in reversed(puts):
            for one in _parts(put):
                text = _taken_toml(text, one) if file.suffix == ".toml" else _taken(text, one)
    return text.encode()


def _parts(put: Put) -> Iterator[Put]:
    """What of it is ours: nothing of an item that was there before, and of such a table only the members."""
    if put.item and put.had:
        return
    if not (put.table and put.had):
        yield put
        return
    for key, value in put.value.items():
        yield Put((*put.path, key), value, had=key in put.before, before=put.before.get(key))


def _taken(text: str, put: Put) -> str:
    if put.item:
        return json5.taken_item(text, put.path, put.value, made=put.made)
    if not put.had:
        return json5.taken(text, put.path, made=put.made)
    # What somebody has set otherwise since then is theirs.
    if json5.absent(text, put.path) or json5.member(json5.parse(text), put.path) != put.value:
        return text
    return json5.put(text, put.path, put.before) if put.before != put.value else text


def _taken_toml(text: str, put: Put) -> str:
    present = json5.member(toml.values(text), put.path)
    name = ".".join(put.path)
    if present is None:
        return text
    if put.table:
        return toml.without(text, put.path)
    if put.item:
        if put.made and all(one == put.value for one in present):
            return toml.rewritten(text, {name: None})
        return toml.without_item(text, name, put.value)
    return toml.rewritten(text, {name: put.before}) if present == put.value else text


def _values(file: Path, text: str) -> Any:
    return (toml.values if file.suffix == ".toml" else json5.parse)(text)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Says of which file an error is."""
    try:
        yield
    except json5.Unreadable as error:
        raise HostError(
            f"{file} is not valid JSON: line {error.line}, column {error.column}: {error}.",
            hint="Nothing was touched; correct it first.",
        ) from error
    except ValueError as error:
        raise HostError(f"{file} cannot be changed: {error}.", hint="Nothing was touched; correct it first.") from error


def _text(file: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HostError(f"{file} is not UTF-8 text.", hint="Nothing was touched; correct it first.") from error


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HostError(f"{file} cannot be read: {error.strerror}.") from error


def replace(change: Change) -> None:
    """Make one change, and keep nothing of what was before."""
    # A settings file is often a link into a folder that is kept elsewhere; replaced, the link would be lost.
    real = change.file.resolve()
    if change.after is None:
        real.unlink(missing_ok=True)
        return
    mode = change.mode if change.mode is not None else stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o600
    make_private(real.parent)
    replace_file(real, change.after, mode=mode)


def _missing_folders(file: Path) -> list[str]:
    return [str(one) for one in file.resolve().parents if not one.exists()]


def _remove_empty(folder: Path) -> bool:
    """Whether it was empty, and is gone."""
    if not folder.is_dir() or any(folder.iterdir()):
        return False
    folder.rmdir()
    return True
