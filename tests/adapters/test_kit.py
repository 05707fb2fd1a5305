"""The adapters' kit: its types, its bundle, and the built client against a real daemon."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.adapters.conftest import ADAPTERS, run


@pytest.mark.usefixtures("modules")
def test_the_kit_s_types_hold() -> None:
    run("npm", "run", "check")


@pytest.mark.usefixtures("built")
def test_the_bundle_imports_nothing_but_node_s_own() -> None:
    for file in (ADAPTERS / "kit" / "dist").glob("*.mjs"):
        imported = [line.split(" from ")[-1] for line in file.read_text("utf-8").splitlines() if " from " in line]
        assert [one for one in imported if not one.startswith('"node:')] == []


@pytest.mark.usefixtures("built")
def test_the_client_meets_a_real_daemon_and_whatever_stands_in_its_place() -> None:
    run("node", "--test", "--test-reporter=spec", "kit/client.test.mjs", VENV_BIN=str(Path(sys.executable).parent))


def test_the_lock_file_names_no_host() -> None:
    assert "://" not in (ADAPTERS / "package-lock.json").read_text("utf-8")
