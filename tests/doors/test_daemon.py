"""One daemon for each home: started by whoever needs it, gone when nobody does, and nothing lost in between."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foreword.errors import BadInput, DaemonError, StoreDamaged, StoreUnwritable, UnknownId
from foreword.serve.client import Client
from tests.doors.conftest import Daemon, Ran, wait_until

FACT = "The staging database listens on port 5433, production on 5432."
ASK = "Which port does the staging database listen on?"


@pytest.mark.proves("S2", "B9")
def test_whoever_needs_the_daemon_starts_it_and_is_answered_in_the_envelope(daemon: Daemon) -> None:
    assert daemon.client.about() is None
    stored = daemon.call("ingest", content=FACT, session="agent:main:a")
    (result,) = daemon.call("search", query=ASK, limit=5)["results"]
    assert (result["id"], result["content"]) == (stored["id"], FACT)
    assert set(result) == {"id", "content", "score", "metadata", "lanes"}
    assert "5433" in daemon.call("brief", text=ASK, session="agent:main:b")["text"]
    assert daemon.call("status")["daemon"]["process"] == daemon.process


@pytest.mark.proves("B9")
def test_many_who_start_it_at_once_share_one_daemon(daemon: Daemon) -> None:
    clients = [Client(daemon.address, daemon.environ) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda one: one.call("status", {})["daemon"]["process"], clients))
    assert set(told) == {daemon.process}
    wait_until(lambda: daemon.processes() == [daemon.process])


@pytest.mark.proves("B9")
def test_it_starts_no_process_and_has_let_go_of_everything_it_inherited(daemon: Daemon) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    subprocess.run(
        [sys.executable, "-E", "-P", "-m", "foreword.serve.daemon", "--detach"],
        env=daemon.environ,
        pass_fds=[writing],
        check=True,
    )
    os.close(writing)
    daemon.call("ingest", content=FACT)
    os.set_blocking(reading, False)
    assert os.read(reading, 1) == b"", "the pipe is still held open"
    os.close(reading)
    tasks = Path(f"/proc/{daemon.process}/task").iterdir()
    assert all(not (task / "children").read_text() for task in tasks)
    assert os.readlink(f"/proc/{daemon.process}/cwd") == str(daemon.address.folder)
    assert os.getsid(daemon.process) != os.getsid(0)


def test_its_socket_is_the_users_alone(daemon: Daemon) -> None:
    daemon.client.start()
    assert stat.S_IMODE(daemon.address.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(daemon.address.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(daemon.address.log.stat().st_mode) == 0o600


def test_a_folder_that_others_may_look_into_is_closed_to_them(daemon: Daemon) -> None:
    daemon.address.folder.mkdir(parents=True)
    daemon.address.folder.chmod(0o755)
    daemon.client.start()
    assert stat.S_IMODE(daemon.address.folder.stat().st_mode) == 0o700


def test_what_is_not_its_socket_is_left_alone_and_named(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    daemon.address.make()
    daemon.address.socket.write_text("somebody's notes")
    monkeypatch.setattr("foreword.serve.client._START_WITHIN_S", 2.0)
    with pytest.raises(DaemonError, match="is not a socket"):
        daemon.client.start()
    assert daemon.address.socket.read_text() == "somebody's notes"
    wait_until(lambda: not daemon.processes())
    found = _doctor(run, daemon)
    assert "is not a socket" in found["daemon"]["found"]
    assert found["daemon"]["state"] == "fail"


def test_a_socket_left_by_one_that_was_killed_is_taken_over(daemon: Daemon, run: Any) -> None:
    daemon.call("ingest", content=FACT)
    daemon.kill()
    assert daemon.address.socket.is_socket()
    assert "killed" in _doctor(run, daemon)["daemon"]["found"]
    assert daemon.call("status")["memories"] == 1


@pytest.mark.proves("B9")
def test_it_is_gone_when_nobody_has_asked_for_a_while(daemon: Daemon) -> None:
    daemon.environ["FOREWORD_SERVE_IDLE_MINUTES"] = "0.01"
    client = Client(daemon.address, daemon.environ)
    client.call("ingest", {"content": FACT})
    wait_until(lambda: client.holder() is None)
    wait_until(lambda: not daemon.processes())
    assert not daemon.address.socket.exists()
    assert "nobody asked" in daemon.address.log.read_text()
    assert client.call("status", {})["memories"] == 1, "and comes back when somebody does"


@pytest.mark.proves("B9")
def test_down_ends_it_and_nothing_is_left(daemon: Daemon) -> None:
    daemon.call("ingest", content=FACT)
    assert daemon.client.stop()
    wait_until(lambda: not daemon.processes())
    assert not daemon.address.socket.exists()
    assert not daemon.client.stop(), "there was none any more"


@pytest.mark.proves("B9")
def test_one_that_does_not_answer_is_named_and_can_be_ended(daemon: Daemon, run: Any) -> None:
    daemon.call("ingest", content=FACT)
    process = daemon.process
    os.kill(process, signal.SIGSTOP)
    with pytest.raises(DaemonError, match="did not answer within"):
        daemon.client.request("GET", "/health", None, within_s=0.3)
    os.kill(process, signal.SIGCONT)
    assert daemon.client.stop()
    wait_until(lambda: not daemon.processes())


@pytest.mark.proves("D11")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_that_was_acknowledged_is_lost(daemon: Daemon, number: signal.Signals) -> None:
    """Several write at once while it is ended, at a random moment, again and again."""
    acknowledged: set[str] = set()
    rounds = random.Random(number)
    for turn in range(4):
        daemon.call("status")
        stopping = threading.Event()

        def write(writer: int, turn: int = turn, stopping: threading.Event = stopping) -> list[str]:
            kept = []
            for count in range(10_000):
                text = f"Fact {turn}-{writer}-{count}: the depot holds {count} crates."
                try:
                    _, told = daemon.client.request(
                        "POST", "/v1", {"action": "ingest", "payload": {"content": text}}, within_s=10
                    )
                except DaemonError:
                    return kept
                if told["status"] != "ok":
                    return kept
                kept.append(text)
                if stopping.is_set():
                    return kept
            return kept

        with ThreadPoolExecutor(4) as pool:
            writing = [pool.submit(write, writer) for writer in range(4)]
            time.sleep(rounds.uniform(0.1, 0.6))
            os.kill(daemon.process, number)
            wait_until(lambda: daemon.client.holder() is None)
            stopping.set()
            for one in writing:
                acknowledged.update(one.result())
    database = sqlite3.connect(daemon.home / "foreword.db")
    kept = {text for (text,) in database.execute("SELECT text FROM memory")}
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    assert len(acknowledged) > 20
    assert acknowledged <= kept


def test_edited_settings_count_from_the_next_request(daemon: Daemon) -> None:
    daemon.call("ingest", content=FACT)
    assert daemon.call("brief", text=ASK)["text"]
    file = Path(os.environ["XDG_CONFIG_HOME"]) / "foreword" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[turn]\nenabled = false\n")
    silent = daemon.call("brief", text=ASK)
    assert (silent["text"], silent["reason"]) == ("", "injection is switched off")
    file.write_text("[turn]\nenabled = true\n")
    assert daemon.call("brief", text=ASK, session="agent:main:later")["text"]


def test_a_projects_own_settings_hold_for_that_project_alone(daemon: Daemon, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".foreword.toml").write_text("[turn]\nenabled = false\n")
    daemon.call("ingest", content=FACT)
    assert daemon.call("brief", text=ASK, project=str(project), session="agent:main:a")["text"] == ""
    assert daemon.call("brief", text=ASK, project=str(tmp_path), session="agent:main:b")["text"]
    (project / ".foreword.toml").unlink()
    assert daemon.call("brief", text=ASK, project=str(project), session="agent:main:c")["text"]


def test_a_home_that_was_moved_away_is_not_written_to_any_more(daemon: Daemon) -> None:
    daemon.call("ingest", content=FACT)
    for file in list(daemon.home.glob("foreword.db*")):
        file.rename(file.with_name("old-" + file.name))
    daemon.call("ingest", content="Said after the move: the spare key is under the blue pot.")
    assert daemon.call("status")["memories"] == 1
    assert sqlite3.connect(daemon.home / "foreword.db").execute("SELECT count(*) FROM memory").fetchone() == (1,)


@pytest.mark.proves("S8")
def test_a_damaged_home_answers_with_an_error_and_recovers_when_it_is_repaired(daemon: Daemon, run: Any) -> None:
    daemon.home.mkdir(mode=0o700)
    (daemon.home / "foreword.db").write_bytes(b"this is no database at all, " * 400)
    with pytest.raises(StoreDamaged):
        daemon.call("search", query=ASK)
    assert daemon.patient().hook("claude-code", "UserPromptSubmit", _prompt()).stdout == b""
    found = _doctor(run, daemon)
    assert found["database"]["state"] == "fail"
    assert "damaged" in found["hooks"]["found"]
    (daemon.home / "foreword.db").unlink()
    wait_until(lambda: _stored(daemon))


def _stored(daemon: Daemon) -> bool:
    try:
        return bool(daemon.call("ingest", content=FACT)["outcome"] == "stored")
    except StoreDamaged:
        return False


@pytest.mark.proves("S8", "L7")
def test_a_locked_home_means_silence_in_time_and_a_line_for_doctor(daemon: Daemon, run: Any) -> None:
    daemon.call("ingest", content=FACT, agent="claude-code")
    other = sqlite3.connect(daemon.home / "foreword.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    done = daemon.hook("claude-code", "UserPromptSubmit", _prompt())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - started < 8, "not as long as a recording would wait"
    other.execute("ROLLBACK")
    other.close()
    wait_until(lambda: "hooks" in _doctor(run, daemon) and _doctor(run, daemon)["hooks"]["state"] == "warn")


@pytest.mark.proves("L7")
def test_a_model_that_does_not_answer_leaves_the_words_and_the_receipt_says_so(daemon: Daemon) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        nobody.listen()  # and never answers
        daemon.environ.update(
            FOREWORD_EMBEDDER_PROVIDER="ollama", FOREWORD_EMBEDDER_URL=f"http://127.0.0.1:{nobody.getsockname()[1]}"
        )
        daemon.client = Client(daemon.address, daemon.environ)
        daemon.call("ingest", content=FACT)
        started = time.monotonic()
        given = daemon.call("brief", text=ASK, deadline_ms=10_000)
        assert time.monotonic() - started < 9
        assert "5433" in given["text"]
        assert "Words alone answered" in daemon.call("why", receipt=given["receipt"])["explanation"]


_LIMITED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv[1:] = []
runpy.run_module("foreword.serve.daemon", run_name="__main__")
"""


@pytest.mark.proves("S8")
def test_a_full_disk_means_an_error_for_recordings_and_silence_for_hooks(daemon: Daemon) -> None:
    daemon.call("ingest", content=FACT, agent="claude-code")
    daemon.client.stop()
    size = (daemon.home / "foreword.db").stat().st_size
    full = subprocess.Popen(
        [sys.executable, "-c", _LIMITED, str(size + 20_000)],
        env=daemon.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: daemon.client.holder() is not None)
    with pytest.raises(StoreUnwritable):
        _fill(daemon)
    done = daemon.patient().hook("claude-code", "UserPromptSubmit", _prompt())
    assert (done.returncode, done.stderr) == (0, b"")
    assert daemon.call("search", query=ASK, agent="claude-code")["results"], "reading goes on"
    full.terminate()
    assert full.wait(20) == 0


def _fill(daemon: Daemon) -> None:
    for number in range(200):
        daemon.call("ingest", content=f"Crate {number} holds " + "apples and pears " * 40)


def test_errors_come_back_as_what_they_are(daemon: Daemon) -> None:
    with pytest.raises(UnknownId, match="no memory m7"):
        daemon.call("get", ids=["m7"])
    with pytest.raises(BadInput, match="not an action"):
        daemon.call("remember", content=FACT)
    with pytest.raises(BadInput) as caught:
        daemon.call("search", query=ASK, limit=0)
    assert str(caught.value).count("at least one") == 1, "its next step is told once"


def test_the_log_cannot_take_over_the_terminal_it_is_shown_on(daemon: Daemon, run: Any) -> None:
    daemon.address.make()
    daemon.address.log.write_text("2026-01-01T00:00:00Z the server said \x1b]0;owned\x07 and \x1b[2J\n")
    shown = run("logs", "--home", str(daemon.home)).out
    assert "the server said" in shown
    assert "\x1b" not in shown


@pytest.mark.proves("S11")
def test_the_verbs_start_show_and_end_it(daemon: Daemon, run: Any) -> None:
    here = ("--home", str(daemon.home))
    assert run("status", "--json", *here).data["daemon"] is None
    first = run("up", "--json", *here).data
    assert (first["started"], first["socket"]) == (True, str(daemon.address.socket))
    assert "runs already" in run("up", *here).out
    assert run("status", "--json", *here).data["daemon"]["process"] == first["process"]
    assert f"process {first['process']}" in run("logs", *here).out
    assert "A daemon runs already" in run("up", "--foreground", *here).err
    assert run("down", "--json", *here).data == {"ended": True}
    assert run("down", *here).out == "There was no daemon.\n"
    assert daemon.client.holder() is None


def test_who_names_other_settings_has_another_daemon(daemon: Daemon, tmp_path: Path) -> None:
    usual = {name: value for name, value in daemon.environ.items() if name != "FOREWORD_HOME"}
    from foreword.serve.address import address

    work = {**usual, "FOREWORD_CONFIG": str(tmp_path / "work.toml")}
    assert address(usual).folder != address(work).folder
    assert address({**work, "FOREWORD_HOME": str(daemon.home)}).folder == daemon.address.folder


def _prompt() -> dict[str, Any]:
    return json.loads((Path(__file__).parents[1] / "fixtures/hooks/claude-code/UserPromptSubmit.json").read_text()) | {
        "prompt": ASK
    }


def _doctor(run: Any, daemon: Daemon) -> dict[str, Any]:
    ran: Ran = run("doctor", "--json", "--home", str(daemon.home))
    return {one["name"]: one for one in ran.data["checks"]}


def test_a_database_that_is_moved_away_takes_along_what_was_acknowledged(daemon: Daemon) -> None:
    for number in range(5):
        daemon.call("ingest", content=f"Crate {number} holds apples.")
    (daemon.home / "foreword.db").rename(daemon.home / "old.db")
    assert daemon.call("status")["memories"] == 0
    old = sqlite3.connect(daemon.home / "old.db")
    assert old.execute("SELECT count(*) FROM memory").fetchone() == (5,)
    old.close()


def test_settings_that_change_while_they_are_read_count_all_the_same(daemon: Daemon) -> None:
    daemon.call("ingest", content=FACT)
    file = Path(os.environ["XDG_CONFIG_HOME"]) / "foreword" / "config.toml"
    file.parent.mkdir(parents=True)
    for number in range(10):
        file.write_text(f"[turn]\nenabled = true\n# {number}\n")
        asking = threading.Thread(target=lambda: daemon.call("search", query="the staging database"))
        asking.start()
        time.sleep(0.002 * number)
        file.write_text(f"[turn]\nenabled = false\n# {number} and off\n")
        asking.join()
        assert daemon.call("brief", text=ASK, session=f"agent:main:s{number}")["reason"] == "injection is switched off"


@pytest.mark.parametrize("name", ["FOREWORD_HOME", "XDG_DATA_HOME"])
def test_a_relative_name_means_the_folder_it_was_started_in(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from foreword.serve.address import address

    monkeypatch.chdir(tmp_path)
    environ = {key: value for key, value in daemon.environ.items() if key not in ("FOREWORD_HOME", "XDG_DATA_HOME")}
    environ[name] = "somewhere"
    client = Client(address(environ), environ)
    try:
        client.call("ingest", {"content": FACT})
        expected = tmp_path / "somewhere" / ("" if name == "FOREWORD_HOME" else "foreword") / "foreword.db"
        assert sqlite3.connect(expected).execute("SELECT count(*) FROM memory").fetchone() == (1,)
    finally:
        client.stop()


@pytest.mark.proves("B9")
def test_one_whose_folder_is_deleted_ends_by_itself(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon.environ["FOREWORD_SERVE_IDLE_MINUTES"] = "0"
    daemon.client = Client(daemon.address, daemon.environ)
    daemon.call("ingest", content=FACT)
    for file in daemon.address.folder.iterdir():
        file.unlink()
    daemon.address.folder.rmdir()
    wait_until(lambda: not daemon.processes(), within_s=30)


@pytest.mark.proves("B5")
def test_what_is_forgotten_elsewhere_goes_from_its_memory_too(daemon: Daemon, run: Any) -> None:
    daemon.call("ingest", content="The safe in the cellar opens with 48-15-16-23.", session="agent:main:a")
    assert "48-15" in daemon.call("brief", text="How does the safe in the cellar open?", session="agent:main:b")["text"]
    assert run("forget", "m1", "--yes", "--home", str(daemon.home)).code == 0
    again = daemon.call("brief", text="How does the safe in the cellar open?", session="agent:main:b")
    assert again["text"] == ""


def test_the_home_is_the_users_alone_whatever_the_umask(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "deep" / "home")
    before = os.umask(0)
    try:
        daemon.call("ingest", content=FACT)
    finally:
        os.umask(before)
        daemon.client.stop()
    wide = [path for path in (daemon.home, *daemon.home.rglob("*")) if path.stat().st_mode & 0o077]
    assert wide == []


@pytest.mark.proves("P6", "B9")
def test_sessions_are_told_while_nobody_asks_and_that_keeps_no_daemon_alive(daemon: Daemon) -> None:
    daemon.environ.update(FOREWORD_SUMMARY_IDLE_MINUTES="0", FOREWORD_SERVE_IDLE_MINUTES="0.3")
    daemon.client = Client(daemon.address, daemon.environ)
    for words in ("The dinghy leaks at the keel.", "We decided to put in a plank.", "It still needs to be paid."):
        daemon.call("ingest", content=words, session="agent:main:boat")
    holder = daemon.client.holder()
    assert holder
    with sqlite3.connect(f"file:{daemon.home}/foreword.db?mode=ro", uri=True) as database:
        until = time.monotonic() + 60
        while Path(f"/proc/{holder}").exists():
            assert time.monotonic() < until, "the daemon goes on although nobody asks"
            time.sleep(0.2)
        found = database.execute("SELECT text FROM memory WHERE kind = 'summary'").fetchall()
    database.close()
    assert [text.splitlines()[0] for (text,) in found] == ["Asked: The dinghy leaks at the keel."]
