"""What comes in by the socket may be anything: it is answered or dropped, it never writes, and nothing leaks out."""

from __future__ import annotations

import http.client
import json
import math
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.serve import schema
from foreword.serve.wire import ACTIONS
from tests.doors.conftest import Daemon, wait_until

CASES = 10_000
_AT_ONCE = 100
_WRITES = ("ingest", "brief", "start", "compact", "forget", "feedback")

_WORDS = ("", "m1", "r1", "agent:main:main", "../../etc/passwd", "\ud800", "\0", "'; DROP TABLE memory; --", "é" * 40)
_PATHS = (
    *("/v1",) * 6,
    *("/", "/v1/schema", "/health", "/v1/" + "a" * 300, "/../../etc/passwd", "/%2e%2e/%2e%2e", "//", "/v1?x=1"),
    *("/hook/claude-code/Nonsense", "/hook/nobody/UserPromptSubmit", "/hook/%2e%2e/x", "/hook//", "/up"),
)
_BODIES = (b"[" * 3000, b'{"action":', b"\xff\xfe{\x00", b"1" * 5000, b"NaN", b'"\\ud800"', b"\x00" * 50, b"")
_HEADERS = (
    *("Transfer-Encoding: chunked", "Content-Length: 3", "Expect: 100-continue", "Connection: close", "Host: y"),
    *("X-Deadline-Ms: -5", "X-Long: " + "b" * 400, "No colon here", "Authorization: Bearer \x7f", ": nothing"),
)


def _value(random: Random, depth: int = 0) -> Any:
    """Any JSON there is, and some that there is not."""
    kind = random.randrange(9 if depth < 3 else 7)
    if kind == 7:
        return [_value(random, depth + 1) for _ in range(random.randrange(4))]
    if kind == 8:
        return {random.choice(_WORDS): _value(random, depth + 1) for _ in range(random.randrange(4))}
    floating = random.choice((0.5, -1e300, math.nan, math.inf))
    return (None, True, random.randrange(-9, 9), 10 ** random.randrange(30), floating, *random.choices(_WORDS, k=2))[
        kind
    ]


def _envelope(random: Random) -> bytes:
    """Close to what is right, and never right where it would write."""
    action = random.choice(sorted(ACTIONS))
    names = [*schema.fields(ACTIONS[action].payload), "x"]
    payload = {random.choice(names): _value(random) for _ in range(random.randrange(6))}
    request: dict[str, Any] = {"action": action, "payload": payload}
    if random.random() < 0.3:
        request[random.choice(("version", "payload", "action", "x"))] = _value(random)
    if request["action"] in _WRITES and isinstance(request["payload"], dict):
        request["payload"]["nobody knows this field"] = _value(random)
    return json.dumps(request).encode()


def _request(random: Random) -> bytes:
    if random.random() < 0.1:
        return random.randbytes(random.randrange(200))
    body = _envelope(random) if random.random() < 0.7 else random.choice((*_BODIES, random.randbytes(80)))
    method = random.choice(("POST", "POST", "POST", "GET", "PUT", "DELETE", "HEAD", "BREW", ""))
    told = random.choice((*(len(body),) * 8, len(body) + 7, 0, -1, 10**12, 10**30))
    lines = [f"{method} {random.choice(_PATHS)} HTTP/1.1", "Host: x", f"Content-Length: {told}"]
    lines += random.choices(_HEADERS, k=random.choice((0, 0, 0, 1, 2)))
    whole = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
    return whole[: random.randrange(1, len(whole))] if random.random() < 0.1 else whole


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path_factory.mktemp("hostile") / "home")
    daemon.call("ingest", content="The spare key is under the blue pot.", session="agent:main:main")
    yield daemon
    daemon.client.stop()


@settings(max_examples=CASES // _AT_ONCE, deadline=None, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=True))
def test_ten_thousand_hostile_requests_never_write_leak_or_end_it(target: Daemon, random: Random) -> None:
    before, process = _rows(target), target.process
    for request in (_request(random) for _ in range(_AT_ONCE)):
        for answer in _answers(target.raw(request, within_s=5.0)):
            assert answer.get("status") in ("ok", "error") or "oneOf" in answer
            if answer.get("status") == "error":
                assert set(answer["error"]) == {"code", "message"}
                assert answer["error"]["code"] != "internal", (request, answer)
    assert _rows(target) == before
    assert target.process == process


def _answers(data: bytes) -> Iterator[dict[str, Any]]:
    """Every answer is well-formed HTTP with a JSON document that says nothing of the inside."""
    for one in data.split(b"HTTP/1.1 ")[1:]:
        head, _, body = one.partition(b"\r\n\r\n")
        for inside in (b"Traceback", b'File "', b"site-packages", str(Path(__file__).parents[2]).encode(), b"/home/"):
            assert inside not in one, one
        if head.startswith(b"100") or not body:
            continue
        if b"application/json" in head:
            yield json.loads(body)


def _rows(daemon: Daemon) -> list[int]:
    database = sqlite3.connect(daemon.home / "foreword.db")
    try:
        return [
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("memory", "receipt", "session", "delivery")
        ]
    finally:
        database.close()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n{}", 413),
        (b"POST /v1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", 400),
        (b"POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n\xff\xfe\xfd", 400),
        (b"POST /v1 HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 100_000 + b"\r\n\r\n", 431),
        (b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    ],
)
def test_what_is_wrong_with_a_request_is_said_in_one_sentence(target: Daemon, request_: bytes, status: int) -> None:
    answer = target.raw(request_)
    assert answer.startswith(f"HTTP/1.1 {status}".encode()), answer
    document = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert document["error"]["message"].endswith(".")


def test_a_body_that_never_ends_is_cut_off_at_the_limit(target: Daemon) -> None:
    chunk = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
    answer = target.raw(b"POST /v1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 20)
    assert not answer or b" 413 " in answer[:20]
    assert target.call("status")["memories"] == 1


def test_one_who_connects_and_says_nothing_holds_nobody_up(target: Daemon) -> None:
    from foreword.serve.address import reachable

    silent = []
    with reachable(target.address.socket) as path:
        for _ in range(100):
            line = socket.socket(socket.AF_UNIX)
            line.connect(path)
            line.send(b"POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Len")
            silent.append(line)
    assert target.call("status")["memories"] == 1
    for line in silent:
        line.close()


def test_requests_on_one_connection_are_answered_in_order(target: Daemon) -> None:
    one = b'{"action":"status"}'
    request = b"POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(one), one)
    answers = list(_answers(target.raw(request * 3 + b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")))
    assert [sorted(answer["data"])[0] for answer in answers] == ["by_agent", "by_agent", "by_agent", "idle_minutes"]


# The door on TCP


@pytest.fixture
def by_port(daemon: Daemon) -> tuple[Daemon, int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    daemon.environ["FOREWORD_SERVE_PORT"] = str(port)
    daemon.client = type(daemon.client)(daemon.address, daemon.environ)
    assert daemon.call("ingest", content="The spare key is under the blue pot.")["outcome"] == "stored"
    return daemon, port


@pytest.mark.proves("B4")
def test_the_port_answers_who_has_the_token_and_no_page(by_port: tuple[Daemon, int]) -> None:
    daemon, port = by_port
    token = daemon.address.token.read_text().strip()
    right = {"Authorization": f"Bearer {token}"}
    search = {"action": "search", "payload": {"query": "Where is the spare key?"}}
    assert _posted(port, search, right)[0] == 200
    assert "blue pot" in _posted(port, search, right)[1]
    refused = [
        ({}, 401),
        ({"Authorization": "Bearer " + "x" * len(token)}, 401),
        ({"Authorization": token}, 401),
        ({**right, "Host": "evil.example"}, 403),
        ({**right, "Host": f"evil.example:{port}"}, 403),
        ({**right, "Origin": "https://evil.example"}, 403),
        ({**right, "Origin": "null"}, 403),
        ({**right, "Sec-Fetch-Site": "cross-site"}, 403),
    ]
    for headers, status in refused:
        answered, body = _posted(port, search, headers)
        assert answered == status, headers
        assert "blue pot" not in body
        assert token not in body
    assert _posted(port, {}, right, path="/down")[0] == 404, "only its owner ends it, by the socket"
    assert daemon.address.token.stat().st_mode & 0o077 == 0


def test_a_port_that_is_taken_costs_only_the_port(daemon: Daemon, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("FOREWORD_SERVE_PORT", str(taken.getsockname()[1]))
        daemon.client = type(daemon.client)(
            daemon.address, {**daemon.environ, **os.environ, "FOREWORD_HOME": str(daemon.home)}
        )
        assert daemon.call("status")["daemon"]["port"] == 0
        checks = run("doctor", "--json", "--home", str(daemon.home)).data["checks"]
        assert any("is not served" in one["found"] for one in checks)


def test_the_token_stays_the_same_over_restarts(by_port: tuple[Daemon, int]) -> None:
    daemon, _ = by_port
    before = daemon.address.token.read_text()
    daemon.client.stop()
    wait_until(lambda: not daemon.processes())
    daemon.call("status")
    assert daemon.address.token.read_text() == before


def _posted(port: int, document: Any, headers: dict[str, str], path: str = "/v1") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest("POST", path, skip_host="Host" in headers)
    body = json.dumps(document).encode()
    for name, value in {**headers, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    told = response.status, response.read().decode()
    connection.close()
    return told


@pytest.mark.parametrize("until", ["²", "-5", "nan", "inf", "1e999", "tomorrow", "0"])
def test_a_deadline_that_is_none_means_that_nobody_waits(target: Daemon, until: str) -> None:
    body = b'{"session_id": "s1", "cwd": "/", "prompt": "Where is the spare key kept, please?"}'
    head = f"POST /hook/claude-code/UserPromptSubmit HTTP/1.1\r\nHost: x\r\nX-Until: {until}\r\n"
    answer = target.raw(head.encode("utf-8") + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400")), answer
    assert answer.endswith(b"\r\n\r\n") or b"400" in answer[:20], "nothing is said to one who does not wait"


def test_a_number_beyond_all_measure_is_answered_with_a_sentence(target: Daemon) -> None:
    body = b'{"action": "brief", "payload": {"text": "hello there", "deadline_ms": %s}}' % (b"9" * 400)
    answer = target.raw(b"POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] in ("ok", "error")


def test_who_asks_for_the_head_alone_gets_it_alone(target: Daemon) -> None:
    answer = target.raw(b"HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 405")
    assert answer.endswith(b"\r\n\r\n")
