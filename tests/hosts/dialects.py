"""How hosts speak to their models: OpenAI's chat and responses, Anthropic's messages, Gemini's contents. Each dialect
reads a request as a list of what was said, and writes an answer that is a text or one call of a tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]
_USAGE_TOKENS = 5


@dataclass(frozen=True)
class Said:
    """One entry of a request. `role` is system, user, assistant or tool; `item` is the entry as it was sent."""

    role: str
    text: str
    item: Any


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str


@dataclass(frozen=True)
class Dialect:
    """`entries` are what a request says, the system's part first; `tools` the names it offers; `answer` makes the
    events of an answer, or the one document of it where the host does not stream."""

    entries: Callable[[Body], list[Said]]
    tools: Callable[[Body], list[str]]
    answer: Callable[[Body, str | Call, bool], list[tuple[str, Any]]]


def text_of(content: Any) -> str:
    """The words of any content, and of what a tool answered."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        for name in ("text", "content", "output", "response", "result", "parts"):
            if name in content:
                return text_of(content[name])
        return json.dumps(content) if content else ""
    return content if isinstance(content, str) else ""


def _tokens(body: Body) -> int:
    return len(json.dumps(body)) // 4


# OpenAI's chat


_ABOVE = {"system": "system", "developer": "system"}


def _chat(body: Body) -> list[Said]:
    return [Said(_ABOVE.get(one["role"], one["role"]), text_of(one.get("content")), one) for one in body["messages"]]


def _functions(body: Body) -> list[str]:
    return [one["function"]["name"] for one in body.get("tools") or [] if "function" in one]


def _chat_answer(body: Body, answer: str | Call, stream: bool) -> list[tuple[str, Any]]:
    base = {"id": "chatcmpl-1", "created": 0, "model": body.get("model", "")}
    usage = {"prompt_tokens": _tokens(body), "completion_tokens": _USAGE_TOKENS, "total_tokens": _USAGE_TOKENS}
    delta: Body = {"content": answer}
    end = "stop"
    if isinstance(answer, Call):
        call = {"index": 0, "id": f"call_{len(body['messages'])}", "type": "function"}
        delta = {"tool_calls": [{**call, "function": {"name": answer.name, "arguments": answer.arguments}}]}
        end = "tool_calls"
    if not stream:
        choice = {"index": 0, "message": {"role": "assistant", **delta}, "finish_reason": end}
        return [("", {**base, "object": "chat.completion", "choices": [choice], "usage": usage})]

    def chunk(delta: Body, end: str | None = None) -> Body:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return {**base, "object": "chat.completion.chunk", "choices": [choice]}

    chunks = [chunk({"role": "assistant", "content": ""}), chunk(delta), chunk({}, end)]
    return [("", one) for one in (*chunks, {**chunk({}), "choices": [], "usage": usage}, "[DONE]")]


# OpenAI's responses


def _responses(body: Body) -> list[Said]:
    above = [Said("system", body["instructions"], None)] if body.get("instructions") else []
    return above + [_response_item(one) for one in body["input"]]


def _response_item(one: Body) -> Said:
    if one.get("type", "").endswith("_output"):
        return Said("tool", text_of(one), one)
    role = str(one.get("role", "assistant"))
    return Said(_ABOVE.get(role, role), text_of(one), one)


def _response_tools(body: Body) -> list[str]:
    """A host may put the tools of one server into a namespace of its own."""
    found = []
    for one in body.get("tools") or []:
        inner = one.get("tools")
        found += [f"{one['name']}__{each['name']}" for each in inner] if inner else [one.get("name", "")]
    return found


def _response_answer(body: Body, answer: str | Call, stream: bool) -> list[tuple[str, Any]]:
    number = len(body["input"])
    if isinstance(answer, Call):
        item: Body = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
        item |= _namespaced(body, answer)
    else:
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        item["content"] = content
    usage = {"input_tokens": _tokens(body), "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": _tokens(body) + 5}
    whole = {"id": f"resp_{number}", "object": "response", "created_at": 0, "status": "completed", "error": None}
    whole |= {"model": body.get("model", ""), "output": [item], "usage": usage, "metadata": {}, "tools": []}
    if not stream:
        return [("", whole)]
    events: list[Body] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
    ]
    if isinstance(answer, str):
        where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events.append({"type": "response.output_text.delta", **where, "delta": answer, "logprobs": []})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [(one["type"], {**one, "sequence_number": number}) for number, one in enumerate(events)]


def _namespaced(body: Body, call: Call) -> Body:
    for one in body.get("tools") or []:
        space = one.get("name", "")
        if one.get("tools") and call.name.startswith(f"{space}__"):
            return {"name": call.name.removeprefix(f"{space}__"), "namespace": space, "arguments": call.arguments}
    return {"name": call.name, "arguments": call.arguments}


# Anthropic's messages


def _anthropic(body: Body) -> list[Said]:
    said = [Said("system", text_of(body.get("system")), None)]
    for one in body["messages"]:
        blocks = one["content"] if isinstance(one["content"], list) else [{"type": "text", "text": one["content"]}]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        said.append(Said("tool" if results else str(one["role"]), text_of(results or blocks), one))
    return said


def _anthropic_answer(body: Body, answer: str | Call, stream: bool) -> list[tuple[str, Any]]:
    number = len(body["messages"])
    block: Body = {"type": "text", "text": answer}
    shown: Body = {"type": "text", "text": ""}
    delta: Body = {"type": "text_delta", "text": answer}
    if isinstance(answer, Call):
        block = {
            "type": "tool_use",
            "id": f"toolu_{number}",
            "name": answer.name,
            "input": json.loads(answer.arguments),
        }
        shown = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": answer.arguments}
    end = "tool_use" if isinstance(answer, Call) else "end_turn"
    usage = {"input_tokens": _tokens(body), "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    usage["output_tokens"] = _USAGE_TOKENS
    whole = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model")}
    whole |= {"content": [block], "stop_reason": end, "stop_sequence": None, "usage": usage}
    if not stream:
        return [("", whole)]
    events: list[Body] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": shown},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": end, "stop_sequence": None}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return [(one["type"], one) for one in events]


# Gemini's contents


def _gemini(body: Body) -> list[Said]:
    said = [Said("system", text_of(body.get("systemInstruction")), None)]
    for one in body["contents"]:
        results = [part["functionResponse"] for part in one["parts"] if "functionResponse" in part]
        role = {"model": "assistant"}.get(one.get("role"), one.get("role", "user"))
        said.append(Said("tool" if results else role, text_of(results or one["parts"]), one))
    return said


def _gemini_tools(body: Body) -> list[str]:
    return [one["name"] for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]


def _gemini_answer(body: Body, answer: str | Call, stream: bool) -> list[tuple[str, Any]]:
    part: Body = {"text": answer}
    if isinstance(answer, Call):
        part = {"functionCall": {"name": answer.name, "args": json.loads(answer.arguments)}}
    tokens = {"promptTokenCount": _tokens(body), "candidatesTokenCount": 5, "totalTokenCount": _tokens(body) + 5}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [("", {"candidates": [candidate], "usageMetadata": tokens, "modelVersion": "scripted"})]


def _names(body: Body) -> list[str]:
    return [one.get("name", "") for one in body.get("tools") or []]


_DIALECTS: Sequence[tuple[str, Dialect]] = (
    ("/chat/completions", Dialect(_chat, _functions, _chat_answer)),
    ("/responses", Dialect(_responses, _response_tools, _response_answer)),
    ("/messages", Dialect(_anthropic, _names, _anthropic_answer)),
    ("generatecontent", Dialect(_gemini, _gemini_tools, _gemini_answer)),
)


def dialect_of(path: str) -> Dialect | None:
    """By the end of the path, whatever stands before it; None where nobody asks a model."""
    path = path.partition("?")[0].lower()
    return next((one for end, one in _DIALECTS if path.endswith(end)), None)


def streams(path: str, body: Body) -> bool:
    return bool(body.get("stream")) or ":stream" in path


def as_stream(events: Iterable[tuple[str, Any]]) -> bytes:
    lines = []
    for name, data in events:
        lines.append(f"event: {name}\n" if name else "")
        lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return "".join(lines).encode()
