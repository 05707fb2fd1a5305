"""Keeps the sessions' summaries those of what the sessions hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foreword.errors import ForewordError
from foreword.model import Audience, Kind, Memory, Session
from foreword.providers import Writer
from foreword.record import redact
from foreword.store import Store
from foreword.summary import INSTRUCTIONS, MOST_READ, Summary, material, origin_of, summarise, written

# As the writer counts before it sends: a token is seldom less than three characters.
_CHARS_PER_TOKEN = 3
_ANSWER_TOKENS = 150


class Summaries:
    def __init__(self, store: Store, count_tokens: Callable[[str], int]) -> None:
        self._store = store
        self._count_tokens = count_tokens
        # Why the writer's words were not taken the last time they were asked for.
        self.failure = ""

    def make(
        self,
        *,
        before: float,
        limit: int,
        agent: str = "",
        besides: str = "",
        writer: Callable[[], Writer | None] = lambda: None,
        max_tokens_a_day: int = 0,
        day: str = "",
        settled: bool = True,
    ) -> int:
        """Tell the sessions anew that hold something untold and whose last memory is no newer than `before`, the latest
        first. Returns how many were looked at. Where there is a writer its words are taken, but for those that name
        what nobody said, and no more than the day's tokens are spent; the sessions' own words stand otherwise. Not
        `settled`, they are still to be told."""
        sessions = self._store.to_summarise(before=before, limit=limit, agent=agent, besides=besides)
        for session in sessions:
            whole = self._store.told_by(session, limit=MOST_READ)
            last = whole[-1].row if whole else 0
            told = _to_tell(session, whole)
            plain = summarise(told, session.kind) if told else None
            memory = self._memory(session, told, plain) if plain else None
            self._store.put_summary(session, memory, last=last, settled=settled)
            if plain and (better := self._written(told, plain, writer, max_tokens_a_day, day)):
                self._store.put_summary(session, self._memory(session, told, better), last=last)
        return len(sessions)

    def _written(
        self,
        told: Sequence[Memory],
        plain: Summary,
        writer: Callable[[], Writer | None],
        max_tokens_a_day: int,
        day: str,
    ) -> Summary | None:
        asked = material(told)
        cost = len(INSTRUCTIONS + asked) // _CHARS_PER_TOKEN + _ANSWER_TOKENS
        if not max_tokens_a_day or self._store.spent(day) + cost > max_tokens_a_day:
            return None
        try:
            found = writer()
            if found is None:
                return None
            # Counted before it is sent, with a usual answer: whatever happens, about the cap is spent and no more.
            self._store.spend(day, cost)
            answer = found.write(INSTRUCTIONS, asked)
        except ForewordError as error:
            self.failure = str(error)
            return None
        self._store.spend(day, max(len(answer) // _CHARS_PER_TOKEN - _ANSWER_TOKENS, 0))
        better = written(redact(answer).text, told, plain)
        self.failure = (
            "" if better else f"What {found.name} wrote of a session was not taken: it names what nobody said."
        )
        return better

    def _memory(self, session: Session, told: Sequence[Memory], summary: Summary) -> Memory:
        # For nobody who could not have seen all of it.
        listeners = {(one.audience, one.circle) for one in told}
        audience, circle = listeners.pop() if len(listeners) == 1 else (Audience.PRIVATE, "")
        return Memory(
            text=summary.text,
            kind=Kind.SUMMARY,
            origin=origin_of(told),
            audience=audience,
            circle=circle,
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


def _to_tell(session: Session, whole: Sequence[Memory]) -> list[Memory]:
    if any(one.kind is Kind.SUMMARY for one in whole):
        return []  # somebody told it already: the host, or whoever it was imported from
    # What was said about another project stays there.
    return [one for one in whole if one.project in ("", session.project)]
