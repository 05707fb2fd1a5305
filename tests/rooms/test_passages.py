"""Long texts in pieces: nothing is lost below the cap, and no piece is too long."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.recall import passages
from foreword.recall.passages import MAX_PASSAGES, PASSAGE_CHARS

WORDS = st.lists(
    st.text("abcdefgh行.!? \n\t", min_size=1, max_size=60) | st.just("\n\n") | st.just("Done. "), max_size=300
)


def test_a_short_text_is_one_passage_as_it_is() -> None:
    assert passages("  as it is \n") == ["  as it is \n"]
    assert passages("") == [""]
    assert passages("x" * PASSAGE_CHARS) == ["x" * PASSAGE_CHARS]


@settings(max_examples=100, deadline=None)
@given(text=WORDS.map(" ".join))
def test_passages_cover_the_text_in_order_up_to_their_number(text: str) -> None:
    pieces = passages(text)
    assert 1 <= len(pieces) <= MAX_PASSAGES
    assert all(len(piece) <= PASSAGE_CHARS + 1 for piece in pieces) or len(text) <= PASSAGE_CHARS
    whole, covered = "".join(text.split()), "".join("".join(pieces).split())
    if len(pieces) < MAX_PASSAGES and len(text) < PASSAGE_CHARS * MAX_PASSAGES:
        assert covered == whole
    else:
        assert whole.startswith(covered)
        assert len(covered) >= min(len(whole), PASSAGE_CHARS)


def test_passages_end_with_sentences_where_there_are_any() -> None:
    sentence = "The lighthouse keeper writes down every ship that passes before the lamp is lit. "
    pieces = passages(sentence * 30)
    assert len(pieces) > 2
    assert all(piece.endswith("lit.") for piece in pieces)


def test_a_dump_is_known_by_its_beginning() -> None:
    pieces = passages("word " * 400_000)
    assert len(pieces) == MAX_PASSAGES
    assert passages("x" * 2_000_000)[0] == "x" * PASSAGE_CHARS
    assert passages(" \n" * 500_000), "a megabyte of white space is still a text"
