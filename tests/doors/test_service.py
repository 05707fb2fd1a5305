"""The daemon as a service of the user's own."""

from __future__ import annotations

import configparser
import os
import plistlib
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from foreword.serve.service import service
from tests.doors.conftest import Daemon, wait_until


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that writes down what it was told, in the place of the real one, which needs a session to talk to."""
    folder = tmp_path / "manager"
    folder.mkdir()
    program = folder / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/told"\nexit $(cat "{folder}/exit" 2>/dev/null || echo 0)\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.mark.proves("S11")
def test_one_command_installs_the_service_and_one_removes_it(manager: Path, run: Any, tmp_path: Path) -> None:
    unit = tmp_path / "user/.config/systemd/user/foreword.service"
    shown = run("service", "install", "--dry-run")
    assert f"would write {unit}" in shown.out
    assert not unit.exists()
    assert not (manager / "told").exists()
    assert run("service", "install", "--json").data == {"file": str(unit), "changed": True, "managed": True}
    assert stat.S_IMODE(unit.stat().st_mode) == 0o644
    before = unit.read_bytes()
    assert run("service", "install", "--json").data["changed"] is False
    assert unit.read_bytes() == before
    assert run("service", "remove", "--json").data["changed"] is True
    assert not unit.exists()
    assert "is not there" in run("service", "remove").out
    told = (manager / "told").read_text().splitlines()
    assert told[:2] == ["--user daemon-reload", "--user enable --now foreword.service"]
    assert "--user disable --now foreword.service" in told


def test_a_manager_that_refuses_is_quoted_and_the_exit_code_says_no(manager: Path, run: Any) -> None:
    (manager / "exit").write_text("1")
    ran = run("service", "install")
    assert ran.code == 1
    assert "enable --now foreword.service: exit code 1" in ran.out


def test_without_a_manager_the_file_is_written_and_the_commands_are_told(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run("service", "install")
    assert ran.code == 0
    assert "systemctl is not here" in ran.out
    assert "systemctl --user enable --now foreword.service" in ran.out


@pytest.mark.proves("S11")
def test_what_the_unit_starts_is_the_daemon_and_it_does_not_end_when_idle(daemon: Daemon) -> None:
    """The command and the environment of the file, started as systemd would."""
    daemon.environ["FOREWORD_SERVE_IDLE_MINUTES"] = "0.001"
    told = configparser.RawConfigParser(strict=False, interpolation=None)
    told.optionxform = str  # type: ignore[assignment,method-assign]
    text = service(daemon.environ, platform="linux").text
    told.read_string("\n".join(line for line in text.splitlines() if not line.startswith("Environment=")))
    given = [shlex.split(line.partition("=")[2])[0] for line in text.splitlines() if line.startswith("Environment=")]
    process = subprocess.Popen(
        shlex.split(told["Service"]["ExecStart"]),
        env={**daemon.environ, **dict(one.split("=", 1) for one in given)},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: daemon.client.holder() == process.pid)
        assert daemon.call("status")["daemon"]["idle_minutes"] == 0
        assert told["Install"]["WantedBy"] == "default.target"
    finally:
        process.terminate()
    assert process.wait(20) == 0


def test_names_that_mean_something_to_systemd_are_taken_literally(tmp_path: Path) -> None:
    text = service({"HOME": str(tmp_path), "FOREWORD_HOME": '/my home/50% "x" $HOME'}, platform="linux").text
    assert r'Environment="FOREWORD_HOME=/my home/50%% \"x\" $HOME"' in text


@pytest.mark.proves("S11")
def test_on_macos_it_is_a_launchd_agent(tmp_path: Path) -> None:
    described = service({"HOME": str(tmp_path), "FOREWORD_HOME": "/somewhere"}, platform="darwin")
    assert described.file == tmp_path / "Library/LaunchAgents/foreword.daemon.plist"
    values = plistlib.loads(described.text.encode())
    assert values["ProgramArguments"][-1] == "foreword.serve.daemon"
    assert values["EnvironmentVariables"] == {"FOREWORD_HOME": "/somewhere", "FOREWORD_SERVE_IDLE_MINUTES": "0"}
    assert values["KeepAlive"] == {"SuccessfulExit": False}
