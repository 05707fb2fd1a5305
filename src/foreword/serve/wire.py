"""The one wire protocol: `{"action", "payload"}` in, `{"status": "ok", "data"}` or `{"status": "error", "error"}` out.

Doors carry bytes to `answer` and back; they decide nothing. An action is a method of the engine with its arguments
checked against a typed dictionary, and `schema()` is made of the same dictionaries: a field that nobody knows is an
error, not a silence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, Required, TypedDict

from foreword.engine import Foreword
from foreword.errors import BadInput, ForewordError
from foreword.model import Ask, Audience, Event, Kind, Origin
from foreword.serve import documents, schema
from foreword.serve.documents import BriefDocument, MemoryDocument, RecordedDocument, ResultDocument, SessionDocument
from foreword.values import dataclass

VERSION = 1
_ENVELOPE = ("version", "action", "payload")
# Spelled out, because a schema is made of them; a test holds them to the model's own.
AudienceName = Literal["private", "group", "external"]
KindName = Literal["message", "observation", "summary", "note", "chunk"]
OriginName = Literal["owner", "agent", "tool", "web", "stranger"]


class Place(TypedDict, total=False):
    """Where something happens. `session` is the host's own key; with none of it told, the owner asks at the machine."""

    session: str
    agent: str
    sender: str
    channel: str
    project: str
    audience: AudienceName


class IngestPayload(Place, total=False):
    """Something an agent saw. `at` is seconds since 1970; what is left out is derived. `trigger` and `provenance` are
    what the host says of the run: what set it off, and where its input came from."""

    content: Required[str]
    kind: KindName
    origin: OriginName
    source_id: str
    at: float
    tool: str
    title: str
    type: str
    files: list[str]
    concepts: list[str]
    decisions: list[str]
    trigger: str
    provenance: str


class SearchPayload(Place, total=False):
    query: Required[str]
    limit: int


class BriefPayload(Place, total=False):
    """What the host is about to send to its model. After `deadline_ms` nothing is given, and the receipt says so. With
    `holds_session` nothing is given that the session itself recorded since its last compaction. With `ahead` nothing is
    given yet: what is found is laid ready for the same request without it, when the prompt is built. `trigger` and
    `provenance` are what the host says of the run. `workspace` is the
    folder in which the agent works, from a host that does not call `bootstrap`."""

    text: Required[str]
    at: float
    holds_session: bool
    ahead: bool
    trigger: str
    provenance: str
    workspace: str
    deadline_ms: float


class PlacePayload(Place, total=False):
    """The session that is compacted."""


class StartPayload(Place, total=False):
    """The session that starts. Where the host knows them, the `text` it is about to send and the `files` in play put
    what has to do with them first."""

    text: str
    files: list[str]


class BootstrapPayload(Place, total=False):
    """`workspace` is the folder, `files` the names of what the host has loaded from it."""

    workspace: Required[str]
    files: Required[list[str]]


class GetPayload(Place, total=False):
    ids: Required[list[str]]
    around: int
    whole_session: bool


class ForgetPayload(Place, total=False):
    """With a place told, only what may be seen from there."""

    ids: Required[list[str]]


class WhyPayload(TypedDict, total=False):
    """The newest turn, of a session, an agent or a project where told; with an agent or a project, no other's."""

    receipt: str
    session: str
    agent: str
    project: str


class FeedbackPayload(TypedDict):
    """`clear` takes back what was said before."""

    receipt: str
    verdict: Literal["good", "noise", "missed", "clear"]


class SessionsPayload(TypedDict, total=False):
    limit: int
    agent: str


class StatusPayload(TypedDict):
    """Nothing is asked for in particular."""


class SearchAnswer(TypedDict):
    """`text` is the same for a model: a row for each, with what reading it costs."""

    results: list[ResultDocument]
    text: str


class GetAnswer(TypedDict):
    """`text` is the same for a model, quoted."""

    memories: list[MemoryDocument]
    text: str


class ForgetAnswer(TypedDict):
    """How many memories, receipts that named or quoted them, and sections of journals are gone; `left` are notes in
    which a section had to be left."""

    memories: int
    receipts: int
    sections: int
    left: list[str]


class WhyAnswer(TypedDict):
    """The receipt as it is kept, and the same for people."""

    receipt: dict[str, Any]
    explanation: str


class WorkspaceFileDocument(TypedDict):
    """A workspace file that the host does not load by itself."""

    name: str
    path: str
    content: str
    tokens: int


class BootstrapAnswer(TypedDict):
    """What a session of this kind gets of its workspace: `keep` of what the host loaded, and `add`. `shed` was
    used in this conversation and is not sent again. With `enabled` false the host's own choice stands. `context_file`
    is the file that a brief of this session is written into, "" where none is: who gets no answer to a brief empties
    it."""

    enabled: bool
    kind: str
    reason: str
    keep: list[str]
    add: list[WorkspaceFileDocument]
    missing: list[str]
    shed: list[str]
    tokens: dict[str, int]
    problems: list[str]
    context_file: str


class FeedbackAnswer(TypedDict):
    receipt: str
    feedback: str


class SessionsAnswer(TypedDict):
    sessions: list[SessionDocument]


class StatusAnswer(TypedDict):
    """What is kept and how turns were answered; `daemon` is who answers, where a daemon does."""

    memories: int
    sessions: int
    by_agent: dict[str, int]
    by_kind: dict[str, int]
    by_audience: dict[str, int]
    outdated: int
    summary_failure: str
    bytes: int
    turns: int
    silent_turns: int
    feedback: dict[str, int]
    tokens_injected: int
    tokens_avoided: int
    profile: str
    embedder: dict[str, Any]
    excluded: dict[str, list[str]]
    lanes: dict[str, Any]
    warnings: list[str]
    daemon: NotRequired[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Action:
    payload: type
    answer: type
    run: Callable[[Foreword, dict[str, Any]], Mapping[str, Any]]
    about: str


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
    for key in request:
        if key not in _ENVELOPE:
            raise BadInput(f"'{str(key)[:40]}' is not a part of a request.", hint=f"There are: {', '.join(_ENVELOPE)}.")
    version = request.get("version", VERSION)
    if version != VERSION or isinstance(version, bool):
        raise BadInput(f"This Foreword speaks version {VERSION} of the protocol, not {str(version)[:20]}.")
    name, payload = request.get("action"), request.get("payload", {})
    action = ACTIONS.get(name) if isinstance(name, str) else None
    if action is None:
        there_are = f"There are: {', '.join(ACTIONS)}."
        if name is None:
            raise BadInput("A request needs an action.", hint=there_are)
        raise BadInput(f"'{str(name)[:40]}' is not an action.", hint=there_are)
    if not isinstance(payload, Mapping):
        raise BadInput("The payload must be a JSON object.")
    known = schema.fields(action.payload)
    for key in payload:
        if key not in known:
            there_are = f"There are: {', '.join(known)}." if known else "It takes none."
            raise BadInput(f"'{str(key)[:40]}' is not a field of {name}.", hint=there_are)
    for key, hint in known.items():
        value = payload.get(key)
        wanted = schema.misfit(value, hint) if value is not None else ""
        if value is None and key in schema.required(action.payload):
            raise BadInput(f"{name} needs the field '{key}'.")
        if wanted:
            raise BadInput(f"The field '{key}' of {name} must be {wanted}.")
    return action, {key: value for key, value in payload.items() if value is not None}


def _place(payload: dict[str, Any]) -> dict[str, Any]:
    if "audience" in payload:
        payload["audience"] = Audience.named(payload["audience"])
    return payload


def _ingest(engine: Foreword, payload: dict[str, Any]) -> RecordedDocument:
    for name, kind in (("kind", Kind), ("origin", Origin)):
        if name in payload:
            payload[name] = kind(payload[name])
    payload["text"] = payload.pop("content")
    return documents.recorded(engine.record(Event(**_place(payload))))


def _search(engine: Foreword, payload: dict[str, Any]) -> SearchAnswer:
    found = engine.search(payload.pop("query"), **_place(payload))
    results = [documents.found(one) for one in found]
    return {"results": results, "text": documents.rows(results)}


def _brief(engine: Foreword, payload: dict[str, Any]) -> BriefDocument:
    deadline_ms = payload.pop("deadline_ms", None)
    return documents.brief(engine.brief(Ask(**_place(payload)), deadline_ms=deadline_ms))


def _start(engine: Foreword, payload: dict[str, Any]) -> BriefDocument:
    return documents.brief(engine.start(payload.pop("session", ""), **_place(payload)))


def _compact(engine: Foreword, payload: dict[str, Any]) -> BriefDocument:
    return documents.brief(engine.compact(payload.pop("session", ""), **_place(payload)))


def _bootstrap(engine: Foreword, payload: dict[str, Any]) -> BootstrapAnswer:
    session, workspace, files = payload.pop("session", ""), payload.pop("workspace"), payload.pop("files")
    if not os.path.isabs(workspace):
        raise BadInput("The workspace must be an absolute path.")
    found = engine.bootstrap(session, workspace, files, **_place(payload))
    return {
        "enabled": found.enabled,
        "kind": found.kind.value,
        "reason": found.reason,
        "keep": list(found.keep),
        "add": [
            {"name": one.name, "path": str(one.path), "content": one.text or "", "tokens": found.tokens[one.name]}
            for one in found.add
        ],
        "missing": list(found.missing),
        "shed": list(found.shed),
        "tokens": dict(found.tokens),
        "problems": list(found.problems),
        "context_file": found.context_file,
    }


def _get(engine: Foreword, payload: dict[str, Any]) -> GetAnswer:
    memories = [documents.memory(one) for one in engine.get(payload.pop("ids"), **_place(payload))]
    return {"memories": memories, "text": documents.in_full(memories)}


def _forget(engine: Foreword, payload: dict[str, Any]) -> ForgetAnswer:
    ids = payload.pop("ids")
    if payload:
        engine.get(ids, **_place(payload))
    forgotten = engine.forget(ids)
    return {
        "memories": forgotten.memories,
        "receipts": forgotten.receipts,
        "sections": forgotten.sections,
        "left": list(forgotten.left),
    }


def _why(engine: Foreword, payload: dict[str, Any]) -> WhyAnswer:
    receipt = engine.receipt(payload.pop("receipt", ""), **payload)
    return {"receipt": receipt, "explanation": engine.why(receipt["id"])}


def _feedback(engine: Foreword, payload: dict[str, Any]) -> FeedbackAnswer:
    receipt = engine.feedback(payload["receipt"], payload["verdict"])
    return {"receipt": receipt["id"], "feedback": receipt["feedback"]}


def _sessions(engine: Foreword, payload: dict[str, Any]) -> SessionsAnswer:
    if payload.get("limit", 1) < 1:
        raise BadInput(f"The limit is {payload['limit']}.", hint="Ask for at least one session.")
    return {"sessions": [documents.session(one) for one in engine.sessions(**payload)]}


ACTIONS: Mapping[str, Action] = {
    "ingest": Action(IngestPayload, RecordedDocument, _ingest, "Keep what an agent saw."),
    "search": Action(SearchPayload, SearchAnswer, _search, "Memories by meaning, best first."),
    "brief": Action(BriefPayload, BriefDocument, _brief, "What the model should be given with this message."),
    "start": Action(StartPayload, BriefDocument, _start, "The stable part for a session."),
    "compact": Action(PlacePayload, BriefDocument, _compact, "What should survive the host's compaction."),
    "bootstrap": Action(BootstrapPayload, BootstrapAnswer, _bootstrap, "Which workspace files a session gets."),
    "get": Action(GetPayload, GetAnswer, _get, "Memories in full, with neighbours on request."),
    "forget": Action(ForgetPayload, ForgetAnswer, _forget, "Forget memories for good."),
    "why": Action(WhyPayload, WhyAnswer, _why, "Why a turn was answered as it was."),
    "feedback": Action(FeedbackPayload, FeedbackAnswer, _feedback, "Keep what a person says of a turn."),
    "sessions": Action(SessionsPayload, SessionsAnswer, _sessions, "The conversations of which something is kept."),
    "status": Action(StatusPayload, StatusAnswer, lambda engine, payload: engine.status(), "What is kept."),
}


def describe() -> dict[str, Any]:
    """The protocol as JSON Schema: a request is one of these; `answers` says what `data` then is."""
    shapes: dict[str, Any] = {}
    requests = [
        {
            "type": "object",
            "description": action.about,
            "properties": {
                "version": {"const": VERSION},
                "action": {"const": name},
                "payload": schema.of(action.payload, shapes),
            },
            "required": ["action", "payload"] if schema.required(action.payload) else ["action"],
        }
        for name, action in ACTIONS.items()
    ]
    answers = {name: schema.of(action.answer, shapes) for name, action in ACTIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Foreword wire",
        "version": VERSION,
        "oneOf": requests,
        "answers": answers,
        "$defs": dict(sorted(shapes.items())),
    }
