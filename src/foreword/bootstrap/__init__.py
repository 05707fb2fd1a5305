"""Which workspace files a session needs: by its kind, its agent and its topic."""

from foreword.bootstrap.filesets import BootstrapSettings, Chosen, choose
from foreword.bootstrap.listing import Listed, left_to_the_host, listing, loaded_by_host
from foreword.bootstrap.shedding import Said, used
from foreword.bootstrap.workspace import WorkspaceFile, read

__all__ = [
    "BootstrapSettings",
    "Chosen",
    "Listed",
    "Said",
    "WorkspaceFile",
    "choose",
    "left_to_the_host",
    "listing",
    "loaded_by_host",
    "read",
    "used",
]
