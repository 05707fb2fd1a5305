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
from dataclasses import replace
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from foreword import bootstrap, wisdom
from foreword.compose import count_tokens
from foreword.errors import BadInput, ProviderError, ReviewError
from foreword.files import checksum, replace_file, sweep, workspace_slug
from foreword.providers import Writer, open_writer, shipped
from foreword.record import redact
from foreword.settings import Settings
from foreword.values import dataclass

# Below Foreword's home: what waits for review, and copies of what was replaced.
FOLDER = "review"
TOOLS = "TOOLS.md"
COMPACT = bootstrap.COMPACT_TOOLS
SOUL = "SOUL.md"
# When wisdom is due again.
_DUE_DAYS = 30
_DUE_LESSONS = 10
_MADE = "tools.json"
# A host cuts a file at a tenth of this.
_LARGEST_BYTES = 200_000


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
    by: str
    notes: Sequence[str]

    @property
    def changes(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Approval:
    """What approving a draft would make of a file, for a person to look at first."""

    what: str
    file: Path
    before: bytes | None
    after: bytes


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
        writer: Writer | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.workspace = Path(os.path.realpath(os.path.expanduser(workspace)))
        if not self.workspace.is_dir():
            raise BadInput(f"{workspace} is not a folder.", hint="Name the agent's workspace with --workspace.")
        self.folder = review_folder(home, self.workspace)
        self.desk = wisdom.Desk(self.folder)
        self._writer = writer
        self._clock = clock

    @classmethod
    def open(cls, home: Path, workspace: Path, settings: Settings) -> Upkeep:
        """With the writer that the settings name; it is not asked before there is something to write. Raises BadInput,
        BadSettings and ProviderError."""
        return cls(home, workspace, writer=open_writer(settings.writer, os.environ))

    @property
    def today(self) -> date:
        return date.fromtimestamp(self._clock())

    # tools

    def plan_tools(self) -> ToolsPlan:
        """What TOOLS_COMPACT.md would become. Raises ReviewError where there is no TOOLS.md."""
        source = self._text(TOOLS)
        if source is None:
            raise ReviewError(f"There is no {TOOLS} in {self.workspace}.", hint="Name the workspace with --workspace.")
        return self._planned(source, writer=self._writer)

    def _planned(self, source: str, *, writer: Writer | None) -> ToolsPlan:
        compacted = bootstrap.compact(source, count_tokens=count_tokens, redact=_redacted)
        by, notes = wisdom.EXTRACTIVE, list[str]()
        if writer:
            try:
                text = _unfenced(
                    writer.write(bootstrap.TOOLS_INSTRUCTIONS, bootstrap.without_secrets(source, _redacted))
                )
                why = bootstrap.refused(text, source, compacted, count_tokens=count_tokens, redact=_redacted)
            except ProviderError as error:
                text, why = "", str(error).rstrip(".")
            if why:
                notes.append(f"The draft of {writer.name} was not taken: {why}. The file's own words stand.")
            else:
                left = [one for one in compacted.left_out if bootstrap.missing(one.text, text, redact=_redacted)]
                compacted = replace(compacted, text=text, tokens=count_tokens(text), left_out=left)
                by = writer.name
        return ToolsPlan(
            file=self.workspace / COMPACT,
            before=self._bytes(COMPACT),
            after=compacted.text.encode(),
            compacted=compacted,
            state=self.tools_state(),
            source=str(checksum(self._bytes(TOOLS))),
            by=by,
            notes=notes,
        )

    def write_tools(self, plan: ToolsPlan, *, force: bool = False) -> Path | None:
        """Write what was planned; answers where the file is kept as it was, None where there was none or nothing
        changes. Raises ReviewError for a file that a person wrote or edited, unless forced, and for one that has
        changed since it was planned."""
        if plan.changes and plan.state.edited and not force:
            raise ReviewError(
                f"{plan.file} was written or edited by hand.", hint="Give --force to replace it; a copy is kept."
            )
        with self.desk.alone():
            if self._bytes(COMPACT) != plan.before:
                raise ReviewError(f"{plan.file} has changed in the meantime.", hint="Run the command again.")
            sweep(plan.file.resolve().parent, COMPACT)
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

    def refresh_tools(self) -> str:
        """Make TOOLS_COMPACT.md again where TOOLS.md has changed, if a person once had it made here and it was left as
        it is since. Never asks the writer, and never raises for the workspace: answers what went wrong, or ""."""
        made = self._made()
        try:
            if not made or checksum(self._bytes(TOOLS)) in (None, made.get("source")):
                return ""
            state = self.tools_state()
            if state.edited:
                return f"{_sentence(state.reason)} Run `foreword tools compact --force` to make it again."
            if not state.fresh:
                self.write_tools(self._planned(str(self._text(TOOLS)), writer=None))
        except (OSError, ReviewError) as error:
            return f"{COMPACT} could not be made again: {error}"
        return ""

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
        distilled = wisdom.distil(
            collected.lessons,
            # The offline one: the same lessons give the same themes, whichever embedder recall uses.
            embed=shipped().embed,
            count_tokens=count_tokens,
            approved=self._approved_patterns(),
            write=self._writer.write if self._writer else None,
            writer=self._writer.name if self._writer else "",
        )
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

    def _approved_patterns(self) -> list[wisdom.Pattern]:
        """The entries that a person approved and that still stand in SOUL.md."""
        approved = self.desk.approved("wisdom")
        standing = wisdom.entries_of(self.present_wisdom())
        return [
            wisdom.Pattern(entry, [wisdom.Lesson(one, SOUL) for one in lessons])
            for entry, lessons in (approved.coverage if approved else {}).items()
            if entry in standing
        ]

    def wisdom_broken(self, section: str | None = None) -> list[wisdom.Broken]:
        """The rules that a section breaks; by default the one that stands in SOUL.md now."""
        present = self.present_wisdom() if section is None else section
        return wisdom.check(present, count_tokens=count_tokens)

    def present_wisdom(self) -> str:
        """The section of SOUL.md as it is; "" where there is none."""
        return wisdom.found_in(self._text(SOUL) or "")

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
        waiting = next((one.text for one in self.desk.waiting() if one.what == "wisdom"), "")
        section = self.present_wisdom() or waiting
        notes = []
        if not section:
            notes.append(f"There is no wisdom yet; when it comes, it takes up to {wisdom.MAX_TOKENS} tokens.")
        elif not self.present_wisdom():
            notes.append("It holds the wisdom that waits for review, too.")
        tokens, most = count_tokens(soul.strip()), wisdom.MAX_SOUL_TOKENS
        if tokens <= most and section == self.present_wisdom():
            text = soul
            notes.append(f"{SOUL} has {tokens} tokens, which is within {most}: nothing would change.")
        else:
            tight = wisdom.tightened(soul, section, count_tokens=count_tokens, max_tokens=most)
            text = tight.text
            notes += [f"left out: {one}" for one in tight.left_out]
        of = checksum(self._bytes(SOUL))
        draft = wisdom.Draft("soul", text, str(self.today), wisdom.EXTRACTIVE, notes=tuple(notes), of=of)
        self.desk.lay(draft)
        return draft

    # review

    def present(self, what: str) -> str:
        """What a draft would replace."""
        return self.present_wisdom() if what == "wisdom" else self._text(SOUL) or ""

    def broken(self, draft: wisdom.Draft) -> list[str]:
        """Why a draft would be refused, one sentence for each entry and rule; [] where it may be approved."""
        if draft.what == "wisdom":
            return [str(one) for one in self.wisdom_broken(draft.text)]
        tokens, section = count_tokens(draft.text.strip()), wisdom.found_in(draft.text)
        refused = [str(one) for one in self.wisdom_broken(section)] if section else []
        if self.present_wisdom() and not section:
            refused.append(f"The draft lacks the section “{wisdom.HEADING}” that {SOUL} has.")
        if not 0 < tokens <= wisdom.MAX_SOUL_TOKENS:
            refused.append(f"The draft has {tokens} tokens, and {wisdom.MAX_SOUL_TOKENS} are the most.")
        return refused

    def coverage(self, draft: wisdom.Draft) -> dict[str, Sequence[str]]:
        """Which lessons each entry stands for. One that a person reworded keeps those of the entry it was made of; one
        that is all theirs has none."""
        if draft.what != "wisdom":
            return {}
        found: dict[str, Sequence[str]] = {}
        for entry in wisdom.entries_of(draft.text):
            close = get_close_matches(entry, draft.coverage, n=1, cutoff=0.5)
            if entry != wisdom.LOAD_BEARING:
                found[entry] = draft.coverage[close[0]] if close else ()
        return found

    def approval(self, what: str) -> Approval:
        """What approving would do. Raises ReviewError where no draft waits, or it breaks a rule; entry and rule are
        named."""
        before = self._bytes(SOUL)
        return Approval(what, self.workspace / SOUL, before, self._made_of(before, self.desk.draft(what)))

    def approve(self, approval: Approval) -> wisdom.Approved:
        """Change SOUL.md as it was shown. Raises ReviewError, and nothing has changed, where the file or the draft is
        no longer what was looked at."""
        draft = self.desk.draft(approval.what)
        if (coverage := self.coverage(draft)) != draft.coverage:
            self.desk.lay(replace(draft, coverage=coverage))

        def made(before: bytes | None, draft: wisdom.Draft) -> bytes:
            after = self._made_of(before, draft)
            if (before, after) != (approval.before, approval.after):
                raise ReviewError(f"{SOUL} or the draft has changed in the meantime.", hint="Run the command again.")
            return after

        return self.desk.approve(approval.what, approval.file, made, day=str(self.today))

    def _made_of(self, soul: bytes | None, draft: wisdom.Draft) -> bytes:
        if broken := self.broken(draft):
            raise ReviewError(" ".join(broken), hint=f"Edit it: `foreword {draft.what} review --edit`.")
        if soul is None:
            raise ReviewError(f"There is no {SOUL} in {self.workspace}.", hint="Write one first; wisdom lives in it.")
        if draft.what == "wisdom":
            return wisdom.replaced(soul, draft.text)
        if draft.of != checksum(soul):
            raise ReviewError(
                f"{SOUL} has changed since the draft was made.", hint="Make it again: `foreword soul draft`."
            )
        return draft.text.encode()

    def _bytes(self, name: str) -> bytes | None:
        """Raises ReviewError for a link out of the workspace, which may have come with somebody's repository; but who a
        person's agent is may be kept elsewhere, and is looked at before it changes."""
        file = self.workspace / name
        if name != SOUL and not file.resolve().is_relative_to(self.workspace):
            raise ReviewError(f"{file} leads out of the workspace.", hint="Put the file itself there.")
        try:
            if file.stat().st_size > _LARGEST_BYTES:
                raise ReviewError(f"{file} is larger than {_LARGEST_BYTES // 1000} kB.", hint="Make it shorter first.")
            return file.read_bytes()
        except FileNotFoundError:
            return None

    def _text(self, name: str) -> str | None:
        data = self._bytes(name)
        return None if data is None else data.decode("utf-8-sig", "replace")


def _redacted(text: str) -> str:
    return redact(text).text


def _unfenced(answer: str) -> str:
    """A model's answer without the fence that many put around a file."""
    lines = answer.strip().splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."
