"""Inject or be silent. Pure: the same candidates and policy always give the same verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from foreword.gate.confidence import confidence
from foreword.model import Candidate, Judged, Memory, Signals, Verdict, how_sure

# What the receipts tell has to do for settings this low.
LOWEST_FLOOR = 0.4
# What holds this share of the ask, and still reads worse than this, is worth a word.
_HOLDS_MUCH, _READS_BADLY = 0.5, 0.25
# Words of like meaning are mentioned when they add this share of the ask.
_WORTH_TELLING = 0.1
_OF_OTHER_MATTERS = 0.1


@dataclass(frozen=True, slots=True)
class GatePolicy:
    confident: float = field(
        default=0.75,
        metadata={
            "help": "A memory this sure is injected even alone; among many none is 0.95 sure.",
            "project": "raise",
        },
    )
    floor: float = field(
        default=0.6,
        metadata={"help": "Below this a memory never passes; between, two must pass together.", "project": "raise"},
    )
    companion: float = field(
        default=0.5,
        metadata={"help": "Beside the best, only memories with this share of its confidence.", "project": "raise"},
    )


def judge(candidates: Sequence[Candidate], policy: GatePolicy) -> Verdict:
    """What to inject and why; an empty choice always carries the reason for silence. What has a successor is never
    injected, and counts for nothing."""
    if not candidates:
        return Verdict((), (), "nothing in scope shares a word or a meaning with the ask")
    outdated = [
        Judged(one, _kept(sure), False, f"{Memory('', row=one.memory.successor).id} has said it since, or otherwise")
        for sure, one in ranked([one for one in candidates if one.memory.successor])
    ]
    if len(outdated) == len(candidates):
        return Verdict((), tuple(outdated), "something newer has been said about all of it")
    verdict = _judged([one for one in candidates if not one.memory.successor], policy)
    return replace(verdict, judged=(*verdict.judged, *outdated)) if outdated else verdict


def _judged(candidates: Sequence[Candidate], policy: GatePolicy) -> Verdict:
    scored = ranked(candidates)
    sure = [one for one, _ in scored]
    best = sure[0]
    bar = max(policy.floor, policy.companion * best)
    count = passing(sure, policy)
    joined = joining(scored, count, policy)
    answers = [
        Judged(candidate, _kept(sure), sure >= bar, _why(candidate, sure, bar, policy)) for sure, candidate in scored
    ]
    for place, lent in joined.items():
        candidate = scored[place][1]
        answers[place] = Judged(candidate, _kept(lent), True, _way(candidate), by_link=True)
    passed = (*answers[:count], *(answers[place] for place in joined))
    judged = (*passed, *(one for place, one in enumerate(answers) if place >= count and place not in joined))
    if best >= policy.confident:
        kept = how_sure(judged[0].confidence)
        return Verdict(passed, judged, f"the best is {kept} sure, at or above {policy.confident:.2f}")
    if best < policy.floor:
        return Verdict((), judged, f"the best is only {how_sure(best)} sure, below the floor of {policy.floor:.2f}")
    if passed:
        return Verdict(
            passed,
            judged,
            f"{len(passed)} memories pass together, the best {how_sure(best)} sure (between floor and confident)",
        )
    return Verdict(
        (),
        judged,
        f"the best is {how_sure(best)} sure, below {policy.confident:.2f}, and no second memory supports it",
    )


def ranked(candidates: Sequence[Candidate]) -> list[tuple[float, Candidate]]:
    """Each candidate with its confidence, the surest first; equals stay in recall's order."""
    return sorted(((confidence(one.signals), one) for one in candidates), key=lambda pair: -pair[0])


def worth_reading(signals: Signals, policy: GatePolicy) -> bool:
    """Whether a memory could pass if it read well, here or under the settings that `tune` may propose."""
    return confidence(signals.of_text(signals.density, 1.0)) >= min(policy.floor, LOWEST_FLOOR)


def passing(sure: Sequence[float], policy: GatePolicy) -> int:
    """How many of these confidences, best first, are given; 0 is silence."""
    if not sure:
        return 0
    bar = max(policy.floor, policy.companion * sure[0])
    over = sum(1 for _ in takewhile(lambda one: one >= bar, sure))
    return over if sure[0] >= policy.confident or over >= 2 else 0


def lenders(candidates: Sequence[Candidate], policy: GatePolicy) -> list[Candidate]:
    """The candidates that may lend their confidence to what they are linked with, the surest first."""
    return [one for sure, one in ranked(candidates) if sure >= policy.confident and not one.memory.successor]


def joining(scored: Sequence[tuple[float, Candidate]], count: int, policy: GatePolicy) -> dict[int, float]:
    """By place in `scored`, what joins the first `count` that are given: a memory to which one of them lends enough of
    its confidence by a link, and is confident itself. What is lent, the most first; nothing ever joins silence."""
    lenders = {one.memory.row: sure for sure, one in scored[:count] if sure >= policy.confident}
    if not lenders:
        return {}
    bar = max(policy.floor, policy.companion * scored[0][0])
    lent = {
        place: one.link.share * lenders[one.link.source]
        for place, (_, one) in enumerate(scored[count:], start=count)
        if one.link and one.link.source in lenders
    }
    enough = [(place, sure) for place, sure in lent.items() if sure >= bar]
    return dict(sorted(enough, key=lambda one: -one[1]))


def _kept(sure: float) -> float:
    """Cut, as people are told it: what was below a bar must not be kept as if it reached it."""
    return math.floor(sure * 10_000 + 1e-6) / 10_000


def _way(candidate: Candidate) -> str:
    """How one came to a memory that does not hold what was asked; "" where no link leads."""
    link = candidate.link
    return f"by way of {Memory('', row=link.source).id}: {link.words}" if link else ""


def _why(candidate: Candidate, sure: float, bar: float, policy: GatePolicy) -> str:
    signals = candidate.signals
    held = f"holds {signals.coverage:.0%} of what was asked"
    if signals.kin - signals.coverage >= _WORTH_TELLING:
        held += f", {signals.kin:.0%} with words of like meaning"
    if signals.another:
        held += ", and tells of another person"
    elif signals.names < 0.5:
        held += ", not the names in it"
    if signals.dated == 0.0:
        held += ", and is of another time"
    if sure >= bar:
        return held
    # A memory that was not read has 0.
    if signals.coverage >= _HOLDS_MUCH and 0 < signals.reading < _READS_BADLY:
        held += ", but does not read like an answer"
    elif signals.coverage >= _HOLDS_MUCH and signals.matter < _OF_OTHER_MATTERS and not signals.few:
        held += ", but the next conversations found are of other matters"
    bar_name = "the floor" if bar == policy.floor else "its share of the best"
    if candidate.link:
        held = f"{held}, {_way(candidate)}"
    return f"{held}; {how_sure(sure)} is below {bar_name} ({bar:.2f})"
