"""The default store: one SQLite file, and an index of it in memory."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from foreword.errors import StoreDamaged, StoreError
from foreword.model import Audience, Feedback, Kind, Memory, Scope, Session
from foreword.store.connection import FILE_NAME, Connections
from foreword.store.contract import Census, Day, Draft, Floats, Forgotten, Frozen, LaneFile, Mark, Turn, Written
from foreword.store.index import MOMENT, Index, IndexView, pack_vector, pack_words
from foreword.store.rows import MEMORY, SESSION, memory_of, session_of
from foreword.store.summaries import SummaryRows
from foreword.store.vaults import VaultRows

# Summaries are not.
_SEARCHED = "EXISTS (SELECT 1 FROM word AS w WHERE w.memory = m.row)"
_FORGETS = "SELECT sum(value) FROM counter WHERE name IN ('forgets', 'supersedes')"
_NOW = f"SELECT coalesce((SELECT max(row) FROM memory), 0), ({_FORGETS})"
_TURN = (
    f"{_NOW}, s.epoch, s.since, s.asked_at, s.ask_hash, s.last_receipt,"
    " (SELECT group_concat(memory) FROM delivery WHERE session = s.row AND epoch = s.epoch)"
    " FROM (SELECT 1) LEFT JOIN session AS s ON s.agent = ? AND s.key = ?"
)
# A receipt quotes a short text only when it is the whole ask; a longer one also when it is a part of it.
_QUOTABLE_CHARS = 12
# As many as a brief looks at are named one by one, which is sooner done than unpacking a list.
_FEW_ROWS = 16
_UNSWEPT = "Memories were forgotten, but the file still holds traces of them, because another process is reading it."


class SqliteStore(SummaryRows, VaultRows):
    def __init__(self, home: Path) -> None:
        self.path = home / FILE_NAME
        self._connections = Connections(self.path)
        self._index = Index()
        self._index_lock = threading.RLock()
        if self._is_unswept():
            try:
                self._sweep()
            except StoreError:
                # Still in use elsewhere: the mark stays, `check` tells, and the next opening tries again.
                return

    # Writing

    def add(self, drafts: Sequence[Draft], session: Session | None) -> list[Written]:
        with self._connections.writing() as connection:
            place = self._session_row(connection, session) if session else None
            written = [self._add_one(connection, draft, place) for draft in drafts]
            if place is not None and drafts:
                times = [draft.memory.at for draft in drafts]
                connection.execute(
                    "UPDATE session SET last_at = max(last_at, ?), started_at = min(started_at, ?),"
                    " told_until = CASE WHEN ? THEN -1 ELSE told_until END WHERE row = ?",
                    (max(times), min(times), any(one.created for one in written), place),
                )
        return written

    def together(self) -> AbstractContextManager[None]:
        return self._connections.together()

    def _add_one(self, connection: sqlite3.Connection, draft: Draft, session: int | None) -> Written:
        known = connection.execute("SELECT row FROM memory WHERE fingerprint = ?", (draft.fingerprint,)).fetchone()
        if known:
            return Written(int(known[0]), created=False)
        memory = draft.memory
        row = connection.execute(
            "INSERT INTO memory (session, position, kind, origin, audience, circle, agent, project, at, length, tokens,"
            " fingerprint, channel, sender, source_id, type, title, files, concepts, decisions, text, sketch)"
            " VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM memory WHERE session = ?1),"
            " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING row",
            (
                session,
                memory.kind.value,
                memory.origin.value,
                int(memory.audience),
                memory.circle,
                memory.agent,
                memory.project,
                memory.at,
                draft.length,
                memory.tokens,
                draft.fingerprint,
                memory.channel,
                memory.sender,
                memory.source_id,
                memory.type,
                memory.title,
                json.dumps(list(memory.files)),
                json.dumps(list(memory.concepts)),
                json.dumps(list(memory.decisions)),
                memory.text,
                draft.sketch,
            ),
        ).fetchone()[0]
        if draft.sketch:
            SqliteStore._succeed(connection, int(row), draft.sketch)
        connection.execute("INSERT INTO word VALUES (?, ?)", (row, pack_words(draft.words, draft.counts)))
        if draft.vectors is not None:
            self._add_vectors(connection, draft.model, row, draft.vectors)
            connection.execute(
                "INSERT INTO embedded SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM memory WHERE row < ?2)"
                " ON CONFLICT DO NOTHING",
                (draft.model, row),
            )
            connection.execute(
                "UPDATE embedded SET upto = ?2 WHERE model = ?1"
                " AND upto >= (SELECT coalesce(max(row), 0) FROM memory WHERE row < ?2)",
                (draft.model, row),
            )
        return Written(int(row), created=True)

    @staticmethod
    def _succeed(connection: sqlite3.Connection, row: int, sketch: int) -> None:
        """Of those that say the same, one has no successor: the newest. A chain, so that one more costs no more."""
        newest = connection.execute(
            # Without the second half SQLite does not see that the index holds what is looked for, and reads it all.
            "SELECT m.row, (m.at, m.row) > (new.at, new.row) FROM memory AS m INDEXED BY memory_by_sketch"
            " JOIN memory AS new ON new.row = ?2 WHERE m.sketch = ?1 AND m.sketch <> 0 AND m.successor = 0"
            " AND m.row <> new.row AND (m.agent, m.project, m.audience, m.circle, m.origin, m.kind, m.sender)"
            " = (new.agent, new.project, new.audience, new.circle, new.origin, new.kind, new.sender)"
            " ORDER BY m.at DESC, m.row DESC LIMIT 1",
            (sketch, row),
        ).fetchone()
        if newest is not None:
            other, is_newer = newest
            connection.execute(
                "UPDATE memory SET successor = ? WHERE row = ?", (other, row) if is_newer else (row, other)
            )

    @staticmethod
    def _splice(connection: sqlite3.Connection, gone: Collection[int]) -> list[tuple[int, int]]:
        """What these rows succeeded is succeeded by what succeeds them, or by nothing again: those, with their sketch,
        are to be compared once more when the rows are gone."""
        these = json.dumps(list(gone))
        heads = dict(
            connection.execute(
                "SELECT row, successor FROM memory WHERE row IN (SELECT value FROM json_each(?))", (these,)
            )
        )
        left = connection.execute(
            "SELECT row, successor, sketch FROM memory"
            " WHERE successor <> 0 AND successor IN (SELECT value FROM json_each(?))",
            (these,),
        ).fetchall()
        changes, alone = [], []
        for row, successor, sketch in left:
            seen: set[int] = set()
            while successor in heads and successor not in seen:
                seen.add(successor)
                successor = heads[successor]
            changes.append((0 if successor in heads else successor, row))
            if not changes[-1][0] and sketch and row not in heads:
                alone.append((row, sketch))
        connection.executemany("UPDATE memory SET successor = ? WHERE row = ?", changes)
        return alone

    def unweighed(self, *, limit: int) -> list[Memory]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {MEMORY} WHERE m.row > (SELECT value FROM counter WHERE name = 'weighed')"
                " ORDER BY m.row LIMIT ?",
                (limit,),
            ).fetchall()
        return [memory_of(one) for one in found]

    def weighed(self, upto: int, successors: Mapping[int, int]) -> None:
        with self._connections.writing(synced=False) as connection:
            connection.execute("UPDATE counter SET value = max(value, ?) WHERE name = 'weighed'", (upto,))
            living = set(self._living(connection, list(successors.values())))
            marked = connection.executemany(
                "UPDATE memory SET successor = ? WHERE row = ? AND successor = 0",
                [(new, old) for old, new in successors.items() if new in living],
            )
            if marked.rowcount > 0:
                # What is laid ready, or was given a moment ago, may hold one of them.
                connection.execute("UPDATE counter SET value = value + 1 WHERE name = 'supersedes'")

    @staticmethod
    def _add_vectors(connection: sqlite3.Connection, model: str, row: int, vectors: Floats) -> None:
        connection.executemany(
            "INSERT INTO vector (memory, model, data) VALUES (?, ?, ?)",
            [(row, model, pack_vector(vector)) for vector in vectors],
        )

    def forget(self, rows: Collection[int], *, texts: Collection[str]) -> Forgotten:
        # Many at once in each statement: an owner may forget a whole agent, and receipts are read through only once.
        among = "IN (SELECT value FROM json_each(?))"
        with self._connections.writing() as connection:
            rows = {int(row) for row in rows}
            # A session that loses more than its summary is told anew, of the rest.
            changed = [
                place
                for (place,) in connection.execute(
                    "SELECT DISTINCT m.session FROM memory AS m JOIN session AS s ON s.row = m.session"
                    f" WHERE m.row IS NOT s.summary AND m.row {among}",
                    (json.dumps(list(rows)),),
                )
            ]
            rows |= self._summaries_of(connection, rows)
            these = (json.dumps(list(rows)),)
            places = [
                place
                for (place,) in connection.execute(f"SELECT DISTINCT session FROM memory WHERE row {among}", these)
                if place is not None
            ]
            touched = self._receipts_naming(connection, frozenset(rows))
            connection.execute(f"DELETE FROM delivery WHERE memory {among}", these)
            connection.execute(f"DELETE FROM injected WHERE memory {among}", these)
            connection.execute(
                "UPDATE session SET stable = NULL, stable_rows = '[]'"
                f" WHERE EXISTS (SELECT 1 FROM json_each(stable_rows) AS shown WHERE shown.value {among})",
                these,
            )
            connection.execute(
                "UPDATE session SET summary = NULL, told_until = CASE WHEN row IN (SELECT value FROM json_each(?))"
                f" THEN -1 ELSE last_at END WHERE row {among} AND (summary {among} OR row {among})",
                (json.dumps(changed), json.dumps(places), *these, json.dumps(changed)),
            )
            alone = self._splice(connection, rows)
            gone = connection.execute(f"DELETE FROM memory WHERE row {among}", these).rowcount
            for row, sketch in alone:
                self._succeed(connection, row, sketch)
            for text in texts:
                touched.update(self._receipts_quoting(connection, text))
            for number in touched:
                # The marks of memories that live on stay, or their words would be recorded as somebody's.
                connection.execute("DELETE FROM injected WHERE receipt = ? AND memory = 0", (number,))
                connection.execute("DELETE FROM receipt WHERE row = ?", (number,))
            # Any of them may be of an ask that said the same words; losing one costs a retry its brief, no more.
            connection.execute("UPDATE session SET ask_hash = ''")
            # A session that has only just begun has nothing but its stable part, which must stay as it is.
            connection.execute(
                "DELETE FROM session WHERE (stable IS NULL OR row IN (SELECT value FROM json_each(?)))"
                " AND NOT EXISTS (SELECT 1 FROM memory WHERE memory.session = session.row)"
                " AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.session = session.key)"
                " AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.session = session.row)",
                (json.dumps(places),),
            )
            connection.execute(
                "DELETE FROM workspace WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.agent = workspace.agent"
                f" AND {_under('session.key', 'workspace.key')})"
            )
            connection.execute("UPDATE counter SET value = value + 1 WHERE name = 'forgets'")
            # Every index is read anew now, so none needs to be told.
            connection.execute("DELETE FROM superseded")
            connection.execute("UPDATE counter SET value = 1 WHERE name = 'unswept'")
        self._sweep()
        return Forgotten(gone, len(touched))

    def _sweep(self) -> None:
        """Clear the traces of what was forgotten; raises when another process is in the way."""
        try:
            with self._connections.using() as connection:
                # secure_delete clears what is freed, but not the copies that rows leave behind in the slack of a page
                # when the tree is rebalanced; only a file written anew from its living rows holds nothing else.
                connection.execute("VACUUM")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except StoreError as error:
            raise StoreError(f"{_UNSWEPT} {error}") from error
        if busy:
            raise StoreError(_UNSWEPT, hint="They go when Foreword is next opened and nobody else reads.")
        with self._connections.writing(synced=False) as connection:
            connection.execute("UPDATE counter SET value = 0 WHERE name = 'unswept'")

    def _is_unswept(self) -> bool:
        with self._connections.reading() as connection:
            return bool(connection.execute("SELECT value FROM counter WHERE name = 'unswept'").fetchone()[0])

    @staticmethod
    def _receipts_naming(connection: sqlite3.Connection, rows: Collection[int]) -> set[int]:
        return {
            int(number)
            for number, body in connection.execute("SELECT row, body FROM receipt")
            if any(candidate["row"] in rows for candidate in json.loads(body)["candidates"])
        }

    @staticmethod
    def _receipts_quoting(connection: sqlite3.Connection, text: str) -> list[int]:
        return [
            int(found[0])
            for found in connection.execute(
                "SELECT row FROM receipt WHERE ask <> '' AND (ask = ?1"
                " OR (length(ask) >= ?2 AND instr(?1, ask)) OR (length(?1) >= ?2 AND instr(ask, ?1)))",
                (text, _QUOTABLE_CHARS),
            )
        ]

    # Reading

    @contextmanager
    def view(self, scope: Scope) -> Iterator[IndexView]:
        with self._index_lock, self._connections.using() as connection:
            if self._index.moment == connection.execute(MOMENT).fetchone():
                yield self._index.view(scope, connection)
                return
            connection.execute("BEGIN")
            try:
                moment = connection.execute(MOMENT).fetchone()
                if moment[:2] != self._index.moment[:2]:
                    # Something was taken away, here or by another process: slots have no holes, so read it all again.
                    self._index = Index()
                self._index.refresh(connection, moment)
                yield self._index.view(scope, connection)
            finally:
                connection.execute("COMMIT")

    def catch_up(self, scope: Scope, model: str) -> None:
        with self.view(scope) as view:
            if model:
                view.catch_up(model)

    def get(self, rows: Sequence[int], scope: Scope | None = None) -> list[Memory]:
        if not rows:
            return []
        condition, values = _visible(scope)
        wanted: tuple[Any, ...]
        if len(rows) <= _FEW_ROWS:
            among, wanted = ", ".join("?" * len(rows)), tuple(int(row) for row in rows)
        else:
            # One JSON value, because the number of SQL variables is limited and an owner may forget a whole agent.
            among, wanted = "SELECT value FROM json_each(?)", (json.dumps([int(row) for row in rows]),)
        with self._connections.using() as connection:
            found = connection.execute(
                f"SELECT {MEMORY} WHERE m.row IN ({among}) AND {condition}", (*wanted, *values)
            ).fetchall()
        memories = {memory.row: memory for memory in map(memory_of, found)}
        return [memories[row] for row in rows if row in memories]

    def around(self, row: int, *, reach: int | None, scope: Scope | None = None) -> list[Memory]:
        if chunks := self._chunks_around(row, reach):
            return self.get(chunks, scope)
        condition, values = _visible(scope)
        near, reach_values = ("", ()) if reach is None else (" AND abs(m.position - here.position) <= ?", (reach,))
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {MEMORY} JOIN memory AS here ON here.row = ?"
                f" WHERE (m.session = here.session OR m.row = here.row){near} AND {condition}"
                " ORDER BY m.position, m.row",
                (row, *reach_values, *values),
            ).fetchall()
        return [memory_of(one) for one in found]

    def recent(self, kind: Kind, scope: Scope, *, limit: int, besides: str = "", within: str = "") -> list[Memory]:
        condition, values = _visible(scope)
        # A session is looked up by its own index: that of the kinds would be read to its end.
        one = "+m.kind = ? AND m.session = (SELECT row FROM session WHERE agent = ? AND key = ?)"
        of, session = (one, (scope.agent, within)) if within else ("m.kind = ?", ())
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {MEMORY} WHERE {of} AND coalesce(s.key, '') <> ? AND m.successor = 0 AND {condition}"
                " ORDER BY m.at DESC, m.row DESC LIMIT ?",
                (kind.value, *session, besides or "\0", *values, limit),
            ).fetchall()
        return [memory_of(one) for one in found]

    def rows_of(
        self,
        *,
        session: str = "",
        agent: str = "",
        source_id: str = "",
        before: float | None = None,
        kind: Kind | None = None,
    ) -> list[int]:
        wanted = {
            _under("s.key", ":session"): ("session", session),
            "m.agent = :agent": ("agent", agent),
            "m.source_id = :source_id": ("source_id", source_id),
            "m.at < :before": ("before", before),
            "m.kind = :kind": ("kind", kind.value if kind else None),
        }
        given = {clause: value for clause, value in wanted.items() if value[1] not in ("", None)}
        if not given:
            return []
        with self._connections.reading() as connection:
            return [
                int(row)
                for (row,) in connection.execute(
                    "SELECT m.row FROM memory AS m LEFT JOIN session AS s ON s.row = m.session"
                    f" WHERE {' AND '.join(given)} ORDER BY m.row",
                    dict(given.values()),
                )
            ]

    def after(self, row: int, *, limit: int, agent: str = "") -> list[Memory]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {MEMORY} WHERE m.row > ?1 AND m.row IS NOT s.summary AND (?2 = '' OR m.agent = ?2)"
                " ORDER BY m.row LIMIT ?3",
                (row, agent, limit),
            ).fetchall()
        return [memory_of(one) for one in found]

    def sessions(self, *, limit: int, agent: str = "") -> list[Session]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {SESSION} FROM session"
                " WHERE (?1 = '' OR agent = ?1) AND EXISTS (SELECT 1 FROM memory WHERE memory.session = session.row)"
                " ORDER BY last_at DESC, row DESC LIMIT ?2",
                (agent, limit),
            ).fetchall()
        return [session_of(one) for one in found]

    # Vectors of another model

    def stale_rows(self, model: str, *, limit: int) -> list[Memory]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {MEMORY} WHERE m.row > coalesce((SELECT upto FROM embedded WHERE model = ?1), 0)"
                " AND NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.memory = m.row AND v.model = ?1)"
                f" AND {_SEARCHED} ORDER BY m.row LIMIT ?2",
                (model, limit),
            ).fetchall()
        return [memory_of(one) for one in found]

    def put_vectors(self, model: str, vectors: Iterable[tuple[int, Floats]]) -> None:
        with self._connections.writing(synced=False) as connection:
            for row, parts in vectors:
                wanted = connection.execute(
                    "SELECT 1 FROM memory WHERE row = ?1 AND NOT EXISTS"
                    " (SELECT 1 FROM vector WHERE memory = ?1 AND model = ?2)",
                    (row, model),
                ).fetchone()
                if wanted:
                    self._add_vectors(connection, model, row, parts)
            connection.execute("INSERT OR IGNORE INTO embedded VALUES (?, 0)", (model,))
            connection.execute(
                "UPDATE embedded SET upto = coalesce((SELECT min(m.row) - 1 FROM memory AS m WHERE m.row > upto AND NOT"
                f" EXISTS (SELECT 1 FROM vector AS v WHERE v.memory = m.row AND v.model = ?1) AND {_SEARCHED}),"
                " (SELECT max(row) FROM memory), 0) WHERE model = ?1",
                (model,),
            )

    def keep_only_model(self, model: str) -> None:
        with self._connections.writing(synced=False) as connection:
            connection.execute("DELETE FROM embedded WHERE model <> ?", (model,))
            if connection.execute("DELETE FROM vector WHERE model <> ?", (model,)).rowcount:
                connection.execute("UPDATE counter SET value = value + 1 WHERE name = 'vector_drops'")

    # Sessions between turns

    @staticmethod
    def _session_row(connection: sqlite3.Connection, session: Session) -> int:
        found = connection.execute(
            "SELECT row FROM session WHERE agent = ? AND key = ?", (session.agent, session.key)
        ).fetchone()
        if found:
            return int(found[0])
        return int(
            connection.execute(
                "INSERT INTO session (agent, key, kind, audience, circle, project, channel, started_at, last_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING row",
                (
                    session.agent,
                    session.key,
                    session.kind.value,
                    int(session.audience),
                    session.circle,
                    session.project,
                    session.channel,
                    session.started_at,
                    session.last_at,
                ),
            ).fetchone()[0]
        )

    def turn(self, session: Session) -> Turn:
        # One statement is one moment: three, and what makes them one, would take longer than what they look up.
        with self._connections.using() as connection:
            found = connection.execute(_TURN, (session.agent, session.key)).fetchone()
        newest, forgets, epoch, since, asked_at, ask_hash, receipt, delivered = found
        mark = Mark(newest, forgets)
        if epoch is None or not session.key:
            return Turn(session, mark)
        rows = frozenset(map(int, delivered.split(","))) if delivered else frozenset()
        return Turn(session, mark, epoch, since, asked_at, ask_hash, receipt, rows)

    def unchanged(self, since: Mark, scope: Scope) -> bool:
        condition, values = _visible(scope)
        with self._connections.reading() as connection:
            now = Mark(*connection.execute(_NOW).fetchone())
            if now == since or now.forgets != since.forgets:
                return now == since
            return not connection.execute(
                f"SELECT EXISTS (SELECT 1 FROM memory AS m WHERE m.row > ? AND {condition})", (since.row, *values)
            ).fetchone()[0]

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
        with self._connections.writing(synced=False, wait_ms=wait_ms) as connection:
            if connection.execute(_FORGETS).fetchone()[0] != turn.mark.forgets:
                living = set(self._living(connection, [one["row"] for one in receipt["candidates"]]))
                if len(living) < len(receipt["candidates"]):
                    receipt["candidates"] = [one for one in receipt["candidates"] if one["row"] in living]
                    delivered, block_hash = [one for one in delivered if one[0] in living], ""
            written = connection.execute(
                "INSERT INTO receipt (agent, session, at, ask, tokens, avoided, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    receipt["agent"],
                    receipt["session"],
                    receipt["at"],
                    receipt["ask"],
                    receipt["tokens"],
                    receipt["avoided"],
                    json.dumps(receipt, ensure_ascii=False, separators=(",", ":")),
                ),
            )
            number = int(written.lastrowid or 0)
            if turn.session.key:
                place = self._asked(connection, turn.session, (asked_at, ask_hash, number))
                if delivered:
                    connection.executemany(
                        "INSERT OR IGNORE INTO delivery VALUES (?, ?, ?)",
                        [(place, turn.epoch, row) for row, _ in delivered],
                    )
            if delivered:
                marks = [(digest, row, number) for row, digest in delivered]
                if block_hash:
                    marks.append((block_hash, 0, number))
                connection.executemany("INSERT OR REPLACE INTO injected VALUES (?, ?, ?)", marks)
        return number

    def _asked(self, connection: sqlite3.Connection, session: Session, last: tuple[float, str, int]) -> int:
        """Keep of a session what it asked last; its row. Most sessions that ask are known."""
        update = (
            "UPDATE session SET asked_at = ?, ask_hash = ?, last_receipt = ? WHERE agent = ? AND key = ? RETURNING row"
        )
        found = connection.execute(update, (*last, session.agent, session.key)).fetchall()
        if not found:
            self._session_row(connection, session)
            found = connection.execute(update, (*last, session.agent, session.key)).fetchall()
        return int(found[0][0])

    def was_delivered(self, content_hash: str) -> bool:
        with self._connections.reading() as connection:
            return connection.execute("SELECT 1 FROM injected WHERE hash = ?", (content_hash,)).fetchone() is not None

    def compacted(self, session: Session, *, block_hash: str = "", rows: Sequence[int] = ()) -> None:
        with self._connections.writing(synced=False) as connection:
            self._session_row(connection, session)
            under = f"agent = :agent AND {_under('key', ':key')}"
            given = {"agent": session.agent, "key": session.key}
            connection.execute(f"DELETE FROM delivery WHERE session IN (SELECT row FROM session WHERE {under})", given)
            connection.execute(
                "UPDATE session SET epoch = epoch + 1, ask_hash = '', stable = NULL, stable_rows = '[]',"
                f" since = (SELECT coalesce(max(row), 0) FROM memory) WHERE {under}",
                given,
            )
            connection.executemany(
                "INSERT OR REPLACE INTO injected VALUES (?, ?, 0)",
                [(block_hash, row) for row in self._living(connection, rows)],
            )

    @staticmethod
    def _living(connection: sqlite3.Connection, rows: Sequence[int]) -> list[int]:
        """Which of the rows still exist: between composing and writing, another may have forgotten some."""
        found = connection.execute(
            "SELECT row FROM memory WHERE row IN (SELECT value FROM json_each(?))", (json.dumps(list(rows)),)
        )
        return [int(row) for (row,) in found]

    def stable(self, session: Session) -> Frozen | None:
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT stable, stable_rows FROM session WHERE agent = ? AND key = ?", (session.agent, session.key)
            ).fetchone()
        return Frozen(found[0], tuple(json.loads(found[1]))) if found and found[0] is not None else None

    def freeze(self, session: Session, part: Frozen, *, instead_of: Frozen | None = None) -> Frozen | None:
        with self._connections.writing(synced=False) as connection:
            if len(self._living(connection, part.rows)) < len(part.rows):
                return None
            row = self._session_row(connection, session)
            connection.execute(
                "UPDATE session SET stable = ?, stable_rows = ? WHERE row = ? AND (stable IS NULL OR stable = ?)",
                (part.text, json.dumps(list(part.rows)), row, instead_of.text if instead_of else None),
            )
            kept = connection.execute("SELECT stable, stable_rows FROM session WHERE row = ?", (row,)).fetchone()
        return Frozen(kept[0], tuple(json.loads(kept[1])))

    # Workspaces

    def keep_workspace(self, agent: str, key: str, path: str, *, wait_ms: float | None = None) -> None:
        with self._connections.writing(synced=False, wait_ms=wait_ms) as connection:
            connection.execute("INSERT OR REPLACE INTO workspace VALUES (?, ?, ?)", (agent, key, path))

    def workspace(self, agent: str, key: str) -> str:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT path FROM workspace WHERE agent = ? AND key = ?", (agent, key))
            return next((str(path) for (path,) in found), "")

    def workspaces(self) -> list[str]:
        with self._connections.reading() as connection:
            return [path for (path,) in connection.execute("SELECT DISTINCT path FROM workspace ORDER BY path")]

    def keep_lane_file(self, file: LaneFile, *, wait_ms: float | None = None) -> None:
        with self._connections.writing(synced=False, wait_ms=wait_ms) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO lane_file VALUES (?, ?, ?, ?, ?)",
                (file.path, file.agent, file.key, file.holds, file.problem),
            )

    def lane_files(self) -> list[LaneFile]:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT path, agent, key, holds, problem FROM lane_file ORDER BY path")
            return [LaneFile(path, agent, key, bool(holds), problem) for path, agent, key, holds, problem in found]

    # Receipts

    def receipt(self, row: int) -> dict[str, Any] | None:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT row, body, feedback FROM receipt WHERE row = ?", (row,)).fetchone()
        return _receipt(found) if found else None

    def receipts(self, *, limit: int, session: str = "", agent: str = "") -> list[dict[str, Any]]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT row, body, feedback FROM receipt WHERE (?1 = '' OR {_under('session', '?1')})"
                " AND (?2 = '' OR agent = ?2) ORDER BY row DESC LIMIT ?3",
                (session, agent, limit),
            ).fetchall()
        return [_receipt(one) for one in found]

    def give_feedback(self, row: int, feedback: Feedback | None) -> bool:
        with self._connections.writing() as connection:
            changed = connection.execute(
                "UPDATE receipt SET feedback = ? WHERE row = ?", (feedback.value if feedback else "", row)
            )
            return changed.rowcount > 0

    # Health

    def census(self) -> Census:
        with self._connections.reading() as connection:

            def one(sql: str) -> int:
                return int(connection.execute(sql).fetchone()[0])

            def by(column: str) -> dict[Any, int]:
                sql = f"SELECT {column}, count(*) FROM memory GROUP BY 1 ORDER BY 1"
                return dict(connection.execute(sql).fetchall())

            return Census(
                memories=one("SELECT count(*) FROM memory"),
                sessions=one("SELECT count(DISTINCT session) FROM memory"),
                receipts=one("SELECT count(*) FROM receipt"),
                by_agent=by("agent"),
                by_kind=by("kind"),
                by_audience={Audience(value).label: count for value, count in by("audience").items()},
                vectors=dict(
                    connection.execute("SELECT model, count(DISTINCT memory) FROM vector GROUP BY 1").fetchall()
                ),
                searched=one("SELECT count(*) FROM word"),
                outdated=one("SELECT count(*) FROM memory WHERE successor <> 0"),
                bytes=sum(file.stat().st_size for file in self.path.parent.glob(FILE_NAME + "*")),
                tokens_injected=one("SELECT coalesce(sum(tokens), 0) FROM receipt"),
                tokens_avoided=one("SELECT coalesce(sum(avoided), 0) FROM receipt"),
                silent=one("SELECT count(*) FROM receipt WHERE tokens = 0"),
                feedback=dict(
                    connection.execute(
                        "SELECT feedback, count(*) FROM receipt WHERE feedback <> '' GROUP BY 1 ORDER BY 1"
                    ).fetchall()
                ),
            )

    def days(self, *, since: float) -> list[Day]:
        day = "date(at, 'unixepoch', 'localtime')"
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT day, sum(memories), sum(turns), sum(silent), sum(tokens), sum(avoided) FROM ("
                f" SELECT {day} AS day, 1 AS memories, 0 AS turns, 0 AS silent, 0 AS tokens, 0 AS avoided"
                " FROM memory WHERE at >= ?1 UNION ALL"
                f" SELECT {day}, 0, 1, tokens = 0, tokens, avoided FROM receipt WHERE at >= ?1"
                ") GROUP BY day ORDER BY day",
                (since,),
            ).fetchall()
        return [Day(*one) for one in found]

    def check(self) -> list[str]:
        try:
            with self._connections.reading() as connection:
                found = [str(line) for (line,) in connection.execute("PRAGMA quick_check(10)")]
        except StoreDamaged as error:
            return [str(error)]
        problems = [f"{self.path}: {line}" for line in found if line != "ok"]
        return [*problems, _UNSWEPT] if self._is_unswept() else problems

    def close(self) -> None:
        # SQLite does this by itself when the last connection closes, but not for a file that was moved meanwhile: what
        # was acknowledged would stay in a journal that belongs to nobody.
        try:
            with self._connections.using() as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreError:
            pass  # damaged, or in use elsewhere: then it is left to whoever opens it next
        self._connections.close()


def _visible(scope: Scope | None) -> tuple[str, tuple[Any, ...]]:
    """The rule of `Index._mask` in SQL; None is the owner at the machine, who may see everything."""
    if scope is None:
        return "1", ()
    clauses = ["m.audience >= ?"]
    values: list[Any] = [int(scope.audience)]
    if scope.audience is not Audience.PRIVATE:
        clauses.append("m.circle IN ('', ?)")
        values.append(scope.circle)
    if not scope.every_agent:
        clauses.append("m.agent IN ('', ?)")
        values.append(scope.agent)
    if not scope.every_project and scope.project:
        clauses.append("m.project IN ('', ?)")
        values.append(scope.project)
    return " AND ".join(clauses), tuple(values)


def _under(column: str, key: str) -> str:
    """A session key, or one made of it for other listeners or a project: `key` or `key|…`."""
    return f"({column} = {key} OR substr({column}, 1, length({key}) + 1) = {key} || '|')"


def _receipt(found: tuple[int, str, str]) -> dict[str, Any]:
    row, body, feedback = found
    return {**json.loads(body), "id": f"r{row}", "feedback": feedback}
