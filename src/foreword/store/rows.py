"""How the SQLite store reads a memory and a session: their columns, and what is made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from foreword.model import Audience, Kind, Memory, Origin, Session, SessionKind

MEMORY = (
    "m.row, m.kind, m.origin, m.audience, m.circle, m.agent, coalesce(s.key, ''), m.project, m.channel, m.sender, m.at,"
    " m.source_id, m.type, m.title, m.files, m.concepts, m.decisions, m.tokens, m.text, m.successor"
    " FROM memory AS m LEFT JOIN session AS s ON s.row = m.session"
)
SESSION = (
    "key, agent, kind, audience, circle, project, channel, started_at, last_at,"
    " (SELECT count(*) FROM memory WHERE memory.session = session.row), row,"
    " coalesce((SELECT text FROM memory WHERE memory.row = session.summary), '')"
)


def memory_of(values: Sequence[Any]) -> Memory:
    row, kind, origin, audience, circle, agent, session, project, channel, sender, at, source_id = values[:12]
    type_, title, files, concepts, decisions, tokens, text, successor = values[12:]
    return Memory(
        text=text,
        kind=Kind(kind),
        origin=Origin(origin),
        audience=Audience(audience),
        circle=circle,
        agent=agent,
        session=session,
        project=project,
        channel=channel,
        sender=sender,
        at=at,
        source_id=source_id,
        title=title,
        type=type_,
        files=_listed(files),
        concepts=_listed(concepts),
        decisions=_listed(decisions),
        tokens=tokens,
        row=row,
        successor=successor,
    )


def _listed(data: str) -> tuple[str, ...]:
    # Most memories have none of them, and every brief reads ten memories.
    return () if data == "[]" else tuple(json.loads(data))


def session_of(found: Sequence[Any]) -> Session:
    key, agent, kind, audience, *rest = found
    return Session(key, agent, SessionKind(kind), Audience(audience), *rest)
