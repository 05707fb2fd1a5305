"""Who is given what: people on a channel share a session key by default, and groups have many ears."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hosts.openclaw.gateway import Gateway, wait_until

Remember = Callable[..., str]
Settings = Callable[[str], None]
OWNER, STRANGER, GROUP = 777, 888, -100123
KNOWN = f'[owner]\nids = ["telegram:{OWNER}"]\n'
FRAME = "foreword recall"


@pytest.fixture(autouse=True)
def _owner(settings: Settings) -> None:
    settings(KNOWN)


@pytest.mark.proves("S3", "L1", "B7")
def test_the_owner_on_a_channel_is_given_a_private_memory_and_asked_about_once(
    gateway: Gateway, remember: Remember
) -> None:
    remember("The savings book lies in the drawer under the gramophone.")
    before = gateway.call("status")["turns"]
    reply = gateway.write("In which drawer does the savings book lie?", OWNER)
    assert "under the gramophone" in reply.request.newest
    # Looked for in the copy of the plugin that messages come to, and found ready in the one that builds prompts.
    assert "laid ready when the message came" in gateway.call("why", session="agent:main:main")["explanation"]
    assert gateway.call("status")["turns"] == before + 1


@pytest.mark.proves("B4")
def test_somebody_else_in_the_same_session_is_given_nothing_of_the_owner_s(
    gateway: Gateway, remember: Remember
) -> None:
    remember("The passport is in the tin with the buttons.")
    question = "In which tin is the passport?"
    assert FRAME not in gateway.write(question, STRANGER).request.newest
    assert "with the buttons" in gateway.write(question, OWNER).request.newest


@pytest.mark.proves("B4")
def test_a_private_memory_never_reaches_a_group(gateway: Gateway, remember: Remember) -> None:
    remember("The surprise party for Jonas is on the ferry.")
    reply = gateway.write("@claw_bot where is the surprise party for Jonas?", OWNER, chat=GROUP)
    assert FRAME not in reply.request.raw.decode()


@pytest.mark.proves("S3", "B4")
def test_what_was_said_in_one_topic_of_a_group_is_known_in_another_and_not_in_another_group(gateway: Gateway) -> None:
    gateway.write("@claw_bot the regatta's buoys are stored at Pier Seven.", OWNER, chat=GROUP, topic=42)
    key = f"agent:main:telegram:group:{GROUP}:topic:42"
    wait_until(lambda: key in gateway.sessions(), "the group's words to be kept")
    question = "@claw_bot where are the regatta's buoys stored?"
    assert "Pier Seven" in gateway.write(question, STRANGER, chat=GROUP, topic=43).request.newest
    assert "Pier Seven" in gateway.write(question, STRANGER, chat=GROUP).request.newest
    assert "Pier Seven" not in gateway.write(question, OWNER, chat=-100999).request.raw.decode()


@pytest.mark.proves("S1")
def test_a_message_on_a_channel_is_kept_with_its_sender_and_an_owner_s_is_the_owner_s(gateway: Gateway) -> None:
    gateway.write("My skiff has a leak near the rudder.", OWNER)
    gateway.write("I collect lighthouse stamps since childhood.", STRANGER)

    def kept(text: str, **place: str) -> dict[str, str] | None:
        found = gateway.call("search", query=text, limit=5, session="agent:main:main", channel="telegram", **place)
        return next((one["metadata"] for one in found["results"] if one["content"] == text), None)

    about = wait_until(lambda: kept("My skiff has a leak near the rudder.", sender=str(OWNER)), "the owner's words")
    assert (about["sender"], about["channel"], about["origin"]) == (str(OWNER), "telegram", "owner")
    assert (about["session"], about["agent"], about["audience"]) == ("agent:main:main", "main", "private")
    words = "I collect lighthouse stamps since childhood."
    about = wait_until(lambda: kept(words, sender=str(STRANGER)), "the stranger's words")
    assert (about["sender"], about["origin"], about["audience"]) == (str(STRANGER), "stranger", "external")


def test_the_command_answers_on_a_channel_about_the_asker_s_own_turn(gateway: Gateway, remember: Remember) -> None:
    remember("The canoe was varnished in April by Mrs Voss.")
    gateway.write("Who varnished the canoe in April?", OWNER)
    assert "Voss" in gateway.write("/foreword why", OWNER).text
    assert "Voss" not in gateway.write("/foreword why", STRANGER).text


def test_the_command_switches_a_session_off_and_on(gateway: Gateway, remember: Remember) -> None:
    remember("The sundial was repaired by the blacksmith of Horn.")
    question = "Who repaired the sundial{}?"
    assert "Foreword is off" in gateway.write("/foreword off", OWNER).text
    words = question.format(" back then")
    assert FRAME not in gateway.write(words, OWNER).request.raw.decode()
    assert "Foreword is off" in gateway.write("/foreword", OWNER).text
    assert "Foreword is on" in gateway.write("/foreword on", OWNER).text
    assert "blacksmith of Horn" in gateway.write(question.format(""), OWNER).request.newest
    found = gateway.call("search", query=words, limit=20, agent="main")["results"]
    assert [one["content"] for one in found if one["content"] == words] == []
