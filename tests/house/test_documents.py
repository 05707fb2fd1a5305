"""Documentation that can rot is executed or compared."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tools.reference import FOLDER, pages

from foreword.cli.parser import build
from foreword.hosts import HOSTS
from foreword.settings import keys

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_reference_page_says_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == pages()[name](), "stale: run `make reference`"


def test_every_setting_has_a_sentence() -> None:
    assert [key.name for key in keys() if not key.help.endswith(".")] == []


def test_the_readme_s_python_example_prints_what_it_promises(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    example = example.replace("/tmp/foreword-readme", str(tmp_path / "home"))
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=True)
    assert "5433" in done.stdout
    assert "sure" in done.stdout


def test_the_readme_s_exchange_happens_as_shown(tmp_path: Path) -> None:
    block = next(one for one in re.findall(r"```console\n(.*?)```", README, re.DOTALL) if "foreword record" in one)
    shown = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    assert len(shown) == 4
    for command, *output in (part.rstrip("\n").split("\n") for part in shown):
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        if command.startswith("foreword brief"):
            printed = re.sub(r"\d{4}-\d\d-\d\d", "DATE", done.stdout).splitlines()
            assert printed == [re.sub(r"\d{4}-\d\d-\d\d", "DATE", line) for line in output]
    assert "silence" in done.stdout


def test_the_readme_s_two_commands_are_targets() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^\$ make (\w+)", README, re.MULTILINE)) == {"demo", "test"} <= targets


@pytest.mark.parametrize("page", sorted((ROOT / "docs/how-to").glob("*.md")), ids=lambda page: page.stem)
def test_a_command_of_a_how_to_takes_the_arguments_it_is_given(page: Path) -> None:
    blocks = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("$ foreword ")]
    for line in lines:
        assert build().parse_args(shlex.split(line, comments=True)[2:]).verb
    assert lines or page.stem == "python"


def test_the_first_lines_for_python_programs_run_as_they_stand(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/python.md").read_text("utf-8")
    example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    subprocess.run([sys.executable, "-c", example], check=True, timeout=60)
    shown = [sys.executable, "-m", "foreword", "search", "Which port is staging?", "--agent", "concierge"]
    assert "Port 5433." in subprocess.run(shown, capture_output=True, text=True, check=True).stdout


def test_the_hooks_that_copilot_is_given_by_hand_are_those_that_are_answered() -> None:
    page = (ROOT / "docs/how-to/codex.md").read_text("utf-8")
    (written,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    commands = {event: entry[0]["bash"] for event, entry in json.loads(written)["hooks"].items()}
    assert commands == {event: f"foreword hook copilot {event}" for event in HOSTS["copilot"].events}


def test_every_local_link_in_the_documents_leads_somewhere() -> None:
    broken = []
    for file in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", file.read_text("utf-8")):
            if not (file.parent / link).exists():
                broken.append(f"{file.relative_to(ROOT)} → {link}")
    assert broken == []
