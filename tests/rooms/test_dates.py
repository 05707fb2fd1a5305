"""The time an ask speaks of."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.recall.dates import spoken_of

# A Wednesday afternoon.
NOW = datetime(2026, 6, 17, 15, 30)


def span(text: str, now: datetime = NOW) -> tuple[str, str] | None:
    found = spoken_of(text, now.timestamp())
    if found is None:
        return None
    return tuple(f"{datetime.fromtimestamp(at):%Y-%m-%d}" for at in (found.start, found.end))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("What did we do today?", "2026-06-17", "2026-06-18"),
        ("the call this morning", "2026-06-17", "2026-06-18"),
        ("What did I say yesterday?", "2026-06-16", "2026-06-17"),
        ("the noise last night", "2026-06-16", "2026-06-17"),
        ("the day before yesterday", "2026-06-15", "2026-06-16"),
        ("what happened last week", "2026-06-08", "2026-06-15"),
        ("what happened this week", "2026-06-15", "2026-06-22"),
        ("the trip last month", "2026-05-01", "2026-06-01"),
        ("our plan for this month", "2026-06-01", "2026-07-01"),
        ("the harvest last year", "2025-01-01", "2026-01-01"),
        ("the party last weekend", "2026-06-13", "2026-06-15"),
        ("what we agreed on Monday", "2026-06-15", "2026-06-16"),
        ("the meeting last Wednesday", "2026-06-10", "2026-06-11"),
        ("the meeting last Thursday", "2026-06-11", "2026-06-12"),
        ("what about this Wednesday", "2026-06-17", "2026-06-18"),
        ("the invoice from 2026-05-03", "2026-05-03", "2026-05-04"),
        ("the invoice of 3 May 2025", "2025-05-03", "2025-05-04"),
        ("the invoice of May 3rd, 2025", "2025-05-03", "2025-05-04"),
        ("on the 3rd of May", "2026-05-03", "2026-05-04"),
        ("on 24 December", "2025-12-24", "2025-12-25"),
        ("what we wrote in March", "2026-03-01", "2026-04-01"),
        ("what we wrote in September", "2025-09-01", "2025-10-01"),
        ("in the month of February", "2026-02-01", "2026-03-01"),
        ("before March", "1970-01-02", "2026-03-01"),
        ("after March", "2026-04-01", "2026-06-18"),
        ("since March", "2026-03-01", "2026-06-18"),
        ("since 2024", "2024-01-01", "2026-06-18"),
        ("before the last week", "1970-01-02", "2026-06-08"),
        ("day before yesterday", "2026-06-15", "2026-06-16"),
        ("in the last month's report", "2026-05-01", "2026-06-01"),
        ("what I bought in the last month", "2026-05-18", "2026-06-18"),
        ("over the past week", "2026-06-10", "2026-06-18"),
        ("the swim on Saturday morning", "2026-06-13", "2026-06-14"),
        ("what we wrote in December", "2025-12-01", "2026-01-01"),
        ("back in January 2024 perhaps", "2024-01-01", "2024-02-01"),
        ("what we wrote in 2023", "2023-01-01", "2024-01-01"),
        ("in the last three days", "2026-06-14", "2026-06-18"),
        ("over the past 2 weeks", "2026-06-03", "2026-06-18"),
        ("the thing from three days ago", "2026-06-13", "2026-06-15"),
        ("since 3 May 2026", "2026-05-03", "2026-06-18"),
        ("after 2026-05-03", "2026-05-04", "2026-06-18"),
        ("before 2026-05-03", "1970-01-02", "2026-05-03"),
    ],
)
def test_a_span_is_understood(text: str, start: str, end: str) -> None:
    assert span(text) == (start, end)


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("What shall we eat tonight?", True),
        ("What is due this week?", True),
        ("Anything for this Friday?", True),
        ("What did I say yesterday?", False),
        ("what happened last week", False),
        ("over the past 2 weeks", False),
        ("what was settled before this week", False),
        ("since 3 May 2026", False),
    ],
)
def test_the_present_is_told_from_the_past(text: str, present: bool) -> None:
    found = spoken_of(text, NOW.timestamp())
    assert found is not None
    assert found.present is present


@pytest.mark.parametrize(
    ("text", "back"), [("What did we decide this morning?", True), ("What do I have to do this week?", False)]
)
def test_an_ask_about_the_present_may_look_back(text: str, back: bool) -> None:
    found = spoken_of(text, NOW.timestamp())
    assert found
    assert found.present
    assert found.looks_back is back


@pytest.mark.parametrize(("text", "days"), [("two weeks ago", 14), ("a couple of weeks ago", 14), ("3 months ago", 90),
                                            ("a year ago", 365), ("a few days ago", 3)])  # fmt: skip
def test_some_time_ago_is_around_then(text: str, days: int) -> None:
    found = spoken_of(f"What did we say {text}?", NOW.timestamp())
    assert found is not None
    assert found.holds((NOW - timedelta(days=days)).timestamp())
    assert not found.holds(NOW.timestamp())
    assert not found.holds((NOW - timedelta(days=2 * days + 1)).timestamp())
    assert found.words == text


@pytest.mark.parametrize(
    "text",
    [
        "When is the dentist?",
        "It may rain, or it may not.",
        "Port 2026 is open on host 7",
        "We march on.",
        "Call Sunday the cat",
        "on 31 June",
        "version 19.05.2026b",
        "When do I get up on Saturday mornings?",
        "the last week of the semester",
        "in the last two years of school",
        "",
    ],
)
def test_no_time_is_read_into_what_names_none(text: str) -> None:
    assert span(text) is None


def test_a_month_that_is_running_is_this_years() -> None:
    assert span("in June") == ("2026-06-01", "2026-07-01")
    assert span("in July") == ("2025-07-01", "2025-08-01")


def test_the_last_days_of_february_come_around() -> None:
    assert span("on 29 February", datetime(2024, 3, 5)) == ("2024-02-29", "2024-03-01")
    assert span("in February 2024") == ("2024-02-01", "2024-03-01")


def test_a_span_holds_its_start_and_not_its_end() -> None:
    found = spoken_of("yesterday", NOW.timestamp())
    assert found is not None
    assert found.holds(found.start)
    assert not found.holds(found.end)


PIECES = ["since", "before", "after", "last", "this", "in", "the", "31", "29", "999", "February", "may", "2026",
          "1900", "2099-99-99", "2024-02-29", "week", "weekend", "years", "ago", "Monday", "couple of", "a few", "by",
          "yesterday", "past", ","]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    words=st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8),
    now=st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)),
)
def test_any_words_give_a_proper_span_or_none(words: list[str], now: datetime) -> None:
    found = spoken_of(" ".join(words), now.timestamp())
    assert found is None or found.start < found.end
    assert found is None or found.words


def test_a_month_in_letters_of_another_shape_is_read_as_the_month() -> None:
    assert span("What did we say in ſeptember?") == span("What did we say in september?") is not None
