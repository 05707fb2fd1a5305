"""Codex itself, with Foreword at its hooks."""

from __future__ import annotations

from tests.hosts.conformance import Conformance


class TestCodex(Conformance):
    pass
