"""Gemini CLI in a home of its own, before the scripted model."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.hosts.program import Program


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
        usual = ["-m", model or "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", "-o", "json"]
        return [*usual, *going_on, "-p", prompt]

    def session_of(self, printed: str) -> str:
        return str(json.loads(printed[printed.index("{") :])["session_id"])
