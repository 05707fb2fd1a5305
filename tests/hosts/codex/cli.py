"""Codex in a home of its own, before the scripted model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from tests.hosts.program import Program

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
        with subprocess.Popen(
            [str(self.program), "app-server"],
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            assert server.stdin
            assert server.stdout
            client = {"clientInfo": {"name": "tests", "version": "1"}}
            asked = ({"id": 1, "method": "initialize", "params": client}, {"method": "initialized"})
            for one in (*asked, {"id": 2, "method": "hooks/list", "params": {}}):
                server.stdin.write(json.dumps(one) + "\n")
            server.stdin.flush()
            told = (json.loads(line) for line in server.stdout)
            (folder,) = next(one for one in told if one.get("id") == 2)["result"]["data"]
            server.terminate()
        for hook in folder["hooks"]:
            with self.config.open("a") as config:
                config.write(f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')

    def uses(self, tool: str, arguments: object) -> str:
        # Codex does not wait for the tools of a server that is still starting: they are there with the next request.
        return '[[tool:exec_command {"cmd": "sleep 8", "yield_time_ms": 15000}]]' + super().uses(tool, arguments)

    def session_of(self, printed: str) -> str:
        started = (json.loads(line) for line in printed.splitlines() if line.startswith("{"))
        return next(str(one["thread_id"]) for one in started if one["type"] == "thread.started")
