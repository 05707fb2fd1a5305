"""Keeps the sessions' summaries those of what the sessions hold."""

from __future__ import annotations

from collections.abc import Callable

from foreword.model import Kind, Memory, Session
from foreword.store import Store
from foreword.summary import MOST_READ, origin_of, summarise


class Summaries:
    def __init__(self, store: Store, count_tokens: Callable[[str], int]) -> None:
        self._store = store
        self._count_tokens = count_tokens

    def make(self, *, before: float, limit: int, agent: str = "", besides: str = "") -> int:
        """Tell the sessions anew that hold something untold and whose last memory is no newer than `before`, the latest
        first. Returns how many were looked at."""
        sessions = self._store.to_summarise(before=before, limit=limit, agent=agent, besides=besides)
        for session in sessions:
            self._store.put_summary(session, self._of(session))
        return len(sessions)

    def _of(self, session: Session) -> Memory | None:
        told = self._store.told_by(session, limit=MOST_READ)
        if any(one.kind is Kind.SUMMARY for one in told):
            return None  # somebody told it already: the host, or whoever it was imported from
        # What was said about another project stays there.
        told = [one for one in told if one.project in ("", session.project)]
        summary = summarise(told, session.kind)
        if summary is None:
            return None
        audience = min(one.audience for one in told)
        return Memory(
            text=summary.text,
            kind=Kind.SUMMARY,
            origin=origin_of(told),
            # For nobody who could not have seen all of it.
            audience=audience,
            circle=session.circle if audience is session.audience else "",
            agent=session.agent,
            session=session.key,
            project=session.project,
            channel=session.channel,
            at=session.last_at,
            files=summary.files,
            concepts=summary.concepts,
            decisions=summary.decisions,
            tokens=self._count_tokens(summary.text),
        )
