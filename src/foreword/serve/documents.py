"""Values as JSON documents with stable keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from foreword.model import Brief, Memory, Recorded, Session

if TYPE_CHECKING:
    from foreword.engine import Found


def memory(one: Memory) -> dict[str, Any]:
    return {
        "id": one.id,
        "content": one.text,
        "metadata": {
            "ts": timestamp(one.at),
            "kind": one.kind.value,
            "origin": one.origin.value,
            "audience": one.audience.label,
            "agent": one.agent,
            "session": one.session,
            "project": one.project,
            "channel": one.channel,
            "sender": one.sender,
            "source_id": one.source_id,
            "title": one.title,
            "type": one.type,
            "files": list(one.files),
            "concepts": list(one.concepts),
            "decisions": list(one.decisions),
            "tokens": one.tokens,
        },
    }


def found(one: Found) -> dict[str, Any]:
    return {**memory(one.memory), "score": round(one.confidence, 4), "lanes": dict(one.candidate.lanes)}


def brief(one: Brief) -> dict[str, Any]:
    return {
        "text": one.text,
        "memories": list(one.memories),
        "tokens": one.tokens,
        "reason": one.reason,
        "receipt": one.receipt,
    }


def recorded(one: Recorded) -> dict[str, Any]:
    return {"outcome": one.outcome.value, "id": one.id, "reason": one.reason, "redactions": list(one.redactions)}


def session(one: Session) -> dict[str, Any]:
    return {
        "session": one.key,
        "agent": one.agent,
        "kind": one.kind.value,
        "audience": one.audience.label,
        "project": one.project,
        "channel": one.channel,
        "started": timestamp(one.started_at),
        "last": timestamp(one.last_at),
        "memories": one.memories,
    }


def timestamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
