"""What the reader is taught with: questions made of what somebody said."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.questions import NAMES, about, about_two, of_somebody


def _asked(sentence: str) -> set[str | None]:
    return {about(sentence, random.Random(seed)) for seed in range(200)}


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("By the way, I just bought a blue kettle at the market.", "Where did I buy a blue kettle?"),
        ("By the way, I just bought a blue kettle at the market.", "What did I buy at the market?"),
        ("I spent $40 on stamps, which was silly.", "How much did I spend on stamps?"),
        ("I have three cats.", "How many cats do I have?"),
        ("I've been learning Czech for two months.", "How long have I been learning Czech?"),
        ("I studied the map with Ines.", "Who did I study the map with?"),
        ("I moved to Brno in March.", "When did I move to Brno?"),
        ("My old bicycle is in the cellar.", "Where is my old bicycle?"),
    ],
)
def test_a_statement_is_asked_for_each_of_its_parts(sentence: str, question: str) -> None:
    assert question in _asked(sentence)


@pytest.mark.parametrize("sentence", ["", "Thanks!", "The parser fails on empty lines.", "I was wondering about it."])
def test_nothing_is_asked_of_what_tells_nothing_of_oneself(sentence: str) -> None:
    assert _asked(sentence) == {None}


def test_two_statements_are_asked_about_together() -> None:
    asked = {about_two("I sold the car on Monday.", "I planted two trees.", random.Random(seed)) for seed in range(100)}
    assert "How many days passed between the day I sold the car and the day I planted two trees?" in asked
    assert about_two("I sold the car.", "It rained.", random.Random(0)) is None


def test_the_same_is_asked_about_somebody_by_name() -> None:
    assert of_somebody("Where did I buy my kettle?", "Vera") == "Where did Vera buy Vera's kettle?"
    assert of_somebody("How many cats do I have?", "Vera") == "How many cats does Vera have?"
    assert len(set(NAMES)) == len(NAMES)


@given(st.text("I'vemy ,.?!abdehnotg $123", max_size=80), st.integers(0, 9))
def test_whatever_was_said_gives_a_question_or_nothing(sentence: str, seed: int) -> None:
    asked = about(sentence, random.Random(seed))
    assert asked is None or (asked.endswith("?") and asked[0] == asked[0].upper())
