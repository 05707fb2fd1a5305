"""The one token counter, and the caps that nothing injected ever exceeds."""

from __future__ import annotations

import math
import re
from dataclasses import field
from functools import lru_cache

from foreword.model import Style
from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class ComposeSettings:
    style: Style = field(
        default=Style.MARKDOWN,
        metadata={"help": "How briefs are written: markdown, xml, plain or open-mem.", "project": "any"},
    )
    max_memories: int = field(default=3, metadata={"help": "The most memories in one hot brief.", "project": "lower"})
    max_hot_tokens: int = field(default=400, metadata={"help": "The most tokens in one hot brief.", "project": "lower"})
    max_snippet_chars: int = field(
        default=800, metadata={"help": "A longer memory is cut to its best passage.", "project": "lower"}
    )
    max_hot_chars: int = field(
        default=4000, metadata={"help": "The most characters in one hot brief.", "project": "lower"}
    )
    max_context_tokens: int = field(
        default=500, metadata={"help": "The most tokens in a session's stable part.", "project": "lower"}
    )
    max_context_chars: int = field(
        default=10_000,
        metadata={"help": "The most characters in it; hosts cut what is longer, or leave it out.", "project": "lower"},
    )
    max_index_entries: int = field(
        default=20, metadata={"help": "The most observations listed at session start.", "project": "lower"}
    )
    max_summaries: int = field(
        default=3, metadata={"help": "The most session summaries at session start.", "project": "lower"}
    )


_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d{1,3}|\s+|[^\w\s]+|[^\W\dA-Za-z_]+|_+|.", re.DOTALL)

# The counts of longer lines are not kept: five hundred dumps of a megabyte would stay in memory with them.
_LONGEST_KEPT_CHARS = 4000


def count_tokens(text: str) -> int:
    """About how many tokens a model reads: an estimate, on the safe side for what is mostly counted. Against the two
    common byte-pair vocabularies English prose, Markdown and code come out 0 to 27 % high; German, emoji and encoded
    blobs up to a quarter low with the older of the two (`tests/rooms/test_budget.py` measures it)."""
    lines = text.split("\n")
    known = sum(_line_tokens(line) if len(line) <= _LONGEST_KEPT_CHARS else _counted(line) for line in lines)
    return known + len(lines) - 1 if text else 0


# A brief is measured again with each memory that joins it; its lines stay the same.
@lru_cache(maxsize=512)
def _line_tokens(line: str) -> int:
    return _counted(line)


def forget_counts() -> None:
    """Let go of the lines that were counted: one of them may have been forgotten."""
    _line_tokens.cache_clear()


def _counted(line: str) -> int:
    total = 0.0
    for match in _PIECE.finditer(line):
        piece = match[0]
        first, size = piece[0], len(piece)
        if first.isascii():
            if first.isalpha():
                total += 1 if size <= 8 else 1 + (size - 8) / 4
            elif first.isdigit():
                total += 1
            elif first.isspace():
                total += size > 1
            else:
                total += (size + 1) // 2
        elif first.isalpha():
            code = ord(first)
            dense = 0x3040 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7AF
            total += size * (1.1 if dense else 0.5)
        else:
            total += 2 * size
    return math.ceil(total)


def snippet(text: str, terms: tuple[str, ...], max_chars: int) -> str:
    """`text` within `max_chars`: whole when it fits, else the stretch that holds most of what was asked for."""
    text = text.strip()
    if len(text) <= max_chars:
        return text
    room = max_chars - 4  # an ellipsis and a space on either side
    if room < 1:
        return text[:max_chars]
    folded = text.lower()
    # Terms are stems: "ferri" stands in no text, "ferr" does.
    places = sorted(
        place
        for term in terms
        if term and (place := max(folded.find(term), folded.find(term[:-1]) if len(term) > 4 else -1)) >= 0
    )
    start = 0
    if places:
        # The window that starts a little before the term from which most others are in reach.
        best = max(places, key=lambda place: sum(place <= other < place + room - 80 for other in places))
        start = max(0, min(best - 80, len(text) - room))
    if start:
        space = text.find(" ", start, start + 40)
        start = space + 1 if space >= 0 else start
    cut = text[start : start + room]
    if start + room < len(text):
        cut = cut.rsplit(" ", 1)[0] if " " in cut[room // 2 :] else cut
        cut += " …"
    return f"… {cut}" if start else cut
