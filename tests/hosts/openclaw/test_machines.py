"""Turns that no person asked for: nothing of them is kept."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import Gateway, wait_until

Remember = Callable[..., str]


def memories(gateway: Gateway) -> int:
    found: int = gateway.call("status")["memories"]
    return found


@pytest.mark.proves("L6")
def test_a_webhook_is_not_kept(gateway: Gateway) -> None:
    before = memories(gateway)
    gateway.webhook("The build of the harbour app has failed again.")
    gateway.turn("Let us wait until that is over.", "after-webhook")
    wait_until(lambda: memories(gateway) == before + 2, "the turn after it to be kept")


@pytest.mark.proves("S5")
def test_a_heartbeat_asks_for_nothing_and_is_not_kept(gateway: Gateway, remember: Remember) -> None:
    remember("Failed builds of the harbour app are reported to Frau Petersen.")
    about = gateway.call("status")
    request = gateway.wake("To whom are failed builds of the harbour app reported?")
    assert "foreword recall" not in request.raw.decode()
    gateway.turn("Let us wait until that is over as well.", "after-heartbeat")
    wait_until(lambda: memories(gateway) == about["memories"] + 2, "the turn after it to be kept")
    assert gateway.call("status")["turns"] == about["turns"] + 1


@pytest.mark.proves("L6")
def test_a_subagent_s_turns_are_not_kept(gateway: Gateway, session: str) -> None:
    seen = len(gateway.model.requests)
    arguments = {"id": "sessions_spawn", "args": {"task": "Count the rowlocks in the shed."}}
    gateway.turn(f"Please have them counted. [[tool:tool_call {json.dumps(arguments)}]]", session)
    mark = b"Please have them counted"
    of_it = wait_until(lambda: [one for one in gateway.model.requests[seen:] if mark not in one.raw], "its turn", 60)
    assert b"Count the rowlocks" in of_it[0].raw
    wait_until(lambda: gateway.kept(session)[1:], "the turn to be kept")
    assert [one for one in gateway.call("sessions", limit=1000)["sessions"] if "subagent" in one["session"]] == []


@pytest.mark.proves("L6")
def test_a_scheduled_job_is_not_kept(gateway: Gateway) -> None:
    seen, before = len(gateway.model.requests), memories(gateway)
    door = ("--url", f"ws://127.0.0.1:{gateway.port}", "--token", "gateway-token")
    job = ("--name", "tide", "--at", "1s", "--session", "isolated", "--message", "Write down the tide of today.")
    gateway.run("cron", "add", *job, "--no-deliver", *door)
    gateway.sent_with("Write down the tide of today.", seen)
    gateway.turn("Let us wait until the tide is written down.", "after-cron")
    wait_until(lambda: memories(gateway) == before + 2, "the turn after it to be kept")
