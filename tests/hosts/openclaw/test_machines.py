"""Turns that no person asked for: they are given what is worth knowing, and nothing of them is kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import Gateway

Remember = Callable[..., str]


def a_turn_later(gateway: Gateway, session: str) -> None:
    """A person's turn comes after it, and is kept: what was to be kept before is kept by now."""
    text = f"Let us wait until {session} is over."
    gateway.turn(text, session)
    gateway.kept(text, session)


@pytest.mark.proves("S3", "L6")
def test_a_webhook_is_given_a_memory_by_its_own_words_and_is_not_kept(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("Failed builds of the ferry app go to Frau Petersen.")
    request = gateway.webhook("To whom do failed builds of the ferry app go?")
    # The host puts some nine hundred characters of warning before the words.
    assert "SECURITY NOTICE" in request.newest
    assert "Frau Petersen" in request.newest
    a_turn_later(gateway, session)
    assert [key for key in gateway.sessions() if ":cron:" in key] == []


@pytest.mark.proves("S3", "L6")
def test_a_scheduled_job_is_given_a_memory_and_is_not_kept(gateway: Gateway, session: str, remember: Remember) -> None:
    remember("The tide table of the estuary hangs in the pilot house.")
    assert "pilot house" in gateway.job("Where does the tide table of the estuary hang?").newest
    a_turn_later(gateway, session)
    assert [key for key in gateway.sessions() if ":cron:" in key] == []


@pytest.mark.proves("S3", "L6")
def test_a_subagent_is_given_a_memory_and_its_turns_are_not_kept(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("The rowlocks in the shed are counted by Jonna.")
    assert "by Jonna" in gateway.subagent("By whom are the rowlocks in the shed counted?", session).newest
    a_turn_later(gateway, f"{session}-later")
    assert [key for key in gateway.sessions() if "subagent" in key] == []


@pytest.mark.proves("S5", "L6")
def test_a_heartbeat_is_given_nothing_is_not_kept_and_the_receipt_says_so(
    gateway: Gateway, session: str, remember: Remember
) -> None:
    remember("Failed builds of the harbour app are reported to Frau Petersen.")
    question = "To whom are failed builds of the harbour app reported?"
    request = gateway.wake(question)
    assert question in request.raw.decode()
    assert "foreword recall" not in request.raw.decode()
    assert "'heartbeat' are given nothing" in gateway.call("why", session="agent:main:main")["explanation"]
    a_turn_later(gateway, session)
    found = gateway.call("search", query=question, limit=20, agent="main")["results"]
    assert [one["content"] for one in found if question in one["content"]] == []
    found = gateway.call("search", query="heartbeat monitor scratch context", limit=20, agent="main")["results"]
    assert [one["content"] for one in found if "scratch context" in one["content"]] == []
