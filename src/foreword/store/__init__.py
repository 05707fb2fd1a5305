"""Where memories are kept; the only SQL."""

from foreword.store.connection import FILE_NAME, StoreSettings
from foreword.store.contract import (
    Census,
    Draft,
    Facts,
    Floats,
    Forgotten,
    Frozen,
    LaneFile,
    Mark,
    Nearest,
    Postings,
    Replaced,
    Slots,
    Store,
    Turn,
    Vault,
    VaultFile,
    View,
    Written,
)
from foreword.store.sqlite import SqliteStore

__all__ = [
    "FILE_NAME",
    "Census",
    "Draft",
    "Facts",
    "Floats",
    "Forgotten",
    "Frozen",
    "LaneFile",
    "Mark",
    "Nearest",
    "Postings",
    "Replaced",
    "Slots",
    "SqliteStore",
    "Store",
    "StoreSettings",
    "Turn",
    "Vault",
    "VaultFile",
    "View",
    "Written",
]
