"""What Foreword reads from OpenClaw's settings, and what it wants in them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foreword.errors import HostError
from foreword.install import Owners, Wanted, installation
from foreword.install.installer import shipped
from foreword.install.openclaw import PLUGIN, OpenClaw

openclaw = OpenClaw()
FILE = Path("/home/f/.openclaw/openclaw.json")
WANTED = Wanted(Path("/home/f/plugin"), "/home/f", "/bin/foreword", ("/bin/foreword-daemon",))


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HOME": "/u"}, "/u/.openclaw/openclaw.json"),
        ({"HOME": "/u", "OPENCLAW_HOME": "/o"}, "/o/.openclaw/openclaw.json"),
        ({"HOME": "/u", "OPENCLAW_STATE_DIR": "~/state"}, "/u/state/openclaw.json"),
        ({"HOME": "/u", "OPENCLAW_STATE_DIR": "/s", "OPENCLAW_CONFIG_PATH": "~/c.json"}, "/u/c.json"),
    ],
)
def test_the_settings_are_looked_for_where_the_host_does(environ: dict[str, str], expected: str) -> None:
    assert str(openclaw.config_file(environ)) == expected


@pytest.mark.proves("T2")
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, Owners()),
        ({"commands": {"ownerAllowFrom": ["telegram:777", "*"]}}, Owners(("telegram:777",))),
        ({"channels": {"telegram": {"allowFrom": [777]}}}, Owners(("telegram:777",))),
        ({"channels": {"telegram": {"allowFrom": ["tg:777", "telegram:777"]}}}, Owners(("telegram:777",))),
        ({"channels": {"matrix": {"dm": {"allowFrom": ["@ann:home"]}}}}, Owners(("matrix:@ann:home",))),
        ({"channels": {"telegram": {"accounts": {"a": {"allowFrom": ["7"]}}}}}, Owners(("telegram:7",))),
        ({"channels": {"telegram": {"allowFrom": ["*"]}}}, Owners()),
        ({"channels": {"telegram": {"allowFrom": ["*", "7"]}}}, Owners((), ("telegram:7",))),
        ({"channels": {"telegram": {"allowFrom": ["7", "8"]}}}, Owners((), ("telegram:7", "telegram:8"))),
        ({"channels": {"telegram": {"allowFrom": ["7", "accessGroup:family"]}}}, Owners((), ("telegram:7",))),
        ({"channels": {"telegram": {"allowFrom": ["${ME}"], "groupAllowFrom": ["9"]}}}, Owners()),
        ({"channels": {"telegram": {"groups": {"-1": {"allowFrom": ["9"]}}}}}, Owners()),
        (
            {"commands": {"ownerAllowFrom": ["telegram:1"]}, "channels": {"signal": {"allowFrom": ["+49"]}}},
            Owners(("telegram:1",)),
        ),
        ({"commands": [], "channels": {"telegram": None, "defaults": {"allowFrom": True}}}, Owners()),
    ],
)
def test_the_owner_is_who_the_host_calls_so_or_the_only_one_who_may_write(
    config: dict[str, Any], expected: Owners
) -> None:
    assert openclaw.owners(config) == expected


def test_split_settings_are_read_as_the_host_reads_them(tmp_path: Path) -> None:
    (tmp_path / "openclaw.json").write_text(
        '{plugins: {$include: ["./a.json5", "./b.json5"], allow: ["c"]}, channels: {$include: "./c.json5"}}'
    )
    (tmp_path / "a.json5").write_text('{allow: ["a"], enabled: false}')
    (tmp_path / "b.json5").write_text('{allow: ["b"], enabled: true}')
    (tmp_path / "c.json5").write_text("{telegram: {allowFrom: [7]}}")
    config = openclaw.read(tmp_path / "openclaw.json")
    assert config["plugins"] == {"allow": ["a", "b", "c"], "enabled": True}
    assert openclaw.owners(config) == Owners(("telegram:7",))


def test_settings_that_include_themselves_are_refused(tmp_path: Path) -> None:
    (tmp_path / "openclaw.json").write_text('{$include: "./openclaw.json"}')
    with pytest.raises(HostError, match="too deeply"):
        openclaw.read(tmp_path / "openclaw.json")


def test_a_list_of_allowed_plugins_is_only_joined_where_there_is_one() -> None:
    paths = {edit.path for edit in openclaw.edits({}, WANTED)}
    assert ("plugins", "allow") not in paths
    assert ("plugins", "allow") not in {edit.path for edit in openclaw.edits({"plugins": {"allow": []}}, WANTED)}
    assert ("plugins", "allow") in {edit.path for edit in openclaw.edits({"plugins": {"allow": ["x"]}}, WANTED)}


def test_a_plugin_that_is_linked_from_elsewhere_is_not_installed_twice(tmp_path: Path) -> None:
    (tmp_path / "openclaw.plugin.json").write_text('{"id": "foreword"}')
    with pytest.raises(HostError, match="installed already from"):
        openclaw.edits({"plugins": {"load": {"paths": [str(tmp_path)]}}}, WANTED)


def _installed(**entry: Any) -> dict[str, Any]:
    hooks = {"allowConversationAccess": True, **entry.pop("hooks", {})}
    config = {"home": WANTED.home, "command": list(WANTED.daemon)}
    plugins = {"entries": {"foreword": {"enabled": True, "hooks": hooks, "config": config, **entry}}}
    return {"plugins": {**plugins, "load": {"paths": [str(WANTED.folder)]}}}


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        ({"enabled": False}, "enabled", "switched off"),
        ({"hooks": {"allowConversationAccess": False}}, "grant", "may not read conversations"),
        ({"hooks": {"allowPromptInjection": False}}, "grant", "may not add to prompts"),
        ({"config": {"home": "/else"}}, "command", "/else"),
    ],
)
def test_what_keeps_the_plugin_from_working_is_named(change: dict[str, Any], name: str, words: str) -> None:
    found = {one.name: one for one in openclaw.checks(FILE, _installed(**change), WANTED)}
    assert found[name].state == "fail"
    assert words in found[name].found
    assert found[name].next


@pytest.mark.parametrize(
    ("plugins", "words"),
    [
        ({"enabled": False}, "All plugins"),
        ({"deny": ["foreword"]}, "plugins.deny"),
        ({"allow": ["telegram"]}, "plugins.allow"),
    ],
)
def test_a_rule_for_all_plugins_that_keeps_this_one_out_is_named(plugins: dict[str, Any], words: str) -> None:
    config = _installed()
    config["plugins"].update(plugins)
    found = {one.name: one for one in openclaw.checks(FILE, config, WANTED)}
    assert found["enabled"].state == "fail"
    assert words in found["enabled"].found


def test_a_plugin_of_another_version_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    wanted = replace(WANTED, folder=folder)
    config = _installed()
    config["plugins"]["load"]["paths"] = [str(folder)]
    assert next(openclaw.checks(FILE, config, wanted)).state == "fail"
    for change in openclaw.plan(tmp_path / "openclaw.json", {}, wanted):
        installation.replace(change)
    assert next(openclaw.checks(FILE, config, wanted)).state == "ok"
    (folder / "dist" / "index.js").write_text("older")
    assert next(openclaw.checks(FILE, config, wanted)).state == "warn"
    (folder / "dist" / "old.js").write_text("no longer shipped")
    deleted = [one.file for one in openclaw.plan(tmp_path / "openclaw.json", {}, wanted) if one.after is None]
    assert deleted == [folder / "dist" / "old.js"]


def test_an_agent_that_is_given_no_files_is_known() -> None:
    config = {
        "agents": {
            "defaults": {"contextInjection": "never"},
            "list": [{"id": "a"}, {"id": "b", "contextInjection": "always"}],
        }
    }
    assert openclaw.without_files(config) == ["a"]


def test_the_plugin_s_own_manifest_says_what_its_settings_may_hold() -> None:
    manifest = json.loads(shipped("openclaw")["openclaw.plugin.json"])
    written = {edit.path[-1] for edit in openclaw.edits({}, WANTED) if edit.path[-2] == "config"}
    assert written <= manifest["configSchema"]["properties"].keys()
    assert manifest["id"] == PLUGIN
