"""ChatGPT's export: `conversations.json`, or the archive that it comes in. Newer ones have it in several parts.

A conversation is a tree of messages, of which one branch was last shown: that one is kept. Read one conversation at a
time, for the file may be larger than memory. What the program looked up or thought is left out, what it ran is kept."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from foreword.errors import BadInput
from foreword.imports.item import Format, Item, mapping_of, text_of, when
from foreword.imports.lines import opened, unreadable
from foreword.model import Event, Kind, Origin

_NAME = "chatgpt"
_PART = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_CHUNK = 1024 * 1024
_HEAD_CHARS = 256 * 1024
# One conversation; a larger one is no conversation.
_LONGEST_CHARS = 512 * 1024 * 1024
_SPACE = " \t\r\n,"
_BETWEEN = re.compile(rf"[{_SPACE}]*")


def _items(path: Path, mark: str) -> Iterator[Item]:
    size = path.stat().st_size
    done, _, marked = mark.partition(":")
    skip = int(done) if done.isdecimal() and marked == str(size) else 0
    number = 0
    for part, file in _parts(path):
        for conversation in _conversations(file, path, part):
            number += 1
            if number <= skip:
                continue
            where = f"{part}, conversation {number}" if part != path.name else f"conversation {number}"
            yield Item(mark=f"{number - 1}:{size}")
            if not isinstance(conversation, Mapping) or not isinstance(conversation.get("mapping"), Mapping):
                yield Item(where=where, problem="it is not a conversation.")
                continue
            yield from _conversation(conversation, where)
    if number == 0:
        raise BadInput(f"{path} holds no conversations.")


def _parts(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if not zipfile.is_zipfile(path):
        with opened(path) as file:
            yield path.name, file
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(filter(_PART.fullmatch, archive.namelist())):
                with archive.open(name) as part:
                    yield name, part
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise unreadable(path, error) from error


def _conversations(file: IO[bytes], path: Path, part: str) -> Iterator[object]:
    """The members of the list that a file holds, one at a time. Raises BadInput where it ends or breaks in one."""
    text = io.TextIOWrapper(file, "utf-8", "replace")
    decoder = json.JSONDecoder()
    held = text.read(_CHUNK).lstrip("\ufeff" + _SPACE)
    if not held.startswith("["):
        raise BadInput(f"{path} is not a list of conversations.", hint="The export's file is conversations.json.")
    at, more = 1, _CHUNK
    while True:
        at = _BETWEEN.match(held, at).end()  # type: ignore[union-attr]
        if held.startswith("]", at):
            break
        try:
            found, at = decoder.raw_decode(held, at)
        except RecursionError:
            raise BadInput(f"{path}: {part} is nested too deep.") from None
        except ValueError as error:
            # Cut off by the chunk, or broken; reading twice as much each time keeps a long one from being read often.
            added = text.read(more)
            if not added or len(held) - at > _LONGEST_CHARS:
                raise BadInput(f"{path}: {part} ends in the middle, or is not JSON: {error}.") from None
            held, at, more = held[at:] + added, 0, more * 2
            continue
        yield found
        more = _CHUNK
    # The list is over; the file goes on to be its owner's to close.
    text.detach()


def _conversation(conversation: Mapping[str, Any], where: str) -> Iterator[Item]:
    name = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    if not name:
        yield Item(where=where, problem="it has no id.")
        return
    begun = when(conversation.get("create_time"))
    for message in _branch(conversation):
        event = _event(message, f"agent:{_NAME}:{name}", begun)
        if event is not None:
            yield Item(event, where)


def _branch(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages that were last shown, in order; all of them by time where the export does not say which."""
    nodes = conversation["mapping"]
    found: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    at = conversation.get("current_node")
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        node = mapping_of(nodes[at])
        found.append(mapping_of(node.get("message")))
        at = node.get("parent")
    if seen:
        return found[::-1]
    every = [mapping_of(mapping_of(node).get("message")) for node in nodes.values()]
    return sorted(every, key=lambda one: when(one.get("create_time")) or 0.0)


def _event(message: Mapping[str, Any], session: str, begun: float | None) -> Event | None:
    author, content = mapping_of(message.get("author")), mapping_of(message.get("content"))
    role, kind = author.get("role"), content.get("content_type")
    if mapping_of(message.get("metadata")).get("is_visually_hidden_from_conversation") is True:
        return None
    place: dict[str, Any] = {
        "session": session,
        "agent": _NAME,
        "channel": _NAME,
        "source_id": text_of(message.get("id")),
        "at": when(message.get("create_time")) or begun,
    }
    if role in ("user", "assistant") and kind in ("text", "multimodal_text"):
        parts = content.get("parts")
        text = "\n".join(one for one in parts if isinstance(one, str)) if isinstance(parts, list) else ""
        if role == "assistant" and message.get("recipient", "all") != "all":
            return None
        return Event(text, origin=Origin.OWNER if role == "user" else Origin.AGENT, **place) if text.strip() else None
    if role == "tool" and kind == "execution_output":
        text, tool = text_of(content.get("text")), text_of(author.get("name")) or "tool"
        shown: dict[str, Any] = {"tool": tool, "title": tool, "type": "command"}
        return Event(text, kind=Kind.OBSERVATION, **shown, **place) if text.strip() else None
    return None


def _fits(path: Path) -> bool:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return any(map(_PART.fullmatch, archive.namelist()))
        with path.open("rb") as file:
            head = file.read(_HEAD_CHARS).decode("utf-8", "replace")
    except (OSError, ValueError, zipfile.BadZipFile):
        return False
    return head.lstrip("\ufeff" + _SPACE).startswith("[") and '"mapping"' in head


def _sources(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        if _PART.fullmatch(file.name) or (file.suffix == ".zip" and _fits(file)):
            yield file


FORMAT = Format(
    _NAME,
    "ChatGPT's export",
    sources=_sources,
    # It is wherever somebody has put it.
    usual=lambda environ: [],
    fits=_fits,
    read=_items,
)
