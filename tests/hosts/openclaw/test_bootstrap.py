"""Which workspace files a real gateway puts into the prompt of which session."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.hosts.model_server import Request
from tests.hosts.openclaw.gateway import WORKSPACE, Gateway, wait_until

Settings = Callable[[str], None]
CHOOSING = 'profile = "aci"\n'


def files(request: Request) -> set[str]:
    """By the mark that each file has in it."""
    return {name for name, text in WORKSPACE.items() if text.split(":")[0] in request.system}


@pytest.mark.proves("T4")
def test_unless_told_otherwise_the_host_s_own_choice_stands(gateway: Gateway) -> None:
    loaded = files(gateway.turn("What shall we do today?", "main").request)
    assert loaded == {"SOUL.md", "USER.md", "AGENTS.md", "IDENTITY.md", "MEMORY.md"}


@pytest.mark.proves("T3", "T4")
def test_the_main_session_has_its_set_and_no_memory_file(gateway: Gateway, settings: Settings) -> None:
    settings(CHOOSING)
    loaded = files(gateway.turn("What shall we do tomorrow?", "main").request)
    assert loaded == {"SOUL.md", "USER.md", "TOOLS_COMPACT.md"}


@pytest.mark.proves("T3", "T4")
def test_a_group_and_a_topic_get_soul_and_tools_alone(gateway: Gateway, settings: Settings) -> None:
    settings(CHOOSING)
    for topic in (None, 42):
        request = gateway.write("@claw_bot what shall we row today?", 777, chat=-100777, topic=topic).request
        assert files(request) == {"SOUL.md", "TOOLS_COMPACT.md"}


@pytest.mark.proves("T3", "T4")
def test_a_webhook_s_session_keeps_soul_and_heartbeat_past_the_host_s_own_filter(
    gateway: Gateway, settings: Settings
) -> None:
    settings(CHOOSING)
    assert files(gateway.webhook("The build has failed, look at it.")) == {"SOUL.md", "HEARTBEAT.md"}


@pytest.mark.proves("T3", "T4")
def test_a_subagent_gets_soul_alone(gateway: Gateway, session: str, settings: Settings) -> None:
    settings(CHOOSING)
    seen = len(gateway.model.requests)
    arguments = {"id": "sessions_spawn", "args": {"task": "Count the oars in the boathouse."}}
    gateway.turn(f"Have it counted. [[tool:tool_call {json.dumps(arguments)}]]", session)

    def of_the_subagent() -> Request | None:
        sent = [one for one in gateway.model.requests[seen:] if b"Count the oars" in one.raw]
        return next((one for one in sent if b"Have it counted" not in one.raw), None)

    request: Request = wait_until(of_the_subagent, "the subagent's turn", 60)
    assert files(request) == {"SOUL.md"}


@pytest.mark.proves("B3")
def test_a_daemon_that_is_away_for_a_turn_does_not_change_the_cached_part(
    gateway: Gateway, session: str, settings: Settings
) -> None:
    settings(CHOOSING)
    first = gateway.turn("Tell me of the first day of the voyage.", session).request
    with gateway.without_daemon():
        second = gateway.turn("Tell me of the second day of the voyage.", session).request
    assert second.system == first.system
    assert files(second) == {"SOUL.md", "USER.md", "AGENTS.md", "TOOLS_COMPACT.md"}
