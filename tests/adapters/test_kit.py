"""The adapters' kit: its types, its bundle, and the built client against a real daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).resolve().parents[2] / "adapters"


def _run(*command: str, **environ: str) -> None:
    done = subprocess.run(
        command,
        cwd=ADAPTERS,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout}"


@pytest.fixture(scope="session")
def modules() -> None:
    """What the kit is built with. Looked for once, before a test has a home of its own: npm reads the user's settings
    to know where packages come from."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is missing: install Node.js 20 or newer, then run `make setup`")
    stamp = ADAPTERS / "node_modules" / ".stamp"
    if not stamp.exists():
        _run("npm", "ci")
        stamp.touch()


@pytest.fixture(scope="session")
def built(modules: None) -> None:
    _run("npm", "run", "build:kit")


@pytest.mark.usefixtures("modules")
def test_the_kit_s_types_hold() -> None:
    _run("npm", "run", "check")


@pytest.mark.usefixtures("built")
def test_the_bundle_imports_nothing_but_node_s_own() -> None:
    for file in (ADAPTERS / "kit" / "dist").glob("*.mjs"):
        imported = [line.split(" from ")[-1] for line in file.read_text("utf-8").splitlines() if " from " in line]
        assert [one for one in imported if not one.startswith('"node:')] == []


@pytest.mark.usefixtures("built")
def test_the_client_meets_a_real_daemon_and_whatever_stands_in_its_place() -> None:
    _run("node", "--test", "--test-reporter=spec", VENV_BIN=str(Path(sys.executable).parent))


def test_the_lock_file_names_no_host() -> None:
    assert "://" not in (ADAPTERS / "package-lock.json").read_text("utf-8")
