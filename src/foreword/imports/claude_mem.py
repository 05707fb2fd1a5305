"""claude-mem's database: `~/.claude-mem/claude-mem.db`, with the prompts, observations and summaries of sessions.

Observations and summaries are a model's words and come in as an agent's. A project is there a folder's name and not its
path, and stays one. Columns have been renamed over its versions; a table that is missing holds nothing."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from foreword.imports.database import columns, has_tables, reading
from foreword.imports.item import Format, Item, text_of, when
from foreword.model import Event, Kind, Origin

_NAME = "claude-mem"
_AGENT = "claude-code"
# The host's own session, and the one that the observer has for it; newest name first.
_HOST_SESSION = ("content_session_id", "claude_session_id")
_OWN_SESSION = ("memory_session_id", "sdk_session_id")
_SECTIONS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def _items(path: Path, mark: str) -> Iterator[Item]:
    since = int(mark) if mark.isdecimal() else 0
    with reading(path) as connection:
        tables = {
            "user_prompts": _prompt,
            "observations": _observation,
            "session_summaries": _summary,
        }
        rows = (_keyed(connection, name, since) for name in tables)
        for at, name, number, row in heapq.merge(*rows, key=lambda one: one[:3]):
            event = tables[name](row, f"{_NAME}:{name}:{number}", when(at))
            where = f"{name} {number}"
            yield Item(event, where, "" if event else "it says nothing.", mark=str(at))


def _keyed(connection: sqlite3.Connection, table: str, since: int) -> Iterator[tuple[int, str, int, sqlite3.Row]]:
    for row in _rows(connection, table, since):
        yield int(row["moment"]), table, int(row["id"]), row


def _rows(connection: sqlite3.Connection, table: str, since: int) -> Iterator[sqlite3.Row]:
    there = columns(connection, table)
    if not {"id", "created_at_epoch"} <= there:
        return
    known = columns(connection, "sdk_sessions")
    own = next((one for one in _OWN_SESSION if one in there), "")
    host = next((one for one in _HOST_SESSION if one in there), "")
    by_own = next((one for one in _OWN_SESSION if one in known), "")
    by_host = next((one for one in _HOST_SESSION if one in known), "")
    # One name of each column in the query; all of them are from the lists above.
    joined = f"s.{by_own} = t.{own}" if own and by_own else f"s.{by_host} = t.{host}" if host and by_host else "0"
    session = f"coalesce(s.{by_host}, t.{own or host})" if by_host and (own or host) else f"t.{own or host or 'id'}"
    project = "coalesce(t.project, s.project, '')" if "project" in there else "coalesce(s.project, '')"
    yield from connection.execute(
        f"SELECT t.*, t.created_at_epoch AS moment, {session} AS said_in, {project} AS said_of"
        f" FROM {table} AS t LEFT JOIN sdk_sessions AS s ON {joined}"
        " WHERE t.created_at_epoch >= ? ORDER BY t.created_at_epoch, t.id",
        (since,),
    )


def _prompt(row: sqlite3.Row, source_id: str, at: float | None) -> Event | None:
    return _event(row, text_of(_cell(row, "prompt_text")), Kind.MESSAGE, Origin.OWNER, source_id, at)


def _observation(row: sqlite3.Row, source_id: str, at: float | None) -> Event | None:
    told = [text_of(_cell(row, name)) for name in ("subtitle", "narrative", "text")]
    facts = [f"- {fact}" for fact in _listed(_cell(row, "facts"))]
    text = "\n".join(one for one in dict.fromkeys((*told, *facts)) if one.strip())
    title = text_of(_cell(row, "title"))
    event = _event(row, text or title, Kind.OBSERVATION, Origin.AGENT, source_id, at)
    if event is None:
        return None
    files = dict.fromkeys((*_listed(_cell(row, "files_modified")), *_listed(_cell(row, "files_read"))))
    return replace(
        event,
        title=title,
        type=text_of(_cell(row, "type")),
        files=list(files),
        concepts=_listed(_cell(row, "concepts")),
    )


def _summary(row: sqlite3.Row, source_id: str, at: float | None) -> Event | None:
    sections = [(name, text_of(_cell(row, name)).strip()) for name in _SECTIONS]
    text = "\n".join(f"{name.replace('_', ' ').capitalize()}: {told}" for name, told in sections if told)
    return _event(row, text, Kind.SUMMARY, Origin.AGENT, source_id, at)


def _event(row: sqlite3.Row, text: str, kind: Kind, origin: Origin, source_id: str, at: float | None) -> Event | None:
    if not text.strip():
        return None
    session = str(row["said_in"])
    return Event(
        text,
        kind=kind,
        session=f"agent:{_AGENT}:{session}" if session else "",
        agent=_AGENT,
        origin=origin,
        channel=_NAME,
        project=text_of(row["said_of"]),
        source_id=source_id,
        at=at,
    )


def _cell(row: sqlite3.Row, name: str) -> object:
    cell: object = row[name] if name in row.keys() else None  # noqa: SIM118  a row looks for values, not for names
    return cell


def _listed(cell: object) -> list[str]:
    """A list that a column holds as JSON, or as lines."""
    if not isinstance(cell, str) or not cell.strip():
        return []
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        found = cell.splitlines()
    return [one for one in found if isinstance(one, str) and one.strip()] if isinstance(found, list) else []


def _usual(environ: Mapping[str, str]) -> list[Path]:
    home = Path(environ.get("HOME", "~")).expanduser()
    return [Path(environ.get("CLAUDE_MEM_DATA_DIR") or home / ".claude-mem") / "claude-mem.db"]


FORMAT = Format(
    _NAME,
    "claude-mem's database",
    sources=lambda folder: folder.rglob("claude-mem.db"),
    usual=_usual,
    fits=lambda path: has_tables(path, "sdk_sessions", "observations"),
    read=_items,
)
