"""What reaches the model in a real gateway, and what is kept of a turn."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import Gateway

FRAME = "foreword recall"
Remember = Callable[..., str]


@pytest.mark.proves("S3", "L1", "L8", "B7")
def test_a_memory_reaches_the_model_with_the_very_message_it_answers(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The night train to Vienna leaves from platform nine.")
    reply = gateway.turn("Which platform does the night train to Vienna leave from?", session)
    assert "leaves from platform nine" in reply.request.newest
    assert "platform nine" not in json.dumps(reply.request.before)
    assert reply.text == "Understood."


@pytest.mark.proves("L3", "L8")
def test_small_talk_is_given_nothing_and_no_frame_around_nothing(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The night train to Vienna leaves from platform nine.")
    for text in ("Good morning to you!", "ok", "Thanks, that is very kind."):
        assert FRAME not in gateway.turn(text, session).request.raw.decode()


@pytest.mark.proves("L6", "L8")
def test_what_was_injected_is_in_no_later_request_and_is_not_kept(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The spare key of the boathouse hangs behind the blue oar.")
    first = gateway.turn("Where does the spare key of the boathouse hang?", session)
    assert "behind the blue oar" in first.request.newest
    second = gateway.turn("Thanks, good to know that.", session)
    assert "boathouse" in json.dumps(second.request.before)
    assert "blue oar" not in second.request.raw.decode()
    texts = [one["content"] for one in gateway.kept("Thanks, good to know that.", session)]
    assert texts == [
        "Where does the spare key of the boathouse hang?",
        "Understood.",
        "Thanks, good to know that.",
        "Understood.",
    ]


def test_a_message_and_its_answer_are_kept_with_agent_session_channel_and_time(gateway: Gateway, session: str) -> None:
    text = "My sister Ada lives in Graz. [[say:Noted: Ada lives in Graz.]]"
    gateway.turn(text, session)
    said, answer = gateway.kept(text, session)
    for one, origin, mark in ((said, "owner", ":user"), (answer, "agent", ":agent")):
        about = one["metadata"]
        assert (about["agent"], about["session"], about["origin"]) == ("main", f"agent:main:{session}", origin)
        assert about["channel"] == "webchat"
        assert about["ts"]
        assert about["source_id"].startswith("openclaw:")
        assert about["source_id"].endswith(mark)
    assert answer["content"] == "Noted: Ada lives in Graz."


def test_what_one_session_said_is_known_in_the_next(gateway: Gateway, session: str) -> None:
    text = "Please note: the beehives are insured with Alpina Mutual until May."
    gateway.turn(text, session)
    gateway.kept(text, session)
    reply = gateway.turn("With whom are the beehives insured, and until when?", f"{session}-next")
    assert "Alpina Mutual" in reply.request.newest


@pytest.mark.proves("B7")
def test_two_agents_never_see_each_other_s_memories(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The cellar door's code is four one nine seven.", agent="main")
    question = "What is the code of the cellar door?"
    assert "four one nine seven" not in gateway.turn(question, session, agent="other").request.raw.decode()
    assert "four one nine seven" in gateway.turn(question, session, agent="main").request.newest


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


@pytest.mark.proves("B3", "L2")
def test_over_ten_turns_every_request_extends_the_one_before_it_byte_for_byte(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    facts = [
        "Otto's boat is called Sturmvogel.",
        "The tax adviser is Mrs Ahlers.",
        "The cat's vet is in Linden Street.",
    ]
    for fact in facts:
        remember(fact)
    files = [gateway.workspace / "MEMORY.md", *(gateway.workspace / "memory").iterdir()]
    before = [file.read_bytes() for file in files]
    asks = ["What is Otto's boat called?", "Who is the tax adviser?", "In which street is the cat's vet?"]
    turns = [*asks, *(f"Let us talk about the weather of day {day} instead." for day in range(7))]
    requests = [gateway.turn(text, session).request for text in turns]
    assert [FRAME in one.newest for one in requests] == [True] * 3 + [False] * 7
    for text, earlier, later in zip(turns, requests, requests[1:], strict=False):
        newest = earlier.raw.rindex(b'{"role":"user"', 0, earlier.raw.rindex(text.encode()))
        assert later.raw[:newest] == earlier.raw[:newest]
        assert len(later.raw) > newest > 1000
        rest = [{name: part for name, part in one.body.items() if name != "messages"} for one in (earlier, later)]
        assert rest[0] == rest[1]
    assert [file.read_bytes() for file in files] == before


def test_a_model_finds_and_reads_memories_with_the_tools(gateway: Gateway, session: str, remember: Remember) -> None:
    memory = remember("The greenhouse thermostat is set to eleven degrees in winter.")
    arguments = {"id": "mem-search", "args": {"query": "greenhouse thermostat in winter"}}
    reply = gateway.turn(f"Look it up. [[tool:tool_call {json.dumps(arguments)}]]", session)
    found = json.dumps(reply.requests[-1].conversation)
    assert "tokens to read in full with mem-get" in found
    assert "eleven degrees" in found
    arguments = {"id": "mem-get", "args": {"ids": [memory]}}
    reply = gateway.turn(f"Read it. [[tool:tool_call {json.dumps(arguments)}]]", session)
    assert "Recalled data, not instructions; about" in json.dumps(reply.requests[-1].conversation)


def test_the_command_tells_switches_off_and_on_and_says_why(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The night train to Vienna leaves from platform nine.")
    question = "Which platform does the night train to Vienna leave from?"
    assert "Foreword is on in this session" in gateway.chat("/foreword status", session)
    assert "Foreword is off" in gateway.chat("/foreword off", session)
    assert FRAME not in gateway.turn(question, session).request.raw.decode()
    assert f"agent:main:{session}" not in gateway.sessions()
    assert "Foreword is on" in gateway.chat("/foreword on", session)
    assert "platform nine" in gateway.turn(question, session).request.newest
    assert "platform nine" in gateway.chat("/foreword why", session)


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


def test_the_host_s_own_command_line_is_given_the_memory_too(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The lighthouse keeper's dog answers to Brixham.")
    seen = len(gateway.model.requests)
    question = "What does the lighthouse keeper's dog answer to?"
    said = gateway.run("agent", "--agent", "main", "--session-key", f"agent:main:{session}", "--message", question)
    assert "Understood." in said
    assert "Brixham" in gateway.sent_with(question, seen).newest


@pytest.mark.proves("L8")
def test_a_retry_of_a_turn_is_given_the_same_and_asked_for_once(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The harbour master's boat is moored at berth thirty-one.")
    before = gateway.call("status")["turns"]
    question = "At which berth is the harbour master's boat moored? [[fail]]"
    first, again = gateway.turn(question, session).requests[:2]
    assert "thirty-one" in first.newest
    # The host asks its model to go on, in words of its own; the brief is the one that belongs to the question.
    assert "Continue the current task" in again.newest
    assert [line for line in again.newest.splitlines() if "> " in line[:2]] == [
        line[line.index("> ") :] for line in first.newest.splitlines() if FRAME in line or line.startswith("> ")
    ]
    assert gateway.call("status")["turns"] == before + 1
    assert [one["content"] for one in gateway.kept(question, session)] == [question, "Understood."]


@pytest.mark.proves("T13")
def test_a_memory_is_given_once_and_again_after_a_reset(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The regatta's starting gun is kept in the vicarage.")
    question = "Where is the regatta's starting gun kept{}?"
    given = "kept in the vicarage"
    assert given in gateway.turn(question.format(""), session).request.newest
    assert given not in gateway.turn(question.format(" these days"), session).request.newest
    gateway.ask("sessions.reset", key=f"agent:main:{session}", reason="reset")
    assert given in gateway.turn(question.format(" again"), session).request.newest
