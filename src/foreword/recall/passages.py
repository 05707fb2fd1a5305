"""Long texts in pieces small enough that one vector can mean something, and one snippet can be read."""

from __future__ import annotations

import re

PASSAGE_CHARS = 700
# A dump is known by its beginning; more vectors than this would only say so again.
MAX_PASSAGES = 12

BREAK = re.compile(r"\n\s*\n|\n|(?<=[.!?。!?])\s+")


def passages(text: str) -> list[str]:
    """At most MAX_PASSAGES pieces of about PASSAGE_CHARS, cut at paragraphs and sentences where there are any."""
    if len(text) <= PASSAGE_CHARS:
        return [text]
    pieces: list[str] = []
    current = ""
    for sentence in BREAK.split(text[: PASSAGE_CHARS * MAX_PASSAGES * 2]):
        while len(sentence) > PASSAGE_CHARS:
            head, sentence = sentence[:PASSAGE_CHARS], sentence[PASSAGE_CHARS:]
            pieces.extend(piece for piece in (current, head) if piece)
            current = ""
        if current and len(current) + len(sentence) > PASSAGE_CHARS:
            pieces.append(current)
            current = ""
        current = f"{current} {sentence}".strip()
    if current:
        pieces.append(current)
    return pieces[:MAX_PASSAGES] or [text[:PASSAGE_CHARS]]
