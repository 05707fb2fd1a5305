"""A live workspace, changed phase by phase and put back."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from foreword import Foreword
from foreword.errors import HostError, RolloutError
from foreword.install import INSTALLERS
from foreword.rollout import LAST, Rollout, State, probes, validate
from foreword.settings import load
from foreword.upkeep import Upkeep
from foreword.wisdom import LOAD_BEARING
from tests import workspace as grown

TODAY = date(2026, 3, 4)
SETTINGS = "# mine\n[gate]\nfloor = 0.3  # by hand\n"
HOST = "{\n  // kept as it is\n  plugins: {entries: {foreword: {hooks: {allowConversationAccess: true}}}},\n}\n"


class Place:
    """One home, one workspace of a year, and the settings of Foreword and of its host."""

    def __init__(
        self, folder: Path, engine: Foreword | None, clock: Callable[[], float], *, made: bool = False
    ) -> None:
        self.home, self.workspace = folder / "home", folder / "workspace"
        self.settings, self.host = folder / "foreword.toml", folder / "openclaw.json"
        self.engine, self._clock = engine, clock
        if made:
            return
        grown.grow(self.workspace, TODAY)
        (self.workspace / "SOUL.md").chmod(0o640)
        self.settings.write_text(SETTINGS)
        self.host.write_text(HOST)

    @property
    def upkeep(self) -> Upkeep:
        return Upkeep(self.home, self.workspace, clock=self._clock)

    @property
    def rollout(self) -> Rollout:
        return self.rollout_with()

    def rollout_with(self, **environ: str) -> Rollout:
        """As a new process has it."""
        return Rollout(
            self.engine,
            self.upkeep,
            self.home,
            settings_file=self.settings,
            reload=lambda: load(environ={"FOREWORD_CONFIG": str(self.settings), **environ}),
            host=INSTALLERS["openclaw"],
            host_file=self.host,
            clock=self._clock,
        )

    def decide(self) -> None:
        """A person has looked at the drafts: the wisdom is taken, SOUL.md written by hand from its draft."""
        desk = self.upkeep.desk
        if any(one.what == "wisdom" for one in desk.waiting()):
            self.upkeep.approve(self.upkeep.approval("wisdom"))
        if any(one.what == "soul" for one in desk.waiting()):
            self.upkeep.draft_soul()
            self.upkeep.approve(self.upkeep.approval("soul"))

    def all_the_way(self) -> Rollout:
        grown.index(self.engine, self.workspace)
        assert self.rollout.apply().stopped_at == 2
        self.decide()
        assert self.rollout.apply().missing == []
        return self.rollout

    def snapshot(self) -> dict[str, tuple[bytes, int]]:
        """Every file that is the user's, with its mode."""
        files = [one for one in self.workspace.rglob("*") if one.is_file()]
        return {
            str(one.relative_to(self.workspace.parent)): (one.read_bytes(), stat.S_IMODE(one.stat().st_mode))
            for one in (*files, self.settings, self.host)
        }


@pytest.fixture
def place(tmp_path: Path, foreword: Foreword, clock: Callable[[], float]) -> Place:
    return Place(tmp_path, foreword, clock)


@pytest.mark.proves("T9")
def test_phase_by_phase_a_workspace_of_a_year_comes_to_few_tokens_and_goes_back_to_the_byte(place: Place) -> None:
    before = place.snapshot()
    rollout = place.all_the_way()
    standing = rollout.standing()
    assert (standing.phase, standing.cut_off, list(standing.broken)) == (LAST, False, [])
    assert standing.before["main_session"] > 7000
    assert standing.now["main_session"] <= 500
    assert standing.now["forum_topic"] <= 500
    said = {one.file.name: one.said for one in place.rollout.rollback()}
    assert place.snapshot() == before
    assert said["foreword.toml"] == "as it was, byte for byte"
    assert said["TOOLS_COMPACT.md"] == "removed, as there was none before"
    assert place.rollout.phase == -1


@pytest.mark.proves("T9")
@pytest.mark.parametrize("phase", range(LAST + 1))
def test_from_any_phase_one_command_goes_back_to_the_byte(place: Place, phase: int) -> None:
    before = place.snapshot()
    grown.index(place.engine, place.workspace)
    place.rollout.apply(min(phase, 1))
    place.decide()
    assert place.rollout.apply(phase).missing == []
    assert place.rollout.phase == phase
    place.rollout.rollback()
    assert place.snapshot() == before


@pytest.mark.proves("T9")
def test_nothing_is_touched_before_it_is_copied_and_the_copies_are_what_was_copied(place: Place) -> None:
    before = place.snapshot()
    assert list(place.rollout.apply(0).done) == [0]
    assert place.snapshot() == before, "phase 0 only looks"
    copies = place.rollout.kept.copies()
    assert {one.name for one in copies} >= {"SOUL.md", "AGENTS.md", "TOOLS.md", "foreword.toml", "openclaw.json"}
    for file, copy in copies.items():
        assert copy.read_bytes() == file.read_bytes()
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    baseline = place.rollout.kept.about["baseline"]["main_session"]
    assert baseline["tokens"] == sum(baseline["files"].values())
    assert set(baseline["files"]) == {"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"}


@pytest.mark.proves("T9")
def test_a_copy_that_is_damaged_stops_everything_before_anything_is_touched(place: Place) -> None:
    grown.index(place.engine, place.workspace)
    place.rollout.apply(0)
    before = place.snapshot()
    place.rollout.kept.copies()[place.workspace / "AGENTS.md"].write_text("something else")
    progress = place.rollout.apply()
    assert (progress.stopped_at, progress.missing[0].name) == (1, "copies")
    assert "AGENTS.md" in progress.missing[0].found
    assert place.snapshot() == before
    with pytest.raises(HostError, match="is not what was copied"):
        place.rollout.kept.verify()


@pytest.mark.proves("T9")
@pytest.mark.parametrize(
    ("spoil", "phase", "missing", "step"),
    [
        (lambda one: (one.workspace / "SOUL.md").unlink(), 0, "workspace", "--workspace"),
        (lambda one: one.settings.write_text("[gate\n"), 0, "settings", "Correct"),
        (lambda one: one.host.write_text("{}"), 1, "host", "foreword openclaw install"),
        (lambda one: one.host.unlink(), 1, "host", "foreword openclaw install"),
        (lambda one: None, 1, "search", "foreword vault add"),
    ],
)
def test_a_phase_does_not_start_while_what_it_needs_is_missing_and_says_what_mends_it(
    place: Place, spoil: Callable[[Place], object], phase: int, missing: str, step: str
) -> None:
    spoil(place)
    before = place.snapshot() if place.host.exists() else {}
    progress = place.rollout.apply()
    assert progress.stopped_at == phase
    found = next(one for one in progress.missing if one.name == missing)
    assert step in found.next
    assert (place.snapshot() if place.host.exists() else {}) == before


@pytest.mark.proves("T9")
@pytest.mark.parametrize("text", ["- gate 2222\n", "Oars.\n", "```\nport 8431\n```\n"])
def test_a_memory_of_a_few_words_is_found_as_well(place: Place, text: str) -> None:
    (place.workspace / "MEMORY.md").write_text(text)
    grown.index(place.engine, place.workspace)
    assert place.rollout.apply(1).missing == []


@pytest.mark.proves("T9", "T10")
def test_the_sets_wait_until_a_person_has_decided_on_the_drafts(place: Place) -> None:
    grown.index(place.engine, place.workspace)
    soul = (place.workspace / "SOUL.md").read_text()
    progress = place.rollout.apply()
    assert (list(progress.done), progress.stopped_at) == ([0, 1], 2)
    assert [one.name for one in progress.missing] == ["drafts"]
    changed = (place.workspace / "SOUL.md").read_text()
    assert changed.startswith(soul), "nothing of it is replaced"
    assert LOAD_BEARING in changed.removeprefix(soul)
    assert "enabled" not in place.settings.read_text()


@pytest.mark.proves("T9")
def test_memory_stays_where_it_is_when_the_host_does_not_send_it(place: Place) -> None:
    grown.index(place.engine, place.workspace)
    (place.workspace / "MEMORY.md").unlink()
    assert place.rollout.apply(1).missing == []
    assert "on_demand" not in place.settings.read_text()


@pytest.mark.proves("T9")
def test_what_somebody_changed_since_is_kept_aside_and_named(place: Place) -> None:
    before = place.snapshot()
    rollout = place.all_the_way()
    (place.workspace / "SOUL.md").write_text("I was written since.\n")
    (place.workspace / "MEMORY.md").write_text("The agent wrote this since.\n")
    place.settings.write_text(place.settings.read_text() + '\n[owner]\nids = ["telegram:777"]\n')
    said = {one.file.name: one.said for one in rollout.rollback()}
    assert "kept aside" in said["SOUL.md"]
    after = place.snapshot()
    assert after["workspace/SOUL.md"] == before["workspace/SOUL.md"]
    assert after["workspace/MEMORY.md"][0] == b"The agent wrote this since.\n", "no phase touches it, so it stays"
    assert b"I was written since.\n" in [one.read_bytes() for one in place.rollout.kept.asides()]
    assert after["foreword.toml"][0].decode() == SETTINGS + '\n[owner]\nids = ["telegram:777"]\n'


@pytest.mark.proves("T9")
def test_a_setting_that_does_not_come_into_force_is_found_at_the_checkpoint(place: Place) -> None:
    grown.index(place.engine, place.workspace)
    place.rollout.apply(1)
    place.decide()
    with pytest.raises(RolloutError, match=r"bootstrap\.enabled is not in force; it comes from environment"):
        place.rollout_with(FOREWORD_BOOTSTRAP_ENABLED="false").apply(2)
    assert place.rollout.standing().cut_off
    assert list(place.rollout.apply(2).done) == [2], "mended, it goes on"


@pytest.mark.proves("T9")
def test_a_second_apply_changes_nothing(place: Place) -> None:
    rollout = place.all_the_way()
    before = place.snapshot()
    record = (rollout.kept.folder / "installed.json").read_bytes()
    assert list(place.rollout.apply().done) == []
    assert place.snapshot() == before
    assert (rollout.kept.folder / "installed.json").read_bytes() == record


@pytest.mark.proves("T9")
def test_a_setting_that_was_taken_back_by_hand_is_told(place: Place) -> None:
    place.all_the_way()
    place.settings.write_text(place.settings.read_text().replace("enabled = true", "enabled = false"))
    assert any("bootstrap.enabled" in one for one in place.rollout.standing().broken)


@pytest.mark.proves("T9")
def test_a_phase_does_not_start_while_an_earlier_one_no_longer_holds(place: Place) -> None:
    grown.index(place.engine, place.workspace)
    place.rollout.apply(1)
    place.decide()
    place.rollout.apply(2)
    place.settings.write_text(place.settings.read_text().replace("enabled = true", "enabled = false"))
    progress = place.rollout.apply()
    assert progress.stopped_at == 3
    assert "bootstrap.enabled is not in force" in progress.missing[0].found


@pytest.mark.proves("T9", "T11")
def test_a_compact_file_by_hand_is_kept_when_it_holds_every_fact_and_else_stops_the_last_phase(place: Place) -> None:
    source = (place.workspace / "TOOLS.md").read_text()
    own = "".join(f"{line}\n" for line in source.splitlines() if line.startswith(("#", "- ")))
    (place.workspace / "TOOLS_COMPACT.md").write_text(own.replace("port 2207", "port"))
    grown.index(place.engine, place.workspace)
    place.rollout.apply(1)
    place.decide()
    progress = place.rollout.apply()
    assert (progress.stopped_at, progress.missing[0].name) == (LAST, "tools")
    (place.workspace / "TOOLS_COMPACT.md").write_text(own)
    assert place.rollout.apply().missing == []
    assert (place.workspace / "TOOLS_COMPACT.md").read_text() == own
    assert _states(place)["tools"] is State.PASS


def test_what_is_kept_is_the_user_s_alone(place: Place) -> None:
    umask = os.umask(0o022)
    rollout = place.all_the_way()
    os.umask(umask)
    for one in rollout.kept.folder.iterdir():
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    assert stat.S_IMODE(rollout.kept.folder.stat().st_mode) == 0o700
    json.loads((rollout.kept.folder / "installed.json").read_text())


# validate


def _states(place: Place) -> dict[str, State]:
    return {one.name: one.state for one in validate(place.rollout, place.upkeep)}


@pytest.mark.proves("T11")
def test_at_the_end_of_a_rollout_every_criterion_passes_with_evidence(place: Place) -> None:
    place.all_the_way()
    before = place.snapshot()
    criteria = validate(place.rollout, place.upkeep)
    assert [(one.name, one.state, one.evidence) for one in criteria if one.state is not State.PASS] == []
    assert len(criteria) == 9
    assert all(one.evidence for one in criteria)
    assert place.snapshot() == before


@pytest.mark.proves("T11")
def test_before_a_rollout_nothing_passes_and_what_cannot_be_seen_is_blocked(place: Place) -> None:
    found = _states(place)
    assert set(found.values()) == {State.FAIL, State.BLOCKED}
    assert {name for name, state in found.items() if state is State.BLOCKED} == {"retrieval", "behaviour", "rollback"}


@pytest.mark.proves("T11")
@pytest.mark.parametrize(
    ("criterion", "spoil"),
    [
        ("topic", lambda one: _set(one, 'forum_topic = ["SOUL.md", "TOOLS_COMPACT.md", "AGENTS.md"]')),
        ("topic", lambda one: (one.workspace / "SOUL.md").write_text("calm " * 600)),
        ("main", lambda one: (one.workspace / "USER.md").write_text("likes tea and " * 200)),
        ("main", lambda one: _set(one, 'private_dm = ["SOUL.md", "USER.md", "TOOLS_COMPACT.md", "IDENTITY.md"]')),
        ("subagent", lambda one: _set(one, 'subagent = ["SOUL.md", "AGENTS.md"]')),
        ("kinds", lambda one: (one.workspace / "HEARTBEAT.md").unlink()),
        ("tools", lambda one: (one.workspace / "TOOLS_COMPACT.md").write_text("store box: ssh port 2207\n")),
        ("tools", lambda one: _append(one.workspace / "TOOLS.md", "\n- spare machine: ssh port 2299\n")),
        ("wisdom", lambda one: (one.workspace / "WISDOM.md").write_text("Be wise.\n")),
        ("wisdom", lambda one: _append(one.workspace / "SOUL.md", "- Always restart port 8431 first.\n")),
        ("rollback", lambda one: one.rollout.kept.copies()[one.workspace / "SOUL.md"].write_text("else")),
    ],
)
def test_what_is_spoilt_fails_its_criterion_and_says_what_mends_it(
    place: Place, criterion: str, spoil: Callable[[Place], object]
) -> None:
    place.all_the_way()
    spoil(place)
    found = next(one for one in validate(place.rollout, place.upkeep) if one.name == criterion)
    assert found.state is State.FAIL, found.evidence
    assert found.next


@pytest.mark.proves("T11")
def test_an_answer_that_is_no_longer_found_fails_the_retrieval(place: Place) -> None:
    place.all_the_way()
    tools = [one for one in place.engine.search("port", limit=100) if one.memory.files[0].endswith("TOOLS.md")]
    place.engine.forget([one.memory.id for one in tools])
    found = _states(place)
    assert State.FAIL in (found["retrieval"], found["behaviour"])


def _set(place: Place, line: str) -> None:
    place.settings.write_text(place.settings.read_text().replace("enabled = true", f"enabled = true\n{line}"))


def _append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


@pytest.mark.proves("T11", "B5")
def test_a_secret_in_the_notes_becomes_no_question_and_no_answer(tmp_path: Path) -> None:
    key = "sk-proj-" + "a1B2c3D4e5F6" * 4
    lines = [f"- zeppelin quokka marzipan gondola key: {key}", "- walrus xylophone kumquat dodo password: tulip-4471"]
    (tmp_path / "TOOLS.md").write_text("\n".join([*lines, "- the narwhal bathtub samovar listens on port 4242"]))
    made = [(one.question, one.answer) for one in probes.retrieval(probes.notes(tmp_path))]
    assert "4242" in [answer for _, answer in made]
    assert key not in str(made)
    assert "tulip-4471" not in str(made)
