"""What is written into a workspace, and what is left alone there."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.compose import Snippet, journal_section
from foreword.errors import LaneError
from foreword.lanes import add, folder, is_context_file, is_section, journal, put, sweep, take_out, without_sections
from foreword.model import Memory, frames, strip_frames

NAME = "FOREWORD.md"
TEXT = f"{frames.CONTEXT_BEGIN} ts=2026-03-04T12:00:00Z query_score=0.89 -->\nremembered\n"
NOON = 1_772_625_600.0


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


def names(workspace: Path) -> list[str]:
    return sorted(one.name for one in workspace.iterdir())


# The context file


@pytest.mark.proves("S6")
def test_the_file_is_replaced_never_appended_and_is_the_user_s_alone(workspace: Path) -> None:
    put(str(workspace), NAME, TEXT)
    put(str(workspace), NAME, TEXT.replace("remembered", "something else"))
    assert (workspace / NAME).read_text() == TEXT.replace("remembered", "something else")
    assert stat.S_IMODE((workspace / NAME).stat().st_mode) == 0o600
    assert names(workspace) == [NAME]


@pytest.mark.proves("S6")
def test_nothing_to_say_leaves_an_empty_file_and_not_a_missing_one(workspace: Path) -> None:
    put(str(workspace), NAME, "")
    assert (workspace / NAME).read_bytes() == b""
    put(str(workspace), NAME, TEXT)
    put(str(workspace), NAME, "")
    assert (workspace / NAME).read_bytes() == b""


@pytest.mark.proves("S6")
def test_a_reader_meets_the_whole_old_file_or_the_whole_new_one(workspace: Path) -> None:
    written = [TEXT + letter * 200_000 for letter in "abcdef"]
    put(str(workspace), NAME, written[0])
    done = threading.Event()

    def reads() -> set[str]:
        met = set()
        while not done.is_set():
            met.add((workspace / NAME).read_text())
        return met

    with ThreadPoolExecutor() as pool:
        reading = pool.submit(reads)
        for text in written * 5:
            put(str(workspace), NAME, text)
        done.set()
    assert reading.result() <= set(written)
    assert reading.result()


def test_a_file_that_foreword_did_not_write_is_left_alone(workspace: Path) -> None:
    (workspace / NAME).write_text("# My own preface\n")
    for text in (TEXT, ""):
        with pytest.raises(LaneError, match="was not written by Foreword"):
            put(str(workspace), NAME, text)
    assert (workspace / NAME).read_text() == "# My own preface\n"
    assert names(workspace) == [NAME]


@pytest.mark.parametrize("target", ["inside", "outside", "nowhere"])
def test_a_link_is_not_followed_and_not_replaced(workspace: Path, tmp_path: Path, target: str) -> None:
    aim = {"inside": workspace / "other.md", "outside": tmp_path / "outside.md", "nowhere": tmp_path / "none"}[target]
    if target != "nowhere":
        aim.write_text(TEXT)
    (workspace / NAME).symlink_to(aim)
    with pytest.raises(LaneError, match="is a link"):
        put(str(workspace), NAME, "")
    assert (workspace / NAME).is_symlink()
    assert aim.exists() == (target != "nowhere")
    assert not aim.exists() or aim.read_text() == TEXT


def test_a_folder_or_a_pipe_of_that_name_is_left_alone_and_not_waited_for(workspace: Path) -> None:
    (workspace / NAME).mkdir()
    os.mkfifo(workspace / "ETHOS_CONTEXT.md")
    for name in (NAME, "ETHOS_CONTEXT.md"):
        with pytest.raises(LaneError):
            put(str(workspace), name, TEXT)
    assert (workspace / NAME).is_dir()
    assert stat.S_ISFIFO((workspace / "ETHOS_CONTEXT.md").stat().st_mode)


def test_a_workspace_that_is_missing_or_a_file_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "missing", tmp_path / "file", tmp_path / "nul\0"):
        with pytest.raises(LaneError):
            put(str(path), NAME, TEXT)
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away: run as root")
def test_a_workspace_of_another_user_is_left_alone(workspace: Path) -> None:
    os.chown(workspace, 12345, 12345)
    with pytest.raises(LaneError, match="another user's"):
        put(str(workspace), NAME, TEXT)
    assert names(workspace) == []


def test_what_a_killed_process_left_half_written_is_swept_and_nothing_else(workspace: Path) -> None:
    (workspace / "memory").mkdir()
    (workspace / ".hidden").write_text("mine")
    for where in (workspace, workspace / "memory"):
        made = os.open(where, os.O_RDONLY)
        killed = f".{NAME}.0123456789ab{folder._NEW}"
        os.close(os.open(killed, os.O_CREAT | os.O_WRONLY, dir_fd=made))
        os.close(made)
    sweep(str(workspace))
    assert names(workspace) == [".hidden", "memory"]
    assert names(workspace / "memory") == []


def test_only_the_two_names_are_the_lane_s_in_whatever_letters() -> None:
    assert all(is_context_file(name) for name in ("FOREWORD.md", "foreword.MD", "./ETHOS_CONTEXT.md"))
    assert not any(is_context_file(name) for name in ("SOUL.md", "FOREWORD.md.txt", "MY_FOREWORD.md", ""))


# The ignore file


@pytest.mark.proves("S6")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"node_modules\n", b"node_modules\n/FOREWORD.md\n"),
        (b"node_modules", b"node_modules\n/FOREWORD.md\n"),
        (b"a\r\nb\r\n", b"a\r\nb\r\n/FOREWORD.md\r\n"),
        (b"\xff\xfe not text\n", b"\xff\xfe not text\n/FOREWORD.md\n"),
        (b"FOREWORD.md\n*.log\n", b"FOREWORD.md\n*.log\n"),
        (b"  /FOREWORD.md  \n", b"  /FOREWORD.md  \n"),
        (b"", b"/FOREWORD.md\n"),
    ],
)
def test_the_file_is_listed_once_and_every_other_byte_is_kept(workspace: Path, before: bytes, after: bytes) -> None:
    (workspace / ".gitignore").write_bytes(before)
    (workspace / ".gitignore").chmod(0o640)
    put(str(workspace), NAME, TEXT)
    put(str(workspace), NAME, "")
    assert (workspace / ".gitignore").read_bytes() == after
    assert stat.S_IMODE((workspace / ".gitignore").stat().st_mode) == 0o640


@pytest.mark.proves("S6")
def test_git_itself_does_not_see_the_file(workspace: Path) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    inner = workspace / "agents" / "main"
    inner.mkdir(parents=True)
    for where in (workspace, inner):
        put(str(where), NAME, TEXT)
    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=workspace, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert [line for line in seen if line] == ["?? .gitignore", "?? agents/main/.gitignore"]


def test_outside_a_git_worktree_no_ignore_file_is_made(workspace: Path) -> None:
    put(str(workspace), NAME, TEXT)
    assert names(workspace) == [NAME]


@pytest.mark.proves("S6")
def test_a_workspace_that_becomes_a_repository_later_does_not_show_the_file_to_git(workspace: Path) -> None:
    put(str(workspace), NAME, TEXT)
    put(str(workspace), NAME, "")
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    put(str(workspace), NAME, TEXT)
    seen = subprocess.run(["git", "status", "--short"], cwd=workspace, check=True, capture_output=True, text=True)
    assert seen.stdout.split() == ["??", ".gitignore"]


def test_an_ignore_file_that_is_a_link_keeps_the_context_file_from_being_made(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("a\n")
    (workspace / ".gitignore").symlink_to(tmp_path / "shared")
    with pytest.raises(LaneError, match=r"\.gitignore is a link"):
        put(str(workspace), NAME, TEXT)
    assert (tmp_path / "shared").read_text() == "a\n"
    assert names(workspace) == [".gitignore"]


# The journal


def section(key: str = "agent:main:main", text: str = "The port is 5433.", row: int = 1, query: str = "Which?") -> str:
    return journal_section([Snippet(Memory(text, row=row, at=NOON), text, 0.89)], session=key, query=query, at=NOON)


@pytest.fixture
def notes(workspace: Path) -> Path:
    return workspace / "memory" / "2026-03-04.md"


@pytest.mark.proves("D8")
def test_a_session_is_in_the_journal_once(workspace: Path, notes: Path) -> None:
    assert add(str(workspace), "2026-03-04", section())
    assert not add(str(workspace), "2026-03-04", section(text="Another brief of the same session."))
    assert notes.read_text() == section()
    assert add(str(workspace), "2026-03-04", section("agent:main:other"))
    assert add(str(workspace), "2026-03-05", section())
    assert notes.read_text() == section() + "\n" + section("agent:main:other")
    assert stat.S_IMODE(notes.stat().st_mode) == 0o600


@pytest.mark.proves("D8")
@pytest.mark.parametrize("before", [b"# Today\n\nRowed.\n", b"no end", b"a\r\nb\r\n", b"\xff not text\n", b"\n\n"])
def test_the_user_s_own_bytes_are_kept(workspace: Path, notes: Path, before: bytes) -> None:
    notes.parent.mkdir()
    notes.write_bytes(before)
    notes.chmod(0o644)
    add(str(workspace), "2026-03-04", section())
    assert notes.read_bytes().startswith(before)
    assert notes.read_bytes().endswith(section().encode())
    assert stat.S_IMODE(notes.stat().st_mode) == 0o644
    assert take_out(str(workspace), lambda one: True) == (1, [])
    assert notes.read_bytes().rstrip(b"\n") == before.rstrip(b"\n")


@pytest.mark.proves("D8", "D11")
def test_many_at_once_lose_no_section(workspace: Path, notes: Path) -> None:
    keys = [f"agent:main:{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda key: add(str(workspace), "2026-03-04", section(key)), [*keys, *keys]))
    assert sum(added) == 40
    written = notes.read_text()
    assert all(written.count(frames.journal_mark(key) + "\n") == 1 for key in keys)
    assert without_sections(written).strip() == ""


def test_what_is_written_beside_us_without_a_lock_is_kept(workspace: Path, notes: Path) -> None:
    notes.parent.mkdir()
    notes.write_text("mine\n")
    here = os.open(notes.parent, os.O_RDONLY)
    beside = iter(["one\n", "two\n"])

    def changed(before: bytes) -> bytes:
        with notes.open("a") as file:
            file.write(next(beside, ""))
        return before + b"ours\n"

    assert journal._change(here, notes.name, changed)
    os.close(here)
    assert notes.read_text() == "mine\none\ntwo\nours\n"
    assert names(notes.parent) == [notes.name]


def test_notes_that_are_a_link_or_lie_behind_one_are_left_alone(workspace: Path, tmp_path: Path, notes: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "memory").symlink_to(outside)
    with pytest.raises(LaneError):
        add(str(workspace), "2026-03-04", section())
    assert take_out(str(workspace), lambda one: True) == (0, [])
    (workspace / "memory").unlink()
    (workspace / "memory").mkdir()
    (outside / "day.md").write_text("mine")
    notes.symlink_to(outside / "day.md")
    with pytest.raises(LaneError, match="is a link"):
        add(str(workspace), "2026-03-04", section())
    assert (outside / "day.md").read_text() == "mine"


@pytest.mark.proves("D8")
def test_a_section_is_known_and_is_no_part_of_what_may_be_indexed() -> None:
    assert is_section(section())
    assert is_section("\n" + section())
    assert not is_section("## Recalled memory\n\nmy own words\n")
    mine = "# Today\n\nRowed.\n"
    assert without_sections(mine + section() + "More.\n") == mine + "More.\n"
    assert strip_frames(mine + section() + "More.\n").replace("\n", "") == (mine + "More.\n").replace("\n", "")


def test_a_section_that_lost_its_end_takes_no_word_of_the_user_s_along() -> None:
    cut = section().replace(frames.JOURNAL_END + "\n", "")
    assert without_sections(cut + "My own words.\n1. mine\n") == "My own words.\n1. mine\n"
    assert without_sections(cut + section("b")) == ""


def test_only_what_holds_the_memory_is_taken_out(workspace: Path, notes: Path) -> None:
    for number in (1, 2):
        add(str(workspace), "2026-03-04", section(f"agent:main:{number}", row=number))
    assert take_out(str(workspace), lambda one: "`m1`" in one) == (1, [])
    assert frames.journal_mark("agent:main:1") not in notes.read_text()
    assert section("agent:main:2", row=2) in notes.read_text()


@pytest.mark.proves("D8")
@given(key=st.text(max_size=60), other=st.text(max_size=60))
def test_no_session_key_ends_the_comment_it_stands_in(key: str, other: str) -> None:
    key, other = (one.encode("utf-8", "replace").decode() for one in (key, other))
    mark = frames.journal_mark(key)
    inner = mark.removeprefix(frames.JOURNAL_BEGIN).removesuffix(" -->")
    assert not {"<", ">", "!", "\n", "\r", " "} & set(inner)
    assert "--" not in inner
    assert len(mark.splitlines()) == 1
    assert (mark == frames.journal_mark(other)) == (key == other)


@pytest.mark.proves("B5", "S6")
def test_a_file_is_replaced_also_while_others_sweep_the_folder(tmp_path: Path) -> None:
    done = threading.Event()

    def sweeps() -> None:
        while not done.is_set():
            sweep(str(tmp_path))

    with ThreadPoolExecutor(2) as pool:
        sweeping = [pool.submit(sweeps) for _ in range(2)]
        try:
            for number in range(100):
                put(str(tmp_path), "FOREWORD.md", f"{frames.CONTEXT_BEGIN} {number} -->\n")
                put(str(tmp_path), "FOREWORD.md", "")
        finally:
            done.set()
        for one in sweeping:
            one.result()
    assert (tmp_path / "FOREWORD.md").read_bytes() == b""
