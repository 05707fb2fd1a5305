"""The OpenCode plugin apart from its host; tests/hosts has it in one."""

from __future__ import annotations

import pytest

from tests.adapters.conftest import run


@pytest.mark.proves("P4")
@pytest.mark.usefixtures("modules")
def test_the_plugin_bears_a_host_that_tells_less_than_it_should() -> None:
    run("node", "--test", "--test-reporter=spec", "opencode/plugin.test.mjs")
