"""foreword rollout and foreword validate, as a person types them; what they do is in tests/rooms/test_rollout.py."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from tests import workspace as grown
from tests.doors.conftest import Ran

Run = Callable[..., Ran]
GRANT = "plugins: {entries: {foreword: {hooks: {allowConversationAccess: true}}}}"
HOST = '{agents: {defaults: {workspace: "WORKSPACE"}}, GRANT}'.replace("GRANT", GRANT)


@pytest.fixture
def workspace(folder: Path, tmp_path: Path) -> Path:
    """OpenClaw's own, as its settings tell."""
    place = tmp_path / "workspace"
    grown.grow(place, date.today())
    config = tmp_path / "user" / ".openclaw" / "openclaw.json"
    config.parent.mkdir(parents=True)
    config.write_text(HOST.replace("WORKSPACE", str(place)))
    return place


def _tree(workspace: Path) -> dict[str, tuple[bytes, int]]:
    user = workspace.parent / "user"
    files = [*workspace.rglob("*"), user / ".openclaw" / "openclaw.json", user / ".config" / "foreword" / "config.toml"]
    return {str(one): (one.read_bytes(), stat.S_IMODE(one.stat().st_mode)) for one in files if one.is_file()}


@pytest.mark.proves("T9")
def test_without_yes_everything_is_only_shown(run: Run, workspace: Path) -> None:
    before = _tree(workspace)
    for verb in (("plan",), ("apply",), ("apply", "--dry-run"), ("status",), ("rollback",)):
        assert run("rollout", *verb).code == 0
    shown = run("rollout", "apply").out
    assert "+- When context feels incomplete" in shown
    assert '+on_demand = ["MEMORY.md"]' in shown
    assert "Nothing was changed." in shown
    assert _tree(workspace) == before
    assert "No rollout has begun here." in run("rollout", "status").out


@pytest.mark.proves("T9", "T11")
def test_the_whole_way_there_and_back(run: Run, workspace: Path) -> None:
    before = _tree(workspace)
    refused = run("rollout", "apply", "--yes")
    assert refused.code == 1
    assert f"foreword vault add {workspace}" in refused.out
    assert run("validate").code == 1
    run("vault", "add", str(workspace))
    refused = run("rollout", "apply", "--yes")
    assert refused.code == 1
    assert "`foreword wisdom approve`, or `foreword wisdom reject`" in refused.out
    assert run("wisdom", "approve", "--yes").code == 0
    assert "for the wisdom has changed since" in run("rollout", "status").out
    for verb in ("draft", "approve"):
        assert run("soul", verb, *(["--yes"] if verb == "approve" else [])).code == 0
    done = run("rollout", "apply", "--yes")
    assert done.code == 0, done.out
    assert "phase 4" in done.out
    assert "% less" in done.out
    judged = run("validate")
    assert (judged.code, judged.out.count("PASS")) == (0, 10), judged.out
    assert json.loads(run("validate", "--json").out)["data"]["passed"] is True
    assert "nothing is left to apply" in run("rollout", "apply", "--yes").out
    status = json.loads(run("rollout", "status", "--json").out)["data"]
    assert status["phase"] == 4
    assert status["saved"]["main_session"] > 6_000
    assert "to put it back" in run("rollout", "rollback").out.lower()
    back = run("rollout", "rollback", "--yes")
    assert back.code == 0
    assert "SOUL.md: as it was, byte for byte" in back.out
    assert _tree(workspace) == before
    assert "No rollout is on record here" in run("rollout", "rollback", "--yes").out


@pytest.mark.proves("T9")
def test_a_damaged_copy_is_named_and_its_file_is_left(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("vault", "add", str(workspace))
    run("rollout", "apply", "--to", "1", "--yes")
    (copy,) = (tmp_path / "user").rglob("before-*-SOUL.md")
    copy.write_text("something else")
    changed = (workspace / "SOUL.md").read_bytes()
    back = run("rollout", "rollback", "--yes")
    assert back.code == 1
    assert "its copy is no longer what was copied" in back.out
    assert (workspace / "SOUL.md").read_bytes() == changed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rollout", "plan", "--yes"), "--yes does not belong to plan"),
        (("rollout", "status", "--to", "2"), "--to does not belong to status"),
        (("rollout", "rollback", "--to", "2"), "--to does not belong to rollback"),
        (("rollout", "apply", "--to", "9"), "invalid choice"),
        (("rollout", "apply", "--yes", "--dry-run"), "not allowed with"),
        (("rollout", "plan", "--workspace", "/nowhere/at/all"), "is not a folder"),
        (("validate", "--workspace", "/nowhere/at/all"), "is not a folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, workspace: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert said in done.err
