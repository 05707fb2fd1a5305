"""The context file as a real daemon keeps it: true while it answers, empty when it does not."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from foreword.errors import BadInput, StoreBusy
from foreword.store import FILE_NAME
from tests.doors.conftest import Daemon, Ran, wait_until

FACT = "The staging database listens on port 5433, production on 5432."
ASK = "Which port does the staging database listen on?"
MAIN = "agent:main:main"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


@pytest.fixture
def file(daemon: Daemon, workspace: Path) -> Path:
    """The file of a daemon with the lane on, after a turn that gave something."""
    config = workspace.parent / "config.toml"
    config.write_text('profile = "ethos"\n')
    daemon.environ["FOREWORD_CONFIG"] = str(config)
    daemon.patient()
    daemon.call("ingest", content=FACT, session="agent:main:monday")
    answer = daemon.call("bootstrap", session=MAIN, workspace=str(workspace), files=["SOUL.md"])
    assert answer["context_file"] == str(workspace / "ETHOS_CONTEXT.md")
    told = daemon.call("brief", text=ASK, session=MAIN)
    made = Path(answer["context_file"])
    assert FACT in told["text"]
    assert told["file"] == str(made)
    assert FACT in made.read_text()
    return made


@pytest.mark.proves("S6", "S7")
def test_the_daemon_writes_each_turn_s_memories_into_the_session_s_workspace(daemon: Daemon, file: Path) -> None:
    told = daemon.call("brief", text="Good morning to you, how are you today?", session=MAIN)
    assert (told["text"], told["file"]) == ("", "")
    assert file.read_bytes() == b""


@pytest.mark.proves("S8")
def test_a_turn_that_fails_inside_the_daemon_empties_the_file_and_is_logged(daemon: Daemon, file: Path) -> None:
    other = sqlite3.connect(daemon.home / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StoreBusy):
            daemon.call("brief", text="And which port does production listen on?", session=MAIN, deadline_ms=100)
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert file.read_bytes() == b""
    assert "store_busy" in daemon.address.log.read_text()


@pytest.mark.proves("S6", "S8")
@pytest.mark.parametrize("way", ["down", "SIGTERM", "settings"])
def test_who_no_longer_keeps_the_file_true_leaves_it_empty(daemon: Daemon, file: Path, way: str) -> None:
    if way == "down":
        daemon.client.stop()
    elif way == "SIGTERM":
        os.kill(daemon.process, signal.SIGTERM)
    else:
        Path(daemon.environ["FOREWORD_CONFIG"]).write_text("")
        daemon.call("search", query=ASK)
    wait_until(lambda: file.read_bytes() == b"")


@pytest.mark.proves("S6", "S8")
def test_what_a_killed_daemon_left_is_cleared_by_the_next(daemon: Daemon, file: Path, workspace: Path) -> None:
    daemon.kill()
    assert FACT in file.read_text(), "a killed process can do nothing"
    left = workspace / ".ETHOS_CONTEXT.md.0123456789ab.foreword-new"
    left.write_text(FACT)
    daemon.call("search", query=ASK)
    assert file.read_bytes() == b""
    assert not left.exists()


@pytest.mark.proves("S7")
def test_a_relative_workspace_is_refused(daemon: Daemon) -> None:
    with pytest.raises(BadInput, match="absolute"):
        daemon.call("brief", text=ASK, session=MAIN, workspace="workspace")


@pytest.mark.proves("B5")
def test_the_wire_tells_what_forgetting_took_out_of_journals(daemon: Daemon, workspace: Path) -> None:
    daemon.environ["FOREWORD_LANES_JOURNAL"] = "true"
    daemon.patient()
    said = daemon.call("ingest", content=FACT, session="agent:main:monday")
    assert daemon.call("brief", text=ASK, session=MAIN, workspace=str(workspace))["text"]
    (day,) = (workspace / "memory").iterdir()
    assert FACT in day.read_text()
    gone = daemon.call("forget", ids=[said["id"]])
    assert (gone["memories"], gone["sections"], gone["left"]) == (1, 1, [])
    assert "5433" not in day.read_text()


def test_status_and_doctor_tell_which_lanes_are_on_where_and_what_is_wrong(
    run: Callable[..., Ran], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "lanes      runtime\n" in run("status").out
    monkeypatch.setenv("FOREWORD_LANES_HOT", "both")
    monkeypatch.setenv("FOREWORD_LANES_JOURNAL", "1")
    assert "lanes      runtime and FOREWORD.md, and the journal\n" in run("status").out
    run("record", FACT, "--session", "monday")
    told = run("brief", ASK, "--session", "tuesday", "--workspace", str(workspace), "--explain")
    assert "5433" in told.out
    assert f"in {workspace}/FOREWORD.md" in told.err
    assert f"and the journal; last {workspace}/FOREWORD.md\n" in run("status").out
    assert f"FOREWORD.md: {workspace}/FOREWORD.md" in run("doctor").out
    (workspace / "FOREWORD.md").write_text("# Mine\n")
    run("brief", ASK, "--session", "wednesday", "--workspace", str(workspace))
    for verb in ("status", "doctor"):
        assert f"{workspace}/FOREWORD.md was not written by Foreword" in run(verb).out
    assert run("status", "--json").data["lanes"]["problems"]


def test_forget_says_what_went_from_journals_and_what_could_not(
    run: Callable[..., Ran], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREWORD_LANES_JOURNAL", "1")
    for number, (session, code) in enumerate((("one", 0), ("two", 1)), start=1):
        run("record", FACT, "--session", "monday")
        assert "5433" in run("brief", ASK, "--session", session, "--workspace", str(workspace)).out
        (day,) = (workspace / "memory").iterdir()
        if code:
            # The user has put a link in its place, and links are not followed.
            kept = day.read_bytes()
            day.unlink()
            day.symlink_to(workspace / "elsewhere.md")
            (workspace / "elsewhere.md").write_bytes(kept)
        done = run("forget", f"m{number}", "--yes")
        assert done.code == code
        assert ("went from 1 section of journals" in done.out) == (not code)
        assert (f"{day} could not be changed" in done.out) == bool(code)
