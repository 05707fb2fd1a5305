"""Session keys: every form a host is known to make, and whatever else may come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.classify import agent_of, classify
from foreword.model import Audience, SessionKind

PRIVATE, GROUP, EXTERNAL = Audience.PRIVATE, Audience.GROUP, Audience.EXTERNAL
UUID = "0c6f5b2e-3b1d-4a55-9a0e-2f6f1d0a7c11"
OWNERS = ("777", "whatsapp:+15551234567", "@Ann", "matrix:@ann:home.example")

FORMS = [
    ("agent:main:main", SessionKind.MAIN_SESSION, PRIVATE, ""),
    ("AGENT:Main:MAIN", SessionKind.MAIN_SESSION, PRIVATE, ""),
    ("main", SessionKind.MAIN_SESSION, PRIVATE, ""),
    ("agent:main:main:thread:55", SessionKind.MAIN_SESSION, PRIVATE, ""),
    ("agent:main:main:active-memory:9f3c", SessionKind.MAIN_SESSION, PRIVATE, ""),
    ("agent:main:main:heartbeat", SessionKind.HEARTBEAT_CRON, PRIVATE, ""),
    ("agent:main:heartbeat", SessionKind.HEARTBEAT_CRON, PRIVATE, ""),
    ("agent:main:x", SessionKind.FALLBACK, PRIVATE, ""),
    ("agent:main:explicit:lab-1", SessionKind.FALLBACK, PRIVATE, ""),
    (f"agent:main:openai:{UUID}", SessionKind.FALLBACK, PRIVATE, ""),
    ("agent:main:openai-user:bob", SessionKind.EXTERNAL_DM, EXTERNAL, "openai:direct:bob"),
    ("agent:main:openai-user:ann", SessionKind.PRIVATE_DM, PRIVATE, ""),
    (f"agent:main:dashboard:{UUID}", SessionKind.FALLBACK, PRIVATE, ""),
    (f"agent:main:dashboard:incognito-{UUID}", SessionKind.FALLBACK, PRIVATE, ""),
    ("agent:main:boot:run-1", SessionKind.FALLBACK, PRIVATE, ""),
    (f"agent:main:acp:{UUID}", SessionKind.FALLBACK, PRIVATE, ""),
    ("agent:main:acp:binding:discord:default:9f3c", SessionKind.FALLBACK, GROUP, "acp:binding:discord:default:9f3c"),
    ("acp:binding:discord:default:9f3c", SessionKind.FALLBACK, GROUP, "acp:binding:discord:default:9f3c"),
    (f"agent:main:voice:{UUID}", SessionKind.FALLBACK, PRIVATE, ""),
    ("agent:main:voice:+15551234567", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:voice:15559990000", SessionKind.EXTERNAL_DM, EXTERNAL, "voice:direct:15559990000"),
    ("agent:main:telegram:direct:777", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:telegram:dm:777", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:direct:777", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:telegram:bot2:direct:777", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:telegram:direct:777:thread:4", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:telegram:direct:888", SessionKind.EXTERNAL_DM, EXTERNAL, "telegram:direct:888"),
    ("agent:main:telegram:dm:888", SessionKind.EXTERNAL_DM, EXTERNAL, "telegram:direct:888"),
    ("agent:main:telegram:bot2:direct:888", SessionKind.EXTERNAL_DM, EXTERNAL, "telegram:direct:888"),
    ("agent:main:direct:888", SessionKind.EXTERNAL_DM, EXTERNAL, "direct:888"),
    ("agent:main:telegram:direct:888:thread:4", SessionKind.EXTERNAL_DM, EXTERNAL, "telegram:direct:888"),
    ("agent:main:whatsapp:direct:+15551234567", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:matrix:direct:@ann:home.example", SessionKind.PRIVATE_DM, PRIVATE, ""),
    (
        "agent:main:matrix:direct:@ann:evil.example",
        SessionKind.EXTERNAL_DM,
        EXTERNAL,
        "matrix:direct:@ann:evil.example",
    ),
    ("agent:main:discord:slash:777", SessionKind.PRIVATE_DM, PRIVATE, ""),
    ("agent:main:discord:slash:888", SessionKind.EXTERNAL_DM, EXTERNAL, "discord:direct:888"),
    ("agent:main:telegram:group:-555", SessionKind.GROUP_CHAT, GROUP, "telegram:group:-555"),
    ("agent:main:telegram:group:-100123:topic:42", SessionKind.FORUM_TOPIC, GROUP, "telegram:group:-100123"),
    ("agent:main:telegram:group:-100123:topic:1", SessionKind.FORUM_TOPIC, GROUP, "telegram:group:-100123"),
    ("agent:main:telegram:bot2:group:-555:thread:9", SessionKind.GROUP_CHAT, GROUP, "telegram:group:-555"),
    ("agent:main:slack:channel:C0AB12", SessionKind.GROUP_CHAT, GROUP, "slack:channel:c0ab12"),
    ("agent:main:slack:channel:C0AB12:thread:169.5", SessionKind.GROUP_CHAT, GROUP, "slack:channel:c0ab12"),
    (
        "agent:main:matrix:channel:!R:home.example:thread:$e",
        SessionKind.GROUP_CHAT,
        GROUP,
        "matrix:channel:!r:home.example",
    ),
    ("group:-5", SessionKind.GROUP_CHAT, GROUP, "group:-5"),
    ("agent:main:telegram:group:-5:active-memory:9f", SessionKind.GROUP_CHAT, GROUP, "telegram:group:-5"),
    ("agent:main:cron:job-1", SessionKind.HEARTBEAT_CRON, PRIVATE, ""),
    (f"agent:main:cron:job-1:run:{UUID}", SessionKind.HEARTBEAT_CRON, PRIVATE, ""),
    ("cron:job-1", SessionKind.HEARTBEAT_CRON, PRIVATE, ""),
    (f"agent:main:subagent:{UUID}", SessionKind.SUBAGENT, PRIVATE, ""),
    (f"agent:main:subagent:{UUID}:subagent:{UUID}", SessionKind.SUBAGENT, PRIVATE, ""),
    (f"subagent:{UUID}", SessionKind.SUBAGENT, PRIVATE, ""),
    (f"agent:main:telegram:group:-5:subagent:{UUID}", SessionKind.SUBAGENT, GROUP, "telegram:group:-5"),
    ("ses_4f2a9c81dffe", SessionKind.FALLBACK, PRIVATE, ""),
    ("ses_4F2a9C81dffeXyZ", SessionKind.FALLBACK, PRIVATE, ""),
    (UUID, SessionKind.FALLBACK, PRIVATE, ""),
    ("gateway:startup", SessionKind.FALLBACK, PRIVATE, ""),
    ("", SessionKind.FALLBACK, PRIVATE, ""),
    ("   ", SessionKind.FALLBACK, PRIVATE, ""),
]

UNKNOWN = [
    ("global", GROUP, "global"),
    ("unknown", GROUP, "unknown"),
    ("something", PRIVATE, ""),
    ("agent:main:foo:bar", PRIVATE, ""),
    ("agent:main:telegram:supergroup:-100", GROUP, "telegram:supergroup:-100"),
    ("agent:main:discord:9:77", GROUP, "discord:9:77"),
    ("agent:main:family-group", GROUP, "family-group"),
    ("agent:main:foo:thread:5", GROUP, "foo:thread:5"),
    ("12036304@g.us", GROUP, "12036304@g.us"),
]


@pytest.mark.proves("T2", "B4")
@pytest.mark.parametrize(("key", "kind", "audience", "circle"), FORMS, ids=[form[0] or "empty" for form in FORMS])
def test_every_known_key_form_has_its_kind_its_audience_and_no_warning(
    key: str, kind: SessionKind, audience: Audience, circle: str
) -> None:
    found = classify(key, owner_ids=OWNERS)
    assert (found.kind, found.audience, found.circle, found.warning) == (kind, audience, circle, "")


@pytest.mark.proves("T2", "B4")
@pytest.mark.parametrize(("key", "audience", "circle"), UNKNOWN)
def test_an_unknown_form_warns_and_is_private_only_when_nothing_in_it_smells_of_a_group(
    key: str, audience: Audience, circle: str
) -> None:
    found = classify(key, owner_ids=OWNERS)
    assert found.kind is SessionKind.FALLBACK
    assert (found.audience, found.circle) == (audience, circle)
    assert found.warning.endswith(".")


@pytest.mark.proves("B4")
def test_without_owner_ids_no_direct_peer_is_taken_for_the_owner() -> None:
    found = classify("agent:main:telegram:direct:777")
    assert (found.kind, found.audience) == (SessionKind.EXTERNAL_DM, EXTERNAL)


@pytest.mark.proves("B4")
@pytest.mark.parametrize("everybody", [("*",), ("", " "), ("*", "")])
def test_an_allow_list_that_admits_everybody_makes_nobody_the_owner(everybody: tuple[str, ...]) -> None:
    assert classify("agent:main:telegram:direct:777", owner_ids=everybody).audience is EXTERNAL
    assert classify("agent:main:main", sender="888", owner_ids=everybody).audience is PRIVATE


@pytest.mark.proves("B4")
def test_a_stranger_who_writes_into_the_shared_main_session_is_an_audience_of_their_own() -> None:
    found = classify("agent:main:main", sender="Telegram:888", owner_ids=OWNERS)
    assert (found.kind, found.audience, found.circle) == (SessionKind.MAIN_SESSION, EXTERNAL, "sender:telegram:888")


@pytest.mark.parametrize("sender", ["777", "telegram:777", "tg:777", "@ANN", "ann", "15551234567", "@ann:home.example"])
def test_the_owner_on_the_main_session_stays_private(sender: str) -> None:
    found = classify("agent:main:main", sender=sender, owner_ids=OWNERS)
    assert (found.audience, found.circle) == (PRIVATE, "")


def test_on_the_main_session_nobody_is_a_stranger_while_no_owner_is_known() -> None:
    assert classify("agent:main:main", sender="888").audience is PRIVATE


@pytest.mark.proves("B4")
@pytest.mark.parametrize("sender", ["", "777", "888"])
def test_a_group_stays_a_group_whoever_speaks(sender: str) -> None:
    found = classify("agent:main:telegram:group:-5:topic:2", sender=sender, owner_ids=OWNERS)
    assert (found.audience, found.circle) == (GROUP, "telegram:group:-5")


@pytest.mark.proves("B4")
def test_a_stranger_speaking_in_the_owners_own_direct_chat_is_not_private() -> None:
    found = classify("agent:main:telegram:direct:777", sender="888", owner_ids=OWNERS)
    assert (found.kind, found.audience, found.circle) == (SessionKind.EXTERNAL_DM, EXTERNAL, "sender:888")


@pytest.mark.proves("B4")
def test_an_owner_id_with_a_channel_counts_on_that_channel_only() -> None:
    owners = ("tg:777", "mychat:5")
    assert classify("agent:main:telegram:direct:777", owner_ids=owners).audience is PRIVATE
    assert classify("agent:main:discord:direct:777", owner_ids=owners).audience is EXTERNAL
    assert classify("agent:main:mychat:direct:777", owner_ids=owners).audience is EXTERNAL
    assert classify("agent:main:mychat:direct:5", owner_ids=owners).audience is PRIVATE
    assert classify("agent:main:main", sender="777", owner_ids=owners).audience is PRIVATE


def test_an_agents_name_decides_nothing() -> None:
    assert classify("agent:subagent-group:main").kind is SessionKind.MAIN_SESSION
    assert classify("agent:subagent-group:main").audience is PRIVATE


@pytest.mark.proves("B4")
def test_a_group_named_after_something_private_is_still_a_group() -> None:
    for name in ("subagent-fans", "main", "cron", "direct"):
        assert classify(f"agent:main:telegram:group:{name}", owner_ids=OWNERS).audience is GROUP


@pytest.mark.parametrize(
    ("key", "agent"),
    [
        ("agent:main:main", "main"),
        ("Agent:Ops:telegram:group:-5", "ops"),
        ("agent:ops", ""),
        ("agent::main", ""),
        ("ses_1", ""),
        ("", ""),
    ],
)
def test_the_agent_is_the_one_its_key_names(key: str, agent: str) -> None:
    assert agent_of(key) == agent


segments = st.sampled_from(
    ["agent", "main", "telegram", "direct", "dm", "group", "channel", "topic", "thread", "subagent", "cron", "777", ""]
)
keys = st.text() | st.lists(segments | st.text(max_size=4), max_size=9).map(":".join)


@given(key=keys, sender=st.text() | segments, owners=st.lists(st.text() | segments, max_size=3))
def test_no_text_is_too_strange_to_classify(key: str, sender: str, owners: list[str]) -> None:
    found = classify(key, sender=sender, owner_ids=owners)
    assert (found.audience is PRIVATE) == (found.circle == "")
    agent_of(key)


@pytest.mark.proves("B4")
@given(before=st.lists(segments, max_size=3), after=st.lists(segments, max_size=3))
def test_no_key_that_begins_with_a_group_is_ever_private(before: list[str], after: list[str]) -> None:
    marks = {"direct", "dm"}
    key = ":".join(["agent", "main", *(part for part in before if part not in marks), "group", "-5", *after])
    assert classify(key, sender="777", owner_ids=("777",)).audience is not PRIVATE
