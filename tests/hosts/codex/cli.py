"""Codex in a home of its own, before the scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.hosts.program import Line, Program, Say

CONFIG = """# as it was
model = "mock-model"
model_provider = "mock"

[model_providers.mock]
name = "Mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
"""


class Codex(Program):
    name = "codex"
    binary = "codex/node_modules/.bin/codex"
    search_tool = "mcp__foreword__mem_search"
    get_tool = "mcp__foreword__mem_get"
    # A user looks at the hooks and trusts them; a test says that it has.
    trusted = True

    def variables(self) -> dict[str, str]:
        return {"MOCK_KEY": "x"}

    def prepare(self) -> None:
        self.config = self.user / ".codex" / "config.toml"
        self.config.parent.mkdir()
        self.config.write_text(CONFIG.format(url=self.model.url))

    def command(self, prompt: str, *, session: str | None, model: str) -> Sequence[str]:
        going_on = ["resume", session] if session else []
        trust = ["--dangerously-bypass-hook-trust"] if self.trusted else []
        return ["exec", "--skip-git-repo-check", "--json", *trust, *going_on, prompt]

    def trust(self) -> None:
        """What Codex keeps when a user has looked at the hooks and trusts them."""
        with self._served() as line:
            (folder,) = line.call("hooks/list", {})["data"]
        for hook in folder["hooks"]:
            with self.config.open("a") as config:
                config.write(f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')

    @contextmanager
    def talk(self) -> Iterator[Say]:
        if "trusted_hash" not in self.config.read_text():
            self.trust()
        with self._served() as line:
            thread = line.call("thread/start", {"cwd": str(self.project)})["thread"]["id"]

            def say(prompt: str) -> str:
                line.call("turn/start", {"threadId": thread, "input": [{"type": "text", "text": prompt}]})
                return str(line.until(lambda one: one.get("method") == "turn/completed"))

            yield lambda prompt: self.timed(lambda: say(prompt))

    @contextmanager
    def _served(self) -> Iterator[Line]:
        with self.running("app-server") as line:
            line.call("initialize", {"clientInfo": {"name": "tests", "version": "1"}})
            line.send({"method": "initialized"})
            yield line

    def uses(self, tool: str, arguments: object) -> str:
        # Codex does not wait for the tools of a server that is still starting: they are there with the next request.
        return '[[tool:exec_command {"cmd": "sleep 8", "yield_time_ms": 15000}]]' + super().uses(tool, arguments)

    def session_of(self, printed: str) -> str:
        started = (json.loads(line) for line in printed.splitlines() if line.startswith("{"))
        return next(str(one["thread_id"]) for one in started if one["type"] == "thread.started")
