"""Made-up conversations of any size, with the word statistics of real ones: few words very often, most words seldom."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

from foreword import Event, Origin
from foreword.providers.static import DATA, PIECES
from foreword.recall.words import stem

_COMMON = "the of and to a in is that it was for on with as at by this we had not are but from or have an".split()
_TURNS_A_SESSION = 20


class Corpus:
    def __init__(self, *, seed: int = 7, words: int = 20_000) -> None:
        self._random = random.Random(seed)
        listed = (DATA / PIECES).read_text("utf-8").split("\n")
        # English words, the frequent ones first, as the embedder's vocabulary lists them: real ones have kin.
        self.words = [word for word in listed if word.isascii() and word.isalpha() and stem(word)][:words]
        # Zipf's law: the n-th most frequent word comes about 1/n as often as the first.
        self._weights = list(accumulate(1 / (place + 2.7) for place in range(len(self.words))))

    def sentence(self, length: int) -> str:
        drawn = self._random.choices(self.words, cum_weights=self._weights, k=length)
        glue = self._random.choices(_COMMON, k=length)
        return " ".join(word for pair in zip(drawn, glue, strict=True) for word in pair).capitalize() + "."

    def events(self, count: int, *, agent: str = "main") -> Iterator[Event]:
        for number in range(count):
            session, turn = divmod(number, _TURNS_A_SESSION)
            yield Event(
                self.sentence(self._random.randint(5, 20)),
                session=f"agent:{agent}:s{session}",
                origin=Origin.AGENT if turn % 2 else Origin.OWNER,
                at=1_700_000_000.0 + session * 7200 + turn * 60,
                source_id=str(number),
            )

    def asks(self, count: int) -> list[str]:
        """Questions about things that were said: a few words, from frequent to rare."""
        return [
            f"What was the {' and '.join(self._random.choices(self.words, cum_weights=self._weights, k=4))} about?"
            for _ in range(count)
        ]
