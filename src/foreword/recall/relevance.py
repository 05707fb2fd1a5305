"""The order of an index: what has to do with what is being done comes before what is merely new."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath

from foreword.model import Memory

# What a memory gains that names all the files in play; one that surely answers the ask has nearly 1.
_FILES = 0.5


def by_relevance(entries: Sequence[Memory], sure: Mapping[int, float], files: Collection[str]) -> list[Memory]:
    """Entries by how sure each answers the ask, by row, and by how many of the files in play it names; the newest first
    among equals. A file is known by its path, or half by its name where the folders differ."""
    names = {PurePath(file).name for file in files}

    def worth(memory: Memory) -> float:
        shared = len(set(files).intersection(memory.files))
        alike = len(names.intersection(PurePath(file).name for file in memory.files))
        overlap = (shared + max(alike - shared, 0) / 2) / len(files) if files else 0.0
        # In tenths: chance alone makes one memory a little surer than another.
        return round(sure.get(memory.row, 0.0) + _FILES * min(overlap, 1.0), 1)

    return sorted(entries, key=lambda memory: (-worth(memory), -memory.at, -memory.row))
