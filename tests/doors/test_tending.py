"""foreword tools, wisdom and soul, as people and scripts meet them."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from foreword.wisdom import LOAD_BEARING
from tests import lessons as shop
from tests.doors.conftest import Ran
from tests.rooms.test_embedder_http import Request, send, serving

TOOLS = "# Tools\n\n## Hosts\n\n- atlas → 10.0.0.12:5433\n- Password: hunter-2000\n\nSome prose.\n"


@pytest.fixture
def workspace(folder: Path) -> Path:
    """The folder that the test stands in; no OpenClaw is here to say otherwise."""
    shop.write(folder, date.today())
    (folder / "TOOLS.md").write_text(TOOLS)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


# tools


@pytest.mark.proves("T5")
def test_a_dry_run_shows_the_diff_and_changes_nothing(run: Callable[..., Ran], workspace: Path) -> None:
    before = tree(workspace)
    done = run("tools", "compact", "--dry-run")
    assert done.code == 0
    assert "+atlas → 10.0.0.12:5433" in done.out
    assert "hunter" not in done.out
    assert tree(workspace) == before


@pytest.mark.proves("T5")
def test_check_tells_by_its_exit_code_whether_the_file_is_stale(run: Callable[..., Ran], workspace: Path) -> None:
    assert run("tools", "compact", "--check").code == 1
    assert run("tools", "compact", "--yes").code == 0
    assert run("tools", "compact", "--check").code == 0
    (workspace / "TOOLS.md").write_text(TOOLS + "- Port: 8443\n")
    stale = run("tools", "compact", "--check", "--json")
    assert (stale.code, stale.data["fresh"], stale.data["edited"]) == (1, False, False)


def test_without_anybody_to_agree_nothing_is_written(run: Callable[..., Ran], workspace: Path) -> None:
    done = run("tools", "compact")
    assert done.code == 2
    assert "--yes" in done.err
    assert not (workspace / "TOOLS_COMPACT.md").exists()


def test_a_person_is_asked_and_sees_the_diff_first(terminal: Callable[..., Ran], workspace: Path) -> None:
    declined = terminal("tools", "compact", keys=b"n\n", wait_for=b"[y/N]")
    assert declined.code == 1
    assert "+atlas" in declined.out
    assert not (workspace / "TOOLS_COMPACT.md").exists()
    assert terminal("tools", "compact", keys=b"y\n", wait_for=b"[y/N]").code == 0
    assert (workspace / "TOOLS_COMPACT.md").read_text() == (
        "## Hosts\natlas → 10.0.0.12:5433\nPassword: (secret, in TOOLS.md)\n"
    )


def test_one_edited_by_hand_is_refused_then_forced_and_kept(run: Callable[..., Ran], workspace: Path) -> None:
    (workspace / "TOOLS_COMPACT.md").write_text("mine\n")
    refused = run("tools", "compact", "--yes")
    assert refused.code == 1
    assert "--force" in refused.err
    done = run("tools", "compact", "--yes", "--force", "--json")
    assert done.code == 0
    assert Path(done.data["copy"]).read_text() == "mine\n"
    assert done.data["kept"] == ["Hosts: atlas → 10.0.0.12:5433", "Hosts: Password: (secret, in TOOLS.md)"]


def test_a_workspace_without_tools_is_said(run: Callable[..., Ran], folder: Path) -> None:
    done = run("tools", "compact", "--json")
    assert done.code == 1
    assert done.error["code"] == "review"
    assert "no TOOLS.md" in done.error["message"]


def test_where_openclaw_says_that_its_agent_works_is_the_workspace(
    run: Callable[..., Ran], folder: Path, tmp_path: Path
) -> None:
    config = tmp_path / "user" / ".openclaw" / "openclaw.json"
    usual, named = config.parent / "workspace", tmp_path / "elsewhere"
    for one in (usual, named):
        one.mkdir(parents=True)
        (one / "TOOLS.md").write_text(TOOLS)
    config.write_text("{}")
    assert run("tools", "compact", "--dry-run", "--json").data["workspace"] == str(usual)
    config.write_text('{agents: {defaults: {workspace: "' + str(named) + '"}}}')
    assert run("tools", "compact", "--dry-run", "--json").data["workspace"] == str(named)
    config.write_text('{agents: {list: [{id: "a"}, {id: "b", default: true, workspace: "' + str(usual) + '"}]}}')
    assert run("tools", "compact", "--dry-run", "--json").data["workspace"] == str(usual)
    (folder / "TOOLS.md").write_text(TOOLS)
    given = run("tools", "compact", "--dry-run", "--json", "--workspace", str(folder))
    assert given.data["workspace"] == str(folder)
    config.write_text("{ broken")
    broken = run("tools", "compact", "--dry-run", "--json")
    assert broken.data["workspace"] == str(folder)
    assert "this folder is taken" in broken.err


# wisdom


@pytest.mark.proves("T6", "T7", "T8")
def test_from_lessons_to_soul_by_way_of_a_review(run: Callable[..., Ran], workspace: Path) -> None:
    before = tree(workspace)
    assert "due: there is no wisdom" in run("wisdom", "status").out
    draft = run("wisdom", "draft", "--json").data
    assert draft["state"] == "REVIEW NEEDED"
    assert draft["broken"] == []
    assert all(len(lessons) >= 3 for lessons in draft["coverage"].values())
    assert "REVIEW NEEDED" in run("wisdom", "status").out
    review = run("wisdom", "review")
    assert "(there is none yet)" in review.out
    assert " | ## Wisdom" in review.out
    assert run("wisdom", "approve").code == 2, "nobody is there to agree"
    dry = run("wisdom", "approve", "--dry-run")
    assert "+## Wisdom" in dry.out
    assert tree(workspace) == before
    done = run("wisdom", "approve", "--yes", "--json").data
    assert Path(done["copy"]).read_bytes() == before["SOUL.md"]
    assert LOAD_BEARING in (workspace / "SOUL.md").read_text()
    assert {**tree(workspace), "SOUL.md": before["SOUL.md"]} == before
    assert "not due" in run("wisdom", "status").out
    assert run("wisdom", "approve", "--yes").code == 1


@pytest.mark.proves("T6")
def test_a_rejected_draft_is_gone_and_soul_is_as_it_was(run: Callable[..., Ran], workspace: Path) -> None:
    run("wisdom", "draft")
    assert run("wisdom", "reject").code == 0
    assert (workspace / "SOUL.md").read_text() == shop.SOUL
    assert run("wisdom", "review").code == 1


@pytest.mark.proves("T6", "T7")
def test_an_editor_s_draft_is_held_to_the_rules_and_the_refusal_names_entry_and_rule(
    run: Callable[..., Ran], workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor.py"
    run("wisdom", "draft")

    def edits(code: str) -> None:
        editor.write_text(f"#!{sys.executable}\nimport sys\nfile = sys.argv[1]\ntext = open(file).read()\n{code}\n")
        editor.chmod(editor.stat().st_mode | stat.S_IXUSR)

    monkeypatch.setenv("EDITOR", str(editor))
    edits("open(file, 'w').write(text.replace('\\n- ', '\\n- Use port 5433\\n- ', 1))")
    refused = run("wisdom", "approve", "--edit", "--yes")
    assert refused.code == 1
    assert "“Use port 5433” holds a number (5433)" in refused.err
    assert "refused:" in run("wisdom", "review").out
    assert (workspace / "SOUL.md").read_text() == shop.SOUL
    edits("open(file, 'w').write(text.replace('- Use port 5433\\n', ''))")
    assert run("wisdom", "review", "--edit").code == 0
    edits("sys.exit(3)")
    assert "ended with 3" in run("wisdom", "approve", "--edit", "--yes").err
    monkeypatch.delenv("EDITOR")
    assert "$EDITOR is not set" in run("wisdom", "review", "--edit").err
    assert run("wisdom", "approve", "--yes").code == 0


def test_a_narrow_terminal_shows_the_two_one_below_the_other(terminal: Callable[..., Ran], workspace: Path) -> None:
    terminal("wisdom", "draft")
    wide, narrow = terminal("wisdom", "review", COLUMNS="100").out, terminal("wisdom", "review", COLUMNS="60").out
    assert " | ## Wisdom" in wide
    assert " | ## Wisdom" not in narrow
    assert narrow.index("(there is none yet)") < narrow.index("## Wisdom")


def test_an_option_that_does_not_belong_to_a_verb_is_refused(run: Callable[..., Ran], workspace: Path) -> None:
    assert "--edit does not belong to draft" in run("wisdom", "draft", "--edit").err
    assert "--yes does not belong to review" in run("soul", "review", "--yes").err


@pytest.mark.proves("T6", "B9")
def test_a_configured_model_writes_the_draft_and_one_that_breaks_rules_does_not(
    run: Callable[..., Ran], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        "1: Prove that backups restore\n2: Listen on 8080\n",
        "## Hosts\natlas → 10.0.0.12:5433\nPassword: (secret, in TOOLS.md)\n",
    ]

    def reply(request: Request, handler: object) -> None:
        send(handler, {"choices": [{"message": {"content": answers[0]}}]})  # type: ignore[arg-type]

    with serving(reply) as api:
        monkeypatch.setenv("FOREWORD_WRITER_PROVIDER", "openai")
        monkeypatch.setenv("FOREWORD_WRITER_ENDPOINT", f"{api.url}/v1")
        monkeypatch.setenv("FOREWORD_WRITER_MODEL", "scribe")
        draft = run("wisdom", "draft", "--json").data
        assert "- Prove that backups restore\n" in draft["text"]
        assert "8080" not in draft["text"]
        assert draft["by"] == "scribe"
        assert any("8080" in note for note in draft["notes"])
        answers[0] = answers[1]
        plan = run("tools", "compact", "--dry-run", "--json").data
        assert plan["by"] == "scribe"
        answers[0] = "## Hosts\nboreas → 10.0.0.99\n"
        plan = run("tools", "compact", "--dry-run", "--json").data
        assert plan["by"] == "extractive"
        assert "10.0.0.99" in plan["notes"][0]
        sent = json.dumps([one.body for one in api.seen])
        assert "hunter-2000" not in sent
        assert len(api.seen) == 3
        for name in ("status", "review", "reject"):
            run("wisdom", name)
        assert len(api.seen) == 3, "only a draft asks"


# soul


@pytest.mark.proves("T10")
def test_soul_is_replaced_only_by_an_approved_draft(run: Callable[..., Ran], workspace: Path) -> None:
    file = workspace / "SOUL.md"
    file.write_text(
        shop.SOUL + "\n".join(f"\n- Habit {word}: slowly and with care." for word in "abcdefghijklmnopqrstuvwxyz")
    )
    before = file.read_bytes()
    draft = run("soul", "draft", "--json").data
    assert file.read_bytes() == before
    assert any(one.startswith("left out: Habit") for one in draft["notes"])
    assert run("soul", "review").code == 0
    done = run("soul", "approve", "--yes", "--json").data
    assert file.read_text() == draft["text"]
    assert Path(done["copy"]).read_bytes() == before
    assert run("soul", "approve", "--yes").code == 1
