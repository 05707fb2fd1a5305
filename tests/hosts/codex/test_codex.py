"""Codex itself, with Foreword at its hooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foreword.serve.address import address
from foreword.serve.client import Client
from tests.hosts.codex.cli import Codex
from tests.hosts.codex.conftest import HOSTS
from tests.hosts.conformance import Conformance


class TestCodex(Conformance):
    pass


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Codex]:
    if not (HOSTS / Codex.binary).exists():
        pytest.skip(f"{HOSTS / Codex.binary} is missing: run `make hosts`")
    one = Codex(tmp_path / "codex", HOSTS)
    one.environ["PATH"] = f"{one.program.parent}:{one.environ['PATH']}"
    try:
        one.foreword("codex", "install", "--yes")
        yield one
    finally:
        one.close()


def test_check_asks_codex_whether_it_trusts_the_hooks(fresh: Codex) -> None:
    told = fresh.foreword("codex", "check", code=1)
    assert "SessionStart is not trusted" in told
    assert "(or open /hooks)" in told
    fresh.trust()
    told = fresh.foreword("codex", "check")
    assert "Codex trusts the hooks" in told
    fresh.trusted = False
    fresh.remember("The tide table hangs beside the harbour master's door.")
    assert "harbour master" in fresh.turn("Where does the tide table hang?").request.beside
    assert "reaches Codex's model" in fresh.foreword("codex", "check")
    # Trusting has changed the settings since the install; Codex must start with what is left of them.
    fresh.foreword("codex", "remove")
    assert "harbour master" not in fresh.turn("Where does the tide table hang, again?").request.whole
    # Another command is another hook, which nobody has looked at.
    fresh.foreword("codex", "install", "--yes", "--home", str(fresh.folder / "other"))
    assert "is not trusted" in fresh.foreword("codex", "check", "--home", str(fresh.folder / "other"), code=1)
    Client(address(fresh.environ, fresh.folder / "other")).stop()


def test_untrusted_hooks_are_left_out_and_the_turn_goes_on(fresh: Codex) -> None:
    fresh.trusted = False
    fresh.remember("The signal flags are in the red locker by the mast.")
    request = fresh.turn("Where are the signal flags kept?").request
    assert "red locker" not in request.whole
