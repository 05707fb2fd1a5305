"""Which workspace files a session needs: by its kind, its agent and its topic."""

from foreword.bootstrap.compact_tools import INSTRUCTIONS as TOOLS_INSTRUCTIONS
from foreword.bootstrap.compact_tools import MAX_TOKENS as MAX_TOOLS_TOKENS
from foreword.bootstrap.compact_tools import NAME as COMPACT_TOOLS
from foreword.bootstrap.compact_tools import (
    Compacted,
    Fact,
    compact,
    described,
    invented,
    missing,
    refused,
    without_secrets,
)
from foreword.bootstrap.filesets import BootstrapSettings, Chosen, choose
from foreword.bootstrap.listing import Listed, left_to_the_host, listing, loaded_by_host
from foreword.bootstrap.shedding import Said, facts, used
from foreword.bootstrap.workspace import WorkspaceFile, read

__all__ = [
    "COMPACT_TOOLS",
    "MAX_TOOLS_TOKENS",
    "TOOLS_INSTRUCTIONS",
    "BootstrapSettings",
    "Chosen",
    "Compacted",
    "Fact",
    "Listed",
    "Said",
    "WorkspaceFile",
    "choose",
    "compact",
    "described",
    "facts",
    "invented",
    "left_to_the_host",
    "listing",
    "loaded_by_host",
    "missing",
    "read",
    "refused",
    "used",
    "without_secrets",
]
