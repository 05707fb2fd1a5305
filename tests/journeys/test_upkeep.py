"""A workspace kept up: what is made, what waits for a person, and what a kill in the middle leaves behind."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from foreword import Foreword
from foreword.errors import BadInput, ReviewError
from foreword.files import workspace_slug
from foreword.upkeep import Upkeep
from foreword.wisdom import LOAD_BEARING, REVIEW_NEEDED, found_in
from tests import lessons as shop
from tests.conftest import Clock

TOOLS = "# Tools\n\n## Hosts\n\n- atlas → 10.0.0.12:5433\n- Voice: Alba\n\nSome prose that nobody looks up.\n"


@pytest.fixture
def workspace(tmp_path: Path, clock: Clock) -> Path:
    folder = shop.write(tmp_path / "My Shop", date.fromtimestamp(clock.now))
    (folder / "TOOLS.md").write_text(TOOLS)
    return folder


@pytest.fixture
def upkeep(tmp_path: Path, workspace: Path, clock: Clock) -> Upkeep:
    return Upkeep(tmp_path / "home", workspace, clock=clock)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


# tools


@pytest.mark.proves("T5")
def test_tools_compact_is_made_fresh_stale_and_made_again(upkeep: Upkeep, workspace: Path) -> None:
    assert not upkeep.tools_state().fresh
    before = tree(workspace)
    upkeep.write_tools(upkeep.plan_tools())
    assert (workspace / "TOOLS_COMPACT.md").read_text() == "## Hosts\natlas → 10.0.0.12:5433\nVoice: Alba\n"
    assert {name: data for name, data in tree(workspace).items() if name != "TOOLS_COMPACT.md"} == before
    assert upkeep.tools_state().fresh
    (workspace / "TOOLS.md").write_text(TOOLS + "- Port: 8443\n")
    assert not upkeep.tools_state().fresh
    assert not upkeep.tools_state().edited
    copy = upkeep.write_tools(upkeep.plan_tools())
    assert "8443" in (workspace / "TOOLS_COMPACT.md").read_text()
    assert copy is not None
    assert "8443" not in copy.read_text()


@pytest.mark.proves("T5")
def test_one_that_a_person_wrote_or_edited_is_never_replaced_unless_told_to_and_then_kept(
    upkeep: Upkeep, workspace: Path
) -> None:
    file = workspace / "TOOLS_COMPACT.md"
    file.write_text("mine\n")
    with pytest.raises(ReviewError, match="by hand"):
        upkeep.write_tools(upkeep.plan_tools())
    assert file.read_text() == "mine\n"
    copy = upkeep.write_tools(upkeep.plan_tools(), force=True)
    assert copy is not None
    assert copy.read_text() == "mine\n"
    file.write_text(file.read_text() + "and mine\n")
    assert upkeep.tools_state().fresh, "TOOLS.md has not changed"
    (workspace / "TOOLS.md").write_text(TOOLS + "- Port: 8443\n")
    assert upkeep.tools_state().edited
    with pytest.raises(ReviewError, match="--force"):
        upkeep.write_tools(upkeep.plan_tools())


def test_a_compact_file_that_was_made_from_another_home_is_known_by_its_bytes(
    upkeep: Upkeep, workspace: Path, tmp_path: Path
) -> None:
    upkeep.write_tools(upkeep.plan_tools())
    other = Upkeep(tmp_path / "other", workspace)
    assert other.tools_state().fresh
    assert not other.tools_state().edited


@pytest.mark.proves("T5")
def test_a_session_that_begins_makes_it_again_when_tools_changed(
    open_home: Callable[..., Foreword], workspace: Path, tmp_path: Path, clock: Clock
) -> None:
    foreword = open_home(bootstrap__enabled=True)
    file = workspace / "TOOLS_COMPACT.md"

    def begins() -> tuple[str, ...]:
        return tuple(foreword.bootstrap("agent:main:main", workspace, ["SOUL.md"]).problems)

    assert begins() == ()
    assert not file.exists(), "nobody has asked for it yet"
    upkeep = Upkeep(tmp_path / "home", workspace, clock=clock)
    upkeep.write_tools(upkeep.plan_tools())
    (workspace / "TOOLS.md").write_text(TOOLS.replace("5433", "5444"))
    assert begins() == ()
    assert "5444" in file.read_text()
    file.write_text("mine\n")
    (workspace / "TOOLS.md").write_text(TOOLS.replace("5433", "5455"))
    assert "--force" in begins()[0]
    assert file.read_text() == "mine\n"


def test_a_link_out_of_the_workspace_is_neither_compacted_nor_written_through(
    upkeep: Upkeep, workspace: Path, tmp_path: Path
) -> None:
    private = tmp_path / "private.md"
    private.write_text("- Vault: 10.9.9.9\n")
    (workspace / "TOOLS_COMPACT.md").symlink_to(private)
    with pytest.raises(ReviewError, match="leads out"):
        upkeep.plan_tools()
    (workspace / "TOOLS_COMPACT.md").unlink()
    (workspace / "TOOLS.md").unlink()
    (workspace / "TOOLS.md").symlink_to(private)
    with pytest.raises(ReviewError, match="leads out"):
        upkeep.plan_tools()
    assert private.read_text() == "- Vault: 10.9.9.9\n"


# wisdom


@pytest.mark.proves("T6", "T8")
def test_a_draft_waits_for_a_person_and_nothing_in_the_workspace_changes(upkeep: Upkeep, workspace: Path) -> None:
    before = tree(workspace)
    draft = upkeep.draft_wisdom()
    assert [one.state for one in upkeep.desk.waiting()] == [REVIEW_NEEDED]
    assert tree(workspace) == before
    assert upkeep.broken(draft) == []
    assert all(len(lessons) >= 3 for lessons in draft.coverage.values())
    upkeep.desk.reject("wisdom")
    assert tree(workspace) == before
    assert upkeep.desk.waiting() == []


@pytest.mark.proves("T6", "T7", "T8")
def test_approval_alone_puts_the_section_into_soul_and_keeps_a_copy(upkeep: Upkeep, workspace: Path) -> None:
    before = tree(workspace)
    upkeep.draft_wisdom()
    done = upkeep.approve(upkeep.approval("wisdom"))
    soul = (workspace / "SOUL.md").read_text()
    assert soul.startswith(shop.SOUL)
    assert LOAD_BEARING in found_in(soul)
    assert done.copy is not None
    assert Path(done.copy).read_bytes() == before["SOUL.md"]
    assert {**tree(workspace), "SOUL.md": before["SOUL.md"]} == before, "no WISDOM.md, nor anything else"
    assert upkeep.desk.waiting() == []
    with pytest.raises(ReviewError, match="foreword wisdom draft"):
        upkeep.approval("wisdom")


@pytest.mark.proves("T8")
def test_no_file_called_wisdom_is_ever_made(upkeep: Upkeep, workspace: Path, tmp_path: Path) -> None:
    upkeep.write_tools(upkeep.plan_tools())
    for _ in range(2):
        upkeep.draft_wisdom()
        upkeep.draft_soul()
        upkeep.approve(upkeep.approval("wisdom"))
        upkeep.draft_soul()
        upkeep.approve(upkeep.approval("soul"))
    # A draft on the desk is called wisdom.md; it is in Foreword's home, and gone once it was approved.
    assert [one for one in tmp_path.rglob("*") if one.name.lower() == "wisdom.md"] == []


@pytest.mark.proves("T6", "T7")
def test_an_edited_draft_keeps_the_rules_too_and_its_coverage_follows_the_words(
    upkeep: Upkeep, workspace: Path
) -> None:
    draft = upkeep.draft_wisdom()
    file, first = upkeep.desk.file_of("wisdom"), next(iter(draft.coverage))
    file.write_text(draft.text.replace(first, f"{first} on port 5433"))
    with pytest.raises(ReviewError, match="a number"):
        upkeep.approval("wisdom")
    file.write_text(draft.text.replace(f"- {LOAD_BEARING}\n", ""))
    with pytest.raises(ReviewError, match="must survive every cycle"):
        upkeep.approval("wisdom")
    assert (workspace / "SOUL.md").read_text() == shop.SOUL
    reworded = first.rpartition(" ")[0]
    file.write_text(draft.text.replace(first, reworded))
    upkeep.approve(upkeep.approval("wisdom"))
    kept = upkeep.desk.approved("wisdom")
    assert kept is not None
    assert list(kept.coverage[reworded]) == list(draft.coverage[first])


def test_a_file_that_changed_while_a_person_looked_is_not_overwritten(upkeep: Upkeep, workspace: Path) -> None:
    upkeep.draft_wisdom()
    approval = upkeep.approval("wisdom")
    (workspace / "SOUL.md").write_text("# Somebody was here\n")
    with pytest.raises(ReviewError, match="in the meantime"):
        upkeep.approve(approval)
    assert (workspace / "SOUL.md").read_text() == "# Somebody was here\n"
    assert len(upkeep.desk.waiting()) == 1


@pytest.mark.proves("T6")
def test_wisdom_is_due_at_first_then_monthly_or_at_ten_new_lessons(
    upkeep: Upkeep, workspace: Path, clock: Clock
) -> None:
    assert upkeep.wisdom_status().due
    upkeep.draft_wisdom()
    upkeep.approve(upkeep.approval("wisdom"))
    status = upkeep.wisdom_status()
    assert (status.due, status.new, status.last) == (False, 0, "2026-03-04")
    lessons = workspace / "LESSONS_LEARNED.md"
    lessons.write_text(lessons.read_text() + "".join(f"\n- A new lesson about {word}" for word in "abcdefghi"))
    assert not upkeep.wisdom_status().due
    lessons.write_text(lessons.read_text() + "\n- A new lesson about the tenth")
    assert (upkeep.wisdom_status().due, upkeep.wisdom_status().new) == (True, 10)
    lessons.write_text(shop.LESSONS_LEARNED)
    clock.forward(days=29)
    assert not upkeep.wisdom_status().due
    clock.forward(days=1)
    assert "30 days ago" in upkeep.wisdom_status().reason
    assert upkeep.wisdom_status().due


def test_what_a_person_reworded_survives_the_next_cycle(upkeep: Upkeep, workspace: Path) -> None:
    draft = upkeep.draft_wisdom()
    first = next(iter(draft.coverage))
    reworded = first.rpartition(" ")[0]
    upkeep.desk.file_of("wisdom").write_text(draft.text.replace(first, reworded))
    upkeep.approve(upkeep.approval("wisdom"))
    assert f"- {reworded}\n" in upkeep.draft_wisdom().text


# soul


@pytest.mark.proves("T10")
def test_a_tightened_soul_waits_for_approval_and_a_changed_file_needs_a_new_draft(
    upkeep: Upkeep, workspace: Path
) -> None:
    file = workspace / "SOUL.md"
    file.write_text(
        shop.SOUL + "\n## Habits\n\n" + "\n".join(f"- Habit {word}: do it slowly." for word in "abcdefghijklmnop")
    )
    before = file.read_bytes()
    upkeep.draft_wisdom()
    upkeep.approve(upkeep.approval("wisdom"))
    draft = upkeep.draft_soul()
    assert found_in(draft.text) == found_in(file.read_text())
    assert file.read_bytes() != draft.text.encode()
    file.write_bytes(before)
    with pytest.raises(ReviewError, match="foreword soul draft"):
        upkeep.approval("soul")
    upkeep.draft_soul()
    upkeep.approve(upkeep.approval("soul"))
    assert upkeep.broken(upkeep.draft_soul()) == []


@pytest.mark.proves("T10")
def test_a_soul_without_the_wisdom_it_had_or_above_two_hundred_tokens_is_refused(upkeep: Upkeep) -> None:
    upkeep.draft_wisdom()
    upkeep.approve(upkeep.approval("wisdom"))
    upkeep.draft_soul()
    upkeep.desk.file_of("soul").write_text("# SOUL\n\nBe kind.\n")
    with pytest.raises(ReviewError, match="lacks the section"):
        upkeep.approval("soul")
    upkeep.desk.file_of("soul").write_text(f"# SOUL\n\n{'Be kind. ' * 100}\n\n{upkeep.present_wisdom()}")
    with pytest.raises(ReviewError, match="200 are the most"):
        upkeep.approval("soul")


# where things live


def test_a_slug_is_readable_and_two_workspaces_never_share_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "My Shop!", tmp_path / "b" / "My Shop!"
    first.mkdir(parents=True)
    second.mkdir(parents=True)
    (tmp_path / "link").symlink_to(first)
    assert workspace_slug(first).startswith("my-shop-")
    assert workspace_slug(first) == workspace_slug(tmp_path / "link")
    assert workspace_slug(first) != workspace_slug(second)
    assert workspace_slug(Path("/")).startswith("workspace-")


def test_the_desk_is_the_user_s_alone_and_is_made_with_the_first_draft(upkeep: Upkeep, tmp_path: Path) -> None:
    upkeep.wisdom_status()
    upkeep.tools_state()
    assert not (tmp_path / "home").exists()
    upkeep.draft_wisdom()
    upkeep.approve(upkeep.approval("wisdom"))
    upkeep.write_tools(upkeep.plan_tools())
    found = [*(tmp_path / "home").rglob("*")]
    assert len(found) > 4
    for one in found:
        assert stat.S_IMODE(one.stat().st_mode) == (0o700 if one.is_dir() else 0o600), one


def test_a_damaged_desk_is_said_and_nothing_is_guessed(upkeep: Upkeep, workspace: Path) -> None:
    upkeep.draft_wisdom()
    (upkeep.folder / "desk.json").write_text("{")
    with pytest.raises(ReviewError, match="damaged"):
        upkeep.approval("wisdom")
    assert (workspace / "SOUL.md").read_text() == shop.SOUL


def test_a_workspace_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a folder"):
        Upkeep(tmp_path / "home", tmp_path / "nowhere")


def test_a_soul_that_is_a_link_stays_one_and_keeps_its_mode(upkeep: Upkeep, workspace: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles-soul.md"
    shutil.move(workspace / "SOUL.md", kept)
    kept.chmod(0o640)
    (workspace / "SOUL.md").symlink_to(kept)
    upkeep.draft_wisdom()
    upkeep.approve(upkeep.approval("wisdom"))
    assert (workspace / "SOUL.md").is_symlink()
    assert LOAD_BEARING in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


# killed in the middle

_WRITES = ("os.rename", "os.remove", "os.mkdir", "os.chmod", "os.truncate", "os.rmdir")


def _stopped(how: str, at: int, roots: tuple[str, ...], step: Callable[[], object]) -> tuple[int, int]:
    """Takes the step in a process of its own that is stopped before its write number `at`; how that process ended, and
    how many writes it came to. Python tells its audit hooks of every open, rename, removal, mkdir and chmod before it
    happens, so no write can be added that this does not meet."""
    told, telling = os.pipe()
    pid = os.fork()
    if pid == 0:
        seen = 0

        def hook(event: str, args: tuple[object, ...]) -> None:
            nonlocal seen
            opens = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            named = args[0] if args and isinstance(args[0], str | bytes | os.PathLike) else ""
            if not (opens or event in _WRITES) or (named and not os.fsdecode(named).startswith(roots)):
                return
            seen += 1
            if seen == at and how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if seen == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        sys.addaudithook(hook)
        code = 70
        try:
            step()
            code = 0
        except OSError as error:
            code = 1 if error.errno == errno.ENOSPC else 71
        finally:
            os.write(telling, seen.to_bytes(4, "big"))
            os._exit(code)
    os.close(telling)
    with os.fdopen(told, "rb") as answer:
        writes = int.from_bytes(answer.read(), "big")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), writes


@pytest.mark.proves("T6", "T10")
@pytest.mark.parametrize("how", ["kill", "raise"])
@pytest.mark.parametrize("what", ["wisdom", "soul", "tools"])
def test_stopped_at_any_write_the_step_completes_or_nothing_has_changed(
    how: str, what: str, upkeep: Upkeep, workspace: Path, tmp_path: Path, clock: Clock
) -> None:
    file = workspace / ("TOOLS_COMPACT.md" if what == "tools" else "SOUL.md")
    if what == "tools":
        upkeep.write_tools(upkeep.plan_tools())
        (workspace / "TOOLS.md").write_text(TOOLS.replace("5433", "5444"))
    elif what == "wisdom":
        upkeep.draft_wisdom()
    else:
        file.write_text(shop.SOUL * 3)
        upkeep.draft_soul()
    fresh = tmp_path / "fresh"
    shutil.copytree(tmp_path / "home", fresh / "home")
    shutil.copytree(workspace, fresh / "workspace")
    before = file.read_bytes()
    roots = (str(tmp_path / "home"), str(workspace))

    def stopped(at: int) -> tuple[int, int]:
        here = Upkeep(tmp_path / "home", workspace, clock=clock)
        if what == "tools":
            plan = here.plan_tools()
            return _stopped(how, at, roots, lambda: here.write_tools(plan))
        approval = here.approval(what)
        return _stopped(how, at, roots, lambda: here.approve(approval))

    code, writes = stopped(0)
    after = file.read_bytes()
    assert code == 0
    assert before != after
    assert writes > 8

    for at in range(1, writes + 1):
        for folder in (tmp_path / "home", workspace):
            shutil.rmtree(folder)
        shutil.copytree(fresh / "home", tmp_path / "home")
        shutil.copytree(fresh / "workspace", workspace)
        assert stopped(at)[0] == (-signal.SIGKILL if how == "kill" else 1)
        assert file.read_bytes() in (before, after), "a half-written file"
        again = Upkeep(tmp_path / "home", workspace, clock=clock)
        if what == "tools":
            assert not again.tools_state().edited, "what Foreword wrote is not taken for a person's"
            again.write_tools(again.plan_tools())
        elif again.desk.waiting():
            assert file.read_bytes() == before
            again.approve(again.approval(what))
        else:
            assert again.desk.approved(what) is not None
        assert file.read_bytes() == after
        assert sorted(tree(workspace)) == sorted(tree(fresh / "workspace")), "nothing is left beside the files"
        assert list((tmp_path / "home").rglob(".*")) == []


def test_two_homes_keep_two_desks(upkeep: Upkeep, workspace: Path, tmp_path: Path) -> None:
    upkeep.draft_wisdom()
    assert Upkeep(tmp_path / "other", workspace).desk.waiting() == []
    state = json.loads((upkeep.folder / "desk.json").read_text())
    assert state["drafts"]["wisdom"]["state"] == REVIEW_NEEDED
