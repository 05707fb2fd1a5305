"""Which files of a set the conversation has used up. Pure: what was said and when decides, and nothing is kept.

A file is used once the agent was the first to say one of its facts: from then on the fact stands in the conversation,
and what else the file holds is looked up when it is wanted. But these files stand before all history in a prompt, and
leaving one out makes a provider read everything behind it anew. So it is left out only after a pause that no provider
keeps a prompt's beginning for, and nothing changes between two such pauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from foreword.bootstrap.listing import IDENTITY

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What is looked up and not guessed: a number, an address, a path, a name with a sign in it.
_FACT = re.compile(r"\w[\w.:/@+-]*\w")
_SIGN = re.compile(r"[._:/@+]|\w-\w*\d")
_SHORTEST_FACT_CHARS = 3


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the conversation as it stands before the model; those of the agent are its answers."""

    at: float
    text: str
    by_agent: bool


def used(files: Mapping[str, str], said: Sequence[Said], *, now: float, pause_s: float) -> dict[str, str]:
    """The files that need not be sent again, each with the fact by which it was used. `said` is in order. Who the
    agent is stays whatever it said."""
    cold = _before_the_last_pause(said, now, pause_s)
    first: dict[str, bool] = {}
    for one in cold:
        for fact in facts(one.text):
            first.setdefault(fact, one.by_agent)
    found = {}
    for name, text in files.items():
        own = [fact for fact in facts(text) if first.get(fact)]
        if own and name != IDENTITY:
            found[name] = own[0]
    return found


def facts(text: str) -> Iterator[str]:
    """What in a text is looked up and not guessed, in order, in one spelling."""
    for found in _FACT.finditer(_COMMENT.sub(" ", text)):
        piece = found[0].casefold()
        if len(piece) >= _SHORTEST_FACT_CHARS and (any(one.isdigit() for one in piece) or _SIGN.search(piece)):
            yield piece


def _before_the_last_pause(said: Sequence[Said], now: float, pause_s: float) -> Iterable[Said]:
    times = [one.at for one in said] + [now]
    pauses = [number for number in range(1, len(times)) if times[number] - times[number - 1] >= pause_s]
    return said[: pauses[-1]] if pauses else ()
