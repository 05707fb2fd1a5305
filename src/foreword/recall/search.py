"""Three lanes over one view. Words answer questions, not keyword lists: any informative term counts, rare ones first.
Kin are words of like meaning, term by term. Vectors find what was said in other words altogether. Each lane reports
what it saw; `fusion` weighs it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from itertools import compress, islice

import numpy as np
from numpy.typing import NDArray

from foreword.model import MATTER_NOT_KNOWN
from foreword.recall.dates import Span, spoken_of
from foreword.recall.fusion import BEHIND, Field, Hit, Ranking, Recipe, beginnings, explained, rank
from foreword.recall.kin import NO_KIN, SAME, kin_of
from foreword.recall.themes import common_to
from foreword.recall.words import PLAIN_WEIGHT, Term, ask_terms, asks_what_you_said, told_words
from foreword.store import Floats, Nearest, Postings, Slots, View
from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class RecallSettings:
    candidates: int = field(default=10, metadata={"help": "How many memories recall proposes to the gate."})
    max_postings: int = field(
        default=250_000,
        metadata={"help": "How many word occurrences one ask may read; rare words are read first."},
    )
    associated: int = field(
        default=2,
        metadata={"help": "How many memories recall may link to the sure ones by a name, a file or a place; 0: none."},
    )


@dataclass(frozen=True, slots=True)
class Query:
    """An ask made ready: its terms, the time it speaks of, and its vector where a model answered."""

    text: str
    terms: Sequence[Term]
    span: Span | None = None
    vector: Floats | None = None
    model: str = ""
    of_agent: bool = False

    @property
    def empty(self) -> bool:
        return not self.terms


_MAX_TERMS = 48
_K1 = 0.9
_B = 0.4
# A store of three memories does not know yet which words are rare, nor how alike two strangers are: it judges as if it
# had seen this many more ordinary messages, and this many memories of the usual likeness. But a word that comes again
# and again among what it did see is common here, whatever it is elsewhere; a tenth of that many memories can tell.
_UNSEEN = 300
_TELLING = 30
_UNSEEN_VECTORS = 8
_USUAL_MEAN, _USUAL_DEVIATION = 0.1, 0.1
# From this many memories on a scope is not small any more.
_MANY = 500
# A word that stands in more of the memories than this share, and in more than a few, is nobody's kin: it tells nothing.
_KIN_SHARE, _KIN_FEW = 0.03, 8
_WORD_POOL = 128
_KIN_POOL = 64
_NEAR_BEST = 0.5
_SAMPLED = 16
_VECTOR_POOL = 48
# The first conversations tell what else is of the matter: what lies in their direction, and more so than most.
_LEADING = 3
_KINDRED_TO = 2
_ALIKE = 0.3


def understand(text: str, *, now: float) -> Query:
    span = spoken_of(text, now)
    return Query(
        text,
        ask_terms(text, limit=_MAX_TERMS, time=span.words if span else ""),
        span,
        of_agent=asks_what_you_said(text),
    )


def recall(query: Query, view: View, settings: RecallSettings, *, limit: int | None = None) -> list[Hit]:
    """The best candidates, best first; none when the ask has no informative term or the view is empty."""
    if query.empty or not view.size:
        return []
    words = _words(query.terms, view, settings.max_postings)
    # By kin much is a little alike: only what comes near the best is worth a look.
    by_kin = _top(words.kin, _KIN_POOL, above=_NEAR_BEST * float(np.maximum.reduce(words.kin)))
    pools: list[NDArray[np.integer]] = [_top(words.scores, _WORD_POOL), by_kin]
    mean = deviation = 0.0
    if query.vector is not None:
        nearest = view.nearest(query.vector, model=query.model, limit=_VECTOR_POOL)
        mean, deviation = _background(nearest, view.size)
        pools.append(nearest.slots)
    pool: Slots = np.concatenate(pools, dtype=np.int32, casting="same_kind")
    if not len(pool):
        return []
    slots = _distinct(np.concatenate((pool, view.neighbours(pool))))
    recipe, limit = Recipe(), limit or settings.candidates
    found = _field(query, words, slots, view, mean, deviation)
    # However few are wanted, what the first conversations tell is the same.
    ranking = rank(found, recipe, limit=recipe.narrow)
    leading = _leading(ranking, found, query, view)
    first = explained(found, ranking.cut(limit), matter=leading.matter)
    if limit <= recipe.narrow:
        return first
    kindred, beyond = _kindred(leading, found, query.model, view)
    if len(beyond):
        found = _field(query, words, _distinct(np.concatenate((slots, beyond))), view, mean, deviation)
    # What else is looked at may lend to its neighbours, but the first stay who they are, however deep one looks.
    known = {hit.row for hit in first}
    deep = explained(found, rank(found, recipe, limit=limit, kindred=kindred), matter=leading.matter)
    deeper = [hit for hit in deep if hit.row not in known]
    scale = min(1.0, BEHIND * first[-1].score / deeper[0].score) if deeper and deeper[0].score > 0 else 1.0
    return first + [replace(hit, score=hit.score * scale) for hit in deeper][: limit - len(first)]


def _field(query: Query, words: _Words, slots: Slots, view: View, mean: float, deviation: float) -> Field:
    similarity = (
        view.similarity(query.vector, slots, model=query.model)
        if query.vector is not None
        else np.zeros(len(slots), np.float32)
    )
    return Field(
        slots=slots,
        facts=view.facts(slots),
        words=words.scores.take(slots),
        likeness=words.likeness.take(slots, axis=1),
        kin=words.kin.take(slots),
        said=np.isin(slots, words.said, assume_unique=True) if words.speaker is not None else None,
        speaker=words.speaker,
        similarity=similarity,
        mean=mean,
        deviation=deviation,
        background=view.size + _UNSEEN_VECTORS,
        common=common_to(query.vector, query.model) if query.vector is not None else None,
        terms=query.terms,
        rarity=words.rarity,
        present=words.present,
        span=query.span,
        of_agent=query.of_agent,
        of_span=view.share_between(query.span.start, query.span.end) if query.span else 0.0,
        in_scope=view.size + _UNSEEN,
        few=max(0.0, 1 - math.log(view.size + 1) / math.log(_MANY)),
    )


@dataclass(frozen=True, slots=True)
class _Leading:
    """The first conversations: what each is about, and how near the best memory of all its own comes."""

    middles: Floats
    shares: Sequence[float]

    @property
    def matter(self) -> float:
        """How far they are of one matter: how like the first is to the others."""
        if len(self.middles) < 2 or not self.middles.any(axis=1).all():
            return MATTER_NOT_KNOWN
        return max(float(np.add.reduce(self.middles[1:] @ self.middles[0])) / (len(self.middles) - 1), 0.0)


def _leading(ranking: Ranking, found: Field, query: Query, view: View) -> _Leading:
    """What is of no conversation stands for itself. Conversations in which the same was asked before, in no more words,
    are alike for that alone, and tell nothing."""
    if query.vector is None:
        return _Leading(np.zeros((0, 1), np.float32), ())
    plain = [term.weight >= PLAIN_WEIGHT for term in query.terms]
    held = (found.likeness.take(ranking.order, axis=1)[plain] == SAME).all(axis=0) & any(plain)
    asked = held & (found.facts.length.take(ranking.order) <= told_words(query.text))
    keys = [session if session >= 0 else -2 - place for place, session in enumerate(ranking.sessions)]
    only_asked = set(compress(keys, asked.tolist()))
    heard: dict[int, int] = {}
    for place, key in enumerate(keys):
        if key not in only_asked and len(heard) < _LEADING:
            heard.setdefault(key, place)
    places = list(heard.values())
    middles = view.middles(found.slots.take(ranking.order.take(places)), model=query.model)
    if middles.shape[1] != len(query.vector):
        return _Leading(np.zeros((0, 1), np.float32), ())
    best = ranking.points[0] or 1.0
    return _Leading(middles, [ranking.points[place] / best for place in places])


def _kindred(leading: _Leading, found: Field, model: str, view: View) -> tuple[dict[int, float], Slots]:
    """By session, how like it is to the leading ones in what it is about; and what was said in their direction,
    whatever its words: what somebody lives through is spoken of more than once."""
    of, shares = leading.middles[:_KINDRED_TO], np.array(leading.shares[:_KINDRED_TO], np.float32)
    towards = [view.nearest(one, model=model, limit=_VECTOR_POOL).slots for one in of if one.any()]
    beyond = np.concatenate([*towards, np.empty(0, np.int32)])
    slots = np.concatenate((found.slots, beyond))
    one_of = dict(zip(view.facts(slots).session.tolist(), slots.tolist(), strict=True))
    one_of.pop(-1, None)
    if not one_of or not towards:
        return {}, beyond
    middles = view.middles(np.array(list(one_of.values()), np.int32), model=model)
    alike = (middles @ of.T - _ALIKE) / (1 - _ALIKE) * shares
    return dict(zip(one_of, np.maximum.reduce(alike, axis=1).clip(0).tolist(), strict=True)), beyond


@dataclass(frozen=True, slots=True)
class _Words:
    """By slot: BM25, and the kin lane's score; by term and slot: how like the memory's closest word is to the term,
    SAME where it is the term. `present` are the terms that occur at all, `said` the memories of the one person whom the
    ask names, and `speaker` the term that does."""

    scores: Floats
    kin: Floats
    likeness: NDArray[np.uint8]
    rarity: Floats
    present: NDArray[np.bool_]
    said: Slots
    speaker: int | None


def _words(terms: Sequence[Term], view: View, max_postings: int) -> _Words:
    """What the memories hold of the terms, and of words like them. Rare words are read first, kin last, while the
    budget lasts; the rarest word is always read, however long its list."""
    relations = [kin_of(term.hash) if term.weight >= PLAIN_WEIGHT else NO_KIN for term in terms]
    # Some things are said by several words; `of` is the term of each.
    of = [place for place, term in enumerate(terms) for _ in range(1 + len(term.same))]
    own = view.postings([word for term in terms for word in (term.hash, *term.same)])
    others = view.holders(
        np.concatenate((np.array([term.said_by for term in terms], np.uint32), *(kin.hashes for kin in relations)))
    )
    sizes = [len(posting.slots) for posting in own]
    frequency = np.bincount(of, sizes, len(terms)).astype(np.float32)
    weight = np.array([term.weight for term in terms], np.float32)
    size = view.size + _UNSEEN
    usual = frequency + _UNSEEN * np.array([kin.usual for kin in relations], np.float32)
    holding = np.maximum(usual, (frequency - 1) * (size / (view.size + _TELLING)))
    rarity = (np.log1p((size - holding + 0.5) / (holding + 0.5)) * weight).astype(np.float32)
    left = max_postings
    most = max(_KIN_SHARE * view.size, _KIN_FEW)
    read: list[int] = []
    for one in sorted(range(len(own)), key=sizes.__getitem__):
        if not sizes[one]:
            continue
        if sizes[one] > left and left < max_postings:
            break
        left -= sizes[one]
        read.append(one)
    scores = _bm25([own[one] for one in read], rarity.take(np.array(of, np.intp).take(read)), view)
    # By term, the words that are like it and the word itself. The most alike come last and stay, where a memory holds
    # several of them.
    lists: list[Slots] = []
    alike: list[int] = []
    many: list[int] = []
    rows: list[int] = []
    found = zip(others, map(len, others), strict=True)
    speakers = [slots for slots, _ in islice(found, len(terms))]
    for place, kin in enumerate(relations):
        for like, (slots, length) in zip(kin.likeness, found, strict=False):
            if 0 < length <= left and length <= most:
                left -= length
                lists.append(slots)
                alike.append(like)
                many.append(length)
        for one in read:
            if of[one] == place:
                lists.append(own[one].slots)
                alike.append(SAME)
                many.append(sizes[one])
        rows += [place] * (len(lists) - len(rows))
    likeness = np.zeros((len(terms), view.span), np.uint8)
    kin_scores = np.zeros(view.span, np.float32)
    if lists:
        touched = np.concatenate(lists, dtype=np.intp)
        touched += (np.array(rows) * view.span).repeat(many)
        likeness.reshape(-1)[touched] = np.array(alike, np.uint8).repeat(many)
        part = np.empty(view.span, np.float32)
        for row, share in zip(likeness, rarity / SAME, strict=True):
            np.multiply(row, share, out=part)
            kin_scores += part
    return _Words(scores, kin_scores, likeness, rarity, frequency > 0, *_said(speakers))


def _bm25(postings: Sequence[Postings], rarity: Floats, view: View) -> Floats:
    """By slot; `rarity` is that of each posting's word."""
    scores = np.zeros(view.span, np.float32)
    if not postings:
        return scores
    sizes = [len(one.slots) for one in postings]
    slots = np.concatenate([one.slots for one in postings], dtype=np.intp)
    counts = np.concatenate([one.counts for one in postings], dtype=np.float32)
    lengths = np.concatenate([one.lengths for one in postings], dtype=np.float32, casting="same_kind")
    norm = _K1 * (1 - _B + _B / max(view.mean_length, 1.0) * lengths)
    points = (rarity * (_K1 + 1)).repeat(sizes) * counts / (counts + norm)
    start = 0
    for size in sizes:
        here = slots[start : start + size]
        scores[here] += points[start : start + size]
        start += size
    return scores


def _said(speakers: Sequence[Slots]) -> tuple[Slots, int | None]:
    """What the one person said whom the ask names, and by which term; nothing where it names nobody who spoke, or
    several."""
    spoke = [place for place, slots in enumerate(speakers) if len(slots)]
    return (speakers[spoke[0]], spoke[0]) if len(spoke) == 1 else (np.empty(0, np.int32), None)


def _background(nearest: Nearest, size: int) -> tuple[float, float]:
    """Mean and deviation of similarity in this scope, leaning on the usual ones while there is little to go by."""
    if nearest.deviation == 0.0 and not len(nearest.slots):
        return 0.0, 0.0
    total = size + _UNSEEN_VECTORS
    mean = (size * nearest.mean + _UNSEEN_VECTORS * _USUAL_MEAN) / total
    square = size * (nearest.deviation**2 + nearest.mean**2)
    square += _UNSEEN_VECTORS * (_USUAL_DEVIATION**2 + _USUAL_MEAN**2)
    return mean, max(square / total - mean**2, 1e-6) ** 0.5


def _distinct(slots: Slots) -> Slots:
    """Each slot once, ascending. Not np.unique: its first call imports numpy.ma, as long as several asks take."""
    slots = np.sort(slots)
    return slots.take(beginnings(slots))


def _top(scores: Floats, limit: int, *, above: float = 0.0) -> NDArray[np.int64]:
    # Of a comparison, not of the scores: numpy looks through booleans several times faster.
    touched = (scores > above).nonzero()[0]
    if len(touched) <= limit:
        return touched
    found = scores.take(touched)
    # Most are far from the top: a sample tells below which score nobody of the first `limit` can be.
    sample = found[::_SAMPLED]
    likely = 3 * limit // _SAMPLED
    if len(sample) > 2 * likely:
        worth = (found >= np.partition(sample, len(sample) - likely)[len(sample) - likely]).nonzero()[0]
        if len(worth) > limit:
            touched, found = touched.take(worth), found.take(worth)
    return touched.take(found.argpartition(len(found) - limit)[-limit:])
