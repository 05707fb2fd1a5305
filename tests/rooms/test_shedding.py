"""Which files of a set a conversation has used up, and when they are left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword import Event, Foreword
from foreword.bootstrap import Said, used
from foreword.model import Origin
from tests.conftest import Clock

SESSION = "agent:main:main"
LOADED = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"]
HOUR = 3600.0
FILES = {
    "SOUL.md": "Calm and exact. Answers from port 7777.",
    "USER.md": "Prefers short answers and metric units.",
    "TOOLS_COMPACT.md": "- nas: ssh port 2222, nas.example\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def _say(engine: Foreword, asked: str, answered: str) -> None:
    engine.record(Event(asked, session=SESSION))
    engine.record(Event(answered, session=SESSION, origin=Origin.AGENT))


def _sent(engine: Foreword, workspace: Path) -> set[str]:
    found = engine.bootstrap(SESSION, workspace, LOADED)
    return {*found.keep, *(one.name for one in found.add)} & set(FILES)


@pytest.mark.proves("T13", "T1")
def test_a_file_that_the_conversation_has_used_is_not_sent_again_until_it_is_compacted(
    open_home: Callable[..., Foreword], workspace: Path, clock: Clock
) -> None:
    engine = open_home(bootstrap__enabled=True, bootstrap__shed=True)
    assert _sent(engine, workspace) == {*FILES}
    _say(engine, "How do I reach the storage box?", "By ssh, it is port 2222.")
    clock.forward(seconds=2 * HOUR)
    found = engine.bootstrap(SESSION, workspace, LOADED)
    assert list(found.shed) == ["TOOLS_COMPACT.md"]
    assert "2222" in found.reason
    assert _sent(engine, workspace) == {"SOUL.md", "USER.md"}
    engine.compact(SESSION)
    assert _sent(engine, workspace) == {*FILES}, "the model no longer has what it said"


@pytest.mark.proves("T13", "B3")
def test_while_the_prompt_may_be_cached_nothing_is_left_out(
    open_home: Callable[..., Foreword], workspace: Path, clock: Clock
) -> None:
    engine = open_home(bootstrap__enabled=True, bootstrap__shed=True)
    for minute in range(30):
        _say(engine, f"What else is there, {minute}?", "Port 2222 of nas.example, as I said.")
        assert _sent(engine, workspace) == {*FILES}
        clock.forward(seconds=60)
    clock.forward(seconds=HOUR)
    after = [_sent(engine, workspace)]
    for minute in range(5):
        _say(engine, f"And now, {minute}?", "Nothing else.")
        clock.forward(seconds=60)
        after.append(_sent(engine, workspace))
    assert after == [{"SOUL.md", "USER.md"}] * 6, "decided once, at the pause, and the same through what follows it"


@pytest.mark.proves("T13")
def test_what_the_user_said_first_was_not_taken_from_the_file(
    open_home: Callable[..., Foreword], workspace: Path, clock: Clock
) -> None:
    engine = open_home(bootstrap__enabled=True, bootstrap__shed=True, bootstrap__shed_pause_minutes=0)
    _say(engine, "Is anything on port 2222?", "Port 2222 is taken, yes.")
    assert _sent(engine, workspace) == {*FILES}
    _say(engine, "By whom?", "By nas.example.")
    assert _sent(engine, workspace) == {"SOUL.md", "USER.md"}


@pytest.mark.proves("T13")
def test_another_conversation_still_gets_the_file(
    open_home: Callable[..., Foreword], workspace: Path, clock: Clock
) -> None:
    engine = open_home(bootstrap__enabled=True, bootstrap__shed=True, bootstrap__shed_pause_minutes=0)
    _say(engine, "How do I reach the storage box?", "By ssh, it is port 2222.")
    found = engine.bootstrap("agent:main:telegram:group:-1:topic:7", workspace, LOADED)
    assert [one.name for one in found.add] == ["TOOLS_COMPACT.md"]


@pytest.mark.proves("T13")
def test_unless_it_is_switched_on_everything_is_sent_every_time(
    open_home: Callable[..., Foreword], workspace: Path, clock: Clock
) -> None:
    engine = open_home(bootstrap__enabled=True)
    _say(engine, "How do I reach the storage box?", "By ssh, it is port 2222.")
    clock.forward(days=3)
    assert _sent(engine, workspace) == {*FILES}


@pytest.mark.proves("T13")
def test_what_a_file_says_of_itself_in_a_comment_is_no_fact() -> None:
    files = {"TOOLS_COMPACT.md": "<!-- made 2026-03-04 --> ssh <!-- never ended 2222"}
    said = [Said(0.0, "Today is 2026-03-04.", True)]
    assert used(files, said, now=1.0, pause_s=0.0) == {}
    said.append(Said(0.5, "By 2222.", True))
    assert used(files, said, now=1.0, pause_s=0.0) == {"TOOLS_COMPACT.md": "2222"}


_TEXTS = st.sampled_from(["port 2222", "nas.example", "port 7777", "nothing at all", "metric units"])
_CONVERSATIONS = st.lists(st.tuples(st.floats(0, 2 * HOUR), _TEXTS, st.booleans()), max_size=12)


@pytest.mark.proves("T13", "T1")
@given(_CONVERSATIONS, st.floats(0, 2 * HOUR))
def test_who_the_agent_is_is_never_left_out_and_nothing_changes_without_a_pause(
    turns: list[tuple[float, str, bool]], rest: float
) -> None:
    said, at = [], 0.0
    for gap, text, by_agent in turns:
        at += gap
        said.append(Said(at, text, by_agent))
    now = used(FILES, said, now=at + rest, pause_s=HOUR)
    assert "SOUL.md" not in now
    assert "USER.md" not in now, "what holds no fact cannot be used up"
    if rest < HOUR:
        more = [*said, Said(at + rest, "nas.example at port 2222", True)]
        assert used(FILES, more, now=at + rest, pause_s=HOUR) == now


@pytest.mark.proves("T9")
def test_a_file_on_demand_is_left_out_of_the_host_s_own_choice_and_of_every_set(
    open_home: Callable[..., Foreword], workspace: Path
) -> None:
    engine = open_home(bootstrap__on_demand=["MEMORY.md"])
    found = engine.bootstrap(SESSION, workspace, LOADED)
    assert (found.enabled, list(found.keep), list(found.add)) == (True, LOADED[:-1], [])
    spawned = engine.bootstrap("agent:main:subagent:x", workspace, LOADED)
    assert (spawned.enabled, list(spawned.keep)) == (False, LOADED), "the host gives it AGENTS.md alone, as before"
    chosen = open_home("two", bootstrap__enabled=True, bootstrap__on_demand=["USER.md", "SOUL.md"])
    assert [*chosen.bootstrap(SESSION, workspace, LOADED).keep] == ["SOUL.md"]
