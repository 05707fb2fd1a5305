"""What people commonly speak of, so that a memory counts by how much closer to the ask it is than that: who asks for
gift ideas comes close to somebody's talk of gifts in any history. `data/themes.npy` holds a thousand directions
in the space of the offline embedder; `tools/themes.py` makes it. Other embedders have none."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from foreword.store import Floats

FILE = Path(__file__).parent / "data" / "themes.npy"
# A single theme may be one conversation that somebody had; several are what is common.
_CLOSEST = 5
# An ask in a language of which the themes know nothing is close to none of them.
_LEAST_DEVIATION = 0.05


class Common(NamedTuple):
    """How close an ask comes to the themes closest to it, and the deviation of its closeness to all of them."""

    closeness: float
    deviation: float


class _Themes(NamedTuple):
    model: str
    vectors: Floats


@cache
def _themes() -> _Themes:
    with FILE.open("rb") as file:
        model, rounded, scales = (np.load(file, allow_pickle=False) for _ in range(3))
    return _Themes(model.tobytes().decode("ascii"), rounded.astype(np.float32) * scales[:, None])


def common_to(vector: Floats, model: str) -> Common | None:
    """None in a space that has no themes."""
    themes = _themes()
    if model != themes.model:
        return None
    closeness = themes.vectors @ vector
    return Common(
        float(np.partition(closeness, -_CLOSEST)[-_CLOSEST:].mean()), max(float(closeness.std()), _LEAST_DEVIATION)
    )
