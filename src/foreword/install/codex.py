"""Foreword in Codex: its hooks in `hooks.json`, its tools in `config.toml`. Codex runs a hook only when the user has
looked at it and trusts it, and that step is the user's: nothing here takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foreword import __version__
from foreword.errors import HostError
from foreword.hosts import HOSTS
from foreword.install.check import Check
from foreword.install.hooks import edits, ours, wrong
from foreword.install.installation import Change, Edit, Put, edited, parsed
from foreword.install.installer import Answers, Installer, Wanted, in_home
from foreword.install.json5 import member

_SERVER = ("mcp_servers", "foreword")
_HOOKS = ("hooks.json", "hooks")
_TIMEOUT_S = 5
_TRUST = "Start `codex`, look at the hooks that it wants reviewed (or open /hooks), and trust them."
_TRUSTED = ("trusted", "managed")
_LIST_HOOKS = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "foreword", "version": __version__}}},
    {"method": "initialized"},
    {"id": 2, "method": "hooks/list", "params": {}},
)


class Codex(Installer):
    name = "codex"
    title = "Codex"
    grant = (
        "Foreword asks to run at Codex's hooks: it reads each prompt, answer and tool result, gives the model what is"
        " worth knowing, and keeps what was said on this machine. Codex itself will ask you to trust the hooks."
    )

    def config_file(self, environ: Mapping[str, str]) -> Path:
        return in_home(environ, "CODEX_HOME", ".codex") / "config.toml"

    def read(self, file: Path) -> dict[str, Any]:
        hooks = parsed(_hooks(file))
        if hooks is not None and not isinstance(hooks, dict):
            raise HostError(f"{_hooks(file)} does not hold an object.", hint="Nothing was touched; correct it first.")
        return {**(parsed(file) or {}), "hooks.json": hooks or {}}

    def plan(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> list[Change]:
        hooks = edits(self.name, member(config, _HOOKS), list(self._entries(wanted)))
        server = Edit(_SERVER, _server(wanted), table=True)
        return [edited(_hooks(file), hooks), edited(file, [server], fresh="")]

    def after(self, plan: Sequence[Change], config: Mapping[str, Any], wanted: Wanted) -> str:
        return f"Codex runs no hook that you have not looked at. {_TRUST}"

    def _entries(self, wanted: Wanted) -> Iterator[tuple[str, dict[str, Any]]]:
        for event in HOSTS[self.name].events:
            hook = {"type": "command", "command": wanted.line("hook", self.name, event), "timeout": _TIMEOUT_S}
            yield event, {"hooks": [hook]}

    def granted(self, config: Mapping[str, Any]) -> bool:
        return member(config, _SERVER) is not None

    def traces(self, file: Path, wanted: Wanted) -> dict[Path, list[Put]]:
        config = self.read(file)
        hooks = [Put(("hooks", event), entry, item=True) for event, entry in ours(self.name, member(config, _HOOKS))]
        server = [Put(_SERVER, None, table=True)] if member(config, _SERVER) is not None else []
        return {_hooks(file): hooks, file: server}

    def checks(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> Iterator[Check]:
        if found := wrong(self.name, self.title, member(config, _HOOKS), list(self._entries(wanted))):
            yield Check("hooks", "fail", found, self.again)
        else:
            yield Check("hooks", "ok", f"{_hooks(file)} calls this Foreword")
        if member(config, ("features", "hooks")) is False:
            step = f"Take features.hooks out of {file}."
            yield Check("hooks", "fail", "Hooks are switched off (features.hooks).", step)
        if any(member(config, (*_SERVER, key)) != value for key, value in _server(wanted).items()):
            yield Check("tools", "warn", "mem-search and mem-get are not offered by this Foreword", self.again)
        else:
            yield Check("tools", "ok", "mem-search and mem-get are offered")

    def running(self, config: Mapping[str, Any], ask: Answers, wanted: Wanted) -> Iterator[Check]:
        try:
            listed = ask("app-server", talk=_LIST_HOOKS)
        except HostError as error:
            yield Check("trust", "warn", f"Codex cannot be asked whether it trusts the hooks: {error}", _TRUST)
            return
        called = {entry["hooks"][0]["command"]: event for event, entry in self._entries(wanted)}
        found = {
            called[hook["command"]]: hook
            for folder in member(listed, ("data",)) or ()
            for hook in folder.get("hooks", ())
            if hook.get("command") in called
        }
        doubted = [event for event in called.values() if member(found.get(event), ("trustStatus",)) not in _TRUSTED]
        off = [event for event in called.values() if member(found.get(event), ("enabled",)) is False]
        if doubted:
            yield Check("trust", "fail", f"Codex does not run Foreword's hooks: {doubted[0]} is not trusted.", _TRUST)
        elif off:
            step = "Start `codex`, open /hooks, and switch it on."
            yield Check("trust", "fail", f"Codex does not run Foreword's hooks: {off[0]} is switched off.", step)
        else:
            yield Check("trust", "ok", "Codex trusts the hooks, and runs them")


def _hooks(file: Path) -> Path:
    return file.with_name("hooks.json")


def _server(wanted: Wanted) -> dict[str, Any]:
    command, *arguments = wanted.command("mcp", "--agent", Codex.name)
    return {"command": command, "args": arguments}
