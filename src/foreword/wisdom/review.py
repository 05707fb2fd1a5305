"""The review desk: a draft waits until a person approves or rejects it, and only then does a file of theirs change.

One folder of Foreword's own for each workspace: the drafts as files that can be edited, copies of what was replaced,
and `desk.json`, which alone tells what waits and what is being done. Approving goes: copy, checked → the intention in
`desk.json` → the file → the outcome in `desk.json`. Killed anywhere in between, the next look at the desk finds by the
checksums whether the file was replaced, and finishes or takes back the intention. The file itself is the old one or the
new one.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from foreword.errors import ReviewError
from foreword.files import checksum, make_private, replace_file, sweep
from foreword.values import dataclass

REVIEW_NEEDED = "REVIEW NEEDED"
_STATE = "desk.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Draft:
    """What waits for a person. `what` is its name on the desk and the verb's; `coverage` tells which lessons each
    pattern stands for; `lessons` are the fingerprints of all that were looked at, `of` is the checksum of the file
    that it would replace as a whole."""

    what: str
    text: str
    made: str
    by: str
    notes: Sequence[str] = ()
    coverage: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lessons: Sequence[str] = ()
    of: str | None = None
    state: str = REVIEW_NEEDED


@dataclass(frozen=True, slots=True)
class Approved:
    """What was approved last: when, by which draft, and where the file is kept as it was before."""

    what: str
    day: str
    lessons: Sequence[str]
    coverage: Mapping[str, Sequence[str]]
    copy: str | None
    before: str | None
    after: str


class Desk:
    """The desk of one workspace. Nothing is made on disk before the first draft is laid on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lay(self, draft: Draft) -> Path:
        """Put a draft on the desk, in place of one of the same name, and answer where it can be edited."""
        with self.alone():
            file = self.file_of(draft.what)
            replace_file(file, draft.text.encode(), mode=0o600)
            state = self._state()
            state["drafts"][draft.what] = {name: value for name, value in asdict(draft).items() if name != "text"}
            self._write(state)
        return file

    def file_of(self, what: str) -> Path:
        return self.folder / f"{what}.md"

    def waiting(self) -> list[Draft]:
        """Every draft that waits, each with its text as it is now: a person may have edited the file."""
        found = []
        for what, kept in self._known()["drafts"].items():
            try:
                text = self.file_of(what).read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ReviewError(
                    f"The draft {self.file_of(what)} cannot be read: {getattr(error, 'strerror', None) or error}.",
                    hint=f"Make it again: `foreword {what} draft`.",
                ) from error
            found.append(Draft(**{**kept, "text": text}))
        return found

    def draft(self, what: str) -> Draft:
        """Raises ReviewError where none waits."""
        for one in self.waiting():
            if one.what == what:
                return one
        raise ReviewError(f"No draft of {what} waits for review.", hint=f"Make one: `foreword {what} draft`.")

    def reject(self, what: str) -> Draft:
        """Take a draft off the desk; nothing else changes. Raises ReviewError where none waits."""
        with self.alone():
            draft, state = self.draft(what), self._state()
            del state["drafts"][what]
            self._write(state)
            self.file_of(what).unlink(missing_ok=True)
        return draft

    def approve(self, what: str, target: Path, made: Callable[[bytes | None, Draft], bytes], *, day: str) -> Approved:
        """Replace `target` by what `made` makes of its bytes and the draft; `made` refuses by raising. The copy is
        there and checked before the file is touched. Raises ReviewError."""
        with self.alone():
            draft = self.draft(what)
            # Often a link into a folder that is kept elsewhere; replaced, the link would be lost.
            real = target.resolve()
            before = real.read_bytes() if real.exists() else None
            after = made(before, draft)
            copy = self._copied(target.name, before)
            mode = stat.S_IMODE(real.stat().st_mode) if before is not None else 0o600
            state = self._state()
            done = Approved(what, day, draft.lessons, draft.coverage, copy, checksum(before), str(checksum(after)))
            state["applying"] = {**asdict(done), "file": str(real)}
            self._write(state)
            replace_file(real, after, mode=mode)
            self._settle()
        return done

    def approved(self, what: str) -> Approved | None:
        kept = self._known()["approved"].get(what)
        return Approved(**kept) if kept else None

    def _known(self) -> dict[str, Any]:
        state = self._state()
        if state["applying"] is None:
            return state
        with self.alone():
            return self._state()

    def _copied(self, name: str, data: bytes | None) -> str | None:
        if data is None:
            return None
        file = self.folder / f"before-{str(checksum(data))[:12]}-{name}"
        replace_file(file, data, mode=0o600)
        if checksum(file.read_bytes()) != checksum(data):
            raise ReviewError(f"The copy {file} is not what was copied; nothing was touched.", hint="Check the disk.")
        return str(file)

    def _settle(self) -> None:
        """Finish an approval, or take it back, whichever the file tells."""
        state = self._state()
        applying = state["applying"]
        if applying is None:
            return
        file = Path(applying.pop("file"))
        sweep(file.parent, file.name)
        present = checksum(file.read_bytes()) if file.exists() else None
        state["applying"] = None
        if present == applying["after"]:
            state["approved"][applying["what"]] = applying
            state["drafts"].pop(applying["what"], None)
        self._write(state)
        if present == applying["after"]:
            self.file_of(applying["what"]).unlink(missing_ok=True)

    def _state(self) -> dict[str, Any]:
        try:
            state: dict[str, Any] = json.loads((self.folder / _STATE).read_bytes())
            if state["version"] != _VERSION:
                raise ReviewError(f"{self.folder / _STATE} was made by a newer Foreword.", hint="Upgrade Foreword.")
        except FileNotFoundError:
            return {"version": _VERSION, "drafts": {}, "approved": {}, "applying": None}
        except (ValueError, KeyError, TypeError) as error:
            raise ReviewError(
                f"{self.folder / _STATE} is damaged.", hint="Move it away; your files are untouched."
            ) from error
        return state

    def _write(self, state: Mapping[str, Any]) -> None:
        replace_file(self.folder / _STATE, json.dumps(state, indent=1, ensure_ascii=False).encode(), mode=0o600)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One at a time; what a killed process left is settled first."""
        make_private(self.folder)
        number = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            sweep(self.folder)
            self._settle()
            yield
        finally:
            os.close(number)
