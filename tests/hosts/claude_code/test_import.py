"""Claude Code's own transcripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.claude_code.claude import Claude
from tests.hosts.importing import prove
from tests.hosts.program import hosts_folder

HOSTS = hosts_folder()


@pytest.mark.proves("B8", "B7")
def test_a_session_without_foreword_is_imported_and_one_with_it_is_known(tmp_path: Path) -> None:
    if not (HOSTS / Claude.binary).exists():
        pytest.skip(f"{HOSTS / Claude.binary} is missing: run `make hosts`")
    host = Claude(tmp_path / "claude", HOSTS)
    try:
        prove(host, tool='[[tool:Bash {"command": "echo the tide gauge reads 412"}]]')
    finally:
        host.close()
