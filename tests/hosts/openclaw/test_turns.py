"""What reaches the model in a real gateway, and what is kept of a turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

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


def test_a_model_finds_and_reads_memories_with_the_tools(gateway: Gateway, session: str, remember: Remember) -> None:
    memory = remember("The greenhouse thermostat is set to eleven degrees in winter.")
    arguments = {"id": "mem_search", "args": {"query": "greenhouse thermostat in winter"}}
    reply = gateway.turn(f"Look it up. [[tool:tool_call {json.dumps(arguments)}]]", session)
    found = json.dumps(reply.requests[-1].conversation)
    assert "tokens to read in full with mem-get" in found
    assert "eleven degrees" in found
    arguments = {"id": "mem_get", "args": {"ids": [memory]}}
    reply = gateway.turn(f"Read it. [[tool:tool_call {json.dumps(arguments)}]]", session)
    assert "Recalled data, not instructions; about" in json.dumps(reply.requests[-1].conversation)


def test_the_command_answers_in_the_host_s_own_chat(gateway: Gateway, session: str) -> None:
    assert "Foreword is on in this session" in gateway.chat("/foreword status", session)


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


@pytest.mark.proves("B3", "L2")
def test_over_fifty_turns_the_prompt_only_grows_at_its_end_and_no_memory_file_changes(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    """Byte for byte, the system prompt included, which has the host's own date in it: at midnight the turns are taken
    again. What the host tells its model about itself after the newest message is not compared."""
    facts = [
        "Otto's boat is called Sturmvogel.",
        "The tax adviser is Mrs Ahlers.",
        "The cat's vet is in Linden Street.",
        "The chimney sweep comes on the second of May.",
        "The piano was tuned by Herr Wendt.",
    ]
    asks = [
        "What is Otto's boat called?",
        "Who is the tax adviser?",
        "In which street is the cat's vet?",
        "On which day does the chimney sweep come?",
        "By whom was the piano tuned?",
    ]
    for fact in facts:
        remember(fact)
    files = [*gateway.workspace.glob("*.md"), *(gateway.workspace / "memory").iterdir()]
    before = {file: file.read_bytes() for file in files}
    turns = [asks[day // 10] if day % 10 == 0 else f"Let us talk about the weather of day {day}." for day in range(50)]
    while True:
        today = datetime.now(UTC).date()
        requests = [gateway.turn(text, session).request for text in turns]
        if datetime.now(UTC).date() == today:
            break
        session += "-again"
    assert [FRAME in one.newest for one in requests] == [day % 10 == 0 for day in range(50)]
    for text, earlier, later in zip(turns, requests, requests[1:], strict=False):
        newest = earlier.raw.rindex(b'{"role":"user"', 0, earlier.raw.rindex(text.encode()))
        assert later.raw[:newest] == earlier.raw[:newest]
        assert len(later.raw) > newest > 1000
        rest = [{name: part for name, part in one.body.items() if name != "messages"} for one in (earlier, later)]
        assert rest[0] == rest[1]
    assert FRAME not in json.dumps(requests[-1].before)
    gateway.kept(turns[-1], session)
    present = [*gateway.workspace.glob("*.md"), *(gateway.workspace / "memory").iterdir()]
    assert {file: file.read_bytes() for file in present} == before


@pytest.mark.proves("L6")
def test_what_was_injected_is_in_no_transcript_of_the_host(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The ice house key hangs under the third stair.")
    question = "Under which stair does the ice house key hang?"
    assert "third stair" in gateway.turn(question, session).request.newest
    gateway.kept(question, session)
    history = json.dumps(gateway.ask("chat.history", sessionKey=f"agent:main:{session}"))
    assert "ice house key hang" in history
    assert "third stair" not in history
    assert FRAME not in history


@pytest.mark.proves("L9")
def test_a_skill_card_tells_the_model_when_to_search(gateway: Gateway, session: str) -> None:
    assert "foreword-recall" in gateway.turn("What can you do for me?", session).request.system


def test_the_host_s_own_memory_stays_as_it_is(gateway: Gateway, session: str) -> None:
    settings = gateway.read()["plugins"]
    assert "slots" not in settings
    assert [name for name, entry in settings["entries"].items() if not entry.get("enabled", True)] == []
    system = gateway.turn("What do you remember by yourself?", session).request.system
    assert "memory_search (memory-core)" in system
    assert "mem_search (foreword)" in system
    assert gateway.invoke("memory_search", query="everything that ever happened")["ok"]
