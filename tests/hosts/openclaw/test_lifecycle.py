"""What a conversation knows of what it was given: through compaction, reset, and a restart of the gateway."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import Gateway

FRAME = "foreword recall"
INDEX = "foreword index"
OWNER = 777
Remember = Callable[..., str]
Settings = Callable[[str], None]


@pytest.mark.proves("T13")
def test_a_memory_is_given_once_and_again_after_a_reset(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The regatta's starting gun is kept in the vicarage.")
    question = "Where is the regatta's starting gun kept{}?"
    given = "kept in the vicarage"
    assert given in gateway.turn(question.format(""), session).request.newest
    assert given not in gateway.turn(question.format(" these days"), session).request.newest
    gateway.ask("sessions.reset", key=f"agent:main:{session}", reason="reset")
    assert given in gateway.turn(question.format(" again"), session).request.newest


@pytest.mark.proves("T13", "L8")
def test_a_memory_is_given_again_after_a_compaction(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The lock keeper's bicycle has no brakes.")
    question = "What does the lock keeper's bicycle lack{}?"
    given = "has no brakes"
    assert given in gateway.turn(question.format(""), session).request.newest
    for soup in ("leek", "pea", "beetroot"):
        gateway.turn(f"I had {soup} soup for lunch.", session)
    assert given not in gateway.turn(question.format(" these days"), session).request.newest
    summaries = gateway.compact(session)
    assert summaries
    # Nothing that was injected becomes a part of the summary.
    assert [one for one in summaries if given in one.raw.decode() or FRAME in one.raw.decode()] == []
    assert given in gateway.turn(question.format(" again"), session).request.newest


@pytest.mark.proves("T13")
def test_a_person_on_a_channel_starts_anew_by_a_command(
    gateway: Gateway, remember: Remember, settings: Settings
) -> None:
    settings(f'[owner]\nids = ["telegram:{OWNER}"]\n')
    remember("The bakery's oven was built in Meissen.")
    question = "Where was the bakery's oven built{}?"
    assert "in Meissen" in gateway.write(question.format(""), OWNER).request.newest
    assert "in Meissen" not in gateway.write(question.format(" really"), OWNER).request.newest
    gateway.write("/new", OWNER)
    assert "in Meissen" in gateway.write(question.format(" again"), OWNER).request.newest


@pytest.mark.proves("B3", "P1")
def test_the_stable_part_is_the_same_through_a_session_and_made_anew_by_a_compaction(
    gateway: Gateway, session: str
) -> None:
    def note(title: str) -> None:
        kept = gateway.call("ingest", content=f"{title}: see the plan.", title=title, kind="note", agent="other")
        assert kept["outcome"] == "stored"

    note("Dredging of the harbour")
    first = gateway.turn("Good morning, what is on for today?", session, agent="other").request
    assert "Dredging of the harbour" in first.system.partition(INDEX)[2]
    assert first.system.index(INDEX) > first.system.index("SOUL-MARK")
    note("Repair of the crane")
    with gateway.without_daemon():
        away = gateway.turn("And what is on for tomorrow?", session, agent="other").request
    second = gateway.turn("And for the day after tomorrow?", session, agent="other").request
    assert first.system == away.system == second.system
    gateway.compact(session, agent="other")
    third = gateway.turn("What is on for the next week?", session, agent="other").request
    assert "Repair of the crane" in third.system.partition(INDEX)[2]


@pytest.mark.proves("D7", "L5", "L8")
def test_after_a_restart_of_the_gateway_what_was_given_counts_as_said_and_a_new_session_is_given_it(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The fire brigade's horse is called Hektor.")
    question = "What is the fire brigade's horse called{}?"
    assert "Hektor" in gateway.turn(question.format(""), session).request.newest
    gateway.stop()
    gateway.start()
    # The model has the conversation before it again, and the engine remembers what was given in it.
    assert "Hektor" not in gateway.turn(question.format(" again"), session).request.newest
    assert "Hektor" in gateway.turn(question.format(""), f"{session}-new").request.newest
