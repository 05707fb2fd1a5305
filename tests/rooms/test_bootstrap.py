"""Which workspace files a session of each kind gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foreword import Foreword
from foreword.bootstrap import BootstrapSettings, choose, read
from foreword.classify import topic_of
from foreword.model import SessionKind

LOADED = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"]


@pytest.mark.proves("T3")
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (SessionKind.MAIN_SESSION, ("SOUL.md", "USER.md", "TOOLS_COMPACT.md")),
        (SessionKind.PRIVATE_DM, ("SOUL.md", "USER.md", "TOOLS_COMPACT.md")),
        (SessionKind.EXTERNAL_DM, ("SOUL.md", "TOOLS_COMPACT.md")),
        (SessionKind.FORUM_TOPIC, ("SOUL.md", "TOOLS_COMPACT.md")),
        (SessionKind.GROUP_CHAT, ("SOUL.md", "TOOLS_COMPACT.md")),
        (SessionKind.SUBAGENT, ("SOUL.md",)),
        (SessionKind.HEARTBEAT_CRON, ("SOUL.md", "HEARTBEAT.md")),
        (SessionKind.FALLBACK, ("SOUL.md", "USER.md", "AGENTS.md", "TOOLS_COMPACT.md")),
    ],
)
def test_every_kind_of_session_has_its_set(kind: SessionKind, names: tuple[str, ...]) -> None:
    assert choose(kind, "main", "", BootstrapSettings()).names == names


@pytest.mark.proves("T3")
def test_an_agent_that_directs_others_gets_their_rules() -> None:
    settings = BootstrapSettings(orchestrators=("boss-*",))
    assert choose(SessionKind.MAIN_SESSION, "boss-1", "", settings).names == ("SOUL.md", "AGENTS.md")
    assert choose(SessionKind.SUBAGENT, "boss-1", "", settings).names == ("SOUL.md",), "what it started does not"


@pytest.mark.proves("T14")
def test_an_agent_may_have_its_own_sets_and_an_agent_or_a_topic_more_files() -> None:
    settings = BootstrapSettings(
        own=("coder/main_session=SOUL.md+AGENTS.md", "scribe/*=STYLE.md"),
        more=("agent:coder=PLAN.md+SOUL.md", "topic:42=ROADMAP.md"),
    )
    assert choose(SessionKind.MAIN_SESSION, "Coder", "", settings).names == ("SOUL.md", "AGENTS.md", "PLAN.md")
    assert choose(SessionKind.GROUP_CHAT, "coder", "", settings).names == ("SOUL.md", "TOOLS_COMPACT.md", "PLAN.md")
    assert choose(SessionKind.GROUP_CHAT, "scribe", "", settings).names == ("STYLE.md",)
    topic = choose(SessionKind.FORUM_TOPIC, "main", "42", settings)
    assert topic.names == ("SOUL.md", "TOOLS_COMPACT.md", "ROADMAP.md")
    assert "ROADMAP.md beside it" in topic.reason


@pytest.mark.parametrize(
    ("key", "topic"),
    [
        ("agent:main:telegram:group:-100123:topic:42", "42"),
        ("agent:main:slack:channel:c1:thread:17.5", "17.5"),
        ("agent:main:main", ""),
        ("agent:topic:main", ""),
        ("agent:main:telegram:group:-1:topic", ""),
    ],
)
def test_a_topic_is_read_from_the_key(key: str, topic: str) -> None:
    assert topic_of(key) == topic


def test_what_leads_out_of_the_workspace_or_is_no_file_is_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret.md").write_text("not yours")
    (tmp_path / "work" / "SOUL.md").mkdir()
    (tmp_path / "work" / "HUGE.md").write_text("x" * 300_000)
    (tmp_path / "work" / "LINK.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "work" / "LOOP.md").symlink_to("LOOP.md")
    outside = ["../secret.md", str(tmp_path / "secret.md"), "LINK.md"]
    found = read(tmp_path / "work", [*outside, "LOOP.md", "SOUL.md", "HUGE.md", "NONE.md"])
    assert [one.text for one in found] == [None] * 7
    assert [bool(one.problem) for one in found] == [True] * 6 + [False]


@pytest.mark.proves("T1", "T12")
def test_a_session_keeps_what_its_kind_needs_and_is_given_what_the_host_does_not_load(
    open_home: Callable[..., Foreword], tmp_path: Path
) -> None:
    for name in (*LOADED, "TOOLS_COMPACT.md", "TOOLS.md"):
        (tmp_path / name).write_text(f"# {name}\n" + "Some words about it. " * 50)
    foreword = open_home(profile="aci")
    topic = foreword.bootstrap("agent:main:telegram:group:-100:topic:7", tmp_path, LOADED)
    assert (topic.kind, list(topic.keep)) == (SessionKind.FORUM_TOPIC, ["SOUL.md"])
    assert [one.name for one in topic.add] == ["TOOLS_COMPACT.md"]
    assert set(topic.tokens) == {*LOADED, "TOOLS_COMPACT.md"}
    assert sum(topic.tokens[name] for name in ("SOUL.md", "TOOLS_COMPACT.md")) < sum(topic.tokens.values())
    heartbeat = foreword.bootstrap("agent:main:cron:j1:run:r1", tmp_path, LOADED)
    assert (list(heartbeat.keep), list(heartbeat.missing)) == (["SOUL.md"], ["HEARTBEAT.md"])
    strange = foreword.bootstrap("something:nobody:knows", tmp_path, LOADED)
    assert strange.kind is SessionKind.FALLBACK
    assert list(strange.keep) == ["SOUL.md", "USER.md", "AGENTS.md"]
    assert any("not known" in one for one in strange.problems)


def test_switched_off_everything_stays_as_the_host_chose(foreword: Foreword, tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("kind")
    found = foreword.bootstrap("agent:main:main", tmp_path, LOADED)
    assert (found.enabled, list(found.keep), list(found.add)) == (False, LOADED, [])
