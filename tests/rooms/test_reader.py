"""An ask and a memory read together: what answers reads better than what only speaks of the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword import Ask, Event, Foreword, Memory, Settings
from foreword.errors import ModelDamaged
from foreword.model import Candidate, Kind
from foreword.providers import StaticEmbedder
from foreword.recall import can_read, excerpt, read, reader
from foreword.recall.reader import FILE
from foreword.receipts import judged_again

FILLER = "Then somebody told a long story about the weather in the hills. " * 12


@pytest.mark.parametrize(
    ("ask", "answer", "other"),
    [
        (
            "Where did I buy the blue kettle?",
            "By the way, I bought the blue kettle at the Saturday market in Porto.",
            "Which kettle would you recommend for an induction stove?",
        ),
        (
            "What did I get my sister for her birthday?",
            "I gave my sister a silver necklace for her birthday and she loved it.",
            "I need to book a table for my birthday, my sister is busy that week.",
        ),
        (
            "How many days was I in Hamburg?",
            "I spent four days in Hamburg in May, mostly along the harbour.",
            "I spent four days on the report, mostly on the numbers.",
        ),
    ],
)
def test_what_answers_reads_better_than_what_shares_words_with_the_ask(ask: str, answer: str, other: str) -> None:
    good, bad = read(ask, [answer, other])
    assert good > bad + 0.1


def test_what_has_nothing_to_do_with_it_reads_as_nothing() -> None:
    [found] = read("Where did I buy the blue kettle?", ["The parser fails on empty lines of the second file."])
    assert found < 0.1


def test_a_text_reads_the_same_alone_as_among_others() -> None:
    ask = "When does the ferry to Ystad leave?"
    texts = ["The ferry to Ystad leaves at nine.", "A short one.", FILLER]
    assert read(ask, texts) == pytest.approx([read(ask, [one])[0] for one in texts], abs=1e-4)


def test_without_a_known_word_nothing_is_read() -> None:
    assert read("☃", ["The ferry leaves at nine."]) == [0.0]
    assert read("When does the ferry leave?", ["☃", ""]) == [0.0, 0.0]
    assert read("When does the ferry leave?", []) == []


@pytest.mark.parametrize(
    ("ask", "answer", "other"),
    [
        ("Wo steht mein Fahrrad?", "Mein Fahrrad steht am Bahnhof.", "Heute ist das Wetter schön."),
        (
            "¿Dónde están las llaves del coche?",
            "Las llaves del coche están en la cocina.",
            "Mañana viene el fontanero.",
        ),
    ],
)
def test_what_is_said_in_the_same_letters_is_read_as_well(ask: str, answer: str, other: str) -> None:
    assert can_read(ask)
    good, bad = read(ask, [answer, other])
    assert good > bad + 0.3


@pytest.mark.parametrize("ask", ["我的牙医预约是什么时候?", "Когда у меня приём у врача?", "متى موعد طبيب الأسنان؟"])
def test_what_is_written_in_other_letters_cannot_be_read(ask: str) -> None:
    assert not can_read(ask)


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=4))
def test_it_is_a_share_whatever_is_read(ask: str, texts: list[str]) -> None:
    found = read(ask, texts)
    assert len(found) == len(texts)
    assert all(0.0 <= one <= 1.0 for one in found)


def test_of_a_long_text_the_sentences_around_the_place_are_read() -> None:
    told = "My locker at the station is number 12."
    text = f"{FILLER}{told} {FILLER}"
    found = excerpt(text, text.index("locker"))
    assert told in found
    assert len(found) < len(text) / 2
    assert excerpt(told, 5) == told


@given(st.sets(st.integers(1, 2999)), st.integers(1, 3000), st.integers(0, 3000))
def test_what_is_read_is_a_part_of_the_text_that_holds_the_place(breaks: set[int], length: int, place: int) -> None:
    # No letter stands in it twice.
    text = "".join("\n" if at in breaks else chr(0x4E00 + at) for at in range(length))
    place = min(place, length - 1)
    found = excerpt(text, place)
    assert found in text
    assert place in breaks or text[place] in found


def test_of_nothing_nothing_is_read() -> None:
    assert excerpt("", 0) == ""


def test_the_shipped_network_says_what_it_said_when_it_was_made() -> None:
    ask = "Where did I buy the kettle?"
    texts = ["By the way, the kettle came from the market in Porto.", "Which kettle is good for an induction stove?"]
    assert read(ask, texts) == pytest.approx([0.3428, 0.1883], abs=2e-3)


def test_it_was_taught_with_the_table_that_ships_and_its_card_tells_of_this_file() -> None:
    card = json.loads(FILE.with_suffix(".json").read_text("utf-8"))
    with FILE.open("rb") as file:
        model = np.load(file, allow_pickle=False).tobytes().decode("ascii")
    assert model == card["table"] == StaticEmbedder().model
    assert card["sha256"] == hashlib.sha256(FILE.read_bytes()).hexdigest()


def _asked_of(home: Path, ask: str, *events: Event) -> dict[str, Candidate]:
    with Foreword.open(home, settings=Settings()) as foreword:
        for event in events:
            foreword.record(event)
        foreword.weigh()
        return {found.memory.text: found.candidate for found in foreword.search(ask, limit=10)}


def test_a_title_and_who_said_it_are_read_with_a_memory(tmp_path: Path) -> None:
    told = "Two more winters at most, then it has to be replaced."
    bare = _asked_of(tmp_path / "bare", "How long will the boiler last?", Event(told, kind=Kind.NOTE))
    titled = _asked_of(
        tmp_path / "titled", "How long will the boiler last?", Event(told, kind=Kind.NOTE, title="The boiler")
    )
    assert titled[told].signals.reading > bare.get(told, Candidate(Memory(told), 0.0)).signals.reading + 0.1


def test_a_long_memory_is_read_where_it_speaks_of_the_ask(tmp_path: Path) -> None:
    told = "By the way, my locker at the station has the number 12."
    [one] = _asked_of(tmp_path / "home", "Which number has my locker at the station?", Event(FILLER + told)).values()
    assert one.signals.reading > 0.5


CLARA = [
    "My girlfriend Clara moved out in March after we argued about money for the whole evening.",
    "Clara called again and wants her bicycle and the books back from the cellar.",
    "I saw Clara in the tram today and did not know what to say.",
    "Clara's birthday is on the 12th of May; she likes lilies.",
    "Clara and I met in Lisbon six years ago, at the hostel by the river.",
]


def test_a_turn_reads_the_first_two_and_whoever_forgets_reads_all(foreword: Foreword) -> None:
    for number, text in enumerate(CLARA):
        foreword.record(Event(text, session=f"agent:main:s{number}"))
    read_in_a_turn = [one for one in foreword.search("Clara", limit=10) if one.candidate.signals.reading]
    assert len(read_in_a_turn) == 2
    found = foreword.search("Clara", limit=10, thorough=True)
    assert len(found) == len(CLARA)
    assert all(one.candidate.signals.reading for one in found)


def test_what_could_not_pass_however_well_it_reads_is_not_read(foreword: Foreword) -> None:
    foreword.record(Event("The parser fails on empty lines of the second file."))
    foreword.record(Event("Nothing much happened."))
    found = foreword.search("Did anything happen on the ferry to the island in the rain?", limit=10)
    assert found
    assert all(one.candidate.signals.reading == 0 for one in found)


def test_what_was_replaced_leaves_its_place_to_what_replaced_it(tmp_path: Path) -> None:
    said = [Event(f"The staging host is called {name} now.", at=1000.0 + day, session="s")
            for day, name in enumerate(("alder", "birch", "cedar", "maple"))]  # fmt: skip
    found = _asked_of(tmp_path / "home", "What is the staging host called now?", *said)
    outdated = [one for one in found.values() if one.memory.successor]
    assert len(outdated) == 3
    assert all(one.signals.reading == 0.0 for one in outdated)
    assert found["The staging host is called maple now."].signals.reading > 0.5


def test_an_ask_in_other_letters_is_judged_by_what_a_memory_holds_of_it(tmp_path: Path) -> None:
    [one] = _asked_of(tmp_path / "home", "牙医预约在几点?", Event("牙医预约在三月十四日上午九点。")).values()
    assert 0 < max(one.signals.density, one.signals.kin) < one.signals.reading <= 1


def test_a_receipt_from_before_there_was_reading_is_judged_as_if_it_had_read() -> None:
    signals = {"density": 0.4, "kin": 0.7, "asked": 3.0}
    kept = {"row": 1, "score": 1.0, "lanes": {}, "terms": [], "signals": signals}
    [old] = judged_again({"candidates": [kept]})
    assert old.signals.reading == 0.7
    [new] = judged_again({"candidates": [{**kept, "signals": {**signals, "reading": 0.1}}]})
    assert new.signals.reading == 0.1
    [idle] = judged_again({"candidates": [{**kept, "signals": {**signals, "asked": 0.03}}]})
    assert idle.signals.reading == pytest.approx(0.07)


@pytest.mark.parametrize("content", [None, b"", b"\x93NUMPY", "cut", "header", "other weights"])
def test_a_damaged_network_reads_nothing_and_no_turn_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | str | None
) -> None:
    broken = tmp_path / "reader.npy"
    broken.with_suffix(".json").write_bytes(FILE.with_suffix(".json").read_bytes())
    if content == "cut":
        broken.write_bytes(FILE.read_bytes()[:-4000])
    elif content == "header":
        broken.write_bytes(FILE.read_bytes().replace(b"}", b" ", 1))
    elif content == "other weights":
        with broken.open("wb") as file:
            np.save(file, np.frombuffer(b"another-table", np.uint8))
            for _ in range(11):
                np.save(file, np.zeros(1, np.float16))
        card = {"sha256": hashlib.sha256(broken.read_bytes()).hexdigest()}
        broken.with_suffix(".json").write_text(json.dumps(card))
    elif isinstance(content, bytes):
        broken.write_bytes(content)
    monkeypatch.setattr(reader, "FILE", broken)
    reader._network.cache_clear()
    try:
        with pytest.raises(ModelDamaged):
            read("Where is the locker?", ["The locker is at the station."])
        with pytest.raises(ModelDamaged):
            reader.verify()
        with Foreword.open(tmp_path / "home", settings=Settings()) as foreword:
            foreword.record(Event("My locker at the station is number 12."))
            assert "number 12" in foreword.brief(Ask("Which number has my locker at the station?")).text
    finally:
        reader._network.cache_clear()
