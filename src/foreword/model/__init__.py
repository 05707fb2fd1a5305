"""Values: no I/O, no clock."""

from foreword.model.brief import (
    MATTER_NOT_KNOWN,
    NOT_KNOWN,
    Brief,
    Candidate,
    Judged,
    Link,
    Signals,
    Style,
    Verdict,
    how_sure,
)
from foreword.model.feedback import Feedback
from foreword.model.frames import content_hash, strip_frames
from foreword.model.memory import Audience, Kind, Memory, Origin, Scope, row_of
from foreword.model.notes import SUFFIXES, NoteLink, note_links, note_name
from foreword.model.session import Ask, Event, Outcome, Recorded, Session, SessionClass, SessionKind, runs_of

__all__ = [
    "MATTER_NOT_KNOWN",
    "NOT_KNOWN",
    "SUFFIXES",
    "Ask",
    "Audience",
    "Brief",
    "Candidate",
    "Event",
    "Feedback",
    "Judged",
    "Kind",
    "Link",
    "Memory",
    "NoteLink",
    "Origin",
    "Outcome",
    "Recorded",
    "Scope",
    "Session",
    "SessionClass",
    "SessionKind",
    "Signals",
    "Style",
    "Verdict",
    "content_hash",
    "how_sure",
    "note_links",
    "note_name",
    "row_of",
    "runs_of",
    "strip_frames",
]
