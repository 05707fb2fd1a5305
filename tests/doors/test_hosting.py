"""foreword openclaw install|check|remove, on settings files alone; the real host is in tests/hosts."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foreword.serve.address import address
from foreword.serve.client import Client
from tests.doors.conftest import Ran

ODD = """\
{
  // mine
  gateway: { mode: "local" },
  channels: { telegram: { allowFrom: [777], groupAllowFrom: [8] } },
}
"""


@pytest.fixture
def config(folder: Path, tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "user" / ".openclaw" / "openclaw.json"
    file.parent.mkdir(parents=True)
    file.write_text(ODD)
    yield file
    Client(address(os.environ)).stop()


def _everything(tmp_path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_a_dry_run_shows_the_diff_and_touches_nothing(run: Callable[..., Ran], config: Path, tmp_path: Path) -> None:
    before = _everything(tmp_path)
    done = run("openclaw", "install", "--dry-run")
    assert done.code == 0
    assert '+  "plugins": {' in done.out
    assert '+ids = ["telegram:777"]' in done.out
    assert _everything(tmp_path) == before


def test_without_anybody_to_agree_nothing_is_installed(run: Callable[..., Ran], config: Path, tmp_path: Path) -> None:
    before = _everything(tmp_path)
    done = run("openclaw", "install")
    assert done.code == 2
    assert "foreword openclaw install --yes" in done.err
    assert _everything(tmp_path) == before


def test_a_person_is_asked_and_may_say_no(terminal: Callable[..., Ran], config: Path) -> None:
    done = terminal("openclaw", "install", keys=b"n\n", wait_for=b"[y/N]")
    assert "read the conversations" in done.out
    assert done.code == 1
    assert config.read_text() == ODD
    done = terminal("openclaw", "install", keys=b"y\n", wait_for=b"[y/N]")
    assert done.code == 0
    assert "foreword" in config.read_text()


def test_install_twice_and_remove_leaves_every_byte(run: Callable[..., Ran], config: Path, tmp_path: Path) -> None:
    first = run("openclaw", "install", "--yes", "--exclude", "bot", "--json")
    assert first.data["owner"] == ["telegram:777"]
    assert str(config) in first.data["changed"]
    settings = tomllib.loads((tmp_path / "user/.config/foreword/config.toml").read_text())
    assert settings["owner"]["ids"] == ["telegram:777"]
    assert settings["turn"]["exclude"] == settings["guard"]["exclude_capture"] == ["bot"]
    assert run("openclaw", "install", "--yes", "--json").data["changed"] == []
    done = run("openclaw", "remove")
    assert done.code == 0
    assert "byte for byte" in done.out
    assert "Your memories stay in" in done.out
    assert config.read_text() == ODD
    assert not (tmp_path / "user/.config/foreword/config.toml").exists()
    assert "nothing is to be removed" in run("openclaw", "remove").out


def test_of_several_people_none_is_taken_for_the_owner(run: Callable[..., Ran], config: Path) -> None:
    config.write_text("{channels: {telegram: {allowFrom: [1, 2]}}}")
    done = run("openclaw", "install", "--yes", "--json")
    assert done.data["owner"] == []
    assert "--owner" in done.data["notes"][0]
    assert run("openclaw", "install", "--yes", "--owner", "telegram:2", "--json").data["owner"] == ["telegram:2"]


def test_a_person_says_which_of_several_they_are(
    terminal: Callable[..., Ran], run: Callable[..., Ran], config: Path
) -> None:
    config.write_text("{channels: {telegram: {allowFrom: [1, 2]}}, plugins: {entries: {foreword: {hooks:"
                      " {allowConversationAccess: true}}}}}")  # fmt: skip
    terminal("openclaw", "install", keys=b"2\n", wait_for=b"nothing for none")
    assert run("config", "owner.ids").out.strip() == '["telegram:2"]'


def test_where_the_host_is_missing_it_says_so(run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for what in ("install", "remove"):
        done = run("openclaw", what, *(["--yes"] if what == "install" else []))
        assert done.code == 4
        assert "OpenClaw is not here" in done.err
    assert run("openclaw", "check", "--json").data["ready"] is False


def test_settings_that_cannot_be_read_are_named_and_left(run: Callable[..., Ran], config: Path, tmp_path: Path) -> None:
    config.write_text('{\n  "a": 1\n  "b": 2\n}')
    before = _everything(tmp_path)
    done = run("openclaw", "install", "--yes")
    assert done.code == 4
    assert f"{config} is not valid JSON: line 3" in done.err
    assert _everything(tmp_path) == before


def test_another_settings_file_can_be_named(run: Callable[..., Ran], config: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert run("openclaw", "install", "--yes", "--config", str(other)).code == 0
    assert "foreword" in other.read_text()
    assert config.read_text() == ODD
    run("openclaw", "remove", "--config", str(other))
    assert other.read_text() == "{}"


@pytest.mark.parametrize("by", ["option", "environment"])
def test_what_is_in_two_settings_files_is_removed_from_each_by_itself(
    run: Callable[..., Ran], config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")

    def there(*argv: str) -> Ran:
        if by == "option":
            return run(*argv, "--config", str(other))
        with monkeypatch.context() as patch:
            patch.setenv("OPENCLAW_CONFIG_PATH", str(other))
            return run(*argv)

    assert run("openclaw", "install", "--yes").code == 0
    assert there("openclaw", "install", "--yes").code == 0
    here = config.read_text()
    assert "foreword" in other.read_text()
    assert there("openclaw", "remove").code == 0
    assert other.read_text() == "{}"
    assert config.read_text() == here
    assert run("openclaw", "remove", "--config", str(config)).code == 0
    assert config.read_text() == ODD
    assert not (tmp_path / "user/.local/share/foreword/hosts").exists()


def test_without_a_record_only_what_is_foreword_s_by_name_is_taken_out(run: Callable[..., Ran], config: Path) -> None:
    config.write_text('{plugins: {entries: {foreword: {enabled: true}, other: {}}, allow: ["foreword", "other"]}}')
    assert run("openclaw", "remove", "--dry-run").code == 0
    done = run("openclaw", "remove")
    assert "no install is on record" in done.out
    assert config.read_text() == '{plugins: {entries: { other: {}}, allow: [ "other"]}}'


def test_who_was_named_once_stays_the_owner(run: Callable[..., Ran], config: Path) -> None:
    run("openclaw", "install", "--yes", "--owner", "signal:1")
    assert run("openclaw", "install", "--yes", "--json").data["changed"] == []
    assert run("config", "owner.ids").out.strip() == '["signal:1"]'


def test_settings_of_another_place_go_with_a_home_of_their_own(
    run: Callable[..., Ran], config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREWORD_CONFIG", str(tmp_path / "other.toml"))
    done = run("openclaw", "install", "--yes")
    assert done.code == 4
    assert "--home" in done.err
    assert config.read_text() == ODD
    assert run("openclaw", "install", "--yes", "--home", str(tmp_path / "home")).code == 0
    assert f"FOREWORD_CONFIG={tmp_path / 'other.toml'}" in config.read_text()
    assert run("openclaw", "remove", "--home", str(tmp_path / "home")).code == 0
    assert config.read_text() == ODD


def test_an_option_of_another_verb_is_refused(run: Callable[..., Ran], config: Path) -> None:
    done = run("openclaw", "check", "--yes")
    assert done.code == 2
    assert "--yes does not belong to check" in done.err


def test_check_tells_what_is_missing_and_the_command(run: Callable[..., Ran], config: Path) -> None:
    done = run("openclaw", "check", "--offline")
    assert done.code == 1
    assert "`foreword openclaw install`" in done.out
    run("openclaw", "install", "--yes")
    config.write_text(config.read_text().replace('"allowConversationAccess": true', '"allowConversationAccess": false'))
    checks = {one["name"]: one for one in run("openclaw", "check", "--offline", "--json").data["checks"]}
    assert checks["grant"]["state"] == "fail"
    assert checks["plugin"]["state"] == "ok"


def test_a_codex_that_cannot_tell_whether_it_trusts_the_hooks_is_a_warning(
    run: Callable[..., Ran], config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "bin" / "codex"
    old.parent.mkdir()
    old.write_text(
        '#!/bin/sh\nread a; read b; read c\necho \'{"id": 2, "error": {"message": "no such method"}}\'\nread d\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    assert run("codex", "install", "--yes").code == 0
    checks = {one["name"]: one for one in run("codex", "check", "--json").data["checks"]}
    assert checks["trust"]["state"] == "warn"
    assert "does not answer this" in checks["trust"]["found"]
