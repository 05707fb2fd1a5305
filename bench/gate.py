"""Whether the gate speaks when it should and is silent when it should: `foreword bench gate --data PATH [--json]`.

Answerable questions are asked of their own history and of other people's; asks that deserve no memory are asked of all
kinds of histories in turns; near misses, which have the right topic and no answer, are reported apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.histories import FOREIGN, NEAR_MISS, OWN, Findings, Judged
from bench.quality import table
from bench.rivals import SIGNALS
from bench.sets import SILENT_KINDS
from foreword import Settings

BINS = 10
_UNEQUAL = (OWN, NEAR_MISS, FOREIGN)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Roc:
    """Share of own questions against share of foreign ones that a bar lets pass, from the highest bar to the lowest."""

    false_alarms: Floats
    recall: Floats

    @property
    def auroc(self) -> float:
        return float(np.trapezoid(self.recall, self.false_alarms))

    def at(self, false_alarms: float) -> float:
        """The best recall of a bar with at most this share of false alarms."""
        return float(self.recall[self.false_alarms <= false_alarms + 1e-12].max())

    def summary(self) -> dict[str, float]:
        return {"recall@fa5": _share(self.at(0.05)), "recall@fa10": _share(self.at(0.10)), "auroc": _share(self.auroc)}


def roc(own: Sequence[float], foreign: Sequence[float]) -> Roc | None:
    """None when there is nothing to tell apart. Equal scores pass together."""
    if not own or not foreign:
        return None
    mine, theirs = np.sort(np.array(own, np.float64)), np.sort(np.array(foreign, np.float64))
    bars = np.unique(np.concatenate((mine, theirs)))[::-1]
    return Roc(
        np.append(0.0, 1 - np.searchsorted(theirs, bars) / len(theirs)),
        np.append(0.0, 1 - np.searchsorted(mine, bars) / len(mine)),
    )


@dataclass(frozen=True, slots=True)
class Bin:
    """The asks whose confidence lies between `low` and `high`: how sure, how often right, and their share of all."""

    low: float
    high: float
    sure: float
    right: float
    weight: float
    n: int


def reliability(asks: Sequence[tuple[float, bool, float]]) -> list[Bin]:
    """Ten steps of confidence over (sure, right, weight); empty ones are left out."""
    steps: list[list[tuple[float, bool, float]]] = [[] for _ in range(BINS)]
    for one in asks:
        steps[min(int(one[0] * BINS), BINS - 1)].append(one)
    total = sum(weight for _, _, weight in asks)
    bins = []
    for place, inside in enumerate(steps):
        if inside:
            weight = sum(each for _, _, each in inside)
            sure = sum(sure * each for sure, _, each in inside) / weight
            right = sum(right * each for _, right, each in inside) / weight
            bins.append(Bin(place / BINS, (place + 1) / BINS, sure, right, weight / total, len(inside)))
    return bins


def expected_error(bins: Sequence[Bin]) -> float | None:
    """Expected calibration error: the mean distance between how sure and how often right."""
    return _share(sum(one.weight * abs(one.sure - one.right) for one in bins)) if bins else None


@dataclass(frozen=True, slots=True)
class Measured:
    """The numbers, and the curves that are drawn of them."""

    result: dict[str, Any]
    rocs: dict[str, dict[str, Roc]]
    bins: list[Bin]
    bins_by_set: dict[str, list[Bin]]


def score(findings: Mapping[str, Findings]) -> Measured:
    """Shares between 0 and 1; None where the data has nothing to measure it by."""
    sets = {name: found.judged for name, found in findings.items()}
    everything = [one for judged in sets.values() for one in judged]
    rocs = {name: curves for name, judged in sets.items() if (curves := _rocs(judged))}
    # LongMemEval's where there is any: that is how others count.
    main = next(iter(sets))
    weighted = [one for judged in sets.values() for one in _weighted(judged)]
    bins = reliability(weighted)
    by_set = {name: _of_set(judged, rocs.get(name, {})) for name, judged in sets.items()}
    tokens = [value for judged in sets.values() if (value := _tokens(judged)) is not None]
    kinds = dict.fromkeys((*SILENT_KINDS, *(one.kind for one in everything if one.kind not in _UNEQUAL)))
    given = [one.given for one in everything if one.given]
    result: dict[str, Any] = {
        "foreign": by_set[main]["foreign"],
        "silence": {kind: _spoken(everything, kind) for kind in kinds},
        "near_miss": _spoken(everything, NEAR_MISS),
        "ece": expected_error(bins),
        "tokens_per_turn": round(fmean(tokens), 1) if tokens else None,
        "tokens_max": max((one.tokens for one in given), default=0),
        "tokens_cap": Settings().compose.max_hot_tokens,
        "over_cap": sum(one.over_cap for one in given),
        "own": by_set[main]["own"],
        "own_right": by_set[main]["own_right"],
        "foreign_given": by_set[main]["foreign_given"],
        **{name: values for name, values in by_set.items() if len(by_set) > 1},
        "reliability": [
            {
                "from": one.low,
                "to": one.high,
                "confidence": _share(one.sure),
                "right": _share(one.right),
                "weight": _share(one.weight),
                "n": one.n,
            }
            for one in bins
        ],
        "n": {kind: sum(one.kind == kind for one in everything) for kind in (*_UNEQUAL, *kinds)},
    }
    compared = {
        name: {signal: curve.summary() for signal, curve in curves.items() if signal in SIGNALS}
        for name, curves in rocs.items()
        if len(curves) > 1
    }
    by_set_bins = {name: reliability(_weighted(judged)) for name, judged in sets.items()}
    return Measured({**result, "compared": compared} if compared else result, rocs, bins, by_set_bins)


def _of_set(judged: Sequence[Judged], curves: Mapping[str, Roc]) -> dict[str, Any]:
    own = [one.given for one in judged if one.kind == OWN and one.given]
    nothing = dict.fromkeys(("recall@fa5", "recall@fa10", "auroc"))
    return {
        "foreign": curves["foreword"].summary() if curves else nothing,
        "silence": {
            kind: _spoken(judged, kind) for kind in dict.fromkeys(one.kind for one in judged) if kind not in _UNEQUAL
        },
        "near_miss": _spoken(judged, NEAR_MISS),
        "ece": expected_error(reliability(_weighted(judged))),
        "own": _spoken(judged, OWN),
        "own_right": _share(fmean(one.right for one in own)) if own else None,
        "foreign_given": _spoken(judged, FOREIGN),
    }


def _rocs(judged: Sequence[Judged]) -> dict[str, Roc]:
    """Foreword's curve under `foreword`, and that of each plain signal that was asked."""
    own, foreign = ([one for one in judged if one.kind == kind] for kind in (OWN, FOREIGN))
    scores = {"foreword": ([one.sure or 0.0 for one in own], [one.sure or 0.0 for one in foreign])}
    for signal in own[0].signals if own else ():
        scores[signal] = ([one.signals[signal] for one in own], [one.signals[signal] for one in foreign])
    return {name: curve for name, both in scores.items() if (curve := roc(*both))}


def _spoken(judged: Sequence[Judged], kind: str) -> float | None:
    """The share of asks of a kind that were given anything."""
    asks = [one.given is not None for one in judged if one.kind == kind]
    return _share(fmean(asks)) if asks else None


def _weighted(judged: Sequence[Judged]) -> list[tuple[float, bool, float]]:
    """Of each ask the candidate that decides. Own questions weigh half, those that deserve nothing the other half; a
    near miss counts on neither side, and where nothing was found nothing was decided."""
    decided = [
        (one.kind == OWN, one.sure, one.right) for one in judged if one.kind != NEAR_MISS and one.sure is not None
    ]
    mine = sum(own for own, _, _ in decided)
    if not mine or mine == len(decided):
        return [(sure, right, 1 / len(decided)) for _, sure, right in decided]
    return [(sure, right, 0.5 / (mine if own else len(decided) - mine)) for own, sure, right in decided]


def _tokens(judged: Sequence[Judged]) -> float | None:
    """Tokens a turn on a day of which half is own questions and half deserves silence."""
    halves = [
        [
            one.given.tokens if one.given else 0
            for one in judged
            if (one.kind == OWN) is own and one.kind not in (NEAR_MISS, FOREIGN)
        ]
        for own in (True, False)
    ]
    return fmean(fmean(half) for half in halves) if all(halves) else None


def _share(value: float) -> float:
    return round(float(value), 4)


def lines(result: Mapping[str, Any]) -> list[str]:
    """The result as tables, for people."""
    written = []
    compared = result.get("compared", {})
    sets = {name: result[name] for name in ("longmemeval", "locomo") if name in result} or {"all": result}
    for name, of in sets.items():
        signals: dict[str, Any] = compared.get(name) or next(iter(compared.values()), {})
        rows = {"Foreword": of["foreign"]} | {SIGNALS[signal]: row for signal, row in signals.items()}
        written += [f"Own against foreign questions, {name}"]
        written += [*table(rows, ("recall@fa5", "recall@fa10", "auroc"), digits=3), ""]
    shares: dict[str, dict[str, float | None]] = {}
    for name, of in {"reported": result, **sets}.items():
        for label, value in (
            ("own questions", of["own"]),
            ("  of these with evidence", of["own_right"]),
            ("foreign questions", of["foreign_given"]),
            ("near misses", of["near_miss"]),
            *of["silence"].items(),
        ):
            shares.setdefault(label, {})[name] = value
    columns = ("reported", *sets) if len(sets) > 1 else ("reported",)
    written += ["Share of asks that are given anything", *table(shares, columns, digits=3)]
    steps = {f"{one['from']:.1f} to {one['to']:.1f}": one for one in result["reliability"]}
    if steps:
        written += ["", f"Reliability of the candidate that decides, expected calibration error {result['ece']:.4f}"]
        written += table(steps, ("confidence", "right", "weight", "n"), digits=3)
    tokens = result["tokens_per_turn"]
    written += [
        "",
        f"Tokens a turn over a mixed day: {'-' if tokens is None else tokens}; the most was {result['tokens_max']} of"
        f" {result['tokens_cap']}, {result['over_cap']} over a cap.",
    ]
    return written
