"""The offline embedder: a table of word-piece vectors that ships with the package.

A text's vector is the sum of its pieces' vectors, made length one. Frequency weights are already in the table, so
"violin" moves a text much more than "the". `tools/distil.py` makes the table; `data/static-256.json` says from what.
Whatever changes how a text becomes a vector, here or in `wordpiece.py`, needs a table with a new name: the name is the
stamp on every stored vector.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from foreword.errors import ModelDamaged
from foreword.providers.embedder import FloatArray, Purpose
from foreword.providers.wordpiece import WordPiece

DATA = Path(__file__).parent / "data"
CARD = "static-256.json"
VECTORS = "static-256.vectors.npy"
SCALES = "static-256.scales.npy"
PIECES = "static-256.pieces.txt"

# Pieces summed at once, so that a very long text needs 1 MB of room and not 30.
SUMMED_AT_ONCE = 1024


class _Table(NamedTuple):
    wordpiece: WordPiece
    vectors: npt.NDArray[np.int8]
    scales: FloatArray


class StaticEmbedder:
    """Nothing is read until the first question; then the small card, and the table only when a text is embedded.

    The table is mapped, not read: processes share it, and a first text touches only the rows it needs. Loading checks
    sizes, `verify` checks every byte.
    """

    def __init__(self, folder: Path = DATA) -> None:
        self._folder = folder

    @property
    def model(self) -> str:
        return str(self._card["model"])

    @property
    def dims(self) -> int:
        return int(self._card["dims"])

    @property
    def local(self) -> bool:
        return True

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = Purpose.MEMORY, deadline_ms: int | None = None
    ) -> FloatArray:
        """One row per text; all zeros for a text without a known piece. Purpose and deadline change nothing here."""
        table = self._table
        rows = np.zeros((len(texts), table.vectors.shape[1]), np.float32)
        for at, text in enumerate(texts):
            ids = table.wordpiece.ids(text)
            if ids:
                # Row by row, so that a text gets the same bits alone as in a batch.
                total = _weighted_sum(table, ids)
                length = float(np.sqrt(total.dot(total)))
                if length > 0:
                    rows[at] = total / length
        return rows

    def ids(self, text: str) -> list[int]:
        """The pieces of a text, in reading order."""
        return self._table.wordpiece.ids(text)

    def rows(self, ids: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The pieces as they stand in the table, their lengths there, and by what to multiply them: how much a piece
        moves a text is its length times that. -1 is the last piece."""
        table = self._table
        rows = table.vectors.take(ids, axis=0, mode="wrap").astype(np.float32)
        lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-6)
        return rows, lengths, table.scales.take(ids, mode="wrap")

    def verify(self) -> None:
        """Reads the whole table (tens of milliseconds). Raises ModelDamaged unless every byte is as it was made."""
        import hashlib  # a quarter of the time to the first vector, and the first vector does not need it

        for name, entry in self._card["files"].items():
            try:
                found = hashlib.sha256((self._folder / name).read_bytes()).hexdigest()
            except OSError as error:
                raise ModelDamaged(f"{name} of the word-vector table cannot be read: {error.strerror}.") from error
            if found != entry["sha256"]:
                raise ModelDamaged(f"{name} of the word-vector table does not match its checksum.")

    @cached_property
    def _card(self) -> dict[str, Any]:
        try:
            card: dict[str, Any] = json.loads((self._folder / CARD).read_bytes())
            if not {"model", "dims", "files"} <= card.keys():
                raise ValueError("a key is missing")
        except (OSError, ValueError, AttributeError) as error:
            raise ModelDamaged(f"{CARD} of the word-vector table cannot be read.") from error
        return card

    @cached_property
    def _table(self) -> _Table:
        try:
            for name, entry in self._card["files"].items():
                if (self._folder / name).stat().st_size != entry["bytes"]:
                    raise ModelDamaged(f"{name} of the word-vector table has the wrong size.")
            vectors = np.load(self._folder / VECTORS, mmap_mode="r", allow_pickle=False)
            scales = np.load(self._folder / SCALES, allow_pickle=False)
            starts, _, insides = (self._folder / PIECES).read_bytes().decode("utf-8").partition("\n\n")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelDamaged("The word-vector table cannot be read.") from error
        wordpiece = WordPiece(starts.split("\n"), insides.split("\n"))
        if vectors.shape != (len(wordpiece), self.dims) or scales.shape != (len(wordpiece),):
            raise ModelDamaged("The parts of the word-vector table do not belong together.")
        # A plain view of the mapping: numpy's memmap class costs microseconds on every operation.
        return _Table(wordpiece, vectors.view(np.ndarray), scales)


@cache
def shipped() -> StaticEmbedder:
    """The one that ships, with the table that everybody here shares."""
    return StaticEmbedder()


def _weighted_sum(table: _Table, ids: list[int]) -> FloatArray:
    # The square root: a word said nine times is three times as telling, not nine.
    counts = Counter(ids)
    pieces = list(counts)
    weights = table.scales.take(pieces) * np.sqrt(np.array(list(counts.values()), np.float32))
    total = np.zeros(table.vectors.shape[1], np.float32)
    for start in range(0, len(pieces), SUMMED_AT_ONCE):
        some = slice(start, start + SUMMED_AT_ONCE)
        total += weights[some] @ table.vectors.take(pieces[some], axis=0).astype(np.float32)
    return total
