"""The hook door: what a host gives its hook on stdin goes in, what the host reads on stdout comes out.

Silence is the answer to everything that goes wrong, and each silence that should not have been leaves a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from foreword.errors import BadInput
from foreword.hosts import understand
from foreword.serve.trail import cause
from foreword.values import dataclass

# Answers a wire request.
Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the host reads, "" for nothing, and what is recorded once it has it: a prompt need not be on the disk before
    the model may see it. What is only recorded is recorded before the host is answered. Whether it `meant` anything:
    after an event that asks and records nothing there is nothing to catch up with."""

    said: str = ""
    later: tuple[Mapping[str, Any], ...] = ()
    meant: bool = True


def answer(host: str, event: str, body: bytes, ask: Ask, note: Note) -> Answered:
    """Never raises; `note` is told what went wrong."""
    try:
        hook = understand(host, event, _read(body))
        answers = [_data(ask(request), note) for request in hook.asks]
        if answers:
            return Answered(hook.reply(answers), tuple(hook.records))
        record(hook.records, ask, note)
        return Answered(hook.reply(answers), meant=bool(hook.records))
    except Exception as error:  # noqa: BLE001 - a door: a hook must never break its host
        note(cause(error))
    return Answered(meant=False)


def record(requests: Iterable[Mapping[str, Any]], ask: Ask, note: Note) -> None:
    for request in requests:
        _data(ask(request), note)


def _read(body: bytes) -> object:
    try:
        return json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise BadInput("What the host sent is not JSON in UTF-8.") from None


def _data(envelope: Mapping[str, Any], note: Note) -> Mapping[str, Any] | None:
    if envelope["status"] == "ok":
        data: Mapping[str, Any] = envelope["data"]
        return data
    note(envelope["error"]["message"])
    return None


def with_deadline(request: Mapping[str, Any], deadline_ms: float) -> dict[str, Any]:
    """A brief that is not asked for in time is not wanted any more; nothing else has a deadline."""
    if request.get("action") != "brief":
        return dict(request)
    return {**request, "payload": {**request["payload"], "deadline_ms": deadline_ms}}
