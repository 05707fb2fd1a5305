"""What every store promises (`foreword/store/contract.py`), and, at the end, what the SQLite file must survive."""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import random
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.errors import ForewordError, StoreBusy, StoreDamaged, StoreError, StoreFromTheFuture, StoreUnwritable
from foreword.model import Audience, Feedback, Kind, Memory, Origin, Scope, Session, SessionKind, content_hash
from foreword.recall import bag
from foreword.recall.words import word_hash
from foreword.store import (
    Draft,
    Frozen,
    LaneFile,
    Mark,
    Replaced,
    SqliteStore,
    Store,
    Turn,
    Vault,
    VaultFile,
    View,
)
from foreword.store import connection as store_connection
from foreword.store import index as store_index
from foreword.store.contract import LYING_NOWHERE
from foreword.store.migrations import APPLICATION_ID

OWNER = Scope(agent="ada")
EVERYTHING = Scope(agent="", every_agent=True, every_project=True)
MODEL, OTHER_MODEL = "small-8", "large-16"
FILE = "foreword.db"


def draft(
    memory: Memory | str, *, fingerprint: str = "", vectors: Any = None, model: str = MODEL, **fields: Any
) -> Draft:
    if isinstance(memory, str):
        memory = Memory(memory, agent="ada", **fields)
    words = bag(memory)
    return Draft(
        memory,
        fingerprint or content_hash(repr(memory)),
        words.words,
        words.counts,
        words.length,
        model if vectors is not None else "",
        None if vectors is None else np.atleast_2d(np.asarray(vectors, np.float32)),
    )


def unit(*values: float) -> np.ndarray:
    vector = np.zeros(8, np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def texts(memories: Sequence[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def everything(store: Store) -> list[Memory]:
    with store.view(EVERYTHING) as view:
        rows = view.facts(np.arange(view.span, dtype=np.int32)).row.tolist()
    return store.get(rows)


def rows_with(view: View, word: str) -> list[int]:
    [postings] = view.postings([word_hash(word)])
    return view.facts(postings.slots).row.tolist()


def rows_near(view: View, vector: np.ndarray, *, model: str = MODEL, limit: int = 100) -> list[int]:
    return view.facts(view.nearest(vector, model=model, limit=limit).slots).row.tolist()


def receipt(ask: str = "what was it", *, rows: Sequence[int] = (), **fields: Any) -> dict[str, Any]:
    return {
        "agent": "ada",
        "session": "talk",
        "at": 1.0,
        "ask": ask,
        "tokens": 0,
        "avoided": 0,
        "candidates": [{"row": row} for row in rows],
        **fields,
    }


def settle(store: Store, session: Session, *, delivered: Sequence[tuple[int, str]] = (), **fields: Any) -> int:
    return store.settle(
        store.turn(session),
        asked_at=fields.pop("asked_at", 1.0),
        ask_hash=fields.pop("ask_hash", ""),
        delivered=delivered,
        block_hash=fields.pop("block_hash", ""),
        wait_ms=fields.pop("wait_ms", None),
        receipt=receipt(session=session.key, agent=session.agent, **fields),
    )


TALK = Session("talk", "ada", SessionKind.MAIN_SESSION)


# Writing


@pytest.mark.proves("P6")
def test_a_memory_comes_back_as_it_was_given(store: Store) -> None:
    given_memory = Memory(
        text="The parser keeps comments.\n\nIt drops 'blank' lines; naïve → 完 ✅",
        kind=Kind.OBSERVATION,
        origin=Origin.TOOL,
        audience=Audience.GROUP,
        circle="red",
        agent="ada",
        session="talk",
        project="compiler",
        channel="telegram",
        sender="Grace",
        at=1_700_000_000.25,
        source_id="msg-7",
        title="Parser notes",
        type="discovery",
        files=("src/parser.py", "größe.md"),
        concepts=("comments", "whitespace"),
        decisions=("keep them",),
        tokens=17,
    )
    [written] = store.add([draft(given_memory)], TALK)
    assert written.created
    assert store.get([written.row]) == [replace(given_memory, row=written.row)]


def test_adding_the_same_fingerprint_again_changes_nothing(store: Store) -> None:
    [first] = store.add([draft("tea at four", fingerprint="f")], TALK)
    [again] = store.add([draft("tea at five", fingerprint="f")], TALK)
    assert (again.row, again.created) == (first.row, False)
    assert texts(everything(store)) == ["tea at four"]


def test_a_fingerprint_twice_in_one_batch_is_kept_once(store: Store) -> None:
    written = store.add([draft("one", fingerprint="f"), draft("two"), draft("one", fingerprint="f")], TALK)
    assert [one.created for one in written] == [True, True, False]
    assert written[0].row == written[2].row
    assert texts(everything(store)) == ["one", "two"]


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(replace(draft("x"), memory=Memory("x", agent="ada", at=float("nan"))), id="a time that is none"),
        pytest.param(replace(draft("x"), memory=Memory(None, agent="ada")), id="no text"),  # type: ignore[arg-type]
        pytest.param(replace(draft("x"), memory=Memory("x", agent="ada", kind=None)), id="no kind"),  # type: ignore[arg-type]
    ],
)
def test_a_batch_with_one_broken_memory_keeps_none_of_it(store: Store, broken: Draft) -> None:
    store.add([draft("from before")], TALK)
    with pytest.raises((StoreError, AttributeError)):
        store.add([draft("good", vectors=unit(1)), broken, draft("good too")], replace(TALK, key="new talk"))
    assert texts(everything(store)) == ["from before"]
    assert [session.key for session in store.sessions(limit=10)] == ["talk"]
    assert store.census().vectors == {}
    assert store.add([draft("good")], TALK)[0].created, "what failed must not be taken for known"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.integers(0, 5), max_size=20))
def test_recording_twice_equals_once(tmp_path_factory: pytest.TempPathFactory, order: list[int]) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("twice"))
    for number in order:
        store.add([draft(f"fact {number}")], TALK)
    assert texts(everything(store)) == [f"fact {number}" for number in dict.fromkeys(order)]
    store.close()


# Views: who may see what


AUDIENCES = tuple(Audience)
CIRCLES = ("", "red", "blue")
AGENTS = ("", "ada", "bob")
PROJECTS = ("", "ship", "shore")


def may_see(scope: Scope, memory: Memory) -> bool:
    """The rule, said once more and as plainly as possible."""
    if memory.audience < scope.audience:
        return False
    if scope.audience != Audience.PRIVATE and memory.circle not in ("", scope.circle):
        return False
    if not scope.every_agent and memory.agent not in ("", scope.agent):
        return False
    return scope.every_project or scope.project == "" or memory.project in ("", scope.project)


def test_of_many_memories_about_the_right_share_is_of_a_time(store: Store) -> None:
    store.add([draft(f"day {number}", at=float(number)) for number in range(9000)], TALK)
    with store.view(EVERYTHING) as view:
        assert view.share_between(0.0, 4500.0) == pytest.approx(0.5, abs=0.01)
        assert view.share_between(8000.0, 9000.0) == pytest.approx(1 / 9, abs=0.01)
        assert view.share_between(9000.0, 9999.0) == 0.0


def test_what_others_recorded_does_not_change_what_share_is_of_a_time(store: Store) -> None:
    said = [Memory(f"day {number}", agent=("ada", "bob")[number % 2], at=number % 2 + 1.0) for number in range(9000)]
    store.add([draft(memory) for memory in said], TALK)
    for agent, share in (("ada", 1.0), ("bob", 0.0)):
        with store.view(Scope(agent=agent)) as view:
            assert view.share_between(1.0, 2.0) == share


def expected_middles(said: Sequence[tuple[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Of what was said, as (session, vector): by session, where it lies."""
    centre = sum(vector for _, vector in said) / (len(said) + LYING_NOWHERE)
    means = {key: np.mean([vector for other, vector in said if other == key], axis=0) - centre for key, _ in said}
    return {key: mean / np.linalg.norm(mean) for key, mean in means.items()}


def test_a_conversation_is_about_what_persons_said_in_it(store: Store) -> None:
    store.add(
        [
            draft("Where do I buy strings?", vectors=unit(1)),
            draft("At the market.", vectors=unit(0, 1), origin=Origin.AGENT),
            draft("And paper?", vectors=[unit(1), unit(0, 0, 1)]),
            draft("Not known yet."),
        ],
        TALK,
    )
    store.add([draft("Done.", vectors=unit(0, 1), origin=Origin.AGENT)], Session("of an agent", "ada"))
    store.add([draft("alone", vectors=unit(0, 0, 0, 1)), draft("as well", vectors=unit(0, 0, 0, 0, 1))], None)
    store.add([draft("nothing")], Session("without a vector", "ada"))
    with store.view(OWNER) as view:
        slots = view.slots([2, 5, 6, 7, 8])
        middles = view.middles(slots, model=MODEL)
        assert np.linalg.norm(middles, axis=1) == pytest.approx([1, 1, 1, 1, 0], abs=1e-5)
        towards = middles @ np.array([unit(1), unit(0, 1), unit(0, 0, 0, 1), unit(0, 0, 0, 0, 1)]).T
        assert towards.argmax(axis=1).tolist()[:4] == [0, 1, 2, 3], "what the agent said of the first does not tell"
        assert np.array_equal(view.middles(slots[[3, 0]], model=MODEL), middles[[3, 0]])
        assert view.middles(slots[:0], model=MODEL).shape == (0, 8)
        assert not view.middles(slots, model=OTHER_MODEL).any()


def test_a_long_conversation_is_told_by_some_of_what_was_said(store: Store) -> None:
    store.add([draft(f"{number}", vectors=unit(1, number / 1000)) for number in range(1000)], TALK)
    store.add([draft("elsewhere", vectors=unit(0, 0, 1))], Session("elsewhere", "ada"))
    with store.view(OWNER) as view:
        [middle] = view.middles(view.slots([500]), model=MODEL)
        assert middle @ unit(1, 0.5) > 0.95


@pytest.mark.parametrize("audience", AUDIENCES, ids=lambda audience: audience.label)
def test_no_question_to_a_store_reaches_beyond_its_scope(store: Store, audience: Audience) -> None:
    world: list[Memory] = []
    ways = itertools.product(AUDIENCES, CIRCLES, AGENTS, PROJECTS)
    vectors = np.random.default_rng(7).normal(size=(81, 8)).astype(np.float32)
    for number, (heard_by, circle, agent, project) in enumerate(ways):
        session = Session(f"talk {number % 5}", "ada")
        memory = Memory(
            f"common marble{number} " + "filler " * (number % 4),
            kind=Kind.NOTE,
            audience=heard_by,
            circle=circle,
            agent=agent,
            project=project,
            session=session.key,
            at=1000.0 + number,
        )
        [written] = store.add([draft(memory, vectors=vectors[number])], session)
        world.append(replace(memory, row=written.row))
    lengths = {memory.row: bag(memory).length for memory in world}
    question = unit(1, 2, 3)

    for circle, agent, project, every_agent, every_project in itertools.product(
        (*CIRCLES, "green"), (*AGENTS, "eve"), (*PROJECTS, "sky"), (False, True), (False, True)
    ):
        scope = Scope(agent, audience, circle, project, every_agent, every_project)
        seen = [memory for memory in world if may_see(scope, memory)]
        rows = [memory.row for memory in seen]
        with store.view(scope) as view:
            assert view.size == len(rows)
            assert view.mean_length == pytest.approx(np.mean([lengths[row] for row in rows]) if rows else 0.0)
            common, unseen = view.postings([word_hash("common"), word_hash("never-said")])
            facts = view.facts(common.slots)
            assert facts.row.tolist() == rows
            early = [memory.at for memory in seen if memory.at < 1040.0]
            assert view.share_between(1000.0, 1040.0) == pytest.approx(len(early) / max(len(seen), 1))
            middles = expected_middles([(memory.session, vectors[memory.row - world[0].row]) for memory in seen])
            one_of = view.slots([seen[[one.session for one in seen].index(key)].row for key in middles])
            assert np.allclose(view.middles(one_of, model=MODEL), [*middles.values()], atol=0.03)
            assert view.slots([*(memory.row for memory in world), 0, 10**18]).tolist() == common.slots.tolist()
            assert common.lengths.tolist() == facts.length.tolist() == [lengths[row] for row in rows]
            assert not len(unseen.slots)
            held, never = view.holders([word_hash("common"), word_hash("never-said")])
            assert held.tolist() == common.slots.tolist()
            assert not len(never)
            assert all(
                len(one.slots) == 1 for one in view.postings([word_hash(f"marble{row - 1}") for row in rows[:5]])
            )
            nearest = view.nearest(question, model=MODEL, limit=100)
            assert sorted(view.facts(nearest.slots).row.tolist()) == rows
            similarity = view.similarity(question, nearest.slots, model=MODEL)
            assert similarity == pytest.approx(nearest.similarity, abs=1e-6)
            if rows:
                assert nearest.mean == pytest.approx(float(similarity.mean()), abs=1e-5)
                assert nearest.deviation == pytest.approx(float(similarity.std()), abs=1e-5)
            neighbours = facts.before[facts.before >= 0].tolist() + facts.after[facts.after >= 0].tolist()
            assert set(view.facts(np.array(neighbours, np.int32)).row.tolist()) <= set(rows)
            assert sorted(view.neighbours(common.slots).tolist()) == sorted(neighbours)
            slot_of = dict(zip(facts.row.tolist(), common.slots.tolist(), strict=True))
            for row, before, after in zip(rows, facts.before.tolist(), facts.after.tolist(), strict=True):
                assert before == slot_of.get(row - 5, -1), "the one before in the same session, if it may be seen"
                assert after == slot_of.get(row + 5, -1)
        assert [memory.row for memory in store.get(range(1, 90), scope)] == rows
        assert store.recent(Kind.NOTE, scope, limit=100) == seen[::-1]
        of_session = [memory for memory in seen if memory.session == "talk 0"]
        assert store.around(world[0].row, reach=None, scope=scope) == of_session
        near = [memory for memory in of_session if abs(world.index(memory) - 40) <= 5]
        assert store.around(world[40].row, reach=1, scope=scope) == near


def test_a_private_memory_never_reaches_a_group(store: Store) -> None:
    store.add([draft("the surgery is on Monday", vectors=unit(1))], TALK)
    for audience in (Audience.GROUP, Audience.EXTERNAL):
        with store.view(Scope("ada", audience, every_agent=True, every_project=True)) as view:
            assert view.size == 0
            assert rows_with(view, "surgeri") == rows_near(view, unit(1)) == []


def test_what_is_added_together_is_kept_together_or_not_at_all(store: Store) -> None:
    other = replace(TALK, key="other talk")
    with store.together():
        store.add([draft("one")], TALK)
        store.add([draft("two")], other)
        store.add([draft("three")], TALK)
    assert texts(everything(store)) == ["one", "two", "three"]

    def fails() -> None:
        with store.together():
            store.add([draft("four")], other)
            store.add([replace(draft("x"), memory=Memory("x", agent="ada", kind=None))], TALK)  # type: ignore[arg-type]

    with pytest.raises(AttributeError):
        fails()
    assert texts(everything(store)) == ["one", "two", "three"]
    assert store.add([draft("four")], other)[0].created, "a block that failed leaves nothing open behind it"


def test_all_that_is_kept_can_be_read_page_by_page(store: Store) -> None:
    store.add([draft("one"), draft("two")], TALK)
    store.add([draft(Memory("three", agent="bob"))], replace(TALK, agent="bob"))
    (session,) = store.sessions(limit=1, agent="ada")
    store.put_summary(session, Memory("a summary of both", agent="ada", kind=Kind.SUMMARY, session=session.key), last=2)
    first = store.after(0, limit=2)
    assert texts(first) == ["one", "two"]
    assert texts(store.after(first[-1].row, limit=2)) == ["three"]
    assert texts(store.after(0, limit=9, agent="bob")) == ["three"]


def test_without_a_scope_the_owner_may_get_everything(store: Store) -> None:
    drafts = [draft(Memory(f"said {audience.label}", audience=audience, agent="bob")) for audience in AUDIENCES]
    rows = [one.row for one in store.add(drafts, None)]
    assert len(store.get(rows)) == 3
    assert [len(store.around(row, reach=2)) for row in rows] == [1, 1, 1]


def test_an_empty_store_answers_every_question_with_nothing(store: Store) -> None:
    with store.view(OWNER) as view:
        assert (view.size, view.span, view.mean_length) == (0, 0, 0.0)
        assert rows_with(view, "tea") == rows_near(view, unit(1)) == []
    assert store.get([]) == store.get([1, 2]) == store.around(1, reach=3) == []
    assert store.recent(Kind.NOTE, OWNER, limit=5) == store.sessions(limit=5) == store.receipts(limit=5) == []
    assert store.receipt(1) is None
    assert store.stale_rows(MODEL, limit=5) == []


def test_memories_come_in_the_order_asked_for_and_missing_ones_are_left_out(store: Store) -> None:
    a, b, c = (one.row for one in store.add([draft("a"), draft("b"), draft("c")], TALK))
    assert texts(store.get([c, a, 999, b, a])) == ["c", "a", "b", "a"]


def test_a_great_many_rows_can_be_asked_for_at_once(store: Store) -> None:
    [written] = store.add([draft("a needle")], TALK)
    assert texts(store.get([*range(300_000, 0, -1), written.row])) == ["a needle", "a needle"]


def test_neighbours_stay_within_their_session(store: Store) -> None:
    for number in range(4):
        store.add([draft(f"one {number}")], Session("one", "ada"))
        store.add([draft(f"two {number}")], Session("two", "ada"))
    store.add([draft("alone")], None)
    here = store.get(range(1, 10))
    middle = next(memory.row for memory in here if memory.text == "one 2")
    assert texts(store.around(middle, reach=1)) == ["one 1", "one 2", "one 3"]
    assert texts(store.around(middle, reach=0)) == ["one 2"]
    assert texts(store.around(middle, reach=None)) == ["one 0", "one 1", "one 2", "one 3"]
    assert texts(store.around(here[-1].row, reach=None)) == ["alone"], "what has no session has no neighbours"


def test_the_newest_of_a_kind_come_first_without_the_asking_session(store: Store) -> None:
    for at, kind, key in [
        (5.0, Kind.SUMMARY, "one"),
        (9.0, Kind.SUMMARY, "two"),
        (7.0, Kind.SUMMARY, "three"),
        (8.0, Kind.NOTE, "one"),
    ]:
        store.add([draft(f"{kind} of {key}", kind=kind, at=at)], Session(key, "ada"))
    store.add([draft("summary of nothing", kind=Kind.SUMMARY, at=6.0)], None)
    newest = texts(store.recent(Kind.SUMMARY, OWNER, limit=3))
    assert newest == ["summary of two", "summary of three", "summary of nothing"]
    assert texts(store.recent(Kind.SUMMARY, OWNER, limit=2, besides="two")) == [
        "summary of three",
        "summary of nothing",
    ]


def test_rows_are_named_by_every_given_part_and_never_by_none(store: Store) -> None:
    store.add([draft("a", at=1.0, source_id="s1"), draft("b", at=2.0)], TALK)
    store.add([draft(Memory("c", agent="bob", at=3.0))], Session("other", "bob"))
    assert store.rows_of() == []
    assert store.rows_of(session="talk") == [1, 2]
    assert store.rows_of(agent="bob") == [3]
    assert store.rows_of(source_id="s1") == [1]
    assert store.rows_of(before=3.0) == [1, 2]
    assert store.rows_of(session="talk", before=2.0) == [1]
    assert store.rows_of(session="talk", agent="bob") == []
    assert store.rows_of(before=0.0) == []


# Words and vectors against brute force


@settings(max_examples=20, deadline=None)
@given(
    bags=st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 255), max_size=6), min_size=1, max_size=40),
    batch=st.integers(1, 9),
)
def test_words_are_found_where_they_were_put(
    tmp_path_factory: pytest.TempPathFactory, bags: list[dict[int, int]], batch: int
) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("words"))
    drafts = [
        Draft(
            Memory("x", agent="ada"),
            str(number),
            np.array([word * 400_000_000 for word in one], np.uint32),
            np.array(list(one.values()), np.uint8),
            sum(one.values()),
        )
        for number, one in enumerate(bags)
    ]
    for start in range(0, len(drafts), batch):
        store.add(drafts[start : start + batch], None)
        with store.view(OWNER) as view:  # read in between, so that segments are merged in many ways
            assert view.size == min(start + batch, len(drafts))
    with store.view(OWNER) as view:
        for word, postings in enumerate(view.postings([number * 400_000_000 for number in range(11)])):
            rows = view.facts(postings.slots).row.tolist()
            expected = {row: one[word] for row, one in enumerate(bags, 1) if word in one}
            assert dict(zip(rows, postings.counts.tolist(), strict=True)) == expected
            assert postings.lengths.tolist() == [sum(bags[row - 1].values()) for row in rows]
            assert view.holders([word * 400_000_000])[0].tolist() == postings.slots.tolist()
    store.close()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), parts=st.lists(st.integers(1, 4), min_size=1, max_size=30))
def test_the_nearest_vectors_are_the_nearest(
    tmp_path_factory: pytest.TempPathFactory, seed: int, parts: list[int]
) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("vectors"))
    draw = np.random.default_rng(seed)
    vectors = []
    for count in parts:
        raw = draw.normal(size=(count, 70)).astype(np.float32)
        vectors.append(raw / np.linalg.norm(raw, axis=1, keepdims=True))
    store.add([draft(f"memory {place}", vectors=vector) for place, vector in enumerate(vectors)], None)
    question = draw.normal(size=70).astype(np.float32)
    question /= np.linalg.norm(question)
    exact = [float((vector @ question).max()) for vector in vectors]
    with store.view(OWNER) as view:
        everyone = view.similarity(question, np.arange(len(parts), dtype=np.int32), model=MODEL)
        assert everyone == pytest.approx(exact, abs=0.01), "asked for before anything else, too"
        nearest = view.nearest(question, model=MODEL, limit=len(parts))
        assert sorted(nearest.slots.tolist()) == list(range(len(parts))), "each memory once, by its closest part"
        assert (np.diff(nearest.similarity) <= 0).all()
        assert nearest.similarity == pytest.approx([exact[slot] for slot in nearest.slots], abs=0.01)
        # Thirty in a hundred and twenty vectors: fewer are asked for than there are, and the best are among them.
        few = view.nearest(question, model=MODEL, limit=3)
        assert few.similarity[0] == pytest.approx(max(exact), abs=0.2)
        every_part = np.concatenate(vectors) @ question
        assert nearest.mean == pytest.approx(float(every_part.mean()), abs=0.01)
        assert nearest.deviation == pytest.approx(float(every_part.std()), abs=0.01)
    store.close()


@pytest.mark.proves("S9")
def test_vectors_of_two_models_never_mix(store: Store) -> None:
    store.add([draft("old", vectors=unit(1), model=MODEL)], TALK)
    store.add([draft("new", vectors=np.eye(16)[0], model=OTHER_MODEL)], TALK)
    store.add([draft("none at all")], TALK)
    with store.view(OWNER) as view:
        assert rows_near(view, unit(1)) == [1]
        assert rows_near(view, np.eye(16, dtype=np.float32)[0], model=OTHER_MODEL) == [2]
        assert rows_near(view, unit(1), model="unheard-of") == []
        assert rows_near(view, np.eye(16, dtype=np.float32)[0], model=MODEL) == [], "a vector of another length"
        slots = np.arange(3, dtype=np.int32)
        assert view.similarity(unit(1), slots, model=MODEL).tolist() == pytest.approx([1, 0, 0], abs=0.01)
        assert view.similarity(unit(1), slots, model=OTHER_MODEL).tolist() == [0, 0, 0]
    assert store.census().vectors == {MODEL: 1, OTHER_MODEL: 1}


@pytest.mark.proves("S9")
def test_a_changed_model_finds_what_it_has_to_embed_and_nothing_is_lost_meanwhile(store_factory: Any) -> None:
    here, there = store_factory(), store_factory()
    here.add([draft("first", vectors=unit(1)), draft("second", vectors=unit(0, 1))], TALK)
    assert here.stale_rows(MODEL, limit=9) == []
    assert texts(here.stale_rows(OTHER_MODEL, limit=9)) == ["first", "second"]
    assert texts(here.stale_rows(OTHER_MODEL, limit=1)) == ["first"]

    large = np.eye(16, dtype=np.float32)
    here.put_vectors(OTHER_MODEL, [(1, large[:2])])
    there.add([draft("third", vectors=unit(0, 0, 1))], TALK)  # another process still has the old model
    here.add([draft("fourth", vectors=large[3], model=OTHER_MODEL)], TALK)
    there.add([draft("fifth")], TALK)  # and a third one has none
    assert texts(here.stale_rows(OTHER_MODEL, limit=9)) == ["second", "third", "fifth"]
    assert texts(there.stale_rows(MODEL, limit=9)) == ["fourth", "fifth"]
    with here.view(OWNER) as view:
        assert rows_with(view, "second") == [2], "words answer while vectors are rebuilt"

    stale = here.stale_rows(OTHER_MODEL, limit=9)
    here.put_vectors(OTHER_MODEL, [(memory.row, large[[memory.row]]) for memory in stale])
    there.add([draft("sixth", vectors=unit(1, 1))], TALK)
    assert texts(here.stale_rows(OTHER_MODEL, limit=9)) == ["sixth"]
    here.put_vectors(OTHER_MODEL, [(6, large[[6]])])
    here.put_vectors(OTHER_MODEL, [(6, large[[7]])])  # twice is once
    assert here.stale_rows(OTHER_MODEL, limit=9) == []

    with there.view(OWNER) as view:
        assert sorted(rows_near(view, unit(1))) == [1, 2, 3, 6]
    here.keep_only_model(OTHER_MODEL)
    with there.view(OWNER) as view:
        assert rows_near(view, unit(1)) == [], "dropped vectors are gone for an open store as well"
        assert rows_near(view, large[6], model=OTHER_MODEL)[0] == 6
        assert sorted(rows_near(view, large[6], model=OTHER_MODEL)) == [1, 2, 3, 4, 5, 6]
    assert here.census().vectors == {OTHER_MODEL: 6}
    assert len(there.stale_rows(MODEL, limit=9)) == 6, "the old model would have to start again"


def test_no_vector_is_passed_over_that_comes_while_others_are_caught_up_with(store_factory: Any) -> None:
    here, there = store_factory(), store_factory()
    there.add([draft("first", vectors=unit(1)), draft("second")], TALK)
    with here.view(OWNER):
        pass  # as an ask of words alone leaves it: no vector was read yet
    with here.view(OWNER) as view:
        there.add([draft("third", vectors=unit(0, 0, 1))], TALK)
        there.put_vectors(MODEL, [(2, np.atleast_2d(unit(0, 1)))])
        assert rows_near(view, unit(1))[0] == 1
    with here.view(OWNER) as view:
        assert sorted(rows_near(view, unit(1))) == [1, 2, 3]


def test_a_vector_for_a_memory_that_was_forgotten_meanwhile_is_ignored(store: Store) -> None:
    store.add([draft("goes"), draft("stays")], TALK)
    store.forget([1], texts=[])
    store.put_vectors(MODEL, [(1, np.atleast_2d(unit(1))), (2, np.atleast_2d(unit(1)))])
    with store.view(OWNER) as view:
        assert rows_near(view, unit(1)) == [2]
    assert store.stale_rows(MODEL, limit=9) == []


def test_vectors_that_change_their_length_under_one_name_stop_nobody(store: Store) -> None:
    store.add([draft("maple", vectors=unit(1)), draft("birch", vectors=np.eye(16)[0])], TALK)
    with store.view(OWNER) as view:
        assert rows_with(view, "birch") == [2]
        assert rows_near(view, unit(1)) == [1]
    store.add([draft("linden", vectors=unit(0, 1))], TALK)
    with store.view(OWNER) as view:
        assert rows_near(view, unit(0, 1)) == [3, 1]


# Several at once


def test_an_open_store_sees_what_another_writes_and_forgets(store_factory: Any) -> None:
    here, there = store_factory(), store_factory()
    with here.view(OWNER) as view:
        assert view.size == 0
    there.add([draft("walnut cake", vectors=unit(1)), draft("plum cake", vectors=unit(0, 1))], TALK)
    with here.view(OWNER) as view:
        assert rows_with(view, "cake") == [1, 2]
        assert rows_near(view, unit(1)) == [1, 2]
    there.forget([1], texts=[])
    with here.view(OWNER) as view:
        assert rows_with(view, "cake") == rows_near(view, unit(1)) == [2]
    here.add([draft("cherry cake", vectors=unit(1, 1))], TALK)
    with there.view(OWNER) as view:
        assert rows_with(view, "cake") == [2, 3]
        facts = view.facts(view.postings([word_hash("cake")])[0].slots)
        assert facts.before.tolist() == [-1, 0], "what is left moves together"
        assert facts.after.tolist() == [1, -1]


def test_a_view_holds_still_while_another_process_writes(store_factory: Any) -> None:
    here, there = store_factory(), store_factory()
    here.add([draft("first cake", vectors=unit(1))], TALK)
    with here.view(OWNER) as view:
        there.add([draft("second cake", vectors=unit(1))], TALK)
        assert (view.size, rows_with(view, "cake"), rows_near(view, unit(1))) == (1, [1], [1])
    with here.view(OWNER) as view:
        assert view.size == 2


def test_one_store_may_be_used_by_many_threads(store: Store) -> None:
    def work(name: str) -> None:
        for number in range(15):
            store.add([draft(f"{name} says pebble {number}", vectors=unit(1, number))], Session(name, "ada"))
            with store.view(OWNER) as view:
                assert len(rows_with(view, "pebbl")) == view.size

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, [f"thread{number}" for number in range(4)]))
    assert store.census().memories == 60


def _write_many(place: Any, name: str, count: int, together: Any) -> None:
    store = place()
    # Who waits for one that has died waits no longer than this.
    together.wait(60)
    for number in range(count):
        [written] = store.add([draft(f"{name} {number}", vectors=unit(1, number))], Session(name, "ada"))
        assert written.created
        settle(store, Session(name, "ada"), delivered=[(written.row, f"{name}{number}")])
    store.close()


def _open_all(homes: Sequence[Path], together: Any) -> None:
    for home in homes:
        together.wait(60)
        SqliteStore(home).close()


@pytest.mark.proves("D11")
def test_two_processes_may_open_a_new_home_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    together, homes = context.Barrier(2), [tmp_path / f"home{number}" for number in range(30)]
    openers = [context.Process(target=_open_all, args=(homes, together)) for _ in range(2)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    assert [opener.exitcode for opener in openers] == [0, 0]


@pytest.mark.proves("D11")
def test_two_processes_that_write_at_once_lose_nothing(store_factory: Any) -> None:
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(2)
    writers = [
        context.Process(target=_write_many, args=(store_factory, name, 200, together)) for name in ("left", "right")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    store = store_factory()
    assert store.check() == []
    census = store.census()
    assert (census.memories, census.receipts, census.sessions, census.vectors) == (400, 400, 2, {MODEL: 400})
    for name in ("left", "right"):
        assert texts(store.get(store.rows_of(session=name))) == [f"{name} {number}" for number in range(200)]
        assert len(store.turn(Session(name, "ada")).delivered) == 200


# Forgetting


@pytest.mark.parametrize("at_once", [2, 3, 5, 8])
def test_an_index_that_is_read_in_parts_is_the_same(
    store_factory: Any, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    store = store_factory()
    parts = [1, 2, 2, 1, 2]
    drafts = [
        draft(f"memory {number} of many", vectors=[unit(*np.eye(8)[(number + part) % 8]) for part in range(many)])
        for number, many in enumerate(parts)
    ]
    store.add(drafts, TALK)

    def read(one: Store) -> Any:
        with one.view(OWNER) as view:
            slots = view.slots([1, 2, 3, 4, 5])
            similar = [view.similarity(unit(*np.eye(8)[place]), slots, model=MODEL).tolist() for place in range(8)]
            return view.size, [posting.slots.tolist() for posting in view.postings([word_hash("memori")])], similar

    whole = read(store_factory())
    monkeypatch.setattr(store_index, "_READ_AT_ONCE", at_once)
    assert read(store_factory()) == whole


def told(text: str) -> Memory:
    return Memory(text, kind=Kind.SUMMARY, agent="ada", session="talk", at=50.0, tokens=3, decisions=["paint it"])


@pytest.mark.proves("P6")
def test_a_summary_tells_a_session_until_more_comes(store: Store) -> None:
    store.add([draft("one", at=10.0), draft("two", at=20.0)], TALK)
    assert store.to_summarise(before=19.0, limit=9) == []
    (session,) = store.to_summarise(before=20.0, limit=9)
    assert [memory.text for memory in store.told_by(session, limit=9)] == ["one", "two"]
    row = store.put_summary(session, told("both"), last=2)
    assert row
    assert store.to_summarise(before=99.0, limit=9) == []
    assert [one.summary for one in store.sessions(limit=9)] == ["both"]
    store.add([draft("three", at=15.0)], TALK)
    (session,) = store.to_summarise(before=99.0, limit=9)
    assert [memory.text for memory in store.told_by(session, limit=9)] == ["one", "two", "three"]
    assert store.put_summary(session, told("all three"), last=4) == row, "what quotes it stays as it was"
    (summary,) = store.recent(Kind.SUMMARY, OWNER, limit=9)
    assert (summary.text, summary.decisions, summary.row) == ("all three", ("paint it",), row)
    assert store.to_summarise(before=99.0, limit=9, agent="bob") == []


def test_of_a_long_session_its_ends_tell(store: Store) -> None:
    store.add([draft(str(number)) for number in range(20)], TALK)
    (session,) = store.to_summarise(before=99.0, limit=9)
    assert [memory.text for memory in store.told_by(session, limit=4)] == ["0", "1", "18", "19"]


def test_no_word_and_no_vector_leads_to_a_summary(store: Store) -> None:
    store.add([draft("one", vectors=unit(1))], TALK)
    (session,) = store.to_summarise(before=99.0, limit=9)
    assert store.put_summary(session, told("one"), last=1)
    with store.view(OWNER) as view:
        assert view.size == 1
    assert store.stale_rows(MODEL, limit=9) == []
    store.add([draft("two", vectors=unit(0, 1))], TALK)
    assert store.stale_rows(MODEL, limit=9) == []
    assert [memory.text for memory in store.stale_rows(OTHER_MODEL, limit=9)] == ["one", "two"]


def test_nothing_to_tell_is_not_looked_at_again(store: Store) -> None:
    store.add([draft("one")], TALK)
    (session,) = store.to_summarise(before=99.0, limit=9)
    assert store.put_summary(session, None, last=1) == 0
    assert store.to_summarise(before=99.0, limit=9) == []


@pytest.mark.proves("B5")
def test_a_summary_goes_with_any_memory_of_its_session(store: Store) -> None:
    rows = [one.row for one in store.add([draft("one"), draft("two")], TALK)]
    (session,) = store.to_summarise(before=99.0, limit=9)
    assert store.put_summary(session, told("both"), last=rows[-1])
    store.forget(rows[:1], texts=["one"])
    assert store.recent(Kind.SUMMARY, OWNER, limit=9) == []
    assert [one.key for one in store.to_summarise(before=99.0, limit=9)] == ["talk"]


@pytest.mark.proves("B5")
def test_what_was_forgotten_meanwhile_does_not_come_back_in_a_summary(store: Store) -> None:
    rows = [one.row for one in store.add([draft("one"), draft("two")], TALK)]
    (session,) = store.to_summarise(before=99.0, limit=9)
    store.forget(rows[:1], texts=["one"])
    assert store.put_summary(session, told("one and two"), last=rows[-1]) == 0
    assert store.recent(Kind.SUMMARY, OWNER, limit=9) == []
    assert [one.key for one in store.to_summarise(before=99.0, limit=9)] == ["talk"], "it is told anew"


def test_what_came_meanwhile_is_told_too(store: Store) -> None:
    rows = [one.row for one in store.add([draft("one", at=5.0), draft("two", at=5.0)], TALK)]
    (session,) = store.to_summarise(before=99.0, limit=9)
    store.add([draft("three", at=5.0)], TALK)
    assert store.put_summary(session, told("one and two"), last=rows[-1]) == 0
    assert store.to_summarise(before=99.0, limit=9)


@pytest.mark.proves("B5")
def test_a_summary_that_is_forgotten_itself_stays_away_until_the_session_goes_on(store: Store) -> None:
    rows = [one.row for one in store.add([draft("one"), draft("two")], TALK)]
    (session,) = store.to_summarise(before=99.0, limit=9)
    summary = store.put_summary(session, told("both"), last=rows[-1])
    store.forget([summary], texts=[])
    assert store.to_summarise(before=99.0, limit=9) == []
    store.add([draft("three")], TALK)
    assert store.to_summarise(before=99.0, limit=9)


def said_again(text: str, number: int, *, at: float, sketch: int = 7, **more: Any) -> Draft:
    return replace(draft(Memory(text, agent="ada", at=at, source_id=str(number), **more)), sketch=sketch)


def test_of_those_that_say_the_same_the_newest_has_no_successor(store: Store) -> None:
    times = (30.0, 10.0, 50.0, 20.0)
    rows = [store.add([said_again("so", number, at=at)], TALK)[0].row for number, at in enumerate(times)]
    found = {one.row: one.successor for one in store.get(rows)}
    assert [row for row, successor in found.items() if not successor] == [rows[2]]
    store.forget([rows[2]], texts=[])
    left = {one.row: one.successor for one in store.get(rows)}
    assert [row for row, successor in left.items() if not successor] == [rows[0]]


def test_a_successor_that_goes_is_replaced_by_its_own(store: Store) -> None:
    first, second, third = (one.row for one in store.add([draft("a"), draft("b"), draft("c")], TALK))
    store.weighed(second, {first: second})
    store.weighed(third, {first: third, second: third})
    assert [one.successor for one in store.get([first, second, third])] == [second, third, 0]
    store.forget([third], texts=[])
    assert [one.successor for one in store.get([first, second])] == [second, 0]
    store.forget([second], texts=[])
    assert [one.successor for one in store.get([first])] == [0]


def test_what_is_outdated_is_not_among_the_recent_and_makes_what_is_laid_ready_untrue(store: Store) -> None:
    first, second = (one.row for one in store.add([draft("a", kind=Kind.NOTE), draft("b", kind=Kind.NOTE)], TALK))
    mark = store.turn(TALK).mark
    store.weighed(second, {first: second})
    assert [one.row for one in store.recent(Kind.NOTE, OWNER, limit=9)] == [second]
    assert [one.row for one in store.recent(Kind.NOTE, OWNER, limit=9, within="talk")] == [second]
    assert store.recent(Kind.NOTE, OWNER, limit=9, within="other") == []
    assert not store.unchanged(mark, OWNER)


@pytest.mark.proves("B5")
def test_forgetting_leaves_no_byte_behind(store_factory: Any) -> None:
    store = store_factory()
    secret = Memory(
        text="The vault code is tangerine-one-nine.",
        kind=Kind.SUMMARY,
        agent="ada",
        session="talk",
        channel="tangerine-channel",
        sender="tangerine-sender",
        source_id="tangerine-source",
        title="tangerine-title",
        type="tangerine-type",
        files=("tangerine-file.md",),
        concepts=("tangerine-concept",),
        decisions=("tangerine-decision",),
        at=5.0,
    )
    [kept] = store.add([draft("The kettle is blue.")], TALK)
    [gone] = store.add([draft(secret, vectors=unit(1))], TALK)
    [also] = store.add([draft("The kettle is on.", vectors=unit(0, 1))], TALK)
    store.freeze(Session("later", "ada"), Frozen("index: tangerine-title", [kept.row, gone.row]))
    store.freeze(Session("blue", "ada"), Frozen("index: kettle", [kept.row]))
    later = Session("later", "ada")
    settle(store, later, ask="about the vault", rows=[kept.row, gone.row], delivered=[(gone.row, "hash-of-text")],
           block_hash="hash-of-block", notes=["tangerine-note"])  # fmt: skip
    settle(store, later, ask="is it true that The vault code is tangerine-one-nine. or not")
    settle(store, later, ask="vault code is tangerine-one-nine")
    innocent = settle(store, later, ask="which colour is the kettle", rows=[kept.row], delivered=[(kept.row, "kettle")])
    assert store_factory.bytes_on_disk().count(b"tangerine") > 8

    forgotten = store.forget([gone.row], texts=[secret.text])

    assert (forgotten.memories, forgotten.receipts) == (1, 3)
    assert b"tangerine" not in store_factory.bytes_on_disk()
    assert b"hash-of-" not in store_factory.bytes_on_disk()
    assert not store.was_delivered("hash-of-text")
    assert not store.was_delivered("hash-of-block")
    assert store.was_delivered("kettle")
    assert texts(store.get([kept.row, gone.row, also.row])) == ["The kettle is blue.", "The kettle is on."]
    assert [one["id"] for one in store.receipts(limit=9)] == [f"r{innocent}"]
    assert store.turn(later).delivered == {kept.row}
    assert store.stable(later) is None
    assert store.stable(Session("blue", "ada")) == Frozen("index: kettle", (kept.row,))
    with store.view(OWNER) as view:
        assert rows_with(view, "tangerin") == []
        assert rows_near(view, unit(1)) == [also.row]
    assert store.check() == []
    store.close()
    assert b"tangerine" not in store_factory.bytes_on_disk()


@pytest.mark.proves("B5")
@pytest.mark.parametrize("seed", [85, 297, 309])
def test_forgetting_leaves_nothing_in_the_slack_of_a_page(store_factory: Any, seed: int) -> None:
    # Deleting makes SQLite move other rows between pages, and a moved row may leave a copy of itself where it was.
    draw = random.Random(seed)
    store = store_factory()
    needles = {}
    for number in range(60):
        needle = f"needle{seed:03}x{number:03}"
        text = (needle + " ") * (draw.choice([20, 300, 900, 1800, 3000]) // 13 + 1)
        needles[store.add([draft(text)], None)[0].row] = needle
    order = list(needles)
    draw.shuffle(order)
    for count, row in enumerate(order[:57], 1):
        store.forget([row], texts=[])
        on_disk = store_factory.bytes_on_disk()
        assert [needles[one] for one in order[:count] if needles[one].encode() in on_disk] == []
        assert needles[order[-1]].encode() in on_disk


def test_forgetting_by_text_alone_takes_the_receipts_that_quote_it(store: Store) -> None:
    settle(store, TALK, ask="a hedgehog lives in the garden shed")
    settle(store, TALK, ask="garden")
    settle(store, TALK, ask="the weather in Lisbon")
    assert store.forget([], texts=["a hedgehog lives in the garden shed"]).receipts == 1
    assert [one["ask"] for one in store.receipts(limit=9)] == ["the weather in Lisbon", "garden"]
    assert store.forget([], texts=["garden"]).receipts == 1, "a short text only when it is the whole ask"
    assert store.forget([], texts=["in"]).receipts == 0


def test_a_great_many_memories_are_forgotten_with_one_look_at_the_receipts(store: Store) -> None:
    rows = [one.row for one in store.add([draft(f"pebble {number}") for number in range(600)], TALK)]
    for number in range(60):
        settle(store, TALK, ask=f"ask {number}", rows=rows[number * 10 : number * 10 + 10])
    keep = rows[-5:]
    assert store.forget(rows[:-5], texts=[]).receipts == 60, "each names one that is gone"
    assert [memory.row for memory in everything(store)] == keep


def test_forgetting_what_is_not_there_changes_nothing(store: Store) -> None:
    store.add([draft("stays")], TALK)
    assert store.forget([99], texts=["never said by anybody"]) == store.forget([], texts=[])
    assert texts(everything(store)) == ["stays"]


def test_a_forgotten_number_is_never_given_again(store: Store) -> None:
    [gone] = store.add([draft("first")], TALK)
    store.forget([gone.row], texts=[])
    [written] = store.add([draft("first")], TALK)
    assert written.created
    assert written.row > gone.row, "an id in an old conversation must not come to mean something else"


def test_a_session_of_which_nothing_is_left_is_forgotten_too(store: Store) -> None:
    store.add([draft("a"), draft("b")], TALK)
    store.add([draft("c")], Session("other", "ada"))
    store.forget([1, 2], texts=[])
    assert [session.key for session in store.sessions(limit=9)] == ["other"]


def test_a_session_that_has_only_begun_keeps_its_stable_part_when_something_else_is_forgotten(store: Store) -> None:
    store.add([draft("a")], TALK)
    fresh = Session("fresh", "ada")
    store.freeze(fresh, Frozen("index", []))
    store.freeze(TALK, Frozen("its own", []))
    store.forget([1], texts=[])
    assert store.stable(fresh) == Frozen("index", ())
    assert store.stable(TALK) is None, "a session that was forgotten takes its stable part along"


# Between turns


def test_a_new_session_remembers_nothing(store: Store) -> None:
    assert store.turn(TALK) == Turn(TALK)
    assert store.stable(TALK) is None
    assert not store.was_delivered("anything")
    assert store.sessions(limit=9) == [], "looking leaves no trace"


def test_an_ask_without_a_session_stands_alone(store: Store) -> None:
    [written] = store.add([draft("a")], TALK)
    nowhere = Session("", "ada")
    number = settle(store, nowhere, asked_at=9.0, ask_hash="h", delivered=[(written.row, "hash-a")])
    assert store.turn(nowhere) == Turn(nowhere, Mark(written.row, 0))
    assert store.receipt(number) is not None
    assert store.was_delivered("hash-a"), "what was injected is known as ours all the same"
    assert [session.key for session in store.sessions(limit=9)] == ["talk"]


@pytest.mark.proves("L5")
def test_a_moment_of_the_store_is_over_when_the_scope_sees_more_or_anything_is_forgotten(store: Store) -> None:
    [first] = store.add([draft("a")], TALK)
    then = store.turn(TALK).mark
    settle(store, TALK, asked_at=1.0, ask_hash="h")
    assert store.unchanged(then, OWNER), "a turn is no new memory"
    store.add([draft(Memory("b", agent="eve"))], Session("other", "eve", SessionKind.MAIN_SESSION))
    assert store.unchanged(then, OWNER), "nor is what another agent keeps"
    assert not store.unchanged(then, EVERYTHING)
    store.add([draft("c")], TALK)
    assert not store.unchanged(then, OWNER)
    now = store.turn(TALK).mark
    assert store.unchanged(now, OWNER)
    store.forget([first.row], texts=())
    assert not store.unchanged(now, OWNER)


def test_a_turn_does_not_wait_for_a_writer_longer_than_it_may(store: Store, store_factory: Any) -> None:
    store.turn(TALK)
    with _holding_the_write_lock(store_factory):
        started = time.monotonic()
        with pytest.raises(StoreBusy):
            settle(store, TALK, asked_at=1.0, ask_hash="h", wait_ms=50)
        assert time.monotonic() - started < 5, "ten seconds would be the patience of a recording"
    settle(store, TALK, asked_at=1.0, ask_hash="h", wait_ms=50)


@contextlib.contextmanager
def _holding_the_write_lock(store_factory: Any) -> Iterator[None]:
    other = sqlite3.connect(store_factory.home / store_connection.FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@pytest.mark.proves("D9")
def test_a_turn_is_remembered_by_whoever_opens_the_store_next(store_factory: Any) -> None:
    store = store_factory()
    rows = [one.row for one in store.add([draft("a"), draft("b")], TALK)]
    number = settle(store, TALK, asked_at=12.5, ask_hash="h1", delivered=[(rows[0], "hash-a")], block_hash="hash-block")
    settle(store, TALK, asked_at=13.5, ask_hash="h2", delivered=[(rows[1], "hash-b")])
    store.close()
    again = store_factory()
    turn = again.turn(TALK)
    assert (turn.asked_at, turn.ask_hash, turn.delivered) == (13.5, "h2", set(rows))
    assert turn.receipt == number + 1
    assert all(again.was_delivered(one) for one in ("hash-a", "hash-b", "hash-block"))
    other = replace(TALK, agent="bob")
    assert again.turn(other) == Turn(other, turn.mark), "the same key, another agent"


def test_after_compaction_everything_may_be_said_again_but_is_still_known_as_ours(store: Store) -> None:
    [written] = store.add([draft("a")], TALK)
    settle(store, TALK, ask_hash="h", delivered=[(written.row, "hash-a")])
    store.freeze(TALK, Frozen("stable", []))
    other = Session("other", "ada")
    settle(store, other, delivered=[(written.row, "hash-a")])
    store.compacted(TALK)
    turn = store.turn(TALK)
    assert (turn.delivered, turn.ask_hash, turn.epoch) == (frozenset(), "", 1)
    assert store.stable(TALK) is None
    assert store.was_delivered("hash-a")
    assert store.turn(other).delivered == {written.row}
    settle(store, TALK, delivered=[(written.row, "hash-a")])
    assert store.turn(TALK).delivered == {written.row}


@pytest.mark.proves("B3")
def test_the_first_stable_part_wins(store_factory: Any) -> None:
    here, there = store_factory(), store_factory()
    rows = here.add([draft("one memory"), draft("another memory")], TALK)
    first, second = (Frozen(text, (row.row,)) for text, row in zip(("the first", "the second"), rows, strict=True))
    assert here.freeze(TALK, first) == first
    assert there.freeze(TALK, second) == first
    assert here.stable(TALK) == there.stable(TALK) == first
    assert there.freeze(TALK, second, instead_of=first) == second
    assert here.freeze(TALK, Frozen("of a memory that is gone", (99,)), instead_of=second) is None
    here.compacted(TALK)
    nothing = Frozen("", ())
    assert there.freeze(TALK, nothing) == nothing, "that there is nothing to say is worth keeping as well"
    assert here.stable(TALK) == nothing


@pytest.mark.proves("S7")
def test_a_session_s_workspace_is_known_to_whoever_opens_the_store_next(store_factory: Any) -> None:
    first = store_factory()
    assert first.workspace("main", "agent:main:main") == ""
    first.keep_workspace("main", "agent:main:main", "/home/ada/one")
    first.keep_workspace("other", "agent:main:main", "/home/ada/two")
    first.keep_workspace("main", "agent:main:main", "/home/ada/three")
    second = store_factory()
    assert second.workspace("main", "agent:main:main") == "/home/ada/three"
    assert second.workspace("other", "agent:main:main") == "/home/ada/two"
    assert second.workspace("main", "agent:main") == ""
    assert second.workspaces() == ["/home/ada/three", "/home/ada/two"]


@pytest.mark.proves("S7", "B5")
def test_a_workspace_goes_with_the_last_of_its_session(store: Store, store_factory: Any) -> None:
    kept, gone = Session("kept-session", "main"), Session("gone-session", "main")
    store.add([draft("Something that stays.")], kept)
    row = store.add([draft("Something that goes.")], replace(gone, key="gone-session|external:telegram:9"))[0].row
    for session in (kept, gone):
        store.keep_workspace("main", session.key, f"/home/ada/{session.key}")
    store.forget([], texts=())
    assert store.workspace("main", "gone-session")
    store.forget([row], texts=())
    assert (store.workspace("main", "gone-session"), store.workspaces()) == ("", ["/home/ada/kept-session"])
    assert b"gone-session" not in store_factory.bytes_on_disk()


@pytest.mark.proves("S6")
def test_what_is_known_of_a_lane_s_file_is_what_was_said_last(store_factory: Any) -> None:
    first = store_factory()
    assert first.lane_files() == []
    first.keep_lane_file(LaneFile("/w/FOREWORD.md", "main", "agent:main:main", holds=True))
    first.keep_lane_file(LaneFile("/v/FOREWORD.md", "main", "agent:main:main", holds=False, problem="It is a link."))
    last = LaneFile("/w/FOREWORD.md", "other", "agent:main:other", holds=False)
    first.keep_lane_file(last)
    assert store_factory().lane_files() == [
        LaneFile("/v/FOREWORD.md", "main", "agent:main:main", holds=False, problem="It is a link."),
        last,
    ]


# Vaults


def chunk(text: str, *, file: str = "a.md") -> Draft:
    return draft(Memory(text, kind=Kind.CHUNK, files=(file,)), fingerprint=f"{file}:{text}", vectors=unit(len(text), 1))


def keep(store: Store, *texts: str, file: str = "a.md", at: int = 1) -> Replaced | None:
    """The file as it is now, with drafts for what is new in it."""
    drafts = [chunk(text, file=file) for text in texts]
    known = store.vault_chunks("notes", file)
    new = [one for one in drafts if one.fingerprint not in known]
    return store.keep_vault_file("notes", VaultFile(file, at, 10), [one.fingerprint for one in drafts], new)


@pytest.fixture
def vault(store: Store) -> Store:
    assert store.add_vault(Vault("notes", "/home/ada/notes", "ada", "sea", Audience.GROUP))
    return store


@pytest.mark.proves("D4")
def test_a_vault_is_known_to_whoever_opens_the_store_next_and_by_one_name(store_factory: Any) -> None:
    first = store_factory()
    assert first.vaults() == []
    given_vault = Vault("notes", "/home/ada/notes", "ada", "sea", Audience.GROUP)
    assert first.add_vault(given_vault)
    assert not first.add_vault(Vault("notes", "/elsewhere"))
    assert not first.add_vault(Vault("other", "/home/ada/notes"))
    assert store_factory().vaults() == [given_vault]
    keep(first, "one", "two")
    first.keep_vault_file("notes", VaultFile("b.md", 1, 2, "a link"), (), ())
    first.scanned_vault("notes", at=5.0, reading=3, problem="a disk is missing")
    (found,) = store_factory().vaults()
    assert (found.scanned_at, found.reading, found.problem) == (5.0, 3, "a disk is missing")
    assert store_factory().vault_size("notes") == (1, 2)
    assert store_factory().vault_size("others") == (0, 0)


@pytest.mark.proves("D4")
def test_of_a_changed_file_chunks_that_are_still_there_keep_their_memories(vault: Store) -> None:
    assert keep(vault, "one", "two", "three") == Replaced(added=3)
    rows = {memory.text: memory.row for memory in everything(vault)}
    assert keep(vault, "zero", "three", "one", at=2) == Replaced(added=1, kept=2, gone=1)
    now = {memory.text: memory.row for memory in everything(vault)}
    assert set(now) == {"zero", "three", "one"}
    assert (now["one"], now["three"]) == (rows["one"], rows["three"])
    assert vault.vault_chunks("notes", "a.md") == ["a.md:zero", "a.md:three", "a.md:one"]
    assert vault.vault_files("notes") == {"a.md": (2, 10)}
    assert texts(vault.around(now["three"], reach=1)) == ["zero", "three", "one"]
    assert texts(vault.around(now["one"], reach=None)) == ["zero", "three", "one"]


@pytest.mark.proves("D4")
def test_a_superseded_chunk_is_gone_for_every_question_and_every_open_store(store_factory: Any) -> None:
    here, there = store_factory(), store_factory()
    here.add_vault(Vault("notes", "/n"))
    keep(here, "apple pie", "plum cake")
    stays = here.add([draft("apple tree", vectors=unit(1, 2))], TALK)[0].row
    for one in (here, there):
        with one.view(EVERYTHING) as view:
            assert view.size == 3
    row = next(memory.row for memory in everything(here) if memory.text == "apple pie")
    settle(here, TALK, delivered=[(row, content_hash("apple pie"))], rows=[row])
    mark = here.turn(TALK).mark
    keep(here, "plum cake", at=2)
    for one in (here, there):
        with one.view(EVERYTHING) as view:
            assert view.size == 2
            assert rows_with(view, "appl") == [stays]
            assert row not in rows_near(view, unit(9, 1))
            assert view.slots([row]).tolist() == []
        assert one.get([row]) == []
        assert one.turn(TALK).delivered == frozenset()
        assert not one.was_delivered(content_hash("apple pie"))
    assert not here.unchanged(mark, EVERYTHING)
    keep(here, "plum cake", "pear", at=3)
    with there.view(EVERYTHING) as view:
        assert view.size == 3
    here.forget([stays], texts=())
    keep(here, "pear", at=4)
    for one in (here, there, store_factory()):
        assert texts(everything(one)) == ["pear"]
        with one.view(EVERYTHING) as view:
            assert view.size == 1


def test_a_chunk_that_nobody_drafted_changes_nothing(vault: Store) -> None:
    keep(vault, "one")
    before = (vault.vault_files("notes"), texts(everything(vault)))
    order = ["a.md:one", "a.md:unknown"]
    assert vault.keep_vault_file("notes", VaultFile("a.md", 9, 9), order, [chunk("one")]) is None
    assert vault.keep_vault_file("elsewhere", VaultFile("a.md", 9, 9), ["x"], [chunk("x")]) is None
    assert (vault.vault_files("notes"), texts(everything(vault))) == before


@pytest.mark.proves("D4")
def test_files_that_are_gone_go_with_their_chunks(vault: Store) -> None:
    keep(vault, "one", "two")
    keep(vault, "three", file="b.md")
    vault.keep_vault_file("notes", VaultFile("c.md", 1, 2, "a link"), (), ())
    assert vault.vault_problems("notes") == [VaultFile("c.md", 1, 2, "a link")]
    assert vault.vault_files("notes", ["b.md", "x.md"]) == {"b.md": (1, 10)}
    assert vault.leave_vault_files("notes", ["a.md", "c.md", "x.md"]) == 2
    assert vault.vault_files("notes") == {"b.md": (1, 10)}
    assert vault.vault_problems("notes") == []
    assert texts(everything(vault)) == ["three"]


@pytest.mark.proves("B5")
def test_a_vault_that_is_taken_out_leaves_no_byte_and_gets_no_more(store_factory: Any) -> None:
    store = store_factory()
    store.add_vault(Vault("xylophones", "/home/ada/zanzibar"))
    file = VaultFile("quetzal.md", 1, 1)
    store.keep_vault_file("xylophones", file, ["f"], [replace(chunk("marmalade"), fingerprint="f")])
    rows = store.leave_vault("xylophones")
    assert len(rows) == 1
    assert store.vaults()[0].leaving
    assert store.keep_vault_file("xylophones", file, (), ()) is None
    assert store.leave_vault("xylophones") == rows, "it can be done again"
    store.forget(rows, texts=())
    store.drop_vault("xylophones")
    assert store.vaults() == []
    for word in (b"xylophones", b"zanzibar", b"quetzal", b"marmalade"):
        assert word not in store_factory.bytes_on_disk()


def test_a_forgotten_chunk_is_no_longer_of_its_file(vault: Store) -> None:
    keep(vault, "one", "two")
    row = next(memory.row for memory in everything(vault) if memory.text == "one")
    vault.forget([row], texts=())
    assert vault.vault_chunks("notes", "a.md") == ["a.md:two"]
    assert vault.vault_files("notes") == {"a.md": (1, 10)}


def test_receipts_come_newest_first_and_by_session_and_agent(store: Store) -> None:
    numbers = [
        settle(store, Session(key, agent), ask=f"{agent} in {key}")
        for key, agent in [("one", "ada"), ("two", "ada"), ("one", "bob"), ("two", "ada")]
    ]
    ids = [f"r{number}" for number in numbers]
    assert [one["id"] for one in store.receipts(limit=9)] == ids[::-1]
    assert [one["id"] for one in store.receipts(limit=2)] == [ids[3], ids[2]]
    assert [one["id"] for one in store.receipts(limit=9, session="two")] == [ids[3], ids[1]]
    assert [one["id"] for one in store.receipts(limit=9, agent="bob")] == [ids[2]]
    assert store.receipts(limit=9, session="two", agent="bob") == []
    kept = store.receipt(numbers[1])
    assert kept == {**receipt("ada in two", session="two"), "id": ids[1], "feedback": ""}


def test_feedback_stays_with_its_receipt_and_the_last_word_counts(store_factory: Any) -> None:
    store = store_factory()
    first, second, third = (settle(store, TALK, ask=f"ask number {number}") for number in range(3))
    assert store.give_feedback(first, Feedback.GOOD)
    assert store.give_feedback(first, Feedback.NOISE)
    assert store.give_feedback(second, Feedback.MISSED)
    assert store.give_feedback(third, Feedback.MISSED)
    assert store.give_feedback(third, None), "taken back"
    assert store.give_feedback(third, None), "nothing to take back"
    store.close()
    again = store_factory()
    assert again.receipt(first)["feedback"] == "noise"
    assert [one["feedback"] for one in again.receipts(limit=9)] == ["", "missed", "noise"]
    assert again.census().feedback == {"missed": 1, "noise": 1}


def test_feedback_on_a_receipt_that_does_not_exist_says_so_and_changes_nothing(store: Store) -> None:
    number = settle(store, TALK)
    assert not store.give_feedback(number + 1, Feedback.GOOD)
    assert not store.give_feedback(number + 1, None)
    assert store.census().feedback == {}


@pytest.mark.proves("B5")
def test_feedback_goes_with_its_receipt_and_leaves_no_byte(store_factory: Any) -> None:
    store = store_factory()
    [gone, stays] = store.add([draft("the apricot jam"), draft("the plum jam")], TALK)
    named = settle(store, TALK, ask="which jam", rows=[gone.row])
    other = settle(store, TALK, ask="which other jam", rows=[stays.row])
    store.give_feedback(named, Feedback.NOISE)
    store.give_feedback(other, Feedback.MISSED)
    assert b"noise" in store_factory.bytes_on_disk()
    store.forget([gone.row], texts=[])
    assert store.receipt(named) is None
    assert not store.give_feedback(named, Feedback.NOISE)
    assert store.census().feedback == {"missed": 1}
    assert b"noise" not in store_factory.bytes_on_disk()


@pytest.mark.proves("P6")
def test_sessions_are_listed_latest_first_with_what_they_hold(store: Store) -> None:
    group = Session("group", "ada", SessionKind.GROUP_CHAT, Audience.GROUP, "red", "ship", "telegram", 50.0, 50.0)
    store.add([draft("late", at=40.0), draft("early", at=10.0), draft("latest", at=70.0)], group)
    store.add([draft("x", at=60.0)], Session("direct", "bob", started_at=60.0, last_at=60.0))
    first, second = store.sessions(limit=9)
    assert (first.key, first.memories, first.started_at, first.last_at) == ("group", 3, 10.0, 70.0)
    assert replace(first, memories=0, row=0, started_at=50.0, last_at=50.0) == group
    assert (second.key, second.memories) == ("direct", 1)
    assert [one.key for one in store.sessions(limit=1)] == ["group"]
    assert [one.key for one in store.sessions(limit=9, agent="bob")] == ["direct"]


def test_the_census_counts_everything_once(store: Store) -> None:
    store.add([draft("a", kind=Kind.NOTE, vectors=[unit(1), unit(0, 1)]), draft("b", audience=Audience.GROUP)], TALK)
    store.add([draft(Memory("c", agent="bob"))], None)
    settle(store, TALK, tokens=30, avoided=5)
    settle(store, TALK, tokens=0, avoided=7)
    census = store.census()
    assert (census.memories, census.sessions, census.receipts) == (3, 1, 2)
    assert census.by_agent == {"ada": 2, "bob": 1}
    assert census.by_kind == {"message": 2, "note": 1}
    assert census.by_audience == {"private": 2, "group": 1}
    assert census.vectors == {MODEL: 1}, "two vectors, one memory"
    assert (census.tokens_injected, census.tokens_avoided, census.silent) == (30, 12, 1)
    assert census.feedback == {}
    assert census.bytes > 0


def test_a_healthy_store_has_nothing_to_complain_about(store: Store) -> None:
    store.add([draft(f"memory {number}", vectors=unit(1, number)) for number in range(50)], TALK)
    assert store.check() == []


# The SQLite file, in good times and bad


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def filled(home: Path, count: int = 200) -> Path:
    store = SqliteStore(home)
    store.add([draft(f"memory {number} " + "long " * 40, vectors=unit(1, number)) for number in range(count)], TALK)
    store.close()
    return home / FILE


@pytest.mark.proves("D10")
def test_a_missing_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "not" / "yet" / "there")
    store.add([draft("a")], TALK)
    assert stat.S_IMODE((tmp_path / "not" / "yet" / "there").stat().st_mode) == 0o700
    files = list((tmp_path / "not" / "yet" / "there").iterdir())
    assert {file.name for file in files} >= {FILE, FILE + "-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    store.close()


def test_a_database_from_the_future_is_left_alone(home: Path) -> None:
    file = filled(home)
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreFromTheFuture, match=r"schema 99.*Upgrade"):
        SqliteStore(home)
    assert file.read_bytes() == before


def test_a_home_made_before_there_was_feedback_is_brought_up_to_date_with_all_it_holds(home: Path) -> None:
    home.mkdir()
    first = resources.files("foreword.store") / "schema" / "0001_memories.sql"
    old = receipt("what was it")
    connection = sqlite3.connect(home / FILE)
    connection.executescript(first.read_text("utf-8"))
    connection.execute("INSERT INTO receipt VALUES (7, 'ada', 'talk', 1.0, 'what was it', 0, 0, ?)", [json.dumps(old)])
    connection.executescript(f"PRAGMA user_version = 1; PRAGMA application_id = {APPLICATION_ID};")
    connection.close()
    store = SqliteStore(home)
    assert store.receipt(7) == {**old, "id": "r7", "feedback": ""}
    assert store.give_feedback(7, Feedback.MISSED)
    assert store.census().feedback == {"missed": 1}
    assert store.check() == []
    store.close()


def test_another_programs_database_is_left_alone(home: Path) -> None:
    home.mkdir()
    with sqlite3.connect(home / FILE) as connection:
        connection.execute("CREATE TABLE recipes (name)")
        connection.execute("INSERT INTO recipes VALUES ('soup')")
    connection.close()
    with pytest.raises(StoreDamaged, match="another program"):
        SqliteStore(home)
    connection = sqlite3.connect(home / FILE)
    assert connection.execute("SELECT name FROM recipes").fetchall() == [("soup",)]
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    connection.close()


@pytest.mark.parametrize("garbage", [b"short", b"not a database at all " * 300, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_named_and_left_alone(home: Path, garbage: bytes) -> None:
    home.mkdir()
    (home / FILE).write_bytes(garbage)
    with pytest.raises(StoreDamaged, match=r"foreword\.db is damaged.*doctor"):
        SqliteStore(home)
    assert (home / FILE).read_bytes() == garbage


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_file_that_was_cut_off_is_reported(home: Path, share: float) -> None:
    file = filled(home)
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    try:
        store = SqliteStore(home)
    except StoreDamaged:
        return
    complaints = store.check()
    assert complaints
    assert all(FILE in one for one in complaints)
    store.close()


def test_a_page_of_nonsense_in_the_middle_is_reported(home: Path) -> None:
    file = filled(home)
    data = bytearray(file.read_bytes())
    data[5 * 4096 : 9 * 4096] = b"\x99" * (4 * 4096)
    file.write_bytes(data)
    store = SqliteStore(home)
    assert store.check()
    with pytest.raises(StoreDamaged):
        everything(store)
    store.close()


@pytest.mark.parametrize("make", [Path.mkdir, lambda file: file.symlink_to(file.name)], ids=["a folder", "a loop"])
def test_a_file_that_cannot_be_one_is_named(home: Path, make: Any) -> None:
    home.mkdir()
    make(home / FILE)
    with pytest.raises(StoreUnwritable, match="cannot be written"):
        SqliteStore(home)


@pytest.mark.parametrize("inner", ["", "deeper", "n" * 300])
def test_a_home_that_cannot_be_a_folder_is_named(tmp_path: Path, inner: str) -> None:
    place = tmp_path / "file"
    if len(inner) < 300:
        place.write_text("already here")
    with pytest.raises(StoreUnwritable, match="cannot be written"):
        SqliteStore(place / inner)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that a process without rights can reach; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


_WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from foreword.errors import ForewordError
from foreword.store import SqliteStore
SqliteStore(Path(sys.argv[1]).parent / "elsewhere").close()  # Python itself may be out of reach without rights
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    SqliteStore(Path(sys.argv[1]))
except ForewordError as error:
    print(error.code, error)
else:
    print("opened")
"""


def opened_without_rights(home: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_RIGHTS, str(home)], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("folder_mode", "file_mode"),
    [(0o555, None), (0o555, 0o444), (0o755, 0o444), (0o555, 0o666), (0o000, 0o600)],
    ids=["an empty folder", "folder and file", "the file", "the folder", "not even readable"],
)
def test_a_home_that_is_read_only_is_named_and_left_alone(
    shared_folder: Path, folder_mode: int, file_mode: int | None
) -> None:
    home = shared_folder / "home"
    if file_mode is None:
        home.mkdir()
    else:
        filled(home, 5).chmod(file_mode)
    before = {file.name: file.read_bytes() for file in home.iterdir()}
    home.chmod(folder_mode)
    try:
        answer = opened_without_rights(home)
    finally:
        home.chmod(0o755)
    assert answer.startswith("store_unwritable ")
    assert str(home) in answer
    assert {file.name: file.read_bytes() for file in home.iterdir()} == before


def test_a_disk_that_fills_up_loses_nothing_and_works_again_once_there_is_room(home: Path) -> None:
    store = SqliteStore(home)
    store.add([draft(f"early {number}") for number in range(5)], TALK)
    connection = store._connections.here()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    big = [draft(f"late {number} " + "x" * 3000, vectors=unit(1)) for number in range(40)]
    with pytest.raises(StoreUnwritable, match="No room is left"):
        store.add(big, Session("new", "ada"))
    with pytest.raises(StoreUnwritable, match="No room is left"):
        store.freeze(TALK, Frozen("y" * 100_000, []))
    assert store.census().memories == 5
    assert store.census().vectors == {}
    assert [one.key for one in store.sessions(limit=9)] == ["talk"]
    assert store.stable(TALK) is None
    with store.view(OWNER) as view:
        assert (view.size, rows_near(view, unit(1))) == (5, [])
    assert store.check() == []
    connection.execute("PRAGMA max_page_count = 1000000")
    assert all(one.created for one in store.add(big, Session("new", "ada")))
    assert store.census().memories == 45
    store.close()


_WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from foreword.errors import ForewordError
from foreword.store import SqliteStore
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    SqliteStore(Path(sys.argv[1]))
except ForewordError as error:
    print(error.code)
else:
    print("opened")
"""


def test_a_home_made_without_room_is_named_and_can_be_made_later(home: Path) -> None:
    answers = set()
    for room in (0, 512, 4096, 10_000, 30_000, 60_000, 100_000):
        done = subprocess.run(
            [sys.executable, "-c", _WITHOUT_ROOM, str(home), str(room)], capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        answers.add(done.stdout.strip())
        if done.stdout.strip() == "opened":
            break
    assert "store_unwritable" in answers
    assert answers <= {"store_unwritable", "opened"}
    store = SqliteStore(home)
    assert store.add([draft("room at last")], TALK)[0].created
    assert store.check() == []
    store.close()


def test_many_processes_may_make_the_same_home_at_once(home: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from foreword.store import SqliteStore; SqliteStore(Path(sys.argv[1]))"
    )
    makers = [subprocess.Popen([sys.executable, "-c", code, str(home)], stderr=subprocess.PIPE) for _ in range(4)]
    complaints = [maker.communicate()[1] for maker in makers]
    assert complaints == [b""] * 4


def test_a_closed_store_can_be_opened_again(home: Path) -> None:
    store = SqliteStore(home)
    store.add([draft("a")], TALK)
    store.close()
    again = SqliteStore(home)
    assert texts(everything(again)) == ["a"]
    again.close()


def test_a_store_on_which_something_waits_names_who_holds_it_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_connection, "_LOCK_WAIT_S", 0.0)
    store = SqliteStore(home)
    other = sqlite3.connect(home / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ForewordError, match="Another process keeps the lock"):
        store.add([draft("a")], TALK)
    other.execute("ROLLBACK")
    assert store.add([draft("a")], TALK)[0].created
    other.close()
    store.close()


def test_traces_that_a_reader_kept_from_being_cleared_are_cleared_at_the_next_opening(tmp_path: Path) -> None:
    home = tmp_path / "home"
    store = SqliteStore(home)
    (written,) = store.add([draft("a needle that must vanish")], None)
    reader = sqlite3.connect(home / "foreword.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory").fetchone()
    store._connections.here().execute("PRAGMA busy_timeout = 0")
    with pytest.raises(StoreError, match="traces"):
        store.forget([written.row], texts=[])
    assert store.get([written.row]) == []
    assert any("traces" in problem for problem in store.check())
    reader.execute("COMMIT")
    reader.close()
    store.close()
    with contextlib.closing(SqliteStore(home)) as again:
        assert again.check() == []
        assert not any(b"needle that must vanish" in file.read_bytes() for file in home.iterdir())
