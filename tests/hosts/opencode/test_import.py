"""OpenCode's own database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.importing import prove
from tests.hosts.opencode.opencode import OpenCode
from tests.hosts.program import hosts_folder

HOSTS = hosts_folder()


class Restarted(OpenCode):
    """A plugin is taken up when the program starts."""

    def foreword(self, *arguments: str, code: int = 0) -> str:
        if "install" in arguments:
            self.stop()
        return super().foreword(*arguments, code=code)


@pytest.mark.proves("B8", "B7")
def test_a_session_without_foreword_is_imported_and_one_with_it_is_known(tmp_path: Path) -> None:
    if not (HOSTS / OpenCode.binary).exists():
        pytest.skip(f"{HOSTS / OpenCode.binary} is missing: run `make hosts`")
    host = Restarted(tmp_path / "opencode", HOSTS)
    try:
        prove(host, tool='[[tool:bash {"command": "echo the tide gauge reads 412", "description": "look"}]]')
    finally:
        host.close()
