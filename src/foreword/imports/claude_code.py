"""Claude Code's transcripts: `~/.claude/projects/<folder>/<session>.jsonl`, and a subagent's in a folder beside it.

A line is a message, or one of the many things that the host writes down for itself. An answer comes in as many lines as
it has blocks; the last answer of a turn is kept, as the hook at its end tells it. A line with a person's prompt begins
a turn, and nothing before it is needed to understand what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foreword.imports.item import Format, Item, as_summary, parts, text_of, told, when, words
from foreword.imports.lines import head, lines
from foreword.model import Event

_HOST = "claude-code"
# What the host puts around the summary that it goes on with.
_SUMMARY_BEGINS = "This session is being continued from a previous conversation"
_SUMMARY_ENDS = "\nIf you need specific details from before compaction"


@dataclass(slots=True)
class _Speaker:
    """The main agent, or a subagent: the prompt it works on, what it asked of tools, and its last words so far."""

    prompt: str = ""
    calls: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    text: str = ""
    at: float | None = None
    where: str = ""
    works: bool = False


def _items(path: Path, mark: str) -> Iterator[Item]:
    speakers: dict[str, _Speaker] = {}
    for line in lines(path, mark):
        if line.problem:
            yield Item(where=line.where, problem=line.problem)
        document = line.document
        if document is None or document.get("type") not in ("user", "assistant"):
            continue
        message = document.get("message")
        if not isinstance(message, Mapping) or not text_of(document.get("sessionId")):
            yield Item(where=line.where, problem="it is a message without words or without a session.")
            continue
        aside = document.get("isSidechain") is True
        subagent = (text_of(document.get("agentId")) or "sidechain") if aside else ""
        speaker = speakers.setdefault(subagent, _Speaker())
        common = {
            "session_id": document["sessionId"],
            "cwd": text_of(document.get("cwd")) or _folder(path),
            "agent_id": subagent,
            "agent_type": text_of(document.get("attributionAgent")) or "agent",
        }
        at = when(document.get("timestamp"))
        if document["type"] == "assistant":
            _heard(speaker, document, message, common, at, line.where)
            continue
        results = parts(message.get("content"), "tool_result")
        for result in results:
            call = speaker.calls.pop(text_of(result.get("tool_use_id")), None)
            if call is not None:
                seen = {
                    "prompt_id": speaker.prompt,
                    "tool_name": text_of(call.get("name")) or "tool",
                    "tool_input": call.get("input"),
                    "tool_response": document.get("toolUseResult", result.get("content")),
                    "tool_use_id": result.get("tool_use_id"),
                }
                for event in told(_HOST, "PostToolUse", common | seen, at):
                    yield Item(event, line.where)
        prompt = words(message.get("content"))
        if not prompt.strip() or document.get("isMeta") is True or (results and not document.get("promptSource")):
            continue
        for event in _said(speaker):
            yield Item(event, speaker.where)
        if document.get("isCompactSummary") is True:
            summary = {"last_assistant_message": _own(prompt), "prompt_id": text_of(document.get("uuid"))}
            for event in told(_HOST, "Stop", {**common, "agent_id": "", **summary}, at):
                yield Item(as_summary(event), line.where)
            continue
        named = text_of(document.get("promptId")) or text_of(document.get("uuid"))
        speakers[subagent] = _Speaker(prompt=named)
        if aside:
            # What the agent that sent it says it is to do is no person's word.
            continue
        asked = {"prompt": prompt, "prompt_id": named}
        # A turn may begin while a subagent of an earlier one is still at work, in older transcripts in the same file.
        whole = not any(other.calls or other.answer for name, other in speakers.items() if name)
        first = True
        for event in told(_HOST, "UserPromptSubmit", common | asked, at):
            yield Item(event, line.where, mark=line.mark if whole and first else "")
            first = False
    for speaker in speakers.values():
        # One that still works has not said its last.
        if not speaker.works:
            for event in _said(speaker):
                yield Item(event, speaker.where)


def _heard(
    speaker: _Speaker,
    document: Mapping[str, Any],
    message: Mapping[str, Any],
    common: Mapping[str, Any],
    at: float | None,
    where: str,
) -> None:
    content = message.get("content")
    for call in parts(content, "tool_use"):
        speaker.calls[text_of(call.get("id"))] = call
    speaker.works = message.get("stop_reason") == "tool_use"
    text = words(content)
    if not text.strip() or document.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
        return
    name = text_of(message.get("id"))
    speaker.text = f"{speaker.text}\n{text}" if name and name == speaker.message else text
    speaker.answer, speaker.message, speaker.at, speaker.where = dict(common), name, at, where


def _said(speaker: _Speaker) -> Iterator[Event]:
    if not speaker.answer:
        return
    event = "SubagentStop" if speaker.answer["agent_id"] else "Stop"
    document = speaker.answer | {"last_assistant_message": speaker.text, "prompt_id": speaker.prompt}
    speaker.answer = {}
    yield from told(_HOST, event, document, speaker.at)


def _own(summary: str) -> str:
    if not summary.startswith(_SUMMARY_BEGINS):
        return summary
    return summary.partition("\n\n")[2].partition(_SUMMARY_ENDS)[0].strip()


def _folder(path: Path) -> str:
    """The project of a line that tells of none: the host names the transcript's folder by it."""
    return path.parent.name


def _fits(path: Path) -> bool:
    return any(text_of(one.get("sessionId")) and text_of(one.get("type")) for one in head(path))


def _usual(environ: Mapping[str, str]) -> list[Path]:
    home = Path(environ.get("HOME", "~")).expanduser()
    return [Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"]


FORMAT = Format(
    _HOST,
    "Claude Code transcripts",
    sources=lambda folder: folder.rglob("*.jsonl"),
    usual=_usual,
    fits=_fits,
    read=_items,
)
