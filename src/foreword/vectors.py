"""Keeps the store's vectors those of the present model, and turns an ask into one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np

from foreword.errors import ForewordError
from foreword.model import Memory
from foreword.providers import Embedder, Purpose
from foreword.recall import Query, passages
from foreword.store import Draft, Store

_BATCH = 256
_BATCH_DEADLINE_MS = 30_000


class Vectors:
    """With a local model a memory's vectors are written with it; with a remote one they follow in the background, and
    words answer meanwhile."""

    def __init__(self, store: Store, embedder: Embedder | None, *, deadline_ms: int) -> None:
        self._store = store
        self._embedder = embedder
        self._deadline_ms = deadline_ms
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self.failure = ""

    @property
    def model(self) -> str:
        return self._embedder.model if self._embedder else ""

    def on(self, draft: Draft) -> Draft:
        """The draft with its vectors, where the model is at hand."""
        if self._embedder is None or not self._embedder.local:
            return draft
        return replace(draft, model=self._embedder.model, vectors=self._embedder.embed(_passages(draft.memory)))

    def of(self, query: Query, *, within_ms: float | None = None) -> Query:
        """The query with its vector; raises ProviderError when a remote model does not answer in time."""
        if query.empty or self._embedder is None:
            return query
        deadline_ms = None if self._embedder.local else self._deadline_ms
        if deadline_ms is not None and within_ms is not None:
            deadline_ms = max(1, min(deadline_ms, int(within_ms)))
        vector = self._embedder.embed([query.text], purpose=Purpose.QUERY, deadline_ms=deadline_ms)[0]
        return replace(query, vector=vector, model=self._embedder.model) if vector.any() else query

    def rebuild(self, *, progress: Callable[[int], None] = lambda done: None) -> int:
        """Embed what the present model has not embedded yet, then drop other models' vectors. Returns how many."""
        done = 0
        while self._embedder is not None and not self._closing.is_set():
            stale = self._store.stale_rows(self._embedder.model, limit=_BATCH)
            if not stale:
                self._store.keep_only_model(self._embedder.model)
                break
            parts = [_passages(memory) for memory in stale]
            texts = [text for part in parts for text in part]
            vectors = iter(self._embedder.embed(texts, deadline_ms=_BATCH_DEADLINE_MS))
            self._store.put_vectors(
                self._embedder.model,
                [(one.row, np.stack(list(islice(vectors, len(part))))) for one, part in zip(stale, parts, strict=True)],
            )
            done += len(stale)
            progress(done)
        return done

    def follow(self) -> None:
        """Rebuild in the background if there is anything to do: one thread, gone when it is done."""
        if self._embedder is None or (self._thread is not None and self._thread.is_alive()):
            return
        if not self._store.stale_rows(self._embedder.model, limit=1):
            return

        def work() -> None:
            try:
                self.rebuild()
                self.failure = ""
            except ForewordError as error:  # told by status and doctor; the next record tries again
                self.failure = str(error)

        self._thread = threading.Thread(target=work, name="foreword-vectors", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops after the batch at hand. One that waits for a slow provider finds the store closed, and ends."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout=2)


def _passages(memory: Memory) -> list[str]:
    """The passages a memory is embedded as."""
    heading = memory.heading
    return [f"{heading}: {passage}" if heading else passage for passage in passages(memory.text)]
