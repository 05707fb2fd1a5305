"""One thing that was looked at, and how it was found."""

from __future__ import annotations

from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """`state` is ok, warn or fail; `next` is the step for whatever is not ok."""

    name: str
    state: str
    found: str
    next: str = ""
