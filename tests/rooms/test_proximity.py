"""Words that stand together mean something; scattered ones do not."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from foreword.model import Signals
from foreword.recall import density

TERMS = (("boat", 2.0), ("insur", 1.0), ("ferri", 1.0))
FILLER = "and then something else happened that nobody wrote down. " * 8


def test_all_words_in_one_sentence_are_the_whole_ask() -> None:
    assert density("The boat's insurance covers every ferry we take.", TERMS) == 1.0


def test_scattered_words_count_only_as_far_as_they_stand_together() -> None:
    assert density(f"A boat. {FILLER} An insurance. {FILLER} Two ferries.", TERMS) == 0.5
    assert density(f"A boat. {FILLER} The insured ferry.", TERMS) == 0.5
    assert density(f"A boat ferry. {FILLER} An insurance.", TERMS) == 0.75


def test_a_word_repeated_is_still_one_word() -> None:
    assert density("boat boat boat boat", TERMS) == 0.5


def test_a_term_inside_another_word_does_not_count() -> None:
    assert density("The steamboat is uninsured.", TERMS) == 0.0


def test_scripts_without_spaces_are_found_anywhere() -> None:
    assert density("我昨天去看牙医了", (("牙医", 1.0),)) == 1.0


def test_nothing_asked_is_nothing_held() -> None:
    assert density("anything at all", ()) == 0.0


@given(st.text(), st.lists(st.tuples(st.text(min_size=1, max_size=8), st.floats(0.1, 9)), max_size=6))
def test_it_is_a_share_whatever_the_text(text: str, terms: list[tuple[str, float]]) -> None:
    assert 0.0 <= density(text, terms) <= 1.0


def test_a_density_joins_the_other_signals_and_changes_none_of_them() -> None:
    told = Signals(*range(1, len(fields(Signals)) + 1))
    assert told.with_density(0.5) == replace(told, density=0.5)
