"""The summaries' part of the SQLite store. A summary is a memory that no word and no vector leads to: it tells what
other memories hold, and would stand in their way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import TYPE_CHECKING

from foreword.model import Memory, Session
from foreword.store.rows import MEMORY, SESSION, memory_of, session_of

if TYPE_CHECKING:
    from foreword.store.connection import Connections

_SPENT = "told tokens on "
_TELLING = "agent, project, audience, circle, origin, channel, at, tokens, files, concepts, decisions, text"


class SummaryRows:
    """What `Store` promises of summaries."""

    _connections: Connections

    def to_summarise(self, *, before: float, limit: int, agent: str = "", besides: str = "") -> list[Session]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {SESSION} FROM session INDEXED BY session_to_tell WHERE last_at <> told_until"
                " AND last_at <= ?1 AND (?2 = '' OR agent = ?2) AND key <> ?3 ORDER BY last_at DESC LIMIT ?4",
                (before, agent, besides, limit),
            ).fetchall()
        return [session_of(one) for one in found]

    def told_by(self, session: Session, *, limit: int) -> list[Memory]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {MEMORY} WHERE m.session = ?1 AND m.row IS NOT s.summary AND (m.position <= ?2 OR m.position >"
                " (SELECT max(position) FROM memory WHERE session = ?1) - ?2) ORDER BY m.position",
                (session.row, limit // 2),
            ).fetchall()
        return [memory_of(one) for one in found]

    def put_summary(self, session: Session, memory: Memory | None, *, last: int, settled: bool = True) -> int:
        with self._connections.writing(synced=False) as connection:
            found = connection.execute(
                "SELECT row, summary FROM session WHERE agent = ? AND key = ?", (session.agent, session.key)
            ).fetchone()
            if found is None:
                return 0
            place, row = found
            now = connection.execute(
                "SELECT count(*), coalesce(max(row), 0) FROM memory WHERE session = ? AND row IS NOT ?", (place, row)
            ).fetchone()
            # Whatever came or went meanwhile: what was forgotten must not come back in other words.
            if now != (session.memories - bool(session.summary), last):
                return 0
            if memory is not None:
                row = self._written(connection, place, row, memory)
            told_until = session.last_at if settled else -1
            connection.execute("UPDATE session SET told_until = ?, summary = ? WHERE row = ?", (told_until, row, place))
        return row or 0

    def spent(self, day: str) -> int:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT value FROM counter WHERE name = ?", (_SPENT + day,)).fetchone()
        return int(found[0]) if found else 0

    def spend(self, day: str, tokens: int) -> None:
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM counter WHERE name LIKE ? AND name <> ?", (f"{_SPENT}%", _SPENT + day))
            connection.execute(
                "INSERT INTO counter VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = value + ?2",
                (_SPENT + day, tokens),
            )

    @staticmethod
    def _written(connection: sqlite3.Connection, place: int, row: int | None, memory: Memory) -> int:
        lists = (json.dumps(list(one)) for one in (memory.files, memory.concepts, memory.decisions))
        values = (
            memory.agent,
            memory.project,
            int(memory.audience),
            memory.circle,
            memory.origin.value,
            memory.channel,
            memory.at,
            memory.tokens,
            *lists,
            memory.text,
        )
        if row is not None:
            connection.execute(
                f"UPDATE memory SET ({_TELLING}) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE row = ?", (*values, row)
            )
            return row
        row = int(
            connection.execute(
                f"INSERT INTO memory ({_TELLING}, session, kind, fingerprint, position, length, sender, source_id,"
                " type, title) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                " (SELECT coalesce(max(position), 0) + 1 FROM memory WHERE session = ?13), 0, '', '', '', '')"
                " RETURNING row",
                (*values, place, memory.kind.value, f"summary of session {place}"),
            ).fetchone()[0]
        )
        # It has no vector, and none is to be waited for.
        connection.execute(
            "UPDATE embedded SET upto = ?1 WHERE upto >= (SELECT coalesce(max(row), 0) FROM memory WHERE row < ?1)",
            (row,),
        )
        return row

    @staticmethod
    def _summaries_of(connection: sqlite3.Connection, rows: Collection[int]) -> set[int]:
        """The summaries of the sessions that these memories are of: whatever they quote, they are made anew."""
        found = connection.execute(
            "SELECT DISTINCT s.summary FROM memory AS m JOIN session AS s ON s.row = m.session"
            " WHERE s.summary IS NOT NULL AND m.row IN (SELECT value FROM json_each(?))",
            (json.dumps(list(rows)),),
        )
        return {int(row) for (row,) in found}
