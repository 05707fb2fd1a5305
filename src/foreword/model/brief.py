"""From candidate to brief: the values that travel through a turn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from foreword.model.memory import Memory
from foreword.values import dataclass

# What `ahead` and `company` are, mostly, where nothing answers the ask.
NOT_KNOWN = -1.5
# And `matter` between what it mostly is there and where something does: with one conversation there is nothing to tell.
MATTER_NOT_KNOWN = 0.25
# Terms that single a memory out this many times over leave nothing to chance.
_MUCH_INFORMATION = 3.0


@dataclass(frozen=True, slots=True)
class Signals:
    """What recall knows about one candidate, free of scale: none of it depends on the model, nor on the store's size
    but for `few`, which tells it.

    coverage      share of the ask's information (IDF mass) found in the memory itself, 0..1
    density       the largest share of it that stands within a few sentences
    kin           the same as coverage, with words of like meaning counted by their likeness
    context       the same as kin, with its neighbours in the conversation counted in
    matched       how many informative terms of the ask it holds
    information   how much the held terms single it out: their IDF mass in units of what it takes to find one memory
                  among all in scope; at 1 chance alone would find about one
    asked         how much the ask as a whole could single out, in the same units: little in small talk
    present       share of it whose words occur anywhere in scope: what nobody ever spoke of cannot be answered
    lead          how far ahead of the sixth best conversation it is, as a share of the best
    similarity    dense similarity as standard deviations above the background: all else in this scope
    ahead         how much closer it is than what people commonly speak of, in deviations of that; without vectors what
                  is found for asks that deserve nothing
    company       the same of the three closest conversations together, by what a person said in them: what somebody
                  lives through is spoken of more than once
    names         share of the ask's names, numbers and identifiers that it holds; 1 when the ask has none
    by_person     1 when a person said it, 0 when an agent or a tool did; where the ask is about what the agent said, 1
                  for that too
    brevity       1 for a word, 0.5 for a hundred, towards 0 for a long text
    dated         in the time the ask speaks of 1, towards 0.5 the more of all memories are of that time; 0.5 after it,
                  0 before; 0.5 for all when it speaks of none, or of now without looking back
    few           how few memories are in scope: 1 for none, 0 from about five hundred on; chance finds less among few
    matter        how far the next two conversations found are of one matter with the first, 0..1: chance finds this in
                  one and that in another
    another       1 when it tells of another person than the ask does: of my brother where my sister is asked about, or
                  of who said it
    reading       how well its words answer the ask when both are read together, 0..1; 0 when it was not read
    """

    coverage: float = 0.0
    density: float = 0.0
    kin: float = 0.0
    context: float = 0.0
    matched: int = 0
    information: float = 0.0
    asked: float = 0.0
    present: float = 0.0
    lead: float = 0.0
    similarity: float = 0.0
    ahead: float = NOT_KNOWN
    company: float = NOT_KNOWN
    names: float = 1.0
    by_person: float = 0.0
    brevity: float = 0.0
    dated: float = 0.5
    few: float = 0.0
    matter: float = MATTER_NOT_KNOWN
    another: float = 0.0
    reading: float = 0.0

    def of_text(self, density: float, reading: float = 0.0, *, another: bool = False) -> Signals:
        """With what only the memory's words tell. Not by dataclasses.replace, which looks at each field by name: it is
        done for every candidate."""
        return Signals(
            self.coverage,
            density,
            self.kin,
            self.context,
            self.matched,
            self.information,
            self.asked,
            self.present,
            self.lead,
            self.similarity,
            self.ahead,
            self.company,
            self.names,
            self.by_person,
            self.brevity,
            self.dated,
            self.few,
            self.matter,
            float(another) or self.another,
            reading,
        )

    @property
    def much_asked(self) -> float:
        """How much was asked, 0..1."""
        return min(self.asked, _MUCH_INFORMATION) / _MUCH_INFORMATION

    def as_if_read(self, worth: float = 1.0) -> Signals:
        """Where nothing could be read, what it holds of the ask has to do. It counts by the root of how much was asked:
        what holds all of "how are you?" answers nothing, but a short ask may be answered word for word."""
        held = min(worth * max(self.density, self.kin), 1.0)
        return self.of_text(self.density, held * math.sqrt(self.much_asked))


@dataclass(frozen=True, slots=True)
class Link:
    """What leads to a memory from one that was found directly: the row of that one, the words or the place they have
    in common, and the share of its confidence that the link lends."""

    source: int
    words: str
    share: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that recall proposes, with what each lane said about it, and the strongest link that leads to it."""

    memory: Memory
    score: float
    lanes: Mapping[str, float] = field(default_factory=dict)
    signals: Signals = field(default_factory=Signals)
    terms: Sequence[str] = field(default_factory=tuple)
    link: Link | None = None


def how_sure(confidence: float) -> str:
    """A confidence for people. Cut, not rounded: 0.749 is not 0.75."""
    return f"{math.floor(confidence * 100 + 1e-6) / 100:.2f}"


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate after the gate: its confidence, and why it may or may not pass."""

    candidate: Candidate
    confidence: float
    passed: bool
    reason: str
    # Whether it passes by the confidence that a link lends it, not by its own.
    by_link: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to inject and why; an empty choice always carries the reason for silence."""

    chosen: Sequence[Judged]
    judged: Sequence[Judged]
    reason: str

    @property
    def best(self) -> float:
        return max((one.confidence for one in self.judged), default=0.0)


class Style(StrEnum):
    MARKDOWN = "markdown"
    XML = "xml"
    PLAIN = "plain"
    OPEN_MEM = "open-mem"


@dataclass(frozen=True, slots=True)
class Brief:
    """What the model is given. Empty text means nothing at all: no wrapper around nothing. `file` is the context file
    that holds it, where one does; with an empty text, it alone carries the memories."""

    text: str = ""
    memories: Sequence[str] = field(default_factory=tuple)
    tokens: int = 0
    reason: str = ""
    receipt: str = ""
    file: str = ""

    def __bool__(self) -> bool:
        return bool(self.text)
