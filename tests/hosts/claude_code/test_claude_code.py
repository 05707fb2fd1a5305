"""Claude Code itself, with Foreword's plugin in it."""

from __future__ import annotations

from tests.hosts.conformance import Conformance


class TestClaudeCode(Conformance):
    pass
