"""Lessons → themes → one pattern for each theme. Pure but for the two callables that are passed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foreword.wisdom.lessons import Lesson

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
# Instructions and material in, the model's answer out. Raises ProviderError.
Write = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Pattern:
    """An entry of the section, and the lessons that it stands for."""

    text: str
    lessons: Sequence[Lesson]


@dataclass(frozen=True, slots=True)
class Distilled:
    """`by` is who wrote the patterns; `alone` are lessons that no pattern stands for; `notes` are for the person."""

    patterns: Sequence[Pattern]
    by: str
    alone: Sequence[Lesson] = ()
    notes: Sequence[str] = ()


def distil(
    lessons: Sequence[Lesson],
    *,
    embed: Embed,
    count_tokens: Callable[[str], int],
    write: Write | None = None,
    writer: str = "",
) -> Distilled:
    """As many patterns as the section has room for, those that stand for most lessons first. Without `write`, and
    where what it wrote breaks a rule, each is taken out of the lessons themselves."""
    return Distilled((), "extractive", tuple(lessons))


def tightened(soul: str, wisdom: str, *, count_tokens: Callable[[str], int], max_tokens: int = 200) -> str:
    """SOUL.md within `max_tokens` together with its section of wisdom, which is kept as it is."""
    return wisdom
