"""What the installers of hosts in a terminal put into their settings, find there and take out again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foreword.install import INSTALLERS, Wanted
from foreword.install.installation import Installation, parsed, without

WANTED = Wanted(Path("/home/f/plugin"), "/home/f", "/old/bin/foreword", ("/old/bin/foreword-daemon",))
MOVED = replace(WANTED, program="/new bin/foreword", variables=("FOREWORD_HOME=/home/g",))
THEIRS = {"hooks": [{"type": "command", "command": "/opt/foreword-notes/notify hook"}]}
FILES = {"codex": ("config.toml", "hooks.json"), "gemini": ("settings.json", "settings.json")}


def _host(tmp_path: Path, name: str) -> tuple[Path, Path, Installation]:
    """The settings, the file of the hooks, with a hook of somebody else's, and the record."""
    settings, hooks = (tmp_path / one for one in FILES[name])
    hooks.write_text(json.dumps({"hooks": {"SessionStart": [THEIRS]}}, indent=2))
    return settings, hooks, Installation(tmp_path / "kept")


def _install(name: str, file: Path, wanted: Wanted, kept: Installation) -> None:
    host = INSTALLERS[name]
    kept.apply(host.plan(file, host.read(file), wanted))


def _states(name: str, file: Path, wanted: Wanted) -> dict[str, str]:
    host = INSTALLERS[name]
    return {one.name: one.state for one in host.checks(file, host.read(file), wanted)}


def _ours(hooks: Path) -> list[str]:
    entries = [entry for listed in parsed(hooks)["hooks"].values() for entry in listed if entry != THEIRS]
    return [hook["command"] for entry in entries for hook in entry["hooks"]]


@pytest.mark.parametrize("name", FILES)
def test_a_foreword_that_moved_leaves_no_hook_of_where_it_was(tmp_path: Path, name: str) -> None:
    file, hooks, kept = _host(tmp_path, name)
    original = hooks.read_bytes()
    _install(name, file, WANTED, kept)
    assert _states(name, file, WANTED)["hooks"] == "ok"
    assert _states(name, file, MOVED)["hooks"] == "fail"
    _install(name, file, MOVED, kept)
    assert _states(name, file, MOVED)["hooks"] == "ok"
    assert all("/new bin/foreword" in one for one in _ours(hooks))
    assert THEIRS in parsed(hooks)["hooks"]["SessionStart"]
    Installation(kept.folder).undo()
    assert hooks.read_bytes() == original


@pytest.mark.parametrize("name", FILES)
def test_a_foreword_that_moved_is_taken_out_of_settings_that_changed_since(tmp_path: Path, name: str) -> None:
    file, hooks, kept = _host(tmp_path, name)
    _install(name, file, WANTED, kept)
    _install(name, file, MOVED, kept)
    hooks.write_text("// later\n" + hooks.read_text())
    Installation(kept.folder).undo()
    assert parsed(hooks) == {"hooks": {"SessionStart": [THEIRS]}}


@pytest.mark.parametrize("name", FILES)
def test_a_second_foreword_at_the_same_event_is_a_failure(tmp_path: Path, name: str) -> None:
    file, hooks, kept = _host(tmp_path, name)
    _install(name, file, WANTED, kept)
    config: Any = parsed(hooks)
    config["hooks"]["SessionStart"].append({"hooks": [{"command": f"foreword hook {name} SessionStart"}]})
    hooks.write_text(json.dumps(config))
    assert _states(name, file, WANTED)["hooks"] == "fail"


@pytest.mark.parametrize("name", FILES)
def test_without_a_record_the_hooks_of_any_foreword_are_found(tmp_path: Path, name: str) -> None:
    file, hooks, kept = _host(tmp_path, name)
    _install(name, file, MOVED, kept)
    for changed, puts in INSTALLERS[name].traces(file, WANTED).items():
        changed.write_bytes(without(changed, puts).after or b"")
    assert _ours(hooks) == []
    assert THEIRS in parsed(hooks)["hooks"]["SessionStart"]
    assert "foreword" not in json.dumps(parsed(file)).replace("foreword-notes", "")


@pytest.mark.parametrize("name", FILES)
def test_an_entry_that_somebody_has_a_hook_in_too_is_left(tmp_path: Path, name: str) -> None:
    file, hooks, kept = _host(tmp_path, name)
    _install(name, file, WANTED, kept)
    config: Any = parsed(hooks)
    config["hooks"]["SessionStart"][1]["hooks"].append(THEIRS["hooks"][0])
    hooks.write_text(json.dumps(config))
    _install(name, file, WANTED, kept)
    assert parsed(hooks) == config
    assert _states(name, file, WANTED)["hooks"] == "ok"


@pytest.mark.parametrize("name", FILES)
def test_a_hook_that_somebody_gave_another_timeout_keeps_it(tmp_path: Path, name: str) -> None:
    file, hooks, kept = _host(tmp_path, name)
    _install(name, file, WANTED, kept)
    config: Any = parsed(hooks)
    config["hooks"]["SessionStart"][1]["hooks"][0]["timeout"] = 99
    hooks.write_text(json.dumps(config))
    _install(name, file, WANTED, kept)
    assert parsed(hooks) == config
    assert _states(name, file, WANTED)["hooks"] == "ok"


def test_codex_is_left_without_a_server_whatever_was_put_into_it(tmp_path: Path) -> None:
    file, _, kept = _host(tmp_path, "codex")
    file.write_text('model = "a"\n')
    _install("codex", file, WANTED, kept)
    file.write_text(file.read_text() + 'startup_timeout_sec = 9\n\n[mcp_servers.foreword.tools.mem-search]\na = "b"\n')
    Installation(kept.folder).undo()
    assert file.read_text() == 'model = "a"\n'


def test_what_gemini_s_user_set_on_the_server_outlives_an_install(tmp_path: Path) -> None:
    file, _, kept = _host(tmp_path, "gemini")
    _install("gemini", file, WANTED, kept)
    config: Any = parsed(file)
    config["mcpServers"]["foreword"]["trust"] = True
    file.write_text(json.dumps(config))
    _install("gemini", file, MOVED, kept)
    assert parsed(file)["mcpServers"]["foreword"]["trust"] is True
    assert "/new bin/foreword" in parsed(file)["mcpServers"]["foreword"]["args"]
    Installation(kept.folder).undo()
    assert parsed(file) == {"hooks": {"SessionStart": [THEIRS]}}


def _claude(tmp_path: Path, wanted: Wanted = WANTED) -> tuple[Path, Wanted]:
    file, here = tmp_path / "settings.json", replace(wanted, folder=tmp_path / "plugin")
    _install("claude-code", file, here, Installation(tmp_path / "kept"))
    return file, here


@pytest.mark.parametrize("other", [MOVED, replace(WANTED, variables=("FOREWORD_CONFIG=/c.toml",))])
def test_a_plugin_that_runs_another_foreword_is_a_failure(tmp_path: Path, other: Wanted) -> None:
    file, here = _claude(tmp_path)
    assert _states("claude-code", file, here)["plugin"] == "ok"
    assert _states("claude-code", file, replace(other, folder=here.folder))["plugin"] == "fail"


@pytest.mark.parametrize(
    ("name", "old", "new", "state"),
    [
        ("hooks/hooks.json", '"UserPromptSubmit": [', '"Other": [', "fail"),
        ("hooks/hooks.json", "/old/bin/foreword", "/gone/bin/foreword", "fail"),
        ("hooks/hooks.json", '"hooks": {', '"hooks": ', "fail"),
        (".mcp.json", "/old/bin/foreword", "/gone/bin/foreword", "fail"),
        (".mcp.json", "true", "false", "warn"),
        ("hooks/hooks.json", '"timeout": 5', '"timeout": 6', "warn"),
        (".claude-plugin/plugin.json", "{", "{ ", "warn"),
    ],
)
def test_only_what_leads_elsewhere_is_a_failure_and_the_rest_is_of_another_version(
    tmp_path: Path, name: str, old: str, new: str, state: str
) -> None:
    file, here = _claude(tmp_path)
    changed = here.folder / name
    assert old in changed.read_text()
    changed.write_text(changed.read_text().replace(old, new))
    assert _states("claude-code", file, here)["plugin"] == state


def test_a_door_that_moved_is_a_failure_and_one_that_is_new_is_not(tmp_path: Path) -> None:
    file, here = _claude(tmp_path, replace(WANTED, door="http://127.0.0.1:1", token="one"))
    assert _states("claude-code", file, here)["plugin"] == "ok"
    for other in (replace(here, door="http://127.0.0.1:2"), replace(here, token="two"), replace(here, door="")):
        assert _states("claude-code", file, other)["plugin"] == "fail"
    file, here = _claude(tmp_path)
    assert _states("claude-code", file, replace(here, door="http://127.0.0.1:1", token="one"))["plugin"] == "warn"
