"""What Foreword keeps: one statement, who said it, and who may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import IntEnum, StrEnum

from foreword.errors import BadInput
from foreword.values import dataclass

MEMORY_PREFIX = "m"


class Kind(StrEnum):
    MESSAGE = "message"
    OBSERVATION = "observation"
    SUMMARY = "summary"
    NOTE = "note"
    CHUNK = "chunk"


class Origin(StrEnum):
    """Where the words came from. What is not the owner's or the agent's own is labelled wherever it is shown."""

    OWNER = "owner"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"
    STRANGER = "stranger"

    @property
    def said_by_a_person(self) -> bool:
        return self in (Origin.OWNER, Origin.STRANGER)


class Audience(IntEnum):
    """Who may see a memory, narrow to wide. The order is the rule: a memory never goes to a wider audience."""

    PRIVATE = 0
    GROUP = 1
    EXTERNAL = 2

    @classmethod
    def named(cls, name: str) -> Audience:
        try:
            return cls[name.upper()]
        except KeyError:
            raise BadInput(f"'{name}' is not an audience.", hint="Use private, group or external.") from None

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Scope:
    """What one ask is allowed to see.

    `circle` is the one conversation a group or external ask happens in: what was said in another group or to another
    person is not for it, though both are of the same audience. A private ask sees every circle.
    """

    agent: str
    audience: Audience = Audience.PRIVATE
    circle: str = ""
    project: str = ""
    every_agent: bool = False
    every_project: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """One kept statement. `agent` "" means every agent's, `project` "" every project's, `circle` "" any circle's.
    `successor` is the row of the memory that has said the same since, or otherwise; 0 while none has."""

    text: str
    kind: Kind = Kind.MESSAGE
    origin: Origin = Origin.OWNER
    audience: Audience = Audience.PRIVATE
    circle: str = ""
    agent: str = ""
    session: str = ""
    project: str = ""
    channel: str = ""
    sender: str = ""
    at: float = 0.0
    source_id: str = ""
    title: str = ""
    type: str = ""
    files: Sequence[str] = field(default_factory=tuple)
    concepts: Sequence[str] = field(default_factory=tuple)
    decisions: Sequence[str] = field(default_factory=tuple)
    tokens: int = 0
    row: int = 0
    successor: int = 0

    @property
    def id(self) -> str:
        return f"{MEMORY_PREFIX}{self.row}"

    @property
    def heading(self) -> str:
        """What belongs to the meaning of each part of the text: who said it, and its title."""
        return ": ".join(part for part in (self.sender, self.title) if part)


def row_of(memory_id: str) -> int:
    """The store's number behind a public id such as `m12`; raises BadInput for anything else."""
    if not isinstance(memory_id, str):
        raise BadInput(f"{memory_id!r} is not an id.")
    digits = memory_id.removeprefix(MEMORY_PREFIX)
    if not memory_id.startswith(MEMORY_PREFIX) or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise BadInput(f"'{memory_id[:40]}' is not a memory id.", hint="Ids look like m12; `foreword search` has them.")
    return int(digits)
