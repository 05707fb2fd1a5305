"""The upkeep of a workspace: TOOLS_COMPACT.md, the wisdom in SOUL.md, and SOUL.md itself.

Rooms that are strangers meet here: the compactor and the review desk get the one token counter, the redaction, the
embedder and the writer. Nothing is written into a workspace but what a person approved; everything else is kept in
`<home>/review/<slug>/`.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from foreword import bootstrap, wisdom
from foreword.compose import count_tokens
from foreword.errors import BadInput, ReviewError
from foreword.files import checksum, make_private, replace_file, workspace_slug
from foreword.providers import Embedder, StaticEmbedder
from foreword.record import redact
from foreword.settings import Settings

# Below Foreword's home: what waits for review, and copies of what was replaced.
FOLDER = "review"
TOOLS = "TOOLS.md"
COMPACT = "TOOLS_COMPACT.md"
SOUL = "SOUL.md"
# When wisdom is due again.
_DUE_DAYS = 30
_DUE_LESSONS = 10
_MADE = "tools.json"


def review_folder(home: Path, workspace: Path) -> Path:
    """Where the desk of this workspace is."""
    return home / FOLDER / workspace_slug(workspace)


@dataclass(frozen=True, slots=True)
class ToolsState:
    """How TOOLS_COMPACT.md stands to TOOLS.md. `fresh` is what `--check` asks; `edited` means that a person wrote or
    changed it, and that it is not replaced without being told so."""

    fresh: bool
    edited: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ToolsPlan:
    """TOOLS_COMPACT.md as it is and as it would be; nothing is changed yet. `by` is who wrote it, `notes` say why a
    model's draft was not taken."""

    file: Path
    before: bytes | None
    after: bytes
    compacted: bootstrap.Compacted
    state: ToolsState
    source: str
    by: str = "extractive"
    notes: Sequence[str] = ()

    @property
    def changes(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class WisdomStatus:
    """What is due, and why. `new` are lessons that no approved section was made of."""

    due: bool
    reason: str
    lessons: int
    new: int
    last: str
    waiting: Sequence[wisdom.Draft]
    broken: Sequence[str]
    warnings: Sequence[str]


class Upkeep:
    """One workspace of one home. Raises BadInput where the workspace is not a folder."""

    def __init__(
        self,
        home: Path,
        workspace: Path,
        *,
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.workspace = Path(os.path.realpath(os.path.expanduser(workspace)))
        if not self.workspace.is_dir():
            raise BadInput(f"{workspace} is not a folder.", hint="Name the agent's workspace with --workspace.")
        self.folder = review_folder(home, self.workspace)
        self.desk = wisdom.Desk(self.folder)
        self._embedder = embedder
        self._clock = clock

    @classmethod
    def open(cls, home: Path, workspace: Path, settings: Settings) -> Upkeep:
        """With the models that the settings name; none is asked before there is something to write."""
        return cls(home, workspace)

    @property
    def today(self) -> date:
        return date.fromtimestamp(self._clock())

    # tools

    def plan_tools(self) -> ToolsPlan:
        """What TOOLS_COMPACT.md would become. Raises ReviewError where there is no TOOLS.md."""
        source = self._text(TOOLS)
        if source is None:
            raise ReviewError(f"There is no {TOOLS} in {self.workspace}.", hint="Name the workspace with --workspace.")
        compacted = bootstrap.compact(source, count_tokens=count_tokens, redact=_redacted)
        return ToolsPlan(
            file=self.workspace / COMPACT,
            before=self._bytes(COMPACT),
            after=compacted.text.encode(),
            compacted=compacted,
            state=self.tools_state(),
            source=str(checksum(self._bytes(TOOLS))),
        )

    def write_tools(self, plan: ToolsPlan, *, force: bool = False) -> Path | None:
        """Write what was planned; answers where the file is kept as it was, None where there was none or nothing
        changes. Raises ReviewError for a file that a person wrote or edited, unless forced, and for one that has
        changed since it was planned."""
        if plan.changes and plan.state.edited and not force:
            raise ReviewError(
                f"{plan.file} was written or edited by hand.", hint="Give --force to replace it; a copy is kept."
            )
        if self._bytes(COMPACT) != plan.before:
            raise ReviewError(f"{plan.file} has changed in the meantime.", hint="Run the command again.")
        make_private(self.folder)
        copy = None
        if plan.changes and plan.before is not None:
            copy = self.folder / f"before-{str(checksum(plan.before))[:12]}-{COMPACT}"
            replace_file(copy, plan.before, mode=0o600)
        made = {"source": plan.source, "made": checksum(plan.after)}
        if plan.changes:
            real = plan.file.resolve()
            mode = stat.S_IMODE(real.stat().st_mode) if plan.before is not None else 0o644
            # Both are noted before the file: whichever is found there after a crash is known to be ours.
            self._note_made({**made, "earlier": checksum(plan.before) if not plan.state.edited else None})
            replace_file(real, plan.after, mode=mode)
        self._note_made({**made, "earlier": None})
        return copy

    def tools_state(self) -> ToolsState:
        source, present = self._bytes(TOOLS), self._bytes(COMPACT)
        made = self._made()
        if source is None:
            return ToolsState(present is None, present is not None, f"there is no {TOOLS}")
        if present is None:
            return ToolsState(False, False, f"{COMPACT} was never made")
        ours = checksum(present) in (made.get("made"), made.get("earlier"))
        if checksum(source) == made.get("source"):
            if checksum(present) == made.get("made"):
                return ToolsState(True, False, f"{TOOLS} is as it was when {COMPACT} was made")
            if not ours:
                return ToolsState(True, True, f"{COMPACT} was edited by hand; {TOOLS} is as it was then")
        text = self._text(TOOLS) or ""
        if bootstrap.compact(text, count_tokens=count_tokens, redact=_redacted).text.encode() == present:
            return ToolsState(True, False, f"{COMPACT} is what {TOOLS} gives")
        if not made:
            return ToolsState(False, True, f"{COMPACT} was not made by Foreword")
        return ToolsState(False, not ours, f"{TOOLS} has changed since {COMPACT} was made")

    def _made(self) -> dict[str, Any]:
        try:
            made = json.loads((self.folder / _MADE).read_bytes())
            return made if isinstance(made, dict) else {}
        except (FileNotFoundError, ValueError):
            return {}

    def _note_made(self, made: dict[str, Any]) -> None:
        replace_file(self.folder / _MADE, json.dumps(made).encode(), mode=0o600)

    # wisdom

    def draft_wisdom(self) -> wisdom.Draft:
        """Collect, distil, and lay a draft on the desk for review; SOUL.md is not touched."""
        collected = wisdom.collect(self.workspace, self.today, redact=_redacted)
        distilled = wisdom.distil(collected.lessons, embed=self._embed, count_tokens=count_tokens)
        text = wisdom.rendered([one.text for one in distilled.patterns], str(self.today), len(collected.lessons))
        draft = wisdom.Draft(
            what="wisdom",
            text=text,
            made=str(self.today),
            by=distilled.by,
            notes=(*collected.warnings, *distilled.notes),
            coverage={one.text: tuple(lesson.text for lesson in one.lessons) for one in distilled.patterns},
            lessons=tuple(one.fingerprint for one in collected.lessons),
        )
        self.desk.lay(draft)
        return draft

    def wisdom_broken(self, section: str | None = None) -> list[wisdom.Broken]:
        """The rules that a section breaks; by default the one that stands in SOUL.md now."""
        present = self.present_wisdom() if section is None else section
        return wisdom.check(present, count_tokens=count_tokens)

    def present_wisdom(self) -> str:
        """The section of SOUL.md as it is; "" where there is none."""
        return wisdom.found_in(self._text(SOUL) or "")

    def approve_wisdom(self) -> wisdom.Approved:
        """The draft becomes the section of SOUL.md. Raises ReviewError where it breaks a rule, with the entry."""
        return self.desk.approve("wisdom", self.workspace / SOUL, self._with_wisdom, day=str(self.today))

    def _with_wisdom(self, soul: bytes | None, draft: wisdom.Draft) -> bytes:
        if broken := self.wisdom_broken(draft.text):
            raise ReviewError(" ".join(str(one) for one in broken), hint="Edit it: `foreword wisdom review --edit`.")
        if soul is None:
            raise ReviewError(f"There is no {SOUL} in {self.workspace}.", hint="Write one first; wisdom lives in it.")
        return wisdom.replaced(soul, draft.text)

    def wisdom_status(self) -> WisdomStatus:
        """Due monthly, or at 10 new lessons."""
        collected = wisdom.collect(self.workspace, self.today, redact=_redacted)
        approved = self.desk.approved("wisdom")
        present = self.present_wisdom()
        told = wisdom.last_compressed(present) if present else None
        known = set(approved.lessons) if approved else set()
        new = sum(one.fingerprint not in known for one in collected.lessons)
        if approved is None and told is not None:
            # Made elsewhere: the section itself tells of how many lessons it was made.
            new = max(0, len(collected.lessons) - told[1])
        last = told[0] if told else ""
        age = (self.today - date.fromisoformat(last)).days if last else None
        if age is None:
            due, reason = bool(collected.lessons), "there is no wisdom in SOUL.md yet"
        elif new >= _DUE_LESSONS:
            due, reason = True, f"{new} new lessons since {last}"
        elif age >= _DUE_DAYS:
            due, reason = True, f"last compressed {age} days ago"
        else:
            due, reason = False, f"last compressed {age} days ago, {new} new lessons since"
        return WisdomStatus(
            due=due,
            reason=reason,
            lessons=len(collected.lessons),
            new=new,
            last=last,
            waiting=self.desk.waiting(),
            broken=[str(one) for one in self.wisdom_broken(present)] if present else [],
            warnings=collected.warnings,
        )

    # soul

    def draft_soul(self) -> wisdom.Draft:
        """A tighter SOUL.md, on the desk for review; the file stays as it is. Raises ReviewError for none."""
        soul = self._text(SOUL)
        if soul is None:
            raise ReviewError(f"There is no {SOUL} in {self.workspace}.", hint="Name the workspace with --workspace.")
        section = self.present_wisdom()
        text = wisdom.tightened(soul, section, count_tokens=count_tokens, max_tokens=wisdom.MAX_SOUL_TOKENS)
        draft = wisdom.Draft(what="soul", text=text, made=str(self.today), by="extractive")
        self.desk.lay(draft)
        return draft

    def approve_soul(self) -> wisdom.Approved:
        """The draft becomes SOUL.md. Raises ReviewError where it breaks a rule."""
        return self.desk.approve("soul", self.workspace / SOUL, self._as_soul, day=str(self.today))

    def _as_soul(self, soul: bytes | None, draft: wisdom.Draft) -> bytes:
        tokens = count_tokens(draft.text.strip())
        if not draft.text.strip() or tokens > wisdom.MAX_SOUL_TOKENS:
            raise ReviewError(f"The draft has {tokens} tokens; 1 to {wisdom.MAX_SOUL_TOKENS} are allowed.")
        return draft.text.encode()

    def _embed(self, texts: Sequence[str]) -> Any:
        return (self._embedder or StaticEmbedder()).embed(texts)

    def _bytes(self, name: str) -> bytes | None:
        try:
            return (self.workspace / name).read_bytes()
        except FileNotFoundError:
            return None

    def _text(self, name: str) -> str | None:
        data = self._bytes(name)
        return None if data is None else data.decode("utf-8-sig", "replace")


def _redacted(text: str) -> str:
    return redact(text).text
