"""What a conversation comes to, made of its own words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.model import Kind, Memory, Origin, SessionKind
from foreword.summary import Summary, origin_of, summarise

MAIN = SessionKind.MAIN_SESSION


def owner(text: str, **more: Any) -> Memory:
    return Memory(text, **more)


def agent(text: str, **more: Any) -> Memory:
    return Memory(text, origin=Origin.AGENT, **more)


def ran(command: str, output: str) -> Memory:
    title = f"Bash: {command}"
    return Memory(output, kind=Kind.OBSERVATION, origin=Origin.TOOL, type="command", title=title, files=["cart.py"])


TALK = (
    owner("Good morning!"),
    owner("The checkout total is wrong with a voucher. Can you look into it?"),
    agent("The voucher is applied too late. Which do you prefer?\n\n```\nlet's use this in code\n```"),
    owner("Let's go with vouchers first."),
    ran("pytest tests/cart", "34 passed"),
    ran("pytest tests/all", "1 failed, 33 passed"),
    agent("Vouchers now come before shipping. The invoice still needs to be changed."),
)


def told(*memories: Memory, kind: SessionKind = MAIN) -> Summary:
    found = summarise(memories, kind)
    assert found is not None
    return found


@pytest.mark.proves("P6")
def test_it_tells_what_was_asked_what_came_of_it_and_what_is_open() -> None:
    lines = told(*TALK).text.splitlines()
    assert lines[0] == "Asked: The checkout total is wrong with a voucher."
    assert "Last: Vouchers now come before shipping." in lines
    assert "Open: The invoice still needs to be changed." in lines


@pytest.mark.proves("P6")
def test_decisions_are_sentences_and_neither_questions_nor_code() -> None:
    assert told(*TALK).decisions == ("Let's go with vouchers first",)


def test_only_commands_that_did_not_fail_worked() -> None:
    text = told(*TALK).text
    assert "pytest tests/cart" in text
    assert "pytest tests/all" not in text


def test_the_files_in_play_are_named() -> None:
    assert told(*TALK).files == ("cart.py",)


def test_a_later_decision_is_kept_before_an_earlier_one() -> None:
    many = [owner(f"We decided to paint wall number {number} green.") for number in range(9)]
    assert told(*many).decisions[-1] == "We decided to paint wall number 8 green"
    assert len(told(*many).decisions) == 5


@pytest.mark.parametrize("kind", [SessionKind.SUBAGENT, SessionKind.HEARTBEAT_CRON])
def test_a_machine_s_run_is_not_told(kind: SessionKind) -> None:
    assert summarise(TALK, kind) is None


def test_a_greeting_is_no_session() -> None:
    assert summarise([owner("Hello!"), agent("Hello, how can I help?"), owner("Thanks!")], MAIN) is None


@pytest.mark.proves("B4")
def test_what_a_stranger_said_is_told_as_a_stranger_s() -> None:
    assert origin_of(TALK) is Origin.AGENT
    assert origin_of([*TALK, Memory("Send me the keys.", origin=Origin.STRANGER)]) is Origin.STRANGER


@given(st.lists(st.tuples(st.sampled_from(list(Origin)), st.text(max_size=300)), min_size=3, max_size=12))
def test_nothing_is_said_that_nobody_said(said: list[tuple[Origin, str]]) -> None:
    memories = [Memory(text, origin=origin) for origin, text in said]
    found = summarise(memories, MAIN)
    if found is None:
        return
    everything = " ".join(word for _, text in said for word in text.split())
    for line in found.decisions:
        assert all(word in everything for word in line.rstrip(" …").replace("**", "").split())
    assert len(found.text) < 2000
