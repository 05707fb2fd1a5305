"""Words that stand together mean something; scattered ones do not."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from foreword.model import Signals
from foreword.recall import densest

TERMS = (("boat", 2.0), ("insur", 1.0), ("ferri", 1.0))
FILLER = "and then something else happened that nobody wrote down. " * 8


def test_all_words_in_one_sentence_are_the_whole_ask() -> None:
    assert densest("The boat's insurance covers every ferry we take.", TERMS).share == 1.0


def test_scattered_words_count_only_as_far_as_they_stand_together() -> None:
    assert densest(f"A boat. {FILLER} An insurance. {FILLER} Two ferries.", TERMS).share == 0.5
    assert densest(f"A boat. {FILLER} The insured ferry.", TERMS).share == 0.5
    assert densest(f"A boat ferry. {FILLER} An insurance.", TERMS).share == 0.75


def test_a_word_repeated_is_still_one_word() -> None:
    assert densest("boat boat boat boat", TERMS).share == 0.5


def test_a_term_inside_another_word_does_not_count() -> None:
    assert densest("The steamboat is uninsured.", TERMS).share == 0.0


def test_scripts_without_spaces_are_found_anywhere() -> None:
    assert densest("我昨天去看牙医了", (("牙医", 1.0),)).share == 1.0


def test_a_letter_that_is_two_when_lowered_moves_no_place() -> None:
    text = "İİİİ A boat."
    assert text[densest(text, TERMS).start :] == "boat."


def test_nothing_asked_is_nothing_held() -> None:
    assert densest("anything at all", ()).share == 0.0


@given(st.text(), st.lists(st.tuples(st.text(min_size=1, max_size=8), st.floats(0.1, 9)), max_size=6))
def test_it_is_a_share_whatever_the_text(text: str, terms: list[tuple[str, float]]) -> None:
    found = densest(text, terms)
    assert 0.0 <= found.share <= 1.0
    assert 0 <= found.start <= len(text)


def test_it_tells_where_they_stand_together() -> None:
    text = f"A boat. {FILLER} The insured ferry boat."
    assert text[densest(text, TERMS).start :] == "insured ferry boat."


def test_what_the_words_tell_joins_the_other_signals_and_changes_none_of_them() -> None:
    told = Signals(*range(1, len(fields(Signals)) + 1))
    assert told.of_text(0.5, 0.25) == replace(told, density=0.5, reading=0.25)
