"""A workspace file that the conversation has used leaves a real gateway's prompt, and comes back with a compaction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import WORKSPACE, Gateway
from tests.hosts.openclaw.test_bootstrap import files

Settings = Callable[[str], None]
# TOOLS_COMPACT.md of the test's workspace says "ssh port 2222".
ASKED = "How do I reach the {}? [[quote:COMPACT-MARK]]"
# No memory is given here: an answer that says the same as what was given is not kept as the agent's own.
SHEDDING = "[gate]\nconfident = 1.0\nfloor = 1.0\n[bootstrap]\nenabled = true\nshed = true\n"
ALL = {"SOUL.md", "USER.md", "AGENTS.md", "TOOLS_COMPACT.md"}
LEFT = ALL - {"TOOLS_COMPACT.md"}


@pytest.mark.proves("T13", "T1")
def test_a_file_that_was_used_is_not_sent_again_until_the_conversation_is_compacted(
    gateway: Gateway, session: str, settings: Settings
) -> None:
    settings(f"{SHEDDING}shed_pause_minutes = 0\n")
    # The first turn of all may come before the daemon is up.
    gateway.call("status")
    asked = ASKED.format("storage box")
    assert files(gateway.turn(asked, session).request) == ALL
    assert "2222" in gateway.kept(asked, session)[-1]["content"]
    for soup in ("leek", "pea", "beetroot"):
        assert files(gateway.turn(f"I had {soup} soup for lunch.", session).request) == LEFT
    other = gateway.turn("What is for supper?", f"{session}-other").request
    assert files(other) == ALL, "another conversation has not used it"
    assert gateway.compact(session)
    assert files(gateway.turn("And how do I reach it now?", session).request) == ALL


@pytest.mark.proves("T13", "B3")
def test_without_a_pause_a_file_that_was_used_stays_and_the_cached_part_is_the_same(
    gateway: Gateway, session: str, settings: Settings
) -> None:
    settings(SHEDDING)
    asked = ASKED.format("lighthouse")
    first = gateway.turn(asked, session).request
    assert "2222" in gateway.kept(asked, session)[-1]["content"]
    second = gateway.turn("I had onion soup for lunch.", session).request
    assert files(first) == files(second) == ALL
    assert second.system == first.system
    # Every byte of the first request but its last message begins the second.
    assert second.before[: len(first.before)] == first.before


@pytest.mark.proves("T13")
def test_what_one_change_of_the_files_costs_is_everything_behind_them(
    gateway: Gateway, session: str, settings: Settings
) -> None:
    settings(f"{SHEDDING}shed_pause_minutes = 0\n")
    asked = ASKED.format("boathouse")
    first = gateway.turn(asked, session).request
    assert "2222" in gateway.kept(asked, session)[-1]["content"]
    second = gateway.turn("I had carrot soup for lunch.", session).request
    at = first.system.rindex("\n## ", 0, first.system.index(WORKSPACE["TOOLS_COMPACT.md"])) + len("\n")
    assert first.system[:at] == second.system[:at]
    assert first.system[: at + 20] != second.system[: at + 20], "and nothing behind it is read from a cache"
    assert at < first.system.index("openclaw:attempt:DYNAMIC"), "it stands in the part that is cached"
