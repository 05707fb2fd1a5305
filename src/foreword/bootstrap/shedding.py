"""Which files of a set the conversation has used up. Pure: what was said and when decides, and nothing is kept.

A file is used once the agent was the first to say one of its facts: from then on the fact stands in the conversation,
and what else the file holds is looked up when it is wanted. But these files stand before all history in a prompt, and
leaving one out makes a provider read everything behind it anew. So it is left out only after a pause that no provider
keeps a prompt's beginning for, and nothing changes between two such pauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from foreword.bootstrap.filesets import IDENTITY
from foreword.patterns import lazy
from foreword.values import dataclass

# What is looked up and not guessed: a number, an address, a path, a name with a sign in it.
_FACT = lazy(r"\w[\w.:/@+-]*\w")
_SIGN = lazy(r"[._:/@+]|\w-\w*\d")
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
    shown = {name: _without_comments(text) for name, text in files.items() if name != IDENTITY}
    known = {name: tuple(dict.fromkeys(facts(text))) for name, text in shown.items()}
    by_agent = _first_said(
        {fact for many in known.values() for fact in many}, _before_the_last_pause(said, now, pause_s)
    )
    own = {name: [fact for fact in many if by_agent.get(fact)] for name, many in known.items()}
    return {name: many[0] for name, many in own.items() if many}


def _first_said(wanted: set[str], said: Iterable[Said]) -> dict[str, bool]:
    """Of each fact that was said at all, whether the agent said it first."""
    found: dict[str, bool] = {}
    left = set(wanted)
    for one in said:
        low = one.text.casefold()
        # Looking for a piece is much quicker than taking a text apart, and most texts hold none.
        if left and any(fact in low for fact in left):
            new = left.intersection(facts(low))
            found |= dict.fromkeys(new, one.by_agent)
            left -= new
    return found


def facts(text: str) -> Iterator[str]:
    """What in a text is looked up and not guessed, in order, in one spelling."""
    for found in _FACT.finditer(text):
        piece = found[0].casefold()
        if len(piece) >= _SHORTEST_FACT_CHARS and (any(one.isdigit() for one in piece) or _SIGN.search(piece)):
            yield piece


def _without_comments(text: str) -> str:
    """What a file says of itself, such as when it was made, is no fact. By hand, because a pattern would take forever
    for a file that opens comments and never ends one."""
    kept, at = [], 0
    while (begins := text.find("<!--", at)) >= 0 and (ends := text.find("-->", begins)) >= 0:
        kept.append(text[at:begins])
        at = ends + len("-->")
    return " ".join([*kept, text[at:]])


def _before_the_last_pause(said: Sequence[Said], now: float, pause_s: float) -> Iterable[Said]:
    times = [one.at for one in said] + [now]
    pauses = [number for number in range(1, len(times)) if times[number] - times[number - 1] >= pause_s]
    return said[: pauses[-1]] if pauses else ()
