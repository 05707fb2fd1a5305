"""Vaults by the command line, and followed by a real daemon."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doors.conftest import Daemon, Ran, wait_until

KEY = "# Boat House\n\nThe spare key of the boat house hangs behind the oars.\n"
ASK = "Where does the spare key of the boat house hang?"


def write(file: Path, text: str, *, age_s: float = 3600) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    at = time.time() - age_s
    os.utime(file, (at, at))


# The command line


@pytest.mark.proves("D4")
def test_a_vault_is_added_listed_checked_and_removed(run: Callable[..., Ran], folder: Path) -> None:
    notes = folder / "notes"
    write(notes / "boat.md", KEY)
    write(notes / "two.md", "second")
    assert "no vault yet" in run("vault", "list").out
    rehearsed = run("vault", "add", "notes", "--dry-run")
    assert "2 notes, 0.0 MB: 2 chunks would be kept" in rehearsed.out
    assert run("vault", "list", "--json").data == {"vaults": []}
    added = run("vault", "add", "notes", "--agent", "ada", "--json").data
    assert (added["name"], added["files"], added["added"], added["agent"]) == ("notes", 2, 2, "ada")
    assert "behind the oars" in run("brief", ASK, "--session", "agent:ada:a").out
    assert "nothing changed" in run("vault", "check").out
    write(notes / "two.md", "mended", age_s=60)
    (notes / "boat.md").unlink()
    assert "1 note: 1 read, 1 gone" in run("vault", "check", "notes").out
    listed = run("vault", "list").out
    assert "ada, private" in listed
    assert run("status", "--json").data["by_kind"] == {"chunk": 1}
    removed = run("vault", "remove", "notes")
    assert "1 chunk forgotten" in removed.out
    assert run("status", "--json").data["memories"] == 0
    assert (notes / "two.md").read_text() == "mended"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("add",), 2, "add needs a folder"),
        (("add", "missing"), 2, "does not exist"),
        (("add", "/"), 2, "far more than notes"),
        (("remove",), 2, "remove needs a name"),
        (("remove", "x"), 1, "There is no vault x. There is none."),
        (("check", "x"), 1, "There is no vault x."),
        (("list", "x"), 2, "list takes no name"),
        (("check", "--dry-run"), 2, "--dry-run does not belong to check"),
        (("list", "--agent", "a"), 2, "--agent does not belong to list"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_next_step(
    run: Callable[..., Ran], arguments: tuple[str, ...], code: int, words: str
) -> None:
    ran = run("vault", *arguments)
    assert (ran.code, words in ran.err) == (code, True), ran.err


def test_doctor_has_a_line_for_everything_that_is_left_out(run: Callable[..., Ran], folder: Path) -> None:
    notes = folder / "notes"
    write(notes / "good.md", "good")
    write(notes / "huge.md", "x")
    os.truncate(notes / "huge.md", 100_000_000)
    (notes / "loop").symlink_to(notes)
    (notes / "bad.md").write_bytes(b"\xff\xfe\0")
    os.utime(notes / "bad.md", (1000, 1000))
    write(notes / "long.md", "\n\n".join(f"# {number}\n\nx" for number in range(300)))
    added = run("vault", "add", "notes")
    assert added.code == 0
    told = run("doctor").out
    for line in (
        "notes: 2 notes, 201 chunks",
        "notes leaves out huge.md: larger than 2 MB",
        "notes leaves out bad.md: not text in UTF-8",
        "notes leaves out loop: a link, which is not followed",
        "notes leaves out long.md: only its first 200 chunks are kept",
    ):
        assert line in told
    shutil.rmtree(notes)
    assert run("vault", "check").code == 1
    assert "cannot be read" in run("doctor").out


def test_progress_is_shown_on_a_terminal(terminal: Callable[..., Ran], folder: Path) -> None:
    # Enough for any machine: nothing is shown of what is done within a second.
    for number in range(700):
        write(folder / "notes" / f"{number}.md", f"# Note {number}\n\n" + f"The boat {number} is blue. " * 300)
    ran = terminal("vault", "add", "notes")
    assert ran.code == 0
    assert re.search(r"\[#* *\] read \d+ of 700 \(", ran.out)


# The daemon


@pytest.fixture
def notes(daemon: Daemon, tmp_path: Path) -> Path:
    """A vault of the daemon's home that the daemon follows by now."""
    folder = tmp_path / "notes"
    write(folder / "sub" / "boat.md", KEY)
    foreword(daemon, "vault", "add", str(folder))
    daemon.client.start()
    followed(daemon)
    return folder


def foreword(daemon: Daemon, *arguments: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "foreword", *arguments], env=daemon.environ, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def followed(daemon: Daemon, vaults: int = 1) -> None:
    wait_until(lambda: (daemon.client.about() or {})["vaults"]["vaults"] == vaults)


def found(daemon: Daemon, word: str) -> list[str]:
    """The files in which the word is found."""
    results = daemon.call("search", query=word, limit=20)["results"]
    return sorted({one["metadata"]["files"][0] for one in results if word in one["content"]})


@pytest.mark.proves("D4")
def test_a_daemon_follows_what_is_saved_renamed_and_deleted(daemon: Daemon, notes: Path) -> None:
    (notes / "new.md").write_text("A quokka lives here.")
    wait_until(lambda: found(daemon, "quokka") == ["new.md"])
    # As many editors save: another file, renamed onto the note.
    (notes / "new.md.tmp").write_text("A wombat lives here.")
    (notes / "new.md.tmp").rename(notes / "new.md")
    wait_until(lambda: found(daemon, "wombat") == ["new.md"])
    assert found(daemon, "quokka") == []
    (notes / "new.md").rename(notes / "sub" / "other.md")
    wait_until(lambda: found(daemon, "wombat") == ["sub/other.md"])
    (notes / "sub" / "other.md").unlink()
    wait_until(lambda: found(daemon, "wombat") == [])
    assert "oars" in daemon.call("brief", text=ASK, session="agent:main:a")["text"]


@pytest.mark.proves("D4")
def test_folders_that_come_and_go_are_followed(daemon: Daemon, notes: Path) -> None:
    (notes / "deep" / "er").mkdir(parents=True)
    (notes / "deep" / "er" / "a.md").write_text("A quokka lives here.")
    wait_until(lambda: found(daemon, "quokka") == ["deep/er/a.md"])
    (notes / "deep" / "er" / "b.md").write_text("A wombat lives here.")
    wait_until(lambda: found(daemon, "wombat") == ["deep/er/b.md"])
    (notes / "deep").rename(notes / "deeper")
    wait_until(lambda: found(daemon, "wombat") == ["deeper/er/b.md"])
    shutil.rmtree(notes / "deeper")
    wait_until(lambda: found(daemon, "quokka") == [])


def test_a_vault_that_goes_and_comes_back_is_followed_again_and_nothing_of_it_is_lost(
    daemon: Daemon, notes: Path
) -> None:
    notes.rename(notes.with_name("away"))
    wait_until(lambda: (daemon.client.about() or {})["vaults"]["folders"] == 0)
    assert found(daemon, "oars") == ["sub/boat.md"]
    (notes.with_name("away") / "new.md").write_text("A quokka lives here.")
    notes.with_name("away").rename(notes)
    wait_until(lambda: found(daemon, "quokka") == ["new.md"])


def test_a_note_that_grows_slowly_is_read_when_it_is_whole(daemon: Daemon, notes: Path) -> None:
    seen: set[str] = set()
    with (notes / "slow.md").open("w") as file:
        for number in range(12):
            file.write(f"part{number} quokka\n")
            file.flush()
            time.sleep(0.1)
            seen.update(one["content"] for one in daemon.call("search", query="quokka")["results"])
    wait_until(lambda: found(daemon, "part11") == ["slow.md"])
    assert not any("quokka" in text and "part11" not in text for text in seen), "half of it was read"


def test_a_vault_that_is_added_or_removed_meanwhile_is_noticed(daemon: Daemon, notes: Path, tmp_path: Path) -> None:
    write(tmp_path / "second" / "b.md", "beta")
    foreword(daemon, "vault", "add", str(tmp_path / "second"))
    followed(daemon, 2)
    (tmp_path / "second" / "c.md").write_text("A quokka lives here.")
    wait_until(lambda: found(daemon, "quokka") == ["c.md"])
    foreword(daemon, "vault", "remove", "second")
    followed(daemon, 1)
    assert found(daemon, "quokka") == []


@pytest.mark.proves("B9")
def test_what_changed_while_no_daemon_ran_is_found_by_the_next_and_none_is_kept_alive(
    daemon: Daemon, tmp_path: Path
) -> None:
    daemon.environ["FOREWORD_SERVE_IDLE_MINUTES"] = "0.1"
    daemon.patient()
    folder = tmp_path / "notes"
    write(folder / "a.md", KEY)
    foreword(daemon, "vault", "add", str(folder))
    daemon.client.start()
    while daemon.client.holder() is not None:
        # Notes that change are nobody who asks.
        (folder / "b.md").write_text(f"A quokka lives here since {time.monotonic()}.")
        time.sleep(0.2)
    wait_until(lambda: daemon.processes() == [])
    (folder / "a.md").unlink()
    (folder / "b.md").write_text("A wombat lives here.")
    daemon.environ["FOREWORD_SERVE_IDLE_MINUTES"] = "5"
    daemon.patient()
    wait_until(lambda: found(daemon, "wombat") == ["b.md"])
    assert found(daemon, "oars") == []


@pytest.mark.parametrize("limit", ["watches", "instances"])
def test_where_no_folder_can_be_watched_they_are_looked_through_and_doctor_says_so(
    daemon: Daemon, tmp_path: Path, limit: str
) -> None:
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces are not allowed here, so no limit can be set: allow them")
    folder = tmp_path / "notes"
    for number in range(8):
        write(folder / f"f{number}" / "a.md", f"note {number}")
    foreword(daemon, "vault", "add", str(folder))
    # In a user namespace of its own, a process may have a limit of its own.
    number = {"watches": 4, "instances": 0}[limit]
    limited = f"echo {number} > /proc/sys/user/max_inotify_{limit} && exec {shlex.quote(sys.executable)}"
    subprocess.run(
        ["unshare", "-Ur", "sh", "-c", f"{limited} -E -P -m foreword.serve.daemon --detach"],
        env=daemon.environ,
        check=True,
        timeout=30,
    )
    wait_until(lambda: "cannot be watched" in (daemon.client.about() or {}).get("vaults", {}).get("problem", ""))
    (folder / "f3" / "b.md").write_text("A quokka lives here.")
    wait_until(lambda: found(daemon, "quokka") == ["f3/b.md"])
    assert "looks through them every few seconds" in foreword(daemon, "doctor").out


def test_following_can_be_switched_off(daemon: Daemon, tmp_path: Path) -> None:
    daemon.environ["FOREWORD_VAULTS_WATCH"] = "false"
    daemon.patient()
    folder = tmp_path / "notes"
    write(folder / "a.md", KEY)
    foreword(daemon, "vault", "add", str(folder))
    daemon.client.start()
    (folder / "b.md").write_text("A quokka lives here.")
    time.sleep(3)
    assert (daemon.client.about() or {})["vaults"]["vaults"] == 0
    assert found(daemon, "quokka") == []
    foreword(daemon, "vault", "check")
    assert found(daemon, "quokka") == ["b.md"]
