"""How much of the evidence recall finds, on public data sets: `foreword bench quality --data PATH [--json]`.

Each question is asked of its own history, filled through the engine. LongMemEval is strict: all sessions with evidence
among the first five. LoCoMo counts turns: the share of evidence turns among the first ten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from bench.histories import Findings, Ranked, Searched
from bench.rivals import FTS5_SESSIONS, NAMES
from bench.sets import Question

_Finds = Sequence[tuple[Question, Ranked]]


def score(findings: Mapping[str, Findings]) -> dict[str, Any]:
    """The measures by set in percent, and under `compared` the same of every rival that was asked."""
    scores: dict[str, Callable[[_Finds], dict[str, Any]]] = {"longmemeval": _sessions, "locomo": _turns}
    result: dict[str, Any] = {}
    compared: dict[str, Any] = {}
    for name, found in findings.items():
        if not found.searched:
            continue
        result[name] = scores[name]([(one.question, one.found) for one in found.searched])
        rivals = {
            rival: scores[name]([(one.question, one.rivals[rival]) for one in found.searched])
            for rival in _rivals(name, found.searched)
        }
        if rivals:
            compared[name] = rivals
    return {**result, "compared": compared} if compared else result


def _rivals(name: str, searched: Sequence[Searched]) -> list[str]:
    # A whole session is no answer where turns are counted.
    return [rival for rival in searched[0].rivals if not (name == "locomo" and rival == FTS5_SESSIONS)]


def _sessions(finds: _Finds) -> dict[str, Any]:
    def share(one: Callable[[frozenset[str], Ranked], bool], finds: _Finds) -> float:
        return _percent([one(question.evidence_sessions, ranked) for question, ranked in finds])

    def all_of_five(evidence: frozenset[str], ranked: Ranked) -> bool:
        return evidence <= set(ranked.sessions[:5])

    by_type: dict[str, list[tuple[Question, Ranked]]] = defaultdict(list)
    for question, ranked in finds:
        by_type[question.type].append((question, ranked))
    return {
        "recall_all@5": share(all_of_five, finds),
        "recall_any@5": share(lambda evidence, ranked: bool(evidence & set(ranked.sessions[:5])), finds),
        "recall_all@10": share(lambda evidence, ranked: evidence <= set(ranked.sessions[:10]), finds),
        "n": len(finds),
        "by_type": {kind: share(all_of_five, some) for kind, some in sorted(by_type.items())},
    }


def _turns(finds: _Finds) -> dict[str, Any]:
    by_category: dict[str, list[float]] = defaultdict(list)
    sessions = []
    for question, ranked in finds:
        by_category[question.type].append(len(question.evidence & set(ranked.turns[:10])) / len(question.evidence))
        wanted = question.evidence_sessions
        sessions.append(len(wanted & set(ranked.sessions[:10])) / len(wanted) if wanted else 0.0)
    return {
        "turn_recall@10": _percent([share for shares in by_category.values() for share in shares]),
        "session_recall@10": _percent(sessions),
        "by_category": {category: _percent(shares) for category, shares in sorted(by_category.items())},
        "n": len(sessions),
    }


def _percent(shares: Sequence[float]) -> float:
    return round(100 * fmean(shares), 1)


def lines(result: Mapping[str, Any]) -> list[str]:
    """The result as tables, for people."""
    written: list[str] = []
    for name, title, measures, groups in (
        ("longmemeval", "LongMemEval, sessions, %", ("recall_all@5", "recall_any@5", "recall_all@10"), "by_type"),
        ("locomo", "LoCoMo, turns and sessions, %", ("turn_recall@10", "session_recall@10"), "by_category"),
    ):
        if name not in result:
            continue
        rows = {"Foreword": result[name]} | {
            NAMES[rival]: row for rival, row in result.get("compared", {}).get(name, {}).items()
        }
        written += ["", f"{title} (n = {result[name]['n']})", *table(rows, measures)]
        kinds = {kind: {label: row[groups][kind] for label, row in rows.items()} for kind in result[name][groups]}
        written += ["", f"{measures[0]} by type", *table(kinds, tuple(rows))]
    return written[1:]


def table(rows: Mapping[str, Mapping[str, float | None]], measures: Sequence[str], *, digits: int = 1) -> list[str]:
    """One line a row, one column a measure, numbers flush right."""
    first = max(len(label) for label in rows)
    heads = "  ".join(f"{measure:>8}" for measure in measures)
    return [f"  {'':<{first}}  {heads}"] + [
        f"  {label:<{first}}  "
        + "  ".join(f"{_number(row.get(measure), digits):>{max(8, len(measure))}}" for measure in measures)
        for label, row in rows.items()
    ]


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"
