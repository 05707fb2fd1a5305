"""What a hook is to Foreword: what to ask, what to keep, and how the answer is said. The hosts' tables are made of the
readers below, for most events mean the same whatever a host calls them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict
from urllib.parse import quote

from foreword.errors import BadInput
from foreword.hosts.observation import observation
from foreword.model import Kind, Origin
from foreword.values import dataclass

# Claude Code puts a longer text into a file and shows its first 2 KB: half a frame.
MOST_CHARS = 10_000

# How a host is told a text; never called with an empty one.
Voice = Callable[[str], str]


class Request(TypedDict):
    """One request as the wire takes it."""

    action: str
    payload: dict[str, Any]


def silent(text: str) -> str:
    return ""


def plain(text: str) -> str:
    return text


def flat(text: str) -> str:
    # JSON in ASCII: no terminal's encoding can spoil it.
    return json.dumps({"additionalContext": text})


def nested(event: str) -> Voice:
    return lambda text: json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


@dataclass(frozen=True, slots=True)
class Hook:
    """`asks` are sent first and in order; the last one's answer is what is said. Then `records` are sent."""

    asks: tuple[Request, ...] = ()
    records: tuple[Request, ...] = ()
    voice: Voice = silent

    def reply(self, answers: Sequence[Mapping[str, object] | None]) -> str:
        """What the host reads, "" for nothing. `answers` holds the data of each ask's answer, None for one that
        failed."""
        answer = answers[-1] if answers else None
        text = answer.get("text") if isinstance(answer, Mapping) else None
        if not isinstance(text, str) or not text.strip() or _length(text) > MOST_CHARS:
            return ""
        return self.voice(text)


def _length(text: str) -> int:
    """As JavaScript counts, and the hosts with it: an emoji is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True)
class Spelling:
    """What a host calls the fields that all of them have; "" for one that it has not. `turn` and `call` name a prompt
    and a tool call, so that what is delivered twice is kept once."""

    session: str = "session_id"
    turn: str = ""
    call: str = ""
    subagent: str = ""
    tool: str = "tool_name"
    tool_input: str = "tool_input"
    tool_response: str = "tool_response"


@dataclass(frozen=True, slots=True)
class Host:
    """`tools` tells what type of observation a tool makes, "" for the host's own bookkeeping, which makes none."""

    name: str
    spelling: Spelling
    tools: Mapping[str, str]
    events: Mapping[str, Reader]


@dataclass(frozen=True, slots=True)
class Told:
    """What a host told at an event."""

    host: Host
    event: str
    document: Mapping[str, object]

    def value(self, field: str) -> object:
        """Raises BadInput when the field is missing; it may be null."""
        if field not in self.document:
            raise BadInput(f"{self.host.name}'s {self.event} needs the field '{field}'.")
        return self.document[field]

    def words(self, field: str) -> str:
        """A text that the event must tell, though it may be empty: an image alone, an answer without words."""
        value = self.value(field)
        if value is not None and not isinstance(value, str):
            raise BadInput(f"The field '{field}' of {self.host.name}'s {self.event} must be a string.")
        return value or ""

    def name(self, field: str) -> str:
        """A text that the event must tell, and that must say something."""
        if not (value := self.words(field).strip()):
            raise BadInput(f"The field '{field}' of {self.host.name}'s {self.event} is empty.")
        return value

    def hint(self, field: str) -> str:
        """A text that may be told; "" otherwise."""
        value = self.document.get(field) if field else ""
        return value.strip() if isinstance(value, str) else ""

    def request(self, action: str, **more: Any) -> Request:
        host, spelling = self.host.name, self.host.spelling
        session, subagent = _segment(self.name(spelling.session)), self.hint(spelling.subagent)
        return {
            "action": action,
            "payload": {
                "session": f"agent:{host}:subagent:{session}:{_segment(subagent)}"
                if subagent
                else f"agent:{host}:{session}",
                "agent": host,
                "channel": host,
                "project": self.name("cwd"),
                **more,
            },
        }

    def message(self, words: str, origin: Origin) -> Request:
        return self.request(
            "ingest",
            content=words,
            kind=Kind.MESSAGE.value,
            origin=origin.value,
            source_id=self.hint(self.host.spelling.turn),
        )


def _segment(host_id: str) -> str:
    return quote(host_id, safe="", errors="surrogatepass")


Reader = Callable[[Told], Hook]

# Where a session starts from when its conversation no longer holds what was said in it.
_EMPTIED = frozenset({"compact", "clear"})


def prompt(voice: Voice) -> Reader:
    """A person's prompt."""

    def read(told: Told) -> Hook:
        words = told.words("prompt")
        if not words.strip():
            return Hook()
        return Hook(
            (told.request("brief", text=words, holds_session=True),), (told.message(words, Origin.OWNER),), voice
        )

    return read


def answer(field: str) -> Reader:
    """The agent's last words in a turn."""

    def read(told: Told) -> Hook:
        words = told.words(field)
        return Hook(records=(told.message(words, Origin.AGENT),)) if words.strip() else Hook()

    return read


def start(voice: Voice) -> Reader:
    """A session that begins, or goes on."""

    def read(told: Told) -> Hook:
        if told.hint("source") == "resume":
            return Hook()
        known = {"text": words} if (words := told.hint("prompt")) else {}
        return Hook((*emptied(told).asks, told.request("start", **known)), voice=voice)

    return read


def emptied(told: Told) -> Hook:
    """A session's start for a host that cannot be given anything then."""
    return compact(silent)(told) if told.hint("source") in _EMPTIED else Hook()


def compact(voice: Voice) -> Reader:
    """The host is about to compact the conversation."""

    def read(told: Told) -> Hook:
        return Hook((told.request("compact"),), voice=voice)

    return read


def tool(told: Told) -> Hook:
    """A tool was used."""
    spelling = told.host.spelling
    name = told.name(spelling.tool)
    seen = observation(
        name,
        told.host.tools.get(name, "other"),
        told.value(spelling.tool_input),
        told.value(spelling.tool_response),
        folder=told.name("cwd"),
    )
    if seen is None:
        return Hook()
    return Hook(records=(told.request("ingest", source_id=told.hint(spelling.call), **seen),))
