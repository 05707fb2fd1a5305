"""What only the words of the memories found tell: how much of the ask stands together in each, and how well the first
few answer it."""

from __future__ import annotations

from collections.abc import Sequence

from foreword.errors import ModelDamaged
from foreword.gate import GatePolicy, worth_reading
from foreword.model import Memory, Signals
from foreword.recall import Hit, can_read, densest, excerpt, of_another_person, read

# What answers stands among the first few, and each takes a good part of a millisecond to read.
_OF_A_TURN = 2
_HEAD_CHARS = 80
# In scripts that cannot be read words change their ends, or are told by pairs of letters, half of which reach beyond a
# word: an answer holds less of the ask there.
_WORTH_OF_LETTERS = 2.0


def signals_of(
    ask: str, found: Sequence[tuple[Hit, Memory]], policy: GatePolicy, *, thorough: bool = False
) -> list[Signals]:
    """The signals of each, with what its words tell. Reading takes longest, so the first few alone are read unless it
    is to be `thorough`, and none that is outdated or could not pass however well it reads. A network that is damaged,
    of which `doctor` tells, reads nothing."""
    if not found:
        return []
    breaths = [densest(memory.text, hit.weights) for hit, memory in found]
    unread = [
        hit.signals.of_text(round(one.share, 4), another=of_another_person(memory.text, ask, by_other=hit.by_other))
        for (hit, memory), one in zip(found, breaths, strict=True)
    ]
    if not can_read(ask):
        return [one.as_if_read(_WORTH_OF_LETTERS) for one in unread]
    valid = [place for place, (_, memory) in enumerate(found) if not memory.successor]
    worth = [place for place in (valid if thorough else valid[:_OF_A_TURN]) if worth_reading(unread[place], policy)]
    try:
        readings = read(ask, [_told(found[place][1], breaths[place].start) for place in worth])
    except ModelDamaged:
        return [one.as_if_read() for one in unread]
    for place, reading in zip(worth, readings, strict=True):
        unread[place] = unread[place].of_text(unread[place].density, round(reading, 4))
    return unread


def _told(memory: Memory, place: int) -> str:
    """The words of a memory around a place, and what stands over them: an ask may name who said them, or the title."""
    told = excerpt(memory.text, place)
    return f"{memory.heading[:_HEAD_CHARS]}: {told}" if memory.heading else told
