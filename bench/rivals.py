"""What Foreword is measured against, over the same memories: the ways to search that anybody has at hand, and the
signals that are usually asked whether a find is worth anything. Plain on purpose; none of it is Foreword's recall."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import Stemmer
from numpy.typing import NDArray

from bench.sets import Haystack
from foreword import Settings
from foreword.providers import Embedder, Purpose, open_embedder
from foreword.recall import passages
from foreword.recall.words import STOP_WORDS

FTS5, FTS5_SESSIONS, BM25, EMBEDDER, RRF = "fts5_or", "fts5_or_sessions", "bm25", "embedder", "rrf"
NAMES = {
    FTS5: "FTS5 OR",
    FTS5_SESSIONS: "FTS5 OR, sessions",
    BM25: "BM25",
    EMBEDDER: "embedder",
    RRF: "rank fusion",
}
SIGNALS = {
    "bm25_top": "BM25 top score",
    "bm25_margin": "BM25 best over fifth",
    "coverage": "share of IDF mass held",
    "cosine_top": "top cosine",
}
_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75
# The constant of the paper on reciprocal rank fusion, and how far down each list it looks.
_RRF_CONSTANT, _RRF_DEPTH = 60, 100

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Document:
    session: str
    source_id: str
    text: str


class Rivals:
    """The plain indexes over one history; a memory is a turn, with the speaker's name where there is one."""

    def __init__(self, haystack: Haystack) -> None:
        self.documents = [
            Document(key, source_id, text if speaker in ("user", "assistant") else f"{speaker}: {text}")
            for key, _, turns in haystack.sessions
            for speaker, text, source_id in turns
        ]
        self._sessions = [
            Document(key, "", "\n".join(text for _, text, _ in turns)) for key, _, turns in haystack.sessions
        ]
        self._bm25 = _Bm25([one.text for one in self.documents])
        self._vectors = _Vectors([one.text for one in self.documents])
        self._turns = _Fts5([one.text for one in self.documents])
        self._whole = _Fts5([one.text for one in self._sessions])

    def rankings(self, ask: str) -> dict[str, list[Document]]:
        """Every rival's finds, best first. Whole sessions come without turns, and so answer for sessions only."""
        words, meaning = _order(self._bm25.scores(ask)), _order(self._vectors.scores(ask))
        found = {FTS5: self._turns.ranked(ask), BM25: words, EMBEDDER: meaning, RRF: _fused(words, meaning)}
        rankings = {name: [self.documents[place] for place in places] for name, places in found.items()}
        rankings[FTS5_SESSIONS] = [self._sessions[place] for place in self._whole.ranked(ask)]
        return {name: rankings[name] for name in NAMES}

    def signals(self, ask: str) -> dict[str, float]:
        """How sure each plain signal is that the history answers; larger is surer."""
        scores = np.sort(self._bm25.scores(ask))[::-1]
        best = float(scores[0]) if len(scores) else 0.0
        fifth = float(scores[4]) if len(scores) > 4 else 0.0
        cosines = self._vectors.scores(ask)
        return {
            "bm25_top": best,
            "bm25_margin": best - fifth,
            "coverage": self._bm25.coverage(ask),
            "cosine_top": float(cosines.max()) if len(cosines) else 0.0,
        }

    def close(self) -> None:
        self._turns.close()
        self._whole.close()


class _Bm25:
    def __init__(self, texts: Sequence[str]) -> None:
        postings: dict[str, tuple[list[int], list[int]]] = {}
        lengths = []
        for place, text in enumerate(texts):
            words = _stems(text)
            lengths.append(len(words))
            for word, count in Counter(words).items():
                places, counts = postings.setdefault(word, ([], []))
                places.append(place)
                counts.append(count)
        self._postings = postings
        self._size = len(texts)
        length = np.array(lengths, np.float64)
        self._norm = _K1 * (1 - _B + _B * length / max(float(length.mean()) if len(length) else 1.0, 1.0))

    def scores(self, ask: str) -> Floats:
        scores = np.zeros(self._size)
        for word in dict.fromkeys(_stems(ask)):
            if word in self._postings:
                places, counts = (np.array(column) for column in self._postings[word])
                scores[places] += self._rarity(word) * (_K1 + 1) * counts / (counts + self._norm[places])
        return scores

    def coverage(self, ask: str) -> float:
        """The largest share of the ask's IDF mass that one memory holds."""
        held = np.zeros(self._size)
        mass = 0.0
        for word in dict.fromkeys(_stems(ask)):
            rarity = self._rarity(word)
            mass += rarity
            if word in self._postings:
                held[self._postings[word][0]] += rarity
        return float(held.max()) / mass if mass and len(held) else 0.0

    def _rarity(self, word: str) -> float:
        frequency = len(self._postings[word][0]) if word in self._postings else 0
        return float(np.log1p((self._size - frequency + 0.5) / (frequency + 0.5)))


class _Vectors:
    """Foreword's own embedder and passages, so that the difference is the recall and not the model."""

    def __init__(self, texts: Sequence[str]) -> None:
        parts = [passages(text) for text in texts]
        self._owner = np.repeat(np.arange(len(texts)), [len(part) for part in parts])
        self._size = len(texts)
        flat = [passage for part in parts for passage in part]
        self._vectors = _embedder().embed(flat) if flat else np.zeros((0, 1), np.float32)

    def scores(self, ask: str) -> Floats:
        """The cosine of each memory's nearest passage."""
        best = np.full(self._size, -1.0)
        if self._size:
            query = _embedder().embed([ask], purpose=Purpose.QUERY)[0]
            np.maximum.at(best, self._owner, (self._vectors @ query).astype(np.float64))
        return best


class _Fts5:
    def __init__(self, texts: Sequence[str]) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE memory USING fts5(text, tokenize = 'porter unicode61')")
        self._connection.executemany("INSERT INTO memory (rowid, text) VALUES (?, ?)", enumerate(texts))

    def ranked(self, ask: str) -> list[int]:
        words = [word for word in dict.fromkeys(_WORD.findall(ask.lower())) if word not in STOP_WORDS]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self._connection.execute("SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank", (match,))
        return [int(row) for (row,) in rows]

    def close(self) -> None:
        self._connection.close()


def _order(scores: Floats) -> list[int]:
    """Places by score, best first, the earlier first among equals; what scores nothing is not found."""
    order = np.argsort(-scores, kind="stable")
    return [int(place) for place in order if scores[place] > 0]


def _fused(*rankings: Sequence[int]) -> list[int]:
    points: Counter[int] = Counter()
    for ranking in rankings:
        for rank, place in enumerate(ranking[:_RRF_DEPTH], start=1):
            points[place] += 1 / (_RRF_CONSTANT + rank)  # type: ignore[assignment]  # a Counter may hold any number
    return sorted(points, key=lambda place: (-points[place], place))


@cache
def _embedder() -> Embedder:
    embedder = open_embedder(Settings().embedder, {})
    assert embedder is not None, "the default embedder is offline and always there"
    return embedder


_stemmer = Stemmer.Stemmer("english")


@cache
def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word))


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]
