"""Verdicts in, a brief within its budget out. Pure."""

from foreword.compose.budget import ComposeSettings, count_tokens
from foreword.compose.layers import Composed, compact, hot, stable
from foreword.compose.render import title

__all__ = ["ComposeSettings", "Composed", "compact", "count_tokens", "hot", "stable", "title"]
