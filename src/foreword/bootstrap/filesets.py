"""From the kind of a session to the names of its files. Pure; where nothing is known, more and never less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from fnmatch import fnmatchcase

from foreword.model import SessionKind
from foreword.values import dataclass

# Who an agent is goes to every session, whatever else is left out.
IDENTITY = "SOUL.md"
_OWN = ("SOUL.md", "USER.md", "TOOLS_COMPACT.md")
_SHARED = ("SOUL.md", "TOOLS_COMPACT.md")


def _set(default: tuple[str, ...], what: str) -> tuple[str, ...]:
    value: tuple[str, ...] = field(default=default, metadata={"help": f"Files of {what}."})
    return value


@dataclass(frozen=True, slots=True)
class BootstrapSettings:
    """Whoever changes a set changes what an agent is, so none of it may come from a project's file."""

    enabled: bool = field(
        default=False,
        metadata={"help": "Choose workspace files by the kind of session; off leaves a host's own choice alone."},
    )
    on_demand: tuple[str, ...] = field(
        default=(),
        metadata={"help": "Files, but never SOUL.md, that no session is given whole, sets or not; they are looked up."},
    )
    shed: bool = field(
        default=False,
        metadata={"help": "Leave out a file of the set, but never SOUL.md, once the conversation has used it."},
    )
    shed_pause_minutes: float = field(
        default=60.0,
        metadata={
            "help": "It is left out after a pause of so long: until then the prompt may be cached. 0 is at once."
        },
    )
    main_session: tuple[str, ...] = _set(_OWN, "the main session")
    private_dm: tuple[str, ...] = _set(_OWN, "a direct message of the owner")
    external_dm: tuple[str, ...] = _set(_SHARED, "a direct message of somebody else")
    forum_topic: tuple[str, ...] = _set(_SHARED, "a forum topic")
    group_chat: tuple[str, ...] = _set(_SHARED, "a group")
    subagent: tuple[str, ...] = _set(("SOUL.md",), "a subagent")
    heartbeat_cron: tuple[str, ...] = _set(("SOUL.md", "HEARTBEAT.md"), "a heartbeat or a scheduled job")
    fallback: tuple[str, ...] = _set(
        ("SOUL.md", "USER.md", "AGENTS.md", "TOOLS_COMPACT.md"), "a session of which nothing is known"
    )
    orchestration: tuple[str, ...] = _set(("SOUL.md", "AGENTS.md"), "an agent that directs others")
    orchestrators: tuple[str, ...] = field(
        default=(), metadata={"help": "Agents (patterns such as `boss-*`) that direct others."}
    )
    more: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Files beside the set, for an agent or a topic: `agent:coder=AGENTS.md`, `topic:42=PLAN.md`."
        },
    )
    own: tuple[str, ...] = field(
        default=(),
        metadata={"help": "An agent's own set for a kind: `coder/main_session=SOUL.md+AGENTS.md`; `coder/*` for all."},
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    """The names, in order, each once, and the sentence that says why these."""

    names: tuple[str, ...]
    reason: str


def choose(kind: SessionKind, agent: str, topic: str, settings: BootstrapSettings) -> Chosen:
    names, reason = _base(kind, agent, settings)
    added = [name for name in _more(agent, topic, settings) if name not in names]
    if added:
        reason += f", and {', '.join(added)} beside it"
    return given_whole(list(dict.fromkeys((*names, *added))), reason, settings)


def given_whole(names: Sequence[str], reason: str, settings: BootstrapSettings) -> Chosen:
    """These without what is looked up on demand."""
    wanted = [name for name in names if name in settings.on_demand and name != IDENTITY]
    if wanted:
        reason += f", without {', '.join(wanted)}, looked up when wanted"
    return Chosen(tuple(name for name in names if name not in wanted), reason)


def _base(kind: SessionKind, agent: str, settings: BootstrapSettings) -> tuple[Sequence[str], str]:
    for rule in settings.own:
        who, _, files = rule.partition("=")
        name, _, which = who.partition("/")
        if _matches(agent, name) and which.strip() in ("*", kind.value):
            return _names(files), f"the agent's own set for {kind.value}"
    if kind is not SessionKind.SUBAGENT and any(_matches(agent, one) for one in settings.orchestrators):
        return settings.orchestration, "the agent directs others"
    names: tuple[str, ...] = getattr(settings, kind.value)
    return names, f"the set for {kind.value}"


def _more(agent: str, topic: str, settings: BootstrapSettings) -> Iterator[str]:
    for rule in settings.more:
        who, _, files = rule.partition("=")
        scope, _, name = who.partition(":")
        value = {"agent": agent, "topic": topic}.get(scope.strip(), "")
        if value and _matches(value, name):
            yield from _names(files)


def _names(files: str) -> tuple[str, ...]:
    return tuple(name for one in files.split("+") if (name := one.strip()))


def _matches(value: str, pattern: str) -> bool:
    return fnmatchcase(value.lower(), pattern.strip().lower())
