"""Other programs' SQLite files: opened for reading alone, and never waited for long."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foreword.errors import BadInput

_WAIT_S = 5.0
_SIGNATURE = b"SQLite format 3\x00"


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Raises BadInput for a file that is missing, damaged, locked, or no database."""
    try:
        # The name is quoted: in an address, a question mark would begin its settings.
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)
    except (sqlite3.Error, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    try:
        connection.row_factory = sqlite3.Row
        # A stranger's text need not be UTF-8.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield connection
    except sqlite3.Error as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    finally:
        connection.close()


def has_tables(path: Path, *names: str) -> bool:
    """Whether a file is a database with these tables."""
    try:
        with path.open("rb") as file:
            if file.read(len(_SIGNATURE)) != _SIGNATURE:
                return False
        with reading(path) as connection:
            return all(columns(connection, name) for name in names)
    except (OSError, BadInput):
        return False


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of a table; none where it is missing."""
    return frozenset(row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def document(text: object) -> Mapping[str, Any] | None:
    """A JSON object that a column holds; None for anything else."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
