"""OpenCode's database: `~/.local/share/opencode/opencode.db`, with sessions, messages and their parts.

A sub-agent has a session of its own that names its parent's. The last text of a turn is kept as its answer, as the
plugin keeps it. Sessions are read in the order in which they were last changed, so a later reading begins with those
that have changed since."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from foreword.imports.database import document, has_tables, reading
from foreword.imports.item import Format, Item, as_summary, mapping_of, text_of, told, when

_HOST = "opencode"
_SESSIONS = (
    "SELECT id, parent_id, directory, time_updated FROM session WHERE time_updated >= ? ORDER BY time_updated, id"
)
_PARTS = (
    "SELECT m.id AS message, m.data AS about, p.data AS part FROM message AS m"
    " LEFT JOIN part AS p ON p.message_id = m.id WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id"
)


@dataclass(slots=True)
class _Answer:
    """The agent's last words in a turn so far."""

    told: dict[str, Any] = field(default_factory=dict)
    at: float | None = None
    over: bool = True


def _items(path: Path, mark: str) -> Iterator[Item]:
    with reading(path) as connection:
        for session in connection.execute(_SESSIONS, (int(mark) if mark.isdecimal() else 0,)).fetchall():
            changed = session["time_updated"]
            yield Item(where=f"session {session['id']}", mark=str(changed) if isinstance(changed, int) else "")
            yield from _session(connection, session)


def _session(connection: sqlite3.Connection, session: sqlite3.Row) -> Iterator[Item]:
    place = {
        "sessionID": text_of(session["id"]),
        "parentID": text_of(session["parent_id"]),
        "cwd": text_of(session["directory"]) or "/",
    }
    answer = _Answer()
    for message, rows in groupby(connection.execute(_PARTS, (session["id"],)), key=lambda row: str(row["message"])):
        where = f"session {session['id']}, message {message}"
        held = list(rows)
        about = document(held[0]["about"])
        found = [document(row["part"]) for row in held if row["part"] is not None]
        if about is None or None in found:
            yield Item(where=where, problem="it is not JSON.")
            continue
        own = [one for one in found if one is not None]
        at = when(mapping_of(about.get("time")).get("created"))
        if about.get("role") == "user":
            yield from _last(answer, where)
            answer = _Answer()
            said = "\n".join(_texts(own))
            for event in told(_HOST, "prompt", {**place, "messageID": message, "prompt": said}, at):
                yield Item(event, where)
            continue
        for part in own:
            state = mapping_of(part.get("state"))
            if part.get("type") == "tool" and state.get("status") == "completed" and text_of(part.get("tool")):
                used = {"tool": part["tool"], "callID": text_of(part.get("callID")), "args": state.get("input")}
                result = {"output": state.get("output")}
                ended = when(mapping_of(state.get("time")).get("end")) or at
                for event in told(_HOST, "tool", {**place, **used, "result": result}, ended):
                    yield Item(event, where)
        texts = _texts(own)
        if about.get("summary") is True:
            for event in told(_HOST, "answer", {**place, "messageID": message, "text": "\n".join(texts)}, at):
                yield Item(as_summary(event), where)
        elif texts:
            over = "completed" in mapping_of(about.get("time")) and about.get("finish") != "tool-calls"
            answer = _Answer({**place, "messageID": message, "text": texts[-1]}, at, over)
        else:
            answer.over = "completed" in mapping_of(about.get("time"))
    if answer.over:
        yield from _last(answer, f"session {session['id']}")


def _last(answer: _Answer, where: str) -> Iterator[Item]:
    if answer.told:
        for event in told(_HOST, "answer", answer.told, answer.at):
            yield Item(event, where)


def _texts(parts: list[Mapping[str, Any]]) -> list[str]:
    """What was said or typed; a part that the host or a plugin added is marked as synthetic."""
    return [
        part["text"]
        for part in parts
        if part.get("type") == "text"
        and text_of(part.get("text")).strip()
        and part.get("synthetic") is not True
        and part.get("ignored") is not True
    ]


def _usual(environ: Mapping[str, str]) -> list[Path]:
    home = Path(environ.get("HOME", "~")).expanduser()
    return [Path(environ.get("XDG_DATA_HOME") or home / ".local/share") / "opencode" / "opencode.db"]


FORMAT = Format(
    _HOST,
    "OpenCode sessions",
    sources=lambda folder: folder.rglob("opencode*.db"),
    usual=_usual,
    fits=lambda path: has_tables(path, "session", "message", "part"),
    read=_items,
)
