"""The order of the rooms. Read this first.

record:  event → guard → redaction → memory → words and vectors → store
brief:   ask → classify → intent → recall → gate → compose within budget → receipt
start:   session → classify → summaries and index, frozen for the session
compact: session → reduced plain text; what was said may be said again
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from foreword import compose, gate, receipts
from foreword.classify import agent_of, classify, is_owner
from foreword.errors import BadInput, ProviderError, UnknownId
from foreword.model import (
    Ask,
    Audience,
    Brief,
    Candidate,
    Event,
    Judged,
    Kind,
    Memory,
    Outcome,
    Recorded,
    Scope,
    Session,
    SessionClass,
    content_hash,
    row_of,
)
from foreword.providers import Embedder, Purpose, open_embedder
from foreword.recall import Query, bag, density, intent, passages, recall, understand
from foreword.record import check, check_time, clean, off_the_record, redact, take
from foreword.settings import Loaded, Settings, load
from foreword.store import Draft, Forgotten, SqliteStore, Store

DEFAULT_AGENT = "main"
_REBUILD_BATCH = 256
_REBUILD_DEADLINE_MS = 30_000
_BATCH_EVENTS = 256


@dataclass(frozen=True, slots=True)
class Found:
    """One search result: a memory and how sure Foreword is that it answers."""

    memory: Memory
    confidence: float
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an ask or event happens."""

    agent: str
    session: Session
    kind: SessionClass


class Foreword:
    """One open home. Safe to use from several threads; several processes may open the same home."""

    def __init__(
        self,
        store: Store,
        loaded: Loaded,
        embedder: Embedder | None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._loaded = loaded
        self._settings = loaded.settings
        self._embedder = embedder
        self._clock = clock
        self._rebuild: threading.Thread | None = None
        self._closing = threading.Event()
        self._embed_failure = ""

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        *,
        settings: Settings | Loaded | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Foreword:
        """Open a home, making it if it is missing. Without `settings`, the user's file and environment are read."""
        loaded = settings if isinstance(settings, Loaded) else Loaded(settings) if settings else load()
        folder = Path(home or loaded.settings.store.home).expanduser()
        embedder = open_embedder(loaded.settings.embedder, os.environ)
        opened = cls(SqliteStore(folder), loaded, embedder, clock=clock)
        if embedder is not None and opened._store.stale_rows(embedder.model, limit=1):
            opened._rebuild_vectors()
        return opened

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def warnings(self) -> Sequence[str]:
        """What was wrong with the settings, one sentence each."""
        return self._loaded.warnings

    # record

    def record(self, event: Event) -> Recorded:
        """Keep what an agent saw. When this returns `stored`, it is on disk. Raises BadInput and StoreError."""
        return next(self.record_all([event]))

    def record_all(self, events: Iterable[Event]) -> Iterator[Recorded]:
        """Keep many events; answers come in order, each after its batch is on disk. Batches end with the session. A bad
        event raises BadInput when all before it are kept and answered for."""
        pending: list[Event] = []
        for event in events:
            try:
                check(event, self._settings.record)
            except BadInput:
                if pending:
                    yield from self._record_batch(pending)
                raise
            if pending and (event.session != pending[0].session or event.agent != pending[0].agent):
                yield from self._record_batch(pending)
                pending = []
            pending.append(event)
            if len(pending) == _BATCH_EVENTS:
                yield from self._record_batch(pending)
                pending = []
        if pending:
            yield from self._record_batch(pending)

    def _record_batch(self, events: Sequence[Event]) -> list[Recorded]:
        outcomes: list[Recorded] = []
        drafts: list[Draft] = []
        session: Session | None = None
        for event in events:
            place = self._place(event.session, event.agent, event.sender, event.channel, event.project)
            taken = take(
                event,
                agent=place.agent,
                session=place.session.key,
                place=place.kind,
                by_owner=is_owner(event.sender, owner_ids=self._settings.owner.ids, channel=event.channel),
                now=self._clock(),
                settings=self._settings.record,
                guard=self._settings.guard,
                was_delivered=self._store.was_delivered,
                count_tokens=compose.count_tokens,
            )
            if taken.memory is None:
                outcomes.append(Recorded(Outcome.SKIPPED, reason=taken.reason, redactions=taken.redactions))
                continue
            if place.session.key:
                session = replace(place.session, started_at=taken.memory.at, last_at=taken.memory.at)
            drafts.append(self._draft(taken.memory, taken.fingerprint))
            outcomes.append(Recorded(Outcome.STORED, redactions=taken.redactions))
        written = iter(self._store.add(drafts, session)) if drafts else iter(())
        results = []
        for outcome in outcomes:
            if outcome.outcome is Outcome.SKIPPED:
                results.append(outcome)
                continue
            row = next(written)
            memory_id = f"m{row.row}"
            if row.created:
                results.append(replace(outcome, id=memory_id))
            else:
                results.append(
                    Recorded(Outcome.KNOWN, memory_id, f"It is already kept as {memory_id}.", outcome.redactions)
                )
        if drafts and (self._embedder is not None and not self._embedder.local):
            self._rebuild_vectors()
        return results

    def _draft(self, memory: Memory, fingerprint: str) -> Draft:
        words = bag(memory)
        draft = Draft(memory, fingerprint, words.words, words.counts, words.length)
        if self._embedder is not None and self._embedder.local:
            return replace(draft, model=self._embedder.model, vectors=self._embedder.embed(_embedded_text(memory)))
        return draft

    # brief

    def brief(self, ask: Ask) -> Brief:
        """What the model should be given with this message: the few things worth knowing, or nothing and why."""
        texts = (ask.text, ask.session, ask.agent, ask.sender, ask.channel, ask.project)
        if not all(isinstance(one, str) for one in texts):
            raise BadInput("An ask's text, session, agent, sender, channel and project must be strings.")
        check_time(ask.at)
        now = self._clock() if ask.at is None else ask.at
        steps = _Steps()
        place = self._place(ask.session, ask.agent, ask.sender, ask.channel, ask.project, ask.audience)
        understood = intent(redact(clean(ask.text)).text, self._settings.intent)
        turn = self._store.turn(replace(place.session, started_at=now, last_at=now))
        ask_hash = content_hash(ask.text)
        past = compose.Past(turn.asked_at, same_ask=ask_hash == turn.ask_hash, served=bool(turn.delivered))
        if compose.is_retry(past, now, self._settings.turn) and (
            again := self._again(turn.receipt, self._scope(place))
        ):
            return again
        receipt = self._receipt(place, now, understood.query)
        steps.done("understand", receipt)

        silence = (
            compose.excluded(place.agent, self._settings.turn)
            or compose.held_back(past, now, self._settings.turn)
            or understood.reason
        )
        composed = compose.Composed("", (), 0, silence)
        if not silence:
            candidates = self._recall(understood.query, place, now, receipt, steps)
            verdict = gate.judge(candidates, self._settings.gate)
            steps.done("gate", receipt)
            composed = compose.hot(verdict.chosen, turn.delivered, self._settings.compose)
            composed = replace(
                composed, reason=composed.reason if verdict.chosen and not composed.text else verdict.reason
            )
            rows = receipts.candidates_of(
                verdict, (memory.row for memory in composed.memories), dict(composed.left_out)
            )
            receipt["candidates"] = rows
            receipt["avoided"] = receipts.avoided_tokens(rows, self._settings.compose.max_memories)
            steps.done("compose", receipt)
        receipt["reason"] = composed.reason
        receipt["tokens"] = composed.tokens
        number = self._store.settle(
            turn,
            asked_at=now,
            ask_hash=ask_hash,
            delivered=[(memory.row, content_hash(memory.text)) for memory in composed.memories],
            receipt=receipt,
            block_hash=content_hash(composed.text) if composed.text else "",
        )
        return Brief(
            text=composed.text,
            memories=tuple(memory.id for memory in composed.memories),
            tokens=composed.tokens,
            reason=composed.reason,
            receipt=f"{receipts.PREFIX}{number}",
        )

    def _again(self, receipt_row: int, scope: Scope) -> Brief | None:
        """The brief of a retried ask, written again from its receipt: the host's model never saw the first one."""
        receipt = self._store.receipt(receipt_row)
        if receipt is None:
            return None
        shown = [one for one in receipt["candidates"] if one["injected"]]
        memories = {memory.row: memory for memory in self._store.get([one["row"] for one in shown], scope)}
        chosen = [
            Judged(
                Candidate(memories[one["row"]], one["score"], terms=tuple(one["terms"])), one["confidence"], True, ""
            )
            for one in shown
            if one["row"] in memories
        ]
        composed = compose.hot(chosen, (), self._settings.compose)
        return Brief(
            text=composed.text,
            memories=tuple(memory.id for memory in composed.memories),
            tokens=composed.tokens,
            reason=receipt["reason"],
            receipt=receipt["id"],
        )

    def _recall(self, text: str, place: _Place, now: float, receipt: dict[str, Any], steps: _Steps) -> list[Candidate]:
        query = self._query(text, now, receipt)
        steps.done("embed", receipt)
        candidates, in_scope = self._candidates(query, self._scope(place))
        receipt["in_scope"] = in_scope
        if query.span:
            receipt["time"] = query.span.words
        steps.done("recall", receipt)
        return candidates

    def _query(self, text: str, now: float, receipt: dict[str, Any] | None = None) -> Query:
        query = understand(text, now=now)
        if query.empty or self._embedder is None:
            return query
        try:
            deadline = None if self._embedder.local else self._settings.embedder.deadline_ms
            vector = self._embedder.embed([text], purpose=Purpose.QUERY, deadline_ms=deadline)[0]
        except ProviderError as error:
            if receipt is not None:
                receipt["notes"].append(f"Words alone answered: {error}")
            return query
        return replace(query, vector=vector, model=self._embedder.model) if vector.any() else query

    def _candidates(self, query: Query, scope: Scope, *, limit: int | None = None) -> tuple[list[Candidate], int]:
        with self._store.view(scope) as view:
            hits = recall(query, view, self._settings.recall, limit=limit)
            in_scope = view.size
        memories = {memory.row: memory for memory in self._store.get([hit.row for hit in hits], scope)}
        return [
            Candidate(
                memories[hit.row],
                hit.score,
                hit.lanes,
                replace(hit.signals, density=round(density(memories[hit.row].text, hit.weights), 4)),
                hit.terms,
            )
            for hit in hits
            if hit.row in memories
        ], in_scope

    def _receipt(self, place: _Place, now: float, query: str) -> dict[str, Any]:
        secret = off_the_record(place.agent, place.session.key, self._settings.guard)
        return {
            "agent": place.agent,
            "session": place.session.key,
            "kind": place.kind.kind.value,
            "audience": place.kind.audience.label,
            "at": now,
            "ask": "" if secret or not self._settings.record.enabled else query,
            "tokens": 0,
            "avoided": 0,
            "reason": "",
            "in_scope": 0,
            "thresholds": {"confident": self._settings.gate.confident, "floor": self._settings.gate.floor},
            "profile": self._settings.profile,
            "candidates": [],
            "notes": [place.kind.warning] if place.kind.warning else [],
            "ms": {},
        }

    # start and compact

    def start(
        self,
        session: str,
        *,
        agent: str = "",
        sender: str = "",
        channel: str = "",
        project: str = "",
        audience: Audience | None = None,
    ) -> Brief:
        """The stable part for a session: byte for byte the same until the session is compacted."""
        place = self._place(session, agent, sender, channel, project, audience)
        if reason := compose.excluded(place.agent, self._settings.turn):
            return Brief(reason=reason)
        if not self._settings.turn.at_start:
            return Brief(reason="nothing is loaded at session start in this mode")
        opened = self._opened(place)
        frozen = self._store.stable(opened)
        if frozen is None:
            composed = compose.stable(*self._index_of(place), self._settings.compose)
            frozen = self._store.freeze(opened, composed.text, [memory.row for memory in composed.memories])
        reason = "frozen for this session" if frozen else "there is nothing to list yet"
        return Brief(text=frozen, tokens=compose.count_tokens(frozen), reason=reason)

    def compact(
        self,
        session: str,
        *,
        agent: str = "",
        sender: str = "",
        channel: str = "",
        project: str = "",
        audience: Audience | None = None,
    ) -> Brief:
        """What should survive the host's compaction; afterwards memories may be said again in this session."""
        place = self._place(session, agent, sender, channel, project, audience)
        if reason := compose.excluded(place.agent, self._settings.turn):
            return Brief(reason=reason)
        composed = compose.compact(*self._index_of(place), self._settings.compose)
        self._store.compacted(self._opened(place))
        return Brief(composed.text, tuple(one.id for one in composed.memories), composed.tokens, composed.reason)

    def _index_of(self, place: _Place) -> tuple[list[Memory], list[Memory]]:
        scope, limits = self._scope(place), self._settings.compose
        summaries = self._store.recent(Kind.SUMMARY, scope, limit=limits.max_summaries, besides=place.session.key)
        entries = [
            memory
            for kind in (Kind.OBSERVATION, Kind.NOTE)
            for memory in self._store.recent(kind, scope, limit=limits.max_index_entries, besides=place.session.key)
        ]
        entries.sort(key=lambda memory: (-memory.at, -memory.row))
        return summaries, entries

    # search, get, forget

    def search(
        self, text: str, *, limit: int = 5, session: str = "", agent: str = "", sender: str = "", project: str = ""
    ) -> list[Found]:
        """Memories by meaning, best first, whatever the gate would say. Without session and agent the owner asks, and
        every agent's memories are searched."""
        if not isinstance(text, str):
            raise BadInput("The text to search for must be a string.")
        if limit < 1:
            raise BadInput(f"The limit is {limit}.", hint="Ask for at least one result.")
        place = self._place(session, agent, sender, "", project)
        scope = replace(self._scope(place), every_agent=not (session or agent), every_project=not project)
        query = self._query(redact(clean(text)).text[:2000], self._clock())
        candidates, _ = self._candidates(query, scope, limit=min(limit, 100))
        found = [Found(one.memory, gate.confidence(one.signals), one) for one in candidates]
        return sorted(found, key=lambda one: -one.confidence)

    def get(
        self,
        ids: Sequence[str],
        *,
        around: int = 0,
        whole_session: bool = False,
        session: str = "",
        agent: str = "",
        sender: str = "",
    ) -> list[Memory]:
        """Memories in full, with neighbours on request. Raises UnknownId for what does not exist or is not for the
        session that asks; without session and agent the owner asks."""
        scope = self._scope(self._place(session, agent, sender, "", "")) if session or agent else None
        rows = [row_of(one) for one in ids]
        found = {memory.row for memory in self._store.get(rows, scope)}
        missing = [one for one, row in zip(ids, rows, strict=True) if row not in found]
        if missing:
            raise UnknownId(f"There is no memory {', '.join(missing)} here.")
        if not around and not whole_session:
            return self._store.get(rows, scope)
        wider: dict[int, Memory] = {}
        for row in rows:
            for memory in self._store.around(row, reach=None if whole_session else around, scope=scope):
                wider[memory.row] = memory
        return list(wider.values())

    def forget(
        self,
        ids: Sequence[str] = (),
        *,
        session: str = "",
        agent: str = "",
        source_id: str = "",
        before: float | None = None,
    ) -> Forgotten:
        """Forget memories for good: by id, or all that match every given part. Leaves no byte behind."""
        memories = self.forgettable(ids, session=session, agent=agent, source_id=source_id, before=before)
        texts = {" ".join(memory.text.split()) for memory in memories}
        # The same words may have been an ask: what the receipt kept of it is what the intent left.
        texts |= {kept for memory in memories if (kept := intent(memory.text, self._settings.intent).query)}
        return self._store.forget([memory.row for memory in memories], texts=texts)

    def forgettable(
        self,
        ids: Sequence[str] = (),
        *,
        session: str = "",
        agent: str = "",
        source_id: str = "",
        before: float | None = None,
    ) -> list[Memory]:
        """What `forget` with the same arguments would take away."""
        rows = [row_of(one) for one in ids]
        rows += self._store.rows_of(session=session, agent=agent, source_id=source_id, before=before)
        found = self._store.get(rows)
        known = {memory.row for memory in found}
        if missing := [one for one in ids if row_of(one) not in known]:
            raise UnknownId(f"There is no memory {', '.join(missing)}.")
        return found

    def sessions(self, *, limit: int = 20, agent: str = "") -> list[Session]:
        return self._store.sessions(limit=limit, agent=agent)

    # receipts

    def receipt(self, receipt_id: str = "", *, session: str = "") -> dict[str, Any]:
        """One receipt, or the newest (of a session). Raises UnknownId."""
        if receipt_id:
            found = self._store.receipt(receipts.row_of(receipt_id))
        else:
            found = next(iter(self._store.receipts(limit=1, session=session)), None)
        if found is None:
            raise UnknownId(f"There is no receipt {receipt_id}." if receipt_id else "No turn has been taken yet.")
        return found

    def why(self, receipt_id: str = "", *, session: str = "") -> str:
        """Why a turn was answered as it was, for people."""
        receipt = self.receipt(receipt_id, session=session)
        memories = self._store.get([one["row"] for one in receipt["candidates"]])
        return receipts.explain(receipt, {memory.row: memory.text for memory in memories})

    def replay(self, *, last: int = 20, gate_policy: gate.GatePolicy | None = None) -> list[receipts.Replayed]:
        """The last turns judged again under another gate (by default the present one); nothing is changed."""
        policy = gate_policy or self._settings.gate
        replayed = []
        for receipt in self._store.receipts(limit=last):
            if not receipt["candidates"]:
                continue
            verdict = gate.judge(receipts.judged_again(receipt), policy)
            kept = [one["id"] for one in receipt["candidates"] if one["reason"] == compose.ALREADY_SAID]
            after = [one.candidate.memory.id for one in verdict.chosen if one.candidate.memory.id not in kept]
            replayed.append(
                receipts.Replayed(
                    receipt["id"],
                    receipt["ask"],
                    [one["id"] for one in receipt["candidates"] if one["injected"]],
                    after[: self._settings.compose.max_memories],
                    verdict.reason,
                )
            )
        return replayed

    # health

    def status(self) -> dict[str, Any]:
        census = self._store.census()
        settings = self._settings
        model = self._embedder.model if self._embedder else ""
        return {
            "memories": census.memories,
            "sessions": census.sessions,
            "by_agent": census.by_agent,
            "by_kind": census.by_kind,
            "by_audience": census.by_audience,
            "bytes": census.bytes,
            "turns": census.receipts,
            "silent_turns": census.silent,
            "tokens_injected": census.tokens_injected,
            "tokens_avoided": census.tokens_avoided,
            "profile": settings.profile,
            "embedder": {
                "model": model or "none",
                "embedded": census.vectors.get(model, 0),
                "waiting": census.memories - census.vectors.get(model, 0) if model else 0,
                "failure": self._embed_failure,
            },
            "excluded": {"capture": list(settings.guard.exclude_capture), "injection": list(settings.turn.exclude)},
            "warnings": list(self.warnings),
        }

    def check(self) -> list[str]:
        """What is wrong with the home, one sentence each."""
        return self._store.check()

    def rebuild_vectors(self, *, progress: Callable[[int], None] = lambda done: None) -> int:
        """Embed what the present model has not embedded yet; words answer meanwhile. Returns how many it did."""
        done = 0
        while self._embedder is not None and not self._closing.is_set():
            stale = self._store.stale_rows(self._embedder.model, limit=_REBUILD_BATCH)
            if not stale:
                if done:
                    self._store.keep_only_model(self._embedder.model)
                break
            parts = [_embedded_text(memory) for memory in stale]
            texts = [text for part in parts for text in part]
            vectors = iter(self._embedder.embed(texts, deadline_ms=_REBUILD_DEADLINE_MS))
            self._store.put_vectors(
                self._embedder.model,
                [(one.row, np.stack(list(islice(vectors, len(part))))) for one, part in zip(stale, parts, strict=True)],
            )
            done += len(stale)
            progress(done)
        return done

    def _rebuild_vectors(self) -> None:
        """The same in the background: one thread, gone when it is done."""
        if self._rebuild is not None and self._rebuild.is_alive():
            return

        def work() -> None:
            try:
                self.rebuild_vectors()
                self._embed_failure = ""
            except ProviderError as error:
                self._embed_failure = str(error)

        self._rebuild = threading.Thread(target=work, name="foreword-vectors", daemon=True)
        self._rebuild.start()

    def close(self) -> None:
        self._closing.set()
        if self._rebuild is not None:
            # It stops after its batch; one that waits for a slow provider has its own connection and may be left.
            self._rebuild.join(timeout=2)
        self._store.close()

    def __enter__(self) -> Foreword:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # where things happen

    def _place(
        self,
        session: str,
        agent: str,
        sender: str,
        channel: str,
        project: str,
        audience: Audience | None = None,
    ) -> _Place:
        key = _name(session)
        agent = _name(agent) or agent_of(key) or DEFAULT_AGENT
        owners = self._settings.owner.ids
        kind = classify(key, sender=_name(sender), owner_ids=owners)
        if audience is not None:
            # A host may know of more listeners than the key tells, never of fewer.
            kind = replace(kind, audience=max(kind.audience, audience))
        usual = classify(key, owner_ids=owners)
        if (kind.audience, kind.circle) != (usual.audience, usual.circle):
            # Others listen in than the key says: a conversation of its own, which shares nothing with the usual one.
            key = f"{key}|{kind.audience.label}:{kind.circle}"
        return _Place(
            agent,
            Session(key, agent, kind.kind, kind.audience, kind.circle, _name(project), _name(channel)),
            kind,
        )

    def _opened(self, place: _Place) -> Session:
        now = self._clock()
        return replace(place.session, started_at=now, last_at=now)

    def _scope(self, place: _Place) -> Scope:
        return Scope(
            agent=place.agent,
            audience=place.kind.audience,
            circle=place.kind.circle,
            project=place.session.project,
            every_agent=self._settings.owner.share_agents,
            every_project=self._settings.owner.share_projects,
        )


class _Steps:
    """How long each step of a turn took."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def done(self, name: str, receipt: dict[str, Any]) -> None:
        now = time.perf_counter()
        receipt["ms"][name] = round((now - self._last) * 1000, 3)
        self._last = now


@lru_cache(maxsize=1024)
def _name(text: str) -> str:
    """A key or a name as it is kept: a secret in one would reach the disk like any other."""
    return redact(clean(text)).text.strip()[:500]


def _embedded_text(memory: Memory) -> list[str]:
    """The passages a memory is embedded as. The speaker's name and the title belong to each passage's meaning."""
    about = ": ".join(part for part in (memory.sender, memory.title) if part)
    return [f"{about}: {passage}" if about else passage for passage in passages(memory.text)]
