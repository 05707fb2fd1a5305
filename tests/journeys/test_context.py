"""What a session pays for its workspace files, as a person looks it up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foreword import Foreword
from foreword.compose import count_tokens
from foreword.errors import BadInput
from foreword.model import SessionKind

FILES = {
    "SOUL.md": "Calm and exact.",
    "USER.md": "Lives by the sea.",
    "AGENTS.md": "Long rules of the house. " * 40,
    "IDENTITY.md": "A lobster.",
    "MEMORY.md": "Everything that ever happened. " * 200,
    "TOOLS.md": "Prose about tools. " * 100,
    "TOOLS_COMPACT.md": "ssh port 2222",
    "HEARTBEAT.md": "Look at the mail.",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.proves("T1", "T12")
def test_every_file_is_listed_with_its_cost_before_and_after(foreword: Foreword, workspace: Path) -> None:
    found = foreword.context("agent:main:main", workspace)
    rows = {one.name: one for one in found.files}
    assert {name for name, one in rows.items() if one.before} == {
        "SOUL.md",
        "USER.md",
        "AGENTS.md",
        "IDENTITY.md",
        "MEMORY.md",
    }
    assert {name for name, one in rows.items() if one.after} == {"SOUL.md", "USER.md", "TOOLS_COMPACT.md"}
    assert all(one.tokens == count_tokens(FILES[name]) for name, one in rows.items())
    assert found.before_tokens == sum(one.tokens for one in rows.values() if one.before)
    assert found.after_tokens == sum(one.tokens for one in rows.values() if one.after) < found.before_tokens
    assert not found.enabled


@pytest.mark.proves("T1")
@pytest.mark.parametrize("kind", SessionKind)
def test_every_kind_has_who_the_agent_is_and_none_the_whole_memory(
    foreword: Foreword, workspace: Path, kind: SessionKind
) -> None:
    found = next(one for one in foreword.contexts(workspace) if one.kind is kind)
    layers: dict[int, set[str]] = {0: set(), 1: set(), 2: set()}
    for one in found.files:
        layers[one.layer].add(one.name)
        assert one.after is (one.layer < 2), "what is looked up on demand is never given in bulk"
    assert layers[0] == {"SOUL.md"}
    assert not layers[1] & {"MEMORY.md", "TOOLS.md"}


@pytest.mark.proves("T12", "T3")
def test_the_listing_says_what_the_hook_does(open_home: Callable[..., Foreword], workspace: Path) -> None:
    engine = open_home(bootstrap__enabled=True)
    for session in ("agent:main:main", "agent:main:telegram:group:-1:topic:7", "agent:main:subagent:x", "agent:main:y"):
        listed = engine.context(session, workspace)
        loaded = [one.name for one in listed.files if one.before]
        given = engine.bootstrap(session, workspace, loaded)
        assert {one.name for one in listed.files if one.after} == {*given.keep, *(one.name for one in given.add)}


def test_a_file_of_the_set_that_is_not_there_is_named(foreword: Foreword, workspace: Path) -> None:
    (workspace / "TOOLS_COMPACT.md").unlink()
    assert foreword.context("agent:main:main", workspace).missing == ["TOOLS_COMPACT.md"]


def test_a_workspace_that_is_none_is_named(foreword: Foreword, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a folder"):
        foreword.context("agent:main:main", tmp_path / "nowhere")
