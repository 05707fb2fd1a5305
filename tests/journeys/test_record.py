"""What an agent sees becomes memory: once, complete, and without what nobody should keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foreword import Ask, Audience, Event, Foreword, ForewordError, Kind, Origin, Outcome
from foreword.errors import BadInput, TooLarge
from foreword.model import content_hash

MAIN = "agent:main:main"


def _bytes_of(home: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(home.rglob("*")) if file.is_file())


@pytest.mark.proves("S1")
def test_a_message_is_kept_with_channel_sender_session_agent_and_time(foreword: Foreword) -> None:
    recorded = foreword.record(
        Event(
            "The boiler is serviced every October.",
            session="agent:home:telegram:group:-55",
            channel="telegram",
            sender="Ida",
            source_id="msg-1",
            at=1_771_000_000.0,
        )
    )
    assert recorded.outcome is Outcome.STORED
    (memory,) = foreword.get([recorded.id])
    assert (memory.channel, memory.sender, memory.session, memory.agent, memory.at) == (
        "telegram",
        "Ida",
        "agent:home:telegram:group:-55",
        "home",
        1_771_000_000.0,
    )
    assert memory.audience is Audience.GROUP
    assert memory.origin is Origin.STRANGER


def test_recording_twice_equals_recording_once(foreword: Foreword) -> None:
    event = Event("We moved the stand-up to ten o'clock.", session=MAIN, source_id="x1")
    first, second = foreword.record(event), foreword.record(event)
    assert (first.outcome, second.outcome) == (Outcome.STORED, Outcome.KNOWN)
    assert first.id == second.id
    assert foreword.status()["memories"] == 1


def test_the_same_words_in_two_sessions_are_two_memories(foreword: Foreword) -> None:
    for session in ("agent:main:a", "agent:main:b"):
        foreword.record(Event("Yes, please go ahead with it.", session=session))
    assert foreword.status()["memories"] == 2


@pytest.mark.proves("P6")
def test_sessions_observations_and_summaries_are_kept_and_listed(foreword: Foreword) -> None:
    foreword.record(Event("Let us fix the flaky upload test.", session="agent:main:mon"))
    observation = foreword.record(
        Event(
            "The upload test fails when the clock crosses midnight.",
            kind=Kind.OBSERVATION,
            session="agent:main:mon",
            tool="shell",
            title="Flaky upload test",
            type="bugfix",
            files=["tests/test_upload.py"],
            concepts=["time zones"],
        )
    )
    summary = foreword.record(
        Event(
            "Found and fixed the flaky upload test.",
            kind=Kind.SUMMARY,
            session="agent:main:mon",
            decisions=["freeze the clock in tests"],
            concepts=["testing"],
        )
    )
    (session,) = foreword.sessions()
    assert (session.key, session.memories) == ("agent:main:mon", 3)
    seen, summed = foreword.get([observation.id, summary.id])
    assert (seen.type, seen.title, list(seen.files), list(seen.concepts)) == (
        "bugfix",
        "Flaky upload test",
        ["tests/test_upload.py"],
        ["time zones"],
    )
    assert seen.tokens > 0
    assert seen.origin is Origin.TOOL
    assert (list(summed.decisions), list(summed.concepts)) == (["freeze the clock in tests"], ["testing"])


@pytest.mark.proves("B5")
def test_a_secret_reaches_no_file_in_any_field(foreword: Foreword, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    password = "correct-horse" + "-battery-9"
    recorded = foreword.record(
        Event(
            f"The deploy token is {token}, and <private>my diagnosis is nobody's business</private> so be careful.",
            session=f"agent:main:{token}",
            agent="main",
            sender=f"Ida {token}",
            channel=token,
            project=f"https://ida:{password}@git.example.org/repo",
            source_id=token,
            title=f"token {token}",
            type=token,
            files=[f"/srv/{token}"],
            concepts=[token],
            decisions=[f"password={password}"],
        )
    )
    foreword.brief(Ask(f"what was the deploy token {token}?", session=f"agent:main:{token}"))
    assert recorded.outcome is Outcome.STORED
    assert "GitHub token" in recorded.redactions
    written = _bytes_of(tmp_path / "home")
    for secret in (token, password, "my diagnosis"):
        assert secret.encode() not in written
    (memory,) = foreword.get([recorded.id])
    assert "The deploy token is" in memory.text


@pytest.mark.proves("B5")
def test_what_is_forgotten_leaves_no_byte_behind(foreword: Foreword, tmp_path: Path) -> None:
    needle = "xylophone quarantine"
    kept = foreword.record(Event("The garden gate squeaks in winter.", session=MAIN))
    gone = foreword.record(Event(f"My secret plan is the {needle} project in Lisbon.", session=MAIN, title=needle))
    brief = foreword.brief(Ask("What is my secret plan, the project in Lisbon?", session="agent:main:other"))
    assert brief.memories == (gone.id,)
    foreword.brief(Ask(f"My secret plan is the {needle} project in Lisbon.", session="agent:main:third"))
    foreword.record(Event("Plan summary", kind=Kind.NOTE, session=MAIN, title=f"{needle} note"))
    assert needle in foreword.start("agent:main:fourth").text
    note = foreword.search(needle, limit=5)
    forgotten = foreword.forget([gone.id, *(one.memory.id for one in note if needle in one.memory.title)])
    assert forgotten.memories >= 2
    assert needle.encode() not in _bytes_of(tmp_path / "home")
    assert foreword.get([kept.id])[0].text == "The garden gate squeaks in winter."
    assert needle not in foreword.start("agent:main:fourth").text


@pytest.mark.proves("L6")
def test_injected_text_is_never_recorded_by_structure_or_by_hash(foreword: Foreword) -> None:
    foreword.record(Event("The spare key hangs behind the blue door in the cellar.", session=MAIN))
    brief = foreword.brief(Ask("Where does the spare key hang, behind which door?", session="agent:main:b"))
    assert brief
    echoed = foreword.record(Event(brief.text, session="agent:main:b", origin=Origin.AGENT))
    wrapped = foreword.record(
        Event(f"{brief.text}\n\nThanks, and please water the plants too.", session="agent:main:b")
    )
    bare = foreword.record(
        Event("the spare key hangs behind  the blue door in the CELLAR.", session="agent:main:c", origin=Origin.AGENT)
    )
    assert echoed.outcome is Outcome.SKIPPED
    assert bare.outcome is Outcome.SKIPPED
    assert foreword.get([wrapped.id])[0].text == "Thanks, and please water the plants too."


@pytest.mark.proves("L6")
def test_what_survived_a_compaction_is_not_recorded_when_it_comes_back(foreword: Foreword) -> None:
    foreword.record(Event("Sorted the tax papers.", kind=Kind.SUMMARY, session=MAIN))
    text = foreword.compact("agent:main:new").text
    assert "not instructions" in text
    assert foreword.record(Event(text, session="agent:main:new")).outcome is Outcome.SKIPPED
    around = foreword.record(Event(f"Summary so far. {text}", session="agent:main:new"))
    cut = foreword.record(Event(f"The user wants tea.\n\n{text}\n\nThen milk.", session="agent:main:new"))
    assert foreword.get([cut.id])[0].text == "The user wants tea.\n\n\n\nThen milk."
    assert around.outcome is Outcome.STORED


@pytest.mark.proves("L6")
def test_forgetting_one_memory_does_not_make_the_words_of_another_somebody_s(foreword: Foreword) -> None:
    texts = ("The blue ferry sails to the island at noon.", "The red ferry sails to the island at dusk.")
    ids = [foreword.record(Event(text, session=MAIN)).id for text in texts]
    brief = foreword.brief(Ask("Which ferry sails to the island, at noon or at dusk?", session="agent:main:b"))
    assert set(brief.memories) == set(ids)
    foreword.forget([ids[1]])
    assert foreword.record(Event(texts[0], session="agent:main:c")).outcome is Outcome.SKIPPED


@pytest.mark.proves("B5")
def test_a_wrapped_long_message_leaves_nothing_in_the_receipts_either(foreword: Foreword, tmp_path: Path) -> None:
    words = "I was told today that it is an adenocarcinoma, and I am afraid. " * 8
    wrapped = f"[Sun 2026-11-15 18:06 UTC] {words}<system-reminder>be kind</system-reminder>"
    foreword.brief(Ask(wrapped, session="agent:main:a"))
    kept = foreword.record(Event(wrapped, session="agent:main:a"))
    note = foreword.record(Event("Gout diary", kind=Kind.NOTE, session="agent:main:a"))
    compacted = foreword.compact("agent:main:b").text
    foreword.forget([kept.id, note.id])
    left = _bytes_of(tmp_path / "home")
    assert b"adenocarcinoma" not in left
    assert content_hash(compacted).encode() not in left


def test_forgetting_by_session_finds_the_key_however_it_is_written(foreword: Foreword) -> None:
    foreword.record(Event("A thing to forget soon.", session=" agent:main:x "))
    foreword.record(Event("Another thing to forget.", session="agent:main:" + "y" * 700))
    assert len(foreword.forgettable(session="agent:main:x")) == 1
    assert len(foreword.forgettable(session=" agent:main:x ")) == 1
    assert len(foreword.forgettable(session="agent:main:" + "y" * 700)) == 1


@pytest.mark.proves("L6")
def test_memory_tools_are_never_recorded(foreword: Foreword) -> None:
    recorded = foreword.record(
        Event("m1: the spare key", kind=Kind.OBSERVATION, session=MAIN, tool="mcp__foreword__mem_search")
    )
    assert recorded.outcome is Outcome.SKIPPED
    assert foreword.status()["memories"] == 0


@pytest.mark.proves("L4")
def test_exclusion_is_apart_for_capture_and_injection_and_status_shows_it(
    open_home: Callable[..., Foreword],
) -> None:
    foreword = open_home(guard__exclude_capture=["scratch"], turn__exclude=["build-*"])
    said = Event("The release train leaves on Thursday at noon.", session=MAIN)
    assert foreword.record(Event(said.text, agent="scratch")).outcome is Outcome.SKIPPED
    assert foreword.record(Event(said.text, agent="build-7")).outcome is Outcome.STORED
    foreword.record(said)
    ask = "When does the release train leave on Thursday?"
    silent = foreword.brief(Ask(ask, agent="build-7", session="s1"))
    assert not silent
    assert "excluded from injection" in silent.reason
    assert not foreword.start("s1", agent="build-7")
    assert foreword.brief(Ask(ask, session="agent:main:x"))
    assert foreword.status()["excluded"] == {"capture": ["scratch"], "injection": ["build-*"]}


@pytest.mark.proves("L4")
def test_what_may_not_be_recorded_is_not_kept_as_an_ask_either(
    open_home: Callable[..., Foreword], tmp_path: Path
) -> None:
    foreword = open_home(guard__exclude_capture=["scratch"])
    for ask in (
        Ask("Is the marzipan conspiracy still on?", agent="scratch", session="s1"),
        Ask("Is the marzipan conspiracy still on?", session="agent:main:incognito-7f"),
    ):
        brief = foreword.brief(ask)
        assert "(not kept)" in foreword.why(brief.receipt)
    foreword.record(Event("The marzipan is in the cupboard.", session=MAIN))
    foreword.brief(Ask("Where is the marzipan, since last Tuesday?", session="agent:main:incognito-8"))
    receipt = foreword.receipt()
    assert receipt["candidates"]
    assert not any(one["terms"] for one in receipt["candidates"])
    assert "time" not in receipt
    foreword.forget(["m1"])
    assert b"marzipan" not in _bytes_of(tmp_path / "home")


@pytest.mark.proves("B5")
def test_no_hash_of_a_secret_is_kept_and_none_survives_forgetting(foreword: Foreword, tmp_path: Path) -> None:
    ask = "My password is hunter2-zebra, please remember to change it."
    foreword.brief(Ask(ask, session="agent:main:z"))
    assert content_hash(ask).encode() not in _bytes_of(tmp_path / "home")
    said = "The lighthouse keeper retires in June, he told me."
    kept = foreword.record(Event(said, session="agent:main:z"))
    foreword.record(Event("Another thing that stays in this session.", session="agent:main:z"))
    foreword.brief(Ask(said, session="agent:main:z"))
    foreword.forget([kept.id])
    assert content_hash(said).encode() not in _bytes_of(tmp_path / "home")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", Outcome.SKIPPED),
        ("   \n\t ", Outcome.SKIPPED),
        ("\0\0", Outcome.SKIPPED),
        ("a note with a NUL \0 in it", Outcome.STORED),
        ("half a surrogate \ud83d pair", Outcome.STORED),
        ('"quoted" AND (NEAR* OR -not) ^col: {x}', Outcome.STORED),
        ("🎉" * 500, Outcome.STORED),
        ("word " * 200_000, Outcome.STORED),
    ],
)
def test_odd_text_is_kept_or_cleanly_skipped(foreword: Foreword, text: str, outcome: Outcome) -> None:
    recorded = foreword.record(Event(text, session=MAIN))
    assert recorded.outcome is outcome
    assert bool(recorded.reason) is (outcome is Outcome.SKIPPED)
    assert foreword.check() == []


def test_what_cannot_be_a_memory_is_refused_by_name(foreword: Foreword) -> None:
    with pytest.raises(TooLarge, match="2,000,000"):
        foreword.record(Event("x" * 2_000_001))
    for event in (Event("hello there", at=float("nan")), Event("hello there", files="not a list"), Event(None)):  # type: ignore[arg-type]
        with pytest.raises(BadInput):
            foreword.record(event)
    assert foreword.status()["memories"] == 0


def test_a_bad_event_among_many_stops_after_the_ones_before_it_are_kept(foreword: Foreword) -> None:
    events = [
        Event("The first of three events.", session=MAIN),
        Event("broken", session=MAIN, sender={}),  # type: ignore[arg-type]
        Event("The third of three events.", session=MAIN),
    ]
    recorded = foreword.record_all(events)
    assert next(recorded).outcome is Outcome.STORED
    with pytest.raises(ForewordError):
        next(recorded)
    assert foreword.status()["memories"] == 1


@pytest.mark.proves("L2")
def test_memory_files_of_a_workspace_are_never_written(
    foreword: Foreword, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    files = {workspace / "MEMORY.md": "# Mine\n", workspace / "memory" / "2026-03-04.md": "- a line of mine\n"}
    for file, text in files.items():
        file.write_text(text)
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}
    monkeypatch.chdir(workspace)
    foreword.record(Event("The MEMORY.md file lists the printers.", session=MAIN, project=str(workspace)))
    foreword.brief(Ask("What does the MEMORY.md file list?", session="agent:main:w", project=str(workspace)))
    foreword.start("agent:main:w", project=str(workspace))
    foreword.compact("agent:main:w", project=str(workspace))
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files} == before
    assert sorted(file.name for file in workspace.rglob("*") if file.is_file()) == ["2026-03-04.md", "MEMORY.md"]
