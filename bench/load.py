"""What the daemon adds to the engine, and how it bears many at once, all in one run:
`python -m bench.load [--json] [--seconds 120] [--clients 50] [--memories 100000]`.

- the round trip of a cached brief, beside a bare echo on the same HTTP stack;
- the round trip of a new brief, beside `brief()` in this process on the same home, in turns;
- memory while idle at 10,000 memories;
- clients in parallel that ingest and ask: errors, events lost, memory growth, and the slowest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a file: `python bench/load.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    from bench.corpus import Corpus
    from bench.timing import percentile, say
    from foreword import Ask, Foreword, Settings
    from foreword.serve.address import address
    from foreword.serve.client import Client
    from foreword.serve.guard import open_to_its_owner
    from foreword.serve.http import Connections, Refused, Request, Response
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: run `make setup` first, then `.venv/bin/python bench/load.py`")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long the clients go on")
    parser.add_argument("--clients", type=int, default=50, help="how many there are")
    parser.add_argument("--memories", type=int, default=100_000, help="how many the home holds for the round trips")
    parser.add_argument("--idle", type=int, default=10_000, help="how many it holds when its memory is measured")
    parser.add_argument("--rounds", type=int, default=300, help="round trips timed of each kind")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="foreword-load-") as folder:
        result = {
            **_crowd(Path(folder) / "crowd", options.idle, options.clients, options.seconds),
            **_round_trips(Path(folder) / "large", options.memories, options.rounds),
        }
    say("")
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        _show(result)
    return 0


def _show(found: Mapping[str, Any]) -> None:
    cached, echo = found["cached_p50_ms"], found["echo_p50_ms"]
    print(f"bare echo on the same stack           p50 {echo:7.3f} ms")
    print(f"cached brief                          p50 {cached:7.3f} ms   {cached / echo:.2f} ×")
    size = f"{found['memories']:,}"
    print(f"brief() in process at {size:>9}       p50 {found['in_process_p50_ms']:7.3f} ms")
    print(f"new brief through the daemon          p50 {found['through_p50_ms']:7.3f} ms   +{found['added_ms']:.2f} ms")
    print(f"resident while idle at {found['idle']:,} memories   {found['idle_mb']:.0f} MB")
    crowd = found["crowd"]
    print(f"{crowd['clients']} clients for {crowd['seconds']:.0f} s: {crowd['requests']:,} requests,", end=" ")
    print(f"{crowd['errors']} errors, {crowd['lost']} of {crowd['acknowledged']:,} events lost")
    print(f"  brief p50 {crowd['brief_p50_ms']:.1f} ms, p99 {crowd['brief_p99_ms']:.1f} ms;", end=" ")
    print(f"ingest p50 {crowd['ingest_p50_ms']:.1f} ms, p99 {crowd['ingest_p99_ms']:.1f} ms")
    print(f"  resident each quarter: {', '.join(f'{one:.0f}' for one in crowd['resident_mb'])} MB;", end=" ")
    print(f"{crowd['memories']:,} memories at the end")


class Line:
    """One kept connection, with no more HTTP than the daemon answers: what is timed is the other side."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)

    def post(self, body: bytes) -> bytes:
        self._socket.sendall(b"POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        answer = b""
        while True:
            answer += self._socket.recv(1 << 20)
            head, end, rest = answer.partition(b"\r\n\r\n")
            if end and len(rest) == int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]):
                return rest

    def call(self, action: str, **payload: Any) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.post(json.dumps({"action": action, "payload": payload}).encode()))
        return answer


def _filled(home: Path, memories: int, corpus: Corpus) -> Client:
    say(f"recording {memories:,} memories")
    with Foreword.open(home, settings=Settings()) as foreword:
        for _ in foreword.record_all(corpus.events(memories)):
            pass
    environ = {**os.environ, "FOREWORD_HOME": str(home)}
    client = Client(address(environ), environ)
    client.start()
    return client


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


# Round trips


def _round_trips(home: Path, memories: int, rounds: int) -> dict[str, Any]:
    corpus = Corpus()
    client = _filled(home, memories, corpus)
    asks = corpus.asks(2 * rounds + 2)
    line = Line(str(client.address.socket))
    try:
        with Foreword.open(home, settings=Settings()) as foreword, _echo(home) as echo_line:
            line.call("brief", text=asks[-1], session="agent:main:warm")
            foreword.brief(Ask(asks[-2], session="agent:main:warm2"))
            through: list[float] = []
            inside: list[float] = []
            echo: list[float] = []
            cached: list[float] = []
            for number in range(rounds):
                say(f"round trip {number + 1} of {rounds}")
                # The same ask by both ways, each in a session of its own.
                ask, session = asks[number], f"agent:main:b{number}"
                inside.append(_timed(partial(foreword.brief, Ask(ask, session=session + "i"))))
                through.append(_timed(partial(line.call, "brief", text=ask, session=session)))
            body = _a_brief(line, corpus)
            for _ in range(rounds):
                echo.append(_timed(partial(echo_line.post, body)))
                cached.append(_timed(partial(line.post, body)))
    finally:
        client.stop()
    added = sorted(after - before for after, before in zip(through, inside, strict=True))
    return {
        "memories": memories,
        "echo_p50_ms": percentile(echo, 50),
        "cached_p50_ms": percentile(cached, 50),
        "in_process_p50_ms": percentile(inside, 50),
        "through_p50_ms": percentile(through, 50),
        "added_ms": percentile(added, 50),
    }


def _a_brief(line: Line, corpus: Corpus) -> bytes:
    """A request whose answer gives something, so that it is kept at hand: a sentence that was just recorded."""
    fact = f"The {corpus.words[4000]} of the {corpus.words[5000]} is kept in the {corpus.words[6000]}."
    line.call("ingest", content=fact, session="agent:main:told")
    ask = {"text": f"Where is the {corpus.words[4000]} of the {corpus.words[5000]} kept?", "session": "agent:main:ask"}
    if not line.call("brief", **ask)["data"]["text"]:
        raise SystemExit("the ask that was to be cached was given nothing")
    return json.dumps({"action": "brief", "payload": ask}).encode()


@contextmanager
def _echo(home: Path) -> Iterator[Line]:
    """The same HTTP stack in a process of its own, with nothing behind it."""
    path = str(home / "echo.sock")
    process = multiprocessing.get_context("spawn").Process(target=_serve_echo, args=(path,), daemon=True)
    process.start()
    while not os.path.exists(path):
        time.sleep(0.01)
    time.sleep(0.2)
    try:
        yield Line(path)
    finally:
        process.terminate()
        process.join()


def _serve_echo(path: str) -> None:
    async def echo(request: Request) -> Response:
        return Response(200, request.body)

    def refuse(refused: Refused) -> Response:
        return Response(refused.status, b"")

    async def serve() -> None:
        server = await asyncio.start_unix_server(Connections(echo, refuse, open_to_its_owner).serve, path)
        await server.serve_forever()

    asyncio.run(serve())


# Many at once


def _crowd(home: Path, idle: int, clients: int, seconds: float) -> dict[str, Any]:
    corpus = Corpus()
    client = _filled(home, idle, corpus)
    process = client.holder()
    assert process is not None
    client.call("search", {"query": "warm up"})
    idle_mb = _resident_mb(process)
    asks = corpus.asks(5000)
    until = time.monotonic() + seconds
    members = [_Member(number, str(client.address.socket), asks, until) for number in range(clients)]
    for one in members:
        one.start()
    resident = []
    for quarter in range(1, 5):
        time.sleep(max(until - seconds * (1 - quarter / 4) - time.monotonic(), 0))
        say(f"{clients} clients, {quarter} of 4 quarters")
        resident.append(round(_resident_mb(process), 1))
    for one in members:
        one.join()
    client.stop()
    kept = _texts(home)
    acknowledged = [text for one in members for text in one.acknowledged]
    briefs = [took for one in members for took in one.briefs]
    ingests = [took for one in members for took in one.ingests]
    return {
        "idle": idle,
        "idle_mb": round(idle_mb, 1),
        "crowd": {
            "clients": clients,
            "seconds": seconds,
            "requests": len(briefs) + len(ingests),
            "errors": sum(one.errors for one in members),
            "acknowledged": len(acknowledged),
            "lost": sum(text not in kept for text in acknowledged),
            "memories": len(kept),
            "brief_p50_ms": percentile(briefs, 50),
            "brief_p99_ms": percentile(briefs, 99),
            "ingest_p50_ms": percentile(ingests, 50),
            "ingest_p99_ms": percentile(ingests, 99),
            "resident_mb": resident,
        },
    }


class _Member(threading.Thread):
    """One client: asks, tells what it heard, and begins again."""

    def __init__(self, number: int, path: str, asks: Sequence[str], until: float) -> None:
        super().__init__(daemon=True)
        self._number = number
        self._line = Line(path)
        self._asks = asks
        self._until = until
        self.briefs: list[float] = []
        self.ingests: list[float] = []
        self.acknowledged: list[str] = []
        self.errors = 0

    def run(self) -> None:
        turn = 0
        while time.monotonic() < self._until:
            turn += 1
            session = f"agent:main:c{self._number}-{turn // 20}"
            ask = self._asks[(self._number * 97 + turn) % len(self._asks)]
            self.briefs.append(_timed(partial(self._said, "brief", text=ask, session=session)))
            text = f"{ask} Number {turn} of client {self._number} answers that."
            self.ingests.append(_timed(partial(self._said, "ingest", content=text, session=session)))

    def _said(self, action: str, **payload: Any) -> None:
        answer = self._line.call(action, **payload)
        if answer["status"] != "ok":
            self.errors += 1
        elif action == "ingest" and answer["data"]["outcome"] == "stored":
            self.acknowledged.append(payload["content"])


def _texts(home: Path) -> set[str]:
    database = sqlite3.connect(home / "foreword.db")
    try:
        return {text for (text,) in database.execute("SELECT text FROM memory")}
    finally:
        database.close()


def _resident_mb(process: int) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"process {process} is gone")


if __name__ == "__main__":
    sys.exit(main())
