from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hosts.gemini.cli import Gemini
from tests.hosts.program import hosts_folder

HOSTS = hosts_folder()


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gemini]:
    """Installed as a user does it, once for all tests."""
    if not (HOSTS / Gemini.binary).exists():
        pytest.skip(f"{HOSTS / Gemini.binary} is missing: run `make hosts`")
    one = Gemini(tmp_path_factory.mktemp("gemini"), HOSTS)
    try:
        one.foreword("gemini", "install", "--yes")
        yield one
    finally:
        one.close()
