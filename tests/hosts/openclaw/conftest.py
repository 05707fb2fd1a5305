"""One gateway for all tests: it takes half a minute to be ready. Each test has sessions of its own in it."""

from __future__ import annotations

import shutil
import subprocess
from binascii import crc32
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hosts.openclaw.gateway import ADAPTERS, PLUGIN, Gateway, hosts_folder

HOSTS = hosts_folder()
PARTS = ("node24/node_modules/node/bin/node", "openclaw/node_modules/openclaw/openclaw.mjs")


@pytest.fixture(scope="session")
def plugin() -> Path:
    """The plugin as it is shipped, built anew."""
    if shutil.which("npm") is None:
        pytest.skip("npm is missing: install Node.js 20 or newer, then run `make setup`")
    subprocess.run(["npm", "run", "--silent", "build"], cwd=ADAPTERS, check=True, capture_output=True, timeout=120)
    return PLUGIN


@pytest.fixture(scope="session")
def gateway(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    if missing := [part for part in PARTS if not (HOSTS / part).exists()]:
        pytest.skip(f"{HOSTS / missing[0]} is missing, so no test ran on OpenClaw: run `make hosts`, then `make test`")
    one = Gateway(tmp_path_factory.mktemp("openclaw"), HOSTS)
    try:
        one.prepare()
        one.start()
        yield one
    finally:
        one.close()


@pytest.fixture
def session(request: pytest.FixtureRequest) -> str:
    """A session key that no other test uses, and of which no word says who listens."""
    return f"t{crc32(request.node.name.encode()):x}"


@pytest.fixture
def settings(gateway: Gateway) -> Iterator[Callable[[str], None]]:
    """Changes Foreword's own settings for one test."""
    yield gateway.foreword_settings
    gateway.foreword_settings()


@pytest.fixture(scope="session")
def remember(gateway: Gateway) -> Callable[..., str]:
    """Keeps a memory of an earlier conversation, once: Foreword takes its own words back from nobody."""
    known: dict[tuple[str, str, str], str] = {}

    def keep(text: str, agent: str = "main", session: str = "earlier") -> str:
        if (agent, session, text) not in known:
            found = gateway.call("ingest", content=text, session=f"agent:{agent}:{session}", agent=agent)
            assert found["outcome"] == "stored", found
            known[agent, session, text] = found["id"]
        return known[agent, session, text]

    return keep
