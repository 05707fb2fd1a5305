"""Whether this turn may say anything at all: the agent may be excluded, the session served, the ask only a retry."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import field
from fnmatch import fnmatchcase

from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class TurnSettings:
    enabled: bool = field(default=True, metadata={"help": "Inject anything at all.", "project": "lower"})
    exclude: tuple[str, ...] = field(
        default=(), metadata={"help": "Agents (patterns such as `build-*`) that are never given anything."}
    )
    exclude_runs: tuple[str, ...] = field(
        default=("heartbeat", "active-memory", "inter_session", "internal_system"),
        metadata={
            "help": "Runs that nobody asked for and that are given nothing: by what set them off, where their input"
            " came from, or a part of their session key."
        },
    )
    at_start: bool = field(
        default=True, metadata={"help": "Give summaries and an index at session start.", "project": "lower"}
    )
    once_per_session: bool = field(
        default=False, metadata={"help": "Inject on the first message of a session only.", "project": "raise"}
    )
    debounce_ms: int = field(
        default=0,
        metadata={
            "help": "Another ask of the same session within this time is answered with silence.",
            "project": "raise",
        },
    )
    repeat_ms: int = field(
        default=5000,
        metadata={"help": "The very same ask within this time is a retry and gets the same brief.", "project": "lower"},
    )


@dataclass(frozen=True, slots=True)
class Past:
    """What happened in the session before this ask; nothing at all when `asked_at` is 0."""

    asked_at: float = 0.0
    same_ask: bool = False
    served: bool = False


def excluded(agent: str, runs: Set[str], settings: TurnSettings) -> str:
    """The reason why this agent, or a run that is called one of `runs`, is given nothing, or ""."""
    if not settings.enabled:
        return "injection is switched off"
    for pattern in settings.exclude:
        if fnmatchcase(agent.lower(), pattern.lower()):
            return f"the agent '{agent}' is excluded from injection"
    for run in settings.exclude_runs:
        if run.lower() in runs:
            return f"runs of the kind '{run}' are given nothing"
    return ""


def is_retry(past: Past, now: float, settings: TurnSettings) -> bool:
    return past.same_ask and 0 <= now - past.asked_at < settings.repeat_ms / 1000


def held_back(past: Past, now: float, settings: TurnSettings) -> str:
    """The reason why this turn stays silent whatever is found, or ""."""
    if settings.once_per_session and past.served:
        return "this session has had its one brief"
    if past.asked_at and 0 <= now - past.asked_at < settings.debounce_ms / 1000:
        return f"another ask of this session came less than {settings.debounce_ms} ms before"
    return ""
