"""What a store promises. `tests/contracts/test_store.py` holds every backend to it, unchanged.

A store keeps facts and answers questions about them; it never ranks. Ranking is `recall`'s, so two backends that keep
this contract give the same brief.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from foreword.model import Audience, Feedback, Kind, Memory, Scope, Session
from foreword.values import dataclass

Slots = NDArray[np.int32]
Floats = NDArray[np.float32]
Words = Sequence[int] | NDArray[np.uint32]
# A store of a few memories does not know where the middle of everything lies: it counts as if it also held this many
# that lie nowhere.
LYING_NOWHERE = 32
# So many memories of a conversation tell what it is about.
ENOUGH_OF_SESSION = 64


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory ready to be written: with its words counted and, where the embedder is local, its vectors made."""

    memory: Memory
    fingerprint: str
    words: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    length: int
    model: str = ""
    vectors: Floats | None = None
    # What memories have in common that say the same; 0 for none.
    sketch: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    row: int
    created: bool


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one word occurs, among what the view may see."""

    slots: Slots
    counts: NDArray[np.uint8]
    lengths: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The closest memories by vector, and what similarity means here: the background of this scope."""

    slots: Slots
    similarity: Floats
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What ranking needs to know of some slots, one array element each; -1 where there is no neighbour or session."""

    row: NDArray[np.int64]
    session: NDArray[np.int32]
    length: NDArray[np.int32]
    at: NDArray[np.float64]
    by_person: NDArray[np.bool_]
    by_agent: NDArray[np.bool_]
    before: Slots
    after: Slots


class View(Protocol):
    """Everything one scope may see, at one moment. What is out of scope does not exist here: not in a result, not in
    a count, not in a word's rarity. Slots are numbers that hold for this view only."""

    @property
    def size(self) -> int: ...

    @property
    def span(self) -> int:
        """One more than the largest slot."""

    @property
    def mean_length(self) -> float: ...

    def slots(self, rows: Sequence[int]) -> Slots:
        """Where these memories are; the ones that the view may not see are left out."""

    def postings(self, words: Words) -> list[Postings]: ...

    def holders(self, words: Words) -> list[Slots]:
        """Where each word occurs, and nothing more about it."""

    def nearest(self, vector: Floats, *, model: str, limit: int) -> Nearest: ...

    def similarity(self, vector: Floats, slots: Slots, *, model: str) -> Floats:
        """The closest vector of each slot, 0 where it has none of this model."""

    def facts(self, slots: Slots) -> Facts: ...

    def middles(self, slots: Slots, *, model: str) -> Floats:
        """What the conversation of each of these memories is about, no two of them of the same: the direction in which
        it lies from the middle of everything. That is the mean of the vectors of what persons said in it, or of all
        where none did, less the mean of all, of length one. Of a long conversation every so-and-so-manieth memory
        stands for all (ENOUGH_OF_SESSION to twice as many); one that is of none stands for itself. Zeros where there is
        no vector of this model."""

    def share_between(self, start: float, end: float) -> float:
        """About how much of it is of a time, 0..1; the end is not in it."""

    def neighbours(self, slots: Slots) -> Slots:
        """What was said right before and right after these, in any order, some of it perhaps more than once."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of the store: the last memory there was, and how often something had been forgotten, or superseded by
    what its file says now."""

    row: int = 0
    forgets: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """What a session remembers between two turns, and the moment it was asked. `since` is the last memory there was
    when the conversation was compacted."""

    session: Session
    mark: Mark = Mark()
    epoch: int = 0
    since: int = 0
    asked_at: float = 0.0
    ask_hash: str = ""
    receipt: int = 0
    delivered: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Frozen:
    """A session's stable part, and the memories it is made of."""

    text: str
    rows: Sequence[int]


@dataclass(frozen=True, slots=True)
class LaneFile:
    """A file in a workspace that is Foreword's: for which session it was written last, whether it `holds` anything, and
    the `problem` that kept it from being written."""

    path: str
    agent: str
    key: str
    holds: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Vault:
    """A folder of notes that a person owns: for whom its chunks are kept, by which `reading` of Markdown they were
    made, when it was last looked through whole, and the `problem` that kept it from being. One that is `leaving` is
    being taken out."""

    name: str
    path: str
    agent: str = ""
    project: str = ""
    audience: Audience = Audience.PRIVATE
    reading: int = 0
    scanned_at: float = 0.0
    problem: str = ""
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class VaultFile:
    """What a file of a vault looked like when it was read, by its path in the vault; `problem` is why it was not."""

    path: str
    mtime_ns: int
    size: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Replaced:
    """How many chunks of a file are new, the same as before, and gone."""

    added: int = 0
    kept: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`sections` were taken out of journals; what is `left` holds some that could not be."""

    memories: int = 0
    receipts: int = 0
    sections: int = 0
    left: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Day:
    """What happened on one day of the calendar, as this machine's clock has it."""

    day: str
    memories: int = 0
    turns: int = 0
    silent: int = 0
    tokens_injected: int = 0
    tokens_avoided: int = 0


@dataclass(frozen=True, slots=True)
class Census:
    """Counts for `status`. All memories are `searched` but for the summaries that Foreword made; `outdated` are those
    that have a successor."""

    memories: int
    sessions: int
    receipts: int
    by_agent: dict[str, int] = field(default_factory=dict)
    by_kind: dict[str, int] = field(default_factory=dict)
    by_audience: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)
    searched: int = 0
    outdated: int = 0
    bytes: int = 0
    tokens_injected: int = 0
    tokens_avoided: int = 0
    silent: int = 0
    feedback: dict[str, int] = field(default_factory=dict)


class Store(Protocol):
    # Writing. Each call is one transaction: all of it is kept, or none of it.
    def add(self, drafts: Sequence[Draft], session: Session | None) -> list[Written]:
        """Keep memories of one session, in order. A fingerprint that is known already changes nothing. Of those with
        the same sketch, for the same listeners and of the same origin and kind, the newest succeeds the others."""

    def together(self) -> AbstractContextManager[None]:
        """What this thread adds within the block is one transaction: kept when the block ends, all of it or nothing."""

    def unweighed(self, *, limit: int) -> list[Memory]:
        """The next memories of which nobody has looked yet whether they make others outdated, oldest first."""

    def weighed(self, upto: int, successors: Mapping[int, int]) -> None:
        """Nobody needs to look at memories up to this row again; each of `successors` (row to row) is outdated by the
        other. Goes when that one is forgotten."""

    def forget(self, rows: Collection[int], *, texts: Collection[str]) -> Forgotten:
        """Leave no byte of these memories, nor of receipts that quote `texts`, in any file of the store."""

    # Reading.
    def view(self, scope: Scope) -> AbstractContextManager[View]:
        """What the scope may see, as of now; it holds until the block ends."""

    def catch_up(self, scope: Scope, model: str) -> None:
        """Do now what the next view of this scope would have to do first. Changes nothing that anybody sees."""

    def get(self, rows: Sequence[int], scope: Scope | None = None) -> list[Memory]:
        """Memories in the order asked for; the ones that do not exist or are out of scope are left out."""

    def around(self, row: int, *, reach: int | None, scope: Scope | None = None) -> list[Memory]:
        """A memory with `reach` neighbours on each side, or its whole session when None; oldest first. Of a chunk,
        those of its file, in the file's order."""

    def recent(self, kind: Kind, scope: Scope, *, limit: int, besides: str = "", within: str = "") -> list[Memory]:
        """The newest of a kind, newest first, without what is outdated, leaving out the session with key `besides`,
        or of the agent's session with key `within` alone."""

    def rows_of(
        self,
        *,
        session: str = "",
        agent: str = "",
        source_id: str = "",
        before: float | None = None,
        kind: Kind | None = None,
    ) -> list[int]:
        """Which memories an owner means; every given part must hold, and at least one must be given. A session is meant
        with all conversations that other listeners had under its key."""

    def after(self, row: int, *, limit: int, agent: str = "") -> list[Memory]:
        """The next memories beyond a row, the oldest first; without the summaries that were put."""

    def sessions(self, *, limit: int, agent: str = "") -> list[Session]:
        """Sessions of which something is kept, the latest first."""

    # Summaries. One a session at most; no word and no vector leads to it.
    def to_summarise(self, *, before: float, limit: int, agent: str = "", besides: str = "") -> list[Session]:
        """Sessions of which something is kept that their summary does not tell yet and whose last memory is no newer
        than `before`, the latest first; `besides` is a key that is left out."""

    def told_by(self, session: Session, *, limit: int) -> list[Memory]:
        """The first and the last memories of one session, of this agent and key and no other, oldest first; without the
        summary that was put."""

    def put_summary(self, session: Session, memory: Memory | None, *, last: int, settled: bool = True) -> int:
        """What tells the session as it was when `session` was read and its `last` memory was this row, in place of what
        told it before, under the same number; None when there is nothing to tell. Returns the number, 0 when there is
        none. Nothing is changed when anything came or went meanwhile. Not `settled`, the session is still to be told.
        Goes when any memory of the session is forgotten, which then is told anew; forgotten itself, it stays away until
        the session goes on."""

    def spent(self, day: str) -> int:
        """How many tokens a model was sent for summaries on this day."""

    def spend(self, day: str, tokens: int) -> None: ...

    def stale_rows(self, model: str, *, limit: int) -> list[Memory]:
        """Memories that have no vector of this model yet, oldest first."""

    def put_vectors(self, model: str, vectors: Iterable[tuple[int, Floats]]) -> None: ...

    def keep_only_model(self, model: str) -> None:
        """Drop the vectors of every other model; called when this one is complete."""

    # Sessions between turns.
    def turn(self, session: Session) -> Turn:
        """What the session remembers; nothing when it is new, or when it has no key: then every ask stands alone."""

    def settle(
        self,
        turn: Turn,
        *,
        asked_at: float,
        ask_hash: str,
        delivered: Sequence[tuple[int, str]],
        receipt: dict[str, Any],
        block_hash: str = "",
        wait_ms: float | None = None,
    ) -> int:
        """End a turn in one transaction: what was given (row, content hash), and its receipt, without what was
        forgotten since the turn's mark. Returns its number.
        Raises StoreBusy when the store could not be written within `wait_ms`."""

    def unchanged(self, since: Mark, scope: Scope) -> bool:
        """Whether nothing that the scope may see has come since, and nothing at all was forgotten or superseded."""

    def was_delivered(self, content_hash: str) -> bool: ...

    def compacted(self, session: Session, *, block_hash: str = "", rows: Sequence[int] = ()) -> None:
        """The conversation was cut, for all listeners and projects under its key: what was delivered may be said again,
        and the stable part is made anew. `block_hash` names the text that survives it, made of `rows`, so that the
        guard knows it when it comes back."""

    def stable(self, session: Session) -> Frozen | None: ...

    def freeze(self, session: Session, part: Frozen, *, instead_of: Frozen | None = None) -> Frozen | None:
        """Keep the session's stable part. The first one wins, also between processes; returns the one that is kept, or
        None when a memory in it has been forgotten meanwhile."""

    # Workspaces, by agent and the host's own session key.
    def keep_workspace(self, agent: str, key: str, path: str, *, wait_ms: float | None = None) -> None:
        """In which folder the session's agent works, from now on. Goes when the last of the session is forgotten.
        Raises StoreBusy when the store could not be written within `wait_ms`."""

    def workspace(self, agent: str, key: str) -> str:
        """As it was told last, or ""."""

    def workspaces(self) -> list[str]:
        """Every folder once."""

    def keep_lane_file(self, file: LaneFile, *, wait_ms: float | None = None) -> None:
        """In place of what was known of the same path. Raises StoreBusy as `keep_workspace` does."""

    def lane_files(self) -> list[LaneFile]: ...

    # Vaults, by name, and their files, by path in the vault.
    def add_vault(self, vault: Vault) -> bool:
        """Whether it was added: neither its name nor its folder may be there already."""

    def vaults(self) -> list[Vault]: ...

    def vault_size(self, name: str) -> tuple[int, int]:
        """How many files of it are kept, and in how many chunks."""

    def scanned_vault(self, name: str, *, at: float, reading: int, problem: str = "") -> None:
        """It was looked through, or the problem that kept it from being."""

    def vault_files(self, name: str, paths: Collection[str] | None = None) -> dict[str, tuple[int, int]]:
        """Each file that is known, or of `paths` those that are, with its time of change and its size."""

    def vault_problems(self, name: str) -> list[VaultFile]:
        """The files that were left out."""

    def vault_chunks(self, name: str, path: str) -> list[str]:
        """The fingerprints of a file's chunks, in its order."""

    def keep_vault_file(
        self, name: str, file: VaultFile, chunks: Sequence[str], drafts: Sequence[Draft]
    ) -> Replaced | None:
        """A file as it is now: its chunks by fingerprint, in order, and the drafts of those that are new. A chunk that
        was there keeps its memory, one that is not among them is gone for every reader. None, and nothing is changed,
        when a chunk is neither known nor drafted, or there is no such vault."""

    def leave_vault_files(self, name: str, paths: Collection[str]) -> int:
        """Files that are no longer there go with their chunks. How many chunks went."""

    def leave_vault(self, name: str) -> list[int]:
        """Nothing is added to it from now on. The memories that it has, which `forget` then takes away."""

    def drop_vault(self, name: str) -> None:
        """Leave no byte of what was known of its files."""

    # Receipts. Each comes back as it was settled, with its `id` and its `feedback`, "" while there is none.
    def receipt(self, row: int) -> dict[str, Any] | None: ...

    def receipts(self, *, limit: int, session: str = "", agent: str = "") -> list[dict[str, Any]]:
        """The newest, newest first."""

    def give_feedback(self, row: int, feedback: Feedback | None) -> bool:
        """Keep what a person says of a receipt, in place of what was said before; None takes it back. Whether there is
        such a receipt. It goes when the receipt is forgotten, and leaves no byte either."""

    # Health.
    def census(self) -> Census: ...

    def days(self, *, since: float) -> list[Day]:
        """The days on which anything was kept or asked, the oldest first."""

    def check(self) -> list[str]:
        """What is wrong with the files, one sentence each; empty when sound."""

    def close(self) -> None: ...
