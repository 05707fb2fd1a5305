"""OpenCode in a home of its own, before the scripted model: as a server that is asked over HTTP, for a turn there takes
less than a second, or by `opencode run`, which takes ten."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.hosts.model_server import Request
from tests.hosts.program import Program, Say, Turn

_STARTS_S = 60.0
_TURN_S = 120.0
_LISTENS = re.compile(r"listening on (http://\S+)")


class OpenCode(Program):
    name = "opencode"
    binary = "opencode/node_modules/.bin/opencode"
    search_tool = "mem-search"
    get_tool = "mem-get"

    def __init__(self, folder: Path, hosts: Path) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._url = ""
        super().__init__(folder, hosts)

    def variables(self) -> dict[str, str]:
        # Offline: no list of models, no newer version, no package.
        return {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "npm_config_offline": "true",
        }

    def prepare(self) -> None:
        self.config = self.user / ".config" / "opencode" / "opencode.json"
        self.config.parent.mkdir(parents=True)
        model = {"name": "Mock", "limit": {"context": 128000, "output": 4096}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "dummy"},
            "models": {"mock-model": model},
        }
        settings = {"provider": {"mock": provider}, "enabled_providers": ["mock"], "permission": "allow"}
        settings |= {"model": "mock/mock-model", "small_model": "mock/mock-model"}
        settings["command"] = {"kindly": {"template": "Answer at length, and kindly, as a neighbour would: $ARGUMENTS"}}
        self.config.write_text(json.dumps(settings, indent=2) + "\n")

    # opencode run

    def command(self, prompt: str, *, session: str | None, model: str) -> Sequence[str]:
        return ["run", "--format", "json", *(["--session", session] if session else []), prompt]

    def run(self, prompt: str, *, session: str | None = None) -> Turn:
        """In a process of its own."""
        return super().turn(prompt, session=session)

    # opencode serve

    def turn(self, prompt: str, *, session: str | None = None, model: str = "") -> Turn:
        session = session or self.new_session()
        said = {"parts": [{"type": "text", "text": prompt}]}
        return self.timed(lambda: json.dumps(self.ask("POST", f"/session/{session}/message", said)))

    @contextmanager
    def talk(self) -> Iterator[Say]:
        session = self.new_session()
        yield lambda prompt: self.turn(prompt, session=session)

    def new_session(self, title: str = "A session") -> str:
        """One that has a title: for one without, the host asks its model, whenever it gets to it."""
        return str(self.ask("POST", "/session", {"title": title} if title else {})["id"])

    def session_of(self, printed: str) -> str:
        if found := re.search(r'"sessionID":\s*"(ses_\w+)"', printed):
            return found[1]
        raise AssertionError(printed)

    def compact(self, session: str) -> list[Request]:
        """What the model was sent for the summary."""
        seen = len(self.model.requests)
        model = {"providerID": "mock", "modelID": "mock-model"}
        self.ask("POST", f"/session/{session}/summarize", model)
        return self.model.requests[seen:]

    def messages(self, session: str) -> str:
        """The conversation as the host has stored it."""
        return json.dumps(self.ask("GET", f"/session/{session}/message"))

    def ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        url = f"{self.url}{path}"
        with urllib.request.urlopen(
            urllib.request.Request(url, data, headers, method=method), timeout=_TURN_S
        ) as answer:
            return json.loads(answer.read() or b"null")

    @property
    def url(self) -> str:
        if self._server is None:
            self.start()
        return self._url

    def start(self) -> None:
        self._server = subprocess.Popen(
            [str(self.program), "serve", "--port", "0"],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._server.stdout
        said, until = [], time.monotonic() + _STARTS_S
        for line in self._server.stdout:
            said.append(line)
            if found := _LISTENS.search(line):
                self._url = found[1]
                break
            assert time.monotonic() < until, said
        assert self._url, said
        threading.Thread(target=self._server.stdout.read, daemon=True).start()

    def stop(self) -> None:
        """As a service manager does it."""
        if self._server is not None:
            self._server.terminate()
            try:
                self._server.wait(20)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        self._server, self._url = None, ""

    def close(self) -> None:
        self.stop()
        super().close()
