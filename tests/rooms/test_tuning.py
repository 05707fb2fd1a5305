"""Which settings of the gate agree with what a person said, and when it is better to leave them as they are."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.gate import Agreement, GatePolicy, PastTurn, Proposal, judge, propose
from foreword.gate.tuning import NEEDED
from foreword.model import Feedback
from tests.rooms.test_verdict import candidates_of, sure_of

PRESENT = GatePolicy(confident=0.75, floor=0.6, companion=0.5)
GOOD, NOISE, MISSED = Feedback
_SIGNALS = {sure: sure_of(sure) for sure in (0.05, 0.3, 0.47, 0.58, 0.63, 0.68, 0.72, 0.78, 0.83, 0.88, 0.93)}


_NUMBERS = itertools.count(1)


def turn(feedback: Feedback | None, *sure: float, **fields: Any) -> PastTurn:
    """A turn with candidates this sure, that was given what the gate gives at PRESENT."""
    past = PastTurn(f"r{next(_NUMBERS)}", candidates_of(*(_SIGNALS[one] for one in sure)), feedback=feedback)
    return replace(past, **{"given": would_be(past, PRESENT), **fields})


def would_be(past: PastTurn, policy: GatePolicy) -> list[str]:
    return [one.candidate.memory.id for one in judge(past.candidates, policy).chosen][:3]


def proposed(turns: Sequence[PastTurn], *, present: GatePolicy = PRESENT, most: int = 3) -> Proposal:
    return propose(turns, present, most=most)


def test_noise_below_what_was_good_raises_the_bar_between_them() -> None:
    answer = proposed([*[turn(NOISE, 0.78)] * 3, *[turn(GOOD, 0.88)] * 3])
    assert answer.changes == {"confident": 0.8}, "the smallest step that silences the noise"
    assert answer.judged == {GOOD: Agreement(3, 3, 3), NOISE: Agreement(3, 0, 3), MISSED: Agreement()}
    assert answer.total == Agreement(6, 3, 6)


def test_missed_turns_lower_the_bar_and_only_as_far_as_they_need() -> None:
    answer = proposed([*[turn(MISSED, 0.72)] * 3, *[turn(GOOD, 0.88)] * 3])
    assert answer.changes == {"confident": 0.7}
    assert answer.total == Agreement(6, 3, 6)


def test_two_that_support_each_other_below_the_floor_lower_the_floor() -> None:
    answer = proposed([*[turn(MISSED, 0.58, 0.58)] * 3, *[turn(NOISE, 0.78)] * 3, turn(GOOD, 0.83)])
    assert answer.changes == {"confident": 0.8, "floor": 0.55}


def test_a_turn_that_gave_something_may_have_missed_something_else() -> None:
    answer = proposed([*[turn(MISSED, 0.93, 0.58)] * 5])
    assert answer.changes == {"floor": 0.55}
    assert proposed([*[turn(MISSED, 0.93)] * 5]).out_of_reach, "there was nothing else"


@pytest.mark.parametrize("count", range(NEEDED))
def test_with_too_little_evidence_nothing_is_proposed_and_the_rest_is_counted(count: int) -> None:
    answer = proposed([*[turn(NOISE, 0.78)] * count, *[turn(None, 0.78)] * 50])
    assert answer.proposed == PRESENT
    assert answer.missing == NEEDED - count
    assert f"takes {NEEDED} judged turns" in answer.reason
    assert f"there are {count}" in answer.reason


def test_what_no_setting_can_change_is_no_evidence() -> None:
    nothing_found = turn(MISSED)
    said_already = turn(MISSED, 0.93, given=(), kept_out=["m1"])
    far_too_sure = turn(NOISE, 0.93)
    far_too_unsure = turn(MISSED, 0.05)
    hopeless = [nothing_found, said_already, far_too_sure, far_too_unsure]
    answer = proposed([*hopeless, *[turn(NOISE, 0.78)] * 4])
    assert answer.out_of_reach == [one.receipt for one in hopeless]
    assert (answer.proposed, answer.missing) == (PRESENT, 1)
    assert answer.total.turns == 4


def test_settings_that_agree_with_everything_stay() -> None:
    answer = proposed([*[turn(GOOD, 0.88)] * 6])
    assert answer.proposed == PRESENT
    assert "agree with every judged turn" in answer.reason


def test_a_good_turn_is_never_given_up_however_many_were_noise() -> None:
    answer = proposed([*[turn(NOISE, 0.83)] * 20, turn(GOOD, 0.78)])
    assert answer.proposed == PRESENT
    assert "giving up one that was good" in answer.reason
    assert proposed([*[turn(NOISE, 0.83)] * 20, turn(GOOD, 0.88)]).changes == {"confident": 0.85}


def test_one_turn_alone_changes_nothing() -> None:
    assert proposed([turn(NOISE, 0.78), *[turn(GOOD, 0.93)] * 9]).proposed == PRESENT
    assert proposed([*[turn(NOISE, 0.78)] * 2, *[turn(GOOD, 0.93)] * 9]).changes == {"confident": 0.8}


def test_as_much_lost_as_won_changes_nothing() -> None:
    quiet = [turn(NOISE, 0.72, given=["m1"]) for _ in range(3)]
    assert proposed([*quiet, *[turn(MISSED, 0.72)] * 3]).proposed == PRESENT


def test_few_judged_turns_do_not_change_many_that_nobody_judged() -> None:
    noise = [*[turn(NOISE, 0.78)] * 2, *[turn(GOOD, 0.93)] * 8]
    assert proposed([*noise, *[turn(None, 0.78)] * 2]).changes == {"confident": 0.8}
    answer = proposed([*noise, *[turn(None, 0.78)] * 90])
    assert answer.proposed == PRESENT
    assert "too many that nobody judged" in answer.reason
    assert (answer.unjudged, answer.unjudged_changed) == (90, 0)


def test_of_two_ways_the_one_that_changes_fewer_unjudged_turns_is_taken() -> None:
    # Both a lower `confident` and a lower `floor` answer the missed turns.
    missed = [turn(MISSED, 0.72, 0.58)] * 5
    assert proposed([*missed, *[turn(None, 0.72, 0.05)] * 3]).changes == {"floor": 0.55}
    assert proposed([*missed, *[turn(None, 0.63, 0.58)] * 3]).changes == {"confident": 0.7}


def test_what_was_given_under_other_settings_is_judged_by_the_present_ones() -> None:
    stricter = GatePolicy(confident=0.9, floor=0.9)
    answer = proposed([*[turn(NOISE, 0.78)] * 5], present=stricter)
    assert answer.proposed == stricter
    assert answer.total == Agreement(5, 5, 5)
    lost = proposed([*[turn(GOOD, 0.88)] * 5], present=stricter)
    assert lost.total == Agreement(5, 0, 5)
    assert lost.proposed.confident == 0.85


def test_a_brief_that_is_full_cannot_miss_what_comes_after() -> None:
    missed = turn(MISSED, 0.93, 0.93, 0.58, given=["m1", "m2"])
    assert proposed([missed] * 5, most=2).out_of_reach
    assert proposed([missed] * 5, most=3).changes == {"floor": 0.55}


def test_nothing_judged_is_nothing_proposed() -> None:
    assert proposed([]).proposed == PRESENT
    assert proposed([turn(None, 0.78)]).unjudged == 1


_PRESENTS = st.tuples(*[st.integers(0, 100)] * 3).map(
    lambda one: GatePolicy(max(one[:2]) / 100, min(one[:2]) / 100, one[2] / 100)
)
_TURNS = st.lists(
    st.tuples(st.sampled_from([None, *Feedback]), st.lists(st.sampled_from(sorted(_SIGNALS)), max_size=4)), max_size=14
)


@settings(max_examples=60, deadline=None)
@given(turns=_TURNS, present=_PRESENTS)
def test_a_proposal_always_gains_keeps_what_is_good_and_stays_within_limits(
    turns: list[tuple[Feedback | None, list[float]]], present: GatePolicy
) -> None:
    past = [turn(feedback, *sure) for feedback, sure in turns]
    answer = proposed(past, present=present)
    assert answer == proposed(past, present=present), "the same again"
    assert answer.total.turns + len(answer.out_of_reach) + answer.unjudged == len(past)
    assert answer.judged[GOOD].proposed >= answer.judged[GOOD].present
    assert answer.proposed.floor <= answer.proposed.confident
    if not answer.changes:
        assert answer.proposed == present
        assert answer.unjudged_changed == 0
        return
    assert answer.missing == 0
    assert answer.total.proposed >= answer.total.present + 2
    for name, value in answer.changes.items():
        low, high = {"confident": (0.5, 0.9), "floor": (0.4, 0.9), "companion": (0.3, 0.9)}[name]
        assert low <= value <= high
    # The replay of the proposal by the gate itself tells the same.
    unjudged = [one for one in past if not one.feedback]
    assert sum(would_be(one, present) != would_be(one, answer.proposed) for one in unjudged) == answer.unjudged_changed
