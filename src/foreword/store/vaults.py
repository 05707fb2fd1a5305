"""The vaults' part of the SQLite store: which files were read when, and which memories are of which."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from foreword.model import Audience
from foreword.store.contract import Draft, Replaced, Vault, VaultFile

if TYPE_CHECKING:
    from foreword.store.connection import Connections
    from foreword.store.contract import Written

_AMONG = "IN (SELECT value FROM json_each(?))"
_OF_VAULT = "vault = (SELECT row FROM vault WHERE name = ?)"


class VaultRows(ABC):
    """What `Store` promises of vaults. A changed file is not flushed to the disk: it can be read again."""

    _connections: Connections

    @abstractmethod
    def _add_one(self, connection: sqlite3.Connection, draft: Draft, session: int | None) -> Written: ...

    @abstractmethod
    def _sweep(self) -> None: ...

    def add_vault(self, vault: Vault) -> bool:
        with self._connections.writing() as connection:
            made = connection.execute(
                "INSERT INTO vault (name, path, agent, project, audience) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (vault.name, vault.path, vault.agent, vault.project, int(vault.audience)),
            )
            return made.rowcount > 0

    def vaults(self) -> list[Vault]:
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT name, path, agent, project, audience, reading, scanned_at, problem, leaving"
                " FROM vault ORDER BY name"
            ).fetchall()
        return [
            Vault(name, path, agent, project, Audience(audience), reading, scanned_at, problem, bool(leaving))
            for name, path, agent, project, audience, reading, scanned_at, problem, leaving in found
        ]

    def vault_size(self, name: str) -> tuple[int, int]:
        with self._connections.reading() as connection:
            files, chunks = connection.execute(
                "SELECT count(DISTINCT f.row), count(*) FROM vault_file AS f JOIN vault_chunk AS c ON c.file = f.row"
                f" WHERE f.{_OF_VAULT}",
                (name,),
            ).fetchone()
            return int(files), int(chunks)

    def scanned_vault(self, name: str, *, at: float, reading: int, problem: str = "") -> None:
        with self._connections.writing(synced=False) as connection:
            connection.execute(
                "UPDATE vault SET scanned_at = ?, reading = ?, problem = ? WHERE name = ?", (at, reading, problem, name)
            )

    def vault_files(self, name: str, paths: Collection[str] | None = None) -> dict[str, tuple[int, int]]:
        among, values = ("", ()) if paths is None else (f" AND path {_AMONG}", (json.dumps(list(paths)),))
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT path, mtime_ns, size FROM vault_file WHERE {_OF_VAULT}{among}", (name, *values)
            )
            return {path: (mtime_ns, size) for path, mtime_ns, size in found}

    def vault_problems(self, name: str) -> list[VaultFile]:
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT path, mtime_ns, size, problem FROM vault_file WHERE {_OF_VAULT} AND problem <> ''"
                " ORDER BY path",
                (name,),
            )
            return [VaultFile(*one) for one in found]

    def vault_chunks(self, name: str, path: str) -> list[str]:
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT m.fingerprint FROM vault_file AS f JOIN vault_chunk AS c ON c.file = f.row"
                f" JOIN memory AS m ON m.row = c.memory WHERE f.{_OF_VAULT} AND f.path = ? ORDER BY c.place",
                (name, path),
            )
            return [fingerprint for (fingerprint,) in found]

    def _chunks_around(self, row: int, reach: int | None) -> list[int]:
        """The memories of a chunk's file beside it, in the file's order; none for what is not of a file."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT c.memory FROM vault_chunk AS here JOIN vault_chunk AS c ON c.file = here.file"
                " WHERE here.memory = ?1 AND (?2 IS NULL OR abs(c.place - here.place) <= ?2) ORDER BY c.place",
                (row, reach),
            )
            return [memory for (memory,) in found]

    def keep_vault_file(
        self, name: str, file: VaultFile, chunks: Sequence[str], drafts: Sequence[Draft]
    ) -> Replaced | None:
        new = {draft.fingerprint: draft for draft in drafts}
        with self._connections.writing(synced=False) as connection:
            found = connection.execute("SELECT row FROM vault WHERE name = ? AND NOT leaving", (name,)).fetchone()
            if found is None:
                return None
            before: dict[str, int] = dict(
                connection.execute(
                    "SELECT m.fingerprint, m.row FROM vault_file AS f JOIN vault_chunk AS c ON c.file = f.row"
                    " JOIN memory AS m ON m.row = c.memory WHERE f.vault = ? AND f.path = ?",
                    (found[0], file.path),
                ).fetchall()
            )
            if any(one not in before and one not in new for one in chunks):
                return None
            (number,) = connection.execute(
                "INSERT INTO vault_file (vault, mtime_ns, size, path, problem) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (vault, path) DO UPDATE SET mtime_ns = excluded.mtime_ns, size = excluded.size,"
                " problem = excluded.problem RETURNING row",
                (found[0], file.mtime_ns, file.size, file.path, file.problem),
            ).fetchone()
            rows = [before[one] if one in before else self._add_one(connection, new[one], None).row for one in chunks]
            kept = set(rows) & set(before.values())
            gone = set(before.values()) - kept
            _supersede(connection, gone)
            connection.executemany(
                "INSERT INTO vault_chunk VALUES (?, ?, ?) ON CONFLICT (memory) DO UPDATE SET place = excluded.place",
                [(row, number, place) for place, row in enumerate(rows)],
            )
        return Replaced(added=len(rows) - len(kept), kept=len(kept), gone=len(gone))

    def leave_vault_files(self, name: str, paths: Collection[str]) -> int:
        these = (name, json.dumps(list(paths)))
        with self._connections.writing(synced=False) as connection:
            rows = connection.execute(
                f"SELECT c.memory FROM vault_file AS f JOIN vault_chunk AS c ON c.file = f.row WHERE f.{_OF_VAULT}"
                f" AND f.path {_AMONG}",
                these,
            ).fetchall()
            _supersede(connection, [row for (row,) in rows])
            connection.execute(f"DELETE FROM vault_file WHERE {_OF_VAULT} AND path {_AMONG}", these)
        return len(rows)

    def leave_vault(self, name: str) -> list[int]:
        with self._connections.writing() as connection:
            connection.execute("UPDATE vault SET leaving = 1 WHERE name = ?", (name,))
            rows = connection.execute(
                f"SELECT c.memory FROM vault_file AS f JOIN vault_chunk AS c ON c.file = f.row WHERE f.{_OF_VAULT}"
                " ORDER BY c.memory",
                (name,),
            )
            return [row for (row,) in rows.fetchall()]

    def drop_vault(self, name: str) -> None:
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM vault WHERE name = ?", (name,))
            connection.execute("UPDATE counter SET value = 1 WHERE name = 'unswept'")
        self._sweep()


def _supersede(connection: sqlite3.Connection, rows: Collection[int]) -> None:
    """Memories that their own file no longer holds. Unlike `forget` it leaves the receipts that name them, and does not
    write the file anew: freed bytes are overwritten, and copies in the slack of a page go with the next `forget`."""
    if not rows:
        return
    these = (json.dumps(sorted(rows)),)
    for table in ("delivery", "injected"):
        connection.execute(f"DELETE FROM {table} WHERE memory {_AMONG}", these)
    connection.execute(f"DELETE FROM memory WHERE row {_AMONG}", these)
    connection.execute("INSERT INTO superseded (memory) SELECT value FROM json_each(?)", these)
    connection.execute("UPDATE counter SET value = value + 1 WHERE name = 'supersedes'")
