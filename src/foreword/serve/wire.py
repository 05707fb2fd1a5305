"""The one wire protocol: `{"action", "payload"}` in, `{"status": "ok", "data"}` or `{"status": "error", "error"}` out.

Doors carry bytes to `answer` and back; they decide nothing. An action is a method of the engine with its arguments
checked: each knows its fields, and a field that nobody knows is an error, not a silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from foreword.engine import Foreword
from foreword.errors import BadInput, ForewordError
from foreword.model import Ask, Audience, Event, Kind, Origin
from foreword.serve import documents

VERSION = 1
_LARGEST = 10**15


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a payload: what it is called, what it may hold, and whether it must be there."""

    name: str
    type: str
    required: bool = False


_TEXT, _NUMBER, _WHOLE, _FLAG, _LIST = "string", "number", "whole number", "true or false", "list of strings"
_WHERE = tuple(Field(name, _TEXT) for name in ("session", "agent", "sender", "channel", "project", "audience"))


@dataclass(frozen=True, slots=True)
class Action:
    fields: tuple[Field, ...]
    run: Callable[[Foreword, dict[str, Any]], dict[str, Any]]


def answer(engine: Foreword, request: object) -> dict[str, Any]:
    """The answer to one request. Never raises: whatever goes wrong is an envelope too."""
    try:
        action, payload = _opened(request)
        return {"status": "ok", "data": action.run(engine, payload)}
    except ForewordError as error:
        return refusal(error.code, str(error))
    except Exception as error:  # noqa: BLE001 - a door: one bad request must not take the others down
        return refusal("internal", f"Foreword failed inside ({type(error).__name__}); nothing was changed.")


def refusal(code: str, message: str) -> dict[str, Any]:
    return {"status": "error", "error": {"code": code, "message": message}}


def _opened(request: object) -> tuple[Action, dict[str, Any]]:
    if not isinstance(request, Mapping):
        raise BadInput("A request is a JSON object with an action and a payload.")
    version = request.get("version", VERSION)
    if version != VERSION:
        raise BadInput(f"This Foreword speaks version {VERSION} of the protocol, not {str(version)[:20]}.")
    name, payload = request.get("action"), request.get("payload", {})
    action = ACTIONS.get(name) if isinstance(name, str) else None
    if action is None:
        raise BadInput(f"'{str(name)[:40]}' is not an action.", hint=f"There are: {', '.join(ACTIONS)}.")
    if not isinstance(payload, Mapping):
        raise BadInput("The payload must be a JSON object.")
    known = {field.name: field for field in action.fields}
    for key in payload:
        if key not in known:
            raise BadInput(f"'{str(key)[:40]}' is not a field of {name}.", hint=f"There are: {', '.join(known)}.")
    for field in action.fields:
        if field.required and payload.get(field.name) is None:
            raise BadInput(f"{name} needs the field '{field.name}' ({field.type}).")
        if payload.get(field.name) is not None and not _fits(payload[field.name], field.type):
            raise BadInput(f"The field '{field.name}' of {name} must be a {field.type}.")
    return action, {key: value for key, value in payload.items() if value is not None}


def _fits(value: object, type_: str) -> bool:
    if type_ == _TEXT:
        return isinstance(value, str)
    if type_ == _FLAG:
        return isinstance(value, bool)
    if type_ == _LIST:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    number = isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST
    return number and (type_ == _NUMBER or isinstance(value, int))


def _audience(payload: dict[str, Any]) -> dict[str, Any]:
    if "audience" in payload:
        payload["audience"] = Audience.named(payload["audience"])
    return payload


def _named(kind: type[Kind] | type[Origin], payload: dict[str, Any], key: str) -> None:
    if key in payload:
        try:
            payload[key] = kind(payload[key])
        except ValueError:
            raise BadInput(f"'{payload[key][:40]}' is not a {key}.", hint=f"Use {', '.join(kind)}.") from None


def _ingest(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    _named(Kind, payload, "kind")
    _named(Origin, payload, "origin")
    payload["text"] = payload.pop("content")
    return documents.recorded(engine.record(Event(**_audience(payload))))


def _search(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    found = engine.search(payload.pop("query"), **_audience(payload))
    return {"results": [documents.found(one) for one in found]}


def _brief(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    return documents.brief(engine.brief(Ask(**_audience(payload))))


def _start(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    return documents.brief(engine.start(payload.pop("session", ""), **_audience(payload)))


def _compact(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    return documents.brief(engine.compact(payload.pop("session", ""), **_audience(payload)))


def _get(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    return {"memories": [documents.memory(one) for one in engine.get(payload.pop("ids"), **_audience(payload))]}


def _forget(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    forgotten = engine.forget(payload["ids"])
    return {"memories": forgotten.memories, "receipts": forgotten.receipts}


def _why(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    receipt = engine.receipt(payload.get("receipt", ""), session=payload.get("session", ""))
    return {"receipt": receipt, "explanation": engine.why(receipt["id"])}


def _feedback(engine: Foreword, payload: dict[str, Any]) -> dict[str, Any]:
    receipt = engine.feedback(payload["receipt"], payload["verdict"])
    return {"receipt": receipt["id"], "feedback": receipt["feedback"]}


ACTIONS: Mapping[str, Action] = {
    "ingest": Action(
        (
            Field("content", _TEXT, required=True),
            *_WHERE,
            Field("kind", _TEXT),
            Field("origin", _TEXT),
            Field("source_id", _TEXT),
            Field("at", _NUMBER),
            Field("tool", _TEXT),
            Field("title", _TEXT),
            Field("type", _TEXT),
            Field("files", _LIST),
            Field("concepts", _LIST),
            Field("decisions", _LIST),
        ),
        _ingest,
    ),
    "search": Action((Field("query", _TEXT, required=True), Field("limit", _WHOLE), *_WHERE), _search),
    "brief": Action((Field("text", _TEXT, required=True), *_WHERE, Field("at", _NUMBER)), _brief),
    "start": Action(_WHERE, _start),
    "compact": Action(_WHERE, _compact),
    "get": Action(
        (Field("ids", _LIST, required=True), Field("around", _WHOLE), Field("whole_session", _FLAG), *_WHERE), _get
    ),
    "forget": Action((Field("ids", _LIST, required=True),), _forget),
    "why": Action((Field("receipt", _TEXT), Field("session", _TEXT)), _why),
    # The verdict is good, noise, missed or clear.
    "feedback": Action((Field("receipt", _TEXT, required=True), Field("verdict", _TEXT, required=True)), _feedback),
    "status": Action((), lambda engine, payload: engine.status()),
}
