"""What importing must show on a program in a terminal: a session that was held without Foreword, then one with it."""

from __future__ import annotations

import json
import time

from tests.hosts.program import Program


def prove(host: Program, *, tool: str) -> None:
    """`tool` is what the host's model is told to use to run a command; it shows "the tide gauge reads 412"."""
    first = host.turn("The kiln's door is marked in teal. [[say:Noted, teal it is.]]")
    session = host.session_of(first.text)
    host.turn(f"Run it, please. {tool}", session=session)
    (found,) = json.loads(host.foreword("import", "detect", "--json"))["data"]["found"]
    assert found["kind"] == host.name
    told = json.loads(host.foreword("import", host.name, "--json"))["data"]
    assert told["named"] == []
    assert "teal" in host.foreword("search", "What colour is the kiln's door?")
    kept = host.kept()
    assert [text for origin, kind, text in kept if origin == "owner"] == [
        "The kiln's door is marked in teal. [[say:Noted, teal it is.]]",
        f"Run it, please. {tool}",
    ]
    assert ("agent", "message", "Noted, teal it is.") in kept
    assert any("tide gauge reads 412" in text for _, kind, text in kept if kind == "observation")
    assert not any("system-reminder" in text or "You are" in text for _, _, text in kept)
    assert len(kept) == told["stored"] == 5

    host.foreword(host.name, "install", "--yes")
    host.remember("The ferry's funnel is green.")  # starts the daemon, which a first prompt may not wait for
    later = host.turn("The orchard wall is painted ochre. [[say:Ochre, then.]]")
    host.turn(f"And once more. {tool}", session=host.session_of(later.text))
    until = time.monotonic() + 30
    while len(_answers(captured := host.kept())) < 4:
        assert time.monotonic() < until, captured
        time.sleep(0.05)
    assert any("ochre" in text for _, _, text in captured)
    told = json.loads(host.foreword("import", host.name, "--json"))["data"]
    assert host.kept() == captured, "what was captured when it happened is not kept again"
    # What the memory of the first session led Foreword to inject is its own when a tool shows it again.
    assert told["stored"] == 0
    assert told["known"] >= 4


def _answers(kept: list[tuple[str, str, str]]) -> list[str]:
    return [text for origin, kind, text in kept if (origin, kind) == ("agent", "message")]
