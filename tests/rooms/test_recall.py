"""Small histories in which one memory is the right one, and what recall says about how it found it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword import Foreword
from foreword.errors import BadInput
from foreword.model import NOT_KNOWN, Ask, Audience, Event, Memory, Origin, Scope, Session, Signals, content_hash
from foreword.providers import EmbedderSettings, Purpose, open_embedder
from foreword.recall import Hit, RecallSettings, bag, recall, understand
from foreword.recall.fusion import Recipe, widened
from foreword.recall.themes import common_to
from foreword.store import Draft, SqliteStore

EMBEDDER = open_embedder(EmbedderSettings(), {})
assert EMBEDDER is not None
NOW = datetime(2026, 6, 17, 15, 30)
OWNER = Scope(agent="ada")


class History:
    """A store with words and vectors, without the engine around it."""

    def __init__(self, home: Path) -> None:
        self.store = SqliteStore(home)

    def draft(self, text: str, **fields: Any) -> Draft:
        memory = Memory(text, **{"agent": "ada", **fields})
        words = bag(memory)
        vectors = EMBEDDER.embed([text])
        return Draft(
            memory, content_hash(repr(memory)), words.words, words.counts, words.length, EMBEDDER.model, vectors
        )

    def say(self, *texts: str, session: str = "talk", **fields: Any) -> None:
        self.store.add([self.draft(text, **fields) for text in texts], Session(session, "ada") if session else None)

    def ask(
        self, text: str, *, scope: Scope = OWNER, vectors: bool = True, settings: RecallSettings | None = None
    ) -> list[tuple[str, Hit]]:
        """Texts of memories with what recall says about each, best first."""
        query = understand(text, now=NOW.timestamp())
        if vectors:
            [vector] = EMBEDDER.embed([text], purpose=Purpose.QUERY)
            query = replace(query, vector=vector, model=EMBEDDER.model)
        with self.store.view(scope) as view:
            hits = recall(query, view, settings or RecallSettings())
        texts = {memory.row: memory.text for memory in self.store.get([hit.row for hit in hits])}
        return [(texts[hit.row], hit) for hit in hits]

    def best(self, text: str, **how: Any) -> str:
        found = self.ask(text, **how)
        return found[0][0] if found else ""


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    history = History(tmp_path / "home")
    yield history
    history.store.close()


DAILY_LIFE = [
    "My sister is allergic to peanuts and walnuts.",
    "The car has to be inspected before the end of October.",
    "We keep the garden hose in the cellar during winter.",
    "Lina's violin lesson moved to Thursday afternoon.",
    "The landlord agreed to replace the bathroom window.",
    "I prefer window seats on long flights.",
    "The new router's admin page is at port 8443.",
    "Grandfather's watch is being repaired at the shop near the station.",
    "Dinner with the neighbours is planned for Saturday.",
    "The library books are due in two weeks.",
    "Our cat refuses every food except salmon.",
    "The password manager is shared with the whole family.",
]


def live(history: History) -> None:
    for place, text in enumerate(DAILY_LIFE):
        history.say(text, session=f"day {place}")


# The right one first


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("When is the violin lesson?", "violin"),
        ("Which port does the router use?", "8443"),
        ("What did the landlord agree to?", "landlord"),
        ("Who repairs the watches?", "watch"),
        ("Where do we keep the hose in winter?", "hose"),
        ("When are the books due?", "library"),
    ],
)
@pytest.mark.parametrize("vectors", [True, False], ids=["words and vectors", "words alone"])
def test_a_question_finds_its_answer_by_its_words(history: History, asked: str, answer: str, vectors: bool) -> None:
    live(history)
    assert answer in history.best(asked, vectors=vectors)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What does our pet like to eat?", "salmon"),
        ("Does the vehicle need a check-up?", "inspected"),
        ("Has the clock been fixed?", "watch"),
        ("Is somebody coming for a meal at the weekend?", "Dinner"),
    ],
)
@pytest.mark.parametrize("vectors", [True, False], ids=["with vectors", "by kin alone"])
def test_words_of_like_meaning_find_what_shares_no_word(
    history: History, asked: str, answer: str, vectors: bool
) -> None:
    live(history)
    found = history.best(asked, vectors=vectors)
    assert answer in found
    held = set(bag(Memory(text=found)).words.tolist())
    assert not held & {term.hash for term in understand(asked, now=0.0).terms}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What could make her sick?", "peanuts"),
        ("How do I log into the wifi box?", "router"),
        ("What is wrong with the old timepiece?", "watch"),
        ("What did the owner of the flat promise?", "landlord"),
    ],
)
def test_vectors_find_what_neither_words_nor_their_kin_do(history: History, asked: str, answer: str) -> None:
    live(history)
    assert answer in history.best(asked)
    assert answer not in history.best(asked, vectors=False)


def test_a_usual_word_that_nobody_said_yet_counts_less_than_a_rare_one(history: History) -> None:
    live(history)
    [(text, hit), *_] = history.ask("When do I see the library?")
    assert "library" in text
    assert hit.signals.coverage > 0.55, "'see' stands in no memory, and still is no rare word"


def test_what_somebody_said_goes_before_what_was_said_to_them(history: History) -> None:
    history.say("Thanks Mara, the pottery class sounds lovely.", sender="Theo")
    history.say("I signed up for the pottery class.", sender="Mara")
    assert history.best("What class did Mara sign up for?").startswith("I signed up")


def test_an_ask_about_two_things_is_given_both_before_more_of_one(history: History) -> None:
    for text in ("The violin needs a new bow.", "The violin teacher moved.", "The violin case is brown."):
        history.say(text)
    history.say("The lawnmower needs oil.")
    for number in range(30):
        history.say(f"Nothing much happened on day {number}.")
    first = [text for text, _ in history.ask("Was it the violin or the lawnmower that needs something?")]
    assert any("lawnmower" in text for text in first[:2])
    assert any("violin" in text for text in first[:2])


@pytest.mark.parametrize("count", [1, 5, 40])
def test_scores_never_rise_from_one_place_to_the_next(history: History, count: int) -> None:
    live(history)
    asked = "What did the landlord and the library say about the garden hose?"
    scores = [hit.score for _, hit in history.ask(asked, settings=RecallSettings(candidates=count))]
    assert scores == sorted(scores, reverse=True)


@given(
    points=st.lists(st.floats(0, 5, width=32), max_size=9)
    | st.lists(st.floats(0, 5, width=32), min_size=13, max_size=40),
    sessions=st.lists(st.integers(-1, 6), min_size=40, max_size=40),
    kindred=st.dictionaries(st.integers(0, 6), st.floats(0, 1, width=32)),
    limit=st.integers(11, 50),
)
def test_whoever_looks_further_finds_everything_once_and_no_score_rises(
    points: list[float], sessions: list[int], kindred: dict[int, float], limit: int
) -> None:
    points.sort(reverse=True)
    sessions = sessions[: len(points)]
    order, scores = widened(np.arange(len(points)), points, sessions, Recipe(), limit, kindred)
    assert len(order) == len(set(order.tolist())) == len(scores) == min(len(points), limit)
    assert order[:10].tolist() == list(range(min(10, len(points))))
    assert scores == sorted(scores, reverse=True)


def test_what_belongs_to_no_conversation_stands_for_itself_alone() -> None:
    sessions = [0] * 10 + [-1, 1, -1, 1]
    order, _ = widened(np.arange(14), [1.0] * 10 + [0.5, 0.45, 0.4, 0.3], sessions, Recipe(), 14, {})
    assert order[10:].tolist() == [11, 10, 12, 13]


def test_who_looks_further_is_led_to_the_conversations_that_were_not_heard(history: History) -> None:
    history.say(*(f"The ferry to the island was full on day {day}, said the captain." for day in range(14)))
    history.say("The ferry has a captain.", session="once")
    history.say("The captain is Norwegian.", "They say that the captain sings.", session="twice")
    asked = "How full was the ferry to the island, captain?"
    first = [text for text, _ in history.ask(asked, vectors=False)]
    further = history.ask(asked, vectors=False, settings=RecallSettings(candidates=20))
    assert [text for text, _ in further[:10]] == first
    assert all("day" in text for text in first)
    led_to = [text for text, _ in further if "day" not in text]
    # One memory alone may be there by chance.
    assert led_to == ["The captain is Norwegian.", "The ferry has a captain.", "They say that the captain sings."]
    assert all(before.score >= behind.score for (_, before), (_, behind) in pairwise(further))


_UKULELE = (
    "I started ukulele lessons with Rachel today.",
    "Which strings suit a ukulele best?",
    "My old guitar has been in its case for years.",
)


def tell_of_two_matters(history: History) -> None:
    """Of bread, again and again with Rachel; and of music twice, of which once with her."""
    for day in range(14):
        history.say(f"Rachel tasted the sourdough of day {day}.", "The dough needs salt.", session=f"bread {day}")
    history.say(*_UKULELE, session="lessons")
    history.say("I need new strings for my guitar.", "A better case for my banjo, too.", session="music again")


@pytest.mark.proves("S13")
def test_who_looks_further_is_led_to_what_was_said_of_the_same_matter_in_other_words(history: History) -> None:
    tell_of_two_matters(history)
    asked = "Which lessons did I start with Rachel?"
    further = history.ask(asked, settings=RecallSettings(candidates=20))
    assert [text for text, _ in further[:10]] == [text for text, _ in history.ask(asked)]
    beyond = [text for text, _ in further[10:]]
    assert beyond[0] in ("I need new strings for my guitar.", "A better case for my banjo, too.")
    by_words = [text for text, _ in history.ask(asked, vectors=False, settings=RecallSettings(candidates=20))]
    assert beyond[0] not in by_words, "no word of it leads there"


@pytest.mark.proves("B4")
@pytest.mark.parametrize("count", [3, 10, 40])
def test_what_another_may_see_changes_nothing_that_is_found(history: History, count: int) -> None:
    tell_of_two_matters(history)
    asked, settings = "Which lessons did I start with Rachel?", RecallSettings(candidates=count)
    before = history.ask(asked, settings=settings)
    for day in range(20):
        history.say(f"Rachel has strings for the ukulele {day}.", session=f"a stranger's {day}", agent="another")
    assert history.ask(asked, settings=settings) == before


@pytest.mark.parametrize("count", [1, 3, 9, 11, 40])
def test_however_many_are_wanted_the_first_are_the_same(history: History, count: int) -> None:
    tell_of_two_matters(history)
    asked = "Which lessons did I start with Rachel, and who tasted the sourdough?"
    found = history.ask(asked, settings=RecallSettings(candidates=count))[:10]
    assert found == history.ask(asked)[: len(found)]


def test_memories_without_a_conversation_are_found_however_deep_one_looks(history: History) -> None:
    for day in range(14):
        history.say(f"The ferry sails on day {day}.", session="")
    found = history.ask("When does the ferry sail?", settings=RecallSettings(candidates=40))
    assert len(found) == 14


def test_that_the_same_was_asked_before_tells_of_no_matter(history: History) -> None:
    tell_of_two_matters(history)
    asked = "Does the banjo need the sourdough?"
    before = history.ask(asked)[0][1].signals.matter
    for number in range(3):
        history.say(asked, "Done.", session=f"asked {number}")
    again = dict(history.ask(asked))
    assert asked in again
    assert again[asked].signals.matter == pytest.approx(before, abs=0.15)


def test_conversations_of_one_matter_are_told_from_those_that_chance_found(history: History) -> None:
    tell_of_two_matters(history)
    [(_, of_two), *_] = history.ask("Which ukulele lessons did I start with Rachel?")
    history.say("Is a ukulele easier than a guitar?", "Rachel plays the ukulele.", session="more lessons")
    history.say("My next lesson with Rachel is on Monday.", "I left the ukulele there.", session="a third time")
    [(_, of_one), *_] = history.ask("Which ukulele lessons did I start with Rachel?")
    assert of_one.signals.matter > 0.4 > of_two.signals.matter
    [(_, unknown), *_] = history.ask("Which ukulele lessons did I start with Rachel?", vectors=False)
    assert unknown.signals.matter == Signals().matter


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("what is in settings_loader", "src/config/settings_loader.py reads the file twice"),
        ("config/settings_loader", "src/config/settings_loader.py reads the file twice"),
        ("why does renderInvoceTable crash", "renderInvoiceTable crashes on an empty list"),
        ("fetchUserProfiles timeout", "fetchUserProfile gives up after 3 s"),
        ("what changed in v2.13.1", "v2.13.1 drops the old endpoint"),
    ],
)
def test_a_part_of_an_identifier_or_a_slip_in_it_still_finds_it(history: History, asked: str, answer: str) -> None:
    history.say(
        "src/config/settings_loader.py reads the file twice",
        "src/render/page_layout.py has no tests",
        "renderInvoiceTable crashes on an empty list",
        "fetchUserProfile gives up after 3 s",
        "v2.13.1 drops the old endpoint",
        "v2.12.0 was never released",
        session="",
    )
    assert history.best(asked, vectors=False) == answer


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("牙医的预约是什么时候?", "下星期三下午三点有牙医的预约。"),
        ("会議は何曜日ですか", "来週の会議は木曜日になりました。"),
        ("회의는 언제 합니까", "다음 회의는 목요일 오후에 합니다."),
    ],
)
def test_a_question_in_a_script_without_spaces_finds_its_answer(history: History, asked: str, answer: str) -> None:
    history.say(
        "下星期三下午三点有牙医的预约。",
        "王芳喜欢喝绿茶，不喜欢咖啡。",
        "来週の会議は木曜日になりました。",
        "田中さんは犬を飼っています。",
        "다음 회의는 목요일 오후에 합니다.",
        "고양이는 연어만 먹습니다.",
        session="",
    )
    assert history.best(asked, vectors=False) == answer


def test_a_rare_word_beats_many_common_ones(history: History) -> None:
    for number in range(30):
        history.say(f"The weekly report about project progress is ready, number {number}.", session="")
    history.say("The report mentions a narwhal.", session="")
    assert "narwhal" in history.best("Which weekly project progress report had the narwhal?", vectors=False)


def test_an_answer_that_stands_beside_the_question_is_found(history: History) -> None:
    for number in range(6):
        history.say(
            f"Small talk about the weather, part {number}.", f"Indeed, part {number}.", session=f"chat {number}"
        )
    history.say("Where should we store the sourdough starter?", "On the top shelf, behind the oats.", session="bread")
    history.say("Shelves are on sale this week.", session="shop")
    found = [text for text, _ in history.ask("Where is the sourdough starter?", vectors=False)]
    assert found[:2] == ["Where should we store the sourdough starter?", "On the top shelf, behind the oats."]


def test_what_a_person_said_goes_before_the_same_words_of_a_machine(history: History) -> None:
    for origin in (Origin.TOOL, Origin.OWNER, Origin.AGENT):
        history.say("The heron nests by the pond.", session="", origin=origin)
    with history.store.view(OWNER) as view:
        hits = recall(understand("Where does the heron nest?", now=0.0), view, RecallSettings())
    assert history.store.get([hits[0].row])[0].origin is Origin.OWNER


@pytest.mark.parametrize(
    ("asked", "days_ago"),
    [("What was decided about the fence last week?", 7), ("What was decided about the fence yesterday?", 1),
     ("What was decided about the fence in March?", 90)],
)  # fmt: skip
def test_a_question_about_a_time_prefers_what_was_said_then(history: History, asked: str, days_ago: int) -> None:
    for ago in (1, 7, 30, 90):
        history.say(f"We decided about the fence, take {ago}.", session="", at=(NOW - timedelta(days=ago)).timestamp())
    found = history.ask(asked)
    assert found[0][0] == f"We decided about the fence, take {days_ago}."
    # What happened then may be told later, and not before; one of four is of that time.
    assert {text: hit.signals.dated for text, hit in found} == {
        f"We decided about the fence, take {ago}.": 0.9688 if ago == days_ago else 0.5 if ago < days_ago else 0.0
        for ago in (1, 7, 30, 90)
    }


def test_a_time_tells_the_less_the_more_is_of_it(history: History) -> None:
    for ago in (1, 7, 30, 90):
        history.say(f"We decided about the fence, take {ago}.", session="", at=(NOW - timedelta(days=ago)).timestamp())
    of_then = [
        max(hit.signals.dated for _, hit in history.ask(f"What was decided about the fence {time}?"))
        for time in ("last week", "in the last two weeks", "in the last 40 days", "before today")
    ]
    assert of_then == [0.9688, 0.875, 0.7188, 0.5]


def test_a_question_about_the_present_is_answered_by_what_was_said_at_any_time(history: History) -> None:
    for ago in (0, 30):
        history.say(f"The fence needs paint, take {ago}.", session="", at=(NOW - timedelta(days=ago)).timestamp())
    found = history.ask("Which paint does the fence need today?")
    assert found[0][0] == "The fence needs paint, take 0."
    assert [hit.signals.dated for _, hit in found] == [0.5, 0.5]
    looking_back = history.ask("Which paint was it that the fence needed today?")
    assert [hit.signals.dated for _, hit in looking_back] == [0.875, 0.5]


def test_what_the_agent_said_counts_in_full_where_the_ask_is_about_that(history: History) -> None:
    history.say("Where should we dine in Rome?", session="", origin=Origin.OWNER)
    history.say("Dine at the Trattoria Luzzi, near the arena.", session="", origin=Origin.AGENT)
    [(_, told)] = [one for one in history.ask("Where was it you told me to dine?") if "Luzzi" in one[0]]
    [(_, asked)] = [one for one in history.ask("Where should I dine?") if "Luzzi" in one[0]]
    assert (told.signals.by_person, asked.signals.by_person) == (1.0, 0.0)
    assert told.lanes["kin"] > asked.lanes["kin"]
    history.say("Dine at the Trattoria Da Enzo, it says here.", session="", origin=Origin.WEB)
    [(_, page)] = [one for one in history.ask("Where was it you told me to dine?") if "Enzo" in one[0]]
    assert page.signals.by_person == 0.0


def test_what_is_out_of_scope_is_neither_found_nor_counted(history: History) -> None:
    for number in range(20):
        history.say(f"Private marmalade thought {number}.", session="private")
    history.say("The marmalade stall opens at nine.", session="group", audience=Audience.GROUP, circle="market")
    history.say("Marmalade of the other group.", session="other", audience=Audience.GROUP, circle="club")
    group = Scope("ada", Audience.GROUP, "market")
    [(text, hit)] = history.ask("When does the marmalade stall open?", scope=group)
    assert text == "The marmalade stall opens at nine."
    alone = History(history.store.path.parent.parent / "alone")
    alone.say("The marmalade stall opens at nine.", session="group", audience=Audience.GROUP, circle="market")
    [(_, same)] = alone.ask("When does the marmalade stall open?", scope=group)
    assert replace(hit, row=0) == replace(same, row=0), "twenty private memories change nothing, not even a rarity"
    alone.store.close()


def test_nothing_to_ask_with_or_nothing_there_finds_nothing(history: History) -> None:
    assert history.ask("Where is the sourdough starter?") == []
    live(history)
    assert history.ask("what is it that you are?") == []
    assert history.ask("xylophonist quarterdeck", vectors=False) == []


# What it says about itself


QUESTIONS = [
    "When is the violin lesson?",
    "Which port does the admin page of the router use?",
    "What did Lina say last week about window seats on flights?",
    "zeppelin",
    "牙医",
    "src/config/settings_loader.py",
]


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_lanes_and_signals_are_in_range_and_agree_with_one_another(history: History, asked: str, vectors: bool) -> None:
    live(history)
    history.say(*DAILY_LIFE[:4], "and so on", session="all of it")
    hits = [hit for _, hit in history.ask(asked, vectors=vectors)]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        one = hit.signals
        assert set(hit.lanes) >= {"words", "vectors", "neighbours", "session"}
        assert all(0 <= value <= 1 for value in hit.lanes.values())
        assert 0 <= one.coverage <= one.context <= 1
        assert 0 <= one.matched <= len(hit.weights)
        assert 0 < one.brevity <= 1
        assert one.by_person in (0.0, 1.0)
        assert 0 <= one.names <= 1
        assert one.information >= 0
        assert one.dated in (0.0, 0.5, 1.0)
        assert 0 <= one.few <= 1
        assert np.isfinite([hit.score, one.similarity, one.ahead, one.company]).all()
        assert len(hit.terms) == one.matched
        assert (one.coverage > 0) or not hit.terms
        if not vectors:
            assert hit.lanes["vectors"] == one.similarity == 0
            assert one.ahead == one.company == NOT_KNOWN


def test_coverage_is_the_share_of_what_was_asked(history: History) -> None:
    live(history)
    history.say("copper kettle whistles", "copper pan", session="")
    shares = dict(history.ask("copper kettle whistles", vectors=False))
    assert shares["copper kettle whistles"].signals.coverage == 1.0
    assert shares["copper kettle whistles"].terms == ("copper", "kettl", "whistl")
    assert 0 < shares["copper pan"].signals.coverage < 0.4, "the commonest of the three"
    assert shares["copper pan"].terms == ("copper",)
    missing = history.ask("copper kettle whistles zeppelin", vectors=False)[0][1]
    assert 0.4 < missing.signals.coverage < 1.0, "a word nobody has said is asked for all the same"


def test_names_that_are_missing_are_told(history: History) -> None:
    live(history)
    with_name = history.ask("When does Lina have her violin lesson?")[0][1]
    other_name = history.ask("When does Oskar have his violin lesson?")[0][1]
    assert with_name.signals.names == 1.0
    assert other_name.signals.names == 0.0


def test_what_the_other_one_says_beside_it_does_not_lend_the_name_of_whom_the_ask_names(history: History) -> None:
    history.say("I signed up for the pottery class in Lisbon.", sender="Mara")
    history.say("I go to the glass workshop there.", sender="Theo")
    history.say("Next week I am in Lisbon again.", sender="Mara")
    found = dict(history.ask("Which workshop does Mara go to in Lisbon?"))
    by_other = found["I go to the glass workshop there."].signals.names
    assert 0.0 < by_other < 1.0, "the town is said beside it, and who is asked about is not who said it"
    assert found["I signed up for the pottery class in Lisbon."].signals.names == 1.0


def test_mum_and_mother_are_one(history: History) -> None:
    history.say("Mum's birthday is in May.", session="one")
    history.say("The birthday cake was sweet.", session="two")
    text, hit = history.ask("When is my mother's birthday?", vectors=False)[0]
    assert text == "Mum's birthday is in May."
    assert hit.signals.coverage == 1


def test_what_another_person_said_is_told_where_one_who_spoke_is_asked_about(history: History) -> None:
    history.say("I ran the charity race on Sunday.", session="one", sender="Mel")
    history.say("Tea is ready.", session="two", sender="Cara")
    of_cara = {text: hit.by_other for text, hit in history.ask("When did Cara run the charity race?")}
    assert of_cara["I ran the charity race on Sunday."]
    of_mel = {text: hit.by_other for text, hit in history.ask("When did Mel run the charity race?")}
    assert not of_mel["I ran the charity race on Sunday."]
    history.say("Good morning.", session="three", sender="Bill")
    of_no_one = history.ask("How much was the bill for the charity race?")
    assert not any(hit.by_other for _, hit in of_no_one), "a word of the ask need not be a name"


def test_few_memories_are_told_from_many(history: History) -> None:
    history.say("The heron nests by the pond.", session="")
    alone = history.ask("Where does the heron nest?")[0][1].signals.few
    live(history)
    some = history.ask("Where does the heron nest?")[0][1].signals.few
    history.say(*(f"Entry {number} of a long ledger." for number in range(500)), session="ledger")
    many = history.ask("Where does the heron nest?")[0][1].signals.few
    assert 1 > alone > some > many == 0


def test_a_memory_is_no_part_of_the_background_it_is_measured_against(history: History) -> None:
    live(history)
    found = {text: hit.signals.similarity for text, hit in history.ask("When is Lina's violin lesson?")}
    best = max(found, key=lambda text: found[text])
    assert "violin" in best
    # Of these twelve and the eight taken for granted, none is 4.3 deviations from the mean if it counts itself.
    assert found[best] > 5


def test_what_everybody_speaks_of_has_to_be_matched_more_closely(history: History) -> None:
    live(history)
    history.say("We had dinner at a good restaurant.", session="evening")
    common = history.ask("Can you recommend a good restaurant for dinner?")[0][1].signals
    particular = history.ask("Which port is the router's admin page at?")[0][1].signals
    assert common.similarity > 4
    assert particular.similarity > 4
    assert common.similarity - common.ahead > particular.similarity - particular.ahead + 1


def test_conversations_keep_company_and_single_memories_do_not(history: History) -> None:
    live(history)
    once = history.ask("What became of the bees?")[0][1].signals.company
    history.say("The bees swarmed again.", "A second hive for the bees is ordered.", session="bees")
    in_one_talk = history.ask("What became of the bees?")[0][1].signals.company
    history.say("The bees survived the frost.", session="spring")
    history.say("I sold honey from my bees.", session="market")
    in_three = history.ask("What became of the bees?")[0][1].signals.company
    assert once < in_one_talk < in_three
    history.say("I sold more honey from my bees.", session="market")
    assert history.ask("What became of the bees?")[0][1].signals.company < in_three + 0.5, "the market counts once"


def test_where_nobody_spoke_what_agents_said_keeps_company(history: History) -> None:
    for place, text in enumerate(DAILY_LIFE):
        history.say(text, session=f"run {place}", origin=Origin.AGENT)
    [(_, best), *_] = history.ask("Where is the garden hose kept in winter?")
    assert best.signals.company > -4


@pytest.mark.proves("B1")
def test_another_model_is_judged_by_what_is_usual(history: History) -> None:
    drafts = [replace(history.draft(text), model="another") for text in DAILY_LIFE]
    history.store.add(drafts, Session("talk", "ada"))
    query = understand("Where is the garden hose kept?", now=NOW.timestamp())
    [vector] = EMBEDDER.embed([query.text], purpose=Purpose.QUERY)
    with history.store.view(OWNER) as view:
        hits = recall(replace(query, vector=vector, model="another"), view, RecallSettings())
    assert {round(hit.signals.similarity - hit.signals.ahead, 3) for hit in hits} == {4.3}


def test_the_themes_are_those_of_the_model_that_ships() -> None:
    vector = EMBEDDER.embed(["Can you recommend a good restaurant?"])[0]
    common = common_to(vector, EMBEDDER.model)
    assert common is not None, "another table needs `python -m tools.themes` too"
    assert 0.3 < common.closeness < 1


def test_as_many_candidates_as_asked_for_and_no_more(history: History) -> None:
    history.say(*(f"kettle number {number}" for number in range(30)), session="")
    for count in (1, 7, 10):
        assert len(history.ask("kettle", settings=RecallSettings(candidates=count))) == count


# Bounded work


@pytest.mark.parametrize("max_postings", [0, 1, 5, 1000])
def test_the_rarest_word_answers_however_small_the_budget(history: History, max_postings: int) -> None:
    history.say(*(f"The harbour report, part {number}." for number in range(40)), session="")
    history.say("The harbour report about the narwhal.", session="")
    found = history.ask("harbour report narwhal", vectors=False, settings=RecallSettings(max_postings=max_postings))
    assert "narwhal" in found[0][0]
    assert len(found) == (1 if max_postings < 1000 else 10), "common words are read only while the budget lasts"


# The same memories, the same answer


VOCABULARY = "harbour kettle copper narwhal window lesson violin report garden salmon".split()
TEXTS = st.lists(
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=25, unique=True
)


@settings(max_examples=12, deadline=None)
@given(texts=TEXTS, asked=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join))
def test_how_memories_came_in_does_not_change_what_is_found(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], asked: str
) -> None:
    at_once, one_by_one = (History(tmp_path_factory.mktemp("home")) for _ in range(2))
    at_once.say(*texts)
    for text in texts:
        one_by_one.say(text)
        one_by_one.ask(asked)  # the index grows a segment at a time
    reopened = History(one_by_one.store.path.parent)
    assert at_once.ask(asked) == one_by_one.ask(asked) == reopened.ask(asked)
    for each in (at_once, one_by_one, reopened):
        each.store.close()


def test_forgetting_and_saying_again_gives_the_same_answer(history: History) -> None:
    live(history)
    before = history.ask("When is the violin lesson?")
    history.say("The violin lesson was a mistake.", session="mistake")
    assert history.ask("When is the violin lesson?") != before
    history.store.forget([len(DAILY_LIFE) + 1], texts=[])
    assert history.ask("When is the violin lesson?") == before


# Any text at all


HOSTILE = [
    "+ ? ( [ \" ' : * - ^ ~ { } ] ) \\ / | & % $ # @ ! ; , . < >",
    '"unbalanced',
    "NEAR(kettle copper, 5)",
    "kettle AND (copper OR",
    "NOT kettle",
    "title:kettle",
    "kettle*",
    "-kettle +copper",
    "'; DROP TABLE memory; --",
    "kettle\0copper kettle",
    "\ud800 kettle \udfff whistle",
    "😀🎉👩‍💻 what about the kettle 🚀",
    "\u202ekettle\u202c reversed?",
    "%s %d {0} {kettle} ${kettle} $(kettle)",
    "a" * 100_000,
    "kettle " * 15_000,
    "k.e_t-t/l:e@" * 8_000,
    "行" * 30_000,
    "é" * 50_000,
    "\n" * 50_000 + "kettle whistles",
    "3:ket 3:ett 3:ttl whatever",
]


@pytest.mark.proves("D5")
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text)[:30])
def test_any_text_in_a_question_is_harmless(open_home: Callable[..., Foreword], text: str) -> None:
    engine = open_home()
    engine.record(Event("The copper kettle whistles at noon.", session="agent:main:old"))
    for found in (engine.search(text), engine.search(text, session="agent:main:telegram:group:1")):
        assert all(0 <= one.confidence <= 1 for one in found)
    brief = engine.brief(Ask(text, session="agent:main:main"))
    assert brief.reason
    assert engine.why(brief.receipt)
    assert engine.status()["memories"] == 1
    assert engine.check() == []


@pytest.mark.parametrize("fields", [{"text": None}, {"text": 7}, {"session": 1}, {"sender": None}, {"at": math.nan},
                                    {"at": math.inf}, {"at": 1e20}, {"at": -1.0}, {"at": "now"}], ids=repr)  # fmt: skip
def test_an_ask_that_is_none_is_refused_with_a_reason(foreword: Foreword, fields: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"must be (a string|strings)|is not a time"):
        foreword.brief(Ask(**{"text": "What did we say last week?", **fields}))
    assert foreword.status()["turns"] == 0


@pytest.mark.proves("D5")
@settings(max_examples=120, deadline=None)
@given(text=st.text(st.characters() | st.sampled_from('\0"*()+-:^\ud800kettle '), max_size=80))
def test_any_question_gets_an_answer_of_the_right_kind(kept: Foreword, text: str) -> None:
    assert all(0 <= one.confidence <= 1 for one in kept.search(text))
    assert kept.brief(Ask(text, session="agent:main:main", at=0.0)).reason


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreword]:
    with Foreword.open(tmp_path_factory.mktemp("kept")) as engine:
        for text in DAILY_LIFE:
            engine.record(Event(text, session="agent:main:old"))
        yield engine
