"""Claude Code in a home of its own, before the scripted model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.hosts.program import Program, Say, last_json

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

    @contextmanager
    def talk(self) -> Iterator[Say]:
        streams = ("--input-format", "stream-json", "--output-format", "stream-json")
        with self.running("-p", "--model", MODEL, "--verbose", *streams) as line:

            def say(prompt: str) -> str:
                message = {"role": "user", "content": [{"type": "text", "text": prompt}]}
                line.send({"type": "user", "message": message})
                return str(line.until(lambda one: one.get("type") == "result"))

            yield lambda prompt: self.timed(lambda: say(prompt))
