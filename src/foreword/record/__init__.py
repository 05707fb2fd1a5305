"""Events in, memories out."""

from foreword.record.guard import GuardSettings, off_the_record, own_words
from foreword.record.intake import RecordSettings, RetentionSettings, Taken, check, check_time, clean, take
from foreword.record.redaction import redact
from foreword.record.vault import (
    READING,
    Keeping,
    NoteChunk,
    VaultSettings,
    chunks_of,
    excluded,
    is_note,
    problem_of,
    text_of,
)

__all__ = [
    "READING",
    "GuardSettings",
    "Keeping",
    "NoteChunk",
    "RecordSettings",
    "RetentionSettings",
    "Taken",
    "VaultSettings",
    "check",
    "check_time",
    "chunks_of",
    "clean",
    "excluded",
    "is_note",
    "off_the_record",
    "own_words",
    "problem_of",
    "redact",
    "take",
    "text_of",
]
