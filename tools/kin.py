"""Which words are alike, from a table of word-piece vectors, and how usual each is: the file that
`foreword.recall.kin` reads."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foreword.recall.kin import SAME
from foreword.recall.words import stem, word_hash

Floats = npt.NDArray[np.float32]

# Below this cosine two words have nothing to do with each other; likeness is counted from the second on.
ALIKE, NOTHING = 0.4, 0.2
_AT_ONCE = 512
# Zipf's law: the n-th most frequent word makes up about a tenth of 1/n of running text; a message has some 25 words.
_FIRST, _MESSAGE_WORDS, _AT_MOST = 0.1, 25, 0.5


def write(file: Path, starts: list[str], table: Floats) -> None:
    """`starts` are whole words, the frequent first from "the" on, `table` their vectors. Words with one stem are one
    word; the closest pair counts."""
    stems = [stem(word) if word.isascii() and word.isalpha() else "" for word in starts]
    words = sorted({one for one in stems if one}, key=word_hash)
    number = {word: place for place, word in enumerate(words)}
    owner = np.array([number.get(one, -1) for one in stems])
    usual = np.zeros(len(words))
    for place in range(starts.index("the"), len(starts)):
        if owner[place] >= 0:
            usual[owner[place]] += _FIRST * _MESSAGE_WORDS / (place - starts.index("the") + 1)
    vectors = table[owner >= 0] / np.maximum(np.linalg.norm(table[owner >= 0], axis=1, keepdims=True), 1e-9)
    owner = owner[owner >= 0]
    alike: list[dict[int, float]] = [defaultdict(float) for _ in words]
    for start in range(0, len(owner), _AT_ONCE):
        cosines = vectors[start : start + _AT_ONCE] @ vectors.T
        for row, column in zip(*np.nonzero(cosines >= ALIKE), strict=True):
            one, other = int(owner[start + row]), int(owner[column])
            if one != other:
                alike[one][other] = max(alike[one][other], float(cosines[row, column]))
    sizes, kin, likeness = [], [], []
    for found in alike:
        ordered = sorted(found.items(), key=lambda item: (item[1], item[0]))
        sizes.append(len(ordered))
        kin += [other for other, _ in ordered]
        likeness += [min(round(SAME * (cosine - NOTHING) / (1 - NOTHING)), SAME - 1) for _, cosine in ordered]
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        for column in (
            np.array([word_hash(word) for word in words], np.uint32),
            np.append(0, np.cumsum(sizes)).astype(np.uint32),
            np.array(kin, np.uint16),
            np.array(likeness, np.uint8),
            np.minimum(usual, _AT_MOST).astype(np.float32),
        ):
            np.save(out, column)
