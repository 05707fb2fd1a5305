"""From the surest hits along links to what shares no word with the ask: a name or an identifier that both speak of, a
file, a memory's id, the next turn of the conversation. A link lends a share of the hit, a second step a share of that.
Everything is read through the view of the ask, so a link leads nowhere that the ask may not see."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from foreword.model import Link, Memory, Origin
from foreword.recall.dates import DAYS, MONTHS
from foreword.recall.kin import is_common
from foreword.recall.words import names_in, stem, whole_term, word_hash
from foreword.store import View

_MOST_SOURCES = 3
_MOST_WORDS = 24
_MOST_LINKS = 8
_MOST_REACHED = 12
_READ_CHARS = 4000
# A word links while at most this share of the scope holds it, and few memories in all.
_RARE_SHARE = 0.02
_MOST_HOLDERS = 24
_FEW_HOLDERS = 3
# What a link lends when it leads to one memory; one that leads to several lends less to each.
_REFERENCE = 0.95
_FILE = 0.85
_NAME = 0.85
_BESIDE = 0.5
_REFERRED = re.compile(r"(?<![\w.-])m([1-9]\d{0,17})(?![\w-])")
# A day is in the date of every memory, a small number anywhere.
_TELLS_NOTHING = re.compile(r"\d{1,3}|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th|am|pm|:\d\d)", re.IGNORECASE)
_CALENDAR = frozenset(stem(word) for word in (*MONTHS, *DAYS))


@dataclass(frozen=True, slots=True)
class _Step:
    share: float
    words: Sequence[str]


def spread(sure: Sequence[Memory], asked: Iterable[str], view: View) -> dict[int, Link]:
    """By row, the strongest link to each of the few memories that the sure ones most lead to; to none of themselves.
    The first of `sure` are walked from. `asked` are the terms of the ask: they link nothing, for what holds them was
    found by them."""
    held = frozenset(asked)
    own = {memory.row for memory in sure}
    found: dict[int, Link] = {}
    for memory in sure[:_MOST_SOURCES]:
        for row, step in _reached(memory, held, view).items():
            if row not in own and (row not in found or step.share > found[row].share):
                found[row] = Link(memory.row, ", ".join(step.words), round(step.share, 4))
    return dict(sorted(found.items(), key=lambda one: (-one[1].share, one[0]))[:_MOST_REACHED])


def may_follow(memory: Memory) -> bool:
    """Whether a link alone may bring this memory in: a page full of names and ids would hang itself on everything."""
    return memory.origin not in (Origin.WEB, Origin.STRANGER)


def _reached(memory: Memory, asked: frozenset[str], view: View) -> dict[int, _Step]:
    """By row, where the links of one memory lead in at most two steps."""
    here = view.slots([memory.row]).tolist()
    steps: dict[int, _Step] = {}
    for slots, share, words in _links(memory, asked, view):
        for slot in slots:
            known = steps.get(slot, _Step(0.0, ()))
            # Links that agree support one another; together they are still not certain.
            steps[slot] = _Step(1 - (1 - known.share) * (1 - share), (*known.words, words))
    linked = list(steps.items())
    for slot, side in _beside(here, view):
        known = steps.get(slot, _Step(0.0, ()))
        steps[slot] = _Step(1 - (1 - known.share) * (1 - _BESIDE), (*known.words, f"said {side} it"))
    for start, step in linked:
        for slot, side in _beside([start], view):
            if slot not in steps:
                steps[slot] = _Step(step.share * _BESIDE, (*step.words, f"said {side} that"))
    rows = view.facts(np.fromiter(steps, np.int32, len(steps))).row.tolist()
    return dict(zip(rows, steps.values(), strict=True))


def _links(memory: Memory, asked: frozenset[str], view: View) -> list[tuple[list[int], float, str]]:
    """Each link with a destination: where it leads, what it lends to each memory there, and its words."""
    referred = [f"m{digits}" for digits in _REFERRED.findall(memory.text[:_READ_CHARS])][:_MOST_LINKS]
    links = [(view.slots([int(one[1:])]).tolist(), _REFERENCE, one) for one in referred]
    words = _words(memory, asked)
    few = min(max(int(_RARE_SHARE * view.size), _FEW_HOLDERS), _MOST_HOLDERS)
    here = view.slots([memory.row]).tolist()
    for (shown, strength), posting in zip(words.values(), view.postings([*map(word_hash, words)]), strict=True):
        if len(posting.slots) <= few + 1:
            others = [slot for slot in posting.slots.tolist() if slot not in here]
            links.append((others, strength / (1 + math.log(max(len(others), 1))), shown))
    return sorted((link for link in links if link[0]), key=lambda link: -link[1])[:_MOST_LINKS]


def _words(memory: Memory, asked: frozenset[str]) -> dict[str, tuple[str, float]]:
    """The terms that link a memory to others, each as it is written and with its strength."""
    found = {memory.id: (memory.id, _REFERENCE)}
    named = names_in(memory.text[:_READ_CHARS], unknown_first=_unknown)
    for strength, chunks in ((_FILE, memory.files), (_NAME, memory.concepts), (_NAME, named)):
        for chunk in chunks:
            term = whole_term(chunk)
            if term and term not in asked and term not in _CALENDAR and not _TELLS_NOTHING.fullmatch(chunk):
                found.setdefault(term, (chunk, strength))
            if len(found) == _MOST_WORDS:
                return found
    return found


def _unknown(word: str) -> bool:
    """Whether the first word of a sentence is a name: it is nobody's common word, or something belongs to it."""
    return word.endswith(("'s", "’s")) or not is_common(word_hash(stem(word)))


def _beside(slots: Sequence[int], view: View) -> list[tuple[int, str]]:
    """The turns before and after, where the view may see them."""
    facts = view.facts(np.array(slots, np.int32))
    both = ((facts.before.tolist(), "before"), (facts.after.tolist(), "after"))
    return [(slot, side) for column, side in both for slot in column if slot >= 0]
