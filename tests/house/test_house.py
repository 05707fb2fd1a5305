"""The house keeps its own rules."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import foreword

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "foreword"


def _modules() -> list[tuple[Path, ast.Module]]:
    return [(file, ast.parse(file.read_text("utf-8"))) for file in sorted(SOURCE.rglob("*.py"))]


def test_every_public_name_can_be_imported() -> None:
    for name in foreword.__all__:
        assert getattr(foreword, name) is not None


def test_a_room_is_entered_by_its_front_door() -> None:
    trespassers = []
    for file, tree in _modules():
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("foreword."):
                _, other, *inside = node.module.split(".")
                if inside and other != room:
                    trespassers.append(f"{file.relative_to(ROOT)}:{node.lineno} enters {node.module}")
    assert trespassers == []


def test_sql_is_written_in_the_store_alone_and_other_programs_databases_are_only_read() -> None:
    change = r"INSERT (OR \w+ )?INTO|DELETE FROM|UPDATE \w+ SET|PRAGMA "
    anything = re.compile(rf"\b(SELECT .+ FROM|{change})\b")
    forbidden = {"store": re.compile(r"(?!)"), "imports": re.compile(rf"\b({change})\b")}
    strangers = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and forbidden.get(file.relative_to(SOURCE).parts[0], anything).search(node.value)
    ]
    assert strangers == []


def test_only_doors_catch_everything() -> None:
    catchers = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file, tree in _modules()
        if file.relative_to(SOURCE).parts[0] not in ("cli", "prompter.py", "serve")
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
    ]
    assert catchers == []


def test_every_error_is_drawn_in_the_tree_with_a_message_and_a_code() -> None:
    errors = importlib.import_module("foreword.errors")
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.ForewordError)]
    drawn = set(re.findall(r"[A-Z]\w+", errors.__doc__ or ""))
    codes = [kind.code for kind in kinds]
    assert len(codes) == len(set(codes))
    for kind in kinds:
        assert kind.__name__ in drawn, f"{kind.__name__} is missing in the drawing"
        assert str(kind()).startswith((kind.__doc__ or "").strip())


def test_asking_for_help_does_not_load_numpy() -> None:
    script = (
        "import sys, foreword.cli as c\ntry: c.main(['--help'])\nexcept SystemExit: pass\nprint('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_no_file_names_a_package_registry() -> None:
    hosts = re.compile(r"https?://(registry\.|pypi\.|deb\.|files\.pythonhosted)")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    named = [
        name
        for name in tracked
        if name and (ROOT / name).is_file() and hosts.search((ROOT / name).read_text("utf-8", "ignore"))
    ]
    assert named == []


def test_under_require_all_a_skip_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "test_one.py").write_text(
        "import pytest\n\ndef test_a():\n    pytest.skip('x is missing: run `make x`')\n"
    )
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", str(tmp_path)]

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env={"PATH": "", **environment}, capture_output=True, text=True)

    lenient, strict = run(), run(FOREWORD_REQUIRE_ALL="1")
    assert lenient.returncode == 0
    assert "run `make x`" in lenient.stdout
    assert strict.returncode == 1
    assert "1 failed" in strict.stdout
