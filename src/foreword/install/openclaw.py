"""What Foreword needs on disk to be in OpenClaw: its plugin, and a few values in the host's settings.

The plugin is copied into Foreword's own home. OpenClaw refuses a plugin whose files have a second name on the disk, as
those have that some installers of Python packages make, and a copy stays where it is when a virtual environment moves.

The settings are changed here and not by `openclaw plugins install`, which writes the whole file anew without its
comments and leaves a trace when it uninstalls. Nothing but the settings is needed: it was seen on 2026.9.6 that the
gateway loads a plugin that is named there, and takes up the change while it runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foreword.errors import HostError
from foreword.install.check import Check
from foreword.install.installation import Change, Edit, Put, edited, parsed
from foreword.install.installer import Answers, Installer, Owners, Wanted, placed, present, shipped
from foreword.install.json5 import member

PLUGIN = "foreword"
GRANTED = ("plugins", "entries", PLUGIN, "hooks", "allowConversationAccess")
_ENTRY = ("plugins", "entries", PLUGIN)
# Deeper than any settings are split, and one file may name itself.
_MOST_INCLUDED = 10


class OpenClaw(Installer):
    name = "openclaw"
    title = "OpenClaw"
    grant = (
        "Foreword asks to read the conversations of OpenClaw's agents (allowConversationAccess): it needs each message"
        " to find what is worth knowing, and it keeps what was said on this machine."
    )

    def config_file(self, environ: Mapping[str, str]) -> Path:
        home = environ.get("OPENCLAW_HOME", "").strip() or environ.get("HOME", "").strip() or "~"
        own = os.path.expanduser(home) if home.startswith("~") else home

        def absolute(named: str) -> Path:
            return Path(os.path.abspath(own + named[1:] if named == "~" or named.startswith("~/") else named))

        if named := environ.get("OPENCLAW_CONFIG_PATH", "").strip():
            return absolute(named)
        state = environ.get("OPENCLAW_STATE_DIR", "").strip()
        return absolute(state or "~/.openclaw") / "openclaw.json"

    def read(self, file: Path) -> dict[str, Any]:
        """With what they include. Raises HostError where there are none, or none that can be read."""
        return _resolved(file, 0)

    def plan(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> list[Change]:
        """The plugin, then the host's settings: the gateway looks for the plugin when these change."""
        return [*placed(shipped(self.name), wanted.folder), edited(file, self.edits(config, wanted))]

    def edits(self, config: Mapping[str, Any], wanted: Wanted) -> list[Edit]:
        if others := _elsewhere(config, wanted.folder):
            raise HostError(
                f"Foreword's plugin is installed already from {others[0]}.",
                hint="Remove it with `openclaw plugins uninstall foreword`, then run the command again.",
            )
        found = [Edit(("plugins", "load", "paths"), str(wanted.folder), item=True)]
        if _allowed(config):
            found.append(Edit(("plugins", "allow"), PLUGIN, item=True))
        found += [Edit((*_ENTRY, "enabled"), True), Edit(GRANTED, True)]
        if wanted.home:
            found.append(Edit((*_ENTRY, "config", "home"), wanted.home))
        return [*found, Edit((*_ENTRY, "config", "command"), list(wanted.daemon))]

    def after(self, plan: Sequence[Change], config: Mapping[str, Any], wanted: Wanted) -> str:
        # The gateway reads its settings again by itself, but not new code of a plugin that it has loaded.
        loaded = str(wanted.folder) in _listed(member(config, ("plugins", "load", "paths")))
        if loaded and any(one.changes and one.file.is_relative_to(wanted.folder) for one in plan):
            return "`openclaw plugins reload foreword` makes the gateway take up the new plugin."
        return "OpenClaw takes it up by itself."

    def granted(self, config: Mapping[str, Any]) -> bool:
        return member(config, GRANTED) is True

    def traces(self, file: Path, wanted: Wanted) -> dict[Path, list[Put]]:
        config = parsed(file)
        paths = member(config, ("plugins", "load", "paths"))
        found = []
        if isinstance(paths, list) and str(wanted.folder) in paths:
            found.append(Put(("plugins", "load", "paths"), str(wanted.folder), item=True))
        if PLUGIN in (member(config, ("plugins", "allow")) or ()):
            found.append(Put(("plugins", "allow"), PLUGIN, item=True))
        if member(config, _ENTRY) is not None:
            found.append(Put(_ENTRY, None))
        return {file: found}

    def checks(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> Iterator[Check]:
        plugin = self._plugin(config, wanted.folder)
        yield plugin
        if plugin.state == "fail" and member(config, _ENTRY) is None:
            return
        yield self._enabled(config)
        yield self._grant(config)
        yield self._starts(config, wanted)

    def _plugin(self, config: Mapping[str, Any], folder: Path) -> Check:
        if str(folder) not in _listed(member(config, ("plugins", "load", "paths"))):
            if others := _elsewhere(config, folder):
                return Check("plugin", "warn", f"loaded from {others[0]}, not as installed here", self.again)
            return Check("plugin", "fail", "OpenClaw is not told to load the plugin.", self.again)
        return present(shipped(self.name), folder, self.again)

    def _enabled(self, config: Mapping[str, Any]) -> Check:
        plugins = config.get("plugins")
        if member(plugins, ("enabled",)) is False:
            return Check(
                "enabled", "fail", "All plugins are switched off.", "`openclaw config set plugins.enabled true`"
            )
        if PLUGIN in _listed(member(plugins, ("deny",))):
            return Check("enabled", "fail", "plugins.deny names foreword.", "Take it out of plugins.deny.")
        if (allow := _allowed(config)) and PLUGIN not in allow:
            return Check("enabled", "fail", "plugins.allow does not name foreword.", self.again)
        if member(config, (*_ENTRY, "enabled")) is not True:
            return Check("enabled", "fail", "The plugin is switched off.", "`openclaw plugins enable foreword`")
        return Check("enabled", "ok", "the plugin is switched on")

    def _grant(self, config: Mapping[str, Any]) -> Check:
        if not self.granted(config):
            found = "The plugin may not read conversations, so it is never asked: nothing is injected or recorded."
            return Check("grant", "fail", found, self.again)
        if member(config, (*_ENTRY, "hooks", "allowPromptInjection")) is False:
            found = "The plugin may not add to prompts: nothing is injected."
            step = "`openclaw config unset plugins.entries.foreword.hooks.allowPromptInjection`"
            return Check("grant", "fail", found, step)
        return Check("grant", "ok", "the plugin may read conversations and add to prompts")

    def _starts(self, config: Mapping[str, Any], wanted: Wanted) -> Check:
        given = member(config, (*_ENTRY, "config"))
        if (member(given, ("home",)) or "") != wanted.home:
            found = f"The plugin asks the Foreword of {member(given, ('home',)) or 'the gateway'}, not this one."
            return Check("command", "fail", found, self.again)
        if member(given, ("command",)) != list(wanted.daemon):
            return Check(
                "command", "warn", "The plugin starts Foreword by another command than this one's.", self.again
            )
        return Check("command", "ok", "the plugin starts this Foreword")

    def running(self, config: Mapping[str, Any], ask: Answers, wanted: Wanted) -> Iterator[Check]:
        try:
            listed = ask("gateway", "call", "plugins.list", "--json")
            found = next((one for one in _listed(member(listed, ("plugins",))) if member(one, ("id",)) == PLUGIN), None)
            state = member(found, ("runtime", "state"))
            if state != "active":
                told = f"says of it: {state}" if state else "does not know it"
                yield Check(
                    "gateway", "fail", f"The plugin is not loaded: the gateway {told}.", "`openclaw gateway restart`"
                )
                return
            grants = ask("gateway", "call", "plugins.inspect", "--params", f'{{"pluginId": "{PLUGIN}"}}', "--json")
        except HostError as error:
            yield Check("gateway", "fail", f"The gateway cannot be asked: {error}", "`openclaw gateway status`")
            return
        hooks = member(grants, ("grants", "hooks"))
        for name in ("allowConversationAccess", "allowPromptInjection"):
            if member(hooks, (name, "effective")) is False:
                yield Check("gateway", "fail", f"The gateway does not grant {name}.", "`openclaw gateway restart`")
                return
        yield Check("gateway", "ok", "runs, and has the plugin loaded")

    def daemon(self, config: Mapping[str, Any], wanted: Wanted) -> Sequence[str]:
        given = member(config, (*_ENTRY, "config", "command"))
        return [one for one in _listed(given) if isinstance(one, str)] or ["foreword-daemon", "--detach"]

    def agents(self, config: Mapping[str, Any]) -> list[str]:
        listed = member(config, ("agents", "list"))
        found = [one.get("id") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        return [one for one in found if isinstance(one, str)] or ["main"]

    def workspace(self, file: Path, config: Mapping[str, Any]) -> Path | None:
        """Where the default agent works: its own setting, the one for all, or the host's usual place."""
        listed = [one for one in _listed(member(config, ("agents", "list"))) if isinstance(one, dict)]
        chosen = next((one for one in listed if one.get("default") is True), listed[0] if listed else {})
        named = chosen.get("workspace") or member(config, ("agents", "defaults", "workspace"))
        if isinstance(named, str) and named.strip():
            return Path(os.path.abspath(os.path.expanduser(named)))
        return file.parent / "workspace"

    def owners(self, config: Mapping[str, Any]) -> Owners:
        """Who the host itself calls its owner; else the one person who may write on a channel by direct message. Who
        may speak in a group is not asked, and `*` is nobody."""
        named = [_plain(one) for one in _listed(member(config, ("commands", "ownerAllowFrom")))]
        if told := [one for one in named if _is_person(one)]:
            return Owners(ids=tuple(dict.fromkeys(told)))
        certain: list[str] = []
        several: list[str] = []
        channels = config.get("channels")
        for channel, settings in channels.items() if isinstance(channels, dict) else ():
            entries = [_plain(one) for one in _direct(settings)]
            people = list(dict.fromkeys(_on(channel, one) for one in entries if _is_person(one)))
            only = len(people) == 1 and all(_is_person(one) for one in entries)
            (certain if only else several).extend(people)
        return Owners(tuple(certain), tuple(several))

    def without_files(self, config: Mapping[str, Any]) -> list[str]:
        everywhere = member(config, ("agents", "defaults", "contextInjection"))
        listed = {one.get("id"): one for one in _listed(member(config, ("agents", "list"))) if isinstance(one, dict)}
        return [
            one for one in self.agents(config) if listed.get(one, {}).get("contextInjection", everywhere) == "never"
        ]


def _resolved(file: Path, depth: int) -> dict[str, Any]:
    found = parsed(file)
    if found is None:
        raise HostError(f"{file} does not exist.", hint="Set OpenClaw up first, or name its settings with --config.")
    if not isinstance(found, dict):
        raise HostError(f"{file} does not hold an object.", hint="Nothing was touched; correct it first.")
    if depth > _MOST_INCLUDED:
        raise HostError(f"{file} is included too deeply.", hint="Nothing was touched; correct it first.")
    whole_file: dict[str, Any] = _with_included(found, file.resolve().parent, depth)
    return whole_file


def _with_included(value: Any, folder: Path, depth: int) -> Any:
    if isinstance(value, list):
        return [_with_included(one, folder, depth) for one in value]
    if not isinstance(value, dict):
        return value
    own = {key: _with_included(one, folder, depth) for key, one in value.items() if key != "$include"}
    names = value.get("$include", [])
    merged: Any = {}
    for name in [names] if isinstance(names, str) else names:
        merged = _merged(merged, _resolved(folder / str(name), depth + 1))
    return _merged(merged, own)


def _merged(first: Any, second: Any) -> Any:
    """As the host does it: objects become one, lists are joined, and of other values the second stands."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{key: _merged(first[key], one) if key in first else one for key, one in second.items()}}
    return [*first, *second] if isinstance(first, list) and isinstance(second, list) else second


def _direct(settings: Any) -> list[Any]:
    """Every entry of the lists of people who may write to the bot in private, on all its accounts."""
    if not isinstance(settings, dict):
        return []
    found = [*_listed(settings.get("allowFrom")), *_listed(member(settings, ("dm", "allowFrom")))]
    accounts = settings.get("accounts")
    for one in accounts.values() if isinstance(accounts, dict) else ():
        found += _direct(one)
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _plain(entry: Any) -> str:
    return str(entry).strip() if isinstance(entry, str | int) and not isinstance(entry, bool) else ""


def _is_person(entry: str) -> bool:
    """Neither everybody, nor a group of people, nor a value that only the gateway's environment knows."""
    return entry not in ("", "*") and not entry.lower().startswith("accessgroup:") and "${" not in entry


def _on(channel: str, person: str) -> str:
    head, colon, rest = person.partition(":")
    same = colon and (head.lower() == channel or (channel, head.lower()) in (("telegram", "tg"), ("whatsapp", "wa")))
    return f"{channel}:{rest if same else person}"


def _allowed(config: Mapping[str, Any]) -> list[Any]:
    """The list of plugins that may load; empty where all may."""
    return _listed(member(config, ("plugins", "allow")))


def _elsewhere(config: Mapping[str, Any], folder: Path) -> list[str]:
    """Other folders that the host is told to load this plugin from."""
    found = []
    for one in _listed(member(config, ("plugins", "load", "paths"))):
        if not isinstance(one, str) or one == str(folder):
            continue
        try:
            manifest = parsed(Path(os.path.expanduser(one)) / "openclaw.plugin.json")
        except HostError:
            continue
        if member(manifest, ("id",)) == PLUGIN:
            found.append(one)
    return found
