"""The last decision of each conversation, at hand for a moment: for hosts that ask twice, and for those that ask ahead.
In memory alone: a restart clears it. What the store knows of the session outlives that, and answers a retry all the
same, only slower."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from foreword.compose import Snippet
from foreword.model import Brief, Memory, Scope, content_hash
from foreword.place import Place
from foreword.store import Mark
from foreword.values import dataclass

_MOST_CONVERSATIONS = 512


@dataclass(frozen=True, slots=True)
class Decided:
    """What an ask is to be given, and the receipt that will tell of it. Until it is settled, nothing counts as said."""

    text: str
    memories: Sequence[Memory]
    tokens: int
    reason: str
    ask_hash: str
    receipt: dict[str, Any]
    query: str
    shown: Sequence[Snippet]


@dataclass(frozen=True, slots=True)
class Answered:
    """What an ask was answered with, or is to be (`ahead`), and what it is true of: a moment of the store, and the
    session's epoch and last receipt. `shown` is what of it may be written into a file."""

    ask: bytes
    at: float
    mark: Mark
    turn: tuple[int, int]
    brief: Brief | None = None
    ahead: Decided | None = None
    shown: Sequence[Snippet] = ()


class Recent:
    """One decision for each conversation, of its last ask. Safe to use from several threads."""

    def __init__(self) -> None:
        # How often something had been forgotten when this was last looked at, and what the last ask was to see.
        self.forgets = 0
        self.scope: Scope | None = None
        self._answered: OrderedDict[tuple[str, str], Answered] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, conversation: tuple[str, str]) -> Answered | None:
        with self._lock:
            return self._answered.get(conversation)

    def keep(self, conversation: tuple[str, str], answered: Answered, *, for_s: float) -> None:
        """What is older than `for_s` goes: what was forgotten elsewhere must not stay in memory."""
        with self._lock:
            self._answered[conversation] = answered
            self._answered.move_to_end(conversation)
            while len(self._answered) > _MOST_CONVERSATIONS or self._oldest() < answered.at - for_s:
                self._answered.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._answered.clear()

    def _oldest(self) -> float:
        return next(iter(self._answered.values())).at


def fingerprint(text: str, place: Place, settings: int, *, holds_session: bool, excluded: str) -> bytes:
    """What tells one ask from another: its words, who listens in, why it is given nothing whatever is found, and the
    (hashed) settings it is answered under. A digest, so that what is said off the record does not stay in memory."""
    flags = f"{place.given} {holds_session} {settings} {excluded}"
    seen = (place.session.project, place.kind.audience.label, place.kind.circle, flags, content_hash(text))
    return hashlib.blake2b("\0".join(seen).encode("utf-8"), digest_size=16).digest()
