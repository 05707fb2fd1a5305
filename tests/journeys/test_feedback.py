"""What a person says of turns, kept with their receipts, and what is learnt from it on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from foreword import Ask, Event, Foreword, GatePolicy
from foreword.errors import BadInput, UnknownId

MAIN = "agent:main:main"
PORT = "The staging database listens on port 5433, production on 5432."
ASK = "Which port does the staging database listen on?"


@pytest.fixture
def told(foreword: Foreword) -> Foreword:
    foreword.record(Event(PORT, session=MAIN))
    foreword.record(Event("Maya's cat is called Biscuit and sleeps on the piano.", session=MAIN))
    return foreword


@pytest.mark.proves("B6")
def test_feedback_is_shown_by_why_and_counted_by_status(told: Foreword) -> None:
    spoken = told.brief(Ask(ASK, session="agent:main:b")).receipt
    silent = told.brief(Ask("What is the name of Maya's dog?", session="agent:main:b")).receipt
    assert told.receipt(spoken)["feedback"] == ""
    assert "feedback" not in told.why(spoken)
    assert told.feedback(spoken, "good")["feedback"] == "good"
    told.feedback(silent, "missed")
    assert "feedback  good: what was given helped" in told.why(spoken)
    assert "feedback  missed" in told.why(silent)
    assert told.status()["feedback"] == {"good": 1, "missed": 1}


def test_feedback_given_again_replaces_and_clear_takes_it_back(told: Foreword) -> None:
    receipt = told.brief(Ask(ASK, session="agent:main:b")).receipt
    told.feedback(receipt, "good")
    told.feedback(receipt, "noise")
    assert told.receipt(receipt)["feedback"] == "noise"
    told.feedback(receipt, "missed")
    assert told.receipt(receipt)["feedback"] == "missed", "something else was missing"
    assert told.feedback(receipt, "clear")["feedback"] == ""
    assert told.status()["feedback"] == {}
    told.feedback(receipt, "clear")


@pytest.mark.parametrize("verdict", ["good", "noise"])
def test_a_silent_turn_was_neither_good_nor_noise(told: Foreword, verdict: str) -> None:
    for text in ("What is the name of Maya's dog?", "hello"):
        silent = told.brief(Ask(text, session="agent:main:b")).receipt
        with pytest.raises(BadInput, match=rf"Nothing was given in {silent}.*{verdict}.*Use missed"):
            told.feedback(silent, verdict)
        assert told.receipt(silent)["feedback"] == ""
        told.feedback(silent, "missed")


def test_feedback_names_a_turn_that_exists_and_a_word_that_means_something(told: Foreword) -> None:
    receipt = told.brief(Ask(ASK, session="agent:main:b")).receipt
    with pytest.raises(UnknownId, match="no receipt r99"):
        told.feedback("r99", "good")
    with pytest.raises(BadInput, match="'' is not a receipt id"):
        told.feedback("", "good")
    with pytest.raises(BadInput, match=r"'great' is no feedback.*good, noise, missed, or clear"):
        told.feedback(receipt, "great")


@pytest.mark.proves("B5")
def test_forgetting_a_memory_takes_the_feedback_on_it_along(told: Foreword) -> None:
    brief = told.brief(Ask(ASK, session="agent:main:b"))
    told.feedback(brief.receipt, "good")
    told.forget(brief.memories)
    assert told.status()["feedback"] == {}
    with pytest.raises(UnknownId):
        told.feedback(brief.receipt, "noise")


FACTS = (
    "My sister Anna has lived in Lisbon since spring.",
    "Our logo uses the colour teal.",
    "The old printer only works with black ink.",
    "The board meets on the fourteenth of March.",
    "The spare key hangs behind the boiler.",
    "The choir rehearses in the chapel on Tuesdays.",
)
ASKS = (
    "Has my sister Anna lived in Lisbon since spring?",
    "Is the colour of our logo teal?",
    "Does the old printer work with black ink only?",
    "Does the board meet on the fourteenth of March?",
    "Does the spare key hang behind the boiler?",
    "Does the choir rehearse in the chapel on Tuesdays?",
)


@pytest.mark.proves("B6")
def test_tuning_lets_in_what_was_missed_and_replay_tells_the_same(open_home: Callable[..., Foreword]) -> None:
    strict = open_home(gate__confident=1.0, gate__floor=1.0)
    for fact in FACTS:
        strict.record(Event(fact, session=MAIN))
    silent = [strict.brief(Ask(ask, session=f"agent:main:{n}")).receipt for n, ask in enumerate(ASKS)]
    greeting = strict.brief(Ask("hello", session="agent:main:z")).receipt
    for receipt in (*silent[:5], greeting):
        strict.feedback(receipt, "missed")
    before = (strict.status(), strict.settings)
    tuned = strict.tune()
    proposal = tuned.proposal
    assert (tuned.turns, proposal.unjudged, tuned.older) == (7, 1, 0)
    assert proposal.out_of_reach == [greeting], "it was silent before anything was looked for"
    assert proposal.total.proposed > proposal.total.present == 0
    assert proposal.proposed.confident < 1
    other = replace(strict.settings, gate=proposal.proposed)
    replayed = [one for one in strict.replay(settings=other) if one.changed]
    assert [(one.receipt, one.after) for one in replayed] == [(one.receipt, one.after) for one in tuned.changed]
    assert (strict.status(), strict.settings) == before, "nothing is changed"
    assert strict.tune(last=3).older == 4


@pytest.mark.proves("B6")
def test_what_was_given_under_a_gate_of_the_past_is_compared_with_the_present_one(
    open_home: Callable[..., Foreword],
) -> None:
    loose = open_home(gate__confident=0.001, gate__floor=0.001)
    for fact in FACTS:
        loose.record(Event(fact, session=MAIN))
    for number in range(5):
        brief = loose.brief(
            Ask(f"Why are there {number} colours behind the moon on Tuesdays?", session=f"agent:main:{number}")
        )
        loose.feedback(brief.receipt, "noise")
    raised = open_home().tune()
    assert raised.proposal.proposed == GatePolicy()
    assert raised.proposal.total.present == raised.proposal.total.turns == 5
    assert raised.changed == []
