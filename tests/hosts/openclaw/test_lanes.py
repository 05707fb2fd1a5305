"""The context file and the journal in the workspaces of a real gateway."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hosts.openclaw.gateway import WORKSPACE, Gateway, wait_until

Settings = Callable[[str], None]
Remember = Callable[..., str]
ETHOS = 'profile = "ethos"\n[owner]\nids = ["telegram:777"]\n'
# The set of every session names the file, as who read the Ethos story may write it.
NAMED = (
    ETHOS
    + "[bootstrap]\nenabled = true\n"
    + "".join(
        f'{kind} = ["SOUL.md", "ETHOS_CONTEXT.md"]\n'
        for kind in ("main_session", "group_chat", "external_dm", "fallback")
    )
)
FACT = "The night ferry to Bornholm leaves from pier fourteen."
# Too short to ask anything; longer small talk is found again where other tests have said it.
SILENT = "ok"
ASK = "Which pier does the night ferry to Bornholm leave from?"


@pytest.fixture
def files(gateway: Gateway) -> Iterator[dict[str, Path]]:
    """The context file of each agent; there is none before and after a test."""
    found = {
        "main": gateway.workspace / "ETHOS_CONTEXT.md",
        "other": gateway.folder / "workspace-other" / "ETHOS_CONTEXT.md",
    }
    for file in found.values():
        file.unlink(missing_ok=True)
    yield found
    for file in found.values():
        file.unlink(missing_ok=True)


def notes(gateway: Gateway) -> dict[str, bytes]:
    """What is the user's own in both workspaces."""
    folders = (gateway.workspace, gateway.folder / "workspace-other")
    return {str(folder / name): (folder / name).read_bytes() for folder in folders for name in WORKSPACE}


@pytest.mark.proves("S6", "L2", "B7")
def test_the_file_has_this_turn_s_memories_and_after_a_silent_turn_none(
    gateway: Gateway, session: str, settings: Settings, remember: Remember, files: dict[str, Path]
) -> None:
    settings(ETHOS)
    remember(FACT)
    before = notes(gateway)
    reply = gateway.turn(ASK, session)
    assert "pier fourteen" in files["main"].read_text()
    assert reply.request.raw.decode().count("pier fourteen") == 1, "beside the message, and nowhere else"
    assert "pier fourteen" in reply.request.newest
    silent = gateway.turn(SILENT, session)
    assert files["main"].read_bytes() == b""
    assert "ethos:context" not in silent.request.raw.decode()
    assert notes(gateway) == before


@pytest.mark.proves("S7", "B7")
def test_two_agents_never_write_into_one_another_s_workspace(
    gateway: Gateway, session: str, settings: Settings, remember: Remember, files: dict[str, Path]
) -> None:
    settings(ETHOS)
    remember("The wine cellar of the manor is opened with the copper key.", agent="main")
    remember("The wine cellar of the priory is opened with the iron key.", agent="other")
    question = "With which key is the wine cellar opened?"
    for agent, own, foreign in (("main", "copper", "iron"), ("other", "iron", "copper"), ("main", "", "")):
        gateway.turn(question if own else SILENT, session, agent=agent)
        written = files[agent].read_text()
        assert own in written
        assert not foreign or foreign not in written
    assert files["main"].read_bytes() == b""
    assert "iron" in files["other"].read_text(), "what one agent does leaves the other's alone"


@pytest.mark.proves("S6", "S3")
def test_a_channel_s_message_is_in_the_file_on_its_first_turn(
    gateway: Gateway, settings: Settings, files: dict[str, Path]
) -> None:
    settings(ETHOS)
    topic = "agent:main:telegram:group:-100951:topic:4"
    said = "The rehearsal of the brass band is in the old tannery."
    assert gateway.call("ingest", content=said, session=topic, agent="main", sender="777")["outcome"] == "stored"
    reply = gateway.write("@claw_bot where is the rehearsal of the brass band?", 777, chat=-100951)
    assert "old tannery" in reply.request.newest
    assert "old tannery" in files["main"].read_text()


@pytest.mark.proves("B4", "B3")
def test_what_a_private_turn_left_in_the_file_reaches_no_group_and_no_stranger(
    gateway: Gateway, settings: Settings, remember: Remember, files: dict[str, Path]
) -> None:
    settings(NAMED)
    secret = "I am going to resign from the bank at the end of April."
    question = "When am I going to resign from the bank, at the end of April?"
    remember(secret)
    own = gateway.turn(question, "main")
    assert own.request.raw.decode().count("end of April.") == 1, "the set names the file, and still it comes once"
    assert "end of April." in own.request.newest
    assert "resign from the bank" in files["main"].read_text()
    for sender, chat in ((888, -100952), (888, None)):
        (held := files["main"]).write_text(held.read_text() or f"<!-- ethos:context ts=x -->\n{secret}\n")
        reply = gateway.write("@claw_bot what shall we talk about today?", sender, chat=chat)
        assert secret not in reply.request.raw.decode()
        assert files["main"].read_bytes() == b""


@pytest.mark.proves("S8")
def test_a_daemon_that_is_gone_leaves_an_empty_file_and_the_turn_goes_on(
    gateway: Gateway, session: str, settings: Settings, remember: Remember, files: dict[str, Path]
) -> None:
    settings(ETHOS)
    remember(FACT)
    gateway.turn(ASK, session)
    assert "pier fourteen" in files["main"].read_text()
    with gateway.without_daemon():
        reply = gateway.turn("And from which pier does the day ferry leave?", session)
        assert reply.text == "Understood."
        assert files["main"].read_bytes() == b""


@pytest.mark.proves("S8")
def test_a_daemon_that_hangs_leaves_an_empty_file_and_the_turn_goes_on(
    gateway: Gateway, session: str, settings: Settings, remember: Remember, files: dict[str, Path]
) -> None:
    settings(ETHOS)
    remember(FACT)
    gateway.turn(ASK, session)
    with gateway.stopped_daemon():
        assert gateway.turn("And from which pier does the day ferry leave?", session).text == "Understood."
        assert files["main"].read_bytes() == b""


@pytest.mark.proves("S6")
def test_where_nothing_is_asked_the_file_is_empty_too(
    gateway: Gateway, session: str, settings: Settings, remember: Remember, files: dict[str, Path]
) -> None:
    settings(ETHOS)
    remember(FACT)
    gateway.turn(ASK, session)
    assert "pier fourteen" in files["main"].read_text()
    gateway.chat("/foreword off", session)
    gateway.turn("Let us talk about something else entirely.", session)
    assert files["main"].read_bytes() == b""
    gateway.chat("/foreword on", session)


@pytest.mark.proves("D8", "L2")
def test_the_journal_has_a_session_once_and_only_where_it_was_asked_for(
    gateway: Gateway, session: str, settings: Settings, remember: Remember
) -> None:
    remember(FACT)
    remember("The day ferry to Rönne leaves from pier two.")
    folder = gateway.workspace / "memory"
    before, own = sorted(folder.iterdir()), notes(gateway)
    settings('profile = "adaptive-memory"\n')
    gateway.turn(ASK, f"{session}-off")
    assert sorted(folder.iterdir()) == before
    settings("[lanes]\njournal = true\n")
    for question in (ASK, "Which pier does the day ferry to Rönne leave from?"):
        assert "pier" in json.dumps(gateway.turn(question, session).request.newest)
    (day,) = wait_until(lambda: set(folder.iterdir()) - set(before), "the journal")
    try:
        written = day.read_text()
        assert written.count(f"<!-- adaptive-memory:session=agent:main:{session} -->") == 1
        assert "pier fourteen" in written
        assert notes(gateway) == own
    finally:
        day.unlink()
