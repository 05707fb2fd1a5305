"""What the speed benches share."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def percentile(times_ms: Sequence[float], percent: int) -> float:
    ordered = sorted(times_ms)
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 3)


def say(text: str) -> None:
    """Progress, on a terminal only; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text} …" if text else "\r\033[K", end="", file=sys.stderr, flush=True)
