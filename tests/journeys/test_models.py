"""Changing the embedding model never loses data and never mixes spaces."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreword import Ask, Event, Foreword, Settings
from foreword.errors import ProviderError
from foreword.providers import FloatArray, Purpose
from foreword.settings import Loaded
from foreword.store import SqliteStore


class LetterEmbedder:
    """A small real embedder: letter counts, of a size of its own. It can be made to wait or to fail."""

    def __init__(self, dims: int, *, local: bool, gate: threading.Event | None = None, failing: bool = False) -> None:
        self.dims, self.local, self.model = dims, local, f"letters-{dims}"
        self._gate, self.failing = gate, failing

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = Purpose.MEMORY, deadline_ms: int | None = None
    ) -> FloatArray:
        if self.failing:
            raise ProviderError("The letter counter is out of ink.")
        if self._gate is not None and purpose is Purpose.MEMORY:
            assert self._gate.wait(30)
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                row[ord(letter) % self.dims] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    homes: list[Foreword] = []

    def open_with(embedder: Any) -> Foreword:
        homes.append(Foreword(SqliteStore(tmp_path / "home"), Loaded(Settings()), embedder))
        return homes[-1]

    yield open_with
    for home in homes:
        home.close()


@pytest.mark.proves("S9")
def test_words_answer_while_the_vectors_of_a_new_model_are_made(opened: Any) -> None:
    old = opened(LetterEmbedder(32, local=True))
    for number in range(40):
        old.record(Event(f"Lamp number {number} stands in the harbour.", session="agent:main:a"))
    old.record(Event("The harbour master is called Ottoline.", session="agent:main:a"))
    gate = threading.Event()
    new = opened(LetterEmbedder(48, local=False, gate=gate))
    work = threading.Thread(target=new.rebuild_vectors)
    work.start()
    found = new.search("What is the harbour master called?")
    assert found[0].memory.text == "The harbour master is called Ottoline."
    assert found[0].candidate.lanes["vectors"] == 0.0
    assert new.status()["embedder"]["waiting"] == 41
    gate.set()
    work.join(30)
    assert new.status()["embedder"] == {"model": "letters-48", "embedded": 41, "waiting": 0, "failure": ""}
    assert new.search("What is the harbour master called?")[0].candidate.lanes["vectors"] > 0
    assert new.status()["memories"] == 41
    assert set(new._store.census().vectors) == {"letters-48"}, "the old model's vectors are gone"


@pytest.mark.proves("S9")
def test_a_remote_model_that_fails_costs_the_vectors_and_nothing_else(opened: Any) -> None:
    embedder = LetterEmbedder(32, local=False, failing=True)
    foreword = opened(embedder)
    recorded = foreword.record(Event("The tide table hangs beside the compass.", session="agent:main:a"))
    foreword._vectors._thread.join(30)
    assert "out of ink" in foreword.status()["embedder"]["failure"]
    brief = foreword.brief(Ask("Where does the tide table hang, beside the compass?", session="agent:main:b"))
    assert "out of ink" in foreword.why(brief.receipt)
    assert foreword.search("tide table compass")[0].memory.id == recorded.id
    embedder.failing = False
    assert foreword.rebuild_vectors() == 1
    assert foreword.status()["embedder"]["waiting"] == 0
    assert foreword.rebuild_vectors() == 0


@pytest.mark.proves("S9")
def test_changing_the_model_and_back_keeps_every_memory_searchable(opened: Any) -> None:
    for dims in (32, 48, 32):
        foreword = opened(LetterEmbedder(dims, local=True))
        foreword.rebuild_vectors()
        foreword.record(Event(f"Buoy {dims} is painted red.", session=f"agent:main:{dims}", source_id="x"))
        assert foreword.status()["embedder"]["waiting"] == 0
        assert foreword.search(f"Is buoy {dims} painted red?")
        foreword.close()
