"""OpenClaw's transcripts: since 2026.8 in a database of each agent, `agents/<id>/agent/openclaw-agent.sqlite`; before,
as `agents/<id>/sessions/<session>.jsonl` with the keys in `sessions.json` beside them. Both hold the same entries.

The session key tells who listened in, and comes along with every event, as do the sender and the channel. The run tells
a prompt and its answer, as the plugin names them; a prompt is therefore held back until its run has said something.
Jobs, subagents and heartbeats are told as such, and the guard's settings decide about them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from foreword.errors import BadInput
from foreword.hosts import observation
from foreword.imports.database import columns, document, has_tables, reading
from foreword.imports.item import Format, Item, mapping_of, parts, text_of, when
from foreword.imports.lines import head, lines, opened, parsed
from foreword.model import Event, Kind, Origin

_NAME = "openclaw"
_TOOLS: Mapping[str, str] = {
    "read": "read",
    "edit": "edit",
    "write": "edit",
    "apply_patch": "edit",
    "exec": "command",
    "bash": "command",
    "process": "command",
    "find": "search",
    "grep": "search",
    "ls": "search",
    "web_fetch": "web",
    "web_search": "web",
    "browser": "web",
    # The host's own bookkeeping, and sessions that have a transcript of their own.
    **dict.fromkeys(
        (
            "tool_call",
            "tool_search",
            "sessions_spawn",
            "sessions_send",
            "sessions_list",
            "sessions_history",
            "session_status",
            "subagents",
            "agents_list",
            "message",
            "cron",
            "gateway",
            "update_plan",
            "todo",
            "tts",
            "image",
            "canvas",
            "nodes",
        ),
        "",
    ),
}
_HEARTBEATS = ("Read HEARTBEAT.md if it exists", "Follow the heartbeat monitor scratch context when provided.")
_MIRROR = "delivery-mirror"
_ANNOUNCED = "announce:"
_WINDOWS = (
    "SELECT session_id, session_key, updated_at FROM session_windows WHERE updated_at >= ?"
    " ORDER BY updated_at, session_id"
)


@dataclass(slots=True)
class _Turn:
    """What was asked, held back until the run is known that answers it, and the last words of the answer."""

    run: str = ""
    asked: Event | None = None
    asked_where: str = ""
    answer: Event | None = None
    answer_where: str = ""
    place: dict[str, Any] = field(default_factory=dict)
    works: bool = False


class _Session:
    """The entries of one session, in order, as events."""

    def __init__(self, key: str, folder: str = "") -> None:
        # Told so that the guard looks at the kinds of run that a key names; what set a run off is not written down.
        self._place: dict[str, Any] = {"session": key, "trigger": "user"}
        self._folder = folder
        self._calls: dict[str, Mapping[str, Any]] = {}
        self._turn = _Turn(place=self._place)

    def entry(self, entry: Mapping[str, Any], where: str) -> Iterator[Item]:
        kind = entry.get("type")
        if kind == "session":
            self._folder = text_of(entry.get("cwd"))
        elif kind == "compaction":
            summary = text_of(entry.get("summary"))
            if summary.strip():
                at, source_id = when(entry.get("timestamp")), text_of(entry.get("id"))
                yield Item(
                    Event(summary, kind=Kind.SUMMARY, origin=Origin.AGENT, source_id=source_id, at=at, **self._place),
                    where,
                )
        elif kind == "message":
            message = entry.get("message")
            if not isinstance(message, Mapping):
                yield Item(where=where, problem="it is a message without words.")
                return
            yield from self._message(message, text_of(entry.get("id")), entry.get("timestamp"), where)

    def over(self, *, live: bool = False) -> Iterator[Item]:
        """The turn so far; of one that may still be going on, only what no later entry can change."""
        turn = self._turn
        unanswered = live and not turn.run and turn.answer is None
        if turn.asked is not None and not unanswered:
            yield Item(_of_run(turn.asked, turn.run, "user"), turn.asked_where)
        if turn.answer is not None and not (live and turn.works):
            yield Item(_of_run(turn.answer, turn.run, "agent"), turn.answer_where)
        self._calls.clear()
        self._turn = _Turn(place=self._place)

    def _message(self, message: Mapping[str, Any], name: str, written: object, where: str) -> Iterator[Item]:
        role, text = message.get("role"), _words(message.get("content"))
        about = mapping_of(message.get("__openclaw"))
        at = when(message.get("timestamp")) or when(written)
        if role == "user":
            yield from self.over()
            self._turn = self._asked(message, about, text, name, at, where)
        elif role == "assistant":
            run = text_of(about.get("runId"))
            if message.get("model") == _MIRROR or run.startswith(_ANNOUNCED) or message.get("stopReason") == "error":
                return
            turn = self._turn
            turn.run = turn.run or run
            turn.works = message.get("stopReason") == "toolUse"
            if turn.asked is not None and turn.run:
                yield Item(_of_run(turn.asked, turn.run, "user"), turn.asked_where)
                turn.asked = None
            for call in parts(message.get("content"), "toolCall"):
                self._calls[text_of(call.get("id"))] = call
            if text.strip():
                turn.answer = Event(text, origin=Origin.AGENT, source_id=name, at=at, **turn.place)
                turn.answer_where = where
        elif role == "toolResult":
            yield from self._used(message, at, where)

    def _asked(
        self, message: Mapping[str, Any], about: Mapping[str, Any], text: str, name: str, at: float | None, where: str
    ) -> _Turn:
        place = dict(self._place)
        told = {
            "sender": text_of(about.get("senderId")),
            "channel": text_of(mapping_of(about.get("transport")).get("channel")),
            "provenance": text_of(mapping_of(message.get("provenance")).get("kind")),
        }
        place |= {key: value for key, value in told.items() if value}
        if text.lstrip().startswith(_HEARTBEATS):
            place["trigger"] = "heartbeat"
        asked = Event(text, source_id=name, at=at, **place) if text.strip() else None
        return _Turn(asked=asked, asked_where=where, place=place)

    def _used(self, message: Mapping[str, Any], at: float | None, where: str) -> Iterator[Item]:
        call_id = text_of(message.get("toolCallId"))
        call = self._calls.pop(call_id, {})
        tool = text_of(message.get("toolName")) or text_of(call.get("name")) or "tool"
        kind = _TOOLS.get(tool, "other")
        seen = observation(tool, kind, call.get("arguments"), _words(message.get("content")), folder=self._folder)
        if seen is None or message.get("isError") is True:
            return
        text, origin = seen.pop("content"), seen.pop("origin", None)
        event = Event(
            text,
            origin=Origin(origin) if origin else None,
            source_id=call_id,
            at=at,
            **{**seen, "kind": Kind(seen["kind"])},
            **self._turn.place,
        )
        yield Item(event, where)


def _of_run(event: Event, run: str, by: str) -> Event:
    return replace(event, source_id=f"openclaw:{run}:{by}") if run else event


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(text_of(one.get("text")) for one in parts(content, "text"))


def _items(path: Path, mark: str) -> Iterator[Item]:
    return _of_lines(path, mark) if path.suffix == ".jsonl" else _of_database(path, mark)


def _of_lines(path: Path, mark: str) -> Iterator[Item]:
    session = _Session(_key(path))
    for line in lines(path, mark):
        if line.problem:
            yield Item(where=line.where, problem=line.problem)
        if line.document is not None:
            if mapping_of(line.document.get("message")).get("role") == "user":
                yield from session.over()
                yield Item(mark=line.mark)
            yield from session.entry(line.document, line.where)
    yield from session.over(live=True)


def _key(path: Path) -> str:
    """The key of a session by its file's name; one that is no longer listed is known by its id, to the owner alone."""
    name = path.name.split(".jsonl")[0]
    agent = path.parent.parent.name or "main"
    try:
        with opened(path.with_name("sessions.json")) as file:
            listed = parsed(file.read())
    except BadInput:
        listed = {}
    for key, entry in listed.items():
        if mapping_of(entry).get("sessionId") == name:
            return key if key.startswith("agent:") else f"agent:{agent}:{key}"
    return f"agent:{agent}:{name}"


def _of_database(path: Path, mark: str) -> Iterator[Item]:
    with reading(path) as connection:
        packed = "event_zstd" in columns(connection, "transcript_events")
        entries = (
            f"SELECT seq, event_json, {'event_zstd' if packed else 'NULL'} AS event_zstd FROM transcript_events"
            " WHERE session_id = ? ORDER BY seq"
        )
        unpack = _unpacking()
        for window in connection.execute(_WINDOWS, (int(mark) if mark.isdecimal() else 0,)).fetchall():
            yield Item(where=f"session {window['session_key']}", mark=str(window["updated_at"]))
            session = _Session(text_of(window["session_key"]))
            for row in connection.execute(entries, (window["session_id"],)):
                where = f"session {window['session_key']}, entry {row['seq']}"
                entry, problem = _entry(row, unpack)
                if entry is None:
                    yield Item(where=where, problem=problem)
                else:
                    yield from session.entry(entry, where)
            yield from session.over(live=True)


def _entry(row: sqlite3.Row, unpack: Callable[[bytes], bytes] | None) -> tuple[Mapping[str, Any] | None, str]:
    text = row["event_json"]
    if text is None and unpack is None:
        return None, "it is packed with zstd, which Python can read from version 3.14 on."
    if text is None and unpack is not None:
        try:
            text = unpack(row["event_zstd"]).decode("utf-8", "replace")
        except BadInput:
            return None, "it is packed with zstd, and damaged."
    found = document(text)
    return found, "" if found is not None else "it is not JSON."


def _unpacking() -> Callable[[bytes], bytes] | None:
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError:
        return None

    def unpack(data: bytes) -> bytes:
        try:
            return bytes(zstd.decompress(data))
        except zstd.ZstdError as error:
            raise BadInput(str(error)) from error

    return unpack


def _fits(path: Path) -> bool:
    if has_tables(path, "session_windows", "transcript_events"):
        return True
    first = head(path, 1)
    return bool(first) and first[0].get("type") == "session" and bool(text_of(first[0].get("id")))


def _sources(folder: Path) -> Iterator[Path]:
    yield from folder.rglob("openclaw-agent.sqlite")
    for file in folder.rglob("*.jsonl"):
        if file.parent.name == "sessions":
            yield file


def _usual(environ: Mapping[str, str]) -> list[Path]:
    home = Path(environ.get("OPENCLAW_HOME") or environ.get("HOME", "~")).expanduser()
    return [Path(environ.get("OPENCLAW_STATE_DIR") or home / ".openclaw") / "agents"]


FORMAT = Format(
    _NAME,
    "OpenClaw transcripts",
    sources=_sources,
    usual=_usual,
    fits=_fits,
    read=_items,
)
