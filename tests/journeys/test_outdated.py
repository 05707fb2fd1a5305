"""What was said again or otherwise since is not pushed any more, and `why` says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from foreword import Ask, Event, Foreword, Kind, Origin

SESSION = "agent:main:main"


def say(engine: Foreword, clock: Any, text: str, *, days_ago: float = 0, **more: Any) -> str:
    more = {"session": SESSION, **more}
    return engine.record(Event(text, at=clock.now - days_ago * 86_400, **more)).id


def given(engine: Foreword, text: str, session: str = "agent:main:other") -> list[str]:
    return list(engine.brief(Ask(text, session=session)).memories)


def test_a_statement_that_something_is_otherwise_now_wins(foreword: Foreword, clock: Any) -> None:
    old = say(foreword, clock, "The staging database listens on port 6544.", days_ago=9)
    new = say(foreword, clock, "The staging database listens on port 7001 now.", days_ago=1)
    foreword.weigh()
    assert given(foreword, "Which port does the staging database listen on?") == [new]
    told = foreword.why()
    assert f"{new} has said it since, or otherwise" in told
    assert {one.memory.id for one in foreword.search("staging database port")} == {old, new}, "a search finds both"


def test_the_same_said_again_is_given_once(foreword: Foreword, clock: Any) -> None:
    say(foreword, clock, "The spare key hangs behind the blue door.", days_ago=9)
    new = say(foreword, clock, "the spare key hangs, behind the BLUE door", days_ago=1)
    assert given(foreword, "Where does the spare key hang?") == [new]
    assert foreword.status()["outdated"] == 1


def test_what_is_imported_later_but_was_said_earlier_is_the_outdated_one(foreword: Foreword, clock: Any) -> None:
    new = say(foreword, clock, "The spare key hangs behind the blue door.", days_ago=1)
    say(foreword, clock, "the spare key hangs behind the blue door", days_ago=30)
    assert given(foreword, "Where does the spare key hang?") == [new]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I ran five kilometres around the lake on Monday.", "I ran eight kilometres around the lake on Friday."),
        ("The staging database listens on port 6544.", "The staging mail relay is on another machine now."),
        ("The staging database listens on port 6544.", "Is the staging database on another port now?"),
        ("Maya plays the cello in the town orchestra.", "Maya now has a cat."),
        ("The flight goes from Berlin to Paris on Sunday.", "The flight goes from Paris to Berlin on Sunday."),
        ("Alice still owes Bob fifty euros for dinner.", "Bob still owes Alice fifty euros for dinner."),
        ("Take the blue pills before every meal.", "Take the blue pills after every meal."),
        ("The account balance stands at -50 euros today.", "The account balance stands at 50 euros today."),
    ],
)
def test_what_may_both_be_true_is_left_alone(foreword: Foreword, clock: Any, before: str, after: str) -> None:
    say(foreword, clock, before, days_ago=9)
    say(foreword, clock, after, days_ago=1)
    foreword.weigh()
    assert foreword.status()["outdated"] == 0


@pytest.mark.proves("B4")
def test_a_stranger_makes_nothing_of_the_owner_s_outdated(foreword: Foreword, clock: Any) -> None:
    say(foreword, clock, "The staging database listens on port 6544.", days_ago=9)
    group = "agent:main:telegram:group:-100"
    say(foreword, clock, "The staging database listens on port 1 now.", session=group, sender="mallory")
    say(foreword, clock, "The staging database listens on port 2 now.", origin=Origin.WEB)
    say(foreword, clock, "The staging database listens on port 3 now.", agent="other", session="agent:other:main")
    say(foreword, clock, "The staging database listens on port 4 now.", project="/work/elsewhere")
    foreword.weigh()
    assert foreword.status()["outdated"] == 0


def test_when_the_newer_one_is_forgotten_the_older_one_counts_again(foreword: Foreword, clock: Any) -> None:
    old = say(foreword, clock, "The staging database listens on port 6544.", days_ago=9)
    new = say(foreword, clock, "The staging database listens on port 7001 now.", days_ago=1)
    foreword.weigh()
    foreword.forget([new])
    assert given(foreword, "Which port does the staging database listen on?") == [old]


def test_two_corrections_of_the_same_moment_do_not_silence_each_other(foreword: Foreword, clock: Any) -> None:
    for port in (7001, 7002):
        say(foreword, clock, f"The staging database listens on port {port} now.")
    foreword.weigh()
    assert foreword.status()["outdated"] == 1


def test_what_one_says_of_oneself_is_not_said_again_by_another(foreword: Foreword, clock: Any) -> None:
    group = "agent:main:telegram:group:-100"
    for sender in ("alice", "bob"):
        say(foreword, clock, "My birthday is on the third of March.", session=group, sender=sender)
    assert foreword.status()["outdated"] == 0


def test_an_index_lists_nothing_that_is_outdated(foreword: Foreword, clock: Any) -> None:
    old = say(foreword, clock, "The staging host is called alpha.", days_ago=3, kind=Kind.NOTE)
    new = say(foreword, clock, "The staging host is called beta now.", days_ago=1, kind=Kind.NOTE)
    foreword.weigh()
    text = foreword.start("agent:main:next").text
    assert new in text
    assert f"{old} " not in text


def test_every_memory_is_looked_at_once(foreword: Foreword, clock: Any) -> None:
    for number in range(7):
        say(foreword, clock, f"Note number {number} says something else now.")
    assert [foreword.weigh(limit=5), foreword.weigh(limit=5), foreword.weigh(limit=5)] == [5, 2, 0]


def test_a_replay_knows_what_was_outdated(foreword: Foreword, clock: Any) -> None:
    say(foreword, clock, "The staging database listens on port 6544.", days_ago=9)
    say(foreword, clock, "The staging database listens on port 7001 now.", days_ago=1)
    foreword.weigh()
    given(foreword, "Which port does the staging database listen on?")
    (turn,) = foreword.replay()
    assert not turn.changed


def test_by_age_only_what_the_settings_name_is_forgotten(open_home: Callable[..., Foreword], clock: Any) -> None:
    engine = open_home(retention__observation_days=30)
    seen = say(engine, clock, "pytest says 34 passed", days_ago=40, kind=Kind.OBSERVATION)
    say(engine, clock, "The spare key hangs behind the blue door.", days_ago=400)
    say(engine, clock, "pytest says 35 passed", days_ago=20, kind=Kind.OBSERVATION)
    assert engine.retirable() == [seen]
    assert engine.retire().memories == 1
    assert engine.retire().memories == 0
    assert engine.status()["memories"] == 2


def test_a_summary_that_is_too_old_is_not_made_and_forgotten_again_and_again(
    open_home: Callable[..., Foreword], clock: Any
) -> None:
    engine = open_home(retention__summary_days=30)
    for text in ("The dinghy leaks at the keel, what now?", "A new plank, we decided.", "It is ordered already."):
        say(engine, clock, text, days_ago=40)
    assert engine.summarise() == 1
    assert engine.retire().memories == 1
    assert engine.summarise() == 0
    assert engine.retire().memories == 0


def test_nothing_is_forgotten_by_age_unless_asked_for(foreword: Foreword, clock: Any) -> None:
    say(foreword, clock, "The spare key hangs behind the blue door.", days_ago=4000)
    assert foreword.retirable() == []
    assert foreword.retire().memories == 0
