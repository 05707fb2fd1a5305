"""Conversations: their kind, and what an event or an ask brings from one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum

from foreword.model.memory import Audience, Kind, Origin
from foreword.values import dataclass


class SessionKind(StrEnum):
    SUBAGENT = "subagent"
    HEARTBEAT_CRON = "heartbeat_cron"
    PRIVATE_DM = "private_dm"
    EXTERNAL_DM = "external_dm"
    FORUM_TOPIC = "forum_topic"
    GROUP_CHAT = "group_chat"
    MAIN_SESSION = "main_session"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class SessionClass:
    """What a session key tells: the kind of session, who listens in, and which circle they form."""

    kind: SessionKind
    audience: Audience
    circle: str = ""
    warning: str = ""


def runs_of(key: str, trigger: str = "", provenance: str = "") -> frozenset[str]:
    """The words that tell what kind of run this is: what set it off, where its input came from, and the parts of its
    session key, but for the agent's name."""
    parts = [part.strip() for part in key.lower().split(":")]
    if len(parts) >= 3 and parts[0] == "agent":
        parts = parts[2:]
    return frozenset(filter(None, (*parts, trigger.strip().lower(), provenance.strip().lower())))


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation as the store keeps it, and the summary that Foreword made of it."""

    key: str
    agent: str
    kind: SessionKind = SessionKind.FALLBACK
    audience: Audience = Audience.PRIVATE
    circle: str = ""
    project: str = ""
    channel: str = ""
    started_at: float = 0.0
    last_at: float = 0.0
    memories: int = 0
    row: int = 0
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something an agent saw. What is left out is derived: audience and origin from the session key and the sender,
    time from the clock, the agent from the session key. `trigger` and `provenance` are what the host says of the run
    that brought it: what set it off, and where its input came from."""

    text: str
    kind: Kind = Kind.MESSAGE
    session: str = ""
    agent: str = ""
    origin: Origin | None = None
    audience: Audience | None = None
    sender: str = ""
    channel: str = ""
    project: str = ""
    source_id: str = ""
    at: float | None = None
    tool: str = ""
    title: str = ""
    type: str = ""
    files: Sequence[str] = field(default_factory=tuple)
    concepts: Sequence[str] = field(default_factory=tuple)
    decisions: Sequence[str] = field(default_factory=tuple)
    trigger: str = ""
    provenance: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a host is about to send to its model. `holds_session` tells that the model still has before it what was said
    in this session since its last compaction: then none of that is given again. `ahead` tells that the message has come
    and its prompt is yet to be built: what is found is laid ready, and nothing counts as given. `trigger` and
    `provenance` are what the host says of the run: what set it off, and where its input came from. `workspace` is the
    folder in which the session's agent works, for hosts that tell it nowhere else; see `lanes`."""

    text: str
    session: str = ""
    agent: str = ""
    sender: str = ""
    channel: str = ""
    project: str = ""
    audience: Audience | None = None
    at: float | None = None
    holds_session: bool = False
    ahead: bool = False
    trigger: str = ""
    provenance: str = ""
    workspace: str = ""


class Outcome(StrEnum):
    STORED = "stored"
    KNOWN = "known"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of one event. `reason` is a sentence whenever the outcome is not plainly stored."""

    outcome: Outcome
    id: str = ""
    reason: str = ""
    redactions: Sequence[str] = field(default_factory=tuple)
