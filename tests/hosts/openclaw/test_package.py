"""The plugin as a package, and the runbook's commands, on the host's own command line."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.hosts.openclaw.conftest import HOSTS
from tests.hosts.openclaw.gateway import Gateway

RUNBOOK = (Path(__file__).resolve().parents[3] / "docs/runbooks/context-injection.md").read_text("utf-8")
INSPECT, LOOK_AT_GRANT, GRANT = (shlex.split(one) for one in re.findall(r"^\$ openclaw (.+)$", RUNBOOK, re.MULTILINE))


@pytest.mark.proves("S12")
def test_what_the_runbook_looks_at_on_the_host_can_be_looked_at(gateway: Gateway) -> None:
    told = gateway.run(*INSPECT)
    assert json.loads(told[told.index("{") :])["plugin"]["id"] == "foreword"
    assert gateway.run(*LOOK_AT_GRANT).split()[-1] == "true"


@pytest.mark.proves("B7", "S12")
def test_the_packed_plugin_can_be_installed_and_granted_and_offers_its_tools(
    plugin: Path, gateway: Gateway, tmp_path: Path
) -> None:
    """In a home of its own, with no gateway: `gateway` only makes sure that the host is there."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", str(tmp_path)],
        cwd=plugin,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout.split()[-1]
    with Gateway.apart(tmp_path / "apart", HOSTS) as other:
        other.prepare(plugin=False)
        # The host refuses to write settings that list several agents in the old way.
        settings = other.read()
        del settings["agents"]["list"]
        other.configure(settings)
        other.run("plugins", "install", f"npm-pack:{tmp_path / packed}", "--force", "--accept-capabilities")
        other.run(*GRANT)
        assert other.read()["plugins"]["entries"]["foreword"]["hooks"]["allowConversationAccess"] is True
        told = other.run(*INSPECT)
    found = json.loads(told[told.index("{") :])
    assert found["plugin"]["status"] == "loaded"
    assert {"mem_search", "mem_get"} <= set(re.findall(r"mem_\w+", json.dumps(found)))
    assert "agent:bootstrap" in json.dumps(found)
