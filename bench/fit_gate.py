"""Fits the gate's confidence and writes `src/foreword/gate/data/confidence.json`:
`python -m bench.fit_gate --data PATH` where PATH holds `longmemeval` and `silence`.

Each question is asked of its own history (memories of its evidence sessions help, the others do not), of other people's
histories (nothing helps), and beside it stand asks that deserve no memory. Histories are cut to several sizes and
questions to their rarest words, so that the confidence means the same in a small store and a large one, for a long
question and a short one. LoCoMo is never fitted on: its licence does not allow it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.sets import SESSION_PREFIX, Haystack, Question, find, longmemeval, silence
from foreword import Foreword
from foreword.gate import features
from foreword.model import Signals
from foreword.recall import understand

TARGET = Path(__file__).resolve().parents[1] / "src/foreword/gate/data/confidence.json"
# Sessions beside the evidence: from a store of a few days to the whole history.
SIZES = (2, 10, None)
STRANGERS = 4
SILENT_ASKS = 6
SHORT_TERMS = 3
FOLDS = 5
CUT = "-cut-"
# How much each kind of ask weighs: rather more of a day deserves nothing than something.
PARTS = {"own": 0.33, "short": 0.12, "foreign": 0.25, "silence": 0.3}
RIDGE = 2e-3
ROUNDS = 4
STEPS = 2000
PACE = 1.0

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One ask of one store: which of the first candidates helped, and what the gate saw of them."""

    group: str
    kind: str
    whole: bool
    candidates: Sequence[tuple[bool, Signals]]

    @property
    def part(self) -> str:
        return self.kind if self.kind in PARTS else "silence"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--dry-run", action="store_true", help="fit and report, write nothing")
    options = parser.parse_args(argv)
    memories, silences = find(options.data, "longmemeval"), find(options.data, "silence")
    if memories is None or silences is None:
        parser.error(f"{options.data} does not hold both longmemeval and silence")
    cases = list(_cases(longmemeval(memories), silence(silences)))
    report = _cross_validated(cases)
    names, weights = _fit(cases)
    document = {
        "version": 1,
        "weights": {name: round(float(value), 3) for name, value in zip(names, weights, strict=True)},
        "provenance": {
            "made_by": "python -m bench.fit_gate",
            "data": {
                "longmemeval": "LongMemEval, MIT",
                "silence": "Microsoft chit-chat, MIT; CLINC150 out-of-scope, CC BY 3.0",
                "sha256": {
                    file.name: _digest(file) for file in (memories / "questions.jsonl", silences / "asks.jsonl")
                },
            },
            "cases": len(cases),
            "cross_validated": report,
        },
    }
    print(json.dumps(document, indent=2))
    if not options.dry_run:
        TARGET.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return 0


def _cases(haystacks: Sequence[Haystack], silences: Sequence[tuple[str, str]]) -> Iterator[Case]:
    dice = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        for place, haystack in enumerate(haystacks):
            question = haystack.questions[0]
            others = [other for other in haystacks if other is not haystack]
            for size in SIZES:
                store = _cut(haystack, size, dice)
                keys = {key for key, _, _ in store.sessions}
                with store.filled(Path(folder)) as foreword:
                    if question.answerable:
                        for kind, text in (("own", question.text), ("short", _short(question.text))):
                            yield _case(foreword, store, kind, text, question)
                    strangers = [one.questions[0] for one in dice.sample(others, STRANGERS)]
                    for stranger in strangers:
                        if not stranger.evidence & keys:
                            yield _case(foreword, store, "foreign", stranger.text)
                    for _ in range(SILENT_ASKS):
                        kind, text = dice.choice(silences)
                        yield _case(foreword, store, kind, text)
            if sys.stderr.isatty():
                print(f"\r{place + 1} of {len(haystacks)} histories", end="", file=sys.stderr, flush=True)


def _cut(haystack: Haystack, size: int | None, dice: random.Random) -> Haystack:
    if size is None:
        return haystack
    evidence = haystack.questions[0].evidence
    rest = [session for session in haystack.sessions if session[0] not in evidence]
    kept = [session for session in haystack.sessions if session[0] in evidence] + dice.sample(
        rest, min(size, len(rest))
    )
    return replace(haystack, id=f"{haystack.id}{CUT}{size}", sessions=sorted(kept, key=lambda session: session[1]))


def _short(text: str) -> str:
    """The question as somebody in a hurry would put it: its longest words, which are mostly its rarest."""
    words = [word.strip("?.,!\"'") for word in text.split()]
    informative = [word for word in words if understand(word, now=0.0).terms]
    kept = set(sorted(informative, key=len, reverse=True)[:SHORT_TERMS])
    return " ".join(word for word in words if word in kept)


def _case(foreword: Foreword, store: Haystack, kind: str, text: str, question: Question | None = None) -> Case:
    candidates = [
        (
            question is not None and one.memory.session.removeprefix(SESSION_PREFIX) in question.evidence,
            one.candidate.signals,
        )
        for one in foreword.search(text, limit=foreword.settings.recall.candidates)
    ]
    group, _, cut = store.id.partition(CUT)
    return Case(group, kind, not cut, candidates)


def _prepared(cases: Sequence[Case]) -> list[tuple[Case, Array, NDArray[np.bool_]]]:
    return [
        (
            case,
            np.array([[1.0, *features(signals).values()] for _, signals in case.candidates]),
            np.array([helped for helped, _ in case.candidates]),
        )
        for case in cases
        if case.candidates
    ]


def _fit(cases: Sequence[Case]) -> tuple[list[str], Array]:
    """Logistic regression on the candidates that decide. The gate speaks or not by its best candidate, so each ask
    gives the best that helped and the best that did not; which those are follows from the weights, so the fit is
    repeated."""
    prepared = _prepared(cases)
    share = _shares([case for case, _, _ in prepared])
    names = ["bias", *features(Signals())]
    beta: Array | None = None
    for _ in range(ROUNDS):
        rows: list[tuple[Array, float, float]] = []
        for case, inputs, helped in prepared:
            sure = inputs @ beta if beta is not None else -np.arange(len(inputs), dtype=np.float64)
            for label in (True, False):
                among = np.flatnonzero(helped == label)
                if len(among):
                    best = inputs[among[np.argmax(sure[among])]]
                    rows.append((best, float(label), share[case.part] * (0.5 if helped.any() and not label else 1.0)))
        beta = _regression(*(np.array(column, np.float64) for column in zip(*rows, strict=True)))
    assert beta is not None
    return names, beta


def _shares(cases: Sequence[Case]) -> dict[str, float]:
    counts = Counter(case.part for case in cases)
    return {part: PARTS[part] / count for part, count in counts.items()}


def _regression(inputs: Array, labels: Array, weights: Array) -> Array:
    """With a small ridge. No signal may count against a memory: each was made so that more of it is better, and a
    negative weight would only be learnt from what is peculiar to the data."""
    weights = weights / weights.mean()
    beta = np.zeros(inputs.shape[1])
    beta[0] = -2.0
    ridge = np.r_[0.0, np.full(len(beta) - 1, RIDGE)]
    ahead, momentum = beta, 1.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-inputs @ ahead))
        stepped = ahead - PACE * (inputs.T @ (weights * (chance - labels)) / len(labels) + ridge * ahead)
        stepped[1:] = np.maximum(stepped[1:], 0)
        # Nesterov's: a look ahead saves nine steps in ten.
        faster = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead, beta, momentum = stepped + (momentum - 1) / faster * (stepped - beta), stepped, faster
    return beta


def _cross_validated(cases: Sequence[Case]) -> dict[str, Any]:
    """What the confidence does on histories it was not fitted on: of each ask, the candidate that decides. Recall and
    shares are those of whole histories, calibration is that of all sizes."""
    groups = sorted({case.group for case in cases})
    best: dict[str, list[float]] = {}
    share = _shares(cases)
    chances, truths, shares = [], [], []
    for fold in range(FOLDS):
        held = set(groups[fold::FOLDS])
        _, beta = _fit([case for case in cases if case.group not in held])
        for case, inputs, helped in _prepared([case for case in cases if case.group in held]):
            sure = 1 / (1 + np.exp(-inputs @ beta))
            if case.whole:
                best.setdefault(case.kind, []).append(float(sure.max()))
            chances.append(float(sure.max()))
            truths.append(float(helped[int(np.argmax(sure))]))
            shares.append(share[case.part])
    own, foreign = np.array(best["own"]), np.array(best["foreign"])
    return {
        "calibration_error": round(_calibration_error(np.array(chances), np.array(truths), np.array(shares)), 4),
        "recall_at_5_percent_foreign": round(float((own > np.quantile(foreign, 0.95)).mean()), 3),
        "recall_at_10_percent_foreign": round(float((own > np.quantile(foreign, 0.90)).mean()), 3),
        **{
            f"share_at_{bar}": {kind: round(float((np.array(sure) >= bar).mean()), 3) for kind, sure in best.items()}
            for bar in (0.6, 0.75)
        },
    }


def _calibration_error(chances: Array, truths: Array, shares: Array) -> float:
    """The mean distance between how sure it was and how often it was right, in ten steps; half of the asks deserve."""
    error = 0.0
    for low in np.arange(0, 1, 0.1):
        inside = (chances >= low) & (chances < low + 0.1)
        if inside.any():
            gap = np.average(chances[inside] - truths[inside], weights=shares[inside])
            error += float(abs(gap) * shares[inside].sum() / shares.sum())
    return error


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
