"""The lessons that teach the reader what an answer is: what is labelled as one is one, and nothing else is."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from tools import answers
from tools.answers import Labelled, Rarity, apart, beam, hurried, of_beam, of_windows
from tools.asks import Asked, Windows

from foreword.providers import StaticEmbedder

TOLD = [
    f"I bought a {thing} at the market in {place} last week."
    for thing in "kettle lamp chair table clock mirror basket candle blanket teapot hammer ladder".split()
    for place in "Porto Lisbon Ghent Turin Basel Lyon Graz Bergen Cork Split".split()
]


def _pairs(*asked: Asked) -> list[Labelled]:
    windows = Windows(TOLD, np.arange(len(TOLD)) // 10, StaticEmbedder().embed(TOLD))
    return list(of_windows(asked, windows, StaticEmbedder(), Rarity(TOLD), random.Random(1)))


def test_only_the_window_it_was_made_from_answers_an_ask_and_none_of_its_session_stands_beside_it() -> None:
    found = _pairs(Asked("Where did I buy a kettle?", source=0))
    assert [one.text for one in found if one.answers] == [TOLD[0]]
    others = [one for one in found if not one.answers]
    assert len(others) == answers.CLOSEST + answers.FARTHER
    assert not {one.text for one in others} & set(TOLD[:10])
    assert not any(one.idle for one in found)


def test_an_ask_that_deserves_nothing_is_answered_by_nothing() -> None:
    found = _pairs(Asked("how are you today"))
    assert found
    assert all(one.idle and not one.answers for one in found)


def test_what_answers_an_ask_about_somebody_is_told_by_them() -> None:
    found = _pairs(Asked("Where did Nora buy a kettle?", source=0, name="Nora"))
    assert [one.text for one in found if one.answers] == [f"Nora: {TOLD[0]}"]
    assert all(": I bought" in one.text for one in found)


def test_common_words_single_nothing_out() -> None:
    rarity = Rarity([*TOLD, *(["We went home again."] * 5000)])
    assert rarity.telling("Where did I buy the kettle in Porto for the market?")
    assert not rarity.telling("Where did we go again?")


def test_somebody_in_a_hurry_puts_the_ask_in_two_to_four_of_its_words() -> None:
    ask = "Where did I buy the copper kettle that stands in the kitchen by the window?"
    seen = {hurried(ask, random.Random(seed)) for seed in range(20)}
    assert {len(one.split()) for one in seen} == {2, 3, 4}
    words = ask.rstrip("?").split()
    assert all([word for word in words if word in one.split()] == one.split() for one in seen)


def test_texts_of_others_answer_nothing() -> None:
    found = apart([Labelled("a?", "a", True), Labelled("b?", "b", True)], 20)
    assert len(found) == 20
    assert all(one.idle and not one.answers for one in found)


def _chat(folder: Path, number: int, fact: str, question: str, evidence: object) -> None:
    home = folder / "100K" / str(number)
    (home / "probing_questions").mkdir(parents=True)
    said = [
        {"role": "user", "id": 0, "content": f"{fact} ->-> 1,1", "time_anchor": "March-15-2024"},
        {"role": "assistant", "id": 1, "content": "Good to know."},
        {"role": "user", "id": 2, "content": "The weather was fine all week.", "time_anchor": "no date"},
    ]
    (home / "chat.json").write_text(json.dumps([{"batch_number": 1, "turns": [said]}]))
    asked = {
        "information_extraction": [{"question": question, "source_chat_ids": evidence}],
        "summarization": [{"question": "Can you summarize all of it?", "source_chat_ids": [0]}],
        "abstention": [{"question": "What was the name of the shop?"}],
    }
    (home / "probing_questions/probing_questions.json").write_text(json.dumps(asked))


def test_a_question_of_beam_is_answered_by_its_evidence_and_not_by_other_peoples_talk(tmp_path: Path) -> None:
    _chat(tmp_path, 1, "I bought the kettle in Porto.", "Where did I buy the kettle?", {"first": [0]})
    _chat(tmp_path, 2, "I need a new kettle soon.", "What do I need soon?", [0])
    (tmp_path / "100K" / "3").mkdir()
    chats, card = beam(tmp_path)
    assert (card["conversations"], card["questions"]) == (2, 2)
    found = of_beam(chats)
    bought = [one for one in found if one.ask == "Where did I buy the kettle?"]
    assert "I bought the kettle in Porto." in {one.text for one in bought if one.answers}
    assert "I need a new kettle soon." in {one.text for one in bought if not one.answers}
    in_a_hurry = {one.ask for one in found} - {"Where did I buy the kettle?", "What do I need soon?"}
    assert any("kettle" in one for one in in_a_hurry)
    assert all(len(one.split()) < 3 for one in in_a_hurry)
    assert not any("->->" in one.text for one in found)


def test_a_folder_without_conversations_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no conversation of BEAM"):
        beam(tmp_path)
