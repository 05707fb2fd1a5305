"""What a hook's answer leaves to be done: what was only recorded is recorded first, a prompt afterwards, and after an
event that means nothing there is nothing to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from foreword.serve import hooks


class Wire:
    """Answers every request, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.noted: list[str] = []

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(request["action"])
        return {"status": "ok", "data": {"text": ""}}

    def answer(self, event: str, **told: Any) -> hooks.Answered:
        body = json.dumps({"session_id": "s1", "cwd": "/srv", "hook_event_name": event, **told})
        return hooks.answer("claude-code", event, body.encode(), self.ask, self.noted.append)


def test_a_prompt_is_asked_about_and_kept_afterwards() -> None:
    wire = Wire()
    answered = wire.answer("UserPromptSubmit", prompt="Which port does staging listen on?")
    assert wire.asked == ["brief"]
    assert [request["action"] for request in answered.later] == ["ingest"]
    assert answered.meant


def test_what_is_only_kept_is_kept_before_the_host_is_answered() -> None:
    wire = Wire()
    answered = wire.answer("Stop", last_assistant_message="It listens on 5433.", stop_hook_active=False)
    assert wire.asked == ["ingest"]
    assert not answered.later
    assert answered.meant, "there is something new to catch up with"


def test_an_event_that_asks_and_keeps_nothing_leaves_nothing_to_be_done() -> None:
    wire = Wire()
    for event in ("SessionEnd", "SomethingThatNobodyKnows"):
        answered = wire.answer(event)
        assert not answered.meant
        assert not answered.later
    assert not wire.asked


def test_a_document_that_cannot_be_read_leaves_a_line_and_nothing_to_be_done() -> None:
    wire = Wire()
    answered = hooks.answer("claude-code", "UserPromptSubmit", b"\xff", wire.ask, wire.noted.append)
    assert not answered.meant
    assert wire.noted == ["What the host sent is not JSON in UTF-8."]
