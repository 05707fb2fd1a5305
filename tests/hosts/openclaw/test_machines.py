"""Turns that no person asked for: nothing of them is kept."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import TOKEN, Gateway, wait_until

Remember = Callable[..., str]


def a_turn_later(gateway: Gateway, session: str) -> None:
    """A person's turn comes after it, and is kept: what was to be kept before is kept by now."""
    text = f"Let us wait until {session} is over."
    gateway.turn(text, session)
    gateway.kept(text, session)


@pytest.mark.proves("L6")
def test_a_webhook_is_not_kept(gateway: Gateway, session: str) -> None:
    gateway.webhook("The build of the harbour app has failed again.")
    a_turn_later(gateway, session)
    assert [key for key in gateway.sessions() if ":cron:" in key] == []


@pytest.mark.proves("L6")
def test_a_scheduled_job_is_not_kept(gateway: Gateway, session: str) -> None:
    seen = len(gateway.model.requests)
    job = ("--name", "tide", "--at", "1s", "--session", "isolated", "--message", "Write down the tide of today.")
    gateway.run("cron", "add", *job, "--no-deliver", "--url", f"ws://127.0.0.1:{gateway.port}", "--token", TOKEN)
    gateway.sent_with("Write down the tide of today.", seen)
    a_turn_later(gateway, session)
    assert [key for key in gateway.sessions() if ":cron:" in key] == []


@pytest.mark.proves("L6")
def test_a_subagent_s_turns_are_not_kept(gateway: Gateway, session: str) -> None:
    seen = len(gateway.model.requests)
    arguments = {"id": "sessions_spawn", "args": {"task": "Count the rowlocks in the shed."}}
    text = f"Please have them counted. [[tool:tool_call {json.dumps(arguments)}]]"
    gateway.turn(text, session)

    def of_it() -> bool:
        sent = [one.raw for one in gateway.model.requests[seen:] if b"Count the rowlocks" in one.raw]
        return any(b"Please have them counted" not in one for one in sent)

    wait_until(of_it, "the subagent's turn", 60)
    gateway.kept(text, session)
    a_turn_later(gateway, f"{session}-later")
    assert [key for key in gateway.sessions() if "subagent" in key] == []


@pytest.mark.proves("S5")
def test_a_heartbeat_asks_for_nothing_and_is_not_kept(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("Failed builds of the harbour app are reported to Frau Petersen.")
    question = "To whom are failed builds of the harbour app reported?"
    turns = gateway.call("status")["turns"]
    request = gateway.wake(question)
    assert question in request.raw.decode()
    assert "foreword recall" not in request.raw.decode()
    a_turn_later(gateway, session)
    assert gateway.call("status")["turns"] == turns + 1
    found = gateway.call("search", query=question, limit=20, agent="main")["results"]
    assert [one["content"] for one in found if question in one["content"]] == []
