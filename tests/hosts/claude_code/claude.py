"""Claude Code in a home of its own, before the scripted model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from tests.hosts.model_server import Request
from tests.hosts.program import Program, last_json

# This one puts what a hook says into the user's message; the host's newest models get it right behind.
MODEL = "claude-sonnet-4-5"


class Claude(Program):
    name = "claude-code"
    binary = "claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
    search_tool = "mcp__plugin_foreword_foreword__mem-search"
    get_tool = "mcp__plugin_foreword_foreword__mem-get"

    def variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "sk-ant-dummy-not-a-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def prepare(self) -> None:
        self.settings_file = self.user / ".claude" / "settings.json"
        self.settings_file.parent.mkdir()
        self.settings_file.write_text('{\n  "permissions": {"allow": ["Read"]}\n}\n')

    def command(self, prompt: str, *, session: str | None, model: str) -> Sequence[str]:
        allowed = ["--allowedTools", f"{self.search_tool},{self.get_tool},Bash,Agent,Task"]
        going_on = ["--resume", session] if session else []
        return ["-p", prompt, "--model", model or MODEL, "--output-format", "json", *allowed, *going_on]

    def session_of(self, printed: str) -> str:
        return str(last_json(printed)["session_id"])

    def conversation(self, prompts: Sequence[str]) -> list[Request]:
        """All of them in one process, as a person types them; what the model was sent first for each."""
        command = [str(self.program), "-p", "--model", MODEL, "--verbose"]
        command += ["--input-format", "stream-json", "--output-format", "stream-json"]
        sent = []
        with subprocess.Popen(
            command, cwd=self.project, env=self.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as talking:
            assert talking.stdin
            assert talking.stdout
            for prompt in prompts:
                seen = len(self.model.requests)
                message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": prompt}]}
                talking.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
                talking.stdin.flush()
                for line in talking.stdout:
                    if json.loads(line).get("type") == "result":
                        break
                sent.append(next(one for one in self.model.requests[seen:] if one.tools))
            talking.stdin.close()
            talking.wait(60)
        return sent
