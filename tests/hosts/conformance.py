"""What every program in a terminal must show on the real thing, whatever it is. A host's own tests inherit these, and
add what is peculiar to it. Each test has words of its own: one home serves them all."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.hosts.program import FRAME, Program


class Conformance:
    """`host` is a fixture that each host's tests give."""

    @pytest.mark.proves("S3", "L1", "B7")
    def test_a_memory_stands_beside_the_very_message_it_answers(self, host: Program) -> None:
        host.remember("The staging database listens on port 6544 behind the bastion.")
        request = host.turn("Which port does the staging database listen on?").request
        assert "port 6544" in request.beside
        assert FRAME in request.beside
        assert "port 6544" not in json.dumps(request.before)

    @pytest.mark.proves("L3", "L8")
    def test_nothing_is_added_where_nothing_is_due(self, host: Program) -> None:
        host.remember("The greenhouse key hangs behind the barometer.")
        request = host.turn("Please reverse the word stressed.").request
        assert FRAME not in request.whole
        assert "barometer" not in request.whole

    @pytest.mark.proves("S1", "L6")
    def test_what_was_said_is_kept_and_what_was_injected_is_not(self, host: Program) -> None:
        host.remember("The cellar pump is serviced by the Brandt workshop every spring.")
        first = host.turn("Who services the cellar pump? [[say:The Brandt workshop does, I am told.]]")
        assert "Brandt" in first.request.beside
        second = host.turn("Thanks, and which season was the cellar pump for?", session=host.session_of(first.text))
        said = [(origin, text) for origin, _, text in host.kept() if "pump" in text or "Brandt" in text]
        assert ("agent", "The Brandt workshop does, I am told.") in said
        assert [text for origin, text in said if origin == "owner"] == [
            "The cellar pump is serviced by the Brandt workshop every spring.",
            "Who services the cellar pump? [[say:The Brandt workshop does, I am told.]]",
            "Thanks, and which season was the cellar pump for?",
        ]
        assert not any(FRAME in text for _, _, text in host.kept())
        # It is in the conversation already, or was never to be there twice.
        assert second.request.whole.count("every spring") <= 1

    @pytest.mark.proves("S3")
    def test_another_session_knows_what_was_said_in_this_one(self, host: Program) -> None:
        host.turn("Note this: the harbour pilot's call sign is Kittiwake-Seven.")
        request = host.turn("What was the call sign of the harbour pilot?").request
        assert "Kittiwake-Seven" in request.beside

    @pytest.mark.proves("P5")
    def test_the_model_searches_and_reads_with_the_tools(self, host: Program) -> None:
        memory = host.remember("The lighthouse lamp is changed on the first Monday of March.")
        asked = {"query": "When is the lighthouse lamp changed?"}
        found = host.turn(f"Look into it, please. {host.uses(host.search_tool, asked)}")
        rows = found.requests[-1].beside
        assert memory in rows
        assert "tokens" in rows
        read = host.turn(f"Read it in full, please. {host.uses(host.get_tool, {'ids': [memory]})}")
        assert "first Monday of March" in read.requests[-1].beside

    @pytest.mark.proves("S8", "L7", "L8")
    def test_the_turn_goes_on_without_a_daemon(self, host: Program) -> None:
        host.remember("The ferry to the island leaves from pier eleven.")
        with host.no_daemon():
            turn = host.turn("Which pier does the island ferry leave from? [[say:I do not know.]]")
        assert "I do not know." in turn.text
        assert FRAME not in turn.request.whole

    @pytest.mark.proves("S8", "L7")
    def test_the_turn_goes_on_when_the_daemon_is_silent(self, host: Program) -> None:
        host.remember("The orchard gate opens with the code of the old mill.")
        with host.daemon_stopped():
            turn = host.turn("What opens the orchard gate? [[say:I cannot tell.]]")
        assert "I cannot tell." in turn.text
        assert FRAME not in turn.request.whole
        assert host.name in host.foreword("doctor")

    @pytest.mark.proves("S8")
    def test_the_turn_goes_on_when_the_daemon_dies_in_the_middle_of_it(self, host: Program) -> None:
        host.remember("The observatory dome turns on nineteen wheels.")
        host.model.meanwhile = host.kill_daemon
        turn = host.turn("How many wheels does the observatory dome turn on? [[say:Nineteen of them.]]")
        assert "Nineteen of them." in turn.text
        assert host.turn("How many wheels were it at the observatory?").request

    @pytest.mark.proves("L4", "L8")
    def test_an_excluded_agent_is_neither_given_anything_nor_recorded(self, host: Program) -> None:
        host.remember("The bakery on Linden Street opens at half past five.")
        try:
            host.settings(f'[turn]\nexclude = ["{host.name}"]\n')
            request = host.turn("When does the bakery on Linden Street open?").request
            assert "half past five" not in request.whole
            assert host.keeps("bakery on Linden Street open?")
            host.settings(f'[guard]\nexclude_capture = ["{host.name}"]\n')
            request = host.turn("And is the bakery on Linden Street open that early on Sundays?").request
            assert "half past five" in request.beside
            assert not any("on Sundays" in text for _, _, text in host.kept())
        finally:
            host.settings()

    @pytest.mark.proves("B5")
    def test_a_secret_that_is_typed_never_reaches_the_disk(self, host: Program) -> None:
        host.turn("Remember that the deploy token is ghp_0123456789abcdefghijABCDEFGHIJ012345 for the robot.")
        kept = [text for _, _, text in host.kept() if "for the robot" in text]
        assert kept
        assert not any("ghp_0123456789" in text for text in kept)

    @pytest.mark.proves("B3")
    def test_every_turn_extends_what_the_model_was_sent(self, host: Program) -> None:
        for number, fact in enumerate(_FACTS):
            host.remember(f"The {fact} is kept in cupboard number {number + 40}.")
        prompts = [
            f"Turn {number}: in which cupboard is the {_FACTS[number // 3 % len(_FACTS)]} kept?"
            if number % 3 == 0
            else f"Turn {number}: say something short, please."
            for number in range(_TURNS)
        ]
        with host.talk() as say:
            requests = [say(prompt).request for prompt in prompts]
        assert any(FRAME in one.beside for one in requests)
        for number, (one, other) in enumerate(pairwise(requests)):
            assert other.before[: len(one.before)] == one.before, f"turn {number + 1} changed what was sent before it"


_TURNS = 30
_FACTS = ("sextant", "theodolite", "astrolabe", "barograph", "planimeter", "heliograph", "stroboscope", "gyroscope")
