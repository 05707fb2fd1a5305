"""From a session key to the kind of session and the people who listen in.

Kind and audience are decided apart. The kind chooses workspace files, where too many are better than too few. The
audience keeps private memories private, where a wrong "private" is a leak: a conversation named anywhere in the key
decides it, and a key that nobody can read but that smells of a group is taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import field

from foreword.model import Audience, SessionClass, SessionKind
from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class OwnerSettings:
    ids: tuple[str, ...] = field(
        default=(),
        metadata={"help": "The owner's ids on chat channels, such as `telegram:777`; from the host's allow-list."},
    )
    share_agents: bool = field(default=False, metadata={"help": "Let every agent see every other agent's memories."})
    share_projects: bool = field(
        default=False, metadata={"help": "Let a session in one project see memories of other projects."}
    )


_DIRECT = frozenset({"direct", "dm", "slash", "openai-user", "openresponses-user"})
_GROUP = frozenset({"group", "channel"})
# What hangs from a conversation without changing who is in it; the id of a conversation ends where one of these begins.
_SUFFIXES = frozenset({"topic", "thread", "subagent", "active-memory", "heartbeat"})

# Sessions that the owner, or the host on the owner's behalf, opens on the owner's machine.
_OWN_HEADS = frozenset(
    {
        "main",
        "cron",
        "subagent",
        "openai",
        "openresponses",
        "explicit",
        "acp",
        "dashboard",
        "boot",
        "voice",
        "heartbeat",
    }
)

_CHANNELS = frozenset(
    "bluebubbles discord feishu googlechat imessage irc line matrix mattermost msteams nextcloud-talk nostr signal"
    " slack synology-chat telegram tlon twitch webex wechat whatsapp zalo zalouser".split()
)
_CHANNEL_ALIASES = {"tg": "telegram", "wa": "whatsapp", "lark": "feishu", "teams": "msteams", "gchat": "googlechat"}
_TERMINALS = frozenset({"cli", "terminal", "tui", "local", "webchat", "dashboard"})
_GROUP_WORDS = frozenset(
    "broadcast channel channels chatroom forum group groups guild room rooms supergroup thread threads topic"
    " topics".split()
)
_WORD = re.compile(r"[a-z]+")
# What the owner's own command line is known by: OpenCode's `ses_…`, the UUIDs of Claude Code and others. One free word
# after `agent:<id>:` is the owner's too, typed as --session-key.
_OWN_ID = re.compile(r"ses_\w+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PHONE = re.compile(r"\+?[0-9]{5,15}")

# An allow-list entry that lets everybody in says nothing about who the owner is.
_NOBODY = frozenset({"", "*"})


@dataclass(frozen=True, slots=True)
class _Conversation:
    """The people a key names: `mark` is "direct", "group", "channel" or "topic"."""

    mark: str
    channel: str
    id: str

    @property
    def circle(self) -> str:
        return ":".join(part for part in (self.channel, self.mark, self.id) if part)


def classify(key: str, *, sender: str = "", channel: str = "", owner_ids: Collection[str] = ()) -> SessionClass:
    """The kind, the audience and the circle of a session; never raises, whatever the key.

    `owner_ids` come from the host's own allow-list. While it is empty nobody is known to be the owner, so every
    `:direct:` peer is EXTERNAL; a main key stays PRIVATE, because it is the owner's own until a stranger is seen on it.

    `channel` is where they wrote, for keys that do not name it: a name on one channel is not that name on another.

    `sender` is the person who wrote, "" when unknown or when the agent itself speaks. Hosts put every direct message
    into the main session by default, so there the sender decides: one who is known not to be the owner makes the
    audience EXTERNAL with a circle of their own. In a group the audience stays GROUP whoever speaks.

    A subagent's or a cron job's key names no conversation, so the audience is PRIVATE although its result may be
    announced in a group: calling it a group would take memory from every job the owner starts. What is pushed reaches
    the job, not the room; a host that knows the requester's session passes that audience with the event or the ask.
    """
    owners = [_identity(one) for one in owner_ids if one.strip() not in _NOBODY]
    rest = _rest(key)
    conversation = _conversation(rest)
    warning = ""

    where = (conversation.channel if conversation else "") or _channel(channel)

    if conversation is None:
        audience, circle, warning = _unnamed(rest, agent_of(key))
    elif conversation.mark == "direct":
        known = _is_owner(conversation.id, where, owners)
        audience = Audience.PRIVATE if known else Audience.EXTERNAL
        circle = "" if known else conversation.circle
    else:
        audience, circle = Audience.GROUP, conversation.circle

    if audience is Audience.PRIVATE and sender.strip() and owners and not _is_owner(sender, where, owners):
        audience, circle = Audience.EXTERNAL, f"sender:{sender.strip().lower()}"

    return SessionClass(kind=_kind(rest, conversation, audience), audience=audience, circle=circle, warning=warning)


def is_owner(sender: str, *, owner_ids: Collection[str], key: str = "", channel: str = "") -> bool:
    """Whether a sender is known to be the owner; False when nobody is known to be."""
    owners = [_identity(one) for one in owner_ids if one.strip() not in _NOBODY]
    conversation = _conversation(_rest(key))
    return _is_owner(sender, (conversation.channel if conversation else "") or _channel(channel), owners)


def agent_of(key: str) -> str:
    """The agent that `agent:<id>:…` names, lower-cased as hosts do; "" for every other form."""
    parts = key.strip().lower().split(":", 2)
    return parts[1].strip() if len(parts) == 3 and parts[0] == "agent" else ""


def topic_of(key: str) -> str:
    """The forum topic or thread that a key names, "" when it names none."""
    rest = _rest(key)
    marks = [place for place, part in enumerate(rest[:-1]) if part in ("topic", "thread")]
    return rest[marks[-1] + 1] if marks else ""


def _channel(name: str) -> str:
    """A channel that hosts may call by another name; "" for the owner's own terminal. One that nobody knows is still a
    channel: a name there is not that name elsewhere."""
    name = name.strip().lower()
    return "" if name in _TERMINALS else _CHANNEL_ALIASES.get(name, name)


def _rest(key: str) -> Sequence[str]:
    """The key's segments without `agent:<id>:`, so that an agent's own name never decides anything."""
    parts = [part.strip() for part in key.strip().lower().split(":")]
    if len(parts) >= 3 and parts[0] == "agent":
        parts = parts[2:]
    return [part for part in parts if part]


def _kind(rest: Sequence[str], conversation: _Conversation | None, audience: Audience) -> SessionKind:
    if any("subagent" in part for part in rest):
        return SessionKind.SUBAGENT
    # A heartbeat may run apart, in the main key with this suffix.
    if rest and (rest[0] == "cron" or rest[-1] == "heartbeat"):
        return SessionKind.HEARTBEAT_CRON
    if conversation is not None:
        if conversation.mark == "direct":
            return SessionKind.PRIVATE_DM if audience is Audience.PRIVATE else SessionKind.EXTERNAL_DM
        return SessionKind.FORUM_TOPIC if "topic" in rest else SessionKind.GROUP_CHAT
    base = _before_suffix(rest)
    return SessionKind.MAIN_SESSION if base and base[-1] == "main" else SessionKind.FALLBACK


def _before_suffix(rest: Sequence[str]) -> Sequence[str]:
    end = next((i for i, part in enumerate(rest) if i and part in _SUFFIXES), len(rest))
    return rest[:end]


def _conversation(rest: Sequence[str]) -> _Conversation | None:
    """The first conversation that the segments name: a session derived from one keeps its listeners."""
    for i, part in enumerate(rest):
        if part in _DIRECT and i + 1 < len(rest):
            return _named("direct", rest, i)
        if part in _GROUP and (i or len(rest) > 1):
            return _named(part, rest, i)
        if part == "topic" and i + 1 < len(rest):
            return _named("topic", rest, i)
        # A call's session is named after the caller's number; one named otherwise is the owner's own talk mode.
        if part == "voice" and i + 1 < len(rest) and _PHONE.fullmatch(rest[i + 1]):
            return _Conversation(mark="direct", channel="voice", id=rest[i + 1])
    return None


def _named(mark: str, rest: Sequence[str], at: int) -> _Conversation:
    # Between channel and mark there may be an account of the bot's: the same people listen whichever account it is.
    channel = rest[0] if at else rest[0].removesuffix("-user") if rest[0].endswith("-user") else ""
    # Matrix ids hold colons themselves, so an id is everything up to the next suffix.
    last = next((i for i in range(at + 1, len(rest)) if rest[i] in _SUFFIXES), len(rest))
    return _Conversation(mark=mark, channel=_CHANNEL_ALIASES.get(channel, channel), id=":".join(rest[at + 1 : last]))


def _unnamed(rest: Sequence[str], agent: str) -> tuple[Audience, str, str]:
    """Audience, circle and warning for a key that names no conversation."""
    name = ":".join(rest)
    if not rest or name == "gateway:startup":
        return Audience.PRIVATE, "", ""
    # With session scope "global" every chat, groups too, shares this one key, and "unknown" may be anything.
    if name in ("global", "unknown"):
        return (
            Audience.GROUP,
            name,
            f"The session key '{name}' does not tell who listens; private memories stay out of it.",
        )
    # The hash hides which conversation the harness is bound to.
    if rest[:2] == ["acp", "binding"]:
        return Audience.GROUP, name, ""
    if rest[0] in _OWN_HEADS:
        return Audience.PRIVATE, "", ""
    if _smells_of_a_group(rest):
        return Audience.GROUP, name, f"The session key form '{_short(name)}' is not known; it is treated as a group."
    if rest[-1] == "main" or (len(rest) == 1 and (agent or _OWN_ID.fullmatch(name))):
        return Audience.PRIVATE, "", ""
    return (
        Audience.PRIVATE,
        "",
        f"The session key form '{_short(name)}' is not known; it is treated as the owner's own.",
    )


def _smells_of_a_group(rest: Sequence[str]) -> bool:
    if len(rest) > 1 and _CHANNEL_ALIASES.get(rest[0], rest[0]) in _CHANNELS:
        return True
    return any(part.endswith("@g.us") or not _GROUP_WORDS.isdisjoint(_WORD.findall(part)) for part in rest)


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"


def _identity(raw: str) -> tuple[str, str]:
    """A person as (channel, id): `tg:777`, `telegram:777` and `777` name the same one, as do `@Ann` and `ann`."""
    name = raw.strip().lower()
    channel = ""
    head, colon, tail = name.partition(":")
    head = _CHANNEL_ALIASES.get(head, head)
    if colon and head in _CHANNELS:
        channel, name = head, tail
    name = name.removeprefix("user:").removesuffix("@s.whatsapp.net")
    # A Matrix id is "@name:server": without its mark it would still be told apart from "@name".
    name = name.removeprefix("@")
    if _PHONE.fullmatch(name):
        name = name.removeprefix("+")
    return channel, name


def _is_owner(who: str, channel: str, owners: Collection[tuple[str, str]]) -> bool:
    own_channel, name = _identity(who)
    own_channel = own_channel or channel
    if not name:
        return False
    # A caller's number and an id without a channel may be the owner's on any of them.
    anywhere = own_channel in ("", "voice")
    return any(
        (name == owner and (not where or anywhere or where == own_channel)) or f"{own_channel}:{name}" == owner
        for where, owner in owners
    )
