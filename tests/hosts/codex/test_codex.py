"""Codex itself, with Foreword at its hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from foreword.serve.address import address
from foreword.serve.client import Client
from tests.hosts.codex.cli import Codex
from tests.hosts.codex.conftest import HOSTS
from tests.hosts.conformance import Conformance
from tests.hosts.program import FRAME


class TestCodex(Conformance):
    @pytest.mark.proves("P6", "S1")
    def test_what_a_command_showed_is_kept_as_an_observation(self, host: Codex) -> None:
        host.turn('Run it, please. [[tool:exec_command {"cmd": "echo the tide gauge reads 412 centimetres"}]]')
        kept = [text for _, kind, text in host.kept() if kind == "observation"]
        assert any("tide gauge reads 412" in text for text in kept)

    @pytest.mark.proves("P1")
    def test_a_session_starts_with_its_index(self, host: Codex) -> None:
        host.remember("Chose the brass hinges for the chart table.", kind="note", session="agent:codex:old")
        try:
            host.settings('profile = "open-mem"\n')
            first = host.turn("Good morning, let us begin with something small.")
            assert first.request.whole.count("<open_mem_context>") == 1
            second = host.turn("And now something else.", session=host.session_of(first.text))
            assert second.request.whole.count("<open_mem_context>") == 1
        finally:
            host.settings()


class TestInstalling:
    """In a home of its own."""

    @pytest.fixture
    def fresh(self, tmp_path: Path, host: Codex) -> Codex:
        return Codex(tmp_path / "fresh", host.hosts)

    def test_the_user_is_told_to_trust_the_hooks_and_nothing_does_it_for_them(self, fresh: Codex) -> None:
        said = fresh.foreword("codex", "install", "--yes")
        assert "/hooks" in said
        fresh.remember("The attic ladder is in the carpenter's shed.")
        fresh.trusted = False
        assert FRAME not in fresh.turn("Where is the attic ladder?").request.whole, "Codex runs no untrusted hook"
        told = json.loads(fresh.foreword("codex", "check", "--json", code=1))["data"]
        assert "not trusted" in told["verdict"]
        assert "trusted_hash" not in fresh.config.read_text()
        fresh.trusted = True
        assert "carpenter" in fresh.turn("Where might the attic ladder be?").request.beside
        fresh.close()

    def test_installing_twice_changes_nothing_and_removing_puts_every_byte_back(self, fresh: Codex) -> None:
        hooks = fresh.config.with_name("hooks.json")
        before = fresh.config.read_bytes()
        assert "mcp_servers" in fresh.foreword("codex", "install", "--dry-run")
        assert fresh.config.read_bytes() == before
        assert not hooks.exists()
        fresh.foreword("codex", "install", "--yes")
        after = fresh.config.read_bytes()
        assert after.startswith(before)
        assert "nothing is to be changed" in fresh.foreword("codex", "install", "--yes")
        fresh.foreword("codex", "remove")
        assert fresh.config.read_bytes() == before
        assert not hooks.exists()
        fresh.close()

    def test_hooks_of_somebody_else_stay(self, fresh: Codex) -> None:
        hooks = fresh.config.with_name("hooks.json")
        theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": 3}]}]}}
        hooks.write_text(json.dumps(theirs))
        fresh.foreword("codex", "install", "--yes")
        assert theirs["hooks"]["Stop"][0] in json.loads(hooks.read_text())["hooks"]["Stop"]
        changed = json.loads(hooks.read_text())
        changed["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "echo later"}]})
        hooks.write_text(json.dumps(changed, indent=1))
        fresh.foreword("codex", "remove")
        left = json.loads(hooks.read_text())["hooks"]["Stop"]
        assert [one["hooks"][0]["command"] for one in left] == ["true", "echo later"]
        fresh.close()


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Codex]:
    if not (HOSTS / Codex.binary).exists():
        pytest.skip(f"{HOSTS / Codex.binary} is missing: run `make hosts`")
    one = Codex(tmp_path / "codex", HOSTS)
    one.environ["PATH"] = f"{one.program.parent}:{one.environ['PATH']}"
    try:
        one.foreword("codex", "install", "--yes")
        yield one
    finally:
        one.close()


def test_check_asks_codex_whether_it_trusts_the_hooks(installed: Codex) -> None:
    told = installed.foreword("codex", "check", code=1)
    assert "SessionStart is not trusted" in told
    assert "open /hooks" in told
    installed.trust()
    told = installed.foreword("codex", "check")
    assert "Codex trusts the hooks" in told
    installed.trusted = False
    installed.remember("The tide table hangs beside the harbour master's door.")
    assert "harbour master" in installed.turn("Where does the tide table hang?").request.beside
    assert "reaches Codex's model" in installed.foreword("codex", "check")
    # Trusting has changed the settings since the install; Codex must start with what is left of them.
    installed.foreword("codex", "remove")
    assert "harbour master" not in installed.turn("Where does the tide table hang, again?").request.whole
    # Another command is another hook, which nobody has looked at.
    installed.foreword("codex", "install", "--yes", "--home", str(installed.folder / "other"))
    assert "is not trusted" in installed.foreword("codex", "check", "--home", str(installed.folder / "other"), code=1)
    Client(address(installed.environ, installed.folder / "other")).stop()


def test_untrusted_hooks_are_left_out_and_the_turn_goes_on(installed: Codex) -> None:
    installed.trusted = False
    installed.remember("The signal flags are in the red locker by the mast.")
    request = installed.turn("Where are the signal flags kept?").request
    assert "red locker" not in request.whole
