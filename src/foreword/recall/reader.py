"""Reads an ask and a few sentences together, and says how well they answer it. Coverage, likeness and closeness each
look at one side of that; this looks at which word of the ask meets what in the text, and at what is left over.

It is a small network over the offline embedder's vectors, whatever embedder the store has. `tools/reader.py` makes
`data/reader.npy`: it learnt from a teacher that is far too slow for a turn, and then from questions with what answers
them; `data/reader.json` says which."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreword.errors import ModelDamaged
from foreword.providers import FloatArray, StaticEmbedder, shipped
from foreword.recall.passages import BREAK

FILE = Path(__file__).parent / "data" / "reader.npy"
# The pieces it was taught with; more of an ask or of a text is not read.
MOST_OF_ASK, MOST_OF_TEXT = 40, 112
# Of each verdict, where it says nothing and where it says all that it can: that the very thing asked for is told, in
# words near those of the ask; and that it answers, however it is put. The second knows more, and counts for more.
_NOTHING = np.array([-10.0, -6.5], np.float32)
_ALL = np.array([0.0, 5.5], np.float32)
_COUNTS = np.array([0.4, 0.6], np.float32)
# Pieces that tell much have lengths of about a tenth; the network was taught with numbers near one.
STRENGTH = 10.0
# From this cosine on two pieces are one.
SAME = 0.999
# About as much as is read at once.
_READ_CHARS = 440
_BEYOND_LATIN = "\u0250"


class Network(NamedTuple):
    """In the order in which the file holds them; `model` is the table whose vectors it was taught with. The last two
    are two verdicts beside one another."""

    model: NDArray[np.uint8]
    projection: FloatArray
    near: FloatArray
    alignment: FloatArray
    sharpness: FloatArray
    compare: FloatArray
    compare_bias: FloatArray
    importance: FloatArray
    decide: FloatArray
    decide_bias: FloatArray
    verdict: FloatArray
    verdict_bias: FloatArray


@cache
def _network() -> Network:
    """Raises ModelDamaged unless every byte is as it was made, for the table that is here."""
    try:
        card, content = json.loads(FILE.with_suffix(".json").read_bytes()), FILE.read_bytes()
        made = card["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelDamaged(f"{FILE.name}, by which memories are read, or its card cannot be read.") from error
    # Before it is opened: what numpy makes of a damaged file is anybody's guess.
    if hashlib.sha256(content).hexdigest() != made:
        raise ModelDamaged(f"{FILE.name}, by which memories are read, does not match its checksum.")
    file = io.BytesIO(content)
    model, *weights = (np.load(file, allow_pickle=False) for _ in Network._fields)
    if model.tobytes() != shipped().model.encode():
        raise ModelDamaged(f"{FILE.name}, by which memories are read, does not belong to the word-vector table.")
    network = Network(model, *(one.astype(np.float32) for one in weights))
    # Three matrices below one another become three beside one another: one product for all neighbours.
    size = network.near.shape[1]
    return network._replace(near=np.hstack([network.near[place : place + size] for place in range(0, 3 * size, size)]))


def verify() -> None:
    """Raises ModelDamaged unless every byte is as it was made, the table's as well."""
    shipped().verify()
    _network.__wrapped__()


def read(ask: str, texts: Sequence[str]) -> list[float]:
    """How well each text answers the ask, 0..1; nothing is read in what has no known word. It is no probability: the
    gate knows what it is worth. Raises ModelDamaged."""
    if not texts:
        return []
    table = shipped()
    asked = table.ids(ask)[:MOST_OF_ASK]
    said = {place: ids for place, text in enumerate(texts) if (ids := table.ids(text)[:MOST_OF_TEXT])}
    found = [0.0] * len(texts)
    if asked and said:
        # Some processors' linear algebra raises flags about numbers beyond the end of an array.
        with np.errstate(all="ignore"):
            verdicts = _verdicts(table, asked, list(said.values()))
            shares = ((verdicts - _NOTHING) / (_ALL - _NOTHING)).clip(0, 1) @ _COUNTS
        for place, share in zip(said, shares.tolist(), strict=True):
            found[place] = min(share, 1.0)
    return found


def can_read(text: str) -> bool:
    """Whether it is written in the letters that were read in teaching, for the most part. Of other scripts the table
    knows letters and no words, and everything reads alike."""
    letters = [one for one in text if one.isalpha()]
    return 2 * sum(one < _BEYOND_LATIN for one in letters) >= len(letters)


def excerpt(text: str, place: int) -> str:
    """What is read of a text: all of it, or the sentences around a place."""
    if len(text) <= _READ_CHARS:
        return text
    place = min(place, len(text) - 1)
    start, end = max(place - _READ_CHARS // 2, 0), place + _READ_CHARS // 2
    breaks = [match.end() for match in BREAK.finditer(text, max(start - _READ_CHARS // 2, 0), end + _READ_CHARS // 2)]
    first = max((one for one in breaks if one <= place), default=start)
    return text[first if place - first <= _READ_CHARS // 2 else start :][:_READ_CHARS]


def _verdicts(table: StaticEmbedder, asked: list[int], said: Sequence[list[int]]) -> FloatArray:
    """Both verdicts on each text. Axes are text, word of the ask, word of the text, number."""
    network = _network()
    size, count, longest = len(asked), len(said), max(map(len, said)) + 1
    # All in one row, the ask first: a call of numpy costs more here than what it computes. Behind each stands at least
    # one that is no word, so that none is seen beside a word of the next.
    start = size + 1
    ids = np.full(start + count * longest, -1, np.intp)
    ids[:size] = asked
    for place, one in enumerate(said):
        ids[start + place * longest :][: len(one)] = one
    there = ids >= 0
    rows, lengths, scales = table.rows(ids)
    # Made length one when they are fewer numbers: as numbers of the table they are four times as many.
    lengths[~there] = np.inf
    words = _beside(rows @ network.projection / lengths[:, None], network)
    there = there[start:].reshape(count, longest)
    ask, text = words[:size], words[start:]
    cosines = rows[start:] @ (rows[:size] / lengths[:size, None]).T
    cosines /= lengths[start:, None]
    cosines = cosines.reshape(count, longest, size).transpose(0, 2, 1)
    # Which part of the text each word of the ask looks at, and what it meets there; behind its end there is nothing.
    beyond = np.where(there, np.float32(0), np.float32(-np.inf))[:, None, :]
    looks = (text @ (ask @ network.alignment).T).reshape(count, longest, size).transpose(0, 2, 1)
    met = _shares(looks + network.sharpness * cosines + beyond) @ text.reshape(count, longest, -1)
    closest = np.maximum.reduce(cosines + beyond, axis=2)
    strong = lengths[:size] * scales[:size] * np.float32(STRENGTH)
    seen = np.empty((count, size, len(network.compare)), np.float32)
    wide = met.shape[2]
    seen[..., :wide] = ask
    seen[..., wide : 2 * wide] = met
    np.multiply(ask, met, out=seen[..., 2 * wide : 3 * wide])
    np.subtract(ask, met, out=met)
    np.abs(met, out=seen[..., 3 * wide : 4 * wide])
    seen[..., -4] = closest
    seen[..., -3] = closest > SAME
    seen[..., -2] = strong
    np.multiply(closest, strong, out=seen[..., -1])
    compared = seen.reshape(-1, len(network.compare)) @ network.compare
    compared += network.compare_bias
    compared = np.maximum(compared, 0, out=compared).reshape(count, size, -1)
    important = _shares(compared @ network.importance + strong)
    # The two as wholes, each the sum of its pieces.
    whole_ask = scales[:size] @ rows[:size]
    each = scales[start:].reshape(count, longest) * there
    whole = (each[:, None, :] @ rows[start:].reshape(count, longest, -1))[:, 0]
    measures = np.sqrt(np.add.reduce(whole * whole, axis=1) * (whole_ask @ whole_ask))
    hidden = compared.shape[2]
    pooled = np.empty((count, len(network.decide)), np.float32)
    pooled[:, :hidden] = (important[:, None, :] @ compared)[:, 0]
    np.add.reduce(compared, axis=1, out=pooled[:, hidden : 2 * hidden])
    pooled[:, hidden : 2 * hidden] /= 5
    np.maximum.reduce(compared, axis=1, out=pooled[:, 2 * hidden : 3 * hidden])
    pooled[:, -4] = 3 * (whole @ whole_ask) / np.maximum(measures, 1e-6)
    pooled[:, -3] = 3 * (closest @ strong) / max(float(np.add.reduce(strong)), 1e-6)
    pooled[:, -2] = np.log1p(np.add.reduce(there, axis=1)) / 4
    pooled[:, -1] = math.log1p(size) / 4
    decided = pooled @ network.decide
    decided += network.decide_bias
    verdicts: FloatArray = np.maximum(decided, 0, out=decided) @ network.verdict + network.verdict_bias
    return verdicts


def _beside(words: FloatArray, network: Network) -> FloatArray:
    """Each word with what stands before and behind it."""
    size = words.shape[1]
    told = words @ network.near
    found = told[:, size : 2 * size]
    found[1:] += told[:-1, :size]
    found[:-1] += told[1:, 2 * size :]
    beside: FloatArray = np.maximum(found, 0)
    beside += words
    return beside


def _shares(scores: FloatArray) -> FloatArray:
    found: FloatArray = scores - np.maximum.reduce(scores, axis=-1, keepdims=True)
    np.exp(found, out=found)
    found /= np.add.reduce(found, axis=-1, keepdims=True)
    return found
