"""Events in, memories out."""

from foreword.record.guard import GuardSettings, off_the_record, own_words
from foreword.record.intake import RecordSettings, RetentionSettings, Taken, check, check_time, clean, take
from foreword.record.redaction import redact

__all__ = [
    "GuardSettings",
    "RecordSettings",
    "RetentionSettings",
    "Taken",
    "check",
    "check_time",
    "clean",
    "off_the_record",
    "own_words",
    "redact",
    "take",
]
