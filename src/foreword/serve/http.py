"""HTTP/1.1 over a stream, as little of it as the doors need: one request, one answer, the connection kept. Parsing is
h11's; what comes in is bounded in size and in time, and nothing that comes in ends more than its own connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import h11

from foreword.serve.address import MAX_BODY_BYTES
from foreword.values import dataclass

_MAX_HEAD_BYTES = 16_384
_READ_BYTES = 65_536
_HEAD_WITHIN_S = 60.0
_BODY_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Request:
    """`arrived` is when its head was read, on the monotonic clock. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    arrived: float


@dataclass(frozen=True, slots=True)
class Response:
    """`after` is done once the answer is on its way, and before the connection takes another request."""

    status: int
    body: bytes
    type: str = "application/json"
    after: Callable[[], Awaitable[None]] | None = None


class Refused(Exception):
    """A request that is answered without being looked at further; its connection ends."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


Handler = Callable[[Request], Awaitable[Response]]
# Looks at method, path and headers before the body is read; raises Refused.
Check = Callable[[str, str, Mapping[str, str]], None]


class Connections:
    """All connections of one door. Closing lets what is being answered be answered."""

    def __init__(
        self, handle: Handler, refuse: Callable[[Refused], Response], check: Check, *, most: int | None = None
    ) -> None:
        """`most` is how many may be connected at once; one more is turned away."""
        self._most = most
        self._handle = handle
        self._refuse = refuse
        self._check = check
        self._waiting: set[asyncio.Task[Any]] = set()
        self._busy: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if self._most is not None and len(self._waiting) + len(self._busy) >= self._most:
            writer.close()
            return
        self._waiting.add(task)
        try:
            await self._talk(_Line(reader, writer), task)
        except (ConnectionError, TimeoutError, asyncio.CancelledError, h11.ProtocolError):
            pass  # the other side left, fell silent or spoke no HTTP: there is nobody to tell
        finally:
            self._waiting.discard(task)
            self._busy.discard(task)
            writer.close()

    async def _talk(self, line: _Line, task: asyncio.Task[Any]) -> None:
        while not self._closing:
            try:
                head = await line.head()
                if head is None:
                    return
                self._waiting.discard(task)
                self._busy.add(task)
                request = await line.request(head, self._check)
                response = await self._handle(request)
            except Refused as refused:
                await line.send(self._refuse(refused), last=True)
                return
            except (ConnectionError, TimeoutError):
                raise
            except Exception:  # noqa: BLE001 - a door: whoever asked is told, and the others never notice
                await line.send(self._refuse(Refused(500, "Foreword failed inside.")), last=True)
                return
            try:
                await line.send(response, last=self._closing)
            finally:
                # Also for one who has left: what is to be done after the answer does not depend on its being heard.
                if response.after is not None:
                    await response.after()
            self._busy.discard(task)
            self._waiting.add(task)
            if not line.next():
                return

    async def close(self, *, within_s: float) -> None:
        """End what only waits, and wait for what is being answered."""
        self._closing = True
        for task in self._waiting:
            task.cancel()
        if self._busy:
            await asyncio.wait(self._busy, timeout=within_s)


class _Line:
    """One connection's end of the talk."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._head_only = False

    async def head(self) -> h11.Request | None:
        """The next request's head; None when the other side is done."""
        async with asyncio.timeout(_HEAD_WITHIN_S):
            event = await self._event()
        return event if isinstance(event, h11.Request) else None

    async def request(self, head: h11.Request, check: Check) -> Request:
        arrived = time.monotonic()
        self._head_only = head.method == b"HEAD"
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        method, path = head.method.decode("latin-1"), head.target.decode("latin-1").partition("?")[0]
        check(method, path, headers)
        told = headers.get("content-length", "0")
        if told.isdigit() and int(told[:20]) > MAX_BODY_BYTES:
            raise _too_large()
        body = bytearray()
        async with asyncio.timeout(_BODY_WITHIN_S):
            if self._http.they_are_waiting_for_100_continue:
                self._write(h11.InformationalResponse(status_code=100, headers=[]))
            while isinstance(event := await self._event(), h11.Data):
                body += event.data
                if len(body) > MAX_BODY_BYTES:
                    raise _too_large()
        if not isinstance(event, h11.EndOfMessage):
            raise ConnectionResetError
        return Request(method, path, headers, bytes(body), arrived)

    async def _event(self) -> Any:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise Refused(error.error_status_hint, "This is not HTTP as Foreword reads it.") from error
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self._reader.read(_READ_BYTES))

    async def send(self, response: Response, *, last: bool) -> None:
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        headers = [
            ("Content-Type", response.type),
            ("Content-Length", str(len(response.body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        if last:
            headers.append(("Connection", "close"))
        self._write(
            h11.Response(status_code=response.status, headers=headers),
            h11.Data(data=b"" if self._head_only else response.body),
            h11.EndOfMessage(),
        )
        await self._writer.drain()

    def _write(self, *events: Any) -> None:
        self._writer.write(b"".join(self._http.send(event) or b"" for event in events))

    def next(self) -> bool:
        """Whether the connection goes on; ready for the next request then."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True


def _too_large() -> Refused:
    return Refused(413, f"The request is larger than {MAX_BODY_BYTES // 1_000_000} MB.")
