"""The list of requirements and the tests that prove them keep each other honest."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = {"S": 13, "T": 14, "P": 7, "L": 9, "D": 11, "B": 9}


def _listed() -> dict[str, str]:
    rows = re.findall(r"^\| ([STPLDB]\d+) \|.*\| (met|planned) \|$", (ROOT / "docs/requirements.md").read_text(), re.M)
    assert len(rows) == len({name for name, _ in rows}), "an id is listed twice"
    return dict(rows)


def _proved() -> dict[str, list[str]]:
    """Requirement ids by the tests that are marked with them."""
    proofs: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("mark.proves"):
                    for argument in mark.args:
                        proofs.setdefault(ast.literal_eval(argument), []).append(f"{file.name}::{node.name}")
    return proofs


def test_all_sixty_three_requirements_are_listed() -> None:
    expected = {f"{letter}{number}" for letter, count in CONTRACTS.items() for number in range(1, count + 1)}
    assert set(_listed()) == expected
    assert len(expected) == 63


def test_every_requirement_marked_as_met_has_a_test_that_names_it() -> None:
    proofs = _proved()
    assert [name for name, state in _listed().items() if state == "met" and name not in proofs] == []


def test_no_test_names_a_requirement_that_does_not_exist() -> None:
    assert set(_proved()) - set(_listed()) == set()
