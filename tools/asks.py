"""Asks that nobody put, made up from what was said (`tools/questions.py`), and what stands beside them, for the reader
to learn from (`tools/reader.py`). Of LongMemEval's sessions those are left out that are some question's evidence; no
question or answer of it is read."""

from __future__ import annotations

import gzip
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from foreword.providers import StaticEmbedder
from foreword.providers.static import DATA as TABLE
from foreword.providers.static import PIECES
from foreword.recall.words import STOP_WORDS
from tools import questions
from tools.questions import NAMES

Floats = npt.NDArray[np.float32]
# An ask, and the sentences that may answer it.
Pair = tuple[str, str]

PAIRS_SEED = 5
TOLD_ASKS, SPOKEN_ASKS, SILENT_ASKS = 12_000, 1200, 300
# Shares of the asks about what was told: about two matters, about a few words of it, by the name of who told it.
TWO_MATTERS, FEW_WORDS, BY_NAME = 0.15, 0.15, 0.2
WINDOW_CHARS, MESSAGE_CHARS, SHORTEST_WINDOW = 420, 600, 25
# Of the windows closest to an ask: all of the first, some of the rest.
CLOSE, CLOSEST, FARTHER = 40, 4, 3
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
OF_ONESELF = re.compile(r"\b(?:I|I'm|I've|my|we|our)\b")
_WORD = re.compile(r"[\w'’$%.-]+")
_NO_FIRST_WORD = frozenset("and or but that the i to of also just so with".split())
_NO_LAST_WORD = frozenset("and or but that the i to of a my with in for .".split())
_ABOUT = ("What did I say about {s}?", "Do you remember {s}?", "Can you remind me about {s}?", "What was {s} again?")


@dataclass(frozen=True, slots=True)
class Windows:
    """A few sentences each of what was said, the session each is of, and their vectors."""

    texts: list[str]
    sessions: npt.NDArray[np.int64]
    vectors: Floats


class Phrases:
    """Cuts a few telling words out of a sentence, some of them changed for words of like meaning: who asks seldom has
    the words in which it was said."""

    def __init__(self, embedder: StaticEmbedder, dice: random.Random) -> None:
        starts = (TABLE / PIECES).read_text("utf-8").partition("\n\n")[0].split("\n")
        self._words = [word for word in starts if word.isalpha() and len(word) > 3]
        self._places = {word: place for place, word in enumerate(self._words)}
        self._vectors = embedder.embed(self._words)
        self._dice = dice
        self._known_kin: dict[int, list[str]] = {}

    def of(self, sentence: str) -> str | None:
        """None when there is nothing telling in it."""
        words = _WORD.findall(sentence)
        if len(words) < 4:
            return None
        for _ in range(8):
            length = self._dice.randint(2, 6)
            start = self._dice.randrange(0, max(1, len(words) - length))
            chosen = words[start : start + length]
            if sum(_tells(word) and len(word) > 3 for word in chosen) >= (1 if length < 3 else 2):
                break
        else:
            return None
        while chosen and chosen[0].lower() in _NO_FIRST_WORD:
            chosen = chosen[1:]
        while chosen and chosen[-1].lower() in _NO_LAST_WORD:
            chosen = chosen[:-1]
        if not chosen:
            return None
        return self.in_other_words(" ".join(chosen)).strip(".")

    def in_other_words(self, text: str) -> str:
        """Sometimes with some of its telling words changed."""
        changed = 0.35 if self._dice.random() < 0.6 else 0.0
        return " ".join(
            self._kin(word) if _tells(word) and self._dice.random() < changed else word for word in text.split()
        )

    def _kin(self, word: str) -> str:
        place = self._places.get(word.lower())
        if place is None:
            return word
        if place not in self._known_kin:
            cosines = self._vectors @ self._vectors[place]
            closest = np.argsort(-cosines)[1:12]
            self._known_kin[place] = [self._words[other] for other in closest if 0.45 < cosines[other] < 0.9]
        alike = self._known_kin[place]
        return self._dice.choice(alike) if alike else word


class Asked(NamedTuple):
    """An ask, the window it was made from, and the name by which it speaks of who told that."""

    text: str
    source: int | None = None
    name: str = ""


def pairs(data: Path, silence: Path, embedder: StaticEmbedder) -> list[Pair]:
    """Every ask with the window it was made from, another of that session, and some of those that look like it. Where
    the ask names somebody, the windows are told by somebody, too."""
    dice = random.Random(PAIRS_SEED)
    windows = cut_windows(sessions(data), embedder, dice)
    asks = _asks(windows, silent(silence), Phrases(embedder, dice), dice)
    found: list[Pair] = []
    for one, vector in zip(asks, embedder.embed([one.text for one in asks]), strict=True):
        cosines = windows.vectors @ vector
        close = np.argpartition(-cosines, CLOSE)[:CLOSE]
        close = close[np.argsort(-cosines[close])]
        chosen: list[Any] = []
        if one.source is not None:
            same = np.flatnonzero(windows.sessions == windows.sessions[one.source])
            chosen += [one.source, dice.sample(list(same), 1)[0]]
        chosen += [*close[:CLOSEST], *dice.sample(list(close[CLOSEST:]), FARTHER), dice.randrange(len(windows.texts))]
        for place in dict.fromkeys(chosen):
            who = one.name if place == one.source or dice.random() < 0.5 else dice.choice(NAMES)
            found.append((one.text, f"{who}: {windows.texts[place]}" if one.name else windows.texts[place]))
    dice.shuffle(found)
    return list(dict.fromkeys(found))


def sessions(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """What was said in the sessions that answer no question, in the order of the histories. Of a question only these
    two lists of sessions are looked at."""
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        turns = {one["id"]: one["turns"] for one in map(json.loads, lines)}
    order: dict[str, None] = {}
    evidence: set[str] = set()
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        for one in map(json.loads, lines):
            order |= dict.fromkeys(key for key, _ in one["haystack"])
            evidence |= set(one["evidence"])
    return {key: turns[key] for key in order if key not in evidence}


def silent(folder: Path) -> list[str]:
    """Asks that deserve no memory."""
    with (folder / "asks.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def cut_windows(sessions: dict[str, list[tuple[str, str]]], embedder: StaticEmbedder, dice: random.Random) -> Windows:
    owners: dict[str, int] = {}
    for number, turns in enumerate(sessions.values()):
        for role, text in turns:
            if role == "user":
                cut = _cut(text, most=6)
                if len(text) < 700:
                    cut.append(text.replace("\n", " ")[:MESSAGE_CHARS])
            else:
                cut = _cut(text, most=2) if dice.random() < 0.15 else []
            for window in cut:
                if len(window) > SHORTEST_WINDOW:
                    owners.setdefault(window, number)
    texts = list(owners)
    return Windows(texts, np.array(list(owners.values())), embedder.embed(texts))


def _cut(text: str, *, most: int) -> list[str]:
    """Two sentences each."""
    sentences = [one.strip() for one in _SENTENCE.split(text[:2500]) if len(one) > 3]
    starts = range(0, max(1, len(sentences) - 1), 2) if sentences else ()
    return [" ".join(sentences[start : start + 2])[:WINDOW_CHARS] for start in starts][:most]


def _asks(windows: Windows, deserving_nothing: list[str], phrases: Phrases, dice: random.Random) -> list[Asked]:
    """Made up from what persons told of themselves, asked by them, and asked of nobody's memory."""
    asks: list[Asked] = []
    told = [place for place, text in enumerate(windows.texts) if OF_ONESELF.search(text)]
    for place in dice.sample(told, TOLD_ASKS):
        ask = about(windows.texts[place], windows.texts[dice.choice(told)], phrases, dice)
        if ask and sum(_tells(word) for word in _WORD.findall(ask)) > 1:
            asks.append(of(ask, place, dice))
    asking = [place for place, text in enumerate(windows.texts) if "?" in text and len(text) < 260]
    for place in dice.sample(asking, SPOKEN_ASKS):
        asked = [one for one in _SENTENCE.split(windows.texts[place]) if one.endswith("?")]
        if asked:
            asks.append(Asked(dice.choice(asked)[:200], place))
    return asks + [Asked(text) for text in dice.sample(deserving_nothing, SILENT_ASKS)]


def of(ask: str, place: int, dice: random.Random) -> Asked:
    """Some are asked about somebody by name."""
    name = dice.choice(NAMES) if dice.random() < BY_NAME else ""
    return Asked(questions.of_somebody(ask, name) if name else ask, place, name)


def about(text: str, other: str, phrases: Phrases, dice: random.Random) -> str | None:
    sentences = [one for one in _SENTENCE.split(text) if OF_ONESELF.search(one) and not one.endswith("?")] or [text]
    sentence, kind = dice.choice(sentences), dice.random()
    if kind < FEW_WORDS:
        matter = phrases.of(sentence)
        return dice.choice(_ABOUT).format(s=matter) if matter else None
    if kind < FEW_WORDS + TWO_MATTERS:
        return questions.about_two(sentence, dice.choice([other, *sentences]), dice)
    ask = questions.about(sentence, dice)
    return phrases.in_other_words(ask) if ask else None


def _tells(word: str) -> bool:
    return word.lower() not in STOP_WORDS
