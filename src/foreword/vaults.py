"""Vaults: folders of notes that are read into the store and followed, and never written.

look:     one walk beside what the store knows → what is new, changed and gone; no file is opened
prepare:  one file → read when it has settled → chunks → the new ones get words and vectors
keep:     → store

Nothing of this happens on a turn: a brief reads the store alone.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from pathlib import Path

from foreword import lanes
from foreword.compose import count_tokens
from foreword.errors import BadInput, UnknownId
from foreword.model import Audience
from foreword.patterns import lazy
from foreword.place import kept
from foreword.recall import bag
from foreword.record import (
    READING,
    Keeping,
    NoteChunk,
    VaultSettings,
    chunks_of,
    clean,
    excluded,
    is_note,
    problem_of,
    redact,
    text_of,
)
from foreword.store import Draft, Replaced, Store, Vault, VaultFile
from foreword.values import dataclass
from foreword.vectors import Vectors

_NAME = lazy(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NOT_IN_A_NAME = lazy(r"[^A-Za-z0-9._-]+")
# A folder that held so many notes and has not a single entry now is more likely a disk that is not there.
_NOT_LOST_AT_ONCE = 20
# An editor may empty a note before it writes it anew; an emptied one is waited for longer.
_EMPTIED = 5
_AT_ONCE = 50
WRITE_EVERY_S = 1.0
# How long one who looks by hand waits for what is being written.
_PATIENCE_S = 5.0
_LINK = "a link, which is not followed"


@dataclass(slots=True)
class Look:
    """What a look at a vault found. `read` are paths to be taken, `waiting` those that somebody is writing, `gone` went
    from the store, `skipped` are left out by what is seen from outside, `folders` are where notes may stand, each but
    the first with a slash at its end. With a `problem` nothing was changed. `known` is what was not met yet."""

    vault: Vault
    known: dict[str, tuple[int, int]]
    files: int = 0
    read: list[str] = field(default_factory=list)
    waiting: set[str] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that was read: its chunks by fingerprint, in order, and the new ones with their words and vectors."""

    vault: str
    file: VaultFile
    chunks: Sequence[str]
    drafts: Sequence[Draft]


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one file. `skipped` is why nothing of it is kept, `left_out` what of it is not; one that is
    `waiting` changed meanwhile and has to be looked at again."""

    path: str
    chunks: Replaced = field(default_factory=Replaced)
    size: int = 0
    skipped: str = ""
    left_out: str = ""
    waiting: bool = False


@dataclass(slots=True)
class Summary:
    """What became of a whole vault: how many notes it has, were read and are gone, and what that did to its chunks."""

    vault: Vault
    files: int = 0
    read: int = 0
    gone: int = 0
    size: int = 0
    added: int = 0
    kept: int = 0
    superseded: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    problem: str = ""

    def add(self, taken: Taken) -> None:
        if taken.waiting:
            return
        self.read += 1
        self.size += taken.size
        self.added += taken.chunks.added
        self.kept += taken.chunks.kept
        self.superseded += taken.chunks.gone
        if taken.skipped or taken.left_out:
            self.skipped[taken.path] = taken.skipped or taken.left_out


@dataclass(frozen=True, slots=True)
class Report:
    """A vault, how much is kept of it, and what is left out, by reason, each with its files."""

    vault: Vault
    files: int
    chunks: int
    skipped: dict[str, list[str]]


class Vaults:
    """Safe to use from several threads, and several processes may look at one vault: the store decides."""

    def __init__(
        self, store: Store, vectors: Vectors, settings: VaultSettings, *, recording: bool, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._settings = settings
        self._recording = recording
        self._clock = clock

    # which there are

    def proposed(
        self,
        folder: str | Path,
        *,
        name: str = "",
        agent: str = "",
        project: str = "",
        audience: Audience = Audience.PRIVATE,
    ) -> Vault:
        """A folder as the vault it would be. Raises BadInput for what cannot be one."""
        given = os.path.abspath(os.path.expanduser(folder))
        path = os.path.realpath(given)
        if not os.path.exists(path):
            raise BadInput(f"{given} does not exist.", hint="Name a folder of Markdown notes.")
        if not os.path.isdir(path):
            raise BadInput(f"{given} is not a folder.", hint="Name the folder that the note is in.")
        if path in (os.path.realpath("/"), os.path.realpath(os.path.expanduser("~"))):
            raise BadInput(
                f"{given} holds far more than notes.", hint="Name the folder below it in which the notes are."
            )
        if path != clean(path) or redact(path).found:
            raise BadInput(
                "The folder's path is not UTF-8, or looks as if it held a secret.", hint="Rename the folder."
            )
        for other in self._store.vaults():
            if path == other.path:
                raise BadInput(
                    f"{given} is a vault already, called {other.name}.",
                    hint=f"`foreword vault check {other.name}` reads what is new in it.",
                )
            if _inside(path, other.path) or _inside(other.path, path):
                raise BadInput(
                    f"{given} and the vault {other.name} ({other.path}) stand one in the other.",
                    hint=f"`foreword vault remove {other.name}` first, or name another folder.",
                )
            if name == other.name:
                raise BadInput(f"There is a vault called {name} already, {other.path}.", hint="Choose another --name.")
        if name and not _NAME.fullmatch(name):
            raise BadInput(f"'{name[:60]}' cannot be a vault's name.", hint="Use letters, digits, dots and dashes.")
        return Vault(name or self._free_name(path), path, kept(agent), kept(project), audience)

    def _free_name(self, path: str) -> str:
        usual = _NOT_IN_A_NAME.sub("-", os.path.basename(path)).strip("-._")[:60] or "notes"
        taken = {one.name for one in self._store.vaults()}
        return next(one for one in (usual, *(f"{usual}-{n}" for n in range(2, 10_000))) if one not in taken)

    def add(self, vault: Vault) -> None:
        """From now on it is followed; nothing of it is read yet. Raises BadInput when another was quicker."""
        if not self._store.add_vault(vault):
            raise BadInput(f"The vault {vault.name} has just been added by another.", hint="`foreword vault list`")

    def all(self) -> list[Vault]:
        """By name, without those that are being taken out."""
        return [one for one in self._store.vaults() if not one.leaving]

    def named(self, name: str) -> Vault:
        """Raises UnknownId."""
        found = self._store.vaults()
        for one in found:
            if one.name == name:
                return one
        known = ", ".join(one.name for one in found)
        raise UnknownId(f"There is no vault {name[:60]}.", hint=f"There are: {known}." if known else "There is none.")

    def reports(self) -> list[Report]:
        found = []
        for vault in self._store.vaults():
            skipped: dict[str, list[str]] = {}
            for file in self._store.vault_problems(vault.name):
                skipped.setdefault(file.problem, []).append(file.path)
            found.append(Report(vault, *self._store.vault_size(vault.name), skipped))
        return found

    def leave(self, name: str) -> list[int]:
        """Follow it no longer. The memories it has, for `forget`; `drop` then ends it. Both may be done again."""
        return self._store.leave_vault(self.named(name).name)

    def drop(self, name: str) -> None:
        self._store.drop_vault(name)

    # what is in them

    def look(self, vault: Vault, only: Collection[str] | None = None) -> Iterator[Look]:
        """Compare the folder, or `only` these paths in it, with what is known. The same Look comes after each step and
        is whole after the last. Files that are gone leave the store; of the others none is opened."""
        found = Look(vault, self._store.vault_files(vault.name, only))
        if not self._recording:
            found.problem = "Recording is switched off."
        elif only is None:
            yield from self._walk(found)
        else:
            for path in only:
                self._look_at(found, path)
        if not found.problem:
            # In steps: a great many may go at once, and others want to write meanwhile.
            found.gone = sorted(found.known)
            for first in range(0, len(found.gone), _AT_ONCE):
                yield found
                self._store.leave_vault_files(vault.name, found.gone[first : first + _AT_ONCE])
        yield found

    def looked(self, look: Look, *, whole: bool) -> None:
        """Keep that it was looked through `whole` and all of it taken, or why not."""
        vault = look.vault
        if look.problem:
            if look.problem != vault.problem:
                self._store.scanned_vault(vault.name, at=vault.scanned_at, reading=vault.reading, problem=look.problem)
        elif whole:
            self._store.scanned_vault(vault.name, at=self._clock(), reading=READING)

    def _walk(self, found: Look) -> Iterator[Look]:
        """What is met is taken out of what is known. Links are not followed, so there is no loop and no way out."""
        root, left_out, known = found.vault.path, excluded(self._settings.exclude), found.known
        anew = found.vault.reading != READING
        held, now, empty = len(known), time.time_ns(), True
        folders = [""]
        while folders:
            inside = folders.pop()
            try:
                entries = os.scandir(os.path.join(root, inside))
            except OSError as error:
                if not inside:
                    found.problem = f"{root} cannot be read: {error.strerror}."
                    return
                # What cannot be looked into now is not gone.
                for path in [one for one in known if one.startswith(inside)]:
                    del known[path]
                if not isinstance(error, FileNotFoundError):
                    self._skip(found, inside.rstrip("/"), 0, 0, f"cannot be read: {error.strerror}")
                continue
            found.folders.append(inside)
            with entries:
                for entry in entries:
                    name = entry.name
                    empty = False
                    if name[0] == "." or left_out(name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{inside}{name}/")
                    elif is_note(name):
                        path = inside + name
                        try:
                            about = entry.stat(follow_symlinks=False)
                        except OSError:
                            continue
                        before = known.pop(path, None)
                        found.files += 1
                        if before != (about.st_mtime_ns, about.st_size) or anew:
                            self._sort(found, path, about, before, now)
                    elif entry.is_symlink() and os.path.isdir(entry.path):
                        self._skip(found, inside + name, 0, 0, _LINK)
            if not inside and empty and held >= _NOT_LOST_AT_ONCE:
                found.problem = f"{root} is empty and held {held:,} notes: is its disk there? What is kept was left."
                return
            yield found

    def _look_at(self, found: Look, path: str) -> None:
        names = path.split("/")
        left_out = excluded(self._settings.exclude)
        if not is_note(names[-1]) or any(not one or one[0] == "." or left_out(one) for one in names):
            return
        try:
            about = os.stat(os.path.join(found.vault.path, path), follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                found.known.pop(path, None)
            elif not os.path.isdir(found.vault.path):
                found.problem = f"{found.vault.path} cannot be read: it is not there."
            return
        found.files += 1
        before = found.known.pop(path, None)
        if before != (about.st_mtime_ns, about.st_size) or found.vault.reading != READING:
            self._sort(found, path, about, before, time.time_ns())

    def _sort(self, found: Look, path: str, about: os.stat_result, before: tuple[int, int] | None, now: int) -> None:
        """A file that is new or changed: to be read, waited for, or left out by what is seen from outside."""
        if lanes.is_context_file(path):
            found.files -= 1
        elif not stat.S_ISREG(about.st_mode):
            problem = _LINK if stat.S_ISLNK(about.st_mode) else "not a file"
            self._skip(found, path, about.st_mtime_ns, about.st_size, problem)
        elif self._unsettled(about, before, now):
            found.waiting.add(path)
        else:
            found.read.append(path)

    def _unsettled(self, about: os.stat_result, before: tuple[int, int] | None, now: int) -> bool:
        settle_ms = self._settings.settle_ms * (_EMPTIED if before and before[1] and not about.st_size else 1)
        # One that is dated in the future was not written just now.
        return 0 <= now - about.st_mtime_ns < settle_ms * 1_000_000

    def _skip(self, found: Look, path: str, mtime_ns: int, size: int, problem: str) -> None:
        shown = redact(path.encode("utf-8", "replace").decode("utf-8")).text
        found.skipped[shown] = problem
        if found.known.pop(shown, None) != (mtime_ns, size):
            self._store.keep_vault_file(found.vault.name, VaultFile(shown, mtime_ns, size, problem), (), ())

    def bring_up_to_date(
        self, vault: Vault, *, dry_run: bool = False, progress: Callable[[int, int], None] = lambda done, of: None
    ) -> Summary:
        """Look through a vault and take what changed, waiting a moment for what is being written. With `dry_run`
        nothing is written."""
        *_, look = self.look(vault)
        done = Summary(vault, files=look.files, gone=len(look.gone), problem=look.problem, skipped=dict(look.skipped))
        until = time.monotonic() + _PATIENCE_S
        pending = look
        while not look.problem:
            taking = self._rehearsed(vault, pending.read) if dry_run else self._taken(vault, pending.read)
            for number, taken in enumerate(taking, 1):
                done.add(taken)
                if taken.waiting:
                    pending.waiting.add(taken.path)
                progress(number, len(pending.read))
            if not pending.waiting or time.monotonic() > until:
                break
            time.sleep(self._settings.settle_ms / 1000)
            *_, pending = self.look(vault, only=pending.waiting)
        done.skipped.update((path, "it is being written") for path in pending.waiting)
        if not dry_run:
            self.looked(look, whole=not pending.waiting)
            self._vectors.follow()
        return done

    def _taken(self, vault: Vault, paths: Sequence[str]) -> Iterator[Taken]:
        """Written every second or so: whoever asks meanwhile has to take up what is new, however little it is."""
        ready: list[Prepared] = []
        written = time.monotonic()
        for path in paths:
            for step in self.prepare(vault, path):
                if isinstance(step, Taken):
                    yield step
                elif step is not None:
                    ready.append(step)
            if time.monotonic() - written > WRITE_EVERY_S:
                yield from map(self.keep, ready)
                ready, written = [], time.monotonic()
        yield from map(self.keep, ready)

    # one file

    def prepare(self, vault: Vault, path: str) -> Iterator[Prepared | Taken | None]:
        """Read one file, and make words and vectors of what is new in it. None comes after each small step, at the end
        what `keep` takes, or what became of a file of which there is nothing to keep. One that changes meanwhile, or is
        still being written, is left as it was known."""
        read = self._read(vault, path)
        if isinstance(read, Taken):
            if read.skipped:
                self._skip_file(vault, read)
            yield read
            return
        about, chunks, left_out = read
        yield None
        known = set(self._store.vault_chunks(vault.name, path))
        drafts: list[Draft] = []
        for chunk in chunks:
            if chunk.fingerprint not in known:
                drafts.append(self._draft(chunk))
                yield None
        file = VaultFile(path, about.st_mtime_ns, about.st_size, left_out)
        yield Prepared(vault.name, file, [chunk.fingerprint for chunk in chunks], drafts)

    def keep(self, prepared: Prepared) -> Taken:
        """Write a file's chunks, all or none."""
        file = prepared.file
        replaced = self._store.keep_vault_file(prepared.vault, file, prepared.chunks, prepared.drafts)
        if replaced is not None:
            return Taken(file.path, replaced, file.size, left_out=file.problem)
        if any(one.name == prepared.vault for one in self.all()):
            # Another process has changed the file's chunks since they were looked at.
            return Taken(file.path, waiting=True)
        return Taken(file.path, skipped="the vault was taken out meanwhile")

    def _rehearsed(self, vault: Vault, paths: Sequence[str]) -> Iterator[Taken]:
        for path in paths:
            read = self._read(vault, path)
            if not isinstance(read, Taken):
                about, chunks, left_out = read
                read = Taken(path, Replaced(added=len(chunks)), about.st_size, left_out=left_out)
            yield read

    def _draft(self, chunk: NoteChunk) -> Draft:
        words = bag(chunk.memory)
        return self._vectors.on(Draft(chunk.memory, chunk.fingerprint, words.words, words.counts, words.length))

    def _skip_file(self, vault: Vault, taken: Taken) -> None:
        try:
            about = os.stat(os.path.join(vault.path, taken.path), follow_symlinks=False)
        except OSError:
            return
        self._skip(Look(vault, {}), taken.path, about.st_mtime_ns, about.st_size, taken.skipped)

    def _read(self, vault: Vault, path: str) -> tuple[os.stat_result, list[NoteChunk], str] | Taken:
        whole = os.path.join(vault.path, path)
        try:
            # By whichever way it is reached: a folder on it may have become a link since it was walked.
            if os.path.realpath(os.path.dirname(whole)) != os.path.normpath(os.path.dirname(whole)):
                return Taken(path, skipped=_LINK)
            descriptor = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return Taken(path, waiting=True)
        except OSError as error:
            problem = _LINK if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
            return Taken(path, skipped=problem)
        with open(descriptor, "rb", buffering=0) as opened:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                return Taken(path, skipped="not a file")
            if problem := problem_of(path, about.st_size):
                return Taken(path, size=about.st_size, skipped=problem)
            if self._unsettled(about, None, time.time_ns()):
                return Taken(path, waiting=True)
            try:
                data = opened.read(about.st_size + 1) or b""
            except OSError as error:
                return Taken(path, skipped=f"cannot be read: {error.strerror}")
            after = os.fstat(descriptor)
        if len(data) != about.st_size or (after.st_mtime_ns, after.st_size) != (about.st_mtime_ns, about.st_size):
            return Taken(path, waiting=True)
        text = text_of(data)
        if text is None:
            return Taken(path, size=about.st_size, skipped="not text in UTF-8")
        keeping = Keeping(vault.name, vault.agent, vault.project, vault.audience)
        chunks, cut = chunks_of(lanes.without_sections(text), path, about.st_mtime, keeping, count_tokens=count_tokens)
        return about, chunks, f"only its first {len(chunks)} chunks are kept" if cut else ""


def _inside(inner: str, outer: str) -> bool:
    return os.path.commonpath((inner, outer)) == outer
