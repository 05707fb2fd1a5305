"""Event in, memory out: cleaned, guarded, redacted. Nothing is written here, and nothing unredacted leaves here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from foreword.errors import BadInput, TooLarge
from foreword.model import Audience, Event, Kind, Memory, Origin, SessionClass, runs_of
from foreword.record.guard import GuardSettings, admit
from foreword.record.redaction import redact
from foreword.values import dataclass

_MAX_FIELD_CHARS = 2_000
_MAX_LIST_ITEMS = 200
# 1970 to 9999: beyond, no calendar can show the date.
_LATEST = 253_000_000_000.0
_WEB_TOOL = re.compile(r"web|fetch|brows|http|scrape|crawl|url", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """By kind, after how many days a memory is forgotten for good."""

    message_days: int = field(default=0, metadata={"help": "Forget messages after so many days; 0: never."})
    observation_days: int = field(default=0, metadata={"help": "Forget tool results after so many days; 0: never."})
    note_days: int = field(default=0, metadata={"help": "Forget notes after so many days; 0: never."})
    summary_days: int = field(default=0, metadata={"help": "Forget session summaries after so many days; 0: never."})

    @property
    def days(self) -> dict[Kind, int]:
        return {
            Kind.MESSAGE: self.message_days,
            Kind.OBSERVATION: self.observation_days,
            Kind.NOTE: self.note_days,
            Kind.SUMMARY: self.summary_days,
        }


@dataclass(frozen=True, slots=True)
class RecordSettings:
    enabled: bool = field(default=True, metadata={"help": "Record anything at all."})
    max_chars: int = field(
        default=2_000_000,
        metadata={"help": "A longer text is refused with an error; nothing is cut silently.", "min": 1},
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """A memory ready for the store, or the reason why there is none."""

    memory: Memory | None = None
    fingerprint: str = ""
    reason: str = ""
    redactions: Sequence[str] = ()


def take(
    event: Event,
    *,
    agent: str,
    session: str,
    host_key: str,
    project: str,
    place: SessionClass,
    by_owner: bool,
    now: float,
    settings: RecordSettings,
    guard: GuardSettings,
    was_delivered: Callable[[str], bool],
    count_tokens: Callable[[str], int],
) -> Taken:
    """`event` has passed `check`; `by_owner` tells whether its sender is known to be the owner."""
    if not settings.enabled:
        return Taken(reason="Recording is switched off.")
    text = clean(event.text)
    admission = admit(
        Event(text, kind=event.kind, session=host_key, agent=agent, tool=event.tool),
        guard,
        was_delivered=was_delivered,
        runs=runs_of(host_key, event.trigger, event.provenance) if event.trigger or event.provenance else frozenset(),
    )
    if not admission.admitted:
        return Taken(reason=admission.reason)
    found: list[str] = []

    def safe(value: str, limit: int = _MAX_FIELD_CHARS) -> str:
        if not value:
            return ""
        result = redact(clean(value))
        found.extend(result.found)
        return result.text[:limit]

    def safe_all(values: Iterable[str]) -> tuple[str, ...]:
        return tuple(one for one in (safe(value).strip() for value in values) if one)[:_MAX_LIST_ITEMS]

    text = safe(admission.text, settings.max_chars).strip()
    if not text:
        return Taken(reason="Everything in the text was private or secret.", redactions=tuple(dict.fromkeys(found)))
    audience = place.audience if event.audience is None else event.audience
    memory = Memory(
        text=text,
        kind=event.kind,
        origin=event.origin or _origin(event, place.audience, by_owner),
        audience=audience,
        # Said to be for a wider audience than where it was said: for anyone of that audience.
        circle=place.circle if audience is place.audience else "",
        agent=agent,
        session=session,
        project=project,
        channel=safe(event.channel),
        sender=safe(event.sender),
        at=now if event.at is None else event.at,
        source_id=safe(event.source_id),
        title=safe(event.title),
        type=safe(event.type),
        files=safe_all(event.files),
        concepts=safe_all(event.concepts),
        decisions=safe_all(event.decisions),
        tokens=count_tokens(text),
    )
    return Taken(memory, _fingerprint(memory), redactions=tuple(dict.fromkeys(found)))


def clean(text: str) -> str:
    """`text` as every store and host can hold it: no NUL, no half of a surrogate pair."""
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def check(event: Event, settings: RecordSettings) -> None:
    """Raises BadInput for what cannot be a memory."""
    texts = (event.text, event.session, event.agent, event.sender, event.channel, event.project, event.source_id)
    lists = (event.files, event.concepts, event.decisions)
    if not all(
        isinstance(one, str) for one in (*texts, event.title, event.type, event.tool, event.trigger, event.provenance)
    ):
        raise BadInput(
            "An event's text, session, agent, sender, channel, project, title, type, trigger, provenance and ids must"
            " be strings."
        )
    kinds = ((event.kind, Kind), (event.origin, Origin | None), (event.audience, Audience | None))
    if not all(isinstance(value, kind) for value, kind in kinds):
        raise BadInput("An event's kind, origin and audience must be Kind, Origin and Audience.")
    if not all(isinstance(one, list | tuple) and all(isinstance(item, str) for item in one) for one in lists):
        raise BadInput("An event's files, concepts and decisions must be lists of strings.")
    if len(event.text) > settings.max_chars:
        raise TooLarge(
            f"The text has {len(event.text):,} characters; at most {settings.max_chars:,} are kept as one memory.",
            hint="Split it, or raise record.max_chars.",
        )
    check_time(event.at)


def check_time(at: float | None) -> None:
    """Raises BadInput for what is neither a time nor left open."""
    if at is not None and not (isinstance(at, int | float) and 0 <= at < _LATEST):
        raise BadInput(f"{at!r} is not a time.", hint="Give seconds since 1970.")


def _origin(event: Event, audience: Audience, by_owner: bool) -> Origin:
    if event.kind is Kind.OBSERVATION:
        return Origin.WEB if _WEB_TOOL.search(event.tool) else Origin.TOOL
    if event.kind is Kind.SUMMARY:
        return Origin.AGENT
    if audience is Audience.PRIVATE or by_owner:
        return Origin.OWNER
    return Origin.STRANGER


def _fingerprint(memory: Memory) -> str:
    """What makes two events the same: who and where, the host's id, and the words. Made after redaction, so that no
    secret can be guessed from it."""
    who = (memory.agent, memory.session, memory.project, memory.sender, memory.audience.label, memory.circle)
    parts = (*who, memory.source_id, memory.kind, memory.origin, memory.title, memory.text)
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8")
        digest.update(len(data).to_bytes(4, "little") + data)
    return digest.hexdigest()
