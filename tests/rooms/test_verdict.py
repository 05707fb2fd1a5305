"""The gate: S4's table for any confidence and any thresholds, and a reason for everything."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from bench import fit_gate
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword import gate
from foreword.gate import GatePolicy, at_most, confidence, features, judge
from foreword.model import Candidate, Link, Memory, Signals, Verdict, how_sure

S4 = GatePolicy(confident=0.75, floor=0.12, companion=0.5)


def signals_of(strength: float) -> Signals:
    """Signals that grow with strength, from nothing in common (0) to all there is (1)."""
    return Signals(
        coverage=strength,
        density=strength,
        by_person=strength,
        brevity=strength,
        kin=strength,
        context=strength,
        asked=3.0,
        present=1.0,
        lead=strength,
        matched=2,  # a whole number: growing with the rest it would make the confidence jump
        information=3 * strength,
        similarity=8 * strength,
        ahead=8 * strength - 4,
        company=8 * strength - 4,
        matter=strength,
        names=strength,
        dated=strength,
    )


def sure_of(wanted: float) -> Signals:
    """Signals whose confidence is as near to `wanted` as any of this kind can be."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if confidence(signals_of(middle)) < wanted else (low, middle)
    assert confidence(signals_of(high)) == pytest.approx(wanted, abs=0.001)
    return signals_of(high)


def candidates_of(*signals: Signals) -> list[Candidate]:
    return [Candidate(Memory(f"memory {row}", row=row), 1.0, signals=one) for row, one in enumerate(signals, 1)]


def rows(verdict: Verdict) -> list[int]:
    return [one.candidate.memory.row for one in verdict.chosen]


STRENGTHS = st.lists(st.floats(0, 1), max_size=8)
POLICIES = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(
    lambda one: GatePolicy(confident=max(one[:2]), floor=min(one[:2]), companion=one[2])
)


@pytest.mark.proves("S4")
@settings(max_examples=400, deadline=None)
@given(strengths=STRENGTHS, policy=POLICIES)
def test_the_table_holds_for_every_confidence_and_every_threshold(strengths: list[float], policy: GatePolicy) -> None:
    candidates = candidates_of(*map(signals_of, strengths))
    verdict = judge(candidates, policy)
    sure = [confidence(candidate.signals) for candidate in candidates]
    best = max(sure, default=0.0)
    passing = {row for row, one in enumerate(sure, 1) if one >= max(policy.floor, policy.companion * best)}
    if best >= policy.confident:
        expected = passing
    elif best < policy.floor:
        expected = set()
    else:
        expected = passing if len(passing) >= 2 else set()
    assert set(rows(verdict)) == expected
    assert verdict.reason
    assert all(one.reason for one in verdict.judged)
    assert len(verdict.judged) == len(candidates), "each candidate is answered"
    order = [one.confidence for one in verdict.judged]
    assert order == sorted(order, reverse=True), "best first"
    assert judge(candidates, policy) == verdict, "the same again"


@pytest.mark.proves("S4")
def test_one_confident_memory_is_enough() -> None:
    verdict = judge(candidates_of(sure_of(0.8)), S4)
    assert rows(verdict) == [1]
    assert "at or above 0.75" in verdict.reason


@pytest.mark.proves("S4")
def test_one_middling_memory_is_not_enough_and_two_are() -> None:
    alone = judge(candidates_of(sure_of(0.5), sure_of(0.05)), S4)
    assert rows(alone) == []
    assert "no second memory supports it" in alone.reason
    together = judge(candidates_of(sure_of(0.4), sure_of(0.5)), S4)
    assert rows(together) == [2, 1]
    assert "2 memories pass together" in together.reason


@pytest.mark.proves("S4")
def test_below_the_floor_there_is_silence_however_many_agree() -> None:
    verdict = judge(candidates_of(*[sure_of(0.1)] * 5), S4)
    assert rows(verdict) == []
    assert "below the floor of 0.12" in verdict.reason
    assert all("below the floor (0.12)" in one.reason for one in verdict.judged)


@pytest.mark.proves("S4")
def test_a_threshold_itself_passes() -> None:
    signals = sure_of(0.6)
    exactly = confidence(signals)
    assert rows(judge(candidates_of(signals), GatePolicy(confident=exactly, floor=0.1))) == [1]
    assert rows(judge(candidates_of(signals), GatePolicy(confident=math.nextafter(exactly, 1), floor=0.1))) == []
    two = candidates_of(signals, signals)
    assert rows(judge(two, GatePolicy(confident=1.0, floor=exactly))) == [1, 2]
    assert rows(judge(two, GatePolicy(confident=1.0, floor=math.nextafter(exactly, 1)))) == []


def test_beside_a_sure_memory_a_much_weaker_one_stays_out() -> None:
    verdict = judge(candidates_of(sure_of(0.9), sure_of(0.3), sure_of(0.6)), S4)
    assert rows(verdict) == [1, 3]
    assert "its share of the best" in verdict.judged[-1].reason


@given(strength=st.floats(0, 1), more=st.floats(0, 1), few=st.floats(0, 1))
def test_no_signal_counts_against_a_memory_in_a_store_of_any_size(strength: float, more: float, few: float) -> None:
    less, more = sorted((strength, more))
    weaker, stronger = (replace(signals_of(one), few=few) for one in (less, more))
    assert confidence(weaker) <= confidence(stronger)


def test_among_few_memories_strong_signals_are_surer_and_weak_ones_are_not() -> None:
    # What the conversations are about tells nothing among few, for weak and strong alike.
    strong, weak = (replace(signals_of(one), matter=Signals().matter) for one in (0.8, 0.1))
    assert confidence(replace(strong, few=0.6)) > confidence(strong)
    assert confidence(replace(weak, few=0.6)) <= confidence(weak)


def test_without_vectors_nothing_counts_for_a_memory_that_is_not_known() -> None:
    words_alone = Signals(coverage=0.3, kin=0.4, context=0.4, matched=1, asked=2.0, present=0.5, by_person=1.0, few=0.5)
    as_common = replace(words_alone, similarity=3.0, ahead=0.0, company=0.0)
    assert confidence(words_alone) < confidence(as_common)


def test_what_lacks_the_name_gains_nothing_among_few_memories() -> None:
    nameless = replace(signals_of(0.8), names=0.0)
    assert confidence(replace(nameless, few=0.6)) < confidence(nameless)


def test_one_word_in_common_gains_nothing_among_few_memories_when_most_of_the_ask_is_missing() -> None:
    most, little = (replace(signals_of(0.8), matched=1, coverage=held) for held in (0.5, 0.3))
    assert confidence(replace(most, few=0.6)) > confidence(most)
    assert confidence(replace(little, few=0.6)) < confidence(little)
    several = replace(little, matched=3)
    assert confidence(replace(several, few=0.6)) > confidence(several)


def test_a_confidence_is_cut_and_not_rounded_for_people() -> None:
    assert [how_sure(one) for one in (0.7499, 0.75, 0.29, 0.9999, 1.0, 0.0)] == [
        "0.74",
        "0.75",
        "0.29",
        "0.99",
        "1.00",
        "0.00",
    ]


@given(st.floats(0, 1))
def test_what_is_kept_of_a_confidence_is_never_more_than_it_was(strength: float) -> None:
    [one] = judge(candidates_of(signals_of(strength)), S4).judged
    assert 0 <= confidence(signals_of(strength)) - one.confidence + 1e-9 < 2e-4


def test_no_candidates_are_silence_with_a_reason() -> None:
    assert judge([], S4) == Verdict((), (), "nothing in scope shares a word or a meaning with the ask")


def test_reasons_say_what_is_missing() -> None:
    [one] = judge(candidates_of(Signals(coverage=0.5, names=0.0, dated=0.0)), S4).judged
    assert "50%" in one.reason
    assert "not the names in it" in one.reason
    assert "of another time" in one.reason


def test_reasons_say_when_chance_found_the_conversations() -> None:
    words_alone = Signals(coverage=0.8, kin=0.8, names=1.0, matter=0.0)
    told = "of other matters"
    assert told in judge(candidates_of(words_alone), S4).judged[0].reason
    assert told not in judge(candidates_of(replace(words_alone, matter=0.5)), S4).judged[0].reason
    assert told not in judge(candidates_of(replace(words_alone, few=0.5)), S4).judged[0].reason


def test_what_stands_among_conversations_of_its_own_matter_is_surer() -> None:
    one = sure_of(0.5)
    assert confidence(replace(one, matter=1.0)) > 0.7
    assert confidence(replace(one, matter=0.0)) < 0.4
    # Where there are few memories nothing was spoken of twice yet, and nothing can be told by it.
    few = replace(one, few=0.6)
    assert confidence(replace(few, matter=1.0)) == confidence(replace(few, matter=0.0))


def test_what_tells_of_another_person_is_not_given_and_the_reason_says_so() -> None:
    policy = GatePolicy()
    [answer] = judge(candidates_of(signals_of(1.0)), policy).judged
    [one] = judge(candidates_of(replace(signals_of(1.0), another=1.0)), policy).judged
    assert answer.confidence >= policy.confident
    assert one.confidence < policy.floor
    assert "tells of another person" in one.reason


# Links


@pytest.mark.proves("S13")
@settings(max_examples=300, deadline=None)
@given(
    strengths=st.lists(st.floats(0, 1), min_size=1, max_size=8),
    policy=POLICIES,
    links=st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1)) | st.none(), min_size=8, max_size=8),
)
def test_links_add_to_what_is_given_and_change_nothing_else(
    strengths: list[float], policy: GatePolicy, links: list[tuple[int, float] | None]
) -> None:
    plain = candidates_of(*map(signals_of, strengths))
    linked = [
        replace(one, link=Link(link[0], "a name", link[1]) if link else None)
        for one, link in zip(plain, links, strict=False)
    ]
    before, after = judge(plain, policy), judge(linked, policy)
    assert rows(after)[: len(before.chosen)] == rows(before), "first what passes by itself"
    assert bool(after.chosen) == bool(before.chosen), "silence is neither broken nor made"
    assert after.reason == before.reason
    sure = {one.candidate.memory.row: one.confidence for one in before.chosen}
    for one in after.chosen[len(before.chosen) :]:
        assert one.by_link
        assert one.candidate.link is not None
        assert one.confidence <= sure[one.candidate.link.source] + 1e-4
        assert one.confidence >= policy.floor - 1e-4
    assert len(after.judged) == len(plain)


@pytest.mark.proves("S13")
def test_only_a_confident_memory_lends_and_the_reason_names_the_way() -> None:
    sure, unsure = sure_of(0.9), sure_of(0.05)
    candidates = candidates_of(sure, unsure)
    linked = [candidates[0], replace(candidates[1], link=Link(1, "Priya", 0.8))]
    verdict = judge(linked, S4)
    assert rows(verdict) == [1, 2]
    assert verdict.chosen[1].reason == "by way of m1: Priya"
    assert verdict.chosen[1].confidence == pytest.approx(0.72, abs=0.01)
    assert rows(judge(linked, GatePolicy(confident=0.75, floor=0.74))) == [1], "what is lent must pass the same bar"
    assert "by way of m1: Priya" in judge(linked, GatePolicy(confident=0.75, floor=0.74)).judged[1].reason
    middling = [*candidates_of(sure_of(0.5), sure_of(0.5)), replace(candidates[1], link=Link(1, "Priya", 0.8))]
    assert rows(judge(middling, S4)) == [1, 2], "what passes only together lends nothing"


# Confidence


ANY_SIGNALS = st.builds(
    Signals,
    **{
        one.name: st.integers(0, 100) if one.type == "int" else st.floats(0, 1)
        for one in fields(Signals)
        if one.name not in ("similarity", "information")
    },
    similarity=st.floats(-50, 50),
    information=st.floats(0, 50),
)


@settings(max_examples=200, deadline=None)
@given(signals=ANY_SIGNALS)
def test_a_confidence_is_a_probability_and_among_many_never_near_certainty(signals: Signals) -> None:
    assert 0 < confidence(signals) < 1
    assert confidence(replace(signals, few=0.0)) < at_most()
    assert all(0 <= value <= 1 for value in features(signals).values())


@settings(max_examples=100, deadline=None)
@given(signals=ANY_SIGNALS)
def test_the_fit_knows_the_confidence_as_the_gate_has_it(signals: Signals) -> None:
    fitted = json.loads((Path(gate.__file__).parent / "data/confidence.json").read_text("utf-8"))
    model = fit_gate.Model(*(np.array(list(fitted[part].values())) for part in ("weights", "among_few")))
    case = fit_gate.Case("history", "own", 1, [(True, signals)])
    assert model.sure(case, np.array([[1.0, *features(signals).values()]])) == pytest.approx([confidence(signals)])
    assert at_most() == fit_gate.AT_MOST


def test_what_stands_beside_the_answer_is_none_unless_it_has_a_part_in_the_matter() -> None:
    """An agent's "Understood." behind a question that is asked again."""
    beside = Signals(
        context=1.0,
        asked=3.2,
        present=1.0,
        similarity=-0.7,
        ahead=-3.4,
        company=10.0,
        brevity=0.99,
        dated=0.9,
        few=0.82,
    )
    assert judge(candidates_of(beside), GatePolicy()).chosen == ()
    assert confidence(beside) < 0.1 < confidence(replace(beside, similarity=1.0))


def test_more_of_everything_is_surer() -> None:
    sure = [confidence(signals_of(step / 20)) for step in range(21)]
    assert sure == sorted(sure)
    assert sure[0] < S4.floor
    assert S4.confident < sure[-1] < at_most()
