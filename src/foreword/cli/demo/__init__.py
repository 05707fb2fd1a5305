"""demo."""

from __future__ import annotations

from foreword.cli.parser import Verbs


def add(verbs: Verbs) -> None:
    pass
