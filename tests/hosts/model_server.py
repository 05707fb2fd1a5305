"""A model that says what it is told to and remembers every request: an OpenAI-compatible server for hosts under test.

`[[say:TEXT]]` in the newest user message is answered with TEXT, `[[tool:NAME {"json": "arguments"}]]` with a call of
that tool, once; `[[fail]]` is answered with an error the first time; a request for a summary with the headings that it
asks for and what the user said under each; anything else with "Understood.".
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_SAY = re.compile(r"\[\[say:(.*?)\]\]", re.DOTALL)
_TOOL = re.compile(r"\[\[tool:([\w-]+) (\{.*?\})\]\]", re.DOTALL)
_INTERNAL = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(text_of(one) for one in content)
    if isinstance(content, dict):
        return text_of(content.get("text", ""))
    return content or ""


@dataclass(frozen=True)
class Request:
    """What the model was sent, at which second of the machine's monotonic clock."""

    body: dict[str, Any]
    raw: bytes
    at: float

    @property
    def system(self) -> str:
        return "\n".join(text_of(one["content"]) for one in self.body["messages"] if one["role"] in _ABOVE)

    @property
    def conversation(self) -> list[dict[str, Any]]:
        """Without what the host says to the model about itself, which it sends anew each time."""
        return [
            one
            for one in self.body["messages"]
            if one["role"] not in _ABOVE and not text_of(one["content"]).lstrip().startswith(_INTERNAL)
        ]

    @property
    def newest(self) -> str:
        """The newest user message."""
        return next(text_of(one["content"]) for one in reversed(self.conversation) if one["role"] == "user")

    @property
    def before(self) -> list[dict[str, Any]]:
        """What came before the newest user message, from the very first byte on."""
        messages: list[dict[str, Any]] = self.body["messages"]
        users = [number for number, one in enumerate(messages) if one in self.conversation and one["role"] == "user"]
        return messages[: users[-1]]


_ABOVE = ("system", "developer")


class ModelServer:
    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.failed = False
        # Done once, when the next request has come and before it is answered: in the middle of a turn.
        self.meanwhile: Callable[[], None] | None = None
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._send(b'{"object": "list", "data": []}', "application/json")

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                body = json.loads(raw)
                if not self.path.endswith("/chat/completions"):
                    return self._send(b"{}", "application/json")
                request = Request(body, raw, time.monotonic())
                meanwhile, server.meanwhile = server.meanwhile, None
                if meanwhile is not None:
                    meanwhile()
                server.requests.append(request)
                if "[[fail]]" in request.newest and not server.failed:
                    server.failed = True
                    return self._send(b'{"error": {"message": "overloaded"}}', "application/json", 503)
                return self._send(*_answered(body))

            def _send(self, data: bytes, kind: str, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def _summary(said: str) -> str:
    """Hosts look whether a summary holds what it should."""
    conversation, _, asked = said.partition("</conversation>")
    if not conversation.startswith("<conversation>"):
        return ""
    users = "\n".join(re.findall(r"^\[User\]: (.+)$", conversation, re.MULTILINE)) or "None."
    return "\n\n".join(f"{heading}\n{users}" for heading in re.findall(r"^## .+$", asked, re.MULTILINE))


def _answered(body: dict[str, Any]) -> tuple[bytes, str]:
    messages = body["messages"]
    request = Request(body, b"", 0)
    said = request.newest
    say, tool = _SAY.findall(said), _TOOL.findall(said)
    answered = any(one["role"] == "tool" for one in messages[len(request.before) :])
    base = {"id": "chatcmpl-1", "created": 0, "model": body.get("model", "")}
    usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": 5, "total_tokens": 5}
    if tool and not answered:
        name, arguments = tool[-1]
        call = {"index": 0, "id": f"call_{len(messages)}", "type": "function"}
        delta: dict[str, Any] = {"tool_calls": [{**call, "function": {"name": name, "arguments": arguments}}]}
        end = "tool_calls"
    else:
        delta, end = {"content": say[-1] if say else _summary(said) or "Understood."}, "stop"
    if not body.get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", **delta}, "finish_reason": end}
        whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        return json.dumps(whole).encode(), "application/json"

    def event(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return {**base, "object": "chat.completion.chunk", "choices": [choice]}

    events = [
        event({"role": "assistant", "content": ""}),
        event(delta),
        event({}, end),
        {**event({}), "choices": [], "usage": usage},
    ]
    lines = [f"data: {json.dumps(one)}\n\n" for one in events]
    return "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream"
