"""Embedders that ask a model over HTTP: any OpenAI-compatible endpoint, Ollama, Gemini.

One call has one deadline, however many requests it takes, and is never retried: words answer while a model does not.
No message carries the key or the texts.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlsplit

import numpy as np

from foreword.errors import BadSettings, ProviderError
from foreword.providers.embedder import EmbedderSettings, FloatArray, Purpose

if TYPE_CHECKING:
    from http.client import HTTPConnection

# 64 vectors of 3,072 numbers written as JSON are 5 MB; more than this is no answer to the question asked.
LARGEST_ANSWER_BYTES = 64 * 1024 * 1024
READ_AT_ONCE_BYTES = 64 * 1024


class Dialect(Protocol):
    """How one API spells a request for vectors and its answer."""

    name: str
    default_url: str
    default_model: str
    default_dims: int
    default_key_env: str

    def path(self, model: str) -> str: ...

    def headers(self, key: str) -> dict[str, str]: ...

    def request(self, model: str, dims: int, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]: ...

    def vectors(self, answer: Any) -> list[Any]:
        """The vectors in the order of the texts. Raises LookupError or TypeError for an answer of another shape."""
        ...


class OpenAI:
    name = "openai"
    default_url = "https://api.openai.com/v1"
    default_model = "text-embedding-3-small"
    default_dims = 0
    default_key_env = "OPENAI_API_KEY"

    def path(self, model: str) -> str:
        return "/embeddings"

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, model: str, dims: int, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        # Many compatible servers refuse `dimensions`, so it is sent only when asked for; an empty input is refused too.
        asked: dict[str, Any] = {"model": model, "input": [text or " " for text in texts], "encoding_format": "float"}
        return asked | {"dimensions": dims} if dims else asked

    def vectors(self, answer: Any) -> list[Any]:
        # The order is promised by `index`, not by position.
        data = sorted(answer["data"], key=lambda entry: int(entry["index"]))
        return [entry["embedding"] for entry in data]


class Ollama:
    name = "ollama"
    default_url = "http://127.0.0.1:11434"
    default_model = "nomic-embed-text"
    default_dims = 0
    default_key_env = ""

    def path(self, model: str) -> str:
        return "/api/embed"

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, model: str, dims: int, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        asked: dict[str, Any] = {"model": model, "input": list(texts)}
        return asked | {"dimensions": dims} if dims else asked

    def vectors(self, answer: Any) -> list[Any]:
        return list(answer["embeddings"])


class Gemini:
    name = "gemini"
    default_url = "https://generativelanguage.googleapis.com"
    default_model = "gemini-embedding-001"
    default_dims = 768
    default_key_env = "GEMINI_API_KEY"

    def path(self, model: str) -> str:
        return f"/v1beta/models/{quote(model, safe='')}:batchEmbedContents"

    def headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def request(self, model: str, dims: int, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        task = "RETRIEVAL_QUERY" if purpose is Purpose.QUERY else "RETRIEVAL_DOCUMENT"
        return {
            "requests": [
                {
                    "model": f"models/{model}",
                    "content": {"parts": [{"text": text or " "}]},
                    "taskType": task,
                    "outputDimensionality": dims,
                }
                for text in texts
            ]
        }

    def vectors(self, answer: Any) -> list[Any]:
        return [entry["values"] for entry in answer["embeddings"]]


DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (OpenAI(), Ollama(), Gemini())}


@dataclass(frozen=True, slots=True)
class Endpoint:
    secure: bool
    host: str
    port: int
    prefix: str


def open_remote(settings: EmbedderSettings, environ: Mapping[str, str]) -> RemoteEmbedder:
    """Raises BadSettings for an address that cannot be used, ProviderError when the key is needed and not there."""
    dialect = DIALECTS[settings.provider]
    key_env = settings.key_env or ("" if settings.url else dialect.default_key_env)
    key = environ.get(key_env, "").strip() if key_env else ""
    if key_env and not key:
        raise ProviderError(
            f"{dialect.name} needs an API key, and the environment variable {key_env} is not set.",
            hint=f"Set {key_env}, or name another variable in embedder.key_env.",
        )
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(f"The API key in {key_env} cannot be sent: it holds characters no key has.")
    return RemoteEmbedder(
        dialect=dialect,
        endpoint=_endpoint(settings.url or dialect.default_url),
        key=key,
        model=settings.model or dialect.default_model,
        dims=settings.dims or dialect.default_dims,
        deadline_ms=settings.deadline_ms,
        batch=settings.batch,
    )


def _endpoint(url: str) -> Endpoint:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadSettings("embedder.url is not an address.", hint="Write it like http://127.0.0.1:11434.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSettings("embedder.url is not an http or https address.", hint="Write it like http://127.0.0.1:11434.")
    if parts.username or parts.password or parts.query:
        # An address ends up in messages and logs; a secret inside it would, too.
        raise BadSettings("embedder.url may not carry a password or a query.", hint="Use embedder.key_env for a key.")
    secure = parts.scheme == "https"
    return Endpoint(secure, parts.hostname, port or (443 if secure else 80), parts.path.rstrip("/"))


class RemoteEmbedder:
    def __init__(
        self, *, dialect: Dialect, endpoint: Endpoint, key: str, model: str, dims: int, deadline_ms: int, batch: int
    ) -> None:
        self._dialect = dialect
        self._endpoint = endpoint
        self._key = key
        self._model = model
        self._asked_dims = dims
        self._dims = dims
        self._deadline_ms = deadline_ms
        self._batch = batch

    @property
    def model(self) -> str:
        """Provider, model, length asked for ("default" if the model chooses), and the server when unusual.

        Two servers may call different models by one name, so another server is another space.
        """
        stamp = f"{self._dialect.name}:{self._model}:{self._asked_dims or 'default'}"
        usual = self._endpoint == _endpoint(self._dialect.default_url)
        return stamp if usual else f"{stamp}@{self._endpoint.host}:{self._endpoint.port}{self._endpoint.prefix}"

    @property
    def dims(self) -> int:
        return self._dims

    @property
    def local(self) -> bool:
        return False

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = Purpose.MEMORY, deadline_ms: int | None = None
    ) -> FloatArray:
        # A lone surrogate is no character, and a server may refuse the whole batch for it.
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        if not texts:
            return np.zeros((0, self._dims), np.float32)
        until = time.monotonic() + (self._deadline_ms if deadline_ms is None else deadline_ms) / 1000
        parts = [
            self._embed_batch(texts[start : start + self._batch], purpose, until)
            for start in range(0, len(texts), self._batch)
        ]
        return np.concatenate(parts)

    def _embed_batch(self, texts: Sequence[str], purpose: Purpose, until: float) -> FloatArray:
        answer = self._ask(self._dialect.request(self._model, self._asked_dims, texts, purpose), until)
        try:
            vectors = self._dialect.vectors(answer)
            rows = np.array(vectors, dtype=np.float32)
        except (LookupError, TypeError, ValueError, OverflowError):
            raise self._error("answered in a shape that is not vectors", _CHECK_ADDRESS) from None
        if len(vectors) != len(texts):
            raise self._error(f"answered with {len(vectors)} vectors for {len(texts)} texts")
        return self._unit(rows)

    def _unit(self, rows: FloatArray) -> FloatArray:
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise self._error("answered in a shape that is not vectors", _CHECK_ADDRESS)
        if self._dims and rows.shape[1] != self._dims:
            raise self._error(
                f"answered with vectors of {rows.shape[1]} numbers where {self._dims} were expected",
                "Set embedder.dims to what the model gives, or check embedder.model.",
            )
        # In float64: the squares of large float32 numbers overflow.
        lengths = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1, keepdims=True))
        if not np.isfinite(lengths).all():
            raise self._error("answered with numbers that are not finite", "Try another model.")
        self._dims = rows.shape[1]
        return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _ask(self, body: dict[str, Any], until: float) -> Any:
        # Imported here: the network code is paid for by the first question, not by starting up.
        import http.client

        kind = http.client.HTTPSConnection if self._endpoint.secure else http.client.HTTPConnection
        connection = kind(self._endpoint.host, self._endpoint.port, timeout=self._left(until))
        done: queue.SimpleQueue[tuple[int, bytes] | Exception] = queue.SimpleQueue()

        def converse() -> None:
            try:
                done.put(self._converse(connection, json.dumps(body).encode("ascii"), until))
            except (OSError, ValueError, http.client.HTTPException, ProviderError) as error:
                done.put(error)
            finally:
                connection.close()

        # A socket's timeout is for one step. Looking up a name has none, and a server that drips bytes renews it for
        # ever, so the whole conversation runs beside the caller, who leaves at the deadline.
        threading.Thread(target=converse, name=f"embed-{self._dialect.name}", daemon=True).start()
        try:
            outcome = done.get(timeout=self._left(until))
        except queue.Empty:
            _hang_up(connection)
            raise self._too_late() from None
        # From here on no cause is chained: the text of a foreign error may quote what was sent.
        if isinstance(outcome, ProviderError):
            raise outcome
        if isinstance(outcome, TimeoutError):
            raise self._too_late()
        if isinstance(outcome, Exception):
            raise self._error(
                f"could not be reached at {self._endpoint.host}:{self._endpoint.port} ({_cause(outcome)})",
                "Check that it is running and that embedder.url is right.",
            )
        status, content = outcome
        if status != 200:
            raise self._refused(status)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise self._error("answered with something that is not JSON", _CHECK_ADDRESS) from None

    def _converse(self, connection: HTTPConnection, sent: bytes, until: float) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **self._dialect.headers(self._key)}
        connection.request("POST", self._endpoint.prefix + self._dialect.path(self._model), sent, headers)
        response = connection.getresponse()
        received = bytearray()
        while some := response.read1(READ_AT_ONCE_BYTES):
            received += some
            if len(received) > LARGEST_ANSWER_BYTES:
                raise self._error("answered with far more than was asked", _CHECK_ADDRESS)
            self._left(until)
        if response.length:
            raise ConnectionResetError(0, "the answer broke off")
        return response.status, bytes(received)

    def _left(self, until: float) -> float:
        left = until - time.monotonic()
        if left <= 0:
            raise self._too_late()
        return left

    def _refused(self, status: int) -> ProviderError:
        if status in (401, 403):
            return self._error(f"refused the key (HTTP {status})", "Check the variable named in embedder.key_env.")
        if status == 404:
            return self._error("knows no such model or address (HTTP 404)", "Check embedder.model and embedder.url.")
        if status == 429:
            return self._error("asks to slow down, or the quota is used up (HTTP 429)", "Wait, or raise the quota.")
        if status >= 500:
            return self._error(f"failed on its side (HTTP {status})", "Try again in a while.")
        return self._error(f"refused the request (HTTP {status})", "Check embedder.model and embedder.dims.")

    def _too_late(self) -> ProviderError:
        return self._error("did not answer before the deadline", "Raise embedder.deadline_ms, or use a nearer model.")

    def _error(self, what: str, hint: str = "Check embedder.model.") -> ProviderError:
        return ProviderError(f"The embedding provider {self._dialect.name} {what}.", hint=hint)


_CHECK_ADDRESS = "Check that embedder.url points at an embedding API."


def _hang_up(connection: HTTPConnection) -> None:
    """Wakes a thread that waits on the connection; closing alone would leave it waiting."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):  # the other side may have hung up first
            connection.sock.shutdown(socket.SHUT_RDWR)


def _cause(error: Exception) -> str:
    # The system's own words for it; an exception's text may quote what was sent.
    return str(getattr(error, "strerror", "") or type(error).__name__)
