from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hosts.claude_code.claude import Claude
from tests.hosts.program import hosts_folder

HOSTS = hosts_folder()


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Claude]:
    """Installed as a user does it, once for all tests."""
    if not (HOSTS / Claude.binary).exists():
        pytest.skip(f"{HOSTS / Claude.binary} is missing: run `make hosts`")
    one = Claude(tmp_path_factory.mktemp("claude"), HOSTS)
    try:
        one.foreword("claude-code", "install", "--yes")
        yield one
    finally:
        one.close()
