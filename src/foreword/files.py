"""Files that are replaced whole or not at all, and where Foreword keeps what belongs to one workspace."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

# In one form, so that what a killed process left can be known and taken away.
_NEW = ".foreword-new"


def replace_file(file: Path, data: bytes | Iterable[bytes], *, mode: int) -> None:
    """Whoever reads the file at any moment reads the old one or the new one. What is too much for memory comes in
    pieces."""
    number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=_NEW)
    try:
        with os.fdopen(number, "wb") as target:
            target.writelines((data,) if isinstance(data, bytes) else data)
            target.flush()
            os.fsync(target.fileno())
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sweep(folder: Path, name: str = "") -> None:
    """Take away what processes that were killed while they replaced a file have left beside it; beside all of them
    without a name. Only who is alone in replacing it may call this."""
    for one in folder.iterdir() if folder.is_dir() else ():
        if one.name.startswith(f".{name}") and one.name.endswith(_NEW):
            one.unlink(missing_ok=True)


def make_private(folder: Path) -> None:
    """With every folder above it that is missing, for the user alone."""
    for one in (*reversed(folder.parents), folder):
        if not one.exists():
            one.mkdir(mode=0o700, exist_ok=True)


def checksum(data: bytes | None) -> str | None:
    """None for no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def workspace_slug(workspace: Path) -> str:
    """The name of the folder in which a room of Foreword's keeps what it has of this workspace: to be read by people,
    and the same whichever link leads there. Two workspaces never share one."""
    real = os.path.realpath(os.path.expanduser(workspace))
    readable = re.sub(r"[^a-z0-9]+", "-", os.path.basename(real).lower()).strip("-")[:40] or "workspace"
    return f"{readable}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:10]}"
