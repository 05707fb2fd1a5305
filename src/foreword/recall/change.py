"""Which statement makes which outdated. A newer one about the same thing wins, but only where it says itself that
something changed: whoever takes two runs of five kilometres for one corrected run loses a memory."""

from __future__ import annotations

import hashlib
import re

from foreword.model import Kind, Memory, Origin
from foreword.patterns import lazy
from foreword.recall.words import content_terms

_CHANGE = lazy(
    r"\b(?:now|no longer|any ?more|instead(?: of)?|changed?|moved|switched|renamed|replaced|from now on|these days"
    r"|used to|actually|correction|not .{1,40} but|as of (?:today|now)|in future|updated?)\b",
    re.IGNORECASE,
)
# A sign before a number is a part of it.
_WORD = lazy(r"[^\W_]+|[-+−](?=\d)")
_STATEMENTS = (Kind.MESSAGE, Kind.NOTE)
# A statement, and not a story in which the same words happen to stand.
_MOST_TERMS = 24
_FEWEST_SHARED = 2
_SHARE = 0.6
_FEWEST_TERMS = 4
_SKETCH_BYTES = 7


def sketch(memory: Memory) -> int:
    """What two memories have in common that say the same: a number made of their words in order, whatever their case
    and what stands between them; 0 when they tell too little to say so."""
    if memory.kind not in (*_STATEMENTS, Kind.OBSERVATION) or len(content_terms(memory.text)) < _FEWEST_TERMS:
        return 0
    told = " ".join((*_WORD.findall(memory.text.casefold()), "", memory.title))
    return int.from_bytes(hashlib.blake2b(told.encode("utf-8"), digest_size=_SKETCH_BYTES).digest(), "little")


def tells_change(memory: Memory) -> bool:
    """Whether it may make another outdated: its owner's statement that something is otherwise now."""
    return (
        memory.kind in _STATEMENTS
        and memory.origin is Origin.OWNER
        and not _asks(memory.text)
        and bool(_CHANGE.search(memory.text))
        and len(content_terms(memory.text)) <= _MOST_TERMS
    )


def replaces(new: Memory, old: Memory) -> bool:
    """Whether `new`, which tells of a change, is about the same thing as `old`, for the same listeners."""
    if (old.at, old.row) >= (new.at, new.row) or old.origin is not Origin.OWNER or old.kind not in _STATEMENTS:
        return False
    if _place(old) != _place(new) or _asks(old.text):
        return False
    before, after = content_terms(old.text), content_terms(new.text)
    shared = before & after
    return (
        len(before) <= _MOST_TERMS
        and len(shared) >= max(_FEWEST_SHARED, _SHARE * min(len(before), len(after)))
        and len(shared) >= _SHARE * len(before) - 1
        and before != after
    )


def _place(memory: Memory) -> tuple[object, ...]:
    return memory.agent, memory.project, memory.audience, memory.circle, memory.sender


def _asks(text: str) -> bool:
    return text.rstrip().endswith("?")
