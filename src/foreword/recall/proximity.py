"""How much of an ask stands close together in a memory, and where. Words that are scattered over a long text are there
by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# About three sentences: what is said in one breath.
_BREATH_CHARS = 240
# A word that comes this often tells nothing by its places; looking at more would only cost time.
_MAX_PLACES = 12
_MAX_READ = 20_000


class Breath(NamedTuple):
    """The share of the terms' weight, 0..1, that is said in one breath, and where that begins."""

    share: float
    start: int


def densest(text: str, terms: Sequence[tuple[str, float]]) -> Breath:
    """The breath of `text` that holds most of the terms, the first of equals."""
    total = sum(weight for _, weight in terms)
    if not total:
        return Breath(0.0, 0)
    # Lowered by itself this letter would be two, and every place behind it another one.
    folded = text[:_MAX_READ].replace("İ", "i").lower()
    places: list[tuple[int, int]] = []
    for number, (term, _) in enumerate(terms):
        # Stemming turns a last y into i: "ferri" stands in no text, "ferr" does.
        needle = term[:-1] if len(term) > 3 and term.endswith("i") else term
        if needle in folded:
            places += [(place, number) for place in _places(folded, needle)]
    places.sort()
    best = current = 0.0
    held = [0] * len(terms)
    start = where = 0
    for place, number in places:
        if not held[number]:
            current += terms[number][1]
        held[number] += 1
        while place - places[start][0] > _BREATH_CHARS:
            gone = places[start][1]
            held[gone] -= 1
            if not held[gone]:
                current -= terms[gone][1]
            start += 1
        if current > best:
            best, where = current, places[start][0]
    return Breath(min(best / total, 1.0), where)


def _places(text: str, needle: str) -> list[int]:
    """Where words begin with `needle`; anywhere for scripts that do not divide words."""
    found: list[int] = []
    divided = needle.isascii()
    place = text.find(needle)
    while place >= 0 and len(found) < _MAX_PLACES:
        if not divided or not place or not text[place - 1].isalnum():
            found.append(place)
        place = text.find(needle, place + 1)
    return found
