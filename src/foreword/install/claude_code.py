"""Foreword in Claude Code: a plugin in a folder of Foreword's own, and two values in the settings that name the folder
and switch the plugin on. The host's own `plugin install` is not needed: it was seen on 2.1.325 that it loads a plugin
that the settings name, from the folder itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foreword.errors import HostError
from foreword.install.check import Check
from foreword.install.installation import Change, Edit, Put, edited, parsed
from foreword.install.installer import Answers, Installer, Wanted, in_home, placed, present, shipped
from foreword.install.json5 import member

_MARKET = ("extraKnownMarketplaces", "foreword")
_PLUGIN = "foreword@foreword"
_ENABLED = ("enabledPlugins", _PLUGIN)
# The others are only run as commands, or were not seen to be run otherwise.
_BY_HTTP = ("UserPromptSubmit", "PostToolUse", "Stop")
_HOOKS, _SERVERS = "hooks/hooks.json", ".mcp.json"


class ClaudeCode(Installer):
    name = "claude-code"
    title = "Claude Code"
    by_http = True
    grant = (
        "Foreword asks to run at Claude Code's hooks: it reads each prompt, answer and tool result, gives the model"
        " what is worth knowing, and keeps what was said on this machine."
    )

    @property
    def program(self) -> str:
        return "claude"

    def config_file(self, environ: Mapping[str, str]) -> Path:
        return in_home(environ, "CLAUDE_CONFIG_DIR", ".claude") / "settings.json"

    def read(self, file: Path) -> dict[str, Any]:
        found = parsed(file)
        if found is not None and not isinstance(found, dict):
            raise HostError(f"{file} does not hold an object.", hint="Nothing was touched; correct it first.")
        return found or {}

    def plan(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> list[Change]:
        market = {"source": {"source": "directory", "path": str(wanted.folder)}}
        return [*placed(_files(wanted), wanted.folder), edited(file, [Edit(_MARKET, market), Edit(_ENABLED, True)])]

    def asks_by_http(self, folder: Path) -> bool:
        hooks = member(parsed(folder / _HOOKS), ("hooks", "UserPromptSubmit"))
        return bool(hooks) and hooks[0]["hooks"][0]["type"] == "http"

    def granted(self, config: Mapping[str, Any]) -> bool:
        return member(config, _ENABLED) is True

    def traces(self, file: Path, wanted: Wanted) -> dict[Path, list[Put]]:
        config = self.read(file)
        found = [path for path in (_MARKET, _ENABLED) if member(config, path) is not None]
        return {file: [Put(path, None) for path in found]}

    def checks(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> Iterator[Check]:
        plugin = present(_files(wanted), wanted.folder, self.again)
        astray = "" if plugin.state == "fail" else _astray(wanted)
        yield Check("plugin", "fail", astray, self.again) if astray else plugin
        if member(config, (*_MARKET, "source", "path")) != str(wanted.folder):
            yield Check("enabled", "fail", "Claude Code is not told where the plugin is.", self.again)
        elif member(config, _ENABLED) is not True:
            yield Check("enabled", "fail", "The plugin is not switched on.", self.again)
        else:
            yield Check("enabled", "ok", "the settings name the plugin and switch it on")
        if member(config, ("disableAllHooks",)) is True:
            step = f"Take disableAllHooks out of {file}."
            yield Check("hooks", "fail", "All hooks are switched off (disableAllHooks), so nothing is injected.", step)

    def running(self, config: Mapping[str, Any], ask: Answers, wanted: Wanted) -> Iterator[Check]:
        try:
            # A plugin that the settings name is in no list of installed ones; the folder it comes from is in this one.
            listed = ask("plugin", "marketplace", "list", "--json")
        except HostError as error:
            step = "`claude plugin marketplace list`"
            yield Check("program", "warn", f"Claude Code cannot be asked: {error}", step)
            return
        found = next((one for one in listed if member(one, ("name",)) == _MARKET[-1]), None)
        if found is None:
            step = "Start a session, then check again."
            yield Check("program", "warn", "Claude Code has not started since the install", step)
        elif member(found, ("path",)) != str(wanted.folder):
            step = "`claude plugin marketplace remove foreword`, then start a session."
            yield Check("program", "fail", f"Claude Code loads another plugin: {member(found, ('path',))}.", step)
        else:
            yield Check("program", "ok", "Claude Code has taken up the plugin")


def _files(wanted: Wanted) -> dict[str, bytes]:
    """The plugin as it ships, with the way to this very Foreword in it. Where a daemon stays at a port, the host asks
    it by itself, which saves starting a process."""
    files = shipped(ClaudeCode.name)
    hooks, servers = json.loads(files[_HOOKS]), json.loads(files[_SERVERS])
    for event, entries in hooks["hooks"].items():
        for hook in (hook for entry in entries for hook in entry["hooks"]):
            if wanted.door and event in _BY_HTTP:
                url = f"{wanted.door}/hook/{ClaudeCode.name}/{event}"
                opened = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {wanted.token}"}}
                hook.update(opened)
                del hook["command"], hook["args"]
            else:
                hook["command"], *hook["args"] = wanted.command(*hook["args"])
    for server in servers["mcpServers"].values():
        server["command"], *server["args"] = wanted.command(*server["args"])
    return {**files, _HOOKS: _document(hooks), _SERVERS: _document(servers)}


def _astray(wanted: Wanted) -> str:
    """What is to be said of a plugin whose hooks or tools do not run this Foreword; "" where all do. How else they
    differ from those that ship is a matter of versions."""
    files = _files(wanted)
    try:
        hooks, servers = (parsed(wanted.folder / name) for name in (_HOOKS, _SERVERS))
    except HostError as error:
        return str(error.args[0])
    for event, entries in json.loads(files[_HOOKS])["hooks"].items():
        command, *arguments = wanted.command("hook", ClaudeCode.name, event)
        present_ways = _ways(member(hooks, ("hooks", event)))
        # A hook that is run as a command works too where the daemon could be asked by itself.
        if _way({"command": command, "args": arguments}) in present_ways:
            continue
        if any(one not in present_ways for one in _ways(entries)):
            return f"The plugin does not run this Foreword at {event}."
    for name, server in json.loads(files[_SERVERS])["mcpServers"].items():
        if _way(member(servers, ("mcpServers", name))) != _way(server):
            return "The plugin's tools do not run this Foreword."
    return ""


def _ways(entries: Any) -> list[tuple[Any, ...]]:
    listed = [member(one, ("hooks",)) for one in entries] if isinstance(entries, list) else []
    return [_way(hook) for hooks in listed if isinstance(hooks, list) for hook in hooks]


def _way(hook: Any) -> tuple[Any, ...]:
    """What leads to a Foreword, of a hook or a server."""
    return tuple(member(hook, (name,)) for name in ("command", "args", "url", "headers"))


def _document(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
