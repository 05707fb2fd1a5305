"""Verdicts in, a brief within its budget out. Pure."""

from foreword.compose.budget import ComposeSettings, count_tokens, forget_counts
from foreword.compose.layers import ALONE, ALREADY_SAID, NO_ROOM, Composed, compact, halved, hot, stable
from foreword.compose.render import Snippet, context_file, filed, journal_section, title
from foreword.compose.shed import Past, TurnSettings, excluded, held_back, is_retry

__all__ = [
    "ALONE",
    "ALREADY_SAID",
    "NO_ROOM",
    "ComposeSettings",
    "Composed",
    "Past",
    "Snippet",
    "TurnSettings",
    "compact",
    "context_file",
    "count_tokens",
    "excluded",
    "filed",
    "forget_counts",
    "halved",
    "held_back",
    "hot",
    "is_retry",
    "journal_section",
    "stable",
    "title",
]
