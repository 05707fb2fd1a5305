"""A host that is a program in a terminal: in a home of its own, before the scripted model, with a Foreword of its own
that was put into it as a user does."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.serve.address import address
from foreword.serve.client import Client
from tests.hosts.model_server import ModelServer, Request

VENV = Path(sys.executable).parent
FRAME = "foreword recall"
_TURN_S = 120.0
_ENDS_S = 5.0
_KEPT_S = 15.0
_PATIENT = "[serve]\ndeadline_ms = 3000\ncold_deadline_ms = 4500\n"
# What of the environment a host may have from the machine: never a key, a home or a setting of somebody's.
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "NODE_EXTRA_CA_CERTS")


def hosts_folder() -> Path:
    """Where `make hosts` puts them. Asked before a test has a home of its own."""
    return Path(os.environ.get("FOREWORD_HOSTS") or Path.home() / ".cache" / "foreword-hosts")


@dataclass(frozen=True)
class Turn:
    """What the host printed, what its model was sent meanwhile, when it was asked and how long it took."""

    text: str
    requests: list[Request]
    began: float
    seconds: float

    @property
    def request(self) -> Request:
        """The first that has tools: hosts also ask their model for titles and the like."""
        return next((one for one in self.requests if one.tools), self.requests[0])


# Says something, and gives the turn that came of it.
Say = Callable[[str], Turn]


class Line:
    """Lines of JSON to and from a process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._to, self._from = process.stdin, process.stdout
        self._calls = 0

    def send(self, document: Mapping[str, Any]) -> None:
        self._to.write(json.dumps(document) + "\n")
        self._to.flush()

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first document that it holds of; those before it are passed over."""
        for line in self._from:
            found: dict[str, Any] = json.loads(line)
            if holds(found):
                return found
        raise AssertionError("the host ended")

    def call(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a call, as JSON-RPC has it."""
        self._calls += 1
        number = self._calls
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        answer = self.until(lambda one: one.get("id") == number and "method" not in one)
        assert "result" in answer, answer
        return dict(answer["result"])


class Program(ABC):
    """`name` is what Foreword calls the host, and its agent. `binary` is where `make hosts` puts it."""

    name: str
    binary: str
    # How the host calls Foreword's tools.
    search_tool: str
    get_tool: str

    def __init__(self, folder: Path, hosts: Path) -> None:
        self.folder = folder
        self.user = folder / "user"
        self.project = folder / "project"
        self.hosts = hosts
        self.program = hosts / self.binary
        self.model = ModelServer()
        for one in (self.user, self.project):
            one.mkdir(parents=True)
        found = {name: value for name, value in os.environ.items() if name in _KEPT}
        found["PATH"] = f"{self.program.parent}:{found['PATH']}"
        self.environ = found | {
            "HOME": str(self.user),
            "FOREWORD_HOME": str(folder / "foreword"),
            "FOREWORD_CONFIG": str(folder / "foreword.toml"),
            **self.variables(),
        }
        self.memory = Client(address(self.environ), self.environ)
        self.settings()
        self.prepare()

    def variables(self) -> dict[str, str]:
        """What the host needs in its environment to run before the scripted model."""
        return {}

    @abstractmethod
    def prepare(self) -> None:
        """The host's own settings, as they were before Foreword came."""

    @abstractmethod
    def command(self, prompt: str, *, session: str | None, model: str) -> Sequence[str]:
        """One turn; `session` goes on with an earlier one, `model` is "" for the usual one."""

    @abstractmethod
    def session_of(self, printed: str) -> str:
        """The session's id, from what the host printed."""

    def turn(self, prompt: str, *, session: str | None = None, model: str = "") -> Turn:
        seen = len(self.model.requests)
        began = time.monotonic()
        done = subprocess.run(
            [str(self.program), *self.command(prompt, session=session, model=model)],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TURN_S,
            check=False,
        )
        requests = self.model.requests[seen:]
        told = f"{done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        assert done.returncode == 0, told
        assert requests, told
        return Turn(done.stdout, requests, began, time.monotonic() - began)

    @abstractmethod
    def talk(self) -> AbstractContextManager[Say]:
        """One session in one process, as a person has it: what is said in it, turn by turn."""

    def timed(self, say: Callable[[], str]) -> Turn:
        seen, began = len(self.model.requests), time.monotonic()
        text = say()
        requests = self.model.requests[seen:]
        assert requests, text
        return Turn(text, requests, began, time.monotonic() - began)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[Line]:
        """The host as a process that takes and gives lines of JSON."""
        with subprocess.Popen(
            [str(self.program), *arguments],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield Line(process)
            finally:
                # With all that it started: some hosts run themselves once more, and end only the first of the two.
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(_ENDS_S)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)

    def uses(self, tool: str, arguments: object) -> str:
        """What makes the model use a tool of Foreword's."""
        return f"[[tool:{tool} {json.dumps(arguments)}]]"

    # Foreword

    def foreword(self, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [str(VENV / "foreword"), *arguments],
            env=self.environ,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, f"{done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def settings(self, text: str = "") -> None:
        """Foreword's own settings; they count from the next request on. With patience: what a busy machine cannot do in
        time is not what these tests are about."""
        (self.folder / "foreword.toml").write_text(f"{text}\n{_PATIENT}")

    def call(self, action: str, **payload: Any) -> dict[str, Any]:
        return dict(self.memory.call(action, payload))

    def remember(self, text: str, **more: Any) -> str:
        """Something that was said to this host's agent earlier."""
        earlier = {"session": f"agent:{self.name}:earlier", "agent": self.name, "content": text, **more}
        found = self.call("ingest", **earlier)
        assert found["outcome"] in ("stored", "known"), found
        return str(found["id"])

    def kept(self) -> list[tuple[str, str, str]]:
        """Every memory as the disk has it, oldest first: its origin, its kind and its text."""
        with sqlite3.connect(f"file:{self.folder}/foreword/foreword.db?mode=ro", uri=True) as database:
            found = database.execute("SELECT origin, kind, text FROM memory ORDER BY row").fetchall()
        database.close()
        return found

    def keeps(self, words: str) -> bool:
        """Whether a memory holds these words, at the latest when the host has had time to hand them over."""
        until = time.monotonic() + _KEPT_S
        while not (found := any(words in text for _, _, text in self.kept())) and time.monotonic() < until:
            time.sleep(0.1)
        return found

    @contextmanager
    def no_daemon(self) -> Iterator[None]:
        """None runs, and none can be started: a file stands where its folder belongs."""
        self.memory.stop()
        run, aside = self.memory.address.folder, self.folder / "run-aside"
        run.rename(aside)
        run.touch()
        try:
            yield
        finally:
            run.unlink()
            aside.rename(run)

    @contextmanager
    def daemon_stopped(self) -> Iterator[None]:
        """There, and silent."""
        holder = self.memory.holder() or self._started()
        os.kill(holder, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(holder, signal.SIGCONT)

    def kill_daemon(self) -> None:
        holder = self.memory.holder()
        if holder:
            os.kill(holder, signal.SIGKILL)

    def _started(self) -> int:
        self.memory.start()
        holder = self.memory.holder()
        assert holder
        return holder

    def newest_receipt(self) -> dict[str, Any]:
        return dict(self.call("why", agent=self.name)["receipt"])

    def close(self) -> None:
        self.memory.stop()
        self.model.close()


def last_json(printed: str) -> Any:
    return json.loads(printed.strip().splitlines()[-1])
