"""What is known of words beforehand: which are of like meaning, so that who asks about sports is also told of a
tournament, and how usual each is. `data/kin.npy` knows about fourteen thousand English words by the hashes of their
stems; `tools/distil.py` makes it."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_FILE = Path(__file__).parent / "data" / "kin.npy"
# The likeness of a word to itself.
SAME = 255


class Kin(NamedTuple):
    """The words like one word, least alike first, `likeness` below SAME; and in which share of ordinary messages the
    word itself stands."""

    hashes: NDArray[np.uint32]
    likeness: list[int]
    usual: float


class _Table(NamedTuple):
    words: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    kin: NDArray[np.uint16]
    likeness: NDArray[np.uint8]
    usual: NDArray[np.float32]


NO_KIN = Kin(np.empty(0, np.uint32), [], 0.0)


@cache
def _table() -> _Table:
    with _FILE.open("rb") as file:
        return _Table(*(np.load(file, allow_pickle=False) for _ in _Table._fields))


def is_common(word_hash: int) -> bool:
    """Whether this is the stem of a word that English texts are full of."""
    table = _table()
    place = int(table.words.searchsorted(np.uint32(word_hash)))
    return place < len(table.words) and int(table.words[place]) == word_hash


# Much of an ask is in the next one.
@lru_cache(maxsize=2048)
def kin_of(word_hash: int) -> Kin:
    table = _table()
    place = int(table.words.searchsorted(np.uint32(word_hash)))
    if place == len(table.words) or table.words[place] != word_hash:
        return NO_KIN
    run = slice(int(table.starts[place]), int(table.starts[place + 1]))
    return Kin(table.words[table.kin[run]], table.likeness[run].tolist(), float(table.usual[place]))
