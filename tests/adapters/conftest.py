"""What the adapters are built and run with."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).resolve().parents[2] / "adapters"


def run(*command: str, **environ: str) -> None:
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
        run("npm", "ci")
        stamp.touch()


@pytest.fixture(scope="session")
def built(modules: None) -> None:
    run("npm", "run", "build")
