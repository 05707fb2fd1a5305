"""Where something happens: which agent, in which conversation, and who listens in. What may be seen follows from it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from typing import TypedDict

from foreword.classify import OwnerSettings, agent_of, classify, is_owner
from foreword.errors import BadInput
from foreword.model import Audience, Scope, Session, SessionClass
from foreword.record import clean, redact
from foreword.values import dataclass

DEFAULT_AGENT = "main"
_LONGEST_NAME = 500


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
    """`host_key` is the key as the host gave it; the session's own key differs where others listen in than it says.
    `given` is False when nothing was told: then the owner asks, at the machine itself."""

    session: Session
    kind: SessionClass
    host_key: str
    by_owner: bool
    given: bool

    @property
    def agent(self) -> str:
        return self.session.agent


def place_of(session: str, where: Where, owner: OwnerSettings) -> Place:
    """Raises BadInput for what is not text, or is not known: a misspelt word must not widen what may be seen."""
    if unknown := where.keys() - Where.__annotations__.keys():
        raise BadInput(
            f"'{sorted(unknown)[0]}' is not a part of a place.", hint=f"Use {', '.join(Where.__annotations__)}."
        )
    told = (session, *(where.get(name, "") for name in ("agent", "sender", "channel", "project")))
    audience = where.get("audience")
    if not all(isinstance(one, str) for one in told):
        raise BadInput("A session, agent, sender, channel or project must be a string.")
    if audience is not None and not isinstance(audience, Audience):
        raise BadInput(f"{audience!r} is not an audience.", hint="Use private, group or external.")
    return _placed(*map(str, told), audience, owner.ids, given=bool(session or any(where.values())))


# A session asks again and again.
@lru_cache(maxsize=1024)
def _placed(
    key: str,
    agent: str,
    sender: str,
    channel: str,
    project: str,
    audience: Audience | None,
    owner_ids: tuple[str, ...],
    *,
    given: bool,
) -> Place:
    raw, agent, sender, channel, project = (clean(one).strip() for one in (key, agent, sender, channel, project))
    # The mark between a key and what was derived from it; nobody else may write it.
    sender, project = sender.replace("|", "¦"), project.replace("|", "¦")
    host_key, _, derived = raw.partition("|")
    # Judged by what was really said; only what is kept is redacted, or two secrets would look like one place.
    kind = classify(host_key, sender=sender, channel=channel, owner_ids=owner_ids)
    usual = classify(host_key, sender="", channel=channel, owner_ids=owner_ids) if sender else kind
    for part in derived.split("|"):
        name, _, circle = part.partition(":")
        if name in (Audience.GROUP.label, Audience.EXTERNAL.label):
            kind = replace(kind, audience=max(kind.audience, Audience.named(name)), circle=circle)
    if audience is not None:
        kind = replace(kind, audience=max(kind.audience, audience))
    key = kept(host_key)
    apart = (kind.audience, kind.circle) != (usual.audience, usual.circle)
    kind = replace(kind, circle=kept(kind.circle))
    if apart:
        # Others listen in than the key says: a conversation of its own, which shares nothing with the usual one.
        key = f"{key}|{kind.audience.label}:{kind.circle}"
    agent = kept(agent) or kept(agent_of(host_key)) or DEFAULT_AGENT
    return Place(
        Session(key, agent, kind.kind, kind.audience, kind.circle, kept(project), kept(channel)),
        kind,
        host_key=kept(host_key),
        by_owner=is_owner(sender, key=host_key, channel=channel, owner_ids=owner_ids),
        given=given,
    )


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
def kept(text: str) -> str:
    """A key or a name as it may be written down: without secrets, and not endless. What redaction or the cut made
    alike stays apart by a few digits of a hash, too few to guess the secret by."""
    text = clean(text).strip()
    safe = redact(text).text.strip()
    if safe == text and len(text) <= _LONGEST_NAME:
        return text
    digits = hashlib.blake2b(text.encode("utf-8"), digest_size=3).hexdigest()
    return f"{safe[:_LONGEST_NAME]}#{digits}"
