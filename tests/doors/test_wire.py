"""One envelope for every action."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword import Audience, Foreword, Kind, Origin
from foreword.serve import schema, wire
from foreword.serve.wire import ACTIONS, VERSION, answer


def _ok(foreword: Foreword, action: str, **payload: Any) -> Any:
    reply = answer(foreword, {"action": action, "payload": payload})
    assert reply["status"] == "ok", reply
    assert json.loads(json.dumps(reply)) == reply
    return reply["data"]


@pytest.mark.proves("S2")
def test_search_and_ingest_speak_the_envelope(foreword: Foreword) -> None:
    stored = _ok(
        foreword,
        "ingest",
        content="The night train to Vienna leaves from platform nine.",
        session="agent:main:main",
        channel="telegram",
        at=1_772_000_000,
    )
    assert stored["outcome"] == "stored"
    payload = {"query": "which platform for the train to Vienna", "limit": 5}
    reply = answer(foreword, {"action": "search", "payload": payload})
    assert reply["status"] == "ok"
    (result,) = reply["data"]["results"]
    assert result["id"] == stored["id"]
    assert result["content"] == "The night train to Vienna leaves from platform nine."
    assert 0 <= result["score"] <= 1
    assert result["metadata"]["channel"] == "telegram"
    assert result["metadata"]["ts"] == "2026-02-25T06:13:20.000Z"


@pytest.mark.proves("S2")
@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("search", "JSON object"),
        ({"action": "serach"}, "not an action"),
        ({"action": "search", "payload": {}}, "needs the field 'query'"),
        ({"action": "search", "payload": {"query": 5}}, "must be a string"),
        ({"action": "search", "payload": {"query": "x", "limit": True}}, "must be a whole number"),
        ({"action": "search", "payload": {"query": "x", "limit": 0}}, "at least one"),
        ({"action": "search", "payload": {"query": "x", "colour": "red"}}, "'colour' is not a field"),
        ({"action": "search", "payload": []}, "payload must be"),
        (
            {"action": "brief", "payload": {"text": "hello there", "audience": "everybody"}},
            "one of private, group, external",
        ),
        ({"action": "ingest", "payload": {"content": "hello", "kind": "rumour"}}, "one of message, observation"),
        ({"action": "get", "payload": {"ids": ["m99"]}}, "no memory m99"),
        ({"action": "get", "payload": {"ids": ["99"]}}, "not a memory id"),
        ({"action": "why", "payload": {}}, "No turn"),
        ({"action": "why", "payload": {"session": "\ud800"}}, "No turn"),
        ({"action": "feedback", "payload": {"receipt": "r1"}}, "needs the field 'verdict'"),
        ({"action": "feedback", "payload": {"receipt": "r1", "verdict": "good"}}, "no receipt r1"),
        ({"action": "feedback", "payload": {"receipt": "r1", "verdict": "great"}}, "one of good, noise, missed, clear"),
        ({"action": "feedback", "payload": {"receipt": "", "verdict": "good"}}, "not a receipt id"),
        ({"action": "search", "payload": {"query": "x", "limit": 10**400}}, "must be a whole number"),
        ({"action": "get", "payload": {"ids": ["m1"], "around": -1}}, "neighbours"),
        ({"action": "status", "version": VERSION + 1}, "speaks version"),
        ({"action": "sessions", "paylaod": {"limit": 1}}, "'paylaod' is not a part of a request"),
        ({"payload": {}}, "needs an action"),
        ({"action": "get", "payload": {"ids": ["m1"], "whole_session": "yes"}}, "must be true or false"),
        ({"action": "get", "payload": {"ids": [1]}}, "must be a list of strings"),
    ],
)
def test_a_wrong_request_is_answered_with_a_code_and_a_sentence(foreword: Foreword, request_: Any, words: str) -> None:
    reply = answer(foreword, request_)
    assert reply["status"] == "error"
    assert reply["error"]["code"] in ("bad_input", "unknown_id")
    assert words in reply["error"]["message"]


def test_a_conversation_goes_through_every_action(foreword: Foreword) -> None:
    stored = _ok(foreword, "ingest", content="The wine cellar is kept at twelve degrees.", session="agent:main:a")
    brief = _ok(foreword, "brief", text="At how many degrees is the wine cellar kept?", session="agent:main:b")
    assert stored["id"] in brief["memories"]
    assert _ok(foreword, "start", session="agent:main:b")["text"] == ""
    assert _ok(foreword, "compact", session="agent:main:b")["text"] == ""
    assert _ok(foreword, "get", ids=[stored["id"]], around=1)["memories"][0]["content"].startswith("The wine")
    assert "twelve" in _ok(foreword, "why", receipt=brief["receipt"])["explanation"]
    said = _ok(foreword, "feedback", receipt=brief["receipt"], verdict="good")
    assert said == {"receipt": brief["receipt"], "feedback": "good"}
    assert _ok(foreword, "why")["receipt"]["feedback"] == "good"
    assert _ok(foreword, "feedback", receipt=brief["receipt"], verdict="clear")["feedback"] == ""
    assert _ok(foreword, "status")["memories"] == 1
    gone = {"memories": 1, "receipts": 1, "sections": 0, "left": []}
    assert _ok(foreword, "forget", ids=[stored["id"]]) == gone


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(action=st.sampled_from(sorted(ACTIONS)), data=st.data())
def test_no_payload_breaks_the_wire(open_home: Callable[..., Foreword], action: str, data: st.DataObject) -> None:
    names = list(schema.fields(ACTIONS[action].payload)) or ["x"]
    payload = data.draw(st.dictionaries(st.sampled_from(names), _JSON, max_size=5))
    reply = answer(open_home(), {"action": action, "payload": payload})
    assert reply["status"] in ("ok", "error")
    if reply["status"] == "error":
        assert reply["error"]["code"] != "internal", reply


def test_the_names_that_the_wire_spells_out_are_the_models_own() -> None:
    assert set(get_args(wire.AudienceName)) == {one.label for one in Audience}
    assert set(get_args(wire.KindName)) == set(Kind)
    assert set(get_args(wire.OriginName)) == set(Origin)
