"""Sessions are told when they rest, and told anew when they go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foreword import Ask, Event, Foreword, Kind, Origin

SESSION = "agent:main:boat"


def talk(engine: Foreword, clock: Any, *, session: str = SESSION, subject: str = "dinghy", **more: Any) -> list[str]:
    said = (
        (Origin.OWNER, f"The {subject} leaks at the keel, what can be done about it?"),
        (Origin.AGENT, "Epoxy or a new plank would both hold."),
        (Origin.OWNER, f"We decided to put a new plank into the {subject}."),
        (Origin.AGENT, f"The plank for the {subject} is ordered. It still needs to be paid."),
    )
    return [
        engine.record(Event(text, session=session, origin=origin, at=clock.now, **more)).id for origin, text in said
    ]


def summary(engine: Foreword, session: str = SESSION) -> str:
    return next(one.summary for one in engine.sessions() if one.key == session)


@pytest.mark.proves("P6")
def test_a_session_is_told_when_it_rests_and_not_before(foreword: Foreword, clock: Any) -> None:
    talk(foreword, clock)
    assert foreword.summarise() == 0
    clock.forward(seconds=11 * 60)
    assert foreword.summarise() == 1
    assert "The dinghy leaks at the keel" in summary(foreword)
    assert foreword.summarise() == 0, "it is told already"


@pytest.mark.proves("P6")
def test_a_session_that_goes_on_is_told_anew_under_the_same_id(foreword: Foreword, clock: Any) -> None:
    talk(foreword, clock)
    foreword.summarise(resting=False)
    before = foreword.start("agent:main:next").text
    foreword.record(Event("The plank of the dinghy came, and it is paid.", session=SESSION, origin=Origin.AGENT))
    clock.forward(seconds=11 * 60)
    foreword.summarise()
    assert "it is paid" in summary(foreword)
    assert foreword.start("agent:main:next").text == before, "what is frozen stays, byte for byte"
    assert foreword.status()["by_kind"]["summary"] == 1


@pytest.mark.proves("P1", "P6")
def test_whoever_begins_anew_at_once_is_told_what_just_ended(foreword: Foreword, clock: Any) -> None:
    talk(foreword, clock)
    text = foreword.start("agent:main:next").text
    assert "We decided to put a new plank into the dinghy" in text
    assert "agent:main:boat" in text


def test_a_summary_is_no_answer_to_a_question(foreword: Foreword, clock: Any) -> None:
    kept = talk(foreword, clock)
    foreword.summarise(resting=False)
    found = foreword.search("new plank for the dinghy", limit=20)
    assert {one.memory.id for one in found} == set(kept)
    assert foreword.status()["embedder"]["waiting"] == 0
    assert foreword.rebuild_vectors() == 0


@pytest.mark.proves("B5")
def test_forgetting_one_memory_takes_the_summary_that_quotes_it(foreword: Foreword, clock: Any, tmp_path: Path) -> None:
    kept = talk(foreword, clock, subject="zanzibarka")
    foreword.summarise(resting=False)
    listed = foreword.start("agent:main:next").text
    assert "zanzibarka" in listed
    foreword.forget(kept)
    assert "zanzibarka" not in foreword.start("agent:main:next").text
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.name == "foreword.db" for file in files)
    assert not any(b"zanzibarka" in file.read_bytes() for file in files)


@pytest.mark.proves("B5")
def test_what_is_left_of_a_session_is_told_anew(foreword: Foreword, clock: Any) -> None:
    kept = talk(foreword, clock)
    foreword.summarise(resting=False)
    foreword.forget(kept[2:3])
    foreword.summarise(resting=False)
    assert "decided" not in summary(foreword)
    assert "leaks at the keel" in summary(foreword)


@pytest.mark.proves("B4")
def test_a_private_summary_never_reaches_a_group(foreword: Foreword, clock: Any) -> None:
    talk(foreword, clock, session="agent:main:main", subject="secret boat")
    talk(foreword, clock, session="agent:main:telegram:group:-100", sender="somebody", subject="club boat")
    foreword.summarise(resting=False)
    text = foreword.start("agent:main:telegram:group:-100:topic:3", sender="somebody").text
    assert "club boat" in text
    assert "secret boat" not in text
    assert "boat" not in foreword.start("agent:main:telegram:group:-200", sender="somebody").text


@pytest.mark.proves("B4")
def test_one_project_s_summary_does_not_reach_another(foreword: Foreword, clock: Any) -> None:
    talk(foreword, clock, project="/work/one", subject="first boat")
    assert "first boat" not in foreword.start("agent:main:next", project="/work/two").text
    assert "first boat" in foreword.start("agent:main:other", project="/work/one").text


def test_switched_off_nothing_is_told(open_home: Callable[..., Foreword], clock: Any) -> None:
    engine = open_home(**{"summary.enabled": False})
    talk(engine, clock)
    assert engine.summarise(resting=False) == 0
    assert "plank" not in engine.start("agent:main:next").text


def test_a_session_that_brings_a_summary_of_its_own_is_not_told_again(foreword: Foreword, clock: Any) -> None:
    talk(foreword, clock)
    foreword.record(Event("The dinghy gets a plank.", session=SESSION, kind=Kind.SUMMARY, project="/work/boats"))
    foreword.summarise(resting=False)
    assert summary(foreword) == ""


def test_an_ask_alone_is_nothing_to_tell(foreword: Foreword, clock: Any) -> None:
    foreword.brief(Ask("Where is the boat kept in winter?", session=SESSION))
    assert foreword.summarise(resting=False) == 1
    assert foreword.summarise(resting=False) == 0
