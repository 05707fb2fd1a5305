"""Where something happens: which agent, in which conversation, and who listens in. What may be seen follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypedDict

from foreword.classify import OwnerSettings, agent_of, classify
from foreword.errors import BadInput
from foreword.model import Audience, Scope, Session, SessionClass
from foreword.record import clean, redact

DEFAULT_AGENT = "main"


class Where(TypedDict, total=False):
    """What a caller may tell beside the session key. `audience` is for hosts that know of more listeners than the key
    tells; they cannot know of fewer."""

    agent: str
    sender: str
    channel: str
    project: str
    audience: Audience | None


@dataclass(frozen=True, slots=True)
class Place:
    session: Session
    kind: SessionClass
    given: bool

    @property
    def agent(self) -> str:
        return self.session.agent


def place_of(session: str, where: Where, owner: OwnerSettings) -> Place:
    """Raises BadInput for what is not text. `given` is False when nothing was told: then the owner asks, at the
    machine itself."""
    agent, sender = where.get("agent", ""), where.get("sender", "")
    channel, project, audience = where.get("channel", ""), where.get("project", ""), where.get("audience")
    if not all(isinstance(one, str) for one in (session, agent, sender, channel, project)):
        raise BadInput("A session, agent, sender, channel or project must be a string.")
    if audience is not None and not isinstance(audience, Audience):
        raise BadInput(f"{audience!r} is not an audience.", hint="Use private, group or external.")
    key = _name(session)
    agent = _name(agent) or agent_of(key) or DEFAULT_AGENT
    kind = classify(key, sender=_name(sender), channel=channel, owner_ids=owner.ids)
    if audience is not None:
        kind = replace(kind, audience=max(kind.audience, audience))
    usual = classify(key, owner_ids=owner.ids)
    if (kind.audience, kind.circle) != (usual.audience, usual.circle):
        # Others listen in than the key says: a conversation of its own, which shares nothing with the usual one.
        key = f"{key}|{kind.audience.label}:{kind.circle}"
    there = Session(key, agent, kind.kind, kind.audience, kind.circle, _name(project), _name(channel))
    return Place(there, kind, given=bool(session or any(where.values())))


def scope_of(place: Place, owner: OwnerSettings) -> Scope:
    return Scope(
        agent=place.agent,
        audience=place.kind.audience,
        circle=place.kind.circle,
        project=place.session.project,
        every_agent=owner.share_agents or not place.given,
        every_project=owner.share_projects,
    )


def in_project(session: Session) -> Session:
    """The session as one project sees it: what is frozen for one must not be read in another."""
    return replace(session, key=f"{session.key}|project:{session.project}") if session.project else session


@lru_cache(maxsize=1024)
def _name(text: str) -> str:
    """A key or a name as it is kept: a secret in one would reach the disk like any other."""
    return redact(clean(text)).text.strip()[:500]
