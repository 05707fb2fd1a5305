from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hosts.codex.cli import Codex
from tests.hosts.program import hosts_folder

HOSTS = hosts_folder()


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codex]:
    """Installed as a user does it, once for all tests."""
    if not (HOSTS / Codex.binary).exists():
        pytest.skip(f"{HOSTS / Codex.binary} is missing: run `make hosts`")
    one = Codex(tmp_path_factory.mktemp("codex"), HOSTS)
    try:
        one.foreword("codex", "install", "--yes")
        yield one
    finally:
        one.close()
