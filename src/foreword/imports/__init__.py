"""What other programs have kept, as events: transcripts, databases and exports in, events out. Nothing is written.

Every format reads from a mark, so that a long reading can be gone on with. An event is what the host would have told at
its hooks when it happened, with the same session, project and id: so what was captured then and is read now is one.
What a person did not say is left out here where the format tells, and by the guard where the words do.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from foreword.imports import chatgpt, claude_code, claude_mem, jsonl, openclaw, opencode
from foreword.imports.item import Format, Item, moment
from foreword.imports.jsonl import event_of
from foreword.imports.lines import opened

# In this order a file is looked at: what is plain comes last.
FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        claude_code.FORMAT,
        openclaw.FORMAT,
        opencode.FORMAT,
        claude_mem.FORMAT,
        chatgpt.FORMAT,
        jsonl.FORMAT,
    )
}

__all__ = ["FORMATS", "Format", "Item", "event_of", "moment", "opened", "recognised"]


def recognised(path: Path) -> Format | None:
    """The format that a file looks like."""
    return next((one for one in FORMATS.values() if one.fits(path)), None)
