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
_KINDS = {one.value: one for one in Kind}
_ORIGINS = {one.value: one for one in Origin}
_AUDIENCES = {one.value: one for one in Audience}


def memory_of(values: Sequence[Any]) -> Memory:
    row, kind, origin, audience, circle, agent, session, project, channel, sender, at, source_id = values[:12]
    type_, title, files, concepts, decisions, tokens, text, successor = values[12:]
    # By place, in the order of its fields, and by a look at a table: every brief reads ten memories, and by name, and
    # by asking each kind for its own, it takes twice as long.
    return Memory(
        text,
        _KINDS[kind],
        _ORIGINS[origin],
        _AUDIENCES[audience],
        circle,
        agent,
        session,
        project,
        channel,
        sender,
        at,
        source_id,
        title,
        type_,
        _listed(files),
        _listed(concepts),
        _listed(decisions),
        tokens,
        row,
        successor,
    )


def _listed(data: str) -> tuple[str, ...]:
    # Most memories have none of them.
    return () if data == "[]" else tuple(json.loads(data))


def session_of(found: Sequence[Any]) -> Session:
    key, agent, kind, audience, *rest = found
    return Session(key, agent, SessionKind(kind), Audience(audience), *rest)
