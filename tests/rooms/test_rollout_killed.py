"""A rollout that is killed at any of its writes: nothing is half written, and both ways lead out of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from foreword import Foreword
from foreword.providers import StaticEmbedder
from foreword.rollout import LAST
from foreword.settings import Settings
from tests import killed
from tests import workspace as grown
from tests.rooms.test_rollout import Place

NOON = 1_772_625_600.0
START = "start"


def _clock() -> float:
    return NOON


class Scene:
    """One folder in which a rollout happens, copied from another as it was there. Nothing is opened in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def copy(self, name: str) -> Scene:
        shutil.rmtree(self.folder.with_name(name), ignore_errors=True)
        shutil.copytree(self.folder, self.folder.with_name(name), symlinks=True)
        return Scene(self.folder.with_name(name))

    def does(self, work: Callable[[Place], object]) -> Callable[[], None]:
        def run() -> None:
            with Foreword.open(self.folder / "home", settings=Settings(), clock=_clock) as engine:
                work(Place(self.folder, engine, _clock, made=True))

        return run

    def files(self) -> dict[str, tuple[bytes, int]]:
        """What is the user's: with every hidden file that somebody may have left there."""
        return Place(self.folder, None, _clock, made=True).snapshot()


def _grown(folder: Path) -> None:
    folder.mkdir()
    with Foreword.open(folder / "home", settings=Settings(), clock=_clock) as engine:
        place = Place(folder, engine, _clock)
        grown.index(engine, place.workspace)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("killed") / START
    killed.done(lambda: _grown(folder))
    StaticEmbedder().embed(["the table is read once, here, and not in every child"])
    return Scene(folder)


def _apply(phase: int) -> Callable[[Place], object]:
    return lambda place: place.rollout.apply(phase)


@pytest.fixture(scope="module")
def ready(start: Scene) -> dict[int, Scene]:
    """As it is before each phase, and after the last: the drafts are decided on before the second."""
    scenes = {0: start}
    for phase in range(LAST + 1):
        scenes[phase + 1] = scenes[phase].copy(f"after-{phase}")
        killed.done(scenes[phase + 1].does(_apply(phase)))
        if phase == 1:
            killed.done(scenes[phase + 1].does(lambda place: place.decide()))
    return scenes


@pytest.mark.proves("T9")
@pytest.mark.parametrize("phase", range(LAST + 1))
def test_a_phase_that_is_killed_at_any_write_can_be_finished_and_can_be_taken_back(
    start: Scene, ready: dict[int, Scene], phase: int
) -> None:
    before = ready[phase].files()
    whole = ready[phase].copy("whole")
    places = killed.writes(whole.does(_apply(phase)), whole.folder)
    after = whole.files()
    assert len(places) >= 8, places
    for at, place in enumerate(places):
        cut = ready[phase].copy("cut")
        killed.killed(cut.does(_apply(phase)), cut.folder, at)
        for name, content in cut.files().items():
            if not name.endswith(".foreword-new"):
                assert content in (before.get(name), after.get(name)), f"{name} is half written at {at}: {place}"
        back = cut.copy("back")
        killed.done(back.does(lambda one: one.rollout.rollback()))
        assert back.files() == start.files(), f"not taken back at {at}: {place}"
        killed.done(cut.does(_apply(phase)))
        assert cut.files() == after, f"not finished at {at}: {place}"


@pytest.mark.proves("T9")
def test_a_rollback_that_is_killed_at_any_write_is_finished_by_the_next(start: Scene, ready: dict[int, Scene]) -> None:
    everything = ready[LAST + 1]
    whole = everything.copy("whole")
    places = killed.writes(whole.does(lambda one: one.rollout.rollback()), whole.folder)
    original = start.files()
    assert whole.files() == original
    present = everything.files()
    assert len(places) >= 12, places
    for at, place in enumerate(places):
        cut = everything.copy("cut")
        killed.killed(cut.does(lambda one: one.rollout.rollback()), cut.folder, at)
        for name, content in cut.files().items():
            if not name.endswith(".foreword-new"):
                assert content in (present.get(name), original.get(name)), f"{name} is half written at {at}: {place}"
        killed.done(cut.does(lambda one: one.rollout.rollback()))
        assert cut.files() == original, f"not put back at {at}: {place}"
        left = [one.name for one in (cut.folder / "home" / "rollout").rglob("*") if not one.name.startswith("since-")]
        assert [one for one in left if one.startswith(("before-", "."))] == [], f"copies stay at {at}: {place}"
