"""Briefs to disk, atomically: a context file that holds the turn's brief, and a journal in dated notes."""

from foreword.lanes.file import LaneSettings, is_context_file, put
from foreword.lanes.journal import add, is_section, sweep, take_out, without_sections

__all__ = [
    "LaneSettings",
    "add",
    "is_context_file",
    "is_section",
    "put",
    "sweep",
    "take_out",
    "without_sections",
]
