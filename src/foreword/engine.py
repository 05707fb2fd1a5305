"""The order of the rooms. Read this first.

record:  event → guard → redaction → memory → words and vectors → store
brief:   ask → classify → intent → recall → gate → compose within budget → lanes → receipt
start:   session → classify → summaries and index, frozen for the session; sessions are told when they rest
compact: session → reduced plain text; what was said may be said again
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Unpack

from foreword import bootstrap, compose, gate, lanes, receipts
from foreword.classify import topic_of
from foreword.delivery import Delivery
from foreword.errors import BadInput, ProviderError, UnknownId
from foreword.model import (
    Ask,
    Brief,
    Candidate,
    Event,
    Feedback,
    Kind,
    Memory,
    Origin,
    Outcome,
    Recorded,
    Scope,
    Session,
    SessionKind,
    Signals,
    content_hash,
    row_of,
    runs_of,
)
from foreword.place import DEFAULT_AGENT, Place, Where, in_project, kept, place_of, scope_of
from foreword.providers import Embedder, open_embedder, open_writer
from foreword.reading import signals_of
from foreword.recall import (
    Hit,
    Query,
    asks_the_same,
    bag,
    by_relevance,
    intent,
    may_follow,
    recall,
    replaces,
    sketch,
    spread,
    tells_change,
    understand,
)
from foreword.recent import Answered, Decided, Recent, fingerprint
from foreword.record import check, check_time, clean, off_the_record, own_words, redact, take
from foreword.settings import Loaded, Settings, load
from foreword.store import Day, Draft, Forgotten, Frozen, Mark, SqliteStore, Store, Turn, Written
from foreword.summaries import Summaries
from foreword.values import dataclass
from foreword.vaults import Vaults
from foreword.vectors import Vectors

_BATCH_EVENTS = 256
_TURN_LOCKS = 64
# Of the time a host waits, a remote model is given this share; then words answer alone.
_SHARE_OF_MODEL = 0.5
_MOST_RESULTS = 100
_LOOKED_THROUGH = 1000
_MOST_NEIGHBOURS = 1000
_MOST_LISTED = 1_000_000
_TO_JUDGE = 10
_TOLD_AT_ONCE = 20
_WEIGHED_AT_ONCE = 50
# The next ask may be about to come; what a turn left to be weighed is one or two, and a backlog can wait for a rest.
_WEIGHED_AFTER_A_TURN = 4
_DAY_S = 86_400.0
# What an index lists, and how far back it looks for what a session is about.
_LISTED = (Kind.OBSERVATION, Kind.NOTE)
_LOOKED_BACK = 8
# How long what was found for a message waits for its prompt: a host may be busy with the one before.
_AHEAD_S = 30.0
_LAID_READY = "it was laid ready when the message came"
# Among how many of the best candidates the sure ones are looked for that may lead to others.
_LIKELY = 5
# The intent of an ask is read from its beginning; redacting a megabyte of pasted log first would take seconds.
_READ_CHARS = 40_000
# Why a candidate that passed was left out: no setting of the gate changes that.
_LEFT_OUT = (compose.ALREADY_SAID, compose.NO_ROOM, compose.ALONE)


@dataclass(frozen=True, slots=True)
class Found:
    """One search result: a memory and how sure Foreword is that it answers."""

    memory: Memory
    confidence: float
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the feedback on the last turns speaks for, and the turns that would be answered otherwise: `before` is what
    the present settings give, `after` what the proposed ones would. `to_judge` are the newest of which nobody said
    anything, while too few are judged; `older` judged turns were not looked at."""

    proposal: gate.Proposal
    changed: Sequence[receipts.Replayed]
    to_judge: Sequence[receipts.Replayed]
    turns: int
    older: int


@dataclass(frozen=True, slots=True)
class WorkspaceFiles:
    """What a session gets of its workspace. `keep` are names among those that the host loaded, `add` what it did not;
    `missing` should be there and is not; `shed` was used in this conversation and is not sent again. `tokens` has what
    each file costs, those that are left out too. `context_file` is where the file lane writes for this session, ""
    where it does not."""

    kind: SessionKind
    enabled: bool
    reason: str
    keep: Sequence[str]
    add: Sequence[bootstrap.WorkspaceFile] = ()
    missing: Sequence[str] = ()
    shed: Sequence[str] = ()
    tokens: Mapping[str, int] = field(default_factory=dict)
    problems: Sequence[str] = ()
    context_file: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceContext:
    """The workspace files of one kind of session; `missing` are those of its set that are not there."""

    kind: SessionKind
    enabled: bool
    files: Sequence[bootstrap.Listed]
    missing: Sequence[str]
    problems: Sequence[str]

    @property
    def before_tokens(self) -> int:
        return sum(one.tokens for one in self.files if one.before)

    @property
    def after_tokens(self) -> int:
        return sum(one.tokens for one in self.files if one.after)


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
        self._settings_hash = hash(loaded.settings)
        self._clock = clock
        self._home: Path | None = None
        self._vectors = Vectors(store, embedder, deadline_ms=loaded.settings.embedder.deadline_ms)
        # Two asks of one session at once must not both be given the same memory; other sessions need not wait.
        self._turns = tuple(threading.Lock() for _ in range(_TURN_LOCKS))
        self._recent = Recent()
        self._delivery = Delivery(store, clock)
        self._summaries = Summaries(store, compose.count_tokens)
        settings = loaded.settings
        self.vaults = Vaults(store, self._vectors, settings.vaults, recording=settings.record.enabled, clock=clock)

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
        opened._home = folder
        opened._vectors.follow()
        return opened

    def under(self, loaded: Loaded) -> Foreword:
        """The same open home under other settings, such as a project's own; closed with this one."""
        other = copy(self)
        other._loaded, other._settings, other._settings_hash = loaded, loaded.settings, hash(loaded.settings)
        return other

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
        """Keep many events; answers come in order, each after its batch is on disk. A bad event raises BadInput when
        all before it are kept and answered for."""
        pending: list[tuple[Event, Place]] = []
        for event in events:
            try:
                check(event, self._settings.record)
                where = Where(agent=event.agent, sender=event.sender, channel=event.channel, project=event.project)
                place = place_of(event.session, where, self._settings.owner)
            except BadInput:
                yield from self._record_batch(pending)
                raise
            if len(pending) == _BATCH_EVENTS:
                yield from self._record_batch(pending)
                pending = []
            pending.append((event, place))
        yield from self._record_batch(pending)

    def _record_batch(self, events: Sequence[tuple[Event, Place]]) -> list[Recorded]:
        """Events of any conversations, in one transaction."""
        outcomes: list[Recorded] = []
        drafts: list[tuple[Draft, Place]] = []
        for event, place in events:
            taken = take(
                event,
                agent=place.agent,
                session=place.session.key,
                host_key=place.host_key,
                project=place.session.project,
                place=place.kind,
                by_owner=place.by_owner,
                now=self._clock(),
                settings=self._settings.record,
                guard=self._settings.guard,
                was_delivered=self._store.was_delivered,
                count_tokens=compose.count_tokens,
            )
            if taken.memory is None:
                outcomes.append(Recorded(Outcome.SKIPPED, reason=taken.reason, redactions=taken.redactions))
                continue
            words = bag(taken.memory)
            draft = Draft(taken.memory, taken.fingerprint, words.words, words.counts, words.length)
            drafts.append((self._vectors.on(replace(draft, sketch=sketch(taken.memory))), place))
            outcomes.append(Recorded(Outcome.STORED, redactions=taken.redactions))
        if not drafts:
            return outcomes
        written = iter(self._add(drafts))
        for number, outcome in enumerate(outcomes):
            if outcome.outcome is Outcome.SKIPPED:
                continue
            row = next(written)
            memory_id = f"m{row.row}"
            outcomes[number] = replace(outcome, id=memory_id)
            if not row.created:
                reason = f"It is already kept as {memory_id}."
                outcomes[number] = Recorded(Outcome.KNOWN, memory_id, reason, outcome.redactions)
        self._vectors.follow()
        return outcomes

    def _add(self, drafts: Sequence[tuple[Draft, Place]]) -> list[Written]:
        written: list[Written] = []
        with self._store.together():
            # As they came: what was said last is the newest row, whatever else was said meanwhile.
            for _, several in groupby(drafts, key=lambda one: _conversation(one[1])):
                run = list(several)
                first, session = run[0][0].memory.at, run[0][1].session
                opened = replace(session, started_at=first, last_at=first) if session.key else None
                written += self._store.add([draft for draft, _ in run], opened)
        return written

    # brief

    def brief(self, ask: Ask, *, deadline_ms: float | None = None) -> Brief:
        """What the model should be given with this message: the few things worth knowing, or nothing and why. After
        `deadline_ms` nobody listens any more: then nothing is given, nothing counts as said, and the receipt tells.
        Asked `ahead`, it gives nothing yet and leaves no receipt: the same ask finds it ready, unless anything happened
        meanwhile. Raises BadInput and StoreError."""
        patience = _Patience(None if ask.ahead else deadline_ms)
        if not all(isinstance(one, str) for one in (ask.text, ask.trigger, ask.provenance)):
            raise BadInput("An ask's text, trigger and provenance must be strings.")
        check_time(ask.at)
        now = self._clock() if ask.at is None else ask.at
        where = Where(
            agent=ask.agent, sender=ask.sender, channel=ask.channel, project=ask.project, audience=ask.audience
        )
        place = place_of(ask.session, where, self._settings.owner)
        conversation = _conversation(place)
        text = ask.text[:_READ_CHARS]
        with self._turns[hash(conversation) % _TURN_LOCKS]:
            try:
                if ask.workspace:
                    self._delivery.learn(place, ask.workspace, self._settings.lanes, patience.left_ms)
                turn = self._store.turn(replace(place.session, started_at=now, last_at=now))
                self._notice(turn.mark)
                runs = runs_of(place.host_key, ask.trigger, ask.provenance)
                excluded = compose.excluded(place.agent, runs, self._settings.turn)
                asked = fingerprint(
                    clean(text), place, self._settings_hash, holds_session=ask.holds_session, excluded=excluded
                )
                known = self._recent.of(conversation)
                at_hand = known if known and known.ask == asked and self._still_true(known, turn, place, now) else None
                if at_hand and at_hand.brief:
                    file, _ = self._delivery.put(place, at_hand.shown, self._settings.lanes, patience.left_ms)
                    if file:
                        self._taken_back(place, at_hand.shown, turn.mark)
                    return at_hand.brief
                decided = at_hand.ahead if at_hand else None
                if decided is None:
                    since = turn.since if ask.holds_session else None
                    own = own_words(redact(clean(text)).text)
                    decided = self._decide(own, place, turn, now, patience, since, excluded)
                elif not ask.ahead:
                    notes = [*decided.receipt["notes"], _LAID_READY]
                    decided = replace(decided, receipt={**decided.receipt, "notes": notes})
                keep_s = max(self._settings.turn.repeat_ms / 1000, _AHEAD_S)
                if ask.ahead:
                    waiting = Answered(asked, now, turn.mark, (turn.epoch, turn.receipt), ahead=decided)
                    self._recent.keep(conversation, waiting, for_s=keep_s)
                    return Brief(reason="laid ready for the prompt of this message")
                if late := patience.over():
                    decided = self._silenced(decided, late)
                brief = self._settle(decided, place, turn, now, patience)
            except BaseException:
                # A file with another turn's memories is worse than an empty one.
                self._delivery.empty(place, self._settings.lanes)
                raise
            last = (turn.epoch, receipts.row_of(brief.receipt))
            said = Answered(asked, now, turn.mark, last, brief, shown=decided.shown)
            self._recent.keep(conversation, said, for_s=keep_s)
            return brief

    def _decide(
        self,
        text: str,
        place: Place,
        turn: Turn,
        now: float,
        patience: _Patience,
        since: int | None,
        excluded: str,
    ) -> Decided:
        """With `since`, what the session recorded after that row is still before the model; `excluded` is why nothing
        is given whatever is found."""
        steps = _Steps()
        understood = intent(text, self._settings.intent)
        secret = self._settings.record.enabled is False or bool(
            off_the_record(place.agent, place.host_key, self._settings.guard)
        )
        # Made of redacted words, and of none that may not be kept: a hash of a short secret can be guessed.
        ask_hash = "" if secret else content_hash(text)
        same = bool(ask_hash) and ask_hash == turn.ask_hash
        past = compose.Past(turn.asked_at, same_ask=same, served=bool(turn.delivered))
        delivered = turn.delivered
        if compose.is_retry(past, now, self._settings.turn):
            # The host's model never saw the first answer: the turn is taken again, as if it had not been.
            delivered -= self._given_by(turn.receipt)
            past = compose.Past(served=bool(delivered))
        receipt = self._receipt(place, now, understood.query)
        steps.done("understand", receipt)

        silence = excluded or compose.held_back(past, now, self._settings.turn) or understood.reason
        composed = compose.Composed("", (), 0, silence)
        if not silence:
            candidates = self._recall(understood.query, place, now, receipt, steps, patience)
            if since is not None:
                delivered |= {one.memory.row for one in candidates if _said_in(place, one.memory, since)}
            verdict = gate.judge(candidates, self._settings.gate)
            delivered |= {
                one.candidate.memory.row for one in verdict.chosen if asks_the_same(one.candidate.memory.text, text)
            }
            steps.done("gate", receipt)
            composed = compose.hot(verdict.chosen, delivered, self._settings.compose)
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
        if secret:
            receipts.without_words(receipt)
        return Decided(
            composed.text,
            composed.memories,
            composed.tokens,
            composed.reason,
            ask_hash,
            receipt,
            understood.query,
            # What may not be kept is written nowhere: then the file is empty, and the host alone is given it.
            shown=() if secret else composed.shown,
        )

    def _silenced(self, decided: Decided, reason: str) -> Decided:
        """Nobody listens any more: nothing is given, and nothing counts as said."""
        rows = [{**one, "injected": False} for one in decided.receipt["candidates"]]
        avoided = receipts.avoided_tokens(rows, self._settings.compose.max_memories)
        receipt = {**decided.receipt, "candidates": rows, "avoided": avoided, "reason": reason, "tokens": 0}
        return replace(decided, text="", memories=(), tokens=0, reason=reason, receipt=receipt, shown=())

    def _settle(self, decided: Decided, place: Place, turn: Turn, now: float, patience: _Patience) -> Brief:
        """From here on it counts as said."""
        file, trouble = self._delivery.put(place, decided.shown, self._settings.lanes, patience.left_ms)
        notes = [*decided.receipt["notes"], *([trouble] if trouble else ())]
        number = self._store.settle(
            turn,
            asked_at=now,
            ask_hash=decided.ask_hash,
            delivered=[(memory.row, content_hash(memory.text)) for memory in decided.memories],
            receipt={**decided.receipt, "at": now, "notes": notes},
            block_hash=content_hash(decided.text) if decided.text else "",
            wait_ms=patience.left_ms,
        )
        noted = self._delivery.note(place, decided.shown, decided.query, now, self._settings.lanes)
        if (file or noted) and self._taken_back(place, decided.shown, turn.mark):
            file = ""
        return Brief(
            text="" if file and self._settings.lanes.hot == "file" else decided.text,
            memories=tuple(memory.id for memory in decided.memories),
            tokens=decided.tokens,
            reason=decided.reason,
            receipt=f"{receipts.PREFIX}{number}",
            file=file,
        )

    def _taken_back(self, place: Place, shown: Sequence[compose.Snippet], since: Mark) -> bool:
        """Whether anything was forgotten while this was being written: whoever forgot it may have looked before it was
        there, so it goes again."""
        if self._store.turn(place.session).mark.forgets == since.forgets:
            return False
        self._delivery.empty(place, self._settings.lanes)
        self._delivery.forget(self._delivery.workspaces(), {one.memory.row for one in shown}, ())
        return True

    def _notice(self, mark: Mark) -> None:
        """Something was forgotten, here or by another process: its words go from memory as well."""
        if self._recent.forgets != mark.forgets:
            self._recent.forgets = mark.forgets
            self._recent.clear()
            compose.forget_counts()

    def catch_up(self) -> None:
        """Read what was recorded since the last ask, for the next one of the same scope: between turns there is time,
        on a turn there is not."""
        if self._recent.scope is not None:
            self._store.catch_up(self._recent.scope, self._vectors.model)
        self.weigh(limit=_WEIGHED_AFTER_A_TURN)

    def _given_by(self, receipt_row: int) -> frozenset[int]:
        receipt = self._store.receipt(receipt_row)
        return frozenset(one["row"] for one in receipt["candidates"] if one["injected"]) if receipt else frozenset()

    def _still_true(self, answered: Answered, turn: Turn, place: Place, now: float) -> bool:
        """Whether the very same ask may be given what it was given a moment ago, or what was found ahead of it: unless
        anything happened since that may change it, as another ask, a compaction, a memory in scope, something
        forgotten. A silence that was said is decided anew."""
        if answered.brief and not answered.brief.memories:
            return False
        if not 0 <= now - answered.at < (self._settings.turn.repeat_ms / 1000 if answered.brief else _AHEAD_S):
            return False
        if turn.session.key and answered.turn != (turn.epoch, turn.receipt):
            return False
        if turn.session.key and answered.brief and not turn.ask_hash:
            return False
        return self._store.unchanged(answered.mark, scope_of(place, self._settings.owner))

    def _recall(
        self, text: str, place: Place, now: float, receipt: dict[str, Any], steps: _Steps, patience: _Patience
    ) -> list[Candidate]:
        query = understand(text, now=now)
        try:
            query = self._vectors.of(query, within_ms=patience.share_ms(_SHARE_OF_MODEL))
        except ProviderError as error:
            receipt["notes"].append(f"Words alone answered: {error}")
        steps.done("embed", receipt)
        self._recent.scope = scope_of(place, self._settings.owner)
        candidates, in_scope = self._candidates(query, self._recent.scope)
        receipt["in_scope"] = in_scope
        if query.span:
            receipt["time"] = query.span.words
        steps.done("recall", receipt)
        return candidates

    def _candidates(
        self, query: Query, scope: Scope, *, limit: int | None = None, thorough: bool = False
    ) -> tuple[list[Candidate], int]:
        found, in_scope = self._found(query, scope, limit=limit)
        signals = signals_of(query.text, found, self._settings.gate, thorough=thorough)
        candidates = [
            Candidate(memory, hit.score, hit.lanes, one, hit.terms)
            for (hit, memory), one in zip(found, signals, strict=True)
        ]
        return self._linked(candidates, query, scope)[:limit], in_scope

    def _found(self, query: Query, scope: Scope, *, limit: int | None = None) -> tuple[list[tuple[Hit, Memory]], int]:
        with self._store.view(scope) as view:
            hits = recall(query, view, self._settings.recall, limit=limit)
            in_scope = view.size
        memories = {memory.row: memory for memory in self._store.get([hit.row for hit in hits], scope)}
        return [(hit, memories[hit.row]) for hit in hits if hit.row in memories], in_scope

    def _linked(self, candidates: Sequence[Candidate], query: Query, scope: Scope) -> list[Candidate]:
        """The candidates with the links that lead from the sure ones to others, and behind them what only a link leads
        to. Where nothing is sure, nothing is linked: the gate would not let it pass."""
        most = self._settings.recall.associated
        sure = gate.lenders(candidates[:_LIKELY], self._settings.gate) if most else []
        if not sure:
            return list(candidates)
        with self._store.view(scope) as view:
            reached = spread([one.memory for one in sure], (term.text for term in query.terms), view)
        known = {one.memory.row: one.memory for one in candidates}
        new = self._store.get([row for row in reached if row not in known], scope)
        follow = [memory.row for memory in (*known.values(), *new) if memory.row in reached and may_follow(memory)]
        links = {row: reached[row] for row in sorted(follow, key=lambda row: -reached[row].share)[:most]}
        last = min(one.score for one in candidates)
        return [
            replace(one, link=link, lanes={**one.lanes, "links": link.share})
            if (link := links.get(one.memory.row))
            else one
            for one in candidates
        ] + [
            Candidate(memory, last * link.share, {"links": link.share}, Signals(names=0.0), link=link)
            for memory in new
            if (link := links.get(memory.row))
        ]

    def _receipt(self, place: Place, now: float, query: str) -> dict[str, Any]:
        return {
            "agent": place.agent,
            "session": place.session.key,
            "project": place.session.project,
            "kind": place.kind.kind.value,
            "audience": place.kind.audience.label,
            "at": now,
            "ask": query,
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

    def start(self, session: str, *, text: str = "", files: Sequence[str] = (), **where: Unpack[Where]) -> Brief:
        """The stable part for a session: byte for byte the same until the session is compacted. Its index begins with
        what has to do with the ask (`text`) and the files in play, as far as they are told or the session knows them;
        without any, with what is newest."""
        if not isinstance(text, str) or not all(isinstance(one, str) for one in files):
            raise BadInput("The text and the files that a session starts with must be strings.")
        ask = _Doing(text, tuple(files))
        place = place_of(session, where, self._settings.owner)
        if reason := compose.excluded(place.agent, runs_of(place.host_key), self._settings.turn):
            return Brief(reason=reason)
        if not self._settings.turn.at_start:
            return Brief(reason="nothing is loaded at session start in this mode")
        frozen = self._frozen(place, ask) if place.session.key else self._stable(place, ask)
        reason = "frozen for this session" if frozen.text else "there is nothing to list yet"
        return Brief(text=frozen.text, tokens=compose.count_tokens(frozen.text), reason=reason)

    def _frozen(self, place: Place, doing: _Doing) -> Frozen:
        """The stable part kept for the session, as long as whoever asks now may see all of it; else a new one."""
        session = in_project(self._opened(place))
        while True:
            present = self._store.stable(session)
            if present is not None:
                seen = self._store.get(present.rows, scope_of(place, self._settings.owner))
                if len(seen) == len(present.rows):
                    return present
            made = self._stable(place, doing)
            if self._store.freeze(session, made, instead_of=present) == made:
                return made

    def _stable(self, place: Place, doing: _Doing) -> Frozen:
        settings = self._settings.compose
        if self._settings.summary.enabled:
            # Whoever begins a session has often just ended one, which nobody has told yet.
            self._summaries.make(
                before=self._clock(),
                limit=settings.max_summaries,
                agent=place.agent,
                besides=place.session.key,
                # A model that is to tell it comes later; here nobody waits for one.
                settled=not self._settings.summary.by_writer,
            )
        limits = compose.halved(settings) if place.kind.kind is SessionKind.SUBAGENT else settings
        composed = compose.stable(*self._index_of(place, doing), limits)
        return Frozen(composed.text, tuple(memory.row for memory in composed.memories))

    def compact(self, session: str, **where: Unpack[Where]) -> Brief:
        """What should survive the host's compaction; afterwards memories may be said again in this session."""
        place = place_of(session, where, self._settings.owner)
        if reason := compose.excluded(place.agent, frozenset(), self._settings.turn):
            return Brief(reason=reason)
        composed = compose.compact(*self._index_of(place, _Doing()), self._settings.compose)
        if place.session.key:
            self._store.compacted(
                replace(self._opened(place), key=place.host_key),
                block_hash=content_hash(composed.text),
                rows=[memory.row for memory in composed.memories],
            )
        return Brief(composed.text, tuple(one.id for one in composed.memories), composed.tokens, composed.reason)

    def summarise(self, *, resting: bool = True, limit: int = _TOLD_AT_ONCE) -> int:
        """Tell sessions that hold something untold, the latest first: those that rest, or all. Returns how many were
        looked at, 0 when all is told."""
        if not self._settings.summary.enabled:
            return 0
        settings, now = self._settings.summary, self._clock()
        return self._summaries.make(
            before=now - settings.idle_minutes * 60 if resting else now,
            limit=limit,
            writer=lambda: open_writer(self._settings.writer, os.environ),
            max_tokens_a_day=settings.max_tokens_a_day if settings.by_writer else 0,
            day=time.strftime("%Y-%m-%d", time.localtime(now)),
        )

    def weigh(self, *, limit: int = _WEIGHED_AT_ONCE) -> int:
        """Mark what new statements have made outdated. Returns how many new memories were looked at, 0 when all are."""
        news = self._store.unweighed(limit=limit)
        successors: dict[int, int] = {}
        for new in filter(tells_change, news):
            scope = Scope(new.agent, new.audience, new.circle, new.project)
            about, _ = self._found(understand(new.text[:2000], now=new.at), scope)
            successors |= {memory.row: new.row for _, memory in about if replaces(new, memory)}
        if news:
            self._store.weighed(news[-1].row, successors)
        return len(news)

    def retire(self) -> Forgotten:
        """Forget for good what is kept no longer than the settings say."""
        old = self.retirable()
        # Asks that quote them are other turns', and go by themselves.
        return self._erase({row_of(one) for one in old}, set()) if old else Forgotten()

    def retirable(self) -> list[str]:
        """What `retire` would take away. It changes with the day, no oftener: forgetting writes the file anew."""
        today = self._clock() // _DAY_S * _DAY_S
        return [
            f"m{row}"
            for kind, days in self._settings.retention.days.items()
            if days
            for row in self._store.rows_of(kind=kind, before=today - days * _DAY_S)
        ]

    def _index_of(self, place: Place, doing: _Doing) -> tuple[list[Memory], list[Memory]]:
        scope, limits, here = scope_of(place, self._settings.owner), self._settings.compose, place.session.key
        summaries = self._store.recent(Kind.SUMMARY, scope, limit=limits.max_summaries, besides=here)
        recent = [
            memory
            for kind in _LISTED
            for memory in self._store.recent(kind, scope, limit=limits.max_index_entries, besides=here)
        ]
        doing = self._known(doing, place, scope)
        sure = self._sure_of(doing.text, scope, here)
        entries = {memory.row: memory for memory in (*recent, *(found for found, _ in sure))}
        by_row = {memory.row: confidence for memory, confidence in sure}
        return summaries, by_relevance(list(entries.values()), by_row, doing.files)

    def _known(self, doing: _Doing, place: Place, scope: Scope) -> _Doing:
        """What a session that is under way is about, where nobody says: its last message and the files it touched."""
        here = place.session.key
        if not here or doing.text:
            return doing
        said = self._store.recent(Kind.MESSAGE, scope, limit=_LOOKED_BACK, within=here)
        seen = self._store.recent(Kind.OBSERVATION, scope, limit=_LOOKED_BACK, within=here)
        text = next((one.text for one in said if one.origin.said_by_a_person), "")
        return _Doing(text, doing.files or tuple(dict.fromkeys(file for one in seen for file in one.files)))

    def _sure_of(self, text: str, scope: Scope, besides: str) -> list[tuple[Memory, float]]:
        """What may be listed and has to do with a text, with how sure that is; what was said since counts, not what it
        made outdated."""
        asked = intent(redact(clean(text[:_READ_CHARS])).text, self._settings.intent).query
        if not asked:
            return []
        query = understand(asked, now=self._clock())
        found, _ = self._candidates(query, scope, limit=_MOST_RESULTS)
        return [
            (one.memory, gate.confidence(one.signals))
            for one in found
            if one.memory.kind in _LISTED
            and not one.memory.successor
            and not (besides and one.memory.session == besides)
        ]

    def bootstrap(
        self, session: str, workspace: str | Path, loaded: Sequence[str], **where: Unpack[Where]
    ) -> WorkspaceFiles:
        """Which of the workspace files a session of this kind gets: what to keep of those that the host has loaded, and
        what to add, with its text. Switched off, all is kept as it is and no file is read: a turn waits for this."""
        place = place_of(session, where, self._settings.owner)
        kind, settings = place.kind.kind, self._settings.bootstrap
        file = self._begun(place, str(Path(workspace).expanduser())) if self._settings.lanes.to_disk else ""
        warnings = [place.kind.warning] if place.kind.warning else []
        if not settings.enabled:
            chosen = bootstrap.left_to_the_host(kind, loaded, settings)
            return WorkspaceFiles(
                kind=kind,
                enabled=len(chosen.names) < len({*loaded}),
                reason=chosen.reason,
                keep=chosen.names,
                problems=warnings,
                context_file=file,
            )
        chosen = bootstrap.choose(kind, place.agent, topic_of(place.host_key), settings)
        folder = Path(workspace).expanduser()
        # What a context file holds is for whoever asked last in this workspace, and at bootstrap no host tells who asks
        # now. So it is never read here: what is for this turn goes beside the message.
        beside = [name for name in chosen.names if lanes.is_context_file(name)]
        wanted = dict.fromkeys(name for name in (*loaded, *chosen.names) if name not in beside)
        stale = self._refreshed(folder, wanted)
        present = {one.name: one for one in bootstrap.read(folder, wanted)}
        reason = chosen.reason + "".join(f"; what {name} would hold comes beside the message" for name in beside)
        found = [present[name] for name in dict.fromkeys(chosen.names) if name in present]
        shed = self._shed(place, {one.name: one.text for one in found if one.text is not None}) if settings.shed else {}
        reason += "".join(f"; {name} was used by saying {fact}, and is not sent again" for name, fact in shed.items())
        found = [one for one in found if one.name not in shed]
        problems = [one.problem for one in present.values() if one.problem] + [*warnings, *filter(None, [stale])]
        return WorkspaceFiles(
            kind=kind,
            enabled=True,
            reason=reason,
            keep=tuple(one.name for one in found if one.name in loaded),
            add=tuple(one for one in found if one.name not in loaded and one.text is not None),
            missing=tuple(one.name for one in found if one.text is None),
            shed=tuple(shed),
            tokens={one.name: compose.count_tokens(one.text) for one in present.values() if one.text is not None},
            problems=tuple(problems),
            context_file=file,
        )

    def _shed(self, place: Place, files: Mapping[str, str]) -> dict[str, str]:
        """The files that the conversation, as the host's model has it since its last compaction, has used."""
        since = self._store.turn(replace(place.session, key=place.host_key)).since
        rows = self._store.rows_of(session=place.host_key, agent=place.agent) if place.host_key else []
        messages = self._store.get([row for row in rows if row > since][-_MOST_NEIGHBOURS:])
        said = [bootstrap.Said(one.at, one.text, one.origin is Origin.AGENT) for one in messages]
        pause_s = self._settings.bootstrap.shed_pause_minutes * 60
        return bootstrap.used(files, said, now=self._clock(), pause_s=pause_s)

    def _refreshed(self, workspace: Path, wanted: Collection[str]) -> str:
        """Why TOOLS_COMPACT.md is older than TOOLS.md, where it is wanted and could not be made again; else ""."""
        if bootstrap.COMPACT_TOOLS not in wanted or self._home is None or not workspace.is_dir():
            return ""
        from foreword import upkeep  # brings all of wisdom along, and no brief waits for that

        return upkeep.Upkeep(self._home, workspace, clock=self._clock).refresh_tools()

    def context(self, session: str, workspace: str | Path, **where: Unpack[Where]) -> WorkspaceContext:
        """What a session of this kind pays for its workspace files: as the host gives them by itself, and as the sets
        would have it, whether they are switched on or not."""
        place = place_of(session, where, self._settings.owner)
        return self._context(place.kind.kind, place.agent, topic_of(place.host_key), workspace, place.kind.warning)

    def contexts(self, workspace: str | Path, *, agent: str = "") -> list[WorkspaceContext]:
        """The same for every kind of session that an agent may have."""
        return [self._context(kind, agent or DEFAULT_AGENT, "", workspace, "") for kind in SessionKind]

    def _context(
        self, kind: SessionKind, agent: str, topic: str, workspace: str | Path, warning: str
    ) -> WorkspaceContext:
        folder = Path(workspace).expanduser()
        if not folder.is_dir():
            raise BadInput(f"{folder} is not a folder.", hint="Name the agent's workspace with --workspace.")
        chosen = bootstrap.choose(kind, agent, topic, self._settings.bootstrap)
        loaded = bootstrap.loaded_by_host(kind)
        found = bootstrap.read(folder, dict.fromkeys((*loaded, *chosen.names)))
        tokens = {one.name: compose.count_tokens(one.text) for one in found if one.text is not None}
        present = {one.name for one in found if one.text is not None or one.problem}
        return WorkspaceContext(
            kind=kind,
            enabled=self._settings.bootstrap.enabled,
            files=bootstrap.listing(kind, chosen, tokens, loaded),
            missing=[name for name in chosen.names if name not in present],
            problems=[one.problem for one in found if one.problem] + ([warning] if warning else []),
        )

    def _begun(self, place: Place, workspace: str) -> str:
        """The session's context file, now that the host has told where it works. Who asks is not told here, and may be
        another than who asked last: the file is empty until they are answered."""
        self._delivery.learn(place, workspace, self._settings.lanes)
        return self._delivery.begun(place, self._settings.lanes)

    # search, get, forget

    def search(
        self, text: str, *, limit: int = 5, thorough: bool = False, session: str = "", **where: Unpack[Where]
    ) -> list[Found]:
        """Memories by meaning, best first, as sure as a turn would be of each, whatever the gate would say. A turn
        reads the first few; `thorough` reads them all, so that none is unsure only for its place. With nothing told of
        session, agent or sender the owner asks, and every agent's memories are searched."""
        if not isinstance(text, str):
            raise BadInput("The text to search for must be a string.")
        if not isinstance(limit, int) or limit < 1:
            raise BadInput(f"The limit is {limit}.", hint="Ask for at least one result.")
        place = place_of(session, where, self._settings.owner)
        query = understand(redact(clean(text[:_READ_CHARS])).text[:2000], now=self._clock())
        try:
            query = self._vectors.of(query)
        except ProviderError as error:
            self._vectors.failure = str(error)
        scope, most = scope_of(place, self._settings.owner), min(limit, _MOST_RESULTS)
        candidates, _ = self._candidates(query, scope, limit=most, thorough=thorough)
        found = [Found(one.memory, gate.confidence(one.signals), one) for one in candidates]
        return sorted(found, key=lambda one: -one.confidence)

    def get(
        self,
        ids: Sequence[str],
        *,
        around: int = 0,
        whole_session: bool = False,
        session: str = "",
        **where: Unpack[Where],
    ) -> list[Memory]:
        """Memories in full, with neighbours on request. Raises UnknownId for what does not exist or is not for the
        session that asks; with nothing told of session, agent or sender the owner asks."""
        if not isinstance(around, int) or not 0 <= around <= _MOST_NEIGHBOURS:
            raise BadInput(f"{around} neighbours cannot be shown.", hint=f"Ask for 0 to {_MOST_NEIGHBOURS:,}.")
        place = place_of(session, where, self._settings.owner)
        scope = scope_of(place, self._settings.owner) if place.given else None
        rows = [row_of(one) for one in ids]
        found = self._store.get(rows, scope)
        known = {memory.row for memory in found}
        if missing := [one for one, row in zip(ids, rows, strict=True) if row not in known]:
            raise UnknownId(f"There is no memory {', '.join(missing)} here.")
        if not around and not whole_session:
            return found
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
        return self._erase({memory.row for memory in memories}, texts)

    def remove_vault(self, name: str) -> Forgotten:
        """Forget a vault with all that was made of it, leaving no byte behind; the notes stay as they are. One that was
        stopped half-way can be done again. Raises UnknownId."""
        forgotten = self._erase(set(self.vaults.leave(name)), set())
        self.vaults.drop(name)
        return forgotten

    def _erase(self, rows: set[int], texts: set[str]) -> Forgotten:
        self._recent.clear()
        compose.forget_counts()
        workspaces = self._delivery.workspaces()
        self._delivery.clear()
        try:
            forgotten = self._store.forget(rows, texts=texts)
        finally:
            # Again, because a turn may have been under way; later ones find that something was forgotten.
            self._delivery.clear()
            sections, left = self._delivery.forget(workspaces, rows, texts)
        return replace(forgotten, sections=sections, left=tuple(left))

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
        rows += self._store.rows_of(
            session=kept(session), agent=kept(agent), source_id=redact(clean(source_id)).text, before=before
        )
        found = self._store.get(rows)
        known = {memory.row for memory in found}
        if missing := [one for one in ids if row_of(one) not in known]:
            raise UnknownId(f"There is no memory {', '.join(missing)}.")
        return found

    def memories(self, *, agent: str = "") -> Iterator[Memory]:
        """All that was recorded, in the order in which it came; not what Foreword made of it, nor what vaults hold."""
        row = 0
        while page := self._store.after(row, limit=_BATCH_EVENTS, agent=kept(agent)):
            yield from (one for one in page if one.kind is not Kind.CHUNK)
            row = page[-1].row

    def sessions(self, *, limit: int = 20, agent: str = "") -> list[Session]:
        return self._store.sessions(limit=min(limit, _MOST_LISTED), agent=kept(agent))

    # receipts

    def receipt(self, receipt_id: str = "", *, session: str = "", agent: str = "", project: str = "") -> dict[str, Any]:
        """One receipt, or the newest (of a session, of an agent, of a project). Raises UnknownId, also for another
        agent's or another project's where one is told."""
        if receipt_id:
            one = self._store.receipt(receipts.row_of(receipt_id))
            candidates = [one] if one else []
        else:
            many = _LOOKED_THROUGH if project else 1
            candidates = self._store.receipts(limit=many, session=kept(session), agent=kept(agent))
        found = next((one for one in candidates if receipts.belongs(one, kept(agent), kept(project))), None)
        if found is None:
            if receipt_id:
                raise _no_receipt(receipt_id)
            raise UnknownId("No turn has been taken yet.")
        return found

    def why(self, receipt_id: str = "", *, session: str = "") -> str:
        """Why a turn was answered as it was, for people."""
        receipt = self.receipt(receipt_id, session=session)
        memories = self._store.get([one["row"] for one in receipt["candidates"]])
        return receipts.explain(receipt, {memory.row: memory.text for memory in memories})

    def feedback(self, receipt_id: str, verdict: str) -> dict[str, Any]:
        """Keep what a person says of a turn: good, noise or missed, in place of what was said before; `clear` takes it
        back. Returns the receipt. Raises BadInput for what such a turn cannot have been, and UnknownId."""
        feedback, row = Feedback.named(verdict), receipts.row_of(receipt_id)
        receipt = self.receipt(receipt_id)
        receipts.check_feedback(receipt, feedback)
        if not self._store.give_feedback(row, feedback):
            raise _no_receipt(receipt_id)
        return {**receipt, "feedback": feedback.value if feedback else ""}

    def replay(self, *, last: int = 20, settings: Settings | None = None) -> list[receipts.Replayed]:
        """The last turns judged again under other settings (by default the present ones): the gate's, and how many
        memories a brief may hold. Nothing is changed."""
        found = self._store.receipts(limit=min(last, _MOST_LISTED))
        return _replayed([one for one in found if one["candidates"]], settings or self._settings)

    def tune(self, *, last: int = 1000) -> Tuning:
        """Settings for the gate that agree better with the feedback on the last turns, or the present ones and why.
        Nothing is changed."""
        settings = self._settings
        found = [
            one for one in self._store.receipts(limit=min(last, _MOST_LISTED)) if one["candidates"] or one["feedback"]
        ]
        turns = [
            gate.PastTurn(
                receipt["id"],
                receipts.judged_again(receipt),
                given=receipts.given(receipt),
                kept_out=receipts.left_out(receipt, _LEFT_OUT),
                feedback=Feedback(receipt["feedback"]) if receipt["feedback"] else None,
            )
            for receipt in found
        ]
        proposal = gate.propose(turns, settings.gate, most=settings.compose.max_memories)
        now = _replayed(found, settings)
        then = _replayed(found, replace(settings, gate=proposal.proposed))
        changed = [replace(after, before=before.after) for before, after in zip(now, then, strict=True)]
        judged = sum(turn.feedback is not None for turn in turns)
        return Tuning(
            proposal,
            [one for one in changed if one.changed],
            [one for one in now if not one.feedback][: _TO_JUDGE if proposal.missing else 0],
            turns=len(turns),
            older=sum(self._store.census().feedback.values()) - judged,
        )

    # health

    def status(self) -> dict[str, Any]:
        census = self._store.census()
        settings = self._settings
        model = self._vectors.model
        return {
            "memories": census.memories,
            "sessions": census.sessions,
            "by_agent": census.by_agent,
            "by_kind": census.by_kind,
            "by_audience": census.by_audience,
            "outdated": census.outdated,
            "bytes": census.bytes,
            "turns": census.receipts,
            "silent_turns": census.silent,
            "feedback": census.feedback,
            "tokens_injected": census.tokens_injected,
            "tokens_avoided": census.tokens_avoided,
            "profile": settings.profile,
            "embedder": {
                "model": model or "none",
                "embedded": census.vectors.get(model, 0),
                "waiting": census.searched - census.vectors.get(model, 0) if model else 0,
                "failure": self._vectors.failure,
            },
            "excluded": {"capture": list(settings.guard.exclude_capture), "injection": list(settings.turn.exclude)},
            "summary_failure": self._summaries.failure,
            "lanes": self._delivery.report(settings.lanes),
            "warnings": list(self.warnings),
        }

    def days(self, *, last: int = 30) -> list[Day]:
        """What happened on each of the last days on which anything did, the oldest first."""
        return self._store.days(since=self._clock() - last * _DAY_S)

    def check(self) -> list[str]:
        """What is wrong with the home, one sentence each."""
        return self._store.check()

    def rebuild_vectors(self, *, progress: Callable[[int], None] = lambda done: None) -> int:
        """Embed what the present model has not embedded yet; words answer meanwhile. Returns how many it did."""
        return self._vectors.rebuild(progress=progress)

    def clear_files(self) -> None:
        """Empty the context files: nobody keeps them true from here on, or nobody did before. Raises StoreError."""
        self._delivery.clear()

    def close(self) -> None:
        self._vectors.close()
        self._store.close()

    def __enter__(self) -> Foreword:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self, place: Place) -> Session:
        now = self._clock()
        return replace(place.session, started_at=now, last_at=now)


@dataclass(frozen=True, slots=True)
class _Doing:
    """What a session is about: the ask, and the files in play."""

    text: str = ""
    files: Sequence[str] = ()


class _Steps:
    """How long each step of a turn took."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def done(self, name: str, receipt: dict[str, Any]) -> None:
        now = time.perf_counter()
        receipt["ms"][name] = round((now - self._last) * 1000, 3)
        self._last = now


class _Patience:
    """How long somebody waits for an answer, from when they asked; without a deadline, as long as it takes."""

    def __init__(self, deadline_ms: float | None) -> None:
        self._deadline_ms = deadline_ms
        self._asked_at = time.monotonic()

    @property
    def left_ms(self) -> float | None:
        if self._deadline_ms is None:
            return None
        return max(self._deadline_ms - (time.monotonic() - self._asked_at) * 1000, 0.0)

    def share_ms(self, share: float) -> float | None:
        left = self.left_ms
        return None if left is None else left * share

    def over(self) -> str:
        """The reason for silence when nobody listens any more, or ""."""
        if self.left_ms != 0.0:
            return ""
        return f"the answer came too late: the host waits {self._deadline_ms:.0f} ms"


def _no_receipt(receipt_id: str) -> UnknownId:
    return UnknownId(
        f"There is no receipt {receipt_id}; a receipt goes with the memories it names.",
        hint="`foreword why` shows the last.",
    )


def _replayed(found: Sequence[dict[str, Any]], settings: Settings) -> list[receipts.Replayed]:
    return [
        receipts.replayed(
            receipt,
            gate.judge(receipts.judged_again(receipt), settings.gate),
            kept_out=_LEFT_OUT,
            most=settings.compose.max_memories,
        )
        for receipt in found
    ]


def _said_in(place: Place, memory: Memory, since: int) -> bool:
    return (memory.agent, memory.session) == _conversation(place) and memory.row > since


def _conversation(place: Place) -> tuple[str, str]:
    return place.agent, place.session.key
