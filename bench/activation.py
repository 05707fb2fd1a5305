"""What links find: `python -m bench.activation --data PATH [--json] [--limit N]`. Every question that needs several
memories is asked twice of its history, with links and without, and the evidence among the candidates is counted, apart
for memories that share no word with the question. Nothing else may change: not what is found directly, not silence."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.histories import read, say
from bench.sets import SESSION_PREFIX, Haystack, Question
from foreword import Ask, Foreword, Memory, Settings
from foreword.errors import BadInput
from foreword.recall import bag, understand

# The questions that take more than one memory, by set.
_KINDS = {"longmemeval": "multi-session", "locomo": "multi-hop"}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds longmemeval and locomo")
    parser.add_argument("--limit", type=int, default=0, help="no more questions of a set than this")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    try:
        result = measure(options.data, options.limit)
    except BadInput as error:
        sys.exit(str(error))
    print(json.dumps(result, indent=2) if options.json else "\n".join(_lines(result)))
    return int(any(one["direct_changed"] or one["silence_changed"] for one in result.values()))


def measure(data: Path, limit: int) -> dict[str, dict[str, int]]:
    result: dict[str, dict[str, int]] = {}
    for name, haystacks in read(data).histories.items():
        counts: Counter[str] = Counter()
        for haystack, questions in _wanted(haystacks, _KINDS[name], limit):
            say(f"{name}, {haystack.id}")
            with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
                counts.update(_asked(haystack, questions, Path(folder)))
        result[name] = {key: counts[key] for key in _MEANING}
    say("")
    return result


def _wanted(haystacks: Iterable[Haystack], kind: str, limit: int) -> Iterator[tuple[Haystack, list[Question]]]:
    left = limit or sys.maxsize
    for haystack in haystacks:
        questions = [one for one in haystack.questions if one.type == kind and one.answerable][:left]
        left -= len(questions)
        if questions:
            yield haystack, questions


def _asked(haystack: Haystack, questions: Sequence[Question], folder: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    with haystack.filled(folder) as linked:
        settings = Settings()
        without = replace(settings, recall=replace(settings.recall, associated=0))
        with Foreword.open(folder / haystack.id, settings=without) as plain:
            for number, question in enumerate(questions):
                counts.update(_compared(linked, plain, question, number))
    return counts


def _compared(linked: Foreword, plain: Foreword, question: Question, number: int) -> Counter[str]:
    def asked(foreword: Foreword, side: str) -> list[dict[str, Any]]:
        ask = Ask(question.text, session=f"{SESSION_PREFIX}{side}-{number}", at=question.at)
        candidates: list[dict[str, Any]] = foreword.receipt(foreword.brief(ask).receipt)["candidates"]
        return candidates

    after, before = asked(linked, "linked"), asked(plain, "plain")
    direct = {one["id"] for one in before}
    added = [one for one in after if one["id"] not in direct]
    memories = {one.id: one for one in linked.get([one["id"] for one in after])}
    terms = {term.hash for term in understand(question.text, now=question.at).terms}

    def evidence(rows: Iterable[dict[str, Any]], *, wordless: bool = False) -> int:
        found = (memories[one["id"]] for one in rows)
        return sum(_is_evidence(one, question) and not (wordless and _shares(one, terms)) for one in found)

    joined = [one for one in after if one["injected"] and one["link"] and "by way of" in one["reason"]]
    return Counter(
        questions=1,
        linked_questions=any(one["link"] for one in after),
        direct_evidence=evidence(before),
        direct_wordless=evidence(before, wordless=True),
        added=len(added),
        added_evidence=evidence(added),
        added_wordless=evidence(added, wordless=True),
        injected=len(joined),
        injected_evidence=evidence(joined),
        injected_wordless=evidence(joined, wordless=True),
        direct_changed=_found(before) != _found(one for one in after if one["id"] in direct)
        or not _injected(before) <= _injected(after),
        silence_changed=bool(_injected(before)) != bool(_injected(after)),
    )


def _found(candidates: Iterable[dict[str, Any]]) -> list[tuple[float, str]]:
    return sorted((one["score"], one["id"]) for one in candidates)


def _injected(candidates: Iterable[dict[str, Any]]) -> set[str]:
    return {one["id"] for one in candidates if one["injected"]}


def _is_evidence(memory: Memory, question: Question) -> bool:
    # LoCoMo names turns, LongMemEval whole sessions.
    return memory.source_id in question.evidence or memory.session.removeprefix(SESSION_PREFIX) in question.evidence


def _shares(memory: Memory, terms: set[int]) -> bool:
    """Whether the text itself holds a word of the ask; who said it and when does not count."""
    return not terms.isdisjoint(bag(Memory(memory.text)).words.tolist())


_MEANING = {
    "questions": "questions",
    "linked_questions": "of them with a link from a sure memory",
    "direct_evidence": "evidence among the direct candidates",
    "direct_wordless": "of it sharing no word with the question",
    "added": "candidates that only a link led to",
    "added_evidence": "of them evidence",
    "added_wordless": "of them evidence that shares no word",
    "injected": "memories injected by a link",
    "injected_evidence": "of them evidence",
    "injected_wordless": "of them evidence that shares no word",
    "direct_changed": "questions whose direct candidates, or what was given of them, changed",
    "silence_changed": "questions answered instead of silence, or silent instead",
}


def _lines(result: dict[str, dict[str, int]]) -> list[str]:
    width = max(map(len, _MEANING.values()))
    heads = "".join(f"{name:>14}" for name in result)
    return [f"{'':<{width}}{heads}"] + [
        f"{text:<{width}}" + "".join(f"{counts[key]:>14,}" for counts in result.values())
        for key, text in _MEANING.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
