"""Turns a table of word-piece vectors towards conversations: what is said in one breath of one conversation belongs
together, what is said in others does not. Nothing is labelled; the text alone teaches it.

A few words of somebody's message are the ask, a passage near it in the same conversation is what should be found, and
the passages of the other conversations in the batch are what should not (symmetric cross-entropy over cosines). The
result is mixed with the table it came from, so that words the conversations never use stay where they were.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from foreword.providers.wordpiece import WordPiece

Floats = npt.NDArray[np.float32]
# A conversation: each message's passages as piece ids, and whether a person said it.
Conversation = list[tuple[bool, list[list[int]]]]

PASSAGE_CHARS, MAX_PASSAGES = 200, 20
SHORTEST = 5
_BREAK = re.compile(r"\n\s*\n|\n|(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Adaptation:
    """Chosen on held-out histories; docs/decisions/0002-offline-embedder.md has the numbers."""

    steps: int = 300
    batch: int = 512
    temperature: float = 0.05
    rate: float = 0.05
    warm_up: int = 20
    longest_ask: int = 16
    reach: int = 2
    kept_of_it: float = 0.6
    seed: int = 0


def conversations(folder: Path, wordpiece: WordPiece) -> list[Conversation]:
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [
            [
                (role == "user", [wordpiece.ids(one) for one in _passages(text)])
                for role, text in json.loads(line)["turns"]
            ]
            for line in lines
        ]


def adapted(table: Floats, told: Sequence[Conversation], how: Adaptation) -> Floats:
    """The table after `how.steps` steps of Adam, mixed with what it was. The same in gives the same out."""
    dice = np.random.default_rng(how.seed)
    pairs = _pairs(told, dice, how)
    learnt = table.copy()
    unit = np.abs(table).mean()
    mean, square = np.zeros_like(table), np.zeros_like(table)
    for step in range(1, how.steps + 1):
        asks, wanted = zip(*(next(pairs) for _ in range(how.batch)), strict=True)
        gradient = _gradient(learnt, _counted(asks, len(table)), _counted(wanted, len(table)), how.temperature)
        mean += 0.1 * (gradient - mean)
        square += 0.01 * (gradient * gradient - square)
        rate = how.rate * unit * min(1.0, step / how.warm_up) * (1 - step / (how.steps + 1))
        learnt -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    mixed: Floats = (table + how.kept_of_it * (learnt - table)).astype(np.float32)
    return mixed


def _gradient(table: Floats, asks: Any, wanted: Any, temperature: float) -> Floats:
    a, ask_length = _unit(asks @ table)
    d, wanted_length = _unit(wanted @ table)
    logits = a @ d.T / temperature
    across = np.exp(logits - logits.max(1, keepdims=True))
    down = np.exp(logits - logits.max(0, keepdims=True))
    slope = across / across.sum(1, keepdims=True) + down / down.sum(0, keepdims=True) - 2 * np.eye(len(a))
    slope /= 2 * len(a) * temperature
    for_asks, for_wanted = slope @ d, slope.T @ a
    for_asks = (for_asks - (for_asks * a).sum(1, keepdims=True) * a) / ask_length
    for_wanted = (for_wanted - (for_wanted * d).sum(1, keepdims=True) * d) / wanted_length
    gradient: Floats = (asks.T @ for_asks + wanted.T @ for_wanted).astype(np.float32)
    return gradient


def _unit(rows: Floats) -> tuple[Floats, Floats]:
    length = np.linalg.norm(rows, axis=1, keepdims=True) + np.float32(1e-9)
    return rows / length, length


def _counted(texts: Sequence[list[int]], pieces: int) -> Any:
    """One row a text: the square root of how often each piece occurs, as the embedder sums them."""
    rows, columns, counts = [], [], []
    for row, ids in enumerate(texts):
        unique, times = np.unique(ids, return_counts=True)
        rows.append(np.full(len(unique), row))
        columns.append(unique)
        counts.append(np.sqrt(times))
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_matrix((np.concatenate(counts).astype(np.float32), places), shape=(len(texts), pieces))


def _pairs(
    told: Sequence[Conversation], dice: np.random.Generator, how: Adaptation
) -> Iterator[tuple[list[int], list[int]]]:
    while True:
        conversation = told[dice.integers(len(told))]
        said = [
            (turn, place)
            for turn, (by_person, passages) in enumerate(conversation)
            if by_person
            for place, ids in enumerate(passages)
            if len(ids) >= SHORTEST
        ]
        if not said:
            continue
        turn, place = said[dice.integers(len(said))]
        ask = conversation[turn][1][place]
        length = int(dice.integers(SHORTEST, how.longest_ask + 1))
        if len(ask) > length:
            start = dice.integers(0, len(ask) - length + 1)
            ask = ask[start : start + length]
        near = [
            (other, at)
            for other, (_, passages) in enumerate(conversation)
            if abs(other - turn) <= how.reach
            for at in range(len(passages))
            if (other, at) != (turn, place) and len(passages[at]) >= SHORTEST
        ]
        if not near:
            continue
        other, at = near[dice.integers(len(near))]
        wanted = list(conversation[other][1][at])
        if at + 1 < len(conversation[other][1]) and (other, at + 1) != (turn, place):
            wanted += conversation[other][1][at + 1]
        yield ask, wanted


def _passages(text: str) -> list[str]:
    found: list[str] = []
    current = ""
    for sentence in _BREAK.split(text[: PASSAGE_CHARS * 12]):
        sentence = sentence.strip()
        while len(sentence) > PASSAGE_CHARS:
            found += [current] if current else []
            current = ""
            found.append(sentence[:PASSAGE_CHARS])
            sentence = sentence[PASSAGE_CHARS:]
        if current and len(current) + len(sentence) > PASSAGE_CHARS:
            found.append(current)
            current = ""
        current = f"{current} {sentence}".strip()
    return ([*found, current] if current else found)[:MAX_PASSAGES]
