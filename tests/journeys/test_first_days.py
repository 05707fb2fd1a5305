"""A new user's first days: a handful of memories, questions in everyday words, and much that deserves silence."""

from __future__ import annotations

from typing import Any

import pytest

from foreword import Ask, Event, Foreword

# Session, how many days ago, and what was said.
FIRST_DAYS = (
    ("move", 9, "The removal van comes on the 21st at eight in the morning."),
    ("move", 9, "My piano has to stay upright, the tuner insisted."),
    ("move", 9, "The new flat is on Linden Street, number 48."),
    ("work", 6, "Nightly exports land in the folder /srv/exports and are deleted after ten days."),
    ("work", 6, "Our mail server rejects attachments above 25 MB."),
    ("work", 6, "Olga reviews everything that touches the billing code."),
    ("work", 6, "We pinned numpy below 2 because the plotting library breaks."),
    ("home", 3, "Jonas is vegetarian, and his sister cannot eat walnuts."),
    ("home", 3, "The gym membership costs 39 euros and renews in October."),
    ("home", 3, "I keep the spare key with Mrs. Adeyemi downstairs."),
    ("home", 1, "Our dog Biscuit gets her vaccination every spring."),
    ("home", 1, "I take the 7:12 train to the office."),
)


@pytest.fixture
def new_user(foreword: Foreword, clock: Any) -> Foreword:
    for session, days, text in FIRST_DAYS:
        foreword.record(Event(text, session=f"agent:main:{session}", at=clock.now - days * 86_400))
    return foreword


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        ("When does the removal van come?", "21st"),
        ("What street is the new flat on?", "Linden"),
        ("How long are the nightly exports kept?", "ten days"),
        ("How big may an attachment be?", "25 MB"),
        ("Who looks at changes to the billing code?", "Olga"),
        ("Why is numpy pinned?", "plotting"),
        ("Who has our spare key?", "Adeyemi"),
        ("What does the gym cost me?", "39 euros"),
        ("Which train do I take?", "7:12"),
        ("When does Biscuit get her vaccination?", "spring"),
    ],
)
def test_the_first_questions_are_answered(new_user: Foreword, ask: str, answer: str) -> None:
    brief = new_user.brief(Ask(ask, session="agent:main:ask"))
    assert answer in brief.text, brief.reason


@pytest.mark.parametrize(
    "ask",
    [
        "Good evening, nice to see you again",
        "Thanks a lot, that was quick!",
        "What is the longest river in Europe?",
        "How many strings does a guitar have?",
        "Set an alarm for half past six",
        "Turn up the volume in the kitchen",
        "Write a limerick about a lazy frog",
        "How do I sort a dictionary by value in Python?",
        "What does a locomotive weigh?",
        "Who invented the telephone?",
    ],
)
def test_what_deserves_no_memory_is_met_with_silence(new_user: Foreword, ask: str) -> None:
    brief = new_user.brief(Ask(ask, session="agent:main:ask"))
    assert brief.text == ""
    assert brief.reason


def test_an_ask_about_tonight_is_helped_by_what_was_said_days_ago(new_user: Foreword) -> None:
    brief = new_user.brief(
        Ask("Jonas and his sister eat with us tonight, is that vegetarian?", session="agent:main:ask")
    )
    assert "walnuts" in brief.text, brief.reason
