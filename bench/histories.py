"""One pass over the histories: each is filled once through the engine, everything that is wanted of it is asked, and
its home is thrown away. What was asked and what came of it is all that `quality` and `gate` score."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from bench.rivals import Document, Rivals
from bench.sets import SESSION_PREFIX, SILENT_KINDS, Haystack, Question, find, locomo, longmemeval, silence
from foreword import Ask, Foreword, Memory
from foreword.compose import count_tokens
from foreword.errors import BadInput

OWN, NEAR_MISS, FOREIGN = "own", "near-miss", "foreign"
# Each answerable question is asked of this many other people's histories.
STRANGERS = 3
TOP = 10
_DEEP = 100
# Fewer histories than this are done before a second process is up.
_WORTH_A_PROCESS = 8
_One = TypeVar("_One")


@dataclass(frozen=True, slots=True)
class Sets:
    """What `--data` holds, by set; `limit` is 0 when nothing was left out."""

    histories: dict[str, list[Haystack]]
    silent: list[tuple[str, str]]
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    quality: bool = False
    gate: bool = False
    compare: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """The first turns and the first sessions that a search gave, best first."""

    turns: tuple[str, ...]
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """A question that counts in recall, and what Foreword and each rival found for it."""

    question: Question
    found: Ranked
    rivals: dict[str, Ranked] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Given:
    """What a brief put into the prompt; `right` when any of it is of an evidence session."""

    tokens: int
    over_cap: bool
    right: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """One ask of one history: how sure the candidate that decides was (None when there was none), whether it is of an
    evidence session, what was injected, and what plain signals would have said."""

    kind: str
    sure: float | None = None
    right: bool = False
    given: Given | None = None
    signals: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Findings:
    searched: list[Searched] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Errand:
    """Everything that is asked of one history."""

    set: str
    haystack: Haystack
    wanted: Wanted
    foreign: Sequence[Question]
    silent: Sequence[tuple[str, str]]


def read(data: Path, *, limit: int = 0) -> Sets:
    """The sets below `data`; with a `limit`, at most as many questions of a set and asks of a kind, evenly chosen.
    Raises BadInput."""
    data = data.expanduser()
    folders = {name: find(data, name) for name in ("longmemeval", "locomo", "silence")}
    hint = (
        "It should hold longmemeval (questions.jsonl, sessions.jsonl.gz) or locomo (conversations.json), and silence"
        " (asks.jsonl) for the gate; each folder may end in -dev. Give the folder above them as --data."
    )
    if not data.is_dir():
        raise BadInput(f"{data} is not a folder.", hint=hint)
    if not folders["longmemeval"] and not folders["locomo"]:
        raise BadInput(f"{data} holds neither longmemeval nor locomo.", hint=hint)
    histories = {}
    if folder := folders["longmemeval"]:
        histories["longmemeval"] = _spread(longmemeval(folder), limit)
    if folder := folders["locomo"]:
        histories["locomo"] = _with_questions(locomo(folder), limit)
    for name in histories:
        if not any(haystack.questions for haystack in histories[name]):
            raise BadInput(f"{folders[name]} has no question.", hint=hint)
    asks = silence(folder) if (folder := folders["silence"]) else []
    silent = [
        ask
        for kind in dict.fromkeys((*SILENT_KINDS, *(kind for kind, _ in asks)))
        for ask in _spread([ask for ask in asks if ask[0] == kind], limit)
    ]
    return Sets(histories, silent, limit)


def ask_all(sets: Sets, wanted: Wanted, *, jobs: int = 0) -> dict[str, Findings]:
    """Everything that is wanted, by set. `jobs` is the number of processes, by default one for each core."""
    errands = list(_errands(sets, wanted))
    results = {name: Findings() for name in sets.histories}
    jobs = min(jobs or os.cpu_count() or 1, 1 + len(errands) // _WORTH_A_PROCESS)
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        for place, (errand, findings) in enumerate(zip(errands, _run(errands, Path(folder), jobs), strict=True), 1):
            results[errand.set].searched.extend(findings.searched)
            results[errand.set].judged.extend(findings.judged)
            say(f"{place} of {len(errands)} histories")
    say("")
    return results


def _errands(sets: Sets, wanted: Wanted) -> Iterator[_Errand]:
    foreign: dict[str, list[Question]] = {}
    silent: dict[str, list[tuple[str, str]]] = {}
    if wanted.gate:
        for haystacks in sets.histories.values():
            for haystack in haystacks:
                for question in haystack.questions:
                    if question.answerable:
                        for stranger in _strangers(question, haystack, haystacks):
                            foreign.setdefault(stranger.id, []).append(question)
        # In turns between the sets, and within a set from history to history.
        rows = list(sets.histories.values())
        for place, ask in enumerate(sets.silent):
            turn, row = divmod(place, len(rows))
            haystack = rows[row][turn % len(rows[row])]
            silent.setdefault(haystack.id, []).append(ask)
    for name, haystacks in sets.histories.items():
        for haystack in haystacks:
            yield _Errand(name, haystack, wanted, foreign.get(haystack.id, ()), silent.get(haystack.id, ()))


def _strangers(question: Question, own: Haystack, haystacks: Sequence[Haystack]) -> list[Haystack]:
    others = [
        other
        for other in haystacks
        if other is not own and not question.evidence_sessions & {key for key, _, _ in other.sessions}
    ]
    return random.Random(f"{own.id} {question.id}").sample(others, min(STRANGERS, len(others)))


def _run(errands: Sequence[_Errand], folder: Path, jobs: int) -> Iterator[Findings]:
    if jobs < 2:
        yield from (_done(errand, folder) for errand in errands)
        return
    with pool(jobs) as processes:
        yield from processes.map(_done, errands, [folder] * len(errands))


@contextmanager
def pool(jobs: int | None = None) -> Iterator[ProcessPoolExecutor]:
    """Processes to fill histories in, by default one for each core; what has not begun when they end is dropped."""
    # Spawned, not forked: SQLite and numpy's threads do not survive a fork. An interrupt is for the parent to handle.
    quiet = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), signal.signal, quiet) as processes:
        try:
            yield processes
        finally:
            processes.shutdown(cancel_futures=True)


def _done(errand: _Errand, folder: Path) -> Findings:
    haystack, wanted, findings = errand.haystack, errand.wanted, Findings()
    with closing(Rivals(haystack)) if wanted.compare else nullcontext() as rivals, haystack.filled(folder) as foreword:
        if wanted.quality:
            findings.searched.extend(_searched(foreword, one, rivals) for one in haystack.questions if one.scored)
        if wanted.gate:
            findings.judged.extend(_judged(foreword, errand, rivals))
    shutil.rmtree(folder / haystack.id)
    return findings


def _searched(foreword: Foreword, question: Question, rivals: Rivals | None) -> Searched:
    found = foreword.search(question.text, limit=_DEEP)
    # In recall's own order: a search is answered in the order of confidence, which is the gate's.
    ordered = [one.memory for one in sorted(found, key=lambda one: -one.candidate.score)]
    return Searched(
        question,
        _ranked([Document(memory.session.removeprefix(SESSION_PREFIX), memory.source_id, "") for memory in ordered]),
        {name: _ranked(documents) for name, documents in rivals.rankings(question.text).items()} if rivals else {},
    )


def _ranked(documents: Sequence[Document]) -> Ranked:
    sessions = dict.fromkeys(one.session for one in documents)
    return Ranked(tuple(one.source_id for one in documents[:TOP]), tuple(islice(sessions, TOP)))


def _judged(foreword: Foreword, errand: _Errand, rivals: Rivals | None) -> Iterator[Judged]:
    asks: list[tuple[str, str, frozenset[str]]] = []
    for question in errand.haystack.questions:
        if question.answerable:
            asks.append((OWN, question.text, question.evidence_sessions))
        elif question.near_miss:
            asks.append((NEAR_MISS, question.text, frozenset()))
    asks += [(FOREIGN, question.text, frozenset()) for question in errand.foreign]
    asks += [(kind, text, frozenset()) for kind, text in errand.silent]
    for number, (kind, text, evidence) in enumerate(asks):
        found = foreword.search(text, limit=foreword.settings.recall.candidates)
        best = max(found, key=lambda one: one.confidence, default=None)
        yield Judged(
            kind,
            best.confidence if best else None,
            best is not None and best.memory.session.removeprefix(SESSION_PREFIX) in evidence,
            # A session of its own for each ask: what a session has been told is not told again.
            _given(foreword, Ask(text, session=f"{SESSION_PREFIX}ask-{number}"), evidence),
            rivals.signals(text) if rivals and kind in (OWN, FOREIGN) else {},
        )


def _given(foreword: Foreword, ask: Ask, evidence: frozenset[str]) -> Given | None:
    brief = foreword.brief(ask)
    if not brief:
        return None
    limits = foreword.settings.compose
    tokens = max(brief.tokens, count_tokens(brief.text))
    over = (
        tokens > limits.max_hot_tokens
        or len(brief.text) > limits.max_hot_chars
        or len(brief.memories) > limits.max_memories
    )
    return Given(brief.tokens, over, bool(_sessions(foreword.get(brief.memories)) & evidence))


def _sessions(memories: Sequence[Memory]) -> set[str]:
    return {memory.session.removeprefix(SESSION_PREFIX) for memory in memories}


def _spread(items: Sequence[_One], limit: int) -> list[_One]:
    """At most `limit` of the items, evenly spaced; all of them when it is 0."""
    if not limit or len(items) <= limit:
        return list(items)
    return [items[place * len(items) // limit] for place in range(limit)]


def _with_questions(haystacks: Sequence[Haystack], limit: int) -> list[Haystack]:
    """All conversations, with at most `limit` questions among them."""
    asked = [(haystack.id, question) for haystack in haystacks for question in haystack.questions]
    kept: dict[str, list[Question]] = {}
    for owner, question in _spread(asked, limit):
        kept.setdefault(owner, []).append(question)
    return [replace(haystack, questions=tuple(kept.get(haystack.id, ()))) for haystack in haystacks]


def say(text: str) -> None:
    """Progress, on a terminal only; "" wipes it away."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
