"""What a session pays for its workspace files, before and after they are chosen for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foreword.bootstrap.filesets import IDENTITY, BootstrapSettings, Chosen, given_whole
from foreword.model import SessionKind
from foreword.values import dataclass

# What today's OpenClaw loads by itself, of those that are there; seen on 2026.9.6.
_EVERYWHERE = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md")
_OWN = (*_EVERYWHERE, "BOOTSTRAP.md", "MEMORY.md")
_LOADED: Mapping[SessionKind, Sequence[str]] = {
    SessionKind.SUBAGENT: ("AGENTS.md",),
    SessionKind.HEARTBEAT_CRON: _EVERYWHERE,
    SessionKind.FORUM_TOPIC: (*_EVERYWHERE, "BOOTSTRAP.md"),
    SessionKind.GROUP_CHAT: (*_EVERYWHERE, "BOOTSTRAP.md"),
}

_DROPPED_LATER = (SessionKind.SUBAGENT, SessionKind.HEARTBEAT_CRON)
_LEFT = "workspace files are left to the host"


@dataclass(frozen=True, slots=True)
class Listed:
    """One file. `layer` is 0 for who the agent is, 1 for what this kind of session needs, 2 for what is looked up when
    it is wanted. `before` is what the host gives by itself, `after` what it gives once the sets are on."""

    name: str
    tokens: int
    layer: int
    before: bool
    after: bool
    why: str


def loaded_by_host(kind: SessionKind) -> Sequence[str]:
    return _LOADED.get(kind, _OWN)


def left_to_the_host(kind: SessionKind, loaded: Sequence[str], settings: BootstrapSettings) -> Chosen:
    """What stays of the host's own choice while the sets are off. In the sessions of which a host drops files after it
    has asked, only those are named that it would not drop: what is chosen here, it keeps."""
    own = loaded_by_host(kind)
    names = [one for one in dict.fromkeys(loaded) if one in own or kind not in _DROPPED_LATER]
    chosen = given_whole(names, _LEFT, settings)
    return chosen if len(chosen.names) < len(names) else Chosen(tuple(dict.fromkeys(loaded)), _LEFT)


def listing(kind: SessionKind, chosen: Chosen, tokens: Mapping[str, int], loaded: Iterable[str]) -> list[Listed]:
    """Every file that is there and counts before or after; those that stay first. `tokens` tells which are there."""
    before = [name for name in loaded if name in tokens]
    after = [name for name in chosen.names if name in tokens]
    return [
        Listed(
            name=name,
            tokens=tokens[name],
            layer=0 if name == IDENTITY else 1 if name in after else 2,
            before=name in before,
            after=name in after,
            why=chosen.reason if name in after else "looked up when it is wanted",
        )
        for name in dict.fromkeys((*after, *before))
    ]
