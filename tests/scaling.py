"""A law instead of a time limit: work that is linear in its text stays so on any machine, busy or not."""

from __future__ import annotations

import time
from collections.abc import Callable


def is_linear(work: Callable[[str], object], text: str) -> bool:
    """Four times the text takes four times as long; were it quadratic, sixteen. A few tries, for a busy machine."""
    once, fourfold = [], []
    for tried in range(8):
        once.append(_processor_seconds(work, text))
        fourfold.append(_processor_seconds(work, text * 4))
        if tried and min(fourfold) < 12 * min(once):
            return True
    return False


def _processor_seconds(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started
