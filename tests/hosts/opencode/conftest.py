from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hosts.opencode.opencode import OpenCode
from tests.hosts.program import hosts_folder

HOSTS = hosts_folder()


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenCode]:
    """Installed as a user does it, once for all tests."""
    if not (HOSTS / OpenCode.binary).exists():
        pytest.skip(f"{HOSTS / OpenCode.binary} is missing: run `make hosts`")
    one = OpenCode(tmp_path_factory.mktemp("opencode"), HOSTS)
    try:
        one.foreword("opencode", "install", "--yes")
        yield one
    finally:
        one.close()
