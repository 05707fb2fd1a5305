"""The program as people and scripts meet it: in this process where that is enough, as a real one where it is not."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from foreword.cli import main
from foreword.serve.address import address, reachable
from foreword.serve.client import Client

FOREWORD = str(Path(sys.executable).with_name("foreword"))


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


class Daemon:
    """A home with a real daemon on a real socket, started when it is first needed, and gone after the test."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ = {**os.environ, "FOREWORD_HOME": str(home)}
        self.address = address(self.environ)
        self.client = Client(self.address, self.environ)

    def call(self, action: str, **payload: Any) -> dict[str, Any]:
        return self.client.call(action, payload)

    def hook(self, host: str, event: str, document: Any, **environ: str) -> subprocess.CompletedProcess[bytes]:
        """The hook client as a host starts it."""
        said = document if isinstance(document, bytes) else json.dumps(document).encode()
        return subprocess.run(
            [FOREWORD, "hook", host, event],
            input=said,
            capture_output=True,
            env={**self.environ, **environ},
            timeout=60,
            check=False,
        )

    def patient(self) -> Daemon:
        """Hooks wait long: on a busy machine a cold start takes its time, and that is not what most tests are about."""
        self.environ.update(FOREWORD_SERVE_DEADLINE_MS="20000", FOREWORD_SERVE_COLD_DEADLINE_MS="30000")
        self.client = Client(self.address, self.environ)
        return self

    def raw(self, data: bytes, *, within_s: float = 10.0) -> bytes:
        """Whatever is answered to these bytes until the connection ends or falls silent."""
        with socket.socket(socket.AF_UNIX) as line, reachable(self.address.socket) as path:
            line.settimeout(within_s)
            line.connect(path)
            answer = b""
            try:
                line.sendall(data)
                line.shutdown(socket.SHUT_WR)
                while part := line.recv(65536):
                    answer += part
            except (ConnectionError, TimeoutError):
                pass
            return answer

    @property
    def process(self) -> int:
        holder = self.client.holder()
        assert holder, "no daemon runs"
        return holder

    def processes(self) -> list[int]:
        """Every process of this home: those that were started with it in their environment, zombies left out."""
        mark = f"FOREWORD_HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                try:
                    if mark in (folder / "environ").read_bytes().split(b"\0"):
                        found.append(int(folder.name))
                except OSError:
                    continue
        return found

    def kill(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        wait_until(lambda: self.client.holder() is None)


def wait_until(holds: Callable[[], Any], within_s: float = 20.0) -> None:
    until = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.01)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    one = Daemon(tmp_path / "home")
    yield one
    for process in one.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
