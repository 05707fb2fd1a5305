"""Foreword in OpenCode: its plugin in a folder of Foreword's own, and one item in the `plugin` list of the host's
settings that names it. The settings are the user's or, with `--project`, those of the folder where the host works."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foreword.errors import HostError
from foreword.install.check import Check
from foreword.install.installation import Change, Edit, Put, edited, parsed
from foreword.install.installer import Installer, Wanted, in_home, placed, present, shipped
from foreword.install.json5 import member

_LIST = ("plugin",)
_ENTRY = "dist/index.js"
# What the host makes where it finds no settings.
_FRESH = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'


class OpenCode(Installer):
    name = "opencode"
    title = "OpenCode"
    in_projects = True
    grant = (
        "Foreword asks to run as a plugin in OpenCode: it reads each prompt, answer and tool result, gives the model"
        " what is worth knowing, and keeps what was said on this machine."
    )

    def config_file(self, environ: Mapping[str, str]) -> Path:
        if named := environ.get("OPENCODE_CONFIG", "").strip():
            return Path(os.path.abspath(os.path.expanduser(named)))
        folder = in_home(environ, "XDG_CONFIG_HOME", ".config") / "opencode"
        return _present(folder, "opencode.jsonc", "opencode.json", "config.json") or folder / "opencode.json"

    def project_file(self, folder: Path) -> Path:
        own = folder / ".opencode"
        found = _present(folder, "opencode.json", "opencode.jsonc") or _present(own, "opencode.json", "opencode.jsonc")
        return found or folder / "opencode.json"

    def read(self, file: Path) -> dict[str, Any]:
        found = parsed(file)
        if found is not None and not isinstance(found, dict):
            raise HostError(f"{file} does not hold an object.", hint="Nothing was touched; correct it first.")
        return found or {}

    def plan(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> list[Change]:
        item = _item(wanted)
        if any(_names(one, wanted) and one != item for one in _items(config)):
            raise HostError(f"{file} loads this plugin with other options.", hint=f"{self._anew}.")
        return [*placed(shipped(self.name), wanted.folder), edited(file, [Edit(_LIST, item, item=True)], fresh=_FRESH)]

    @property
    def _anew(self) -> str:
        return f"`foreword {self.name} remove`, then `foreword {self.name} install`"

    def granted(self, config: Mapping[str, Any]) -> bool:
        return any(_is_ours(one) for one in _items(config))

    def traces(self, file: Path, wanted: Wanted) -> dict[Path, list[Put]]:
        return {file: [Put(_LIST, one, item=True) for one in _items(self.read(file)) if _names(one, wanted)]}

    def checks(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> Iterator[Check]:
        yield present(shipped(self.name), wanted.folder, self.again)
        ours = [one for one in _items(config) if _names(one, wanted)]
        others = [_path(one) for one in _items(config) if _is_ours(one) and not _names(one, wanted)]
        if not ours:
            found = f"OpenCode loads the plugin from {others[0]}." if others else "OpenCode is not told of the plugin."
            yield Check("enabled", "fail", found, self.again)
        elif others:
            found = f"The plugin is loaded a second time from {others[0]}."
            yield Check("enabled", "fail", found, f"Take it out of {file}.")
        elif os.environ.get("OPENCODE_PURE"):
            yield Check("enabled", "fail", "OPENCODE_PURE is set: OpenCode loads no plugin.", "Unset OPENCODE_PURE.")
        else:
            yield Check("enabled", "ok", "the settings name the plugin")
        if ours:
            yield self._starts(ours[0], wanted)

    def _starts(self, item: Any, wanted: Wanted) -> Check:
        options = item[1] if isinstance(item, list) and len(item) > 1 else {}
        if (member(options, ("home",)) or "") != wanted.home:
            found = f"The plugin asks the Foreword of {member(options, ('home',)) or 'its environment'}, not this one."
            return Check("command", "fail", found, self._anew)
        if member(options, ("command",)) != list(wanted.daemon):
            found = "The plugin starts Foreword by another command than this one's."
            return Check("command", "warn", found, self._anew)
        return Check("command", "ok", "the plugin starts this Foreword")


def _item(wanted: Wanted) -> list[Any]:
    options = {**({"home": wanted.home} if wanted.home else {}), "command": list(wanted.daemon)}
    return [(wanted.folder / _ENTRY).as_uri(), options]


def _items(config: Mapping[str, Any]) -> list[Any]:
    found = member(config, _LIST)
    return found if isinstance(found, list) else []


def _path(item: Any) -> str:
    """What an item of the list names, with or without options."""
    named = item[0] if isinstance(item, list) and item else item
    return named if isinstance(named, str) else ""


def _names(item: Any, wanted: Wanted) -> bool:
    return _path(item) == (wanted.folder / _ENTRY).as_uri()


def _is_ours(item: Any) -> bool:
    """By its place in a home of Foreword's, whichever that is."""
    return "/hosts/opencode/" in _path(item) and _path(item).endswith(f"/plugin/{_ENTRY}")


def _present(folder: Path, *names: str) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)
