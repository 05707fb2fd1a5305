"""Many lessons in, one reviewed section out."""

from foreword.wisdom.distil import EXTRACTIVE, Distilled, Pattern, Tightened, distil, tightened
from foreword.wisdom.lessons import Collected, Lesson, collect
from foreword.wisdom.review import REVIEW_NEEDED, Approved, Desk, Draft
from foreword.wisdom.section import (
    HEADING,
    LOAD_BEARING,
    MAX_SOUL_TOKENS,
    MAX_TOKENS,
    Broken,
    check,
    entries_of,
    found_in,
    last_compressed,
    rendered,
    replaced,
)

__all__ = [
    "EXTRACTIVE",
    "HEADING",
    "LOAD_BEARING",
    "MAX_SOUL_TOKENS",
    "MAX_TOKENS",
    "REVIEW_NEEDED",
    "Approved",
    "Broken",
    "Collected",
    "Desk",
    "Distilled",
    "Draft",
    "Lesson",
    "Pattern",
    "Tightened",
    "check",
    "collect",
    "distil",
    "entries_of",
    "found_in",
    "last_compressed",
    "rendered",
    "replaced",
    "tightened",
]
