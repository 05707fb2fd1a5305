"""Weighs what the lanes found. Scores are normalised within the ask and summed with weights; ranks alone would throw
away how far ahead the best one is. A memory also gains from its neighbours and from its session: an answer often
stands beside the words it was asked for with. Then the places are given one by one, and what holds a part of the ask
that nothing before it holds goes ahead: a question about two things has its answer in two memories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreword.model import NOT_KNOWN, Signals
from foreword.recall.dates import Span
from foreword.recall.kin import SAME
from foreword.recall.themes import Common
from foreword.recall.words import PLAIN_WEIGHT, Term
from foreword.store import Facts, Floats, Slots
from foreword.values import dataclass

# The best conversation is far ahead when five lie between it and the one it is measured against.
_FAR_BEHIND = 5
_USUALLY_BEHIND = 0.5
# So many conversations tell whether the ask is about something that was spoken of.
_COMPANY = 3
# How many deviations above the background what is common stands, for most asks.
_USUALLY_COMMON = 4.3
# How the first of those behind the best few is told beside the last of them.
BEHIND = 0.99
# Without one memory the background's deviation is smaller, but never by more than this: it is known of parts of
# memories, and one memory may have many.
_LEAST_DEVIATION = 0.5


@dataclass(frozen=True, slots=True)
class Recipe:
    """The weights, chosen by measurement (docs/decisions/0003-recall.md)."""

    words: float = 0.4
    kin: float = 1.3
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
    # So many places go to the best memories; behind them conversations come first that have not been heard yet.
    narrow: int = 10
    # What such a conversation gains there by being one with the first ones in what it is about, beside the best memory.
    kindred: float = 1.5


@dataclass(frozen=True, slots=True)
class Field:
    """Everything the lanes know about the memories in question, one array element each, slots ascending. A memory
    holds a term where its `likeness` to it is SAME. `said` is None where the ask names nobody who spoke;
    `speaker` is the term that names who did. The ask is about what the agent said where it is `of_agent`; `of_span` is
    the share of all memories that are of the time asked about."""

    slots: Slots
    facts: Facts
    words: Floats
    likeness: NDArray[np.uint8]
    kin: Floats
    said: NDArray[np.bool_] | None
    speaker: int | None
    similarity: Floats
    mean: float
    deviation: float
    background: int
    common: Common | None
    terms: Sequence[Term]
    rarity: Floats
    present: NDArray[np.bool_]
    span: Span | None
    of_agent: bool
    of_span: float
    in_scope: int
    few: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One proposal: the store's row, its score, what each lane gave, and the signals the gate judges by. It is
    `by_other` where the ask names one person who spoke, and another person said this without naming that one."""

    row: int
    score: float
    lanes: Mapping[str, float]
    signals: Signals
    terms: Sequence[str]
    weights: Sequence[tuple[str, float]]
    by_other: bool = False


# What follows is done for a few hundred memories on every ask: there a call of numpy costs more than what it computes,
# so there are few of them, and of numpy's functions those that are not written in Python (`take` rather than an index).


class Ranking(NamedTuple):
    """The places in a field of the best, best first, and of each the points, the session, the lanes with lead and date
    behind them, whether it is of those whose words are asked for, and where its neighbours stand."""

    order: NDArray[np.intp]
    points: Sequence[float]
    sessions: Sequence[int]
    columns: Sequence[NDArray[Any] | float]
    by_whom: NDArray[np.bool_]
    before: NDArray[np.intp]
    after: NDArray[np.intp]

    def cut(self, limit: int) -> Ranking:
        columns = [one if isinstance(one, float) else one[:limit] for one in self.columns]
        order, points, sessions, _, by_whom, before, after = self
        return Ranking(
            order[:limit], points[:limit], sessions[:limit], columns, by_whom[:limit], before[:limit], after[:limit]
        )


def rank(field: Field, recipe: Recipe, *, limit: int, kindred: Mapping[int, float] | None = None) -> Ranking:
    """`kindred` tells of conversations how like they are to the first ones; it counts where one looks deeper than
    those."""
    facts = field.facts
    words = _normalised(field.words)
    length = facts.length.astype(np.float32)
    vectors = _normalised(np.maximum(field.similarity - field.mean, 0) * length / (length + recipe.half_length))
    by_whom = facts.by_person | facts.by_agent if field.of_agent else facts.by_person
    kin = _normalised(field.kin * np.where(by_whom, 1, np.float32(recipe.kin_of_agents)))
    base = recipe.words * words + recipe.kin * kin + recipe.vectors * vectors
    if field.said is not None:
        base *= 1 + np.float32(recipe.said) * field.said
    before, after = _places(field.slots, facts.before, facts.after)
    padded = _padded(base, 0)  # what a missing neighbour, at -1, reads
    neighbours = np.maximum(padded.take(before), padded.take(after))
    two_away = np.maximum(padded.take(_padded(before, -1).take(before)), padded.take(_padded(after, -1).take(after)))
    of_session, behind = _sessions(base, facts.session, recipe.best_of_session)
    session = _normalised(of_session)
    score = base + recipe.neighbours * neighbours + recipe.two_away * two_away + recipe.session * session
    dated = _dated(field)
    if dated is not None:
        score += recipe.dated * (dated == 1.0) * base
    # Equals stay as they are, by slot.
    order = (-score).argsort(kind="stable")
    if limit <= recipe.narrow:
        order, points = _placed(field, order[: max(limit, recipe.weighed)], score, recipe, limit)
    else:
        order = _with_kindred(order, facts.session, max(limit, recipe.weighed), kindred or {})
        order, points = _placed(field, order, score, recipe, len(order))
        order, points = widened(order, points, facts.session.take(order).tolist(), recipe, limit, kindred or {})
    best = base.take(order)
    lead = np.maximum(best - behind, 0) / (float(np.maximum.reduce(base)) or 1.0)
    columns = (
        *(lane.take(order) for lane in (words, kin, vectors, neighbours, session)),
        lead,
        _telling(field, None if dated is None else dated.take(order)),
    )
    sessions = facts.session.take(order).tolist()
    return Ranking(order, points, sessions, columns, by_whom.take(order), before.take(order), after.take(order))


def _with_kindred(
    order: NDArray[np.intp], session: NDArray[np.int32], limit: int, kindred: Mapping[int, float]
) -> NDArray[np.intp]:
    """The first `limit`, and behind them the best memory of each kindred conversation of which none is among them."""
    first, rest = order[:limit], order[limit:]
    missing = {one for one, share in kindred.items() if share > 0}.difference(session.take(first).tolist())
    best: dict[int, int] = {}
    for place, one in zip(rest.tolist(), session.take(rest).tolist(), strict=True):
        if one in missing:
            best.setdefault(one, place)
    return np.concatenate((first, np.array(list(best.values()), np.intp)))


def _placed(
    field: Field, order: NDArray[np.intp], score: Floats, recipe: Recipe, limit: int
) -> tuple[NDArray[np.intp], list[float]]:
    """The first `limit` in their final order, with scores to match: each place goes to the best of what is left, where
    the part of the ask that nothing before it holds counts extra. Scores never rise from one place to the next."""
    weighed, rest = order[: recipe.weighed], order[recipe.weighed : limit]
    mass = float(np.add.reduce(field.rarity)) or 1.0
    # By term and memory; what is added up is added term by term.
    holds = field.likeness.take(weighed, axis=1) * (recipe.new / SAME / mass * field.rarity)[:, None]
    covered = np.zeros((len(holds), 1), np.float32)
    left = score.take(weighed).astype(np.float64)
    new, worth = np.empty_like(holds), np.empty_like(left)
    places: list[int] = []
    points: list[float] = []
    is_new = True
    while len(places) < min(limit, len(weighed)):
        if is_new:
            np.subtract(holds, covered, out=new)
            np.maximum(new, 0, out=new)
            np.add(left, np.add.reduce(new, axis=0), out=worth)
        best = int(worth.argmax())
        places.append(best)
        points.append(float(worth[best]))
        # Where it holds nothing new, the others are worth what they were.
        is_new = points[-1] != left[best]
        if is_new:
            np.maximum(covered, holds[:, best : best + 1], out=covered)
        left[best] = worth[best] = -math.inf
    given = np.array(points, np.float32).tolist()
    if not len(rest):
        return weighed.take(places), given
    return np.concatenate((weighed.take(places), rest)), given + score.take(rest).tolist()


def widened(
    order: NDArray[np.intp],
    points: Sequence[float],
    sessions: Sequence[int],
    recipe: Recipe,
    limit: int,
    kindred: Mapping[int, float],
) -> tuple[NDArray[np.intp], list[float]]:
    """The first few as they are. Who looks further wants to know where else it was spoken of: the first memory of each
    conversation that was not heard yet counts as much as its best two together, as one alone may be there by chance,
    and gains by how `kindred` that conversation is with those that were. Scores never rise from one place to the next.
    Which two those are depends on how far one looks."""
    narrow = recipe.narrow
    best: dict[int, list[float]] = {}
    for session, point in zip(sessions, points, strict=True):
        best.setdefault(session, []).append(point)
    heard = {-1, *sessions[:narrow]}
    worth = []
    for session, point in zip(sessions[narrow:], points[narrow:], strict=True):
        gain = recipe.kindred * points[0] * kindred.get(session, 0.0)
        worth.append(point if session in heard else sum(best[session][:2]) + gain)
        heard.add(session)
    behind = sorted(range(len(worth)), key=lambda place: -worth[place])[: limit - narrow]
    # In the scale of those before them, and a little less.
    scale = min(1.0, BEHIND * points[narrow - 1] / worth[behind[0]]) if behind and worth[behind[0]] > 0 else 1.0
    places = [*range(min(narrow, len(order))), *(narrow + place for place in behind)]
    return order.take(places), [*points[:narrow], *(worth[place] * scale for place in behind)]


def _normalised(values: Floats) -> Floats:
    peak = float(np.maximum.reduce(values)) if len(values) else 0.0
    return values / peak if peak > 0 else np.zeros_like(values)


def _padded(values: NDArray[Any], last: float) -> NDArray[Any]:
    longer = np.empty(len(values) + 1, values.dtype)
    longer[:-1] = values
    longer[-1] = last
    return longer


def _places(slots: Slots, before: Slots, after: Slots) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each of these stands in `slots`, or -1; neighbours of neighbours may be outside the field."""
    wanted = np.concatenate((before, after))
    places = slots.searchsorted(wanted)
    places = np.where(slots.take(places, mode="clip") == wanted, places, -1)
    return places[: len(before)], places[len(before) :]


def beginnings(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Where each run of equals begins. Not by np.diff, which takes longer to call than this to do."""
    first = np.empty(len(ordered), np.bool_)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first.nonzero()[0]


def _sessions(base: Floats, session: NDArray[np.int32], count: int) -> tuple[Floats, float]:
    """The sum of each session's best few, given to all of its memories, nothing where there is no session; and how good
    the sixth best conversation is, where a memory without one stands for itself."""
    nowhere = session < 0
    some_nowhere = bool(np.logical_or.reduce(nowhere))
    alone = np.where(nowhere, -2 - np.arange(len(session)), session) if some_nowhere else session
    order = np.lexsort((-base, alone))
    ordered = base.take(order)
    starts = beginnings(alone.take(order))
    sizes = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=sizes[:-1])
    sizes[-1] = len(order) - starts[-1]
    bests = ordered.take(starts)
    sums = bests
    for place in range(1, count):
        sums = sums + np.where(sizes > place, ordered.take(starts + place, mode="clip"), 0)
    result = np.empty(len(base), np.float32)
    result[order] = sums.repeat(sizes)
    if some_nowhere:
        result[nowhere] = 0
    bests = np.sort(bests)
    if len(bests) > _FAR_BEHIND:
        return result, float(bests[-_FAR_BEHIND - 1])
    # Among fewer than six nobody is far ahead yet: the missing one is taken to come half as close as the best.
    return result, min(float(bests[0]), _USUALLY_BEHIND * float(bests[-1]))


def _dated(field: Field) -> Floats | None:
    """How each fits the time the ask speaks of; None where it speaks of none. What happened is told then or later, and
    not before."""
    if field.span is None:
        return None
    inside = (field.facts.at >= field.span.start) & (field.facts.at < field.span.end)
    elsewhere = 0.5 if field.span.present else 0.5 * (field.facts.at >= field.span.end)
    return np.where(inside, 1, elsewhere).astype(np.float32)


def _telling(field: Field, dated: Floats | None) -> Floats | float:
    """What the time of each tells of whether it is meant: the less, the more is of the time asked about ("before today"
    tells nothing). Of an ask about the present it tells nothing unless that looks back."""
    if dated is None or field.span is None or (field.span.present and not field.span.looks_back):
        return 0.5
    return np.where(dated == 1.0, 1 - field.of_span**2 / 2, dated).astype(np.float32)


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


def _beyond_common(field: Field, closeness: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much closer than what people commonly speak of. Where no theme tells what that is, it is taken to be as far
    `above` the background as for most asks; and without vectors nothing is known."""
    if not field.deviation:
        return np.full(len(closeness), NOT_KNOWN)
    if field.common is None:
        return above - _USUALLY_COMMON
    return (closeness - field.common.closeness) / field.common.deviation


def _company(field: Field) -> float:
    """How close the closest few conversations come on average: by what a person said in them, where any did. A memory
    without a conversation stands for itself."""
    said = field.facts.by_person.nonzero()[0]
    similarity = field.similarity.take(said) if len(said) else field.similarity
    session = field.facts.session.take(said) if len(said) else field.facts.session
    order = (-similarity).argsort(kind="stable")
    closest: dict[int, float] = {}
    for place, number in enumerate(session.take(order).tolist()):
        if number < 0 or number not in closest:
            closest[number if number >= 0 else -2 - place] = float(similarity[order[place]])
            if len(closest) == _COMPANY:
                break
    return sum(closest.values()) / len(closest)


def explained(field: Field, ranking: Ranking, *, matter: float) -> list[Hit]:
    """Each with the signals that the gate judges by; `matter` is how far the first conversations are of one matter."""
    order, points, _, columns, by_whom, before, after = ranking
    facts, rarity, terms = field.facts, field.rarity, field.terms
    beside = np.concatenate((before, after))
    # Each memory's likeness to each term, and that of its neighbours; nothing is like a missing one, at -1.
    alike = field.likeness.take(order, axis=1)
    aside = field.likeness.take(beside, axis=1) * (beside >= 0)
    around = np.maximum(alike, np.maximum(aside[:, : len(order)], aside[:, len(order) :]))
    mass = float(np.add.reduce(rarity)) or 1.0
    own = np.ascontiguousarray((alike == SAME).T)
    coverage = own @ rarity / mass
    # In units of what it takes to find one memory among all.
    asked = mass / math.log(field.in_scope + 2)
    names = np.array([term.name for term in terms], np.bool_)
    named = around == SAME
    by_other = np.zeros(len(order), np.bool_)
    if field.speaker is not None:
        # What the next speaker said beside it is not for that theirs.
        named[field.speaker] = alike[field.speaker] == SAME
        # What a word of the ask has in common with a sender's, "bill" or "mark", need not be a name.
        if names[field.speaker]:
            by_other = facts.by_person.take(order) & ~named[field.speaker]
    names_mass = float(np.add.reduce(rarity[names]))
    plain = [term.weight >= PLAIN_WEIGHT for term in terms]
    # The last is no memory: it stands for the closest conversations together.
    closeness = _padded(field.similarity.take(order).astype(np.float64), _company(field))
    above = _above_background(field, closeness)
    ahead = _beyond_common(field, closeness, above)
    # One row for each lane and signal, for all hits at once, and all of them rounded at once.
    *lanes, lead, dated = columns
    table = np.empty((len(columns) + 14, len(order)))
    for place, values in enumerate(
        (
            *lanes,
            coverage,
            rarity @ alike / (mass * SAME),
            rarity @ around / (mass * SAME),
            coverage * asked,
            asked,
            np.add.reduce(rarity[field.present]) / mass,
            lead,
            above[:-1],
            ahead[:-1],
            ahead[-1],
            np.ascontiguousarray(named.T & names) @ rarity / names_mass if names_mass else 1.0,
            by_whom,
            100 / (100 + facts.length.take(order)),
            dated,
            field.few,
            matter,
        )
    ):
        table[place] = values
    weights = tuple(
        (term.text, rare) for term, rare, is_plain in zip(terms, rarity.tolist(), plain, strict=True) if is_plain
    )
    held = (own & plain).tolist()
    texts = [term.text for term in terms]
    hits = []
    for row, score, holds, other, values in zip(
        facts.row.take(order).tolist(), points, held, by_other.tolist(), table.round(4).T.tolist(), strict=True
    ):
        words, kin, vectors, neighbours, session, covers, kin_too, context, *others = values
        lanes_of = {"words": words, "kin": kin, "vectors": vectors, "neighbours": neighbours, "session": session}
        # By place, in the order of its fields: by name it takes twice as long.
        signals = Signals(covers, 0.0, kin_too, context, sum(holds), *others)
        hits.append(Hit(row, score, lanes_of, signals, tuple(compress(texts, holds)), weights, other))
    return hits
