"""The plugins as they are shipped with the Python package: built from these sources, and of this version."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import foreword

ROOT = Path(__file__).resolve().parents[2]
ADAPTERS = ROOT / "adapters"
SHIPPED = ROOT / "src" / "foreword" / "install" / "plugins"


@pytest.fixture(params=["openclaw", "opencode"])
def built(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if shutil.which("npm") is None:
        pytest.skip("npm is missing: install Node.js 20 or newer, then run `make setup`")
    folder = tmp_path / str(request.param)
    command = ["npm", "run", "--silent", f"build:{request.param}", "--", f"--outdir={folder}"]
    subprocess.run(command, cwd=ADAPTERS, check=True, capture_output=True, timeout=300)
    return folder


def test_the_shipped_plugin_is_built_from_these_sources(built: Path) -> None:
    names = {file.name for file in built.iterdir()}
    assert names == {file.name for file in (SHIPPED / built.name / "dist").iterdir()} != set()
    for name in names:
        shipped = (SHIPPED / built.name / "dist" / name).read_text("utf-8")
        assert shipped == (built / name).read_text("utf-8"), "stale: run `npm --prefix adapters run build`"


def test_a_plugin_has_the_version_of_the_package() -> None:
    for name in ("openclaw/package.json", "openclaw/openclaw.plugin.json", "claude-code/.claude-plugin/plugin.json"):
        assert json.loads((SHIPPED / name).read_text("utf-8"))["version"] == foreword.__version__


def test_what_is_shipped_is_in_the_wheel_and_in_git() -> None:
    command = ["git", "ls-files", str(SHIPPED)]
    tracked = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    files = [file for file in SHIPPED.rglob("*") if file.is_file()]
    assert sorted(str(file.relative_to(ROOT)) for file in files) == sorted(tracked)
    patterns = _package_data()
    package = ROOT / "src" / "foreword"
    assert [file for file in files if not any(file in package.glob(pattern) for pattern in patterns)] == []


def _package_data() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns: list[str] = project["tool"]["setuptools"]["package-data"]["foreword"]
    return patterns
