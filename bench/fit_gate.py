"""Fits the gate's confidence and writes `src/foreword/gate/data/confidence.json`:
`python -m bench.fit_gate --data PATH` where PATH holds `longmemeval` and `silence`.

Each question is asked of its own history (memories of its evidence sessions help, the others do not), of other people's
histories (nothing helps), and beside it stand asks that deserve no memory. Histories are cut to several sizes and
questions to their rarest words, so that the confidence means the same in a small store and a large one, for a long
question and a short one. The weights come first, from whole histories, each asked by many strangers: what is hard is to
tell whose question it is. Then they are calibrated for a usual day. Then comes what is added to them among few
memories, from the smaller stores as well. LoCoMo is never fitted on: its licence does not allow it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.gate import roc
from bench.histories import pool, say
from bench.sets import SESSION_PREFIX, Haystack, Question, find, longmemeval, silence
from foreword import Foreword, Settings
from foreword.gate import GatePolicy, features, gain
from foreword.gate.confidence import OF_ANOTHER
from foreword.model import Signals
from foreword.recall import understand

TARGET = Path(__file__).resolve().parents[1] / "src/foreword/gate/data/confidence.json"
# Sessions beside the evidence: from a store of a few days to the whole history.
SIZES = (2, 10, None)
# What the person said beside the evidence, in messages, where nothing else was recorded.
NOTES = (4, 16, 48)
# A store this small is reported apart.
SMALL = 50
SHORT_TERMS = 3
FOLDS = 5
CUT = "-cut-"
FOREIGN_SHORT = "foreign-short"
# How much each kind of ask weighs on a usual day: two asks of three deserve nothing, as live audits of memory
# tools found.
DAY = {"own": 0.26, "short": 0.09, "foreign": 0.29, "silence": 0.36}
# And while the weights are learnt: most is to be learnt from strangers, for the reader knows what deserves nothing.
LESSON = {"own": 0.16, "short": 0.09, "foreign": 0.55, "silence": 0.20}
# Among many memories no confidence says more: one may read like the very answer and be of another occasion. In these
# histories it never is; between people who speak of the same things again and again one in five was.
AT_MOST = 0.95
RIDGE = 3e-4
# Among few memories the sure ones are surer than such a ridge would let them be.
RIDGE_AMONG_FEW = 3e-5
ROUNDS = 4
CALIBRATION_ROUNDS = 50
STEPS = 2000

Array = NDArray[np.float64]
_Prepared: TypeAlias = "tuple[Case, Array, NDArray[np.bool_]]"


@dataclass(frozen=True, slots=True)
class Case:
    """One ask of one store: which of the first candidates helped, and what the gate saw of them."""

    group: str
    kind: str
    memories: int
    candidates: Sequence[tuple[bool, Signals]]
    whole: bool = False
    notes: bool = False

    @property
    def part(self) -> str:
        return {FOREIGN_SHORT: "foreign"}.get(self.kind, self.kind if self.kind in DAY else "silence")


@dataclass(frozen=True, slots=True)
class Model:
    """The bias and the weights; and what is added to them among few memories."""

    everywhere: Array
    among_few: Array

    def sure(self, case: Case, inputs: Array) -> Array:
        """As `foreword.gate.confidence` has it."""
        few, gains = (np.array([of(one) for _, one in case.candidates]) for of in (attrgetter("few"), gain))
        added = inputs @ self.among_few
        added = np.where(added > 0, added * gains, added)
        most = AT_MOST + (1 - AT_MOST) * few * gains
        most *= 1 - (1 - OF_ANOTHER) * np.array([one.another for _, one in case.candidates])
        chance: Array = most / (1 + np.exp(-(inputs @ self.everywhere + few * added)))
        return chance


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
    model = _fit(cases)
    document = {
        "version": 3,
        "at_most": AT_MOST,
        "weights": _named(model.everywhere),
        "among_few": _named(model.among_few),
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


@dataclass(frozen=True, slots=True)
class _Beside:
    """How many asks stand beside a store's own question: strangers' questions, some of these cut short, and asks that
    deserve no memory."""

    strangers: int = 4
    short: int = 0
    silent: int = 6


# Chance finds something for a few strangers in a hundred, so a few strangers would not tell.
OF_WHOLE, OF_CUT, OF_NOTES = _Beside(strangers=20, short=6, silent=12), _Beside(), _Beside(short=2)


@dataclass(frozen=True, slots=True)
class _Errand:
    """What is asked of one store: (kind, text, the question if it is one that the store can answer)."""

    store: Haystack
    asks: Sequence[tuple[str, str, Question | None]]
    notes: bool = False


def _cases(haystacks: Sequence[Haystack], silences: Sequence[tuple[str, str]]) -> Iterator[Case]:
    errands = list(_errands(haystacks, silences))
    with tempfile.TemporaryDirectory() as folder, pool() as processes:
        for place, cases in enumerate(processes.map(_asked, errands, [Path(folder)] * len(errands)), start=1):
            yield from cases
            say(f"{place} of {len(errands)} stores")
    say("")


def _errands(haystacks: Sequence[Haystack], silences: Sequence[tuple[str, str]]) -> Iterator[_Errand]:
    # The stores of notes roll dice of their own: the weights that count everywhere do not change with them.
    dice, dice_of_notes = random.Random(11), random.Random(12)
    for haystack in haystacks:
        for size in SIZES:
            store = _cut(haystack, size, dice)
            yield _Errand(store, _asks(store, haystacks, silences, dice, OF_CUT if size else OF_WHOLE))
        for count in NOTES:
            store = _notes(haystack, count, dice_of_notes)
            yield _Errand(store, _asks(store, haystacks, silences, dice_of_notes, OF_NOTES), notes=True)


def _asks(
    store: Haystack,
    haystacks: Sequence[Haystack],
    silences: Sequence[tuple[str, str]],
    dice: random.Random,
    beside: _Beside,
) -> list[tuple[str, str, Question | None]]:
    question = store.questions[0]
    keys = {key for key, _, _ in store.sessions}
    asks: list[tuple[str, str, Question | None]] = []
    if question.answerable:
        asks += [("own", question.text, question), ("short", short(question.text), question)]
    others = [other.questions[0] for other in haystacks if other.questions[0] is not question]
    strangers = [one for one in dice.sample(others, min(beside.strangers, len(others))) if not one.evidence & keys]
    asks += [("foreign", one.text, None) for one in strangers]
    asks += [(FOREIGN_SHORT, short(one.text), None) for one in strangers[: beside.short]]
    asks += [(*dice.choice(silences), None) for _ in range(beside.silent)]
    return asks


def _asked(errand: _Errand, folder: Path) -> list[Case]:
    # Whether a memory is worth reading is judged by the very weights that are to be fitted: here the first few are read
    # whatever they say.
    with errand.store.filled(folder, Settings(gate=GatePolicy(floor=0.0))) as foreword:
        cases = [_case(foreword, errand.store, *ask, notes=errand.notes) for ask in errand.asks]
    shutil.rmtree(folder / errand.store.id)
    return cases


def _cut(haystack: Haystack, size: int | None, dice: random.Random) -> Haystack:
    if size is None:
        return haystack
    evidence = haystack.questions[0].evidence
    rest = [session for session in haystack.sessions if session[0] not in evidence]
    kept = [session for session in haystack.sessions if session[0] in evidence] + dice.sample(
        rest, min(size, len(rest))
    )
    return replace(haystack, id=f"{haystack.id}{CUT}{size}", sessions=sorted(kept, key=lambda session: session[1]))


def _notes(haystack: Haystack, count: int, dice: random.Random) -> Haystack:
    """What the person said in the evidence sessions, and a few messages of others: a store of the first days."""
    said = [(key, start, [turn for turn in turns if turn[0] == "user"]) for key, start, turns in haystack.sessions]
    evidence = haystack.questions[0].evidence
    rest = [turn for key, _, turns in said if key not in evidence for turn in turns]
    chosen = {turn[2] for turn in dice.sample(rest, min(count, len(rest)))}
    kept = [
        (key, start, [turn for turn in turns if key in evidence or turn[2] in chosen]) for key, start, turns in said
    ]
    return replace(haystack, id=f"{haystack.id}{CUT}notes-{count}", sessions=[one for one in kept if one[2]])


def short(text: str, terms: int = SHORT_TERMS) -> str:
    """The question as somebody in a hurry would put it: its longest words, which are mostly its rarest."""
    words = [word.strip("?.,!\"'") for word in text.split()]
    informative = [word for word in words if understand(word, now=0.0).terms]
    kept = set(sorted(informative, key=len, reverse=True)[:terms])
    return " ".join(word for word in words if word in kept)


def _case(foreword: Foreword, store: Haystack, kind: str, text: str, question: Question | None, *, notes: bool) -> Case:
    found = foreword.search(text, limit=foreword.settings.recall.candidates)
    candidates = [
        (
            question is not None and one.memory.session.removeprefix(SESSION_PREFIX) in question.evidence,
            one.candidate.signals,
        )
        # In recall's own order: the gate's follows from the very weights that are to be fitted.
        for one in sorted(found, key=lambda one: -one.candidate.score)
    ]
    group, _, cut = store.id.partition(CUT)
    memories = sum(len(turns) for _, _, turns in store.sessions)
    return Case(group, kind, memories, candidates, whole=not cut, notes=notes)


def _prepared(cases: Sequence[Case]) -> list[_Prepared]:
    return [
        (
            case,
            np.array([[1.0, *features(signals).values()] for _, signals in case.candidates]),
            np.array([helped for helped, _ in case.candidates]),
        )
        for case in cases
        if case.candidates
    ]


def _fit(cases: Sequence[Case]) -> Model:
    """Logistic regression on the candidates that decide. The gate speaks or not by its best candidate, so each ask
    gives the best that helped and the best that did not; which those are follows from the weights, so the fit is
    repeated."""
    prepared = _prepared(cases)
    whole = [one for one in prepared if one[0].whole]
    everywhere: Array | None = None
    for _ in range(ROUNDS):
        rows = _deciding(whole, everywhere, LESSON)
        everywhere = _regression(rows.inputs, rows.labels, rows.weights, ridge=RIDGE)
    assert everywhere is not None
    everywhere = _calibrated(everywhere, _deciding(whole, everywhere, DAY))
    rows = _deciding(prepared, everywhere, DAY)
    among_few = _regression(
        rows.inputs * rows.few[:, None],
        rows.labels,
        rows.weights,
        ridge=RIDGE_AMONG_FEW,
        start=np.zeros(len(everywhere)),
        given=rows.inputs @ everywhere,
    )
    return Model(everywhere, among_few)


@dataclass(frozen=True, slots=True)
class _Rows:
    inputs: Array
    few: Array
    labels: Array
    weights: Array


def _deciding(prepared: Sequence[_Prepared], beta: Array | None, parts: Mapping[str, float]) -> _Rows:
    share = _shares([case for case, _, _ in prepared], parts)
    rows: list[tuple[Array, float, float, float]] = []
    for case, inputs, helped in prepared:
        sure = inputs @ beta if beta is not None else -np.arange(len(inputs), dtype=np.float64)
        few = case.candidates[0][1].few
        for label in (True, False):
            among = np.flatnonzero(helped == label)
            if len(among):
                best = inputs[among[np.argmax(sure[among])]]
                half = 0.5 if helped.any() and not label else 1.0
                rows.append((best, few, float(label), share[case.part] * half))
    return _Rows(*(np.array(column, np.float64) for column in zip(*rows, strict=True)))


def _shares(cases: Sequence[Case], parts: Mapping[str, float]) -> dict[str, float]:
    counts = Counter(case.part for case in cases)
    return {part: parts[part] / count for part, count in counts.items()}


def _calibrated(beta: Array, rows: _Rows) -> Array:
    """The same weights, stretched and shifted as a whole so that they say how often they are right (Platt's scaling, by
    Newton's steps)."""
    weights, told = rows.weights / rows.weights.sum(), np.c_[rows.inputs @ beta, np.ones(len(rows.labels))]
    scale = np.array([1.0, 0.0])
    for _ in range(CALIBRATION_ROUNDS):
        chance = 1 / (1 + np.exp(-(told @ scale)))
        curvature = told.T @ (told * (weights * chance * (1 - chance))[:, None])
        scale = scale - np.linalg.solve(curvature, told.T @ (weights * (chance - rows.labels)))
    stretched: Array = beta * scale[0]
    stretched[0] += scale[1]
    return stretched


def _named(weights: Array) -> dict[str, float]:
    names = ["bias", *features(Signals())]
    return {name: round(float(value), 3) for name, value in zip(names, weights, strict=True)}


def _regression(
    inputs: Array,
    labels: Array,
    weights: Array,
    *,
    ridge: float,
    start: Array | None = None,
    given: Array | float = 0.0,
) -> Array:
    """With a small ridge, and on top of what is `given`. No signal may count against a memory: each was made so that
    more of it is better, and a negative weight would only be learnt from what is peculiar to the data."""
    weights = weights / weights.sum()
    beta = np.r_[-2.0, np.zeros(inputs.shape[1] - 1)] if start is None else start
    ridges = np.r_[0.0, np.full(len(beta) - 1, ridge)]
    # The longest step that cannot overshoot.
    pace = 1 / (np.linalg.norm(inputs.T @ (inputs * weights[:, None]), 2) / 4 + ridge)
    ahead, momentum = beta, 1.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(given + inputs @ ahead)))
        stepped = ahead - pace * (inputs.T @ (weights * (chance - labels)) + ridges * ahead)
        stepped[1:] = np.maximum(stepped[1:], 0)
        # Nesterov's: a look ahead saves nine steps in ten.
        faster = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead, beta, momentum = stepped + (momentum - 1) / faster * (stepped - beta), stepped, faster
    return beta


def _cross_validated(cases: Sequence[Case]) -> dict[str, Any]:
    """What the confidence does on histories it was not fitted on: of each ask, the candidate that decides. Recall and
    shares are those of whole histories and of small stores, calibration is that of all sizes and of small stores."""
    groups = sorted({case.group for case in cases})
    decided: list[tuple[Case, float, bool]] = []
    for fold in range(FOLDS):
        held = set(groups[fold::FOLDS])
        model = _fit([case for case in cases if case.group not in held])
        for case, inputs, helped in _prepared([case for case in cases if case.group in held]):
            sure = model.sure(case, inputs)
            decided.append((case, float(sure.max()), bool(helped[int(np.argmax(sure))])))
    small = [one for one in decided if one[0].memories <= SMALL]
    return {
        "calibration_error": _calibration_error(decided),
        **_separation([one for one in decided if one[0].whole]),
        "small_stores": {"calibration_error": _calibration_error(small), **_separation(small)},
    }


def _separation(decided: Sequence[tuple[Case, float, bool]]) -> dict[str, Any]:
    best: dict[str, list[float]] = {}
    for case, sure, _ in decided:
        best.setdefault(case.kind, []).append(sure)
    own, foreign = np.array(best["own"]), np.array(best["foreign"])
    told_apart = roc(best["own"], best["foreign"])
    return {
        "auroc": round(told_apart.auroc, 3) if told_apart else None,
        "recall_at_5_percent_foreign": round(float((own > np.quantile(foreign, 0.95)).mean()), 3),
        "recall_at_10_percent_foreign": round(float((own > np.quantile(foreign, 0.90)).mean()), 3),
        **{
            f"share_at_{bar}": {kind: round(float((np.array(sure) >= bar).mean()), 3) for kind, sure in best.items()}
            for bar in (0.6, 0.75)
        },
    }


def _calibration_error(decided: Sequence[tuple[Case, float, bool]]) -> float:
    """The mean distance between how sure it was and how often it was right, in ten steps; each kind of ask weighs as
    in the fit."""
    share = _shares([case for case, _, _ in decided], DAY)
    chances, truths, shares = (
        np.array(column, np.float64)
        for column in zip(*((sure, right, share[case.part]) for case, sure, right in decided), strict=True)
    )
    error = 0.0
    for low in np.arange(0, 1, 0.1):
        inside = (chances >= low) & (chances < low + 0.1)
        if inside.any():
            gap = np.average(chances[inside] - truths[inside], weights=shares[inside])
            error += float(abs(gap) * shares[inside].sum() / shares.sum())
    return round(error, 4)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
