"""Where memories are kept; the only SQL."""

from foreword.store.connection import FILE_NAME, StoreSettings
from foreword.store.contract import (
    Census,
    Day,
    Draft,
    Facts,
    Floats,
    Forgotten,
    Frozen,
    LaneFile,
    Mark,
    Nearest,
    Postings,
    Slots,
    Store,
    Turn,
    View,
    Written,
)
from foreword.store.sqlite import SqliteStore

__all__ = [
    "FILE_NAME",
    "Census",
    "Day",
    "Draft",
    "Facts",
    "Floats",
    "Forgotten",
    "Frozen",
    "LaneFile",
    "Mark",
    "Nearest",
    "Postings",
    "Slots",
    "SqliteStore",
    "Store",
    "StoreSettings",
    "Turn",
    "View",
    "Written",
]
