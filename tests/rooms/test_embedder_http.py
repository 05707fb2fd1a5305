"""Remote embedders against real HTTP servers that speak the three APIs as documented, and misspeak them."""

from __future__ import annotations

import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from foreword.errors import BadSettings, ProviderError
from foreword.providers import Embedder, EmbedderSettings, Purpose, open_embedder

KEY = "sk-very-secret-0123456789"
TEXT = "my private diary entry"
PROVIDERS = ("openai", "ollama", "gemini")


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Api:
    """A server that answers as `reply` says and remembers what it was asked."""

    reply: Callable[[Request, BaseHTTPRequestHandler], None]
    url: str = ""
    seen: list[Request] = field(default_factory=list)


@contextmanager
def serving(reply: Callable[[Request, BaseHTTPRequestHandler], None]) -> Iterator[Api]:
    api = Api(reply)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            api.seen.append(request)
            try:
                api.reply(request, self)
            except OSError:
                self.close_connection = True  # the client left at its deadline

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(handler: BaseHTTPRequestHandler, answer: Any, status: int = 200) -> None:
    content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def vector_of(text: str, dims: int) -> list[float]:
    """Not of length one, as some APIs answer; tells texts apart by their length."""
    return [3.0 * math.cos(len(text) * (at + 1)) for at in range(dims)]


def texts_of(request: Request) -> list[str]:
    if "requests" in request.body:
        return [one["content"]["parts"][0]["text"] for one in request.body["requests"]]
    return list(request.body["input"])


def spell(request: Request, vectors: list[Any]) -> Any:
    """The vectors in the answer shape of the API that was called."""
    if request.path.endswith("/embeddings"):
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        # Shuffled on purpose: the order is promised by `index` only.
        return {"object": "list", "data": data[::-1], "model": request.body["model"], "usage": {"total_tokens": 1}}
    if request.path == "/api/embed":
        return {"model": request.body["model"], "embeddings": vectors, "total_duration": 14143917}
    return {"embeddings": [{"values": vector} for vector in vectors]}


def wanted_dims(request: Request) -> int:
    if "requests" in request.body:
        return int(request.body["requests"][0]["outputDimensionality"])
    return int(request.body.get("dimensions", 8))


def well(request: Request, handler: BaseHTTPRequestHandler) -> None:
    send(handler, spell(request, [vector_of(text, wanted_dims(request)) for text in texts_of(request)]))


def connect(provider: str, url: str, **settings: Any) -> Embedder:
    chosen = {"deadline_ms": 10_000, "key_env": "TEST_KEY"} | settings
    embedder = open_embedder(EmbedderSettings(provider=provider, url=url, **chosen), {"TEST_KEY": KEY})
    assert embedder is not None
    return embedder


def failure(provider: str, url: str, **settings: Any) -> str:
    """The error's sentence; checked to name the provider and a next step and to keep key and text to itself."""
    with pytest.raises(ProviderError) as caught:
        connect(provider, url, **settings).embed([TEXT])
    told = str(caught.value)
    assert provider in told
    assert caught.value.hint
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in repr(error)
        assert TEXT not in repr(error)
        error = error.__cause__
    return told


@pytest.mark.proves("S9")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_provider_gives_unit_vectors_in_the_order_of_the_texts(provider: str) -> None:
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    with serving(well) as api:
        embedder = connect(provider, api.url, dims=6, batch=2)
        rows = embedder.embed(texts)
        assert len(api.seen) == 3
    assert rows.shape == (5, 6)
    assert rows.dtype == np.float32
    assert not embedder.local
    for text, row in zip(texts, rows, strict=True):
        expected = np.array(vector_of(text, 6))
        assert row == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


@pytest.mark.proves("S9")
def test_openai_is_asked_as_its_reference_says() -> None:
    with serving(well) as api:
        connect("openai", api.url + "/v1/", model="text-embedding-3-large", dims=256).embed([TEXT])
        connect("openai", api.url + "/v1").embed([TEXT])
    first, second = api.seen
    assert first.path == "/v1/embeddings"
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.body == {
        "model": "text-embedding-3-large",
        "input": [TEXT],
        "encoding_format": "float",
        "dimensions": 256,
    }
    assert "dimensions" not in second.body


@pytest.mark.proves("S9")
def test_ollama_is_asked_as_its_reference_says_and_needs_no_key() -> None:
    with serving(well) as api:
        connect("ollama", api.url, model="all-minilm", key_env="").embed([TEXT])
    assert api.seen[0].path == "/api/embed"
    assert api.seen[0].body == {"model": "all-minilm", "input": [TEXT]}
    assert "authorization" not in api.seen[0].headers


@pytest.mark.proves("S9")
def test_gemini_is_asked_for_768_numbers_and_told_what_the_text_is_for() -> None:
    with serving(well) as api:
        embedder = connect("gemini", api.url)
        assert embedder.embed([TEXT]).shape == (1, 768)
        embedder.embed([TEXT], purpose=Purpose.QUERY)
    memory, query = api.seen
    assert memory.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert memory.headers["x-goog-api-key"] == KEY
    assert memory.body["requests"] == [
        {
            "model": "models/gemini-embedding-001",
            "content": {"parts": [{"text": TEXT}]},
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 768,
        }
    ]
    assert query.body["requests"][0]["taskType"] == "RETRIEVAL_QUERY"


@pytest.mark.proves("S9")
def test_the_stamp_tells_models_lengths_and_servers_apart_and_does_not_change_with_the_first_answer() -> None:
    environ = {"OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY}
    opened = [
        open_embedder(settings, environ)
        for settings in (
            EmbedderSettings("openai"),
            EmbedderSettings("openai", model="text-embedding-3-large", dims=256),
            EmbedderSettings("openai", url="http://127.0.0.1:8080/v1"),
            EmbedderSettings("ollama"),
            EmbedderSettings("gemini"),
        )
    ]
    assert [embedder.model for embedder in opened if embedder] == [
        "openai:text-embedding-3-small:default",
        "openai:text-embedding-3-large:256",
        "openai:text-embedding-3-small:default@127.0.0.1:8080/v1",
        "ollama:nomic-embed-text:default",
        "gemini:gemini-embedding-001:768",
    ]
    with serving(well) as api:
        embedder = connect("ollama", api.url)
        before = embedder.model
        assert embedder.dims == 0
        embedder.embed([TEXT])
        assert embedder.dims == 8
        assert embedder.model == before


@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY")])
def test_a_missing_key_is_named_by_its_variable(provider: str, variable: str) -> None:
    with pytest.raises(ProviderError, match=f"{provider}.*{variable}"):
        open_embedder(EmbedderSettings(provider), {})
    with pytest.raises(ProviderError, match="MY_KEY"):
        open_embedder(EmbedderSettings(provider, key_env="MY_KEY"), {variable: KEY, "MY_KEY": " "})


def test_a_local_compatible_server_needs_no_key() -> None:
    with serving(well) as api:
        connect("openai", api.url, key_env="").embed([TEXT])
    assert "authorization" not in api.seen[0].headers


def test_a_key_with_a_line_break_is_refused_without_being_shown() -> None:
    with pytest.raises(ProviderError) as caught:
        open_embedder(EmbedderSettings("openai"), {"OPENAI_API_KEY": KEY + "\r\nX-Evil: 1"})
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["ftp://x", "localhost:11434", "http://", "http://a:b@host", "http://h:port", "http://h?k=1"]
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(BadSettings, match=r"embedder\.url"):
        open_embedder(EmbedderSettings("ollama", url=url), {})


@pytest.mark.parametrize(("name", "value"), [("dims", -1), ("deadline_ms", 0), ("batch", 0)])
def test_a_number_that_cannot_be_used_is_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(BadSettings, match=f"embedder.{name}"):
        open_embedder(EmbedderSettings("ollama", **{name: value}), {})


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (302, "refused the request"),
        (400, "refused the request"),
        (401, "key"),
        (403, "key"),
        (404, "model"),
        (429, "slow down"),
        (500, "its side"),
    ],
)
def test_a_refusal_is_told_with_its_cause(provider: str, status: int, cause: str) -> None:
    with serving(lambda request, handler: send(handler, {"error": {"message": f"{KEY} {TEXT}"}}, status)) as api:
        told = failure(provider, api.url)
        assert len(api.seen) == 1, "a turn never retries"
    assert str(status) in told
    assert cause in told


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_is_not_there_is_told_at_once(provider: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refuses, and nobody else can take the port
        assert "could not be reached" in failure(provider, f"http://127.0.0.1:{taken.getsockname()[1]}")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"<html>welcome</html>", "not JSON"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"null", "shape"),
        (b"[]", "shape"),
        (b"{}", "shape"),
        (b'{"data": 3, "embeddings": 3}', "shape"),
        (b'{"data": [3], "embeddings": [3]}', "shape"),
    ],
)
def test_an_answer_of_another_kind_is_told(provider: str, content: bytes, cause: str) -> None:
    with serving(lambda request, handler: send(handler, content)) as api:
        assert cause in failure(provider, api.url)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("vectors", "cause"),
    [
        ([], "0 vectors for 1"),
        ([[1.0] * 4, [1.0] * 4], "2 vectors for 1"),
        ([[1.0] * 5], "5 numbers where 4"),
        ([[1.0, float("nan"), 0.0, 0.0]], "not finite"),
        ([[1.0, float("inf"), 0.0, 0.0]], "not finite"),
        ([[]], "shape"),
        ([["a", "b", "c", "d"]], "shape"),
        ([[[1.0], [1.0], [1.0], [1.0]]], "shape"),
        ([None], "shape"),
    ],
    ids=["none", "too many", "other length", "nan", "infinity", "empty", "words", "nested", "null"],
)
def test_vectors_that_cannot_be_right_are_refused(provider: str, vectors: list[Any], cause: str) -> None:
    with serving(lambda request, handler: send(handler, spell(request, vectors))) as api:
        assert cause in failure(provider, api.url, dims=4)


def test_a_model_that_changes_its_length_between_batches_is_refused() -> None:
    def fickle(request: Request, handler: BaseHTTPRequestHandler) -> None:
        send(handler, spell(request, [[1.0] * (4 + len(api.seen))]))

    with serving(fickle) as api, pytest.raises(ProviderError, match="6 numbers where 5"):
        connect("ollama", api.url, batch=1).embed(["a", "b"])


def test_a_vector_of_zeros_stays_zero_and_huge_numbers_stay_finite() -> None:
    with serving(lambda request, handler: send(handler, spell(request, [[0.0, 0.0], [1e30, 1e30]]))) as api:
        rows = connect("ollama", api.url).embed(["a", "b"])
    assert rows[0].tolist() == [0.0, 0.0]
    assert rows[1] == pytest.approx([math.sqrt(0.5)] * 2)


def silent(request: Request, handler: BaseHTTPRequestHandler) -> None:
    handler.connection.recv(1)  # waits until the client hangs up


def dripping_body(request: Request, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.01)


def dripping_headers(request: Request, handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        handler.wfile.write(b"z")
        time.sleep(0.01)


@pytest.mark.parametrize("reply", [silent, dripping_body, dripping_headers])
def test_the_deadline_holds_over_the_whole_call(reply: Callable[[Request, BaseHTTPRequestHandler], None]) -> None:
    with serving(reply) as api:
        started = time.monotonic()
        assert "deadline" in failure("openai", api.url, deadline_ms=150)
        took_ms = (time.monotonic() - started) * 1000
    assert 140 <= took_ms < 1500


def test_many_batches_share_one_deadline() -> None:
    def slow(request: Request, handler: BaseHTTPRequestHandler) -> None:
        time.sleep(0.1)
        well(request, handler)

    with serving(slow) as api:
        embedder = connect("ollama", api.url, batch=1)
        with pytest.raises(ProviderError, match="deadline"):
            embedder.embed(["text"] * 50, deadline_ms=250)
        assert len(api.seen) <= 3


def test_an_answer_that_breaks_off_is_told() -> None:
    def broken(request: Request, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"embeddings": [[1')

    with serving(broken) as api:
        assert "could not be reached" in failure("ollama", api.url)


def test_a_name_that_does_not_exist_is_told() -> None:
    assert "could not be reached" in failure("ollama", "http://no-such-host.invalid:1", deadline_ms=60_000)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_any_text_can_be_sent(provider: str) -> None:
    texts = ["", " ", "\x00", "lone \ud800 surrogate", "😀 日本語", "long " * 20_000]
    with serving(well) as api:
        rows = connect(provider, api.url, dims=4).embed(texts)
        sent = texts_of(api.seen[0])
    assert rows.shape == (6, 4)
    assert sent[3:] == ["lone ? surrogate", *texts[4:]]


def test_no_texts_make_no_request() -> None:
    with serving(well) as api:
        assert connect("ollama", api.url, dims=4).embed([]).shape == (0, 4)
        assert api.seen == []


def test_the_key_is_in_no_repr() -> None:
    embedder = connect("openai", "http://127.0.0.1:1")
    assert KEY not in repr(embedder)
    assert KEY not in embedder.model
