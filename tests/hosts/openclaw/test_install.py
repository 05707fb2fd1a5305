"""`foreword openclaw install|check|remove` on a real gateway that runs meanwhile, as a user would type it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foreword.install import json5
from tests.hosts.openclaw.conftest import HOSTS, PARTS
from tests.hosts.openclaw.gateway import VENV, Gateway, wait_until

FACT = "The staging database listens on port 5433."
QUESTION = "Which port does the staging database listen on?"
GRANT = '"allowConversationAccess": true'


class Host(Gateway):
    """A gateway that has never heard of Foreword, with settings as people write them, and a shell beside it."""

    def prepare(self, *, plugin: bool = False) -> None:
        super().prepare(plugin=plugin)
        text = self.config.read_text().replace('"memory": {', "// no vectors here\n  memory: {")
        self.original = re.sub(r"\n}$", ", // the end\n}\n\n", text).encode()
        self.config.write_bytes(self.original)
        shell = self.folder / "bin" / "openclaw"
        shell.parent.mkdir()
        shell.write_text(f'#!/bin/sh\nexec "{self._node}" "{self._openclaw}" "$@"\n')
        shell.chmod(0o755)
        self.environ["PATH"] = f"{shell.parent}:{self.environ['PATH']}"

    def foreword(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(VENV / "foreword"), "openclaw", *arguments],
            env=self.environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(30)

    @contextmanager
    def reloading(self) -> Iterator[None]:
        """The host takes up what is changed inside."""
        before = self._reloads()
        yield
        wait_until(lambda: self._reloads() > before, "the host to read its settings", 60)

    def _reloads(self) -> int:
        return self.log.read_text().count("config hot reload applied")

    def restore(self) -> None:
        """The settings as they were; the host has nothing to do but to notice."""
        self.noticing(lambda: self.config.write_bytes(self.original))

    def noticing(self, change: Callable[[], object]) -> None:
        """Makes a change of the settings for which the host reloads nothing."""
        before = self.log.read_text().count("config change detected")
        change()
        wait_until(lambda: self.log.read_text().count("config change detected") > before, "the host to notice", 60)

    def checked(self, *arguments: str) -> dict[str, Any]:
        done = self.foreword("check", "--json", *arguments)
        data: dict[str, Any] = json.loads(done.stdout)["data"]
        assert done.returncode == (0 if data["ready"] else 1)
        return {**data, **{one["name"]: one for one in data["checks"]}}

    def injected(self, session: str, agent: str = "main") -> bool:
        return "5433" in self.turn(QUESTION, session, agent).request.newest


@pytest.fixture(scope="module")
def host(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    if missing := [part for part in PARTS if not (HOSTS / part).exists()]:
        pytest.skip(f"{HOSTS / missing[0]} is missing: run `make hosts`")
    one = Host(tmp_path_factory.mktemp("install"), HOSTS)
    try:
        one.prepare()
        one.start()
        for agent in ("main", "other"):
            one.call("ingest", content=FACT, session=f"agent:{agent}:earlier", agent=agent)
        yield one
    finally:
        one.close()


@pytest.fixture
def installed(host: Host) -> Iterator[Host]:
    with host.reloading():
        done = host.foreword("install", "--yes")
        assert done.returncode == 0, done.stderr
    yield host
    if any((host.folder / "foreword/hosts/openclaw").rglob("installed.json")):
        with host.reloading():
            host.foreword("remove")
    if host.config.read_bytes() != host.original:
        host.restore()


def test_a_dry_run_touches_nothing(host: Host) -> None:
    before = {str(file): file.read_bytes() for file in (host.folder / "foreword").rglob("*.js*")}
    done = host.foreword("install", "--dry-run")
    assert done.returncode == 0
    assert f"+          {GRANT}" in done.stdout
    assert host.config.read_bytes() == host.original
    assert {str(file): file.read_bytes() for file in (host.folder / "foreword").rglob("*.js*")} == before
    assert host.checked()["ready"] is False


@pytest.mark.proves("S3", "L1", "B7")
def test_after_one_command_the_next_turn_is_injected_and_after_another_none_is(host: Host, session: str) -> None:
    assert not host.injected(f"{session}-before")
    with host.reloading():
        done = host.foreword("install", "--yes", "--json")
        assert done.returncode == 0, done.stdout
    assert b"// no vectors here" in host.config.read_bytes()
    assert host.checked()["seen"] is False
    assert host.injected(session)
    found = host.checked()
    assert found["ready"]
    assert found["seen"], found
    assert {one["name"] for one in found["checks"] if one["state"] != "ok"} == {"owner"}

    assert json.loads(host.foreword("install", "--yes", "--json").stdout)["data"]["changed"] == []

    with host.reloading():
        done = host.foreword("remove")
        assert "byte for byte" in done.stdout
    assert host.config.read_bytes() == host.original
    assert not (host.folder / "foreword/hosts").exists()
    assert not host.injected(f"{session}-after")
    assert host.call("search", query=QUESTION, limit=1)["results"], "the memories stay"


def test_a_grant_that_was_taken_back_is_named_and_the_command_brings_it_back(installed: Host, session: str) -> None:
    with installed.reloading():
        text = installed.config.read_text()
        installed.config.write_text(text.replace(GRANT, '"allowConversationAccess": false'))
    assert not installed.injected(session)
    found = installed.checked()
    assert found["grant"]["state"] == "fail"
    assert found["grant"]["next"] == "`foreword openclaw install`"
    with installed.reloading():
        assert installed.foreword("install", "--yes").returncode == 0
    assert installed.checked("--offline")["grant"]["state"] == "ok"
    assert installed.injected(f"{session}-again")


def test_a_daemon_that_cannot_be_started_is_named(installed: Host, session: str) -> None:
    with installed.reloading():
        settings = installed.config.read_text()
        installed.config.write_text(settings.replace(str(VENV / "foreword-daemon"), "/bin/false"))
    installed.kill_daemon()
    assert not installed.injected(session)
    found = installed.checked("--offline")
    assert found["daemon"]["state"] == "fail"
    assert "/bin/false" in found["daemon"]["found"]
    with installed.reloading():
        assert installed.foreword("install", "--yes").returncode == 0
    assert installed.checked("--offline")["daemon"]["state"] == "ok"


@pytest.mark.proves("L4")
def test_an_excluded_agent_is_named_and_given_nothing(installed: Host, session: str) -> None:
    assert installed.injected(session, "other")
    assert installed.foreword("install", "--yes", "--exclude", "other").returncode == 0
    assert not installed.injected(f"{session}-excluded", "other")
    found = installed.checked("--offline")
    assert found["agents"]["state"] == "warn"
    assert "other" in found["agents"]["found"]
    assert installed.injected(session)


def test_a_plugin_that_was_switched_off_is_named(installed: Host) -> None:
    with installed.reloading():
        switch = ("plugins", "entries", "foreword", "enabled")
        installed.config.write_text(json5.put(installed.config.read_text(), switch, False))
    found = installed.checked()
    assert found["enabled"]["state"] == "fail"
    assert "switched off" in found["verdict"]


def test_after_the_host_wrote_its_settings_anew_only_ours_is_taken_out(installed: Host) -> None:
    installed.noticing(lambda: installed.run("config", "set", "messages.ackReaction", "👀"))
    assert b"// no vectors here" not in installed.config.read_bytes()
    with installed.reloading():
        done = installed.foreword("remove")
    assert "only what Foreword put in was taken out" in done.stdout
    left = installed.read()
    assert "foreword" not in json.dumps(left.get("plugins", {}))
    assert left["messages"]["ackReaction"] == "👀"
    assert left["gateway"]["port"] == installed.port


def test_check_says_when_no_gateway_runs(installed: Host) -> None:
    installed.stop()
    try:
        found = installed.checked()
        assert found["gateway"]["state"] == "fail"
        assert "openclaw gateway" in found["gateway"]["next"]
    finally:
        installed.start()
