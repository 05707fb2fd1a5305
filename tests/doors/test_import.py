"""import and export as people and scripts meet them."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def history(folder: Path) -> Path:
    file = folder / "history.jsonl"
    facts = ("Maya's cat is called Biscuit.", "The staging database listens on 5433.")
    file.write_text("".join(json.dumps({"text": one, "session": "monday", "at": 1772357400}) + "\n" for one in facts))
    return file


@pytest.mark.proves("B8")
def test_a_dry_run_tells_and_changes_nothing_and_the_import_keeps_it(run, history):
    dry = run("import", "jsonl", str(history), "--dry-run", "--json").data
    assert (dry["events"], dry["dry_run"], dry["kinds"]) == (2, True, {"message": 2})
    assert run("status", "--json").data["memories"] == 0
    assert run("import", "jsonl", str(history), "--json").data["stored"] == 2
    assert "Biscuit" in run("search", "What is Maya's cat called?").out
    again = run("import", "jsonl", str(history))
    assert "1 more unchanged" in again.out
    assert run("import", "jsonl", str(history), "--again", "--json").data["known"] == 2


@pytest.mark.proves("B8")
def test_detect_offers_what_is_there_and_imports_nothing(run, folder):
    assert "Nothing was found" in run("import", "detect").out
    kept = folder.parent / "user" / ".claude" / "projects" / "-srv-shop"
    kept.mkdir(parents=True)
    entry = {
        "type": "user",
        "sessionId": "s",
        "cwd": "/srv/shop",
        "promptId": "p",
        "message": {"content": "Brass hinges."},
    }
    (kept / "s.jsonl").write_text(json.dumps(entry) + "\n")
    (found,) = run("import", "detect", "--json").data["found"]
    assert (found["kind"], found["files"]) == ("claude-code", 1)
    assert found["bytes"] > 50
    shown = run("import", "detect")
    assert "foreword import claude-code --dry-run" in shown.out
    assert run("status", "--json").data["memories"] == 0
    assert run("import", "claude-code", "--json").data["stored"] == 1, "without a path, the usual place is read"


def test_a_file_of_another_kind_is_named_with_the_command_for_it(run, folder):
    file = folder / "conversations.json"
    file.write_text(json.dumps([{"id": "c1", "mapping": {}}]))
    wrong = run("import", "claude-code", str(file))
    assert wrong.code == 2
    assert "it looks like ChatGPT's export" in wrong.err
    assert "foreword import chatgpt" in wrong.err


def test_what_is_not_there_or_holds_nothing_is_said_so(run, folder):
    (folder / "empty").mkdir()
    assert "holds no" in run("import", "claude-code", "empty").err
    assert "is not there" in run("import", "claude-code", "missing.jsonl").err
    assert "where they usually are" in run("import", "opencode").err
    assert run("import", "nonsense", "x").code == 2


def test_broken_lines_are_named_and_end_nothing(run, history):
    with history.open("a") as more:
        more.write('{"txt": "misspelt"}\n{"text": "The kiln is teal."}\n{"text": "half a li')
    told = run("import", "jsonl", str(history), "--json")
    assert told.code == 0
    assert (told.data["stored"], told.data["problems"]) == (3, 1)
    assert f"{history}, line 3: 'txt' is not a key of an event. Did you mean 'text'?" in told.data["named"][0]


def test_a_file_that_cannot_be_read_is_a_failure_when_there_is_no_other(run, folder, history):
    broken = folder / "opencode.db"
    broken.write_bytes(b"SQLite format 3\x00" + b"\x00" * 200)
    told = run("import", "opencode", str(broken))
    assert told.code == 2
    assert "cannot be read" in told.err


def test_an_export_is_the_user_s_alone_and_comes_back(run, folder, history):
    run("import", "jsonl", str(history))
    told = run("export", "out.jsonl", "--json").data
    assert told["lines"] == 2
    assert stat.S_IMODE((folder / "out.jsonl").stat().st_mode) == 0o600
    assert run("--home", str(folder / "other"), "import", "jsonl", "out.jsonl", "--json").data["stored"] == 2
    assert [one.name for one in folder.iterdir() if one.name.endswith(".new")] == []


def test_an_export_can_be_read_by_people_and_be_one_agent_s(run, program, history):
    run("import", "jsonl", str(history), "--agent", "main")
    run("record", "Another agent's fact.", "--agent", "other")
    page = program("export", "--format", "markdown")
    assert "## monday (agent main)" in page.out
    assert "> Maya's cat is called Biscuit." in page.out
    assert [json.loads(line)["text"] for line in program("export", "--agent", "other").out.splitlines()] == [
        "Another agent's fact."
    ]
    assert run("export", "--json").code == 2
    assert run("export", ".").code == 2


def test_the_benchmark_imports_all_of_its_messages_and_tells_what_it_cost():
    script = Path(__file__).resolve().parents[2] / "bench" / "import.py"
    command = [sys.executable, str(script), "--json", "--messages", "400", "--asks", "2"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    tenth, all_of_them = json.loads(done.stdout)["sizes"]
    assert (tenth["kept"], all_of_them["kept"]) == (40, 400)
    assert all(one["messages_a_second"] > 0 and one["peak_mb"] > 0 for one in (tenth, all_of_them))
