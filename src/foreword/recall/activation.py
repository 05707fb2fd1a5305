"""From the surest hits along links to what shares no word with the ask: a name or an identifier that both speak of, a
file, a memory's id, a note that it links to, the next turn of the conversation. A link lends a share of the hit, a
second step a share of that. Everything is read through the view of the ask, so a link leads nowhere that the ask may
not see."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from foreword.model import Kind, Link, Memory, NoteLink, Origin, note_links
from foreword.patterns import lazy
from foreword.recall.dates import DAYS, MONTHS
from foreword.recall.kin import is_common
from foreword.recall.words import IDENTIFIER, names_in, stem, whole_term, word_hash
from foreword.store import View
from foreword.values import dataclass

_MOST_SOURCES = 3
_MOST_WORDS = 24
_MOST_LINKS = 8
_MOST_REACHED = 5
_READ_CHARS = 2000
# A word links while at most this share of the scope holds it, and few memories in all.
_RARE_SHARE = 0.02
_MOST_HOLDERS = 24
_FEW_HOLDERS = 3
# What a link lends when it leads to one memory; one that leads to several lends less to each. A name or a place alone
# is too little for the gate as it comes; a reference, an identifier or two names are not (decision 0003).
_REFERENCE = 0.95
_IDENTIFIER = 0.85
_NAME = 0.6
_AFTER = 0.4
_BEFORE = 0.25
# A shorter one is a size, an hour or an abbreviation.
_IDENTIFIER_CHARS = 5
_REFERRED = lazy(r"(?<![\w.-])m([1-9]\d{0,17})(?![\w-])")
# A day is in the date of every memory, a small number anywhere.
_TELLS_NOTHING = lazy(r"\d{1,3}|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th|am|pm|:\d\d)", re.IGNORECASE)
_CALENDAR = frozenset(stem(word) for word in (*MONTHS, *DAYS))


@dataclass(frozen=True, slots=True)
class _Step:
    share: float
    words: Sequence[str]

    def joined(self, other: _Step | None) -> _Step:
        """Links that agree support one another; together they are still not certain."""
        if other is None:
            return self
        return _Step(1 - (1 - other.share) * (1 - self.share), (*other.words, *self.words))


_HERE = _Step(1.0, ())


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
    for slots, share, words in _links(memory, asked, view, here):
        for slot in slots:
            steps[slot] = _Step(share, (words,)).joined(steps.get(slot))
    # From here, and from where the strongest links led: in conversation the next turn is about the same.
    starts = [*here, *sorted(steps, key=lambda slot: -steps[slot].share)[:_MOST_LINKS]]
    facts = view.facts(np.array(starts, np.int32))
    for start, after, before in zip(starts, facts.after.tolist(), facts.before.tolist(), strict=True):
        first = steps.get(start, _HERE)
        for slot, share, side in ((after, _AFTER, "after"), (before, _BEFORE, "before")):
            if slot >= 0 and slot not in here and (first is _HERE or slot not in steps):
                step = _Step(first.share * share, (*first.words, f"said {side} {'it' if first is _HERE else 'that'}"))
                steps[slot] = step.joined(steps.get(slot))
    rows = view.facts(np.fromiter(steps, np.int32, len(steps))).row.tolist()
    return dict(zip(rows, steps.values(), strict=True))


def _links(
    memory: Memory, asked: frozenset[str], view: View, here: Sequence[int]
) -> list[tuple[list[int], float, str]]:
    """Each link with a destination: where it leads, what it lends to each memory there, and its words."""
    referred = [f"m{digits}" for digits in _REFERRED.findall(memory.text[:_READ_CHARS])][:_MOST_LINKS]
    links = [(view.slots([int(one[1:])]).tolist(), _REFERENCE, one) for one in referred]
    words = _words(memory, asked)
    few = min(max(int(_RARE_SHARE * view.size), _FEW_HOLDERS), _MOST_HOLDERS)
    for (shown, strength), holders in zip(words.values(), view.holders([*map(word_hash, words)]), strict=True):
        if len(holders) <= few + 1:
            others = [slot for slot in holders.tolist() if slot not in here]
            links.append((others, strength / (1 + math.log(max(len(others), 1))), shown))
    path = memory.files[0] if memory.kind is Kind.CHUNK and memory.files else ""
    for link in note_links(memory.text[:_READ_CHARS], path)[:_MOST_LINKS]:
        if named := _named(link, view, here, few):
            links.append((named, _REFERENCE / (1 + math.log(len(named))), link.shown))
    return sorted((link for link in links if link[0]), key=lambda link: -link[1])[:_MOST_LINKS]


def _named(link: NoteLink, view: View, here: Sequence[int], few: int) -> list[int]:
    """Where the note begins that a link means. Who only links to it as well does not bear its name."""
    for holders in view.holders([*map(word_hash, link.names)]):
        others = [slot for slot in holders.tolist() if slot not in here]
        if 0 < len(others) <= few:
            return others
    return []


def _words(memory: Memory, asked: frozenset[str]) -> dict[str, tuple[str, float]]:
    """The terms that link a memory to others, each as it is written and with its strength."""
    found = {memory.id: (memory.id, _REFERENCE)}
    named = names_in(memory.text[:_READ_CHARS], unknown_first=_unknown)
    # That two chunks are of one note says no more than that two messages are of one conversation.
    note = memory.files[0] if memory.kind is Kind.CHUNK and memory.files else ""
    files = memory.files[1:] if note else memory.files
    concepts = [one for one in memory.concepts if not note or one.partition("#")[0] != note]
    for chunk in chain(files, concepts, named):
        term = whole_term(chunk)
        if term and term not in asked and term not in _CALENDAR and not _TELLS_NOTHING.fullmatch(chunk):
            one_thing = chunk in files or (len(chunk) >= _IDENTIFIER_CHARS and IDENTIFIER.search(chunk))
            found.setdefault(term, (chunk, _IDENTIFIER if one_thing else _NAME))
        if len(found) == _MOST_WORDS:
            break
    return found


def _unknown(word: str) -> bool:
    """Whether the first word of a sentence is a name: it is nobody's common word, or something belongs to it."""
    return word.endswith(("'s", "’s")) or not is_common(word_hash(stem(word)))
