"""Foreword in Gemini CLI: its hooks and its tools, in the host's settings. The host asks before it lets the model use a
tool for the first time, and that is left to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foreword.errors import HostError
from foreword.hosts import HOSTS
from foreword.install.check import Check
from foreword.install.hooks import edits, ours, wrong
from foreword.install.installation import Change, Edit, Put, edited, parsed
from foreword.install.installer import Installer, Wanted, in_home
from foreword.install.json5 import member

_SERVER = ("mcpServers", "foreword")
_HOOKS = ("hooks",)
_TIMEOUT_MS = 5000
# Before every turn the host announces a compression of its own that seldom comes. Only a person's counts, and only for
# that is a process started.
_MATCHERS = {"PreCompress": "manual"}


class Gemini(Installer):
    name = "gemini"
    title = "Gemini CLI"
    grant = (
        "Foreword asks to run at Gemini CLI's hooks: it reads each prompt, answer and tool result, gives the model what"
        " is worth knowing, and keeps what was said on this machine."
    )

    def config_file(self, environ: Mapping[str, str]) -> Path:
        return in_home(environ, "", ".gemini") / "settings.json"

    def read(self, file: Path) -> dict[str, Any]:
        found = parsed(file)
        if found is not None and not isinstance(found, dict):
            raise HostError(f"{file} does not hold an object.", hint="Nothing was touched; correct it first.")
        return found or {}

    def plan(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> list[Change]:
        hooks = edits(self.name, member(config, _HOOKS), list(self._entries(wanted)))
        return [edited(file, [*hooks, Edit(_SERVER, _server(self.name, wanted), table=True)])]

    def _entries(self, wanted: Wanted) -> Iterator[tuple[str, dict[str, Any]]]:
        for event in HOSTS[self.name].events:
            hook = {"type": "command", "command": wanted.line("hook", self.name, event), "timeout": _TIMEOUT_MS}
            yield event, {"matcher": _MATCHERS.get(event, "*"), "hooks": [{"name": "foreword", **hook}]}

    def granted(self, config: Mapping[str, Any]) -> bool:
        return member(config, _SERVER) is not None

    def traces(self, file: Path, wanted: Wanted) -> dict[Path, list[Put]]:
        config = self.read(file)
        found = [Put((*_HOOKS, event), entry, item=True) for event, entry in ours(self.name, member(config, _HOOKS))]
        return {file: [*found, *([Put(_SERVER, None, table=True)] if member(config, _SERVER) is not None else [])]}

    def checks(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> Iterator[Check]:
        if found := wrong(self.name, self.title, member(config, _HOOKS), list(self._entries(wanted))):
            yield Check("hooks", "fail", found, self.again)
        elif member(config, ("hooksConfig", "enabled")) is False:
            step = f"Take hooksConfig.enabled out of {file}."
            yield Check("hooks", "fail", "All hooks are switched off (hooksConfig.enabled).", step)
        elif "foreword" in (member(config, ("hooksConfig", "disabled")) or ()):
            step = "`/hooks enable foreword` in Gemini CLI."
            yield Check("hooks", "fail", "Foreword's hooks are switched off (hooksConfig.disabled).", step)
        else:
            yield Check("hooks", "ok", "the settings call this Foreword")
        if any(member(config, (*_SERVER, key)) != value for key, value in _server(self.name, wanted).items()):
            yield Check("tools", "warn", "mem-search and mem-get are not offered by this Foreword", self.again)
        else:
            yield Check("tools", "ok", "mem-search and mem-get are offered")


def _server(agent: str, wanted: Wanted) -> dict[str, Any]:
    command, *arguments = wanted.command("mcp", "--agent", agent)
    return {"command": command, "args": arguments}
