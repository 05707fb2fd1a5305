"""Workspace files as they are now. Read only: nothing here ever writes into a workspace."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from foreword.values import dataclass

# A host cuts a file at 20,000 characters; more would be read for nothing.
_LARGEST_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """`text` is None where there is no such file, or none that can be read; `problem` says what is wrong with it."""

    name: str
    path: Path
    text: str | None = None
    problem: str = ""


def read(workspace: Path, names: Iterable[str]) -> list[WorkspaceFile]:
    return [_read(workspace, name) for name in names]


def _read(workspace: Path, name: str) -> WorkspaceFile:
    path = workspace / name
    if os.path.isabs(name) or ".." in Path(name).parts:
        return WorkspaceFile(name, path, problem=f"{name} leads out of the workspace.")
    try:
        # A workspace may have come with somebody's repository: a link in it must not carry the user's own files into a
        # prompt.
        if not path.resolve().is_relative_to(workspace.resolve()):
            return WorkspaceFile(name, path, problem=f"{name} leads out of the workspace.")
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            return WorkspaceFile(name, path, problem=f"{name} is not a file.")
        if about.st_size > _LARGEST_BYTES:
            return WorkspaceFile(name, path, problem=f"{name} is larger than {_LARGEST_BYTES // 1000} kB.")
        return WorkspaceFile(name, path, path.read_text("utf-8", errors="replace"))
    except FileNotFoundError:
        return WorkspaceFile(name, path)
    except (OSError, ValueError, RuntimeError) as error:
        return WorkspaceFile(name, path, problem=f"{name} cannot be read: {error}.")
