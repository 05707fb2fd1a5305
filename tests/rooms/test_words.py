"""Text to terms: what is kept and what is asked for must be the same words."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.model import Memory
from foreword.recall import bag
from foreword.recall.words import MAX_INDEXED_CHARS, ask_terms, asks_what_you_said, of_another_person, word_hash


def terms(text: str, limit: int = 48) -> list[str]:
    return [term.text for term in ask_terms(text, limit=limit) if term.weight == 1.0]


def found_by(kept: str, asked: str) -> set[str]:
    """Which whole terms of an ask lead to a memory."""
    held = set(bag(Memory(kept)).words.tolist())
    return {term.text for term in ask_terms(asked, limit=48) if term.hash in held and term.weight == 1.0}


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("We moved the piano.", "When was the move?"),
        ("The houses were painted.", "painting a house"),
        ("Réservation au café Zoë", "cafe zoe reservation"),
        ("Ｆｕｌｌｗｉｄｔｈ letters", "fullwidth"),
        ("STRASSE in Köln", "strasse koln"),
        ("the parseHTTPResponse function", "http response parse"),
        ("load_user_profile failed", "user profile load"),
        ("see src/store/index.py", "store index"),
        ("see src/store/index.py", "src/store/index.py"),
        ("mail ada@example.org", "ada@example.org"),
        ("written in C++ and C#", "c++"),
        ("written in C++ and C#", "C#"),
        ("upgrade to v2.13.1", "v2.13.1"),
        ("room 101", "room 101"),
        ("Ada's kettle", "ada kettle"),
    ],
)
def test_what_was_said_is_found_in_other_forms(kept: str, asked: str) -> None:
    assert terms(asked)
    assert found_by(kept, asked) == set(terms(asked))


def test_small_words_and_words_of_asking_are_not_looked_for() -> None:
    assert terms("Can you please tell me what you remember about it?") == []
    assert terms("What did I say about the kettle?") == ["kettl"]


def test_terms_come_in_the_order_they_were_said_and_each_once() -> None:
    assert terms("copper kettle, copper pan, kettle") == ["copper", "kettl", "pan"]


def test_an_identifier_is_looked_for_whole_in_parts_and_by_fragments() -> None:
    found = ask_terms("loadUserProfile", limit=48)
    assert [term.text for term in found if term.weight == 1.0] == ["load", "user", "profil", "loaduserprofile"]
    fragments = [term for term in found if term.weight < 0.5]
    assert "3:use" in [term.text for term in fragments]
    assert all(term.text.startswith("3:") and len(term.text) == 5 for term in fragments)


def test_whole_words_come_before_fragments_when_there_is_no_room_for_all() -> None:
    found = ask_terms("some_long_identifier_here and copper kettle", limit=8)
    assert len(found) == 8
    assert {"copper", "kettl"} <= {term.text for term in found}
    assert [term.weight for term in found] == sorted((term.weight for term in found), reverse=True)


def test_scripts_without_spaces_are_cut_into_pairs_and_triples() -> None:
    found = {term.text: term.weight for term in ask_terms("牙医预约", limit=48)}
    assert found == {"牙医": 0.5, "医预": 0.5, "预约": 0.5, "牙医预": 0.5, "医预约": 0.5}
    held = set(bag(Memory("我星期三有牙医的预约")).words.tolist())
    assert word_hash("牙医") in held
    assert word_hash("预约") in held
    mixed = {term.text for term in ask_terms("Docker部署失败", limit=48)}
    assert {"docker", "部署", "失败"} <= mixed


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("When does Grace arrive?", {"grace"}),
        ("Grace arrives. Then we eat.", set()),
        ("the port is 8080", {"8080"}),
        ("what does parse_args do", {"pars", "arg", "parse_args"}),
        ("I think I know", set()),
    ],
)
def test_names_numbers_and_identifiers_are_marked(text: str, names: set[str]) -> None:
    assert {term.text for term in ask_terms(text, limit=48) if term.name} == names


@pytest.mark.parametrize("asked", ["@claw_bot where is the rehearsal?", "  @claw-bot, where is the rehearsal?"])
def test_whom_an_ask_is_addressed_to_counts_little_and_is_no_name_that_was_asked_for(asked: str) -> None:
    assert terms(asked) == ["rehears"]
    assert not any(term.name for term in ask_terms(asked, limit=48))


@pytest.mark.parametrize("asked", ["@src/loader.py explain", "ask @claw_bot about it", "@claw_bot"])
def test_a_file_or_a_name_that_is_asked_about_counts_in_full(asked: str) -> None:
    assert any(term.name for term in ask_terms(asked, limit=48))


@pytest.mark.parametrize(
    ("text", "ask", "another"),
    [
        ("I ran on Sunday.", "When did Cara run?", True),
        ("I ran on Sunday.", "Which race did I run with Cara?", False),
        ("you told me so", "When did Cara run?", False),
        ("She moved to the US in May.", "When did Cara move to the US?", False),
        ("The gold mine of World War I", "Did Cara see the mine?", False),
        ("Our cat is ill", "Which animal does Cara have?", True),
    ],
)
def test_who_tells_of_themselves_tells_of_another_than_the_ask(text: str, ask: str, another: bool) -> None:
    assert of_another_person(text, ask, by_other=True) is another
    assert not of_another_person(text, ask, by_other=False)


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("My wife's ring size is 52.", "What is my husband's ring size?"),
        ("My sister Ana is allergic to walnuts.", "What is my little brother allergic to?"),
        ("My mother-in-law's birthday is in June.", "When is my mother's birthday?"),
        ("My mom's birthday is in May.", "When is my mother-in-law's birthday?"),
    ],
)
def test_what_tells_of_one_relative_does_not_tell_of_another(text: str, ask: str) -> None:
    assert of_another_person(text, ask, by_other=False)


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("My Mum's birthday is in May.", "When is my mother's birthday?"),
        ("My wife and my husband sing.", "Does my husband sing?"),
        ("Tim's recital is on May 3; his sister cannot come.", "When is my son's recital?"),
        ("My wife says Dad comes on Monday.", "When does my father come?"),
        ("My grandma picks Emma up on Fridays.", "Who picks up my daughter on Fridays?"),
        ("The heating was fixed, the neighbour helped.", "Did my landlord fix the heating?"),
        ("My brother beat the last enemy.", "How do I beat the final boss?"),
        ("My sister lives in Oslo.", "Where is the key to the shed?"),
        ("Mis alergias: nueces y polen.", "¿Cuáles son mis alergias?"),
    ],
)
def test_what_may_tell_of_the_one_asked_about_is_not_of_another(text: str, ask: str) -> None:
    assert not of_another_person(text, ask, by_other=False)


def test_the_words_for_a_time_count_little() -> None:
    weights = {term.text: term.weight for term in ask_terms("the kettle last week", limit=48, time="last week")}
    assert weights["kettl"] == 1.0
    assert weights["week"] < 0.5


def test_a_day_of_the_week_is_a_name_unless_it_is_a_part_of_the_time() -> None:
    [alone] = [one for one in ask_terms("Who sings on Wednesday evenings?", limit=48) if one.text == "wednesday"]
    assert (alone.weight, alone.name) == (1.0, True)
    ask = "Who sang with Rachel on the Wednesday two weeks ago?"
    [part] = [one for one in ask_terms(ask, limit=48, time="two weeks ago") if one.text == "wednesday"]
    assert part.weight < 0.5
    assert not part.name


@pytest.mark.parametrize(
    ("asked", "of_agent"),
    [
        ("What was the hotel you recommended in Rome?", True),
        ("How long did you say it should rest?", True),
        ("You\u2019ve just told me of a trail, which one?", True),
        ("In our previous chat there was a list of books.", True),
        ("You already told me of a trail, which one?", True),
        ("Didn't you say it should rest?", True),
        ("What was your recommendation for Rome?", True),
        ("Can you recommend a hotel in Rome?", False),
        ("Did you listen to the song?", False),
        ("What did Maya say of the trail?", False),
        ("What did I tell you of my sister?", False),
        ("Which shoes did I mention in our previous chat?", False),
        ("What came of our last session with the therapist?", False),
    ],
)
def test_an_ask_about_what_the_agent_said_is_told_from_a_request(asked: str, of_agent: bool) -> None:
    assert asks_what_you_said(asked) is of_agent


def test_a_memory_is_found_by_its_sender_its_date_and_all_its_fields_but_measured_by_its_words() -> None:
    at = datetime(2026, 3, 4, 12).timestamp()
    memory = Memory(
        "Tea ran out",
        sender="Grace Hopper",
        at=at,
        title="Kitchen",
        concepts=("groceries",),
        decisions=("buy oolong",),
        files=("lists/shopping.md",),
    )
    held = set(bag(memory).words.tolist())
    for asked in ("tea", "grace", "hopper", "march", "2026", "kitchen", "grocery", "oolong", "shopping"):
        assert {word_hash(one) for one in terms(asked)} <= held
    assert bag(memory).length == bag(Memory("Tea ran out", title="Kitchen", concepts=memory.concepts,
                                           decisions=memory.decisions, files=memory.files)).length  # fmt: skip


def test_a_word_counts_as_often_as_it_is_said_up_to_255() -> None:
    for times, counted in ((3, 3), (900, 255)):
        words = bag(Memory("kettle " * times))
        [count] = words.counts[words.words == word_hash("kettl")].tolist()
        assert (count, words.length) == (counted, times)


def test_a_dump_is_indexed_by_its_beginning() -> None:
    held = set(bag(Memory("kettle " + "x" * MAX_INDEXED_CHARS + " copper")).words.tolist())
    assert word_hash("kettl") in held
    assert word_hash("copper") not in held


ODD = st.text(max_size=120) | st.lists(
    st.sampled_from(
        ["a.b_c", "C++", "naïve", "行政院", "ﬁ", "x" * 70, "_", "'s", "\ud800", "\0", "e\u0301", "2024-01", "İ"]
    ),
    max_size=12,
).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(text=ODD)
def test_whatever_is_asked_in_the_very_words_of_a_memory_is_held_by_it(text: str) -> None:
    words = bag(Memory(text))
    assert len(set(words.words.tolist())) == len(words.words) == len(words.counts)
    assert (words.counts >= 1).all()
    assert words.words.dtype == np.uint32
    assert {term.hash for term in ask_terms(text, limit=48)} <= set(words.words.tolist())
