"""The SQLite store's index: words and vectors as arrays in memory, brought up to date from the rows on disk.

The rows are the truth; this can be thrown away and read again at any moment. Words are kept as immutable segments that
grow in size, so that adding one memory costs little and a word is looked up in a handful of places.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foreword.model import Audience, Origin, Scope
from foreword.store.contract import (
    ENOUGH_OF_SESSION,
    LYING_NOWHERE,
    Facts,
    Floats,
    Nearest,
    Postings,
    Slots,
    Words,
)
from foreword.values import dataclass

NO_SLOT = -1
# How many more candidates the bit codes propose than are asked for, before exact similarity decides.
_OVERSAMPLING = 4
_BACKGROUND_SAMPLE = 256
# A segment is merged into the one before it unless that is this many times as large. Two would write as much in all,
# and leave twice as many segments to look a word up in.
_GROWTH = 4
_SAMPLED = 16
_ENOUGH_TO_TELL = 4096
_ROWS_AT_ONCE = 512
_READ_AT_ONCE = 50_000
_BY_PERSON = frozenset(origin.value for origin in Origin if origin.said_by_a_person)
# What is different when there is anything to read: something taken away (the first two), or something new.
MOMENT = (
    "SELECT (SELECT value FROM counter WHERE name = 'forgets'),"
    " (SELECT value FROM counter WHERE name = 'vector_drops'), (SELECT max(row) FROM memory),"
    " (SELECT max(row) FROM vector), (SELECT max(number) FROM superseded)"
)
_EMPTY = Postings(np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0, np.int32))


def pack_words(words: NDArray[np.uint32], counts: NDArray[np.uint8]) -> bytes:
    return bytes(words.astype("<u4").tobytes() + counts.tobytes())


def pack_vector(vector: Floats) -> bytes:
    peak = float(np.abs(vector).max()) or 1.0
    return bytes(np.float32(peak / 127).tobytes() + np.rint(vector * (127 / peak)).astype(np.int8).tobytes())


def _columns(cursor: sqlite3.Cursor) -> list[list[Any]]:
    """All rows, column by column. They are fetched a few at a time: many thousand tuples alive at once set off the
    garbage collector so often that it takes longer than the reading."""
    columns: list[list[Any]] = [[] for _ in cursor.description]
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
    return columns


class _Column:
    """An array that grows at its end."""

    def __init__(self, dtype: str, width: int = 0) -> None:
        self._cells: NDArray[Any] = np.empty((0, width) if width else 0, dtype)
        self.used = 0

    def extend(self, values: NDArray[Any]) -> None:
        need = self.used + len(values)
        if need > len(self._cells):
            room = max(need, len(self._cells) * 2, 64)
            grown = np.empty((room, *self._cells.shape[1:]), self._cells.dtype)
            grown[: self.used] = self._cells[: self.used]
            self._cells = grown
        self._cells[self.used : need] = values
        self.used = need

    @property
    def values(self) -> NDArray[Any]:
        return self._cells[: self.used]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Postings of some memories: words ascending, where each word's run starts, and the runs."""

    words: NDArray[np.uint32]
    starts: NDArray[np.int64]
    slots: Slots
    counts: NDArray[np.uint8]

    @staticmethod
    def of(words: NDArray[np.uint32], slots: Slots, counts: NDArray[np.uint8]) -> _Segment:
        # By the lower half, then by the upper: numpy sorts 16 bits by counting, 32 by comparing, which is slower.
        lower = np.argsort(words.astype(np.uint16), kind="stable")
        upper = np.argsort((words >> 16).astype(np.uint16)[lower], kind="stable")
        return _Segment._in(lower[upper], words, slots, counts)

    def merged(self, other: _Segment) -> _Segment:
        words = np.concatenate((self._flat(), other._flat()))
        # Two runs in order, which comparing joins in one pass.
        order = np.argsort(words, kind="stable")
        slots, counts = np.concatenate((self.slots, other.slots)), np.concatenate((self.counts, other.counts))
        return _Segment._in(order, words, slots, counts)

    @staticmethod
    def _in(order: NDArray[np.intp], words: NDArray[np.uint32], slots: Slots, counts: NDArray[np.uint8]) -> _Segment:
        words = words[order]
        first = np.flatnonzero(np.diff(words, prepend=words[:1] ^ np.uint32(1)))
        return _Segment(words[first], np.append(first, len(words)), slots[order], counts[order])

    def _flat(self) -> NDArray[np.uint32]:
        return np.repeat(self.words, np.diff(self.starts))

    def find(self, words: NDArray[np.uint32]) -> list[tuple[int, int, int]]:
        """Which of the words are here: each one's place among them, and where its run starts and ends."""
        if not len(self.words):
            return []
        # Keys of the array's own type, or numpy converts the whole array on every call.
        places = self.words.searchsorted(words)
        known = (self.words.take(places, mode="clip") == words).nonzero()[0]
        places = places.take(known)
        starts, ends = self.starts.take(places), self.starts.take(places + 1)
        return list(zip(known.tolist(), starts.tolist(), ends.tolist(), strict=True))


def _closest(distance: NDArray[np.uint16], wanted: int) -> NDArray[np.intp]:
    """Places of at least the `wanted` smallest. A sample tells about where to cut when there are many; if it misled,
    or there are few, distances are counted, which for small whole numbers is sooner done than sorting."""
    sample = distance[::_SAMPLED]
    likely = 2 * wanted // _SAMPLED
    if len(sample) > 4 * likely:
        found = np.flatnonzero(distance <= np.partition(sample, likely)[likely])
        if len(found) >= wanted:
            return found
    return np.flatnonzero(distance <= np.searchsorted(np.cumsum(np.bincount(distance)), wanted))


def _spread(values: Floats) -> tuple[float, float]:
    """Mean and deviation. numpy's own are written in Python, and look at many cases first."""
    mean = np.float32(float(np.add.reduce(values)) / len(values))
    apart = values - mean
    return float(mean), float(np.sqrt(np.float32(float(np.add.reduce(apart * apart)) / len(values))))


@dataclass(frozen=True, slots=True)
class _Seen:
    """Which vectors a view may see, as of a row; `places` is None when it may see all. A few, as they are, stand for
    all of them, and `centre` is the middle of these."""

    last_row: int
    places: NDArray[np.intp] | None
    count: int
    sample: Floats
    centre: Floats


class _Space:
    """All vectors of one model: sign bits to propose, int8 values to decide."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.last_row = 0
        self._lanes = [_Column("<u8") for _ in range(-(-dims // 64))]
        self._values = _Column("i1", dims)
        self._scales = _Column("f4")
        self._owners = _Column("i4")
        self._scratch = np.empty(0, np.uint64)
        self._first = np.full(0, NO_SLOT, np.int32)
        self._parts = np.zeros(0, np.int32)
        # Whether every memory has one vector at most.
        self._whole = True

    def extend(self, owners: Slots, blobs: Sequence[bytes], span: int) -> None:
        raw = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), 4 + self.dims)
        values = raw[:, 4:].view(np.int8)
        start = self._values.used
        self._values.extend(values)
        self._scales.extend(np.ascontiguousarray(raw[:, :4]).view(np.float32).ravel())
        self._owners.extend(owners)
        for lane, bits in zip(self._lanes, self._bits(values > 0).T, strict=True):
            lane.extend(bits)
        self.cover(span)
        # The parts of one memory are written in one transaction, so they stand side by side.
        unique, first, parts = np.unique(owners, return_index=True, return_counts=True)
        self._whole = self._whole and int(parts.max()) == 1 and int(self._first[unique].max()) == NO_SLOT
        self._first[unique] = first + start
        self._parts[unique] = parts

    def cover(self, span: int) -> None:
        """From now on memories up to here may be asked for, though they may have no vector."""
        if span > len(self._first):
            more = max(span, 2 * len(self._first)) - len(self._first)
            self._first = np.concatenate((self._first, np.full(more, NO_SLOT, np.int32)))
            self._parts = np.concatenate((self._parts, np.zeros(more, np.int32)))

    def _bits(self, positive: NDArray[np.bool_]) -> NDArray[np.uint64]:
        if self.dims % 64:
            positive = np.pad(positive, ((0, 0), (0, -self.dims % 64)))
        return np.packbits(positive, axis=1).view("<u8")

    def seen_by(self, mask: NDArray[np.bool_]) -> _Seen:
        places = np.flatnonzero(mask[self._owners.values])
        step = max(1, len(places) // _BACKGROUND_SAMPLE)
        sample = self._unpacked(places[::step])
        centre = np.add.reduce(sample, axis=0) / np.float32(len(sample) + LYING_NOWHERE)
        return _Seen(self.last_row, places if len(places) < self._owners.used else None, len(places), sample, centre)

    def nearest(self, vector: Floats, seen: _Seen, limit: int) -> Nearest:
        wanted = min(seen.count, limit * _OVERSAMPLING)
        if not wanted:
            return Nearest(np.empty(0, np.int32), np.empty(0, np.float32), 0.0, 0.0)
        code = self._bits((vector > 0)[None, :])[0]
        distance = np.zeros(self._owners.used, np.uint16)
        # One buffer for all lanes and asks: fresh memory of this size is slower to get than to compute with.
        if len(self._scratch) < len(distance):
            self._scratch = np.empty(len(distance) * 5 // 4, np.uint64)
        scratch = self._scratch[: len(distance)]
        for lane, bits in zip(self._lanes, code, strict=True):
            distance += np.bitwise_count(np.bitwise_xor(lane.values, bits, out=scratch))
        if seen.places is not None:
            distance = distance[seen.places]
        proposed = _closest(distance, wanted)
        if seen.places is not None:
            proposed = seen.places[proposed]
        similarity = self._exact(vector, proposed)
        owners: Slots = self._owners.values.take(proposed)
        order = (-similarity).argsort(kind="stable")
        if not self._whole:
            # One memory, its closest part: with the best parts first, the first place of a slot is its best.
            ordered = owners.take(order)
            by_owner = ordered.argsort(kind="stable")
            ordered = ordered.take(by_owner)
            order = order.take(np.sort(by_owner[np.append(True, ordered[1:] != ordered[:-1])]))
        best = order[:limit]
        mean, deviation = _spread(seen.sample @ vector)
        return Nearest(owners.take(best), similarity.take(best), mean, deviation)

    def similarity(self, vector: Floats, slots: Slots) -> Floats:
        if not len(slots):
            return np.zeros(0, np.float32)
        first = self._first.take(slots)
        if self._whole and int(np.minimum.reduce(first)) != NO_SLOT:
            return self._exact(vector, first)
        result = np.zeros(len(slots), np.float32)
        known = (first != NO_SLOT).nonzero()[0]
        if not len(known):
            return result
        each, starts = self._parts_of(slots.take(known))
        result[known] = np.maximum.reduceat(self._exact(vector, each), starts)
        return result

    def _parts_of(self, slots: Slots) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Where the vectors of these memories stand, all of which have some, and where those of each begin."""
        parts = self._parts.take(slots)
        starts = np.concatenate(([0], np.cumsum(parts)[:-1]))
        return (self._first.take(slots) - starts).repeat(parts) + np.arange(parts.sum()), starts

    def middles(self, slots: Slots, groups: NDArray[np.intp], count: int) -> Floats:
        """The mean of all vectors of each of `count` groups of memories, zeros where there is none; `groups` ascend and
        tell of which each is."""
        result = np.zeros((count, self.dims), np.float32)
        known = self._first.take(slots) != NO_SLOT
        slots, groups = slots[known], groups[known]
        if len(slots):
            each, _ = self._parts_of(slots)
            of = groups.repeat(self._parts.take(slots))
            begins = np.append(True, of[1:] != of[:-1]).nonzero()[0]
            sums = np.add.reduceat(self._unpacked(each), begins, axis=0)
            result[of[begins]] = sums / (np.append(begins[1:], len(of)) - begins)[:, None]
        return result

    def _exact(self, vector: Floats, places: NDArray[np.integer]) -> Floats:
        values = self._values.values.take(places, axis=0).astype(np.float32)
        scales: Floats = self._scales.values.take(places)
        return np.asarray((values @ vector) * scales, np.float32)

    def _unpacked(self, places: NDArray[np.integer]) -> Floats:
        scales: Floats = self._scales.values[places]
        return np.asarray(self._values.values[places] * scales[:, None], np.float32)


class Index:
    """Arrays by slot; slot numbers follow the memories' row numbers."""

    def __init__(self) -> None:
        self._row = _Column("i8")
        self._session = _Column("i4")
        self._length = _Column("i4")
        self._at = _Column("f8")
        self._by_person = _Column("?")
        self._by_agent = _Column("?")
        self._audience = _Column("u1")
        self._circle = _Column("i4")
        self._agent = _Column("i4")
        self._project = _Column("i4")
        self._alive = _Column("?")
        self._superseded: int | None = None
        self._before = _Column("i4")
        self._after = _Column("i4")
        self._names: dict[str, int] = {"": 0}
        self._last_of_session: dict[int, int] = {}
        self._segments: list[_Segment] = []
        self._spaces: dict[str, _Space] = {}
        self._views: dict[Scope, IndexView] = {}
        # As of when all is read; and of which model's vectors.
        self.moment: tuple[int | None, ...] = ()
        self._vectors_of: dict[str, tuple[int | None, ...]] = {}

    @property
    def span(self) -> int:
        return self._row.used

    @property
    def last_row(self) -> int:
        return int(self._row.values[-1]) if self.span else 0

    def refresh(self, connection: sqlite3.Connection, moment: tuple[int | None, ...]) -> None:
        """Read the memories that were written since the last time, and mask those that were superseded."""
        while self._read_new(connection) == _READ_AT_ONCE:
            continue
        self._mask_superseded(connection)
        self.moment = moment

    def _mask_superseded(self, connection: sqlite3.Connection) -> None:
        if self._superseded is None:
            # What went before the first look is not among the rows.
            found = connection.execute("SELECT coalesce(max(number), 0) FROM superseded").fetchone()
            self._superseded = int(found[0])
            return
        numbers, memories = _columns(
            connection.execute("SELECT number, memory FROM superseded WHERE number > ?", (self._superseded,))
        )
        if numbers:
            self._superseded = max(numbers)
            rows = np.array(memories, np.int64)
            slots = np.searchsorted(self._row.values, rows)
            known = slots < self.span
            slots, rows = slots[known], rows[known]
            self._alive.values[slots[self._row.values[slots] == rows]] = False
            self._views.clear()

    def _read_new(self, connection: sqlite3.Connection) -> int:
        """A part of them, so that a million memories do not stand in memory twice. How many there were."""
        number, session, length, at, origin, audience, circle, agent, project, words = _columns(
            connection.execute(
                "SELECT m.row, coalesce(m.session, -1), m.length, m.at, m.origin, m.audience, m.circle, m.agent,"
                " m.project, w.data FROM memory AS m JOIN word AS w ON w.memory = m.row WHERE m.row > ? ORDER BY m.row"
                " LIMIT ?",
                (self.last_row, _READ_AT_ONCE),
            )
        )
        if not number:
            return 0
        first = self.span
        self._row.extend(np.array(number, np.int64))
        self._session.extend(np.array(session, np.int32))
        self._length.extend(np.array(length, np.int32))
        self._at.extend(np.array(at, np.float64))
        self._by_person.extend(np.array([one in _BY_PERSON for one in origin], np.bool_))
        self._by_agent.extend(np.array([one == Origin.AGENT.value for one in origin], np.bool_))
        self._audience.extend(np.array(audience, np.uint8))
        self._alive.extend(np.ones(len(number), np.bool_))
        for column, texts in ((self._circle, circle), (self._agent, agent), (self._project, project)):
            column.extend(np.array(self._codes(texts), np.int32))
        self._link(first, self._session.values[first:])
        self._add_words(first, words)
        self._views.clear()
        return len(number)

    def _codes(self, texts: Iterable[str]) -> list[int]:
        names = self._names
        return [names.setdefault(text, len(names)) for text in texts]

    def _link(self, first: int, sessions: NDArray[np.int32]) -> None:
        """Each memory with the one before and the one after it in its session."""
        before = np.full(len(sessions), NO_SLOT, np.int32)
        self._after.extend(before)
        after = self._after.values
        order = np.argsort(sessions, kind="stable")
        order = order[np.searchsorted(sessions[order], 0) :]  # those of no session stand before all others
        together = sessions[order[1:]] == sessions[order[:-1]]
        slots = (order + first).astype(np.int32)
        before[order[1:][together]] = slots[:-1][together]
        after[slots[:-1][together]] = slots[1:][together]
        opens, closes = np.append(True, ~together), np.append(~together, True)
        if len(order):
            known = self._last_of_session
            for session, slot in zip(sessions[order[opens]].tolist(), slots[opens].tolist(), strict=True):
                previous = known.get(session, NO_SLOT)
                if previous != NO_SLOT:
                    before[slot - first] = previous
                    after[previous] = slot
            known.update(zip(sessions[order[closes]].tolist(), slots[closes].tolist(), strict=True))
        self._before.extend(before)

    def _add_words(self, first: int, blobs: Sequence[bytes]) -> None:
        sizes = np.fromiter(map(len, blobs), np.int64, len(blobs)) // 5
        raw = np.frombuffer(b"".join(blobs), np.uint8)
        # In each blob four bytes of a word for one of its counts, the words first.
        of_words = np.repeat(np.tile([True, False], len(blobs)), np.column_stack((4 * sizes, sizes)).ravel())
        slots = np.repeat(np.arange(first, first + len(blobs), dtype=np.int32), sizes)
        segment = _Segment.of(raw[of_words].view("<u4"), slots, raw[~of_words])
        while self._segments and len(self._segments[-1].slots) <= _GROWTH * len(segment.slots):
            segment = self._segments.pop().merged(segment)
        self._segments.append(segment)

    def space(self, model: str, connection: sqlite3.Connection) -> _Space | None:
        """The vectors of one model, read when first asked for: an ask that words alone answer never loads them."""
        if self._vectors_of.get(model) != self.moment:
            while self._read_vectors(model, connection) == _READ_AT_ONCE:
                continue
            self._vectors_of[model] = self.moment
            if model in self._spaces:
                self._spaces[model].cover(self.span)
        return self._spaces.get(model)

    def _read_vectors(self, model: str, connection: sqlite3.Connection) -> int:
        """A part of those that were written since the last time; how many there were."""
        space = self._spaces.get(model)
        rows, memories, blobs = _columns(
            connection.execute(
                # By row and not by model: all but a few are of the one that is asked for.
                "SELECT row, memory, data FROM vector WHERE +model = ? AND row > ? ORDER BY row LIMIT ?",
                (model, space.last_row if space else 0, _READ_AT_ONCE),
            )
        )
        # One of a memory that came in the meantime, and all after it, are for the next time: none may be passed over.
        known = next((place for place, memory in enumerate(memories) if memory > self.last_row), len(memories))
        rows, memories, blobs = rows[:known], memories[:known], blobs[:known]
        if not rows:
            return 0
        read = len(rows)
        if read == _READ_AT_ONCE:
            # The parts of a memory stay together: the last one's may go on in what is read next.
            whole = memories.index(memories[-1]) or read
            rows, memories, blobs = rows[:whole], memories[:whole], blobs[:whole]
        if space is None:
            space = self._spaces[model] = _Space(len(blobs[0]) - 4)
        space.last_row = int(rows[-1])
        # A server may come to give vectors of another length under the same name; they can be neither compared nor
        # allowed to stop every ask.
        fits = [len(blob) == space.dims + 4 for blob in blobs]
        if any(fits):
            owners = np.searchsorted(self._row.values, np.array([*compress(memories, fits)], np.int64))
            space.extend(owners.astype(np.int32), [*compress(blobs, fits)], self.span)
        return read

    def view(self, scope: Scope, connection: sqlite3.Connection) -> IndexView:
        view = self._views.get(scope)
        if view is None:
            if len(self._views) > 16:
                self._views.clear()
            view = self._views[scope] = IndexView(self, self._mask(scope))
        view.connection = connection
        return view

    def _mask(self, scope: Scope) -> NDArray[np.bool_]:
        """The rule of who may see what, in one place for the whole index (and once more in SQL, for single rows)."""
        mask: NDArray[np.bool_] = (self._audience.values >= int(scope.audience)) & self._alive.values
        if scope.audience is not Audience.PRIVATE:
            mask &= self._is(self._circle, scope.circle)
        if not scope.every_agent:
            mask &= self._is(self._agent, scope.agent)
        if not scope.every_project and scope.project:
            mask &= self._is(self._project, scope.project)
        return mask

    def _is(self, column: _Column, name: str) -> NDArray[np.bool_]:
        """Equal to `name`, or to nobody's in particular."""
        codes = column.values
        code = self._names.get(name)
        everyones = codes == 0
        return np.asarray(everyones if not code else everyones | (codes == code), np.bool_)


class IndexView:
    """A View over the index; the store's lock keeps the index still while one is in use."""

    def __init__(self, index: Index, mask: NDArray[np.bool_]) -> None:
        self._index = index
        self._mask = mask
        self._vectors: dict[str, _Seen] = {}
        self.connection: sqlite3.Connection
        self.span = len(mask)
        self.size = int(np.count_nonzero(mask))
        self.mean_length = float(index._length.values[mask].mean()) if self.size else 0.0

    def slots(self, rows: Sequence[int]) -> Slots:
        known = self._index._row.values[: self.span]
        wanted = np.array(rows, np.int64)
        # Rows are numbered upwards, and slots follow them.
        slots: Slots = np.searchsorted(known, wanted).astype(np.int32)
        inside = slots < self.span
        slots, wanted = slots[inside], wanted[inside]
        return np.asarray(slots[(known[slots] == wanted) & self._mask[slots]], np.int32)

    def postings(self, words: Words) -> list[Postings]:
        keys = np.asarray(words, np.uint32)
        found: list[Postings] = [_EMPTY] * len(keys)
        for segment in self._index._segments:
            for word, start, end in segment.find(keys):
                slots, counts = segment.slots[start:end], segment.counts[start:end]
                if (before := found[word]) is not _EMPTY:
                    slots, counts = np.concatenate((before.slots, slots)), np.concatenate((before.counts, counts))
                found[word] = Postings(slots, counts, _EMPTY.lengths)
        return [self._seen_of(one) if one is not _EMPTY else one for one in found]

    def _seen_of(self, found: Postings) -> Postings:
        slots, counts = found.slots, found.counts
        if self.size != self.span:
            keep = self._mask.take(slots)
            slots, counts = slots[keep], counts[keep]
        return Postings(slots, counts, self._index._length.values.take(slots))

    def holders(self, words: Words) -> list[Slots]:
        keys = np.asarray(words, np.uint32)
        nobody = _EMPTY.slots
        found = [nobody] * len(keys)
        for segment in self._index._segments:
            slots = segment.slots
            for word, start, end in segment.find(keys):
                before = found[word]
                found[word] = slots[start:end] if before is nobody else np.concatenate((before, slots[start:end]))
        if self.size == self.span:
            return found
        return [one if one is nobody else one[self._mask.take(one)] for one in found]

    def nearest(self, vector: Floats, *, model: str, limit: int) -> Nearest:
        space = self._index.space(model, self.connection)
        if space is None or space.dims != len(vector):
            return Nearest(np.empty(0, np.int32), np.empty(0, np.float32), 0.0, 0.0)
        return space.nearest(vector, self._seen_in(space, model), limit)

    def catch_up(self, model: str) -> None:
        """Read the vectors that were written since the last time."""
        space = self._index.space(model, self.connection)
        if space is not None:
            self._seen_in(space, model)

    def _seen_in(self, space: _Space, model: str) -> _Seen:
        seen = self._vectors.get(model)
        if seen is None or seen.last_row != space.last_row:
            seen = self._vectors[model] = space.seen_by(self._mask)
        return seen

    def similarity(self, vector: Floats, slots: Slots, *, model: str) -> Floats:
        space = self._index.space(model, self.connection)
        if space is None or space.dims != len(vector):
            return np.zeros(len(slots), np.float32)
        return space.similarity(vector, slots)

    def facts(self, slots: Slots) -> Facts:
        index = self._index
        return Facts(
            row=index._row.values.take(slots),
            session=index._session.values.take(slots),
            length=index._length.values.take(slots),
            at=index._at.values.take(slots),
            by_person=index._by_person.values.take(slots),
            by_agent=index._by_agent.values.take(slots),
            before=self._seen(index._before.values.take(slots)),
            after=self._seen(index._after.values.take(slots)),
        )

    def middles(self, slots: Slots, *, model: str) -> Floats:
        space = self._index.space(model, self.connection)
        if space is None:
            return np.zeros((len(slots), 1), np.float32)
        found = space.middles(*self._told_beside(slots), len(slots))
        found[found.any(axis=1)] -= self._seen_in(space, model).centre
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))
        return np.asarray(found / np.where(lengths, lengths, 1)[:, None], np.float32)

    def _told_beside(self, slots: Slots) -> tuple[Slots, NDArray[np.intp]]:
        """What tells what the conversation of each of these memories is about, one after the other, and of which each
        is: what persons said in it, or all where none did; of one that is of none itself."""
        index = self._index
        of = index._session.values[: self.span]
        sessions = of.take(slots)
        order = sessions.argsort(kind="stable")
        # A mark for each session: over all memories one look takes as long as anything else here.
        wanted = np.zeros(int(np.maximum.reduce(of, initial=0)) + 1, np.bool_)
        wanted[sessions[sessions >= 0]] = True
        told = (wanted.take(of, mode="clip") & self._mask).nonzero()[0]
        # What is of none, at -1, was taken for the first.
        told = told[of.take(told) >= 0]
        groups = order.take(sessions.take(order).searchsorted(of.take(told)))
        said = index._by_person.values.take(told)
        said = said | (np.bincount(groups, said, len(slots)).take(groups) == 0)
        told, groups = told[said], groups[said]
        many = np.bincount(groups, minlength=len(slots))
        order = groups.argsort(kind="stable")
        told, groups = told.take(order), groups.take(order)
        place = np.arange(len(told)) - (many.cumsum() - many).take(groups)
        kept = place % np.maximum(many // ENOUGH_OF_SESSION, 1).take(groups) == 0
        alone = (sessions < 0).nonzero()[0]
        told, groups = np.append(told[kept], slots.take(alone)), np.append(groups[kept], alone)
        order = groups.argsort(kind="stable")
        return told.take(order).astype(np.int32), groups.take(order)

    def share_between(self, start: float, end: float) -> float:
        # Of many, some thousand tell: of those that are seen here, whatever else there is.
        slots = self._mask.nonzero()[0]
        at = self._index._at.values.take(slots[:: 1 + len(slots) // _ENOUGH_TO_TELL])
        return float(np.count_nonzero((at >= start) & (at < end))) / max(len(at), 1)

    def neighbours(self, slots: Slots) -> Slots:
        index = self._index
        found = np.concatenate((index._before.values.take(slots), index._after.values.take(slots)))
        found = self._seen(found)
        return np.asarray(found[found != NO_SLOT], np.int32)

    def _seen(self, slots: Slots) -> Slots:
        """A neighbour that is out of scope is no neighbour."""
        if self.size == self.span:
            return slots
        # NO_SLOT is -1 and reads the last element of the mask, which is harmless: it stays what it is.
        return np.asarray(np.where(self._mask.take(slots), slots, NO_SLOT), np.int32)
