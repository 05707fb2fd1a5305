"""OpenCode itself, with Foreword's plugin in it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.hosts.conformance import Conformance
from tests.hosts.model_server import Request
from tests.hosts.opencode.opencode import OpenCode
from tests.hosts.program import FRAME

_OPEN_MEM = 'profile = "open-mem"\n'
_STABLE = "<open_mem_context>"


def _until(happened: Callable[[], bool]) -> bool:
    """Whether it happens; the host tells of a turn's end when it has answered already."""
    until = time.monotonic() + 20
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def _systems(request: Request) -> list[str]:
    return [one.text for one in request.said if one.role == "system"]


class TestOpenCode(Conformance):
    @pytest.mark.proves("B3", "B7")
    def test_a_request_begins_with_the_whole_of_the_one_before(self, host: OpenCode) -> None:
        for number in range(6):
            host.remember(f"The {_BIRDS[number]} nests above the window of room {number + 70}.")
        prompts = [
            f"Turn {number}: above the window of which room does the {_BIRDS[number // 5]} nest?"
            if number % 5 == 0
            else f"Turn {number}: say something short, please."
            for number in range(30)
        ]
        session = host.new_session()
        requests = [host.turn(prompt, session=session).request for prompt in prompts]
        assert sum(FRAME in one.newest for one in requests) >= 4
        for number, (one, other) in enumerate(pairwise(requests)):
            assert other.body["tools"] == one.body["tools"]
            earlier = one.body["messages"]
            assert other.body["messages"][: len(earlier)] == earlier, f"turn {number + 1} changed what was sent before"
        assert FRAME not in host.messages(session), "the host stores nothing of it"

    @pytest.mark.proves("B3")
    def test_every_step_of_a_turn_has_what_the_first_had(self, host: OpenCode) -> None:
        host.remember("The ropewalk is 312 paces long, says the harbour master.")
        session = host.new_session()
        before = host.turn("How many paces long is the ropewalk?", session=session).request
        assert "312 paces" in before.newest
        turn = host.turn('Look around, please. [[tool:glob {"pattern": "*.md"}]]', session=session)
        for one, other in pairwise([before, *turn.requests]):
            assert other.body["messages"][: len(one.body["messages"])] == one.body["messages"]
        assert len(turn.requests) == 2
        assert turn.requests[-1].whole.count("312 paces") == 1

    @pytest.mark.proves("P4")
    def test_a_title_is_asked_for_without_anything_of_foreword_s(self, host: OpenCode) -> None:
        host.remember("Chose teak for the deck of the dinghy.", kind="note", title="Teak")
        host.remember("The dinghy was built by the Holm boatyard in 1962.")
        try:
            host.settings(_OPEN_MEM)
            seen = len(host.model.requests)
            turn = host.turn("Which boatyard built the dinghy?", session=host.new_session(title=""))
            titles = [one for one in host.model.requests[seen:] if one.system.startswith("You are a title generator")]
            assert "Holm" in turn.request.newest
            assert _STABLE in turn.request.system
            assert titles
            for one in titles:
                assert _STABLE not in one.whole
                assert "Holm" not in one.whole
        finally:
            host.settings()

    @pytest.mark.proves("P1", "P2", "P3", "P4", "B3")
    def test_the_stable_part_is_the_same_through_a_session_and_comes_anew_after_a_compaction(
        self, host: OpenCode
    ) -> None:
        host.remember("Chose the brass hinges for the chart table.", kind="note", title="Hinges")
        host.remember("The chart table came from the wreck of the Albatros.")
        try:
            host.settings(_OPEN_MEM)
            session = host.new_session()
            first = host.turn("From which wreck did the chart table come?", session=session).request
            host.remember("Chose oak for the gangway.", kind="note", title="Gangway")
            second = host.turn("Let us go on with something else now.", session=session).request
            assert "Albatros" in first.newest
            (_, stable) = _systems(first)
            assert stable.startswith(_STABLE)
            assert stable.endswith("</open_mem_context>")
            assert "Hinges" in stable
            assert _systems(second) == _systems(first), "byte for byte"
            (asked,) = host.compact(session)
            assert "Recent observations (" in asked.newest, "the summary is told what should survive"
            assert FRAME not in asked.whole, "what stood beside a message is not summarised"
            assert "Albatros" not in asked.whole
            assert _STABLE not in asked.whole
            third = host.turn("From which wreck was the chart table, once more?", session=session).request
            (_, anew) = _systems(third)
            assert anew.startswith(_STABLE)
            assert "Gangway" in anew
            assert "Albatros" in third.newest, "it is no longer in the conversation"
        finally:
            host.settings()

    @pytest.mark.proves("P4", "L3")
    def test_nothing_is_added_to_the_system_or_to_a_summary_when_switched_off(self, host: OpenCode) -> None:
        host.remember("Chose slate for the roof of the pavilion.", kind="note", title="Slate")
        try:
            host.settings(_OPEN_MEM + "[turn]\nenabled = false\n")
            session = host.new_session()
            request = host.turn("Which roof did we choose for the pavilion?", session=session).request
            assert len(_systems(request)) == 1
            assert "slate" not in request.whole.lower()
            (asked,) = host.compact(session)
            assert "Recent observations" not in asked.whole
        finally:
            host.settings()

    @pytest.mark.proves("S1", "L6")
    def test_a_summary_is_not_kept_as_the_agent_s_words(self, host: OpenCode) -> None:
        session = host.new_session()
        host.turn("The sluice is opened at noon, keep that in mind.", session=session)
        (asked,) = host.compact(session)
        assert asked.answer() == "Understood."
        answers = [text for origin, _, text in host.kept() if origin == "agent"]
        host.turn("Thank you. [[say:You are welcome, sluice keeper.]]", session=session)
        assert _until(lambda: ("agent", "message", "You are welcome, sluice keeper.") in host.kept())
        assert [text for origin, _, text in host.kept() if origin == "agent"][len(answers) :] == [
            "You are welcome, sluice keeper."
        ]

    @pytest.mark.proves("P6", "S1")
    def test_what_a_tool_showed_is_kept_as_an_observation(self, host: OpenCode) -> None:
        used = {"command": "echo the tide gauge reads 412 centimetres", "description": "read the gauge"}
        host.turn(f"Run it, please. [[tool:bash {json.dumps(used)}]]")
        kept = lambda: [text for _, kind, text in host.kept() if kind == "observation"]  # noqa: E731
        assert _until(lambda: any("tide gauge reads 412" in text for text in kept()))

    @pytest.mark.proves("L6")
    def test_the_memory_tools_own_results_are_not_kept(self, host: OpenCode) -> None:
        host.remember("The sundial in the yard is eleven minutes slow.")
        used = {"command": "echo the sundial was looked up", "description": "afterwards"}
        first = host.uses(host.search_tool, {"query": "Is the sundial slow?"})
        host.turn(f"Look that up. {first}[[tool:bash {json.dumps(used)}]]")
        kept = lambda: [text for _, kind, text in host.kept() if kind == "observation"]  # noqa: E731
        assert _until(lambda: any("sundial was looked up" in text for text in kept())), "what came after it is there"
        assert not any("eleven minutes slow" in text for text in kept())

    @pytest.mark.proves("S1", "L6")
    def test_a_sub_agent_is_named_by_its_parent_and_says_nothing_in_the_user_s_name(self, host: OpenCode) -> None:
        host.remember("The quay was paved with granite in 1880.")
        task = {"description": "count", "prompt": "Count the lanterns on the quay. [[say:There are 63 lanterns.]]"}
        turn = host.turn(f"Delegate it. [[tool:task {json.dumps({**task, 'subagent_type': 'general'})}]]")
        parent = host.session_of(turn.text)
        inner = [one for one in turn.requests if one.newest.startswith("Count the lanterns")]
        assert inner, "the sub-agent asked its model"
        said = lambda: [(origin, text) for origin, _, text in host.kept() if "lanterns" in text]  # noqa: E731
        assert _until(lambda: said().count(("agent", "There are 63 lanterns.")) >= 1)
        assert [text for origin, text in said() if origin == "owner" and text.startswith("Count")] == []
        sessions = [one["session"] for one in host.call("sessions", limit=200)["sessions"]]
        assert [one for one in sessions if one.startswith(f"agent:opencode:subagent:{parent}:ses_")]

    @pytest.mark.proves("S1", "L6", "L8")
    def test_another_process_goes_on_with_a_session_and_nothing_injected_was_kept(self, host: OpenCode) -> None:
        host.remember("The bell buoy was cast by the foundry in Altona.")
        session = host.new_session()
        first = host.turn("Which foundry cast the bell buoy? [[say:The one in Altona did.]]", session=session)
        assert "Altona" in first.request.newest
        # Handed over behind the answer: a host that is killed with it takes it along.
        answer = ("agent", "The one in Altona did.")
        assert _until(lambda: any((origin, text) == answer for origin, _, text in host.kept()))
        host.stop()
        again = host.turn("And where was the foundry of the bell buoy?", session=session).request
        assert "cast by the foundry in Altona" in again.newest, "what stood there before is gone with the process"
        assert again.whole.count("cast by the foundry") == 1
        assert host.keeps("And where was the foundry of the bell buoy?")
        host.stop()
        said = [(origin, text) for origin, _, text in host.kept() if "buoy" in text or "Altona" in text]
        assert said == [
            ("owner", "The bell buoy was cast by the foundry in Altona."),
            ("owner", "Which foundry cast the bell buoy? [[say:The one in Altona did.]]"),
            ("agent", "The one in Altona did."),
            ("owner", "And where was the foundry of the bell buoy?"),
        ]
        assert not any(FRAME in text for _, _, text in host.kept())

    @pytest.mark.proves("S1", "S3")
    def test_of_a_command_only_what_the_user_wrote_is_asked_about_and_kept(self, host: OpenCode) -> None:
        host.remember("The lamplighter lives in the third house of Sailmaker Lane.")
        session, seen = host.new_session(), len(host.model.requests)
        command = {"command": "kindly", "arguments": "In which lane does the lamplighter live?"}
        host.ask("POST", f"/session/{session}/command", command)
        request = host.model.requests[seen]
        assert "as a neighbour would" in request.newest
        assert "Sailmaker Lane" in request.newest
        host.turn("And is the lamplighter at home now?", session=session)
        said = [text for origin, _, text in host.kept() if origin == "owner" and "lamplighter" in text]
        assert said[1:] == ["In which lane does the lamplighter live?", "And is the lamplighter at home now?"]

    @pytest.mark.proves("S1", "S3")
    def test_a_run_in_a_process_of_its_own_is_answered_and_kept_before_it_ends(self, host: OpenCode) -> None:
        host.remember("The crane on the north quay lifts forty tonnes.")
        turn = host.run("How many tonnes does the crane on the north quay lift? [[say:Forty, it is said.]]")
        assert "forty tonnes" in turn.request.newest
        said = [(origin, text) for origin, _, text in host.kept() if "Forty, it is said" in text]
        assert said == [
            ("owner", "How many tonnes does the crane on the north quay lift? [[say:Forty, it is said.]]"),
            ("agent", "Forty, it is said."),
        ]

    @pytest.mark.proves("L3")
    def test_a_short_prompt_is_left_alone(self, host: OpenCode) -> None:
        assert FRAME not in host.turn("yes").request.whole


class TestInstalling:
    """In a home of its own."""

    @pytest.fixture
    def fresh(self, tmp_path: Path, host: OpenCode) -> OpenCode:
        one = OpenCode(tmp_path / "fresh", host.hosts)
        one.config.write_text("// mine\n" + one.config.read_text())
        return one

    def test_installing_twice_changes_nothing_and_removing_puts_every_byte_back(self, fresh: OpenCode) -> None:
        before = fresh.config.read_bytes()
        shown = fresh.foreword("opencode", "install", "--dry-run")
        assert '+  "plugin": [' in shown
        assert fresh.config.read_bytes() == before
        fresh.foreword("opencode", "install", "--yes")
        after = fresh.config.read_bytes()
        assert after.startswith(b"// mine\n")
        assert "nothing is to be changed" in fresh.foreword("opencode", "install", "--yes")
        assert fresh.config.read_bytes() == after
        fresh.remember("The attic ladder is in the carpenter's shed.")
        assert "carpenter" in fresh.turn("Where is the attic ladder?").request.beside
        assert json.loads(fresh.foreword("opencode", "check", "--offline", "--json"))["data"]["seen"]
        fresh.stop()
        fresh.foreword("opencode", "remove")
        assert fresh.config.read_bytes() == before
        request = fresh.turn("Where was the attic ladder?").request
        assert FRAME not in request.whole
        assert "mem-search" not in request.tools
        fresh.close()

    def test_a_project_alone_and_every_project_together_give_a_memory_once(self, fresh: OpenCode) -> None:
        fresh.foreword("opencode", "install", "--project", "--yes")
        assert "foreword" not in fresh.config.read_text()
        assert "/hosts/opencode/project-" in (fresh.project / "opencode.json").read_text()
        fresh.remember("The weir was raised by two feet in 1911.")
        request = fresh.turn("By how many feet was the weir raised?").request
        assert request.whole.count("two feet in 1911") == 1
        fresh.stop()
        fresh.foreword("opencode", "install", "--global", "--yes")
        request = fresh.turn("How many feet was it that the weir was raised by?").request
        assert request.whole.count("two feet in 1911") == 1
        fresh.stop()
        fresh.foreword("opencode", "remove", "--project")
        assert not (fresh.project / "opencode.json").exists()
        assert "foreword" in fresh.config.read_text(), "the other stays"
        fresh.close()

    def test_check_names_what_is_wrong_and_what_mends_it(self, fresh: OpenCode) -> None:
        assert "is not told of the plugin" in fresh.foreword("opencode", "check", "--offline", code=1)
        fresh.foreword("opencode", "install", "--yes")
        good = fresh.config.read_text()
        assert "no turn has shown it yet" in fresh.foreword("opencode", "check", "--offline")
        fresh.config.write_text(good.replace(str(fresh.folder / "foreword") + '"', '/elsewhere"'))
        assert "the Foreword of /elsewhere" in fresh.foreword("opencode", "check", "--offline", code=1)
        fresh.config.write_text(good)
        plugin = fresh.folder / "foreword" / "hosts" / "opencode" / "plugin" / "dist" / "index.js"
        plugin.write_text("")
        assert "of another version" in fresh.foreword("opencode", "check", "--offline")
        plugin.unlink()
        assert "`foreword opencode install`" in fresh.foreword("opencode", "check", "--offline", code=1)
        fresh.foreword("opencode", "install", "--yes")
        fresh.environ["OPENCODE_PURE"] = "1"
        assert "OPENCODE_PURE" in fresh.foreword("opencode", "check", "--offline", code=1)
        fresh.close()


_BIRDS = ("swallow", "kestrel", "redstart", "wagtail", "nuthatch", "goldfinch")
