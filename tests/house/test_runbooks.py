"""A runbook is read when something is wrong: every command in it must exist, and every message it quotes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from foreword.cli.parser import build
from foreword.settings import keys

ROOT = Path(__file__).resolve().parents[2]
RUNBOOK = (ROOT / "docs/runbooks/context-injection.md").read_text("utf-8")
COMMANDS = [line for block in re.findall(r"```console\n(.*?)```", RUNBOOK, re.DOTALL) for line in block.splitlines()]
SOURCES = "".join(file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py"))
PLUGIN = "".join(file.read_text("utf-8") for file in (ROOT / "adapters").glob("*/*.ts"))


@pytest.mark.proves("S12")
@pytest.mark.parametrize("line", sorted({one for one in COMMANDS if one.startswith("$ foreword ")}))
def test_a_command_of_the_runbook_takes_the_arguments_it_is_given(line: str) -> None:
    assert build().parse_args(shlex.split(line)[2:]).verb


@pytest.mark.proves("S12")
def test_what_the_runbook_looks_at_can_be_looked_at_in_its_order(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        home = ("--home", str(tmp_path / "home"))
        return subprocess.run(
            [sys.executable, "-m", "foreword", *arguments, *home], cwd=tmp_path, capture_output=True, text=True
        )

    for number in range(12):
        run("record", f"The spare key of boathouse {number} hangs behind oar {number}.", "--session", "agent:main:main")
        run("brief", f"Where does the spare key of boathouse {number} hang?", "--session", f"agent:main:s{number}")
    run("brief", "What is the capital of France?", "--session", "agent:main:main")
    # The daemon's own commands have tests of their own, and would leave one running here.
    lines = [one for one in COMMANDS if one.startswith("$ foreword ") and not re.match(r"\$ foreword (up|logs)", one)]
    assert len(lines) > 12
    for line in lines:
        done = run(*shlex.split(line)[2:])
        # 1 is an answer too: no such receipt, nothing proposed.
        assert done.returncode in (0, 1), f"{line}: {done.stderr}"
        assert "Traceback" not in done.stderr


@pytest.mark.proves("S12")
def test_the_runbook_quotes_what_foreword_says_and_names_settings_that_exist() -> None:
    table = RUNBOOK.partition("| `because` |")[2].partition("\n\n")[0]
    quoted = [one for row in table.splitlines()[2:] for one in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert len(quoted) > 8
    assert [one for one in quoted if one not in SOURCES] == []
    for sentence in ("did not start in time", "did not answer in time", "cannot be started"):
        assert sentence in RUNBOOK
        assert sentence in PLUGIN
    for sentence in (
        "nothing is injected or recorded until this is granted",
        "Nothing was given with your last message",
    ):
        assert sentence in RUNBOOK
        assert sentence in PLUGIN
    known = {key.name for key in keys()}
    sections = {name.partition(".")[0] for name in known}
    named = {
        one for one in re.findall(r"`([a-z]+\.[a-z_]+)(?: = [^`]+)?`", RUNBOOK) if one.partition(".")[0] in sections
    }
    assert len(named) > 10
    assert named - known == set()
