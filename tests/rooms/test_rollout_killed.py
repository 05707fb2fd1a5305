"""A rollout that is killed at any of its writes: nothing is half written, and both ways lead out of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from foreword import Foreword
from foreword.providers import StaticEmbedder
from foreword.rollout import LAST, Rollout
from foreword.settings import Settings
from tests import killed
from tests import workspace as grown
from tests.rooms.test_rollout import Place

NOON = 1_772_625_600.0


def _clock() -> float:
    return NOON


Verb = Callable[[Rollout], object]


class Stage:
    """One folder in which a rollout happens, always the same, because a record names its files. What it holds is put
    away under a name and brought back. Nothing of it is opened in this process: children do, and die."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "stage"

    def put_away(self, name: str) -> None:
        shutil.rmtree(self.folder.with_name(name), ignore_errors=True)
        shutil.copytree(self.folder, self.folder.with_name(name))

    def bring(self, name: str) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.folder.with_name(name), self.folder)

    def grow(self) -> None:
        self.folder.mkdir()

        def work(_: Callable[[], None]) -> None:
            with self._opened() as engine:
                place = Place(self.folder, engine, _clock)
                grown.index(engine, place.workspace)

        killed.done(work)

    def decide(self) -> None:
        def work(_: Callable[[], None]) -> None:
            with self._opened() as engine:
                Place(self.folder, engine, _clock, made=True).decide()

        killed.done(work)

    def does(self, verb: Verb) -> killed.Work:
        def work(watch: Callable[[], None]) -> None:
            with self._opened() as engine:
                place = Place(self.folder, engine, _clock, made=True)
                watch()
                verb(place.rollout)

        return work

    def _opened(self) -> Foreword:
        return Foreword.open(self.folder / "home", settings=Settings(), clock=_clock)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """What is the user's, with every hidden file that somebody may have left there."""
        return Place(self.folder, None, _clock, made=True).snapshot()


def _apply(phase: int) -> Verb:
    return lambda rollout: rollout.apply(phase)


def _rollback(rollout: Rollout) -> object:
    return rollout.rollback()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Put away are `before-N` for each phase, and `before-5` for what comes after the last. The drafts are decided on
    before the second."""
    stage = Stage(tmp_path_factory.mktemp("killed"))
    # Read once, here, and not in every child.
    StaticEmbedder().embed(["the table of word vectors"])
    stage.grow()
    for phase in range(LAST + 1):
        stage.put_away(f"before-{phase}")
        killed.done(stage.does(_apply(phase)))
        if phase == 1:
            stage.decide()
    stage.put_away(f"before-{LAST + 1}")
    return stage


def _whole(stage: Stage, at: str, *states: dict[str, tuple[bytes, int]]) -> None:
    """Nothing is there but what one of these states has, file by file; what a killed process made beside is not it."""
    for name, content in stage.files().items():
        if not name.endswith(".foreword-new"):
            assert content in [state.get(name) for state in states], f"{name} is half written at {at}"


@pytest.mark.proves("T9")
@pytest.mark.parametrize("phase", range(LAST + 1))
def test_a_phase_that_is_killed_at_any_write_can_be_finished_and_can_be_taken_back(stage: Stage, phase: int) -> None:
    stage.bring("before-0")
    original = stage.files()
    stage.bring(f"before-{phase}")
    before = stage.files()
    places = killed.writes(stage.does(_apply(phase)), stage.folder)
    after = stage.files()
    assert len(places) >= 8, places
    for number, place in enumerate(places):
        at = f"{number}: {place}"
        stage.bring(f"before-{phase}")
        killed.killed(stage.does(_apply(phase)), stage.folder, number)
        _whole(stage, at, before, after)
        stage.put_away("cut")
        killed.done(stage.does(_rollback))
        assert stage.files() == original, f"not taken back at {at}"
        stage.bring("cut")
        killed.done(stage.does(_apply(phase)))
        assert stage.files() == after, f"not finished at {at}"


@pytest.mark.proves("T9")
def test_a_rollback_that_is_killed_at_any_write_is_finished_by_the_next(stage: Stage) -> None:
    stage.bring("before-0")
    original = stage.files()
    stage.bring(f"before-{LAST + 1}")
    present = stage.files()
    places = killed.writes(stage.does(_rollback), stage.folder)
    assert stage.files() == original
    assert len(places) >= 12, places
    for number, place in enumerate(places):
        at = f"{number}: {place}"
        stage.bring(f"before-{LAST + 1}")
        killed.killed(stage.does(_rollback), stage.folder, number)
        _whole(stage, at, present, original)
        killed.done(stage.does(_rollback))
        assert stage.files() == original, f"not put back at {at}"
        left = {one.name for one in (stage.folder / "home" / "rollout").rglob("*") if one.is_file()}
        assert {one for one in left if not one.startswith("since-")} == set(), f"something stays at {at}"
