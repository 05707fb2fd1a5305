"""A workspace of a year on a real gateway: rolled out to few tokens, validated, and put back to the byte."""

from __future__ import annotations

import json
import re
import stat
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from foreword.compose import count_tokens
from foreword.rollout.probes import behaviour, notes
from tests import workspace as grown
from tests.hosts.model_server import Request
from tests.hosts.openclaw.conftest import HOSTS, PARTS
from tests.hosts.openclaw.gateway import VENV, Gateway

OWNER = 777
SETTINGS = f'# mine\n[owner]\nids = ["telegram:{OWNER}"]  # me\n'


@pytest.fixture(scope="module")
def host(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway of its own: what happens here changes settings and files that others count on."""
    if missing := [part for part in PARTS if not (HOSTS / part).exists()]:
        pytest.skip(f"{HOSTS / missing[0]} is missing, so no test ran on OpenClaw: run `make hosts`, then `make test`")
    with Gateway.apart(tmp_path_factory.mktemp("rollout") / "openclaw", HOSTS) as one:
        one.prepare()
        for file in one.workspace.rglob("*.md"):
            file.unlink()
        grown.grow(one.workspace, date.today())
        Path(one.environ["FOREWORD_CONFIG"]).write_text(SETTINGS)
        one.start()
        one.call("status")
        yield one


def run(host: Gateway, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Foreword's own program, as the user of this gateway runs it."""
    done = subprocess.run(
        [VENV / "foreword", *arguments, "--json"], env=host.environ, cwd=host.folder, capture_output=True, text=True
    )
    assert done.returncode == code, (arguments, done.stdout[-3000:], done.stderr)
    answer = json.loads(done.stdout)
    data: dict[str, Any] = answer["data"]
    return data


def sent(request: Request, workspace: Path) -> dict[str, int]:
    """The workspace files that the model was sent, each with its tokens, as they stand in the prompt."""
    heading = re.escape(f"## {workspace}/")
    parts = re.findall(
        rf"^{heading}(\S+)\n(.*?)(?=^{heading}|^<!-- /openclaw:attempt:STABLE)",
        request.system,
        re.DOTALL | re.MULTILINE,
    )
    return {name: count_tokens(text.strip()) for name, text in parts}


def tree(host: Gateway) -> dict[str, tuple[bytes, int]]:
    files = [one for one in host.workspace.rglob("*") if one.is_file() and ".git" not in one.parts]
    settings = [host.config, Path(host.environ["FOREWORD_CONFIG"])]
    return {str(one): (one.read_bytes(), stat.S_IMODE(one.stat().st_mode)) for one in (*files, *settings)}


def topic(host: Gateway, text: str, number: int) -> dict[str, int]:
    return sent(host.write(f"@claw_bot {text}", OWNER, chat=-100777, topic=number).request, host.workspace)


@pytest.mark.proves("T9", "T11", "T1", "T3")
def test_twelve_thousand_tokens_become_five_hundred_and_come_back_to_the_byte(host: Gateway) -> None:
    texts = notes(host.workspace)
    assert sum(map(count_tokens, texts.values())) > 11_000
    first = sent(host.turn("What is on for today?", "main").request, host.workspace)
    assert set(first) == {"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"}
    assert sum(first.values()) > 6_000
    assert sum(topic(host, "what is on for today?", 42).values()) > 2_000
    before = tree(host)

    where = ("--workspace", str(host.workspace))
    refused = run(host, "rollout", "apply", "--yes", *where, code=1)
    assert (refused["applied"], refused["missing"][0]["name"]) == ([0], "search")
    assert tree(host) == before, "phase 0 only looks"
    run(host, "vault", "add", str(host.workspace), "--agent", "main")
    refused = run(host, "rollout", "apply", "--yes", *where, code=1)
    assert (refused["applied"], refused["missing"][0]["name"]) == ([1], "drafts")
    assert set(sent(host.turn("What is on for tomorrow?", "main").request, host.workspace)) == set(first) - {
        "MEMORY.md"
    }
    run(host, "wisdom", "approve", "--yes", *where)
    run(host, "soul", "draft", *where)
    run(host, "soul", "approve", "--yes", *where)
    assert run(host, "rollout", "apply", "--yes", *where)["applied"] == [2, 3, 4]

    main = sent(host.turn("What is on for the week?", "main").request, host.workspace)
    assert set(main) == {"SOUL.md", "USER.md", "TOOLS_COMPACT.md"}
    assert sum(main.values()) <= 500
    grouped = topic(host, "what is on for the week?", 43)
    assert set(grouped) == {"SOUL.md", "TOOLS_COMPACT.md"}
    assert sum(grouped.values()) <= 500
    assert set(sent(host.subagent("Count the jars in the cellar.", "main"), host.workspace)) == {"SOUL.md"}

    validated = run(host, "validate", *where)
    assert [one for one in validated["criteria"] if one["state"] != "PASS"] == []
    assert len(validated["criteria"]) == 9
    # The host's own call of the tool, as its model would have it made.
    for probe in behaviour(texts):
        answer = json.dumps(host.invoke("mem_search", query=probe.question))
        rows = [row for row in answer.split("\\n") if ", chunk," in row]
        assert Path(probe.file).stem in rows[0], (probe, rows[:2])

    status = run(host, "rollout", "status", *where)
    assert status["saved"]["main_session"] == status["before"]["main_session"] - sum(
        one["tokens"] for one in run(host, "context", "--session", "agent:main:main", *where)["files"] if one["after"]
    )
    run(host, "rollout", "rollback", "--yes", *where)
    assert tree(host) == before
    assert sent(host.turn("What was on last week?", "main").request, host.workspace) == first
