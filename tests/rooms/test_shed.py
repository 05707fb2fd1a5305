"""Whether a turn may speak at all: exclusion, once per session, debounce, retries, and no repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from foreword import Foreword
from foreword.compose import Past, TurnSettings, excluded, held_back, is_retry
from foreword.model import Ask, Event, Kind, Outcome
from foreword.settings import from_values

NOW = 1_700_000_000.0


# The rules


@pytest.mark.proves("L4")
@pytest.mark.parametrize(
    ("agent", "patterns", "out"),
    [
        ("main", (), False),
        ("main", ("main",), True),
        ("main", ("mai",), False),
        ("build-7", ("lint", "build-*"), True),
        ("rebuild-7", ("build-*",), False),
        ("", ("build-*",), False),
    ],
)
def test_an_agent_is_excluded_by_name_or_pattern(agent: str, patterns: tuple[str, ...], out: bool) -> None:
    reason = excluded(agent, frozenset(), TurnSettings(exclude=patterns))
    assert bool(reason) == out
    assert not out or agent in reason


def test_switched_off_is_off_for_everyone() -> None:
    assert excluded("main", frozenset(), TurnSettings(enabled=False)) == "injection is switched off"


@pytest.mark.proves("D9")
@pytest.mark.parametrize(("later", "held"), [(0.0, True), (0.499, True), (0.5, False), (9.0, False), (-5.0, False)])
def test_an_ask_right_after_another_is_held_back(later: float, held: bool) -> None:
    settings = TurnSettings(debounce_ms=500)
    assert bool(held_back(Past(NOW), NOW + later, settings)) == held


def test_the_first_ask_of_a_session_is_never_held_back() -> None:
    assert held_back(Past(), 0.1, TurnSettings(debounce_ms=500, once_per_session=True)) == ""


@pytest.mark.proves("D7")
def test_a_session_that_was_served_once_is_not_served_again() -> None:
    settings = TurnSettings(once_per_session=True)
    assert held_back(Past(NOW, served=True), NOW + 1e6, settings) == "this session has had its one brief"
    assert held_back(Past(NOW, served=False), NOW + 1e6, settings) == "", "an ask that found nothing used nothing up"
    assert held_back(Past(NOW, served=True), NOW + 1e6, TurnSettings()) == ""


def test_a_retry_is_the_same_ask_soon_after() -> None:
    settings = TurnSettings(repeat_ms=5000)
    assert is_retry(Past(NOW, same_ask=True), NOW + 4.9, settings)
    assert not is_retry(Past(NOW, same_ask=True), NOW + 5.0, settings)
    assert not is_retry(Past(NOW, same_ask=True), NOW - 1, settings), "a clock that was set back"
    assert not is_retry(Past(NOW, same_ask=False), NOW + 1, settings)
    assert not is_retry(Past(), NOW, settings)


# The rules at work, through the engine and a store


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Foreword]]:
    """Opens the same home with these settings; the gate lets everything found through, and is not what is tested."""
    engines: list[Foreword] = []

    def open_with(**values: Any) -> Foreword:
        given = {
            "gate.confident": 0.0,
            "gate.floor": 0.0,
            "gate.companion": 0.0,
            **{key.replace("__", "."): one for key, one in values.items()},
        }
        engines.append(Foreword.open(tmp_path / "home", settings=from_values(given), clock=lambda: NOW))
        return engines[-1]

    yield open_with
    for engine in engines:
        engine.close()


FACTS = [
    "The beehives stand behind the orchard wall.",
    "Honey from the beehives is sold on Saturdays.",
    "The beehives were painted yellow in spring.",
    "Our dentist moved to the harbour street.",
]
SESSION = "agent:main:main"


def remember(engine: Foreword) -> None:
    for fact in FACTS:
        assert engine.record(Event(fact, session="agent:main:old", kind=Kind.NOTE)).outcome is Outcome.STORED


def ask(
    engine: Foreword, text: str = "Where do the beehives stand?", *, later: float = 0.0, session: str = SESSION
) -> Any:
    return engine.brief(Ask(text, session=session, at=NOW + later))


@pytest.mark.proves("D7")
def test_once_per_session_means_once_for_whoever_asks_next(opened: Callable[..., Foreword]) -> None:
    engine = opened(turn__once_per_session=True)
    remember(engine)
    assert ask(engine)
    assert not ask(engine, "Who sells honey on Saturdays?", later=100)
    assert not ask(opened(turn__once_per_session=True), "Who sells honey on Saturdays?", later=200)
    assert ask(engine, later=300, session="agent:main:other"), "another session has its own"


@pytest.mark.proves("D9")
def test_the_debounce_holds_across_processes(opened: Callable[..., Foreword]) -> None:
    engine = opened(turn__debounce_ms=500, compose__max_memories=1)
    remember(engine)
    assert ask(engine)
    quick = ask(opened(turn__debounce_ms=500), "Who sells honey on Saturdays?", later=0.3)
    assert not quick
    assert "500 ms" in quick.reason
    assert ask(engine, "Who sells honey on Saturdays?", later=0.9)


def test_a_memory_is_not_repeated_until_the_conversation_is_compacted(opened: Callable[..., Foreword]) -> None:
    engine = opened(compose__max_memories=1)
    remember(engine)
    first, second = ask(engine), ask(engine, later=60)
    assert first.memories
    assert second.memories
    assert set(first.memories).isdisjoint(second.memories)
    engine.compact(SESSION)
    assert ask(engine, later=120).memories == first.memories


def test_a_retry_gets_the_same_words_again(opened: Callable[..., Foreword]) -> None:
    engine = opened()
    remember(engine)
    first = ask(engine)
    again = ask(engine, later=2)
    assert first.text
    assert (again.text, again.memories, again.tokens) == (first.text, first.memories, first.tokens)
    assert engine.status()["turns"] == 1, "one turn, one receipt"


def test_a_retry_after_forgetting_does_not_bring_it_back(opened: Callable[..., Foreword]) -> None:
    engine = opened()
    remember(engine)
    first = ask(engine)
    engine.forget(first.memories)
    assert not set(first.memories) & set(ask(engine, later=2).memories)


@pytest.mark.proves("L4")
def test_capture_and_injection_are_excluded_apart(opened: Callable[..., Foreword]) -> None:
    engine = opened(turn__exclude=("quiet",), guard__exclude_capture=("deaf",))
    for agent in ("quiet", "deaf"):
        session = f"agent:{agent}:main"
        recorded = engine.record(Event("The beehives stand in the meadow.", session=session))
        assert (recorded.outcome is Outcome.STORED) == (agent == "quiet")
        brief = engine.brief(Ask("Where do the beehives stand?", session=session))
        assert ("excluded from injection" in brief.reason) == (agent == "quiet")
        assert ("excluded" in engine.start(session).reason) == (agent == "quiet")
    assert engine.status()["excluded"] == {"capture": ["deaf"], "injection": ["quiet"]}


@pytest.mark.proves("B3")
def test_the_stable_part_is_frozen_for_the_session(opened: Callable[..., Foreword]) -> None:
    engine = opened()
    remember(engine)
    first = engine.start(SESSION).text
    assert "beehives" in first
    engine.record(Event("The beehives were sold.", session="agent:main:old", kind=Kind.NOTE))
    assert engine.start(SESSION).text == opened().start(SESSION).text == first
    engine.compact(SESSION)
    assert "sold" in engine.start(SESSION).text


def test_a_subagent_is_given_a_smaller_part(opened: Callable[..., Foreword]) -> None:
    engine = opened()
    for number in range(30):
        note = f"Note {number} tells where the beehives stand in the meadow beside the old mill."
        engine.record(Event(note, session="agent:main:old", kind=Kind.NOTE))
    whole, helper = engine.start(SESSION), engine.start("agent:main:subagent:7")
    assert helper.text
    assert helper.tokens <= whole.tokens // 2 + 1
    assert helper.text.count("beehives") <= 10


@pytest.mark.proves("S5")
@pytest.mark.parametrize("text", ["", "  \n ", "ok", "thanks!", "HEARTBEAT", "heartbeat_ok", "Read HEARTBEAT.md now"])
def test_an_ask_with_nothing_in_it_is_never_searched_with(opened: Callable[..., Foreword], text: str) -> None:
    engine = opened()
    remember(engine)
    brief = ask(engine, text)
    receipt = engine.receipt(brief.receipt)
    assert not brief
    assert brief.reason
    assert set(receipt["ms"]) == {"understand"}, "neither embedded nor recalled"
    assert receipt["candidates"] == []
