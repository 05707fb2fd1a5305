"""A live workspace changed with care: five phases, each with what it needs first, what it changes, and a checkpoint.

0 looks: what every kind of session pays is written down, every file that will be touched is copied and the copy read
again, and drafts are made. 1 takes MEMORY.md out of what is sent whole and says in SOUL.md how to reach it. 2 switches
the sets on, 3 shedding, 4 puts TOOLS_COMPACT.md in the place of TOOLS.md.

One file tells how far it came, the installation's record: it is written before a file is touched and again when the
checkpoint holds. Killed anywhere, `apply` goes on and `rollback` puts everything back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foreword import bootstrap, wisdom
from foreword.compose import count_tokens
from foreword.engine import Foreword, WorkspaceContext
from foreword.errors import HostError, RolloutError
from foreword.files import checksum, workspace_slug
from foreword.install import Change, Check, Edit, Installation, Installer, installation
from foreword.record import redact
from foreword.rollout import probes
from foreword.settings import Loaded
from foreword.upkeep import COMPACT, SOUL, TOOLS, Upkeep
from foreword.values import dataclass

# Below Foreword's home.
FOLDER = "rollout"
LAST = 4
MEMORY = "MEMORY.md"
TITLES = (
    "look: baseline, copies, drafts",
    "MEMORY.md is looked up, not sent whole",
    "file sets by the kind of session",
    "shedding",
    "TOOLS.md is looked up, TOOLS_COMPACT.md is sent",
)
_SEARCHED = 8


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase as it stands: `done`, or what it needs first and what it would change."""

    number: int
    done: bool
    needs: Sequence[Check]
    changes: Sequence[Change]

    @property
    def title(self) -> str:
        return TITLES[self.number]

    @property
    def missing(self) -> list[Check]:
        """What keeps it from starting."""
        return [one for one in self.needs if one.state == "fail"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far `apply` came, and what keeps the next phase from starting, [] where nothing does."""

    done: Sequence[int]
    stopped_at: int | None
    missing: Sequence[Check]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a rollout stands. `phase` is the last that is done, -1 before the first. `before` and `now` are tokens of
    workspace files by kind of session; `broken` is what was done and no longer holds."""

    phase: int
    cut_off: bool
    since: str
    before: Mapping[str, int]
    now: Mapping[str, int]
    waiting: Sequence[str]
    broken: Sequence[str]


class Rollout:
    """The rollout of one workspace. `reload` reads the settings as they are now: phases change their file. Raises
    BadInput where the workspace is not a folder, and HostError for a record that cannot be read."""

    def __init__(
        self,
        engine: Foreword,
        upkeep: Upkeep,
        home: Path,
        *,
        settings_file: Path,
        reload: Callable[[], Loaded],
        host: Installer,
        host_file: Path,
        agent: str = "main",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.workspace = upkeep.workspace
        self.agent = agent
        self.kept = Installation(home / FOLDER / workspace_slug(self.workspace), whole=True)
        self._engine = engine
        self._upkeep = upkeep
        # Of its own words alone: what a model writes differs each time it is asked, and a plan must not.
        self._tools = Upkeep(home, upkeep.workspace, clock=clock)
        self._settings_file = settings_file
        self._reload = reload
        self._host = host
        self._host_file = host_file
        self._clock = clock

    # how it stands

    @property
    def phase(self) -> int:
        return int(self.kept.about.get("phase", -1))

    def phases(self) -> list[Phase]:
        """All of them; of those that are not next, what they need beside the ones before them."""
        found = []
        for number in range(LAST + 1):
            done = number <= self.phase
            needs = [] if done else list(self._needs(number))
            if number > self.phase + 1:
                needs = [one for one in needs if one.name != "copies"]
            found.append(Phase(number, done, needs, [] if done else self._changes(number)))
        return found

    def standing(self) -> Standing:
        about = self.kept.about
        return Standing(
            phase=self.phase,
            cut_off=about.get("applying") is not None,
            since=str(about.get("since", "")),
            before={kind: one["tokens"] for kind, one in self._baseline().items()},
            now=self.tokens(),
            waiting=[one.what for one in self._upkeep.desk.waiting()],
            broken=[one.found for number in range(self.phase + 1) for one in self._checkpoint(number)],
        )

    def tokens(self) -> dict[str, int]:
        """What each kind of session pays for its workspace files, as they are sent now."""
        on_demand = self._reload().settings.bootstrap.on_demand
        found = {}
        for one in self.contexts():
            left = [file for file in one.files if file.before and file.name not in on_demand]
            found[one.kind.value] = one.after_tokens if one.enabled else sum(file.tokens for file in left)
        return found

    def contexts(self) -> list[WorkspaceContext]:
        return self._engine.under(self._reload()).contexts(self.workspace, agent=self.agent)

    # forward

    def apply(self, to: int = LAST) -> Progress:
        """Phase by phase, each with its checkpoint, until `to` is done or one may not start. Raises RolloutError where
        a checkpoint does not hold, and HostError where a file cannot be written."""
        done: list[int] = []
        for number in range(self.phase + 1, to + 1):
            if missing := [one for one in self._needs(number) if one.state == "fail"]:
                return Progress(done, number, missing)
            self._take(number)
            done.append(number)
        return Progress(done, None, [])

    def _take(self, number: int) -> None:
        about = {**self.kept.about, "applying": number}
        if number == 0:
            self.kept.keep(*self._to_copy(), {**self._begun(), "applying": 0})
            self._draft()
        else:
            self.kept.apply(self._changes(number), about)
        if number == 1:
            self._draft_soul_anew()
        if number == LAST and self._has(TOOLS) and not self._tools.tools_state().edited:
            # Written already: this tells the upkeep of TOOLS_COMPACT.md that it is Foreword's own.
            self._tools.write_tools(self._tools.plan_tools())
        if broken := self._checkpoint(number):
            raise RolloutError(
                f"Phase {number} is in place and does not hold: {broken[0].found}",
                hint=f"{broken[0].next} Then `foreword rollout apply --yes` goes on; `rollback --yes` goes back.",
            )
        checkpoints = {**self.kept.about.get("checkpoints", {}), str(number): self.tokens()}
        done = {**self.kept.about, "phase": number, "applying": None, "checkpoints": checkpoints}
        self.kept.apply((), done)

    def _begun(self) -> dict[str, Any]:
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
        about = {"workspace": str(self.workspace), "agent": self.agent, "since": since, "phase": -1}
        return {**about, "baseline": self._baseline()}

    def _baseline(self) -> dict[str, Any]:
        """What each kind of session was sent before anything was changed, file by file."""
        known: dict[str, Any] | None = self.kept.about.get("baseline")
        return known or {
            one.kind.value: {
                "tokens": one.before_tokens,
                "files": {file.name: file.tokens for file in one.files if file.before},
            }
            for one in self.contexts()
        }

    def _to_copy(self) -> tuple[list[Path], list[Path]]:
        """What is put back whatever became of it, and what is only copied because nothing here touches it."""
        touched = [self.workspace / name for name in (SOUL, COMPACT)]
        others = [one for one in sorted(self.workspace.glob("*.md")) if one not in touched and one.is_file()]
        settings = [one for one in (self._settings_file, self._host_file) if one.is_file()]
        return touched, [*others, *settings]

    def _draft(self) -> None:
        """What a person will have to decide on; one that waits already stays as it is."""
        waiting = {one.what for one in self._upkeep.desk.waiting()}
        if "wisdom" not in waiting and self._upkeep.wisdom_status().due:
            self._upkeep.draft_wisdom()
        if "soul" not in waiting and self._soul_tokens() > wisdom.MAX_SOUL_TOKENS:
            self.kept.about["soul"] = checksum(self._upkeep.draft_soul().text.encode())

    def _draft_soul_anew(self) -> None:
        """The draft was made before SOUL.md had what phase 1 put in; one that a person edited stays as it is."""
        made = self.kept.about.get("soul")
        if any(one.what == "soul" and checksum(one.text.encode()) == made for one in self._upkeep.desk.waiting()):
            self.kept.about["soul"] = checksum(self._upkeep.draft_soul().text.encode())

    # back

    def undoing(self) -> list[Change]:
        return self.kept.undoing()

    def rollback(self) -> list[Change]:
        """Put everything back as it was before phase 0; what somebody changed since is kept aside. Raises HostError."""
        return self.kept.undo()

    # what a phase needs

    def _needs(self, number: int) -> Iterator[Check]:
        if number == 0:
            yield self._readable()
            yield self._settings_readable()
            return
        yield self._copied()
        yield from [one for earlier in range(1, min(number, self.phase + 1)) for one in self._checkpoint(earlier)]
        if number == 1:
            yield self._plugged_in()
            yield self._found(MEMORY)
        if number == 2:
            yield self._decided()
        if number == 3:
            yield self._recorded()
        if number == LAST:
            yield self._compacted()
            yield self._found(TOOLS)

    def _readable(self) -> Check:
        (soul,) = bootstrap.read(self.workspace, [SOUL])
        if soul.text is None:
            found = soul.problem or f"There is no {SOUL} in {self.workspace}."
            return Check("workspace", "fail", found, "Name the agent's workspace with --workspace.")
        return Check("workspace", "ok", f"{self.workspace} has a {SOUL}")

    def _settings_readable(self) -> Check:
        try:
            installation.parsed(self._settings_file)
        except HostError as error:
            return Check("settings", "fail", str(error.args[0]), f"Correct {self._settings_file}.")
        return Check("settings", "ok", f"{self._settings_file} can be changed")

    def _copied(self) -> Check:
        if self.phase < 0:
            return Check("copies", "fail", "Nothing was copied yet.", "`foreword rollout apply --to 0 --yes`")
        return self._sound()

    def _sound(self) -> Check:
        try:
            self.kept.verify()
        except HostError as error:
            return Check("copies", "fail", str(error.args[0]), "`foreword rollout rollback --yes`")
        return Check("copies", "ok", f"{len(self.kept.copies())} files are copied, and the copies are sound")

    def _plugged_in(self) -> Check:
        try:
            config = self._host.read(self._host_file)
        except HostError as error:
            return Check("host", "fail", str(error.args[0]), self._host.again)
        if not self._host.granted(config):
            found = f"Foreword's plugin is not in {self._host.title}, or may not read conversations."
            return Check("host", "fail", found, self._host.again)
        if self.agent in self._host.without_files(config):
            found = f"{self._host.title} gives {self.agent} no workspace files (contextInjection is never)."
            return Check("host", "fail", found, "`openclaw config unset agents.defaults.contextInjection`")
        return Check("host", "ok", f"{self._host.title} asks Foreword which files a session gets")

    def _found(self, name: str) -> Check:
        if not self._has(name):
            return Check("search", "ok", f"there is no {name} to look up")
        texts = probes.notes(self.workspace)
        if probes.reachable(name, texts, self.search, self.workspace):
            return Check("search", "ok", f"mem-search leads to {name}")
        step = f"`foreword vault add {self.workspace}`"
        return Check("search", "fail", f"mem-search does not lead to {name}: it would be out of reach.", step)

    def search(self, text: str) -> list[probes.Row]:
        """As the agent's own main session has it."""
        found = self._engine.search(text, limit=_SEARCHED, session=f"agent:{self.agent}:main", agent=self.agent)
        # A chunk names its file as its vault does.
        folders = {f"vault:{one.name}": one.path for one in self._engine.vaults.all()}
        return [
            probes.Row(
                [os.path.join(folders.get(one.memory.channel, ""), file) for file in one.memory.files], one.memory.text
            )
            for one in found
        ]

    def _decided(self) -> Check:
        waiting = [one.what for one in self._upkeep.desk.waiting() if one.what in ("wisdom", "soul")]
        if not waiting:
            return Check("drafts", "ok", "no draft waits for a decision")
        what = waiting[0]
        stale = what == "soul" and self._upkeep.present_wisdom().strip() not in self._upkeep.desk.draft(what).text
        before = "`foreword soul draft`, for the wisdom has changed since; then " if stale else ""
        step = f"{before}`foreword {what} approve`, or `foreword {what} reject`"
        return Check("drafts", "fail", f"The draft of {' and of '.join(waiting)} waits for your decision.", step)

    def _recorded(self) -> Check:
        if self._reload().settings.record.enabled:
            return Check("recording", "ok", "conversations are recorded, by which a used file is known")
        return Check(
            "recording", "fail", "Nothing is recorded, so no file is known to be used.", "record.enabled = true"
        )

    def _compacted(self) -> Check:
        if not self._has(TOOLS):
            return Check("tools", "ok", f"there is no {TOOLS} to be compacted")
        state = self._tools.tools_state()
        if state.edited:
            source, present = ((self.workspace / name).read_text("utf-8-sig", "replace") for name in (TOOLS, COMPACT))
            if lost := bootstrap.missing(source, present, redact=lambda text: redact(text).text):
                found = f"{COMPACT} was written by hand, is not replaced, and lacks {', '.join(lost[:3])}."
                return Check("tools", "fail", found, "Add it, or `foreword tools compact --force`.")
            return Check("tools", "ok", f"{COMPACT}, written by hand, holds every fact of {TOOLS}")
        if left := self._tools.plan_tools().compacted.left_out:
            return Check("tools", "warn", f"{COMPACT} has no room for {len(left)} facts; {TOOLS} keeps them")
        return Check("tools", "ok", f"{COMPACT} will hold every fact of {TOOLS}")

    # what a phase changes

    def _changes(self, number: int) -> list[Change]:
        settings = self._reload().settings.bootstrap
        if number == 1:
            edits = [_on_demand(MEMORY)] if self._was_sent(MEMORY) and MEMORY not in settings.on_demand else []
            return [*self._instructed(), *self._set(edits)]
        if number == 2:
            return self._set([] if settings.enabled else [Edit(("bootstrap", "enabled"), True)])
        if number == 3:
            return self._set([] if settings.shed else [Edit(("bootstrap", "shed"), True)])
        if number == LAST and self._has(TOOLS):
            edits = [] if TOOLS in settings.on_demand else [_on_demand(TOOLS)]
            return [*self._compact(), *self._set(edits)]
        return []

    def _set(self, edits: Sequence[Edit]) -> list[Change]:
        return [installation.edited(self._settings_file, edits, fresh="")] if edits else []

    def _instructed(self) -> list[Change]:
        """SOUL.md with the entry by which an agent knows where to look; every other byte stays."""
        file = self.workspace / SOUL
        before = file.read_bytes() if file.exists() else b""
        section = self._upkeep.present_wisdom()
        if wisdom.LOAD_BEARING in wisdom.entries_of(section):
            return []
        if section:
            section = f"{section.rstrip()}\n- {wisdom.LOAD_BEARING}\n"
        else:
            section = wisdom.rendered([], str(self._upkeep.today), 0)
        return [Change(file, before, wisdom.replaced(before, section), prose=True)]

    def _compact(self) -> list[Change]:
        plan = self._tools.plan_tools()
        if not plan.changes or plan.state.edited:
            return []
        return [Change(plan.file, plan.before, plan.after, prose=True)]

    def _was_sent(self, name: str) -> bool:
        return any(name in kind["files"] for kind in self._baseline().values())

    def _has(self, name: str) -> bool:
        return (self.workspace / name).is_file()

    def _soul_tokens(self) -> int:
        (soul,) = bootstrap.read(self.workspace, [SOUL])
        return count_tokens(soul.text or "")

    # whether it holds

    def _checkpoint(self, number: int) -> list[Check]:
        """What of a phase is not in force, [] where it holds."""
        loaded = self._reload()
        found = loaded.settings.bootstrap
        if number == 0:
            return [one for one in (self._sound(),) if one.state == "fail"]
        if number == 1:
            out = MEMORY in found.on_demand or not self._was_sent(MEMORY)
            return [*_unset(loaded, "bootstrap.on_demand", out, MEMORY), *self._silent_about_memory()]
        if number == 2:
            return _unset(loaded, "bootstrap.enabled", found.enabled, "true")
        if number == 3:
            return _unset(loaded, "bootstrap.shed", found.shed, "true")
        if not self._has(TOOLS):
            return []
        broken = _unset(loaded, "bootstrap.on_demand", TOOLS in found.on_demand, TOOLS)
        if not self._has(COMPACT):
            broken.append(Check("tools", "fail", f"There is no {COMPACT}.", "`foreword tools compact`"))
        return broken

    def _silent_about_memory(self) -> list[Check]:
        if wisdom.LOAD_BEARING in wisdom.entries_of(self._upkeep.present_wisdom()):
            return []
        step = f"Add to its {wisdom.HEADING}: “{wisdom.LOAD_BEARING}”"
        return [Check("instruction", "fail", f"{SOUL} does not say how to reach what is not sent.", step)]


def _on_demand(name: str) -> Edit:
    return Edit(("bootstrap", "on_demand"), name, item=True)


def _unset(loaded: Loaded, name: str, holds: bool, wanted: str) -> list[Check]:
    if holds:
        return []
    source = f"it comes from {loaded.sources[name]}" if name in loaded.sources else "nothing sets it"
    return [Check("settings", "fail", f"{name} is not in force; {source}.", f"Let {name} be, or hold, {wanted}.")]
