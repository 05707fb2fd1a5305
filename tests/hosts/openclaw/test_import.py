"""OpenClaw's own transcripts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.openclaw.gateway import VENV, Gateway

FRAME = "foreword recall"


def imported(gateway: Gateway, *arguments: str) -> dict[str, Any]:
    command = [str(VENV / "foreword"), *arguments, "--json"]
    done = subprocess.run(command, env=gateway.environ, capture_output=True, text=True, check=True, timeout=120)
    data: dict[str, Any] = json.loads(done.stdout)["data"]
    return data


def exported(home: Path, gateway: Gateway) -> list[dict[str, Any]]:
    command = [str(VENV / "foreword"), "export", "--home", str(home)]
    done = subprocess.run(command, env=gateway.environ, capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.proves("B8", "B7")
def test_transcripts_keep_their_keys_and_what_was_captured_live_is_known(
    gateway: Gateway, session: str, tmp_path: Path
) -> None:
    asked, group = "The weir is opened with the iron crank. [[say:With the crank.]]", -100777
    gateway.turn(asked, session)
    gateway.kept(asked, session)
    gateway.write("In the club we chose the blue oars. [[say:Blue oars.]]", 778, group)
    found = imported(gateway, "import", "detect")["found"]
    assert [one["kind"] for one in found] == ["openclaw"]

    home = tmp_path / "empty"
    imported(gateway, "import", "openclaw", "--home", str(home))
    kept = exported(home, gateway)
    own = [one for one in kept if one["session"] == f"agent:main:{session}"]
    assert [(one["origin"], one["text"], one["audience"]) for one in own] == [
        ("owner", asked, "private"),
        ("agent", "With the crank.", "private"),
    ]
    (oars,) = [one for one in kept if "chose the blue oars" in one["text"]]
    assert oars["audience"] == "group"
    # With its topic, if an earlier test has made a forum of the group.
    assert oars["session"].startswith(f"agent:main:telegram:group:{group}")
    assert not any(FRAME in one["text"] or "SOUL-MARK" in one["text"] for one in kept if one["kind"] == "message")

    before = gateway.kept(asked, session)
    told = imported(gateway, "import", "openclaw")
    assert told["known"] >= 2
    assert gateway.kept(asked, session) == before, "what was captured when it happened is not kept again"
