"""Both doors of the daemon, and what is behind each path: bytes to the engine and back, no decisions.

POST /v1                  the wire
GET  /v1/schema           what the wire says of itself
POST /hook/HOST/EVENT     a host's hook, in the host's own shape
GET  /health              who answers
POST /down                end; by the Unix socket only
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import foreword
from foreword.errors import ForewordError
from foreword.serve import hooks, wire
from foreword.serve.address import Address
from foreword.serve.guard import guarded, open_to_its_owner, token_in
from foreword.serve.http import Check, Connections, Refused, Request, Response
from foreword.serve.room import Room
from foreword.serve.trail import Log, cause, note_failure
from foreword.serve.watcher import Watcher
from foreword.serve.workers import Workers

# Each has a connection of its own to the store, and only one at a time reads the index: more would not be quicker.
_WORKERS = 4
_MOST_WAITING = 512
# When nobody asks at once, the index is read before somebody does.
_WARM_AFTER_S = 0.7
# Until when a hook waits, on the monotonic clock, which all processes of a machine share: what it waited at the door of
# a daemon that was still loading counts too. A little before, because an answer takes a moment to be heard.
_UNTIL = "x-until"
_HEARD_AFTER_S = 0.004
_MOST_BY_PORT = 64
_LOOK_AROUND_S = 10.0
_TOLD_AT_ONCE = 5
# One that tells of a change is looked for like an ask: who asks meanwhile waits for no more than a few.
_WEIGHED_AT_ONCE = 8
_LONGEST_MS = 3_600_000.0
_Done = TypeVar("_Done")


class Doors:
    def __init__(self, environ: Mapping[str, str], here: Address, log: Log) -> None:
        self._here = here
        self._log = log
        self._room = Room(environ)
        self._workers = Workers(_WORKERS)
        self._servers: list[asyncio.Server] = []
        self._connections: list[Connections] = []
        self._started = time.time()
        self._asked_at = time.monotonic()
        self._requests = 0
        self._waiting = 0
        self._port = 0
        self._ending = asyncio.Event()
        self._resting = threading.Thread()
        self._watcher = Watcher(self._room, log, is_there=self._room.is_there, busy=lambda: self._waiting > 0)

    # life

    async def open(self, listening: socket.socket, backlog: int, ending: asyncio.Event) -> None:
        self._ending = ending
        settings = self._room.settings.serve
        by_socket = self._door(open_to_its_owner, local=True)
        self._servers.append(await asyncio.start_unix_server(by_socket.serve, sock=listening, backlog=backlog))
        if settings.port:
            await self._open_port(settings.port)
        _publish(self._here, settings.deadline_ms, settings.cold_deadline_ms)
        self._watcher.start()

    async def _open_port(self, port: int) -> None:
        by_port = self._door(guarded(token_in(self._here.token), port), local=False)
        try:
            self._servers.append(await asyncio.start_server(by_port.serve, "127.0.0.1", port))
            self._port = port
        except OSError as error:
            self._log.say(f"port {port} cannot be opened: {error.strerror}; the socket still answers")

    def _door(self, check: Check, *, local: bool) -> Connections:
        most = None if local else _MOST_BY_PORT
        door = Connections(partial(self._handle, local=local), _refusal, check, most=most)
        self._connections.append(door)
        return door

    async def until(self, ending: asyncio.Event, is_ours: Callable[[], bool]) -> None:
        """Returns when told to end, when nobody has asked for as long as the settings say, or when the folder in which
        it is met `is_ours` no longer: nobody could find it, and another may be there."""
        warm = asyncio.get_running_loop().call_later(_WARM_AFTER_S, self._warm)
        while not ending.is_set():
            idle_s = self._room.settings.serve.idle_minutes * 60
            left = self._asked_at + idle_s - time.monotonic() if idle_s else _LOOK_AROUND_S
            if left <= 0 and not self._waiting:
                self._log.say(f"nobody asked for {idle_s / 60:g} minutes")
                break
            if not is_ours():
                break
            try:
                async with asyncio.timeout(min(max(left, 0.05), _LOOK_AROUND_S)):
                    await ending.wait()
            except TimeoutError:
                self._rest()
        warm.cancel()

    def _rest(self) -> None:
        """What can wait is done when nobody does; it keeps the daemon from nothing, and alive no longer."""
        if self._requests and not self._waiting and not self._resting.is_alive():
            # Not one of the workers: a model that tells sessions may take minutes, and nobody's end waits for it.
            self._resting = threading.Thread(target=self._tidy, name="foreword-tidy", daemon=True)
            self._resting.start()

    def _tidy(self) -> None:
        """A little at a time, until somebody asks or all is done."""
        try:
            left = 1
            while left and not self._waiting and not self._ending.is_set():
                with self._room.engine() as engine:
                    by_writer = engine.settings.summary.by_writer
                    left = engine.summarise(limit=1 if by_writer else _TOLD_AT_ONCE)
                    left += engine.weigh(limit=_WEIGHED_AT_ONCE)
                    if not left and (gone := engine.retire().memories):
                        self._log.say(f"{gone:,} memories were forgotten because the settings keep them no longer")
        except Exception as error:  # noqa: BLE001 - nobody waits for it: it is told here or nowhere
            self._log.say(f"tidying: {cause(error)}")

    def _warm(self) -> None:
        # What was loaded stays; looking through it for garbage again and again would fall on somebody's turn.
        gc.collect()
        gc.freeze()
        gc.enable()
        if not self._requests:
            self._workers.submit(self._read_the_index)

    def _read_the_index(self) -> None:
        # Not before anybody may knock: a daemon is started by the hook that waits for it.
        from foreword.recall import read

        try:
            with self._room.engine() as engine:
                engine.search("what is kept here", limit=1)
            read("what is kept here", ["nothing that anybody told so far"])
        except ForewordError as error:
            self._log.say(str(error))

    async def close(self, *, within_s: float) -> None:
        for server in self._servers:
            server.close()
        try:
            await asyncio.to_thread(self._watcher.stop)
            await asyncio.gather(*(one.close(within_s=within_s) for one in self._connections))
        finally:
            self._workers.shutdown(wait=True)
            self._room.close()

    # paths

    async def _handle(self, request: Request, *, local: bool) -> Response:
        self._asked_at = time.monotonic()
        self._requests += 1
        match request.method, request.path.strip("/").split("/"):
            case "GET", ["health"]:
                return _document(200, {"status": "ok", "data": self._about()})
            case "GET", ["v1", "schema"]:
                return _document(200, wire.describe())
            case "POST", ["v1"]:
                return await self._work(partial(self._wire, request))
            case "POST", ["hook", host, event]:
                return await self._work(partial(self._hook, request, host, event))
            case "POST", ["down"] if local:
                self._ending.set()
                return _document(200, {"status": "ok", "data": self._about()})
            case _, ["health"] | ["v1"] | ["v1", "schema"] | ["hook", _, _]:
                raise Refused(405, f"{request.method[:10]} is not for this path.")
        raise Refused(404, "There is nothing at this path; the wire is POST /v1.")

    async def _work(self, job: Callable[[], Response]) -> Response:
        if self._waiting >= _MOST_WAITING:
            raise Refused(503, "Too many requests are waiting.")
        return await self._later(job)

    async def _later(self, job: Callable[[], _Done]) -> _Done:
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._workers, job)
        finally:
            self._waiting -= 1
            self._asked_at = time.monotonic()

    def _about(self) -> dict[str, Any]:
        return {
            "version": foreword.__version__,
            "wire": wire.VERSION,
            "process": os.getpid(),
            "since": round(self._started),
            "requests": self._requests,
            "port": self._port,
            "idle_minutes": self._room.settings.serve.idle_minutes,
            "vaults": self._watcher.about(),
        }

    def _wire(self, request: Request) -> Response:
        try:
            asked = json.loads(request.body.decode("utf-8"))
        except (ValueError, RecursionError):
            return _document(400, wire.refusal("bad_input", "A request is one JSON object in UTF-8."))
        payload = asked.get("payload") if isinstance(asked, dict) else None
        if isinstance(payload, dict) and "deadline_ms" not in payload and _UNTIL in request.headers:
            asked = hooks.with_deadline(asked, _left_ms(request, 0.0))
        envelope = self._answer(asked, request.arrived)
        if isinstance(asked, dict) and asked.get("action") == "status" and envelope["status"] == "ok":
            envelope = {**envelope, "data": {**envelope["data"], "daemon": self._about()}}
        response = _document(200, envelope)
        wrote = isinstance(asked, dict) and asked.get("action") == "ingest"
        return replace(response, after=partial(self._later, self._catch_up)) if wrote else response

    def _answer(self, asked: object, arrived: float) -> dict[str, Any]:
        payload = asked.get("payload") if isinstance(asked, dict) else None
        project = payload.get("project") if isinstance(payload, dict) else None
        if isinstance(payload, dict) and type(patience := payload.get("deadline_ms", "")) in (int, float):
            # Somebody has been waiting since it arrived, not since a worker was free.
            payload["deadline_ms"] = min(patience, _LONGEST_MS) - (time.monotonic() - arrived) * 1000
        try:
            with self._room.engine(project if isinstance(project, str) else "") as engine:
                envelope = wire.answer(engine, asked)
        except ForewordError as error:
            envelope = wire.refusal(error.code, str(error))
        if envelope["status"] == "error" and envelope["error"]["code"] not in _CALLERS_FAULT:
            self._log.say(f"{envelope['error']['code']}: {envelope['error']['message']}")
        return envelope

    def _hook(self, request: Request, host: str, event: str) -> Response:
        patience = _left_ms(request, self._room.settings.serve.deadline_ms)

        def ask(asked: Mapping[str, Any]) -> Mapping[str, Any]:
            return self._answer(hooks.with_deadline(asked, patience), request.arrived)

        def note(cause: str) -> None:
            note_failure(self._here.failures, host, event, cause)

        answered = hooks.answer(host, event, request.body, ask, note)
        kind = "application/json" if answered.said.startswith("{") else "text/plain; charset=utf-8"

        def afterwards() -> None:
            hooks.record(answered.later, ask, note)
            self._catch_up()

        after = partial(self._later, afterwards) if answered.meant else None
        return Response(200, answered.said.encode("utf-8", "replace"), kind, after)

    def _catch_up(self) -> None:
        """Unless others wait: then the next of them does it."""
        if self._waiting > 1:
            return
        try:
            with self._room.engine() as engine:
                engine.catch_up()
        except ForewordError as error:
            self._log.say(str(error))


def _left_ms(request: Request, usual_ms: float) -> float:
    """How long whoever sent it goes on waiting, from when it arrived; nobody, when what they say is no number."""
    if _UNTIL not in request.headers:
        return usual_ms
    try:
        left = (float(request.headers[_UNTIL]) - _HEARD_AFTER_S - request.arrived) * 1000
    except ValueError:
        return 0.0
    return left if 0 < left < _LONGEST_MS else 0.0


_CALLERS_FAULT = frozenset({"bad_input", "too_large", "unknown_id"})


def _document(status: int, value: Mapping[str, Any]) -> Response:
    return Response(status, json.dumps(value, separators=(",", ":")).encode("ascii"))


def _refusal(refused: Refused) -> Response:
    return _document(refused.status, wire.refusal("refused", refused.message))


def _publish(here: Address, deadline_ms: int, cold_deadline_ms: int) -> None:
    """For clients that read no settings. Replaced in one step: a hook may be reading it."""
    made = here.deadlines.with_suffix(".new")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="ascii") as writing:
        writing.write(f"{deadline_ms} {cold_deadline_ms}\n")
    os.replace(made, here.deadlines)
