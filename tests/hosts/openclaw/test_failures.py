"""What happens to a turn when Foreword is away, slow, not allowed, or told to stay out of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import Gateway, Reply, wait_until

FRAME = "foreword recall"
OWNER = 777
Remember = Callable[..., str]
Settings = Callable[[str], None]


@pytest.mark.proves("L8")
def test_a_daemon_that_cannot_be_had_costs_the_turn_nothing(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The night train to Vienna leaves from platform nine.")
    with gateway.without_daemon():
        reply = gateway.turn("Which platform does the night train to Vienna leave from?", session)
    assert reply.text == "Understood."
    assert FRAME not in reply.request.raw.decode()


@pytest.mark.proves("L8")
def test_a_daemon_that_hangs_is_not_waited_for(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The night train to Vienna leaves from platform nine.")
    with gateway.stopped_daemon():
        reply = gateway.turn("Which platform does the night train to Vienna leave from?", session)
    assert reply.text == "Understood."
    assert FRAME not in reply.request.raw.decode()
    # Twice the deadline that these tests set, for the workspace files and for the brief; the host's own is 15 s.
    assert reply.seconds < 12


def test_a_daemon_that_is_not_there_is_started_by_the_turn_that_needs_it(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The night train to Vienna leaves from platform nine.")
    gateway.kill_daemon()
    reply = gateway.turn("Which platform does the night train to Vienna leave from?", session)
    assert "platform nine" in reply.request.newest
    assert gateway.memory.holder()


@pytest.mark.proves("L8")
def test_without_the_grant_nothing_is_injected_and_the_turn_goes_on(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The night train to Vienna leaves from platform nine.")
    question = "Which platform does the night train to Vienna leave from?"
    with gateway.without_grant():
        reply = gateway.turn(question, session)
        assert reply.text == "Understood."
        assert FRAME not in reply.request.raw.decode()
        assert "nothing is injected or recorded until this is granted: openclaw config set" in gateway.log.read_text()
    assert "platform nine" in gateway.turn(question, f"{session}-again").request.newest


@pytest.mark.proves("L7", "L8")
def test_a_daemon_killed_between_a_message_and_its_prompt_costs_the_turn_nothing_and_why_says_so(
    gateway: Gateway, remember: Remember
) -> None:
    remember("The canal boat's spare propeller is in the hayloft.")
    question = "Where is the canal boat's spare propeller?"
    replies: list[Reply] = []
    writing = threading.Thread(target=lambda: replies.append(gateway.write(question, OWNER)))
    with gateway.without_daemon(killed=False), gateway.stopped_daemon():
        written = gateway.telegram.read
        writing.start()
        wait_until(lambda: gateway.telegram.read > written, "the host to take the message")
        gateway.kill_daemon()
        writing.join(120)
        (reply,) = replies
        assert reply.text == "Understood."
        assert FRAME not in reply.request.raw.decode()
        why = gateway.write("/foreword why", OWNER).text
    assert why.startswith("Nothing was given with your last message: ")
    failures = (gateway.folder / "foreword" / "run" / "failures.log").read_text()
    assert "openclaw" in failures
    assert question not in failures


@pytest.mark.proves("L7", "L8")
def test_a_daemon_killed_while_the_model_thinks_is_started_again_and_nothing_said_is_lost(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The weathercock was gilded by Master Ohm.")
    question = "By whom was the weathercock gilded?"
    gateway.model.meanwhile = gateway.kill_daemon
    reply = gateway.turn(question, session)
    assert "Master Ohm" in reply.request.newest
    assert [one["content"] for one in gateway.kept(question, session)] == [question, "Understood."]


@pytest.mark.proves("L4", "L8")
def test_an_agent_may_be_left_out_of_what_is_given_and_of_what_is_recorded_apart(
    gateway: Gateway, session: str, remember: Remember, settings: Settings
) -> None:
    remember("The toboggan stands behind the woodshed.", agent="other")
    question = "Behind what does the toboggan stand?"
    settings('[turn]\nexclude = ["other"]\n')
    assert FRAME not in gateway.turn(question, session, agent="other").request.raw.decode()
    assert gateway.kept(question, session, agent="other")
    assert gateway.call("status")["excluded"] == {"capture": [], "injection": ["other"]}
    settings('[guard]\nexclude_capture = ["other"]\n')
    again = f"{question} I forgot."
    assert "behind the woodshed" in gateway.turn(again, f"{session}-2", agent="other").request.newest
    later = "That is all for today, thank you."
    gateway.turn(later, session)
    gateway.kept(later, session)
    assert f"agent:other:{session}-2" not in gateway.sessions()
