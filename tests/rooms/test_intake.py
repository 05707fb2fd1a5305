"""Event in, memory out: cleaned, placed, told apart from others, and refused where it cannot be kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword import Foreword
from foreword.errors import BadInput, TooLarge
from foreword.model import Audience, Event, Kind, Memory, Origin, Outcome, SessionClass, SessionKind
from foreword.place import kept
from foreword.record import GuardSettings, RecordSettings, Taken, check, clean, take

PRIVATE = SessionClass(SessionKind.MAIN_SESSION, Audience.PRIVATE)
GROUP = SessionClass(SessionKind.GROUP_CHAT, Audience.GROUP, "telegram:group:1")
NOW = 1_700_000_000.0


def taken(event: Event, *, place: SessionClass = PRIVATE, by_owner: bool = False, **settings: Any) -> Taken:
    record = RecordSettings(**settings)
    check(event, record)
    return take(
        event,
        agent="main",
        session="agent:main:main",
        host_key="agent:main:main",
        project=kept(event.project),
        place=place,
        by_owner=by_owner,
        now=NOW,
        settings=record,
        guard=GuardSettings(),
        was_delivered=lambda digest: False,
        count_tokens=len,
    )


def memory_of(event: Event, **how: Any) -> Memory:
    memory = taken(event, **how).memory
    assert memory is not None
    return memory


# What becomes of an event


@pytest.mark.proves("S1")
def test_a_message_is_kept_with_channel_sender_session_agent_and_time() -> None:
    event = Event("The kettle is on.", sender="Ada", channel="telegram", source_id="msg-7", at=12.5)
    memory = memory_of(event)
    assert (memory.text, memory.kind, memory.sender, memory.channel) == (
        "The kettle is on.",
        Kind.MESSAGE,
        "Ada",
        "telegram",
    )
    assert (memory.agent, memory.session, memory.source_id, memory.at) == ("main", "agent:main:main", "msg-7", 12.5)
    assert memory_of(replace(event, at=None)).at == NOW
    assert memory.tokens == len(memory.text)


@pytest.mark.proves("P6")
def test_an_observation_keeps_its_type_title_files_and_concepts() -> None:
    event = Event(
        "The pump leaks.",
        kind=Kind.OBSERVATION,
        type="bug",
        title="Leak",
        files=["pump.py", " ", "valve.py "],
        concepts=["pressure"],
        decisions=["replace it"],
        tool="grep",
    )
    memory = memory_of(event)
    assert (memory.type, memory.title, memory.files) == ("bug", "Leak", ("pump.py", "valve.py"))
    assert (memory.concepts, memory.decisions) == (("pressure",), ("replace it",))


@pytest.mark.parametrize(
    ("event", "place", "by_owner", "origin"),
    [
        (Event("x said"), PRIVATE, False, Origin.OWNER),
        (Event("x said"), GROUP, True, Origin.OWNER),
        (Event("x said"), GROUP, False, Origin.STRANGER),
        (Event("x said", origin=Origin.AGENT), GROUP, True, Origin.AGENT),
        (Event("x found", kind=Kind.OBSERVATION, tool="grep"), PRIVATE, True, Origin.TOOL),
        (Event("x found", kind=Kind.OBSERVATION, tool="WebFetch"), PRIVATE, True, Origin.WEB),
        (Event("x found", kind=Kind.OBSERVATION, tool="browser_open"), PRIVATE, True, Origin.WEB),
        (Event("x summed up", kind=Kind.SUMMARY), GROUP, False, Origin.AGENT),
    ],
)
def test_where_words_came_from_is_derived_unless_it_is_told(
    event: Event, place: SessionClass, by_owner: bool, origin: Origin
) -> None:
    assert memory_of(event, place=place, by_owner=by_owner).origin is origin


def test_a_memory_belongs_to_the_audience_and_circle_it_was_said_in() -> None:
    memory = memory_of(Event("for us all"), place=GROUP)
    assert (memory.audience, memory.circle) == (Audience.GROUP, "telegram:group:1")
    private = memory_of(Event("for me", audience=Audience.PRIVATE), place=GROUP)
    assert (private.audience, private.circle) == (Audience.PRIVATE, "")


def test_recording_may_be_switched_off() -> None:
    assert taken(Event("anything"), enabled=False) == Taken(reason="Recording is switched off.")


@pytest.mark.proves("B5")
def test_a_secret_is_taken_out_of_every_field() -> None:
    secret = "ghp_" + "Zk3R9wQ7xT1vB5nM8cL2" + "pH6jD4fS0aYe"
    event = Event(
        f"token {secret}",
        sender=f"Ada {secret}",
        channel=f"c {secret}",
        project=f"p {secret}",
        source_id=f"s {secret}",
        title=f"t {secret}",
        type=f"y {secret}",
        files=[f"f {secret}"],
        concepts=[f"k {secret}"],
        decisions=[f"d {secret}"],
    )
    result = taken(event)
    assert secret not in repr(result)
    assert result.redactions


@pytest.mark.proves("B5")
def test_what_is_all_private_is_not_kept() -> None:
    result = taken(Event("<private>the surgery is on Monday</private>"))
    assert result.memory is None
    assert result.reason == "Everything in the text was private or secret."


# Cleaning and refusing


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters() | st.sampled_from("\0\ud800\udfff😀"), max_size=60))
def test_a_cleaned_text_can_be_written_anywhere(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned
    if "\0" not in text and not any("\ud800" <= one <= "\udfff" for one in text):
        assert cleaned == text


def test_halves_of_a_pair_that_belong_together_become_one_again() -> None:
    assert clean("\ud83d\ude00") == "😀"


@pytest.mark.parametrize(
    "event",
    [
        Event(7),  # type: ignore[arg-type]
        Event(None),  # type: ignore[arg-type]
        Event(b"bytes"),  # type: ignore[arg-type]
        Event("x", sender=None),  # type: ignore[arg-type]
        Event("x", title=["a"]),  # type: ignore[arg-type]
        Event("x", files="a.py"),
        Event("x", concepts=[1]),  # type: ignore[list-item]
        Event("x", at=math.nan),
        Event("x", at=math.inf),
        Event("x", at=-1.0),
        Event("x", at=1e12),
        Event("x", at="now"),  # type: ignore[arg-type]
    ],
    ids=repr,
)
def test_what_cannot_be_a_memory_is_refused_with_a_reason(event: Event) -> None:
    with pytest.raises(BadInput, match=r"must be|is not a time"):
        check(event, RecordSettings())


def test_a_text_that_is_too_long_is_refused_not_cut() -> None:
    check(Event("x" * 100), RecordSettings(max_chars=100))
    with pytest.raises(TooLarge, match=r"101 characters.*at most 100"):
        check(Event("x" * 101), RecordSettings(max_chars=100))


def test_lists_and_fields_are_bounded() -> None:
    memory = memory_of(Event("x marks it", files=[f"f{number}" for number in range(500)], title="t" * 5000))
    assert len(memory.files) == 200
    assert len(memory.title) == 2000


# The same event


SAME = Event("The kettle is on.", source_id="7", title="t")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (replace(SAME, at=99.0), True),
        (replace(SAME, channel="other"), True),
        (replace(SAME, text="The kettle is off."), False),
        (replace(SAME, source_id="8"), False),
        (replace(SAME, title="u"), False),
        (replace(SAME, kind=Kind.NOTE), False),
        (replace(SAME, origin=Origin.AGENT), False),
        (replace(SAME, source_id="7t", title=""), False),
    ],
)
def test_a_fingerprint_tells_events_apart(other: Event, same: bool) -> None:
    assert (taken(SAME).fingerprint == taken(other).fingerprint) == same


@settings(max_examples=10, deadline=None)
@given(picks=st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_recording_twice_equals_once(tmp_path_factory: pytest.TempPathFactory, picks: list[int]) -> None:
    events = [Event(f"Fact number {number} about the kettle.", session="agent:main:main") for number in range(4)]
    with Foreword.open(tmp_path_factory.mktemp("home"), settings=None) as engine:
        recorded = [engine.record(events[pick]) for pick in picks]
        assert engine.status()["memories"] == len(set(picks))
        seen: dict[int, str] = {}
        for pick, one in zip(picks, recorded, strict=True):
            assert one.outcome is (Outcome.KNOWN if pick in seen else Outcome.STORED)
            assert seen.setdefault(pick, one.id) == one.id
        again = list(engine.record_all([events[pick] for pick in picks]))
        assert {one.outcome for one in again} == {Outcome.KNOWN}


HARD = ["", " ", "\0", "\ud800", "😀" * 10, "' OR 1=1 --", '"', "NEAR(a b)", "a* AND (b OR", "行" * 100, "\u202e"]


@pytest.mark.parametrize("text", [*HARD, "x" * 1_000_000, "word " * 200_000], ids=lambda text: repr(text)[:20])
def test_any_text_is_kept_or_skipped_with_a_reason(open_home: Callable[..., Foreword], text: str) -> None:
    engine = open_home()
    recorded = engine.record(Event(text, session="agent:main:main"))
    if recorded.outcome is Outcome.STORED:
        assert engine.get([recorded.id])[0].text == clean(text).strip()
    else:
        assert (recorded.outcome, bool(recorded.reason)) == (Outcome.SKIPPED, True)
    assert engine.check() == []
