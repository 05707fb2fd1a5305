"""The backends that the contract suite runs against. A new one joins by adding its place to BACKENDS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from foreword.store import SqliteStore, Store


@dataclass
class SqlitePlace:
    """One place where memories are kept. Called, it opens a store there; it can be sent to another process."""

    home: Path
    _opened: list[Store] = field(default_factory=list)

    def __call__(self) -> Store:
        store = SqliteStore(self.home)
        self._opened.append(store)
        return store

    def __getstate__(self) -> tuple[Path]:
        return (self.home,)

    def __setstate__(self, state: tuple[Path]) -> None:
        self.home, self._opened = state[0], []

    def bytes_on_disk(self) -> bytes:
        """Everything that anybody could read there."""
        return b"\n".join(file.read_bytes() for file in sorted(self.home.rglob("*")) if file.is_file())

    def close(self) -> None:
        for store in self._opened:
            store.close()
        self._opened.clear()


BACKENDS = [pytest.param(SqlitePlace, id="sqlite")]


@pytest.fixture(params=BACKENDS)
def store_factory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlitePlace]:
    place = request.param(tmp_path / "home")
    yield place
    place.close()


@pytest.fixture
def store(store_factory: SqlitePlace) -> Store:
    return store_factory()
