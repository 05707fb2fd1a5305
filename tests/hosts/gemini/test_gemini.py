"""Gemini CLI itself, with Foreword at its hooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hosts.conformance import Conformance
from tests.hosts.gemini.cli import Gemini
from tests.hosts.program import FRAME


class TestGemini(Conformance):
    @pytest.mark.proves("P6", "S1")
    def test_what_a_command_showed_is_kept_as_an_observation(self, host: Gemini) -> None:
        asked = {"command": "echo the tide gauge reads 412 centimetres", "description": "reads the gauge"}
        host.turn(f"Run it, please. {host.uses('run_shell_command', asked)}")
        kept = [text for _, kind, text in host.kept() if kind == "observation"]
        assert any("tide gauge reads 412" in text for text in kept)

    def test_a_session_is_given_nothing_at_its_start_because_its_prompt_would_be_lost(self, host: Gemini) -> None:
        host.remember("Chose the brass hinges for the chart table.", kind="note", session="agent:gemini:old")
        try:
            host.settings('profile = "open-mem"\n')
            first = host.turn("Good morning, let us begin with something small.")
            assert "<open_mem_context>" not in first.request.whole
            second = host.turn("And now something else.", session=host.session_of(first.text))
            assert "let us begin with something small" in second.request.whole
        finally:
            host.settings()

    def test_installing_twice_changes_nothing_and_removing_puts_every_byte_back(
        self, tmp_path: Path, host: Gemini
    ) -> None:
        fresh = Gemini(tmp_path / "fresh", host.hosts)
        before = fresh.settings_file.read_bytes()
        assert "BeforeAgent" in fresh.foreword("gemini", "install", "--dry-run")
        assert fresh.settings_file.read_bytes() == before
        fresh.foreword("gemini", "install", "--yes")
        assert json.loads(fresh.settings_file.read_bytes())["general"] == {"enableAutoUpdate": False}
        asked_at = json.loads(fresh.settings_file.read_bytes())["hooks"]["PreCompress"][0]["matcher"]
        assert asked_at == "manual", "before every turn the host announces one of its own: no process for that"
        assert "nothing is to be changed" in fresh.foreword("gemini", "install", "--yes")
        assert "no turn has shown it yet" in fresh.foreword("gemini", "check")
        switched_off = {**json.loads(fresh.settings_file.read_text()), "hooksConfig": {"enabled": False}}
        good = fresh.settings_file.read_bytes()
        fresh.settings_file.write_text(json.dumps(switched_off))
        assert "hooksConfig.enabled" in fresh.foreword("gemini", "check", code=1)
        fresh.settings_file.write_bytes(good)
        fresh.foreword("gemini", "remove")
        assert fresh.settings_file.read_bytes() == before
        fresh.remember("The attic ladder is in the carpenter's shed.")
        assert FRAME not in fresh.turn("Where is the attic ladder?").request.whole
        fresh.close()
