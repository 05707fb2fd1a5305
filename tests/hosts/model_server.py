"""A model that says what it is told to and remembers every request, in every dialect that a host under test speaks.

`[[say:TEXT]]` in the newest user message is answered with TEXT, `[[tool:NAME {"json": "arguments"}]]` with a call of
that tool, once, where the request offers it or says no tools at all; several are called one after the other.
`[[quote:WORD]]` is answered with the line of its system prompt that holds WORD, where one does. `[[fail]]` is answered
with an error the first time; a request for a summary with the headings that it asks for and what the user said under
each; anything else with "Understood.".
"""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.hosts.dialects import Call, Dialect, Said, as_stream, dialect_of, streams, text_of

__all__ = ["ModelServer", "Request", "text_of"]

_SAY = re.compile(r"\[\[say:(.*?)\]\]", re.DOTALL)
_QUOTE = re.compile(r"\[\[quote:(.*?)\]\]")
_TOOL = re.compile(r"\[\[tool:([\w.-]+) (\{.*?\})\]\]", re.DOTALL)
_INTERNAL = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"


@dataclass(frozen=True)
class Request:
    """What the model was sent, at which second of the machine's monotonic clock."""

    body: dict[str, Any]
    raw: bytes
    at: float
    dialect: Dialect

    @cached_property
    def said(self) -> list[Said]:
        """All of it, in order."""
        return self.dialect.entries(self.body)

    @property
    def whole(self) -> str:
        """Everything in words, wherever it stands."""
        return "\n".join(one.text for one in self.said)

    @property
    def system(self) -> str:
        return "\n".join(one.text for one in self.said if one.role == "system")

    @cached_property
    def _newest(self) -> int:
        users = [number for number, one in enumerate(self.said) if one.role == "user" and not _of_the_host(one)]
        return users[-1]

    @property
    def conversation(self) -> list[dict[str, Any]]:
        """Without what the host says to the model about itself, which it sends anew each time."""
        return [one.item for one in self.said if one.role != "system" and not _of_the_host(one)]

    @property
    def newest(self) -> str:
        """The newest user message."""
        return self.said[self._newest].text

    @property
    def beside(self) -> str:
        """The newest user message and what stands behind it."""
        return "\n".join(one.text for one in self.said[self._newest :])

    @property
    def before(self) -> list[Any]:
        """What came before the newest user message, from the very first byte on."""
        return [one.item or one.text for one in self.said[: self._newest]]

    @property
    def tools(self) -> list[str]:
        return self.dialect.tools(self.body)

    def answer(self) -> str | Call:
        # What was recalled is quoted; it may hold what a test once said, and that is not said again.
        own = "\n".join(line for line in self.newest.splitlines() if not line.startswith(("> ", "&gt; ")))
        say, tools = _SAY.findall(own), _TOOL.findall(own)
        answered = sum(one.role == "tool" for one in self.said[self._newest :])
        if answered < len(tools) and tools[answered][0] in (self.tools or [tools[answered][0]]):
            return Call(*tools[answered])
        for word in _QUOTE.findall(own):
            # Not one that quotes an earlier question.
            lines = [line for line in self.system.splitlines() if word in line and "[[quote:" not in line]
            say += [f"It says: {line}" for line in lines]
        return say[-1] if say else _summary(self.newest) or "Understood."


def _of_the_host(said: Said) -> bool:
    return said.text.lstrip().startswith(_INTERNAL)


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
                self._send(b'{"object": "list", "data": [], "models": []}', "application/json")

            def do_HEAD(self) -> None:
                self._send(b"", "application/json")

            def do_POST(self) -> None:
                raw = self._read()
                dialect = dialect_of(self.path)
                if dialect is None:
                    tokens = {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4}
                    return self._send(json.dumps(tokens).encode(), "application/json")
                request = Request(json.loads(raw), raw, time.monotonic(), dialect)
                meanwhile, server.meanwhile = server.meanwhile, None
                if meanwhile is not None:
                    meanwhile()
                server.requests.append(request)
                if "[[fail]]" in request.newest and not server.failed:
                    server.failed = True
                    return self._send(b'{"error": {"message": "overloaded"}}', "application/json", 503)
                stream = streams(self.path, request.body)
                events = dialect.answer(request.body, request.answer(), stream)
                if stream:
                    return self._send(as_stream(events), "text/event-stream")
                return self._send(json.dumps(events[-1][1]).encode(), "application/json")

            def _read(self) -> bytes:
                if self.headers.get("transfer-encoding", "").lower() == "chunked":
                    parts = []
                    while size := int(self.rfile.readline().strip() or b"0", 16):
                        parts.append(self.rfile.read(size))
                        self.rfile.readline()
                    self.rfile.readline()
                    raw = b"".join(parts)
                else:
                    raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

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

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

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
