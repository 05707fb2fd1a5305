"""Numbered `.sql` files, applied in order, each in one transaction together with its number."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from foreword.errors import StoreDamaged, StoreFromTheFuture

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_FOLDER = Path(__file__).parent / "schema"
# "FWRD": tells a Foreword database from any other SQLite file.
APPLICATION_ID = 0x46575244


def _files() -> list[tuple[int, Path]]:
    return sorted((int(match[1]), file) for file in _FOLDER.iterdir() if (match := _NAME.fullmatch(file.name)))


def _steps() -> Iterator[tuple[int, str]]:
    for number, file in _files():
        yield number, file.read_text("utf-8")


def newest() -> int:
    return max(number for number, _ in _files())


def migrate(connection: sqlite3.Connection, *, latest: int) -> None:
    """Bring a database to `latest`; two processes may try at once, one does it and the other finds it done."""
    version = _version(connection)
    if version == latest:
        return
    if version > latest:
        raise StoreFromTheFuture(
            f"The memory store has schema {version}, and this Foreword knows schemas up to {latest}."
        )
    for number, script in _steps():
        if number <= version:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) < number:
                for statement in _statements(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    # In this order: another process may finish the first migration between the two, and tables come with their id.
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if tables and application != APPLICATION_ID:
        raise StoreDamaged(
            "The memory store's file is a database of another program.", hint="Choose another home for Foreword."
        )
    return version


def _statements(script: str) -> Iterator[str]:
    # executescript() would commit the transaction that makes a migration all or nothing.
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
