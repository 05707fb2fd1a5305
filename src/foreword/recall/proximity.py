"""How much of an ask stands close together in a memory. Words scattered over a long text share it by chance."""

from __future__ import annotations

from collections.abc import Sequence

# About three sentences: what is said in one breath.
_BREATH_CHARS = 240
# A word that comes this often tells nothing by its places; looking at more would only cost time.
_MAX_PLACES = 12
_MAX_READ = 20_000


def density(text: str, terms: Sequence[tuple[str, float]]) -> float:
    """The largest share of the terms' weight found within one breath of `text`, 0..1."""
    total = sum(weight for _, weight in terms)
    if not total:
        return 0.0
    folded = text[:_MAX_READ].lower()
    places: list[tuple[int, int]] = []
    for number, (term, _) in enumerate(terms):
        # Stemming turns a last y into i: "ferri" stands in no text, "ferr" does.
        needle = term[:-1] if len(term) > 3 and term.endswith("i") else term
        if needle in folded:
            places += [(place, number) for place in _places(folded, needle)]
    places.sort()
    best = current = 0.0
    held = [0] * len(terms)
    start = 0
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
        best = max(best, current)
    return min(best / total, 1.0)


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
