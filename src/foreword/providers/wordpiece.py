"""Text → pieces of the BERT vocabulary, as the uncased WordPiece tokenizer cuts them.

Unknown words give no piece at all: a table of word vectors has nothing to say about them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

LONGEST_WORD = 100
WORDS_CACHED = 50_000
FOLDS_CACHED = 20_000

# A run of anything but space and ASCII punctuation is a word; every ASCII punctuation mark stands alone. (Folding has
# already set the other punctuation apart.)
_WORDS = re.compile(r"[^\s!-/:-@\[-`{-~]+|\S")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Folding(dict[int, str | None]):
    """What `str.translate` puts in a character's place; filled as characters are met."""

    def __missing__(self, code: int) -> str | None:
        fold = self._fold(code)
        if len(self) < FOLDS_CACHED:
            self[code] = fold
        return fold

    @staticmethod
    def _fold(code: int) -> str | None:
        character = chr(code)
        if character in "\t\n\r":
            return " "
        category = unicodedata.category(character)
        if category[0] == "Z":
            return " "
        if category == "Mn" or category[0] == "C" or code == 0xFFFD:
            return None
        if category[0] == "P" or any(low <= code <= high for low, high in _IDEOGRAPHS):
            return f" {character} "
        return character


class WordPiece:
    """Greedy longest match from the left: a word opens with one of `starts` and goes on with `insides`.

    A piece's id is its place in `starts`, then `insides`. Safe to share between threads: the cache only ever holds
    right answers.
    """

    def __init__(self, starts: Sequence[str], insides: Sequence[str]) -> None:
        self._starts = dict(zip(starts, range(len(starts)), strict=True))
        self._insides = dict(zip(insides, range(len(starts), len(starts) + len(insides)), strict=True))
        self._cache: dict[str, tuple[int, ...]] = {}
        self._folding = _Folding()

    def __len__(self) -> int:
        return len(self._starts) + len(self._insides)

    def ids(self, text: str) -> list[int]:
        """The pieces of `text` in reading order. Any string is fine, also one with lone surrogates."""
        if text.isascii():
            if _CONTROLS.search(text):
                text = _CONTROLS.sub("", text)
            text = text.lower()
        else:
            text = unicodedata.normalize("NFD", text).lower().translate(self._folding)
        cache = self._cache
        found: list[int] = []
        for word in _WORDS.findall(text):
            pieces = cache.get(word)
            if pieces is None:
                pieces = self._cut(word)
            found += pieces
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > LONGEST_WORD:
            return ()
        pieces = self._longest_match(word)
        if len(self._cache) >= WORDS_CACHED:
            self._cache.clear()
        self._cache[word] = pieces
        return pieces

    def _longest_match(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start, length, table = 0, len(word), self._starts
        while start < length:
            for end in range(length, start, -1):
                at = table.get(word[start:end])
                if at is not None:
                    break
            else:
                return ()
            found.append(at)
            start, table = end, self._insides
        return tuple(found)
