"""How much of the evidence recall finds, on public data sets: `python -m bench.quality --data PATH [--json]`.

Sessions are ranked by their best memory. `recall_all@5` is strict: every evidence session among the first five."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.sets import Haystack, Question, find, locomo, longmemeval
from foreword import Memory

_RESULTS = 100


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds longmemeval, locomo, or both")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        if found := find(options.data, "longmemeval"):
            result["longmemeval"] = _sessions(list(_asked(longmemeval(found), Path(folder))))
        if found := find(options.data, "locomo"):
            result["locomo"] = _turns(list(_asked(locomo(found), Path(folder))))
    if not result:
        parser.error(f"{options.data} holds neither longmemeval nor locomo")
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    for name, row in result.items():
        print(f"{name} (n = {row['n']})")
        for measure, value in row.items():
            if isinstance(value, dict):
                print("  " + ", ".join(f"{kind} {share:.1f}" for kind, share in value.items()))
            elif measure != "n":
                print(f"  {measure:<20} {value:5.1f} %")
    return 0


def _asked(haystacks: Sequence[Haystack], folder: Path) -> Iterator[tuple[Question, list[Memory]]]:
    """Every answerable question with what was found for it, best first."""
    for place, haystack in enumerate(haystacks, 1):
        with haystack.filled(folder) as foreword:
            for question in haystack.questions:
                if question.answerable:
                    found = foreword.search(question.text, limit=_RESULTS)
                    # In recall's own order: a search is answered in the order of confidence, which is the gate's.
                    yield question, [one.memory for one in sorted(found, key=lambda one: -one.candidate.score)]
        if sys.stderr.isatty():
            print(f"\r{place} of {len(haystacks)} histories", end="", file=sys.stderr, flush=True)


def _sessions(asked: Sequence[tuple[Question, list[Memory]]]) -> dict[str, Any]:
    firsts = [(question.evidence, _ranked(found)) for question, found in asked]
    return {
        "recall_all@5": _percent([evidence <= set(ranked[:5]) for evidence, ranked in firsts]),
        "recall_any@5": _percent([bool(evidence & set(ranked[:5])) for evidence, ranked in firsts]),
        "recall_all@10": _percent([evidence <= set(ranked[:10]) for evidence, ranked in firsts]),
        "n": len(firsts),
    }


def _turns(asked: Sequence[tuple[Question, list[Memory]]]) -> dict[str, Any]:
    by_category: dict[str, list[float]] = defaultdict(list)
    sessions = []
    for question, found in asked:
        first = {memory.source_id for memory in found[:10]}
        by_category[question.type].append(len(question.evidence & first) / len(question.evidence))
        wanted = {turn.rsplit("t", 1)[0] for turn in question.evidence}
        sessions.append(len(wanted & set(_ranked(found)[:10])) / len(wanted))
    return {
        "turn_recall@10": _percent([share for shares in by_category.values() for share in shares]),
        "session_recall@10": _percent(sessions),
        "by_category": {category: _percent(shares) for category, shares in sorted(by_category.items())},
        "n": len(sessions),
    }


def _ranked(found: Sequence[Memory]) -> list[str]:
    return list(dict.fromkeys(memory.session.removeprefix("agent:main:") for memory in found))


def _percent(shares: Sequence[float]) -> float:
    return round(100 * fmean(shares), 1)


if __name__ == "__main__":
    sys.exit(main())
