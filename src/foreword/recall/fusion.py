"""Weighs what the lanes found. Scores are normalised within the ask and summed with weights; ranks alone would throw
away how far ahead the best one is. A memory also gains from its neighbours and from its session: an answer often
stands beside the words it was asked for with. Then the places are given one by one, and what holds a part of the ask
that nothing before it holds goes ahead: a question about two things has its answer in two memories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foreword.model import Signals
from foreword.recall.dates import Span
from foreword.recall.kin import SAME
from foreword.recall.themes import Common
from foreword.recall.words import PLAIN_WEIGHT, Term
from foreword.store import Facts, Floats, Slots

# The best conversation is far ahead when five lie between it and the one it is measured against.
_FAR_BEHIND = 5
_USUALLY_BEHIND = 0.5
# So many conversations tell whether the ask is about something that was spoken of.
_COMPANY = 3
# How many deviations above the background what is common stands, for most asks.
_USUALLY_COMMON = 4.3
# Without one memory the background's deviation is smaller, but never by more than this: it is known of parts of
# memories, and one memory may have many.
_LEAST_DEVIATION = 0.5


@dataclass(frozen=True, slots=True)
class Recipe:
    """The weights, chosen by measurement (docs/decisions/0003-recall.md)."""

    words: float = 0.4
    kin: float = 1.0
    vectors: float = 0.8
    # An agent's long answer holds a word like every word: there, kin count less.
    kin_of_agents: float = 0.3
    said: float = 0.3
    neighbours: float = 0.5
    two_away: float = 0.25
    session: float = 0.5
    dated: float = 0.4
    best_of_session: int = 2
    # What a memory gains by holding all of the ask when nothing before it holds any of it, and how many are weighed so.
    new: float = 1.0
    weighed: int = 30
    # A few words lie close to everything: a vector counts by half when its memory has this many.
    half_length: float = 8.0


@dataclass(frozen=True, slots=True)
class Field:
    """Everything the lanes know about the memories in question, one array element each, slots ascending."""

    slots: Slots
    facts: Facts
    words: Floats
    held: NDArray[Any]
    likeness: NDArray[np.uint8]
    kin: Floats
    said: NDArray[np.bool_]
    similarity: Floats
    mean: float
    deviation: float
    background: int
    common: Common | None
    terms: Sequence[Term]
    rarity: Floats
    present: NDArray[np.bool_]
    span: Span | None
    in_scope: int
    few: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One proposal: the store's row, its score, what each lane gave, and the signals the gate judges by."""

    row: int
    score: float
    lanes: Mapping[str, float]
    signals: Signals
    terms: Sequence[str]
    weights: Sequence[tuple[str, float]]


def rank(field: Field, recipe: Recipe, *, limit: int) -> list[Hit]:
    words = _normalised(field.words)
    length = field.facts.length.astype(np.float32)
    closeness = np.maximum(field.similarity - field.mean, 0) * length / (length + recipe.half_length)
    vectors = _normalised(np.asarray(closeness, np.float32))
    kin = _normalised(field.kin * np.where(field.facts.by_person, 1, np.float32(recipe.kin_of_agents)))
    base = recipe.words * words + recipe.kin * kin + recipe.vectors * vectors
    base *= 1 + np.float32(recipe.said) * field.said
    before, after = _places(field.slots, field.facts.before), _places(field.slots, field.facts.after)
    padded = np.append(base, np.float32(0))  # what a missing neighbour, at -1, reads
    neighbours = np.maximum(padded[before], padded[after])
    two_away = np.maximum(padded[np.append(before, -1)[before]], padded[np.append(after, -1)[after]])
    session = _normalised(_best_of_session(base, field.facts.session, recipe.best_of_session))
    dated = _dated(field)
    score = (
        base
        + recipe.neighbours * neighbours
        + recipe.two_away * two_away
        + recipe.session * session
        + recipe.dated * (dated == 1.0) * base
    )
    order = np.lexsort((field.slots, -score))[: max(limit, recipe.weighed)]
    order, score = _placed(field, order, score, recipe, limit)
    lanes = {"words": words, "kin": kin, "vectors": vectors, "neighbours": neighbours, "session": session}
    return _explained(field, order, score, lanes, dated, before, after, _lead(base, field.facts.session))


def _placed(
    field: Field, order: NDArray[np.intp], score: Floats, recipe: Recipe, limit: int
) -> tuple[NDArray[np.intp], Floats]:
    """The first `limit` in their final order, with scores to match: each place goes to the best of what is left, where
    the part of the ask that nothing before it holds counts extra. Scores never rise from one place to the next."""
    weighed = order[: recipe.weighed]
    mass = float(field.rarity.sum()) or 1.0
    holds = field.likeness[:, weighed].T * (recipe.new / SAME / mass * field.rarity)
    covered = np.zeros(holds.shape[1], np.float32)
    left = score[weighed].astype(np.float64)
    score = score.copy()
    places = []
    for _ in range(min(limit, len(weighed))):
        worth = left + np.maximum(holds - covered, 0).sum(1)
        best = int(worth.argmax())
        places.append(best)
        score[weighed[best]] = worth[best]
        left[best] = -math.inf
        covered = np.maximum(covered, holds[best])
    return np.concatenate((weighed[places], order[recipe.weighed : limit])), score


def _normalised(values: Floats) -> Floats:
    peak = float(values.max()) if len(values) else 0.0
    return np.asarray(values / peak if peak > 0 else np.zeros_like(values), np.float32)


def _places(slots: Slots, wanted: Slots) -> NDArray[np.intp]:
    """Where each wanted slot stands in `slots`, or -1; neighbours of neighbours may be outside the field."""
    places = np.minimum(np.searchsorted(slots, wanted), len(slots) - 1)
    return np.where(slots[places] == wanted, places, -1)


def beginnings(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Where each run of equals begins. Not by np.diff, which takes longer to call than this to do."""
    if not len(ordered):
        return np.empty(0, np.intp)
    first = np.empty(len(ordered), np.bool_)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.flatnonzero(first)


def _best_of_session(base: Floats, session: NDArray[np.int32], count: int) -> Floats:
    """The sum of each session's best few, given to all of its memories; nothing where there is no session."""
    order = np.lexsort((-base, session))
    starts = beginnings(session[order])
    sizes = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=sizes[:-1])
    sizes[-1:] = len(order) - starts[-1:]
    place_in_session = np.arange(len(order)) - np.repeat(starts, sizes)
    sums = np.add.reduceat(np.where(place_in_session < count, base[order], 0), starts)
    result = np.empty(len(base), np.float32)
    result[order] = np.repeat(sums, sizes)
    result[session < 0] = 0
    return result


def _lead(base: Floats, session: NDArray[np.int32]) -> Floats:
    """How far each memory is ahead of the sixth best conversation; a memory without one stands for itself."""
    alone = np.where(session < 0, -2 - np.arange(len(session)), session)
    order = np.lexsort((-base, alone))
    bests = np.sort(base[order][beginnings(alone[order])])
    best = float(bests[-1]) or 1.0
    # Among fewer than six nobody is far ahead yet: the missing one is taken to come half as close as the best.
    behind = bests[-_FAR_BEHIND - 1] if len(bests) > _FAR_BEHIND else min(float(bests[0]), _USUALLY_BEHIND * best)
    return np.asarray(np.maximum(base - behind, 0) / best, np.float32)


def _dated(field: Field) -> Floats:
    if field.span is None:
        return np.full(len(field.slots), 0.5, np.float32)
    inside = (field.facts.at >= field.span.start) & (field.facts.at < field.span.end)
    return np.where(inside, 1, 0.5 if field.span.present else 0).astype(np.float32)


def _above_background(field: Field, similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Similarities in deviations above the mean of all others: among a few memories, the one that is meant would raise
    the very background it is measured against."""
    if not field.deviation:
        return np.zeros(len(similarity))
    others = field.background - 1
    mean = (field.background * field.mean - similarity) / others
    square = (field.background * (field.deviation**2 + field.mean**2) - similarity**2) / others
    least = (_LEAST_DEVIATION * field.deviation) ** 2
    above: NDArray[np.float64] = (similarity - mean) / np.sqrt(np.maximum(square - mean**2, least))
    return above


def _beyond_common(
    field: Field, closeness: NDArray[np.float64], above: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How much closer than what people commonly speak of. Where no theme tells what that is, it is taken to be as far
    `above` the background as for most asks; and where nothing is known, it is neither for nor against a memory."""
    if not field.deviation:
        return np.zeros(len(closeness))
    if field.common is None:
        return above - _USUALLY_COMMON
    return (closeness - field.common.closeness) / field.common.deviation


def _company(field: Field) -> float:
    """How close the closest few conversations come on average: by what a person said in them, where any did. A memory
    without a conversation stands for itself."""
    said = np.flatnonzero(field.facts.by_person)
    if not len(said):
        said = np.arange(len(field.slots))
    said = said[np.argsort(-field.similarity[said], kind="stable")]
    closest: dict[int, float] = {}
    for place, session, similarity in zip(
        said.tolist(), field.facts.session[said].tolist(), field.similarity[said].tolist(), strict=True
    ):
        closest.setdefault(session if session >= 0 else -2 - place, similarity)
        if len(closest) == _COMPANY:
            break
    return sum(closest.values()) / len(closest)


def _explained(
    field: Field,
    order: NDArray[np.intp],
    score: Floats,
    lanes: Mapping[str, Floats],
    dated: Floats,
    before: NDArray[np.intp],
    after: NDArray[np.intp],
    lead: Floats,
) -> list[Hit]:
    bits = field.held.dtype.type(1) << np.arange(len(field.terms), dtype=field.held.dtype)
    held_or_none = np.append(field.held, field.held.dtype.type(0))
    own = (field.held[order, None] & bits) != 0
    around = ((held_or_none[order] | held_or_none[before[order]] | held_or_none[after[order]])[:, None] & bits) != 0
    # Each memory's likeness to each term; one more column for a missing neighbour, at -1.
    alike = np.concatenate((field.likeness, np.zeros((len(field.terms), 1), np.uint8)), axis=1)
    beside = np.maximum(alike[:, before[order]], alike[:, after[order]])
    mass = float(field.rarity.sum()) or 1.0
    coverage = own @ field.rarity / mass
    names = np.array([term.name for term in field.terms], np.bool_)
    names_mass = float(field.rarity[names].sum())
    plain = np.array([term.weight >= PLAIN_WEIGHT for term in field.terms], np.bool_)
    # In units of what it takes to find one memory among all.
    asked = mass / math.log(field.in_scope + 2)
    closeness = np.append(field.similarity[order], _company(field)).astype(np.float64)
    similarity = _above_background(field, closeness)
    ahead = _beyond_common(field, closeness, similarity)
    # One column for each signal, made for all hits at once: single numpy values are slow to read.
    columns = {
        "coverage": coverage,
        "kin": field.rarity @ alike[:, order] / (mass * SAME),
        "context": field.rarity @ np.maximum(alike[:, order], beside) / (mass * SAME),
        "information": coverage * asked,
        "asked": np.full(len(order), asked),
        "matched": np.count_nonzero(own & plain, axis=1),
        "present": np.full(len(order), field.rarity[field.present].sum() / mass),
        "lead": lead[order],
        "similarity": similarity[:-1],
        "ahead": ahead[:-1],
        "company": np.full(len(order), ahead[-1]),
        "names": (around & names) @ field.rarity / names_mass if names_mass else np.ones(len(order)),
        "by_person": field.facts.by_person[order].astype(np.float64),
        "brevity": 100 / (100 + field.facts.length[order]),
        "dated": dated[order],
        "few": np.full(len(order), field.few),
    }
    signals = zip(*(_rounded(column) for column in columns.values()), strict=True)
    shown = zip(*(_rounded(lane[order]) for lane in lanes.values()), strict=True)
    weights = tuple(
        (term.text, rarity)
        for term, rarity in zip(field.terms, field.rarity.tolist(), strict=True)
        if term.weight >= PLAIN_WEIGHT
    )
    texts = [term.text for term in field.terms]
    return [
        Hit(
            row=row,
            score=points,
            lanes=dict(zip(lanes, values, strict=True)),
            signals=Signals(**dict(zip(columns, signal, strict=True))),
            terms=tuple(compress(texts, holds)),
            weights=weights,
        )
        for row, points, values, signal, holds in zip(
            field.facts.row[order].tolist(), score[order].tolist(), shown, signals, (own & plain).tolist(), strict=True
        )
    ]


def _rounded(values: NDArray[Any]) -> list[Any]:
    rounded: list[Any] = (values if values.dtype.kind in "iu" else values.astype(np.float64).round(4)).tolist()
    return rounded
