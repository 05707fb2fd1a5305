"""Embedders that ask a model over HTTP: any OpenAI-compatible endpoint, Ollama, Gemini.

One call has one deadline, however many requests it takes, and is never retried: words answer while a model does not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

import numpy as np

from foreword.providers.api import Api, Names, endpoint_of, key_in
from foreword.providers.embedder import EmbedderSettings, FloatArray, Purpose

_NAMES = Names(role="embedding provider", section="embedder", address="url", serves="an embedding API")


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


def open_remote(settings: EmbedderSettings, environ: Mapping[str, str]) -> RemoteEmbedder:
    """Raises BadSettings for an address that cannot be used, ProviderError when the key is needed and not there."""
    dialect = DIALECTS[settings.provider]
    key_env = settings.key_env or ("" if settings.url else dialect.default_key_env)
    key = key_in(environ, key_env, dialect.name, _NAMES)
    api = Api(
        names=_NAMES,
        provider=dialect.name,
        endpoint=endpoint_of(settings.url or dialect.default_url, _NAMES),
        headers=dialect.headers(key),
    )
    return RemoteEmbedder(
        dialect=dialect,
        api=api,
        model=settings.model or dialect.default_model,
        dims=settings.dims or dialect.default_dims,
        deadline_ms=settings.deadline_ms,
        batch=settings.batch,
    )


class RemoteEmbedder:
    def __init__(self, *, dialect: Dialect, api: Api, model: str, dims: int, deadline_ms: int, batch: int) -> None:
        self._dialect = dialect
        self._api = api
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
        endpoint = self._api.endpoint
        usual = endpoint == endpoint_of(self._dialect.default_url, _NAMES)
        return stamp if usual else f"{stamp}@{endpoint.host}:{endpoint.port}{endpoint.prefix}"

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
        asked = self._dialect.request(self._model, self._asked_dims, texts, purpose)
        answer = self._api.ask(self._dialect.path(self._model), asked, until)
        try:
            vectors = self._dialect.vectors(answer)
            rows = np.array(vectors, dtype=np.float32)
        except (LookupError, TypeError, ValueError, OverflowError):
            raise self._api.error("answered in a shape that is not vectors", self._api.check_address) from None
        if len(vectors) != len(texts):
            raise self._api.error(f"answered with {len(vectors)} vectors for {len(texts)} texts")
        return self._unit(rows)

    def _unit(self, rows: FloatArray) -> FloatArray:
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise self._api.error("answered in a shape that is not vectors", self._api.check_address)
        if self._dims and rows.shape[1] != self._dims:
            raise self._api.error(
                f"answered with vectors of {rows.shape[1]} numbers where {self._dims} were expected",
                "Set embedder.dims to what the model gives, or check embedder.model.",
            )
        # In float64: the squares of large float32 numbers overflow.
        lengths = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1, keepdims=True))
        if not np.isfinite(lengths).all():
            raise self._api.error("answered with numbers that are not finite", "Try another model.")
        self._dims = rows.shape[1]
        return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
