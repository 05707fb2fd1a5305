"""How sure are we that a candidate answers the ask: a calibrated probability from scale-free signals.

The weights are fitted, not felt: `gate/data/confidence.json` holds them with where they came from, and
`python -m bench.fit_gate` makes the file again. Among few memories chance finds less, and the same signals say more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from foreword.model import MATTER_NOT_KNOWN, Signals

# Further than this below what is common is as far as can be; and this much above it says all that it can say: that the
# matter was spoken of, not which memory answers.
_FAR_BELOW, _WELL_ABOVE = 4.0, 1.0
_AS_COMMON = _FAR_BELOW / (_FAR_BELOW + _WELL_ABOVE)
# Fewer words in common than this are about the ask only when they are this share of it.
_WORDS_IN_COMMON = 3
_SHARE_IN_COMMON = 0.4
# In a store that is `few` by half or more nothing has been spoken of twice yet.
_SELDOM_TWICE = 2.0
# What is left of the confidence in a memory that tells of another person than the one asked about.
OF_ANOTHER = 0.3


def features(signals: Signals) -> dict[str, float]:
    """What the confidence is computed from, each in about 0..1, by name."""
    # One word in common is a coincidence however rare it is; from three on it is none.
    several = min(max(signals.matched - 1, 0), 2) / 2
    asked = signals.much_asked
    # What is there for its neighbours alone has no part in what they hold, and is not what was spoken of.
    part = float(signals.kin > 0 or signals.similarity > 0)
    # Among few, what was spoken of once may be all there is.
    untold = min(_SELDOM_TWICE * signals.few, 1.0)
    ahead = _beyond_common(signals.ahead)
    if ahead > _AS_COMMON:
        # Among few, what is of another matter is not ahead: it is only the one thing that comes near.
        ahead -= signals.few * (1 - gain(signals)) * (ahead - _AS_COMMON)
    return {
        "several": several,
        "names": signals.names,
        "dated": signals.dated,
        "by_person": signals.by_person,
        "brevity": signals.brevity,
        "present": signals.present,
        "lead": signals.lead,
        "ahead": ahead,
        "company": part * _beyond_common(signals.company),
        "matter": signals.matter + untold * (MATTER_NOT_KNOWN - signals.matter),
        "density_and_several": signals.density * several,
        "coverage_and_several": signals.coverage * several,
        # However little was asked: the reader knows small talk when it reads it.
        "reading": signals.reading,
        "context_and_asked": part * signals.context * asked,
        "kin_by_person_and_asked": signals.kin * signals.by_person * asked,
    }


def _beyond_common(deviations: float) -> float:
    return min(max((deviations + _FAR_BELOW) / (_FAR_BELOW + _WELL_ABOVE), 0.0), 1.0)


def gain(signals: Signals) -> float:
    """How much of what strong signals gain among few memories counts for this one, 0..1. However little there is that
    chance could find: a memory that lacks the name asked for, or most of the rest, is of another matter."""
    about = signals.matched >= _WORDS_IN_COMMON or signals.coverage >= _SHARE_IN_COMMON
    return signals.names if about else 0.0


class _Weights(NamedTuple):
    bias: float
    features: Sequence[float]


class _Model(NamedTuple):
    """What counts everywhere, and what is added to it the more, the fewer memories there are, both in the order of
    `features`; and how sure one may be at most among many."""

    everywhere: _Weights
    among_few: _Weights
    at_most: float


@cache
def _model() -> _Model:
    model: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "confidence.json").read_text("utf-8"))
    everywhere, among_few = (
        _Weights(model[part]["bias"], tuple(model[part].get(name, 0.0) for name in features(Signals())))
        for part in ("weights", "among_few")
    )
    return _Model(everywhere, among_few, model["at_most"])


def at_most() -> float:
    """How sure the confidence may be: whatever a memory looks like, the answer may have been given on another occasion.
    The fewer memories there are, the more it may be for one that is about the matter."""
    return _model().at_most


def confidence(signals: Signals) -> float:
    """The probability that the memory helps with the ask, 0..1."""
    everywhere, among_few, most = _model()
    values = features(signals).values()
    total = everywhere.bias + sum(map(mul, everywhere.features, values))
    if signals.few:
        gained = gain(signals)
        added = among_few.bias + sum(map(mul, among_few.features, values))
        total += signals.few * (added * gained if added > 0 else added)
        most += (1 - most) * signals.few * gained
    most *= 1 - (1 - OF_ANOTHER) * signals.another
    return most / (1 + math.exp(-min(max(total, -30.0), 30.0)))
