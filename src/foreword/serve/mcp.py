"""Memory as tools for hosts that speak MCP: search shows rows and what reading each would cost, get reads in full.

The server is a client of the daemon like any other. It speaks for one agent and one audience, told when it is started;
a model cannot widen them. Where others listen in, only reading is offered.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

import foreword
from foreword.errors import DaemonError, ForewordError
from foreword.place import DEFAULT_AGENT
from foreword.serve import skill
from foreword.serve.client import Client
from foreword.serve.guard import guarded, token_in
from foreword.serve.http import Check, Refused

_MOST_RESULTS = 50
_MOST_IDS = 50


class Tools:
    """What the tools do, in words that a model reads. Each raises ForewordError."""

    def __init__(self, client: Client, *, agent: str = "", project: str = "", audience: str = "private") -> None:
        self._client = client
        self.reading_only = audience != "private"
        told = {"agent": agent or DEFAULT_AGENT, "project": project, "audience": audience}
        self._place = {name: value for name, value in told.items() if value}

    def search(self, query: str, limit: int) -> str:
        found: str = self._call("search", query=query, limit=limit)["text"]
        return found

    def get(self, ids: Sequence[str], around: int, whole_session: bool) -> str:
        found: str = self._call("get", ids=list(ids), around=around, whole_session=whole_session)["text"]
        return found

    def note(self, text: str, title: str) -> str:
        kept = self._call("ingest", content=text, title=title, kind="note", origin="agent")
        if kept["outcome"] == "skipped":
            raise ForewordError(f"Nothing was kept: {kept['reason']}")
        without = f" Taken out before it was written: {', '.join(kept['redactions'])}." if kept["redactions"] else ""
        return f"{'Kept' if kept['outcome'] == 'stored' else 'Known already'} as {kept['id']}.{without}"

    def forget(self, ids: Sequence[str]) -> str:
        gone = self._call("forget", ids=list(ids))
        return f"{gone['memories']} forgotten for good, with {gone['receipts']} receipts that named them."

    def why(self, receipt: str) -> str:
        place: dict[str, Any] = {name: told for name, told in self._place.items() if name != "audience"}
        explained: str = self._client.call("why", {"receipt": receipt, **place})["explanation"]
        return explained

    def _call(self, action: str, **payload: Any) -> dict[str, Any]:
        return self._client.call(action, {**self._place, **payload})


_Ids = Annotated[list[str], Field(description="ids such as m12, as mem-search shows them", max_length=_MOST_IDS)]


def server(tools: Tools) -> MCPServer[Any]:
    made: MCPServer[Any] = MCPServer(
        "foreword",
        instructions=skill.instructions(notes=not tools.reading_only),
        version=foreword.__version__,
        log_level="WARNING",
    )

    @made.tool("mem-search", title="Search memory", annotations=_READS, structured_output=False)
    def mem_search(
        query: Annotated[str, Field(description="what you want to know, in plain words")],
        limit: Annotated[int, Field(description="how many rows", ge=1, le=_MOST_RESULTS)] = 8,
    ) -> str:
        """Find what earlier conversations, tools and notes held about something. Rows come best first, each with its
        id, date, who said it, what reading it costs in tokens, and how sure it is to answer."""
        return _told(lambda: tools.search(query, limit))

    @made.tool("mem-get", title="Read memories", annotations=_READS, structured_output=False)
    def mem_get(
        ids: _Ids,
        around: Annotated[int, Field(description="neighbours of the same conversation on each side", ge=0, le=50)] = 0,
        whole_session: Annotated[bool, Field(description="the whole conversation instead")] = False,
    ) -> str:
        """Read memories in full, by id, with their neighbours or their whole conversation where asked for."""
        return _told(lambda: tools.get(ids, around, whole_session))

    if tools.reading_only:
        return made

    @made.tool("mem-note", title="Keep a note", annotations=_WRITES, structured_output=False)
    def mem_note(
        text: Annotated[str, Field(description="one statement that stands on its own", min_length=1)],
        title: Annotated[str, Field(description="a few words that name it")] = "",
    ) -> str:
        """Keep something for later conversations. Secrets are taken out before it is written."""
        return _told(lambda: tools.note(text, title))

    @made.tool("mem-forget", title="Forget memories", annotations=_DELETES, structured_output=False)
    def mem_forget(ids: _Ids) -> str:
        """Forget memories for good. Only when the user asks for it; there is no way back."""
        return _told(lambda: tools.forget(ids))

    @made.tool("mem-why", title="Explain a turn", annotations=_READS, structured_output=False)
    def mem_why(
        receipt: Annotated[str, Field(description="a receipt such as r12; without it the last turn")] = "",
    ) -> str:
        """Why Foreword gave what it gave with a message, or why it was silent."""
        return _told(lambda: tools.why(receipt))

    return made


_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def _told(work: Callable[[], str]) -> str:
    """An error is an answer to a model, in the same words as to a person."""
    try:
        return work()
    except ForewordError as error:
        raise ToolError(str(error)) from error


def serve_stdio(tools: Tools) -> None:
    server(tools).run("stdio")


def serve_http(tools: Tools, port: int, *, token_file: Path, say: Callable[[str], None]) -> None:
    """Streamable HTTP at /mcp on loopback, guarded like the daemon's own port. Raises DaemonError."""
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        raise DaemonError(f"Port {port} cannot be opened: {error.strerror}.", hint="Choose another.") from error
    guard = guarded(token_in(token_file), port)
    say(f"http://127.0.0.1:{port}/mcp, with the header `Authorization: Bearer` and the token in {token_file}")
    app = _guarded(server(tools).streamable_http_app(), guard)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listening])


def _guarded(app: Any, check: Check) -> Any:
    async def guarded_app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            try:
                check(scope["method"], scope["path"], headers)
            except Refused as refused:
                body = json.dumps({"error": refused.message}).encode("ascii")
                kind = [(b"content-type", b"application/json")]
                await send({"type": "http.response.start", "status": refused.status, "headers": kind})
                await send({"type": "http.response.body", "body": body})
                return
        await app(scope, receive, send)

    return guarded_app
