"""Gemini CLI in a home of its own, before the scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.hosts.program import Program, Say

_MODEL = "gemini-2.5-flash"
_USUAL = ("--approval-mode", "yolo", "--skip-trust")


class Gemini(Program):
    name = "gemini"
    binary = "gemini/node_modules/.bin/gemini"
    search_tool = "mcp_foreword_mem-search"
    get_tool = "mcp_foreword_mem-get"

    def variables(self) -> dict[str, str]:
        return {
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_API_KEY": "dummy",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def prepare(self) -> None:
        self.settings_file = self.user / ".gemini" / "settings.json"
        self.settings_file.parent.mkdir()
        before = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}}
        self.settings_file.write_text(json.dumps(before, indent=2))

    def command(self, prompt: str, *, session: str | None, model: str) -> Sequence[str]:
        going_on = ["--resume", session] if session else []
        return [*_USUAL, "-m", model or _MODEL, "-o", "json", *going_on, "-p", prompt]

    @contextmanager
    def talk(self) -> Iterator[Say]:
        """As an editor talks to it, by the Agent Client Protocol."""
        with self.running("--acp", *_USUAL, "-m", _MODEL) as line:
            line.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            session = line.call("session/new", {"cwd": str(self.project), "mcpServers": []})["sessionId"]

            def say(prompt: str) -> str:
                words = [{"type": "text", "text": prompt}]
                return str(line.call("session/prompt", {"sessionId": session, "prompt": words}))

            yield lambda prompt: self.timed(lambda: say(prompt))

    def session_of(self, printed: str) -> str:
        return str(json.loads(printed[printed.index("{") :])["session_id"])
