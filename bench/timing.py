"""What the speed benches share."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence


def percentile(times_ms: Sequence[float], percent: int) -> float:
    ordered = sorted(times_ms)
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 3)


def say(text: str) -> None:
    """Progress, on a terminal only; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text} …" if text else "\r\033[K", end="", file=sys.stderr, flush=True)


def compared(without: Sequence[float], with_it: Sequence[float]) -> dict[str, float]:
    """Two programs asked the same in turns: the medians, and what the second adds, with the interval that holds the
    median of the differences in 95 of 100 such runs. Nothing is assumed about how the times are spread."""
    differences = sorted(b - a for a, b in zip(without, with_it, strict=True))
    # The ranks between which the median lies in 95 of 100 samples, by the binomial's normal approximation.
    half, spread = len(differences) / 2, 1.96 * math.sqrt(len(differences)) / 2
    low, high = max(math.floor(half - spread), 0), min(math.ceil(half + spread), len(differences) - 1)
    found = {
        "without_ms": statistics.median(without),
        "with_ms": statistics.median(with_it),
        "added_ms": statistics.median(differences),
        "low_ms": differences[low],
        "high_ms": differences[high],
    }
    return {name: round(value, 2) for name, value in found.items()}
