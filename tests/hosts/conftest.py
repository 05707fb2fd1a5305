"""Not a part of `make test` yet: these tests run where a command names them, as `pytest tests/hosts` does."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    named = [Path(one.split("::")[0]).resolve() for one in config.args]
    return None if any(one.is_relative_to(HERE) for one in named) else True
