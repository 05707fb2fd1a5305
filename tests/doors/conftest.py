"""The program as people and scripts meet it: in this process where that is enough, as a real one where it is not."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from foreword.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What `--json` answered."""
        document = json.loads(self.out)
        assert document["status"] == "ok"
        return document["data"]

    @property
    def error(self) -> Any:
        document = json.loads(self.out)
        assert document["status"] == "error"
        return document["error"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own to stand in, and a user with a home folder."""
    (tmp_path / "user").mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs the program in this process: `run("search", "cat", stdin="")`."""

    def runs(*argv: str, stdin: str | bytes = "") -> Ran:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        try:
            code = main(argv)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return runs


@pytest.fixture
def program(folder: Path) -> Callable[..., Ran]:
    """Runs the program as a process of its own; nothing in this one can help it."""

    def runs(*argv: str | bytes, stdin: bytes = b"", **environ: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "foreword", *argv],
            input=stdin,
            capture_output=True,
            cwd=folder,
            env={**os.environ, **environ},
            timeout=30,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return runs


@pytest.fixture
def terminal(folder: Path) -> Callable[..., Ran]:
    """Runs the program on a terminal, as a person does, and types `keys`; all that was on the screen is `out`."""

    def runs(*argv: str, keys: bytes = b"", wait_for: bytes = b"", **environ: str) -> Ran:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "foreword", *argv],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environ},
            close_fds=True,
        )
        os.close(theirs)
        seen = b""
        deadline = time.monotonic() + 30
        typed = not keys
        while time.monotonic() < deadline:
            if not typed and wait_for in seen and seen:
                os.write(ours, keys)
                typed = True
            if select.select([ours], [], [], 0.05)[0]:
                try:
                    more = os.read(ours, 65536)
                except OSError:  # Linux says so when the other end is closed
                    break
                if not more:
                    break
                seen += more
        os.close(ours)
        return Ran(process.wait(timeout=10), seen.decode(), "")

    return runs
