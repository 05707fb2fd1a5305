"""What every test shares: a home of its own, and no way to skip quietly where everything is required."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from foreword import Foreword, Settings
from foreword.settings import from_values

# No deadlines: a busy machine is not a failure. The same examples every time where a run decides about others' work.
hypothesis.settings.register_profile("house", deadline=None, derandomize=os.environ.get("CI") == "true")
hypothesis.settings.load_profile("house")

REQUIRE_ALL = os.environ.get("FOREWORD_REQUIRE_ALL") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Under FOREWORD_REQUIRE_ALL=1 a skip is a failure: a missing component must not pass for a green run."""
    report = yield
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but FOREWORD_REQUIRE_ALL=1 requires every component: {report.longrepr[2]}"
    return report


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the real user's files."""
    for name in [name for name in os.environ if name.startswith("FOREWORD_") and name != "FOREWORD_REQUIRE_ALL"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user" / ".config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user" / ".local" / "share"))


class Clock:
    """A clock that stands still until it is told to move. It starts on Wednesday, 4 March 2026, at noon UTC."""

    def __init__(self) -> None:
        self.now = 1_772_625_600.0

    def __call__(self) -> float:
        return self.now

    def forward(self, *, days: float = 0, seconds: float = 0) -> None:
        self.now += days * 86_400 + seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_home(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Foreword]]:
    """Opens homes below the test's folder, with default settings and whatever a test changes, and closes them."""
    opened: list[Foreword] = []

    def open_one(name: str = "home", **values: Any) -> Foreword:
        dotted = {key.replace("__", "."): value for key, value in values.items()}
        settings = from_values(dotted) if dotted else Settings()
        opened.append(Foreword.open(tmp_path / name, settings=settings, clock=clock))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def foreword(open_home: Callable[..., Foreword]) -> Foreword:
    return open_home()
