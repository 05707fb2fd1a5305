"""Regular expressions that are compiled when first used: an ordinary message needs a dozen of Foreword's two hundred,
and compiling all of them takes longer than opening ten thousand memories."""

from __future__ import annotations

import re
from typing import Any, cast


class _Uncompiled:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not set yet. What is found stays, so that every later use is as short as a compiled
        # pattern's own; threads that meet here set the same.
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Use in place of `re.compile` where not every run needs the pattern. A mistake in it shows when it is first used;
    `tests/rooms/test_patterns.py` uses each."""
    return cast("re.Pattern[str]", _Uncompiled(source, flags))
