"""Inject or be silent. Pure: the same candidates and policy always give the same verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from foreword.gate.confidence import confidence
from foreword.model import Candidate, Judged, Verdict


@dataclass(frozen=True, slots=True)
class GatePolicy:
    confident: float = field(
        default=0.75, metadata={"help": "A memory this sure is injected even alone.", "project": "raise"}
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
    """What to inject and why; an empty choice always carries the reason for silence."""
    if not candidates:
        return Verdict((), (), "nothing in scope shares a word or a meaning with the ask")
    scored = sorted(
        ((confidence(candidate.signals), place, candidate) for place, candidate in enumerate(candidates)),
        key=lambda one: (-one[0], one[1]),
    )
    best = scored[0][0]
    bar = max(policy.floor, policy.companion * best)
    judged = tuple(
        Judged(candidate, round(sure, 4), sure >= bar, _why(candidate, sure, bar, policy))
        for sure, _, candidate in scored
    )
    passed = tuple(one for one in judged if one.passed)
    if best >= policy.confident:
        return Verdict(passed, judged, f"the best is {best:.2f} sure, at or above {policy.confident:.2f}")
    if best < policy.floor:
        return Verdict((), judged, f"the best is only {_short_of(best)} sure, below the floor of {policy.floor:.2f}")
    if len(passed) >= 2:
        return Verdict(
            passed,
            judged,
            f"{len(passed)} memories pass together, the best {best:.2f} sure (between floor and confident)",
        )
    return Verdict(
        (),
        judged,
        f"the best is {_short_of(best)} sure, below {policy.confident:.2f}, and no second memory supports it",
    )


def _short_of(sure: float) -> str:
    """Cut, not rounded: 0.749 is not 0.75."""
    return f"{math.floor(sure * 100) / 100:.2f}"


def _why(candidate: Candidate, sure: float, bar: float, policy: GatePolicy) -> str:
    signals = candidate.signals
    held = f"holds {signals.coverage:.0%} of what was asked"
    if signals.names < 0.5:
        held += ", not the names in it"
    if signals.dated == 0.0:
        held += ", and is of another time"
    if sure >= bar:
        return held
    bar_name = "the floor" if bar == policy.floor else "its share of the best"
    return f"{held}; {_short_of(sure)} is below {bar_name} ({bar:.2f})"
