"""Claude Code itself, with Foreword's plugin in it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.hosts.claude_code.claude import Claude
from tests.hosts.conformance import Conformance
from tests.hosts.program import FRAME

_OPEN_MEM = 'profile = "open-mem"\n'


class TestClaudeCode(Conformance):
    @pytest.mark.proves("B7")
    def test_the_newest_models_get_it_right_behind_the_message(self, host: Claude) -> None:
        host.remember("The windmill sails are tarred in the week after Easter.")
        request = host.turn("When are the windmill sails tarred?", model="claude-opus-5-5").request
        assert "after Easter" in request.beside

    @pytest.mark.proves("P1", "P3", "B3")
    def test_a_session_starts_with_its_index_and_gets_it_anew_after_a_compaction(self, host: Claude) -> None:
        host.remember(
            "Chose the brass hinges for the chart table.", kind="note", title="Hinges", session="agent:claude-code:old"
        )
        try:
            host.settings(_OPEN_MEM)
            first = host.turn("Good morning, let us begin with something small.")
            assert "<open_mem_context>" in first.request.whole
            session = host.session_of(first.text)
            second = host.turn("Let us go on with something else now.", session=session)
            assert second.request.whole.count("<open_mem_context>") == 1, "it is there once, from the first turn"
            compacted = host.turn("/compact", session=session)
            asked = compacted.requests[0]
            assert "Recent observations" in asked.beside, "the summary is told what should survive"
            third = host.turn("And what comes after that?", session=session)
            assert third.request.whole.count("<open_mem_context>") == 1
        finally:
            host.settings()

    @pytest.mark.proves("P6", "S1")
    def test_what_a_tool_showed_is_kept_as_an_observation(self, host: Claude) -> None:
        host.turn('Run it, please. [[tool:Bash {"command": "echo the tide gauge reads 412 centimetres"}]]')
        kept = [text for _, kind, text in host.kept() if kind == "observation"]
        assert any("tide gauge reads 412" in text for text in kept)

    @pytest.mark.proves("L6")
    def test_the_memory_tools_own_results_are_not_kept(self, host: Claude) -> None:
        host.remember("The sundial in the yard is eleven minutes slow.")
        host.turn(f"Look that up. {host.uses(host.search_tool, {'query': 'Is the sundial slow?'})}")
        kept = [text for _, kind, text in host.kept() if kind == "observation"]
        assert not any("eleven minutes slow" in text for text in kept)

    @pytest.mark.proves("S1", "L6")
    def test_a_machine_s_prompt_is_not_kept_as_the_user_s(self, host: Claude) -> None:
        told = "<task-id>7</task-id>\n<summary>The weathervane job is done</summary>"
        host.turn(f"<task-notification>\n{told}\n</task-notification>")
        assert not any("weathervane job" in text for _, _, text in host.kept())

    def test_a_subagent_works_and_what_it_reports_is_kept_once(self, host: Claude) -> None:
        task = {"description": "count", "prompt": "Count the lanterns. [[say:There are 63 lanterns.]]"}
        turn = host.turn(f"Delegate it. [[tool:Agent {json.dumps({**task, 'subagent_type': 'claude'})}]]")
        inner = [
            one for one in turn.requests if "Count the lanterns." in one.newest and "Delegate it." not in one.whole
        ]
        assert inner, "the subagent asked its model"
        reports = [text for origin, _, text in host.kept() if origin == "agent" and "63 lanterns" in text]
        assert reports

    @pytest.mark.proves("L3")
    def test_a_short_prompt_is_left_alone(self, host: Claude) -> None:
        assert FRAME not in host.turn("yes").request.whole


class TestInstalling:
    """In a home of its own."""

    @pytest.fixture
    def fresh(self, tmp_path: Path, host: Claude) -> Claude:
        one = Claude(tmp_path / "fresh", host.hosts)
        one.settings_file.write_text('{"permissions": {"allow": ["Read"]},   "env": {}}')
        return one

    def test_installing_twice_changes_nothing_and_removing_puts_every_byte_back(self, fresh: Claude) -> None:
        before = fresh.settings_file.read_bytes()
        shown = fresh.foreword("claude-code", "install", "--dry-run")
        assert "+" in shown
        assert "enabledPlugins" in shown
        assert fresh.settings_file.read_bytes() == before
        fresh.foreword("claude-code", "install", "--yes")
        after = fresh.settings_file.read_bytes()
        assert json.loads(after)["permissions"] == {"allow": ["Read"]}
        assert "nothing is to be changed" in fresh.foreword("claude-code", "install", "--yes")
        assert fresh.settings_file.read_bytes() == after
        fresh.remember("The attic ladder is in the carpenter's shed.")
        assert "carpenter" in fresh.turn("Where is the attic ladder?").request.beside
        assert json.loads(fresh.foreword("claude-code", "check", "--json"))["data"]["seen"]
        fresh.foreword("claude-code", "remove")
        assert fresh.settings_file.read_bytes() == before
        request = fresh.turn("Where was the attic ladder?").request
        assert FRAME not in request.whole
        assert not any("mem-search" in one for one in request.tools)
        fresh.close()

    def test_check_names_what_is_wrong_and_what_mends_it(self, fresh: Claude) -> None:
        fresh.foreword("claude-code", "install", "--yes")
        good = fresh.settings_file.read_text()
        fresh.settings_file.write_text(json.dumps({**json.loads(good), "disableAllHooks": True}))
        assert "disableAllHooks" in fresh.foreword("claude-code", "check", code=1)
        fresh.settings_file.write_text(json.dumps({**json.loads(good), "enabledPlugins": {"foreword@foreword": False}}))
        assert "`foreword claude-code install`" in fresh.foreword("claude-code", "check", code=1)
        fresh.foreword("claude-code", "install", "--yes")
        assert "no turn has shown it yet" in fresh.foreword("claude-code", "check")
        fresh.close()

    def test_a_daemon_that_stays_is_asked_without_starting_a_process(self, fresh: Claude) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (fresh.folder / "foreword.toml").write_text(f"[serve]\nport = {port}\nidle_minutes = 0\n")
        fresh.foreword("claude-code", "install", "--yes", "--http")
        plugin = fresh.folder / "foreword/hosts/claude-code/plugin"
        hooks = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]
        kinds = {event: entries[0]["hooks"][0]["type"] for event, entries in hooks.items()}
        assert {event for event, kind in kinds.items() if kind == "http"} == {"UserPromptSubmit", "PostToolUse", "Stop"}
        assert (plugin / "hooks/hooks.json").stat().st_mode & 0o077 == 0, "the token is in it"
        with socket.socket() as squatter:
            squatter.bind(("127.0.0.1", port))
            squatter.listen()
            assert "is not answered by Foreword's daemon" in fresh.foreword("claude-code", "check", code=1)
        fresh.foreword("down")
        fresh.foreword("up")
        assert "is answered by the daemon" in fresh.foreword("claude-code", "check")
        fresh.remember("The attic ladder is in the carpenter's shed.")
        turn = fresh.turn("Where is the attic ladder? [[say:In the shed of the carpenter, it says.]]")
        assert "carpenter's shed" in turn.request.beside
        assert FRAME not in fresh.turn("Please reverse the word stressed.").request.whole
        shown = "echo the tide gauge reads 412 centimetres"
        fresh.turn(f"Run it, please. {fresh.uses('Bash', {'command': shown})}")
        kept = fresh.kept()
        assert any("shed of the carpenter, it says" in text for origin, _, text in kept if origin == "agent")
        assert any("tide gauge reads 412" in text for _, kind, text in kept if kind == "observation")
        fresh.close()

    def test_check_asks_claude_code_whether_it_has_taken_up_the_plugin(self, fresh: Claude) -> None:
        fresh.environ["PATH"] = f"{fresh.program.parent}:{fresh.environ['PATH']}"
        fresh.foreword("claude-code", "install", "--yes")
        assert "Claude Code has not started since the install" in fresh.foreword("claude-code", "check")
        fresh.turn("Good morning to you all.")
        told = fresh.foreword("claude-code", "check")
        assert "Claude Code has taken up the plugin" in told
        assert "What Foreword finds reaches Claude Code's model." in told
        fresh.close()
