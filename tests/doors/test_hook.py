"""The hook client as a host starts it: the right words in its shape, or nothing, exit 0, and a line for doctor."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.doors.conftest import FOREWORD, Daemon, wait_until

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hooks"
FACT = "The staging database listens on port 5433, production on 5432."
ASK = "Which port does the staging database listen on?"


def _document(host: str, event: str, **changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FIXTURES / host / f"{event}.json").read_text())
    return {**document, **changes}


def _told(daemon: Daemon, host: str = "claude-code") -> None:
    daemon.call("ingest", content=FACT, agent=host, session=f"agent:{host}:earlier")


def _silent(done: subprocess.CompletedProcess[bytes]) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.proves("L1")
@pytest.mark.parametrize(
    ("host", "event"),
    [
        ("claude-code", "UserPromptSubmit"),
        ("codex", "UserPromptSubmit"),
        ("gemini", "BeforeAgent"),
        ("copilot", "userPromptSubmitted"),
    ],
)
def test_the_words_arrive_on_this_very_turn_in_the_hosts_shape(daemon: Daemon, host: str, event: str) -> None:
    _told(daemon.patient(), host)
    done = daemon.hook(host, event, _document(host, event, prompt=ASK))
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout)
    if host == "copilot":
        assert "5433" in answer["additionalContext"]
    else:
        assert answer["hookSpecificOutput"]["hookEventName"] == event
        assert "5433" in answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.proves("L3", "L8")
def test_a_turn_with_nothing_to_say_prints_nothing(daemon: Daemon) -> None:
    _told(daemon.patient())
    _silent(
        daemon.hook("claude-code", "UserPromptSubmit", _document("claude-code", "UserPromptSubmit", prompt="hello"))
    )
    _silent(daemon.hook("claude-code", "SessionEnd", _document("claude-code", "SessionEnd")))
    _silent(daemon.hook("claude-code", "AnEventOfTomorrow", {"session_id": "s1"}))
    assert not daemon.address.failures.exists(), "silence is not a failure"


def test_what_was_said_is_recorded_and_not_given_back_to_the_same_conversation(daemon: Daemon) -> None:
    daemon.patient()
    prompt = _document("claude-code", "UserPromptSubmit", prompt="Maya's cat is called Biscuit, by the way.")
    daemon.hook("claude-code", "UserPromptSubmit", prompt)
    daemon.hook("claude-code", "Stop", _document("claude-code", "Stop"))
    wait_until(lambda: daemon.call("status")["memories"] == 2)
    asked = {"prompt": "What is Maya's cat called?", "prompt_id": "another"}
    _silent(daemon.hook("claude-code", "UserPromptSubmit", {**prompt, **asked}))
    later = daemon.hook("claude-code", "UserPromptSubmit", {**prompt, **asked, "session_id": "the next day"})
    assert b"Biscuit" in later.stdout


@pytest.mark.proves("L6", "L8")
def test_neither_injected_words_nor_memory_tools_are_recorded(daemon: Daemon) -> None:
    _told(daemon.patient())
    given = daemon.hook("claude-code", "UserPromptSubmit", _document("claude-code", "UserPromptSubmit", prompt=ASK))
    text = json.loads(given.stdout)["hookSpecificOutput"]["additionalContext"]
    wait_until(lambda: daemon.call("status")["memories"] == 2)
    daemon.hook("claude-code", "Stop", _document("claude-code", "Stop", last_assistant_message=text))
    tool = _document("claude-code", "PostToolUse", tool_name="mcp__foreword__mem-search", tool_response=text)
    daemon.hook("claude-code", "PostToolUse", tool)
    assert daemon.call("status")["memories"] == 2


@pytest.mark.proves("S8", "L8")
def test_a_hook_that_finds_no_daemon_starts_one_and_still_gets_its_brief(daemon: Daemon) -> None:
    _told(daemon.patient())
    daemon.client.stop()
    wait_until(lambda: not daemon.processes())
    done = daemon.hook("claude-code", "UserPromptSubmit", _document("claude-code", "UserPromptSubmit", prompt=ASK))
    assert b"5433" in done.stdout
    assert daemon.process


@pytest.mark.proves("S8", "L8")
def test_a_daemon_that_hangs_costs_the_deadline_and_no_more(daemon: Daemon, run: Any) -> None:
    _told(daemon)
    os.kill(daemon.process, signal.SIGSTOP)
    try:
        started = time.monotonic()
        _silent(
            daemon.hook("claude-code", "UserPromptSubmit", _document("claude-code", "UserPromptSubmit", prompt=ASK))
        )
        assert time.monotonic() - started < 5, "a host waits thirty seconds and more where nothing stops it"
    finally:
        os.kill(daemon.process, signal.SIGCONT)
    checks = run("doctor", "--json", "--home", str(daemon.home)).data["checks"]
    (line,) = [one for one in checks if one["name"] == "hooks"]
    assert "claude-code UserPromptSubmit: the daemon did not answer in time" in line["found"]
    assert line["state"] == "warn"


def test_the_settings_say_how_long_a_hook_waits(daemon: Daemon) -> None:
    daemon.environ.update(FOREWORD_SERVE_DEADLINE_MS="1234", FOREWORD_SERVE_COLD_DEADLINE_MS="4321")
    daemon.client = type(daemon.client)(daemon.address, daemon.environ)
    daemon.call("status")
    assert daemon.address.deadlines.read_text() == "1234 4321\n"


@pytest.mark.proves("S8")
@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 500 No\r\n\r\noops", b"\xff\xfe garbage", b"HTTP/1.1 200 OK\r\n"])
def test_an_answer_that_is_none_is_silence(daemon: Daemon, answer: bytes) -> None:
    daemon.address.make()
    daemon.address.deadlines.write_text("3000 3000\n")
    with _pretender(daemon, answer):
        done = daemon.hook("claude-code", "UserPromptSubmit", b"{}")
    _silent(done)
    if not answer.startswith(b"HTTP/1.1 200"):
        assert daemon.address.failures.read_text().count("\n") == 1


class _pretender:
    """Somebody else on the daemon's socket, who answers anything with the same bytes."""

    def __init__(self, daemon: Daemon, answer: bytes) -> None:
        self._answer = answer
        self._line = socket.socket(socket.AF_UNIX)
        before = os.getcwd()
        os.chdir(daemon.address.folder)
        self._line.bind("daemon.sock")
        os.chdir(before)
        self._line.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        try:
            other, _ = self._line.accept()
        except OSError:
            return
        with other:
            other.recv(65536)
            other.sendall(self._answer)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._line.close()
        self._thread.join(5)


@pytest.mark.proves("S8")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["claude-code", "UserPromptSubmit"], b"this is no JSON"),
        (["claude-code", "UserPromptSubmit"], b"\xff\xfe\x00"),
        (["claude-code", "UserPromptSubmit"], b"[]"),
        (["claude-code", "UserPromptSubmit"], b"{}"),
        (["claude-code", "UserPromptSubmit"], b""),
        (["nobody", "UserPromptSubmit"], b"{}"),
        (["no body", "../../x y"], b"{}"),
        (["claude-code"], b"{}"),
        ([], b"{}"),
    ],
)
def test_whatever_is_wrong_the_host_is_told_nothing_and_doctor_everything(
    daemon: Daemon, arguments: list[str], said: bytes
) -> None:
    daemon.patient().client.start()
    done = subprocess.run(
        [FOREWORD, "hook", *arguments], input=said, capture_output=True, env=daemon.environ, timeout=60, check=False
    )
    _silent(done)
    line = daemon.address.failures.read_text()
    assert line.count("\n") == 1
    assert len(line.split("\t")) == 4
    assert "Traceback" not in line


@pytest.mark.proves("S8")
def test_a_home_that_cannot_be_made_is_silence_too(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    daemon.environ["FOREWORD_HOME"] = str(tmp_path / "file" / "home")
    started = time.monotonic()
    _silent(daemon.hook("claude-code", "UserPromptSubmit", b"{}"))
    assert time.monotonic() - started < 10


def test_a_host_that_reads_nothing_does_not_break_it(daemon: Daemon) -> None:
    _told(daemon.patient())
    document = json.dumps(_document("claude-code", "UserPromptSubmit", prompt=ASK)).encode()
    process = subprocess.Popen(
        [FOREWORD, "hook", "claude-code", "UserPromptSubmit"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=daemon.environ,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stdin is not None
    process.stdin.write(document)
    process.stdin.close()
    assert process.wait(30) == 0


def test_failures_do_not_pile_up(daemon: Daemon) -> None:
    daemon.patient().client.start()
    daemon.address.failures.write_text("x" * 80_000)
    _silent(daemon.hook("nobody", "Nothing", b"{}"))
    _silent(daemon.hook("nobody", "Nothing", b"{}"))
    assert daemon.address.failures.stat().st_size < 10_000
    assert daemon.address.failures.stat().st_mode & 0o077 == 0


def test_the_launcher_is_found_through_links_and_from_any_folder(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "foreword").symlink_to(FOREWORD)
    (tmp_path / "fw").symlink_to("bin/foreword")
    # A folder that would be imported from, if the current folder counted.
    trap = tmp_path / "trap"
    (trap / "foreword").mkdir(parents=True)
    (trap / "foreword" / "__init__.py").write_text("raise SystemExit('the trap was imported')")
    for program in (tmp_path / "bin" / "foreword", tmp_path / "fw"):
        ran = subprocess.run([program, "--version"], capture_output=True, cwd=trap, check=True)
        assert ran.stdout.startswith(b"foreword ")
    daemon.patient()
    done = subprocess.run(
        [tmp_path / "fw", "hook", "claude-code", "SessionEnd"],
        input=b'{"session_id": "s"}',
        capture_output=True,
        cwd=trap,
        env=daemon.environ,
        check=False,
    )
    _silent(done)
    assert daemon.call("status")["memories"] == 0


def test_the_verb_of_the_program_reaches_the_same_client(daemon: Daemon) -> None:
    _told(daemon.patient())
    done = subprocess.run(
        [sys.executable, "-m", "foreword", "--home", str(daemon.home), "hook", "claude-code", "UserPromptSubmit"],
        input=json.dumps(_document("claude-code", "UserPromptSubmit", prompt=ASK)).encode(),
        capture_output=True,
        check=False,
    )
    assert b"5433" in done.stdout
    helped = subprocess.run([FOREWORD, "hook", "--help"], capture_output=True, check=True)
    assert b"HOST EVENT" in helped.stdout


def test_the_client_and_the_engine_agree_on_where_the_daemon_is(daemon: Daemon, tmp_path: Path) -> None:
    """The rule is written twice, because the client cannot import the other."""
    from foreword.serve.address import address

    code = "import sys, posix; sys.path.insert(0, sys.argv[1]); import foreword_hook as hook"
    code += "; sys.stdout.buffer.write(hook.run_folder(posix.environ))"
    user = {"HOME": str(tmp_path / "user")}
    cases: list[dict[str, str]] = [
        user,
        {**user, "XDG_DATA_HOME": str(tmp_path / "data")},
        {**user, "FOREWORD_HOME": str(tmp_path / "home")},
        {**user, "FOREWORD_HOME": "~/memories"},
        {**user, "FOREWORD_HOME": "memories"},
        {**user, "FOREWORD_CONFIG": str(tmp_path / "wörk.toml")},
    ]
    for environ in cases:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-E", "-c", code, str(Path(FOREWORD).parent)],
            env=environ,
            capture_output=True,
            cwd=tmp_path,
            check=True,
        )
        told = subprocess.run(
            [
                sys.executable,
                "-c",
                "import os; from foreword.serve.address import address as a; print(a(os.environ).folder)",
            ],
            env=environ,
            capture_output=True,
            cwd=tmp_path,
            check=True,
        )
        assert ran.stdout == told.stdout.strip(), environ
    assert address(user).folder.name == "run"


def test_only_what_is_part_of_the_interpreter_is_imported_on_the_way() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import foreword_hook, _socket; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-E", "-c", code, str(Path(FOREWORD).parent)]
    loaded = set(subprocess.run(command, capture_output=True, check=True).stdout.decode().split())
    assert not loaded & {"os", "re", "json", "socket", "subprocess", "pathlib", "site", "foreword", "numpy"}


@pytest.mark.proves("S1", "S8")
def test_a_prompt_is_kept_and_nothing_counts_as_said_when_the_hook_could_not_wait(daemon: Daemon) -> None:
    _told(daemon)
    prompt = _document("claude-code", "UserPromptSubmit", prompt=ASK)
    os.kill(daemon.process, signal.SIGSTOP)
    _silent(daemon.hook("claude-code", "UserPromptSubmit", prompt))
    os.kill(daemon.process, signal.SIGCONT)
    # The prompt and the receipt are kept each in its own time.
    wait_until(lambda: daemon.call("status")["memories"] == 2)
    wait_until(lambda: daemon.call("status")["turns"] == 1)
    assert "too late" in daemon.call("why")["explanation"]
    again = {**prompt, "prompt": "And which port is it that the staging database listens on?", "prompt_id": "p2"}
    daemon.patient()
    assert b"5433" in daemon.hook("claude-code", "UserPromptSubmit", again).stdout


def test_a_host_that_never_ends_its_input_is_not_waited_for(daemon: Daemon) -> None:
    daemon.client.start()
    process = subprocess.Popen(
        [FOREWORD, "hook", "claude-code", "UserPromptSubmit"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=daemon.environ,
    )
    assert process.stdin is not None
    process.stdin.write(b'{"session_id": "s1"')
    process.stdin.flush()
    assert process.wait(10) == 0
    assert "did not end its input" in daemon.address.failures.read_text()


@pytest.mark.proves("B9")
def test_many_hooks_cold_at_once_start_one_daemon(daemon: Daemon) -> None:
    daemon.patient()
    document = json.dumps(_document("claude-code", "UserPromptSubmit", prompt=ASK)).encode()
    most = 0
    hooks = [
        subprocess.Popen(
            [FOREWORD, "hook", "claude-code", "UserPromptSubmit"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=daemon.environ,
        )
        for _ in range(12)
    ]
    for one in hooks:
        assert one.stdin is not None
        one.stdin.write(document)
        one.stdin.close()
    while any(one.poll() is None for one in hooks):
        most = max(most, _daemons(daemon))
        time.sleep(0.02)
    assert [one.returncode for one in hooks] == [0] * 12
    assert most <= 2, "the one that detaches and its parent, for a moment"
    for one in hooks:
        assert one.stdout is not None
        one.stdout.close()
    assert not daemon.address.failures.exists()


def _daemons(daemon: Daemon) -> int:
    found = 0
    for process in daemon.processes():
        try:
            found += b"foreword.serve.daemon" in Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
    return found


def test_a_home_named_after_the_verb_is_the_one_that_is_used(daemon: Daemon, tmp_path: Path) -> None:
    daemon.patient()
    elsewhere = Daemon(tmp_path / "elsewhere")
    done = subprocess.run(
        [FOREWORD, "hook", "claude-code", "UserPromptSubmit", "--home", str(elsewhere.home)],
        input=json.dumps(_document("claude-code", "UserPromptSubmit", prompt=ASK)).encode(),
        capture_output=True,
        env=daemon.environ,
        check=False,
    )
    _silent(done)
    try:
        wait_until(lambda: elsewhere.call("status")["memories"] == 1)
        assert not (daemon.home / "foreword.db").exists()
    finally:
        elsewhere.client.stop()


def test_a_folder_of_somebody_else_is_told_nothing(daemon: Daemon) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can make a folder somebody else's")
    daemon.address.make()
    os.chown(daemon.address.folder, 65534, 65534)
    with _pretender(daemon, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"):
        _silent(daemon.hook("claude-code", "UserPromptSubmit", b'{"prompt": "my secret plans"}'))
    assert not daemon.address.failures.exists()
    with pytest.raises(Exception, match=r"somebody else's|not a folder of yours"):
        daemon.call("status")


def test_a_failure_is_noted_also_where_no_daemon_ever_ran(daemon: Daemon, tmp_path: Path) -> None:
    """An interpreter without Foreword: the daemon cannot start, and that is told."""
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in ("foreword", "foreword_hook.py"):
        (alone / name).write_text(Path(FOREWORD).with_name(name).read_text())
    (alone / "foreword").chmod(0o755)
    (alone / "foreword-daemon").write_text(f"#!{os.path.realpath(sys.executable)}\n")
    done = subprocess.run(
        [alone / "foreword", "hook", "claude-code", "Stop"],
        input=b"{}",
        capture_output=True,
        env=daemon.environ,
        check=False,
    )
    _silent(done)
    assert "did not start in time" in daemon.address.failures.read_text()
    assert daemon.address.folder.stat().st_mode & 0o077 == 0
    assert daemon.home.stat().st_mode & 0o077 == 0
