"""Which workspace files a real gateway puts into the prompt of which session."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.model_server import Request
from tests.hosts.openclaw.gateway import WORKSPACE, Gateway

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
    request = gateway.subagent("Count the oars in the boathouse.", session)
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


@pytest.mark.proves("T3", "T4")
def test_a_scheduled_job_keeps_soul_and_heartbeat_too(gateway: Gateway, settings: Settings) -> None:
    settings(CHOOSING)
    assert files(gateway.job("Write down the height of the water.")) == {"SOUL.md", "HEARTBEAT.md"}


@pytest.mark.proves("T3", "T14")
def test_an_agent_and_a_topic_may_have_sets_of_their_own(gateway: Gateway, session: str, settings: Settings) -> None:
    own = 'own = ["other/*=SOUL.md+IDENTITY.md"]\nmore = ["topic:77=HEARTBEAT.md"]\n'
    settings(f"[bootstrap]\nenabled = true\n{own}")
    assert files(gateway.turn("What shall we do today?", session, agent="other").request) == {"SOUL.md", "IDENTITY.md"}
    theirs = gateway.write("@claw_bot what shall we row?", 777, chat=-100778, topic=77).request
    assert files(theirs) == {"SOUL.md", "TOOLS_COMPACT.md", "HEARTBEAT.md"}
    others = gateway.write("@claw_bot what shall we row?", 777, chat=-100778, topic=78).request
    assert files(others) == {"SOUL.md", "TOOLS_COMPACT.md"}


@pytest.mark.proves("T3", "T4")
def test_the_host_s_own_listing_has_the_files_that_foreword_counted(gateway: Gateway, settings: Settings) -> None:
    settings(CHOOSING)
    gateway.write("What shall we do next week?", 777)
    # As a channel shows it: with marks of its own around names.
    listing = re.sub(r"<[^>]*>", "", gateway.write("/context list", 777).text)
    injected = re.findall(r"(\S+\.md): OK \| raw \d+ chars \(~\d+ tok\) \| injected (\d+) chars", listing)
    assert injected, listing
    chars = {Path(name).name: int(number) for name, number in injected}
    place = {"session": "agent:main:main", "agent": "main", "workspace": str(gateway.workspace)}
    counted = gateway.call("bootstrap", **place, files=["SOUL.md", "USER.md", "AGENTS.md", "IDENTITY.md", "MEMORY.md"])
    chosen = {*counted["keep"], *(one["name"] for one in counted["add"])}
    assert set(chars) == chosen == {"SOUL.md", "USER.md", "TOOLS_COMPACT.md"}
    for name in chosen:
        assert chars[name] == len(WORKSPACE[name])
        # The host takes four characters for a token, Foreword counts words and signs.
        assert abs(counted["tokens"][name] - chars[name] / 4) <= chars[name] / 4
    assert sum(counted["tokens"][name] for name in chosen) < 500
