"""At session start, what has to do with what is being done comes before what is merely new."""

from __future__ import annotations

import re
from typing import Any

import pytest

from foreword import Event, Foreword, Kind

OLD = "agent:main:old"


def see(engine: Foreword, clock: Any, title: str, text: str, *, days_ago: float, files: list[str] | None = None) -> str:
    event = Event(
        text,
        kind=Kind.OBSERVATION,
        session=OLD,
        title=title,
        type="read",
        files=files or [],
        at=clock.now - days_ago * 86_400,
    )
    return engine.record(event).id


def listed(text: str) -> list[str]:
    return re.findall(r"- (m\d+) ", text)


@pytest.fixture
def seen(foreword: Foreword, clock: Any) -> dict[str, str]:
    return {
        "vouchers": see(
            foreword, clock, "Read: shop/vouchers.py", "A voucher lowers the total before shipping.", days_ago=30,
            files=["shop/vouchers.py"],
        ),
        "tides": see(foreword, clock, "Read: tides.txt", "The tide tables of March.", days_ago=2, files=["tides.txt"]),
        "moon": see(foreword, clock, "Read: moon.txt", "The phases of the moon.", days_ago=1, files=["moon.txt"]),
    }  # fmt: skip


@pytest.mark.proves("P7")
def test_what_the_ask_is_about_comes_first(foreword: Foreword, seen: dict[str, str]) -> None:
    found = foreword.start("agent:main:new", text="Why does the voucher not lower the total of the order?").text
    assert listed(found) == [seen["vouchers"], seen["moon"], seen["tides"]]


@pytest.mark.proves("P7")
def test_the_files_in_play_count(foreword: Foreword, seen: dict[str, str]) -> None:
    found = foreword.start("agent:main:new", text="Let us go on here, please.", files=["shop/vouchers.py"]).text
    assert listed(found)[0] == seen["vouchers"]


@pytest.mark.proves("P7")
def test_without_an_ask_the_newest_comes_first(foreword: Foreword, seen: dict[str, str]) -> None:
    assert listed(foreword.start("agent:main:new").text) == [seen["moon"], seen["tides"], seen["vouchers"]]


@pytest.mark.proves("P7", "B3")
def test_after_a_compaction_the_session_itself_tells_what_it_is_about(
    foreword: Foreword, clock: Any, seen: dict[str, str]
) -> None:
    here = "agent:main:here"
    before = foreword.start(here).text
    foreword.record(Event("Why does the voucher not lower the total of the order?", session=here))
    assert foreword.start(here).text == before, "frozen until it is compacted"
    foreword.compact(here)
    assert listed(foreword.start(here).text)[0] == seen["vouchers"]


@pytest.mark.proves("P7", "B4")
def test_relevance_opens_nothing_that_is_out_of_scope(foreword: Foreword, seen: dict[str, str]) -> None:
    text = "Why does the voucher not lower the total of the order?"
    assert foreword.start("agent:other:new", text=text, files=["shop/vouchers.py"]).text == ""
    assert "voucher" not in foreword.start("agent:main:telegram:group:-1", sender="x", text=text).text
