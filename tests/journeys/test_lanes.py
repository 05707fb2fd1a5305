"""A brief on its way into a workspace: whose, which file, and what must never be found there."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foreword import Ask, Event, Foreword
from foreword.errors import BadInput, StoreBusy
from foreword.store import FILE_NAME
from tests.conftest import Clock

Open = Callable[..., Foreword]
MAIN = "agent:main:main"
GROUP = "agent:main:telegram:group:-100"
FACT = "The staging database listens on port 5433, production on 5432."
ASK = "Which port does the staging database listen on?"
SMALL_TALK = "Good morning to you, how are you today?"
DAY = "memory/2026-03-04.md"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    (made / "memory").mkdir(parents=True)
    (made / "MEMORY.md").write_text("What I know.\n")
    (made / "memory" / "2026-03-03.md").write_text("A day.\n")
    return made


def learnt(home: Foreword, workspace: Path, session: str = MAIN, **where: Any) -> str:
    return home.bootstrap(session, workspace, ["SOUL.md"], **where).context_file


def everything_in(workspace: Path) -> bytes:
    return b"\n".join(file.read_bytes() for file in sorted(workspace.rglob("*")) if file.is_file())


# The file


@pytest.mark.proves("S6", "S7")
def test_after_a_turn_the_file_holds_its_memories_and_after_a_silent_one_it_is_empty(
    open_home: Open, workspace: Path, clock: Clock
) -> None:
    home = open_home(lanes__hot="both")
    home.record(Event(FACT, session="monday"))
    file = Path(learnt(home, workspace))
    assert file == workspace / "FOREWORD.md"
    assert file.read_bytes() == b""
    clock.forward(days=1)
    brief = home.brief(Ask(ASK, session=MAIN))
    assert brief.file == str(file)
    assert FACT in brief.text
    first, heading, *_, item = file.read_text().splitlines()
    assert first.startswith("<!-- ethos:context ts=2026-03-05T12:00:00Z query_score=0.9")
    assert heading == "## 🧠 Memory Context"
    assert item.startswith(f"1. **[2026-03-04]** {FACT} *(score: 0.9")
    silent = home.brief(Ask(SMALL_TALK, session=MAIN))
    assert (silent.text, silent.file) == ("", "")
    assert file.read_bytes() == b""


@pytest.mark.proves("S6")
def test_the_ethos_profile_writes_its_own_file_and_others_write_none(open_home: Open, workspace: Path) -> None:
    for number, (profile, files) in enumerate(
        {"ethos": ["ETHOS_CONTEXT.md"], "foreword": [], "adaptive-memory": []}.items()
    ):
        home = open_home(f"home{number}", profile=profile)
        home.record(Event(FACT, session="monday"))
        named = learnt(home, workspace)
        assert home.brief(Ask(ASK, session=MAIN)).text
        assert [Path(named).name] == files or (named, files) == ("", [])
        assert sorted(one.name for one in workspace.glob("*.md") if one.name != "MEMORY.md") == files
        (workspace / "ETHOS_CONTEXT.md").unlink(missing_ok=True)


@pytest.mark.proves("S7")
def test_two_agents_never_write_into_one_another_s_workspace(open_home: Open, tmp_path: Path) -> None:
    home = open_home(lanes__hot="both", lanes__journal=True)
    folders = {agent: tmp_path / agent for agent in ("main", "other")}
    for agent, folder in folders.items():
        folder.mkdir()
        home.record(Event(f"The code of the {agent} cellar door is 419{len(agent)}.", agent=agent, session="monday"))
        learnt(home, folder, agent=agent)
    for agent in folders:
        assert home.brief(Ask("What is the code of the cellar door?", session=MAIN, agent=agent)).text
    for agent, folder in folders.items():
        written = everything_in(folder).decode()
        assert written.count(f"The code of the {agent} cellar door") == 2
        assert ("the other cellar" in written) == (agent == "other")


@pytest.mark.proves("S7")
def test_a_restarted_engine_still_knows_where_a_session_works(open_home: Open, workspace: Path) -> None:
    first = open_home(lanes__hot="both")
    first.record(Event(FACT, session="monday"))
    learnt(first, workspace)
    first.close()
    second = open_home(lanes__hot="both")
    assert second.brief(Ask(ASK, session=MAIN)).file == str(workspace / "FOREWORD.md")


@pytest.mark.proves("S7")
def test_without_a_known_workspace_nothing_is_written_and_the_receipt_says_so(
    open_home: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    home = open_home(lanes__hot="both", lanes__journal=True)
    home.record(Event(FACT, session="monday"))
    before = everything_in(workspace)
    brief = home.brief(Ask(ASK, session="agent:main:elsewhere"))
    assert (bool(brief.text), brief.file) == (True, "")
    assert "No workspace is known for this session" in home.why(brief.receipt)
    assert everything_in(workspace) == before


@pytest.mark.proves("S7")
def test_a_host_without_a_bootstrap_event_tells_the_workspace_with_its_ask(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__hot="both")
    home.record(Event(FACT, session="monday"))
    assert home.brief(Ask(ASK, session=MAIN, workspace=str(workspace))).file
    assert FACT in (workspace / "FOREWORD.md").read_text()
    with pytest.raises(BadInput, match="absolute"):
        home.brief(Ask(ASK, session=MAIN, workspace="workspace"))
    assert (workspace / "FOREWORD.md").read_bytes() == b"", "a turn that failed leaves nothing behind"


@pytest.mark.proves("S7")
def test_a_session_that_moves_leaves_an_empty_file_behind(open_home: Open, workspace: Path, tmp_path: Path) -> None:
    home = open_home(lanes__hot="both")
    home.record(Event(FACT, session="monday"))
    learnt(home, workspace)
    home.brief(Ask(ASK, session=MAIN))
    (tmp_path / "new").mkdir()
    assert learnt(home, tmp_path / "new") == str(tmp_path / "new" / "FOREWORD.md")
    assert (workspace / "FOREWORD.md").read_bytes() == b""


@pytest.mark.proves("B4", "S6")
def test_what_the_last_one_was_given_is_gone_when_another_turn_of_the_session_begins(
    open_home: Open, workspace: Path
) -> None:
    home = open_home(lanes__hot="both")
    home.record(Event(FACT, session="monday"))
    assert learnt(home, workspace)
    assert home.brief(Ask(ASK, session=MAIN)).text
    assert FACT in (workspace / "FOREWORD.md").read_text()
    # All direct messages may share one session, and a host does not tell here whose turn it is.
    assert Path(learnt(home, workspace)).read_text() == ""


def test_in_the_file_alone_the_host_is_given_nothing_to_inject(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__hot="file")
    said = home.record(Event(FACT, session="monday"))
    unknown = home.brief(Ask(ASK, session="agent:main:elsewhere"))
    assert FACT in unknown.text, "what no file can carry is not lost"
    learnt(home, workspace)
    for _ in range(2):  # the second is a retry, answered from memory
        brief = home.brief(Ask(ASK, session=MAIN))
        assert (brief.text, brief.memories, brief.file) == ("", (said.id,), str(workspace / "FOREWORD.md"))
        assert FACT in (workspace / "FOREWORD.md").read_text()


def test_a_retry_finds_its_memories_in_the_file_again(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__hot="both")
    home.record(Event(FACT, session="monday"))
    for session in (MAIN, GROUP):
        learnt(home, workspace, session)
    home.brief(Ask(ASK, session=MAIN))
    home.brief(Ask(SMALL_TALK, session=GROUP))
    assert (workspace / "FOREWORD.md").read_bytes() == b""
    home.brief(Ask(ASK, session=MAIN))
    assert FACT in (workspace / "FOREWORD.md").read_text()


# Who may read it


@pytest.mark.proves("B4")
def test_what_a_private_turn_left_is_gone_when_a_group_of_the_same_workspace_begins(
    open_home: Open, workspace: Path
) -> None:
    home = open_home(lanes__hot="both", owner__ids=["telegram:777"], bootstrap__enabled=True)
    home.record(Event(FACT, session=MAIN, sender="777"))
    file = Path(learnt(home, workspace))
    home.brief(Ask(ASK, session=MAIN))
    assert FACT in file.read_text()
    learnt(home, workspace, GROUP)
    assert file.read_bytes() == b""
    home.brief(Ask(ASK, session=GROUP, sender="777"))
    assert file.read_bytes() == b""


@pytest.mark.proves("B4", "B3")
@pytest.mark.parametrize("name", ["FOREWORD.md", "foreword.md", "./FOREWORD.md", "ETHOS_CONTEXT.md"])
def test_a_context_file_is_never_read_into_anybody_s_prompt_at_bootstrap(
    open_home: Open, workspace: Path, name: str
) -> None:
    """At bootstrap no host tells who asks, and the file is of whoever asked last."""
    sets = {f"bootstrap__{kind}": ["SOUL.md", name] for kind in ("main_session", "group_chat")}
    home = open_home(lanes__hot="both", bootstrap__enabled=True, **sets)
    home.record(Event(FACT, session=MAIN))
    (workspace / "SOUL.md").write_text("Calm.\n")
    learnt(home, workspace)
    home.brief(Ask(ASK, session=MAIN))
    # As it would be between two turns at once: the private one has just written, the group's is only beginning.
    written = (workspace / "FOREWORD.md").read_text()
    (workspace / "ETHOS_CONTEXT.md").write_text(written)
    for session in (GROUP, MAIN):
        (workspace / "FOREWORD.md").write_text(written)
        found = home.bootstrap(session, workspace, ["SOUL.md", name])
        assert (found.keep, found.add, found.missing) == (("SOUL.md",), (), ())
        assert "5433" not in repr(found)
        assert f"what {name} would hold comes beside the message" in found.reason


@pytest.mark.proves("B5")
@pytest.mark.parametrize("off", [{"guard__exclude_capture": ["main"]}, {"record__enabled": False}, {}])
def test_what_is_said_off_the_record_is_in_no_file_and_no_journal(
    open_home: Open, workspace: Path, off: dict[str, Any]
) -> None:
    writer = open_home()
    writer.record(Event(FACT, session="agent:main:monday"))
    home = open_home(lanes__hot="file", lanes__journal=True, **off)
    session = MAIN if off else "agent:main:incognito-1"
    learnt(home, workspace, session)
    before = everything_in(workspace)
    brief = home.brief(Ask(ASK, session=session))
    assert FACT in brief.text
    assert everything_in(workspace) == before
    assert b"5433" not in before


@pytest.mark.proves("B5")
def test_a_workspace_with_a_secret_in_its_path_is_not_written_down(open_home: Open, tmp_path: Path) -> None:
    home = open_home(lanes__hot="both", lanes__journal=True)
    home.record(Event(FACT, session="monday"))
    token = "ghp_" + "a1B2" * 9
    (tmp_path / token).mkdir()
    assert learnt(home, tmp_path / token) == ""
    brief = home.brief(Ask(ASK, session=MAIN))
    assert (FACT in brief.text, brief.file) == (True, "")
    assert list((tmp_path / token).iterdir()) == []
    assert token.encode() not in everything_in(tmp_path / "home")


# What goes wrong


@pytest.mark.proves("S8")
def test_a_turn_that_fails_or_comes_too_late_leaves_an_empty_file(
    open_home: Open, workspace: Path, tmp_path: Path
) -> None:
    home = open_home(lanes__hot="both")
    home.record(Event(FACT, session="monday"))
    file = Path(learnt(home, workspace))

    def filled() -> None:
        home.compact(MAIN)
        home.brief(Ask(ASK, session=MAIN))
        assert FACT in file.read_text()

    filled()
    assert home.brief(Ask("Which port does production listen on?", session=MAIN), deadline_ms=0).text == ""
    assert file.read_bytes() == b""
    filled()
    other = sqlite3.connect(tmp_path / "home" / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        home.brief(Ask("And production, which port is that?", session=MAIN), deadline_ms=50)
    other.execute("ROLLBACK")
    other.close()
    assert file.read_bytes() == b""
    filled()
    with pytest.raises(BadInput):
        home.brief(Ask(ASK, session=MAIN, workspace="not absolute"))
    assert file.read_bytes() == b""


def test_a_file_of_somebody_else_is_left_alone_and_told_until_it_is_gone(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__hot="file")
    home.record(Event(FACT, session="monday"))
    (workspace / "FOREWORD.md").write_text("# My own preface\n")
    learnt(home, workspace)
    brief = home.brief(Ask(ASK, session=MAIN))
    assert (workspace / "FOREWORD.md").read_text() == "# My own preface\n"
    assert FACT in brief.text, "then the host is given it"
    assert "was not written by Foreword" in home.why(brief.receipt)
    [problem] = home.status()["lanes"]["problems"]
    assert problem.startswith(f"{workspace}/FOREWORD.md was not written by Foreword")
    (workspace / "FOREWORD.md").unlink()
    home.compact(MAIN)
    assert home.brief(Ask(ASK, session=MAIN)).file
    assert home.status()["lanes"]["problems"] == []


def test_no_file_is_looked_at_while_the_lanes_are_off(open_home: Open, workspace: Path) -> None:
    home = open_home()
    home.record(Event(FACT, session="monday"))
    os.mkfifo(workspace / "FOREWORD.md")
    assert learnt(home, workspace) == ""
    assert home.brief(Ask(ASK, session=MAIN, workspace=str(workspace))).text
    assert home.status()["lanes"]["files"] == []


# The journal


@pytest.mark.proves("D8", "L2")
def test_notes_are_written_only_on_request_and_then_only_the_day_s_own(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__hot="both")
    home.record(Event(FACT, session="monday"))
    learnt(home, workspace)
    notes = {file: file.read_bytes() for file in (workspace / "MEMORY.md", *(workspace / "memory").iterdir())}
    assert home.brief(Ask(ASK, session=MAIN)).text
    assert {file: file.read_bytes() for file in (workspace / "MEMORY.md", *(workspace / "memory").iterdir())} == notes

    asked = open_home(lanes__journal=True)
    learnt(asked, workspace, "agent:main:second")
    brief = asked.brief(Ask(ASK, session="agent:main:second"))
    assert FACT in brief.text
    assert {file: file.read_bytes() for file in notes} == notes
    section = (workspace / DAY).read_text()
    assert section.startswith("<!-- adaptive-memory:session=agent:main:second -->\n## Recalled memory\n\n- Time: ")
    assert f"- Query: {ASK}\n" in section
    assert f"% `m1` [2026-03-04] {FACT}\n" in section


@pytest.mark.proves("D8")
def test_a_session_is_in_the_day_s_journal_once_whatever_else_it_asks(open_home: Open, workspace: Path) -> None:
    home = open_home(profile="adaptive-memory", lanes__journal=True, turn__once_per_session=False, turn__debounce_ms=0)
    home.record(Event("My sister Ada lives in Graz.", session="monday"))
    home.record(Event("My brother Otto's boat is called Sturmvogel.", session="monday"))
    learnt(home, workspace)
    assert home.brief(Ask("Where does my sister Ada live?", session=MAIN)).text
    assert home.brief(Ask("What is my brother Otto's boat called?", session=MAIN)).text
    written = (workspace / DAY).read_text()
    assert (written.count("<!-- adaptive-memory:session="), "Sturmvogel" in written) == (1, False)


@pytest.mark.proves("D8", "B5")
def test_no_secret_of_an_ask_is_in_the_journal(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__journal=True, gate__confident=0.1, gate__floor=0.1)
    home.record(Event(FACT, session="monday"))
    learnt(home, workspace)
    token = "ghp_" + "a1B2" * 9
    assert home.brief(Ask(f"{ASK} My token is {token}.", session=MAIN)).text
    assert token.encode() not in everything_in(workspace)
    assert (workspace / DAY).exists()


@pytest.mark.proves("D8", "L6")
def test_what_the_lanes_wrote_is_not_recorded_when_an_agent_reads_it(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__hot="both", lanes__journal=True)
    home.record(Event(FACT, session="monday"))
    learnt(home, workspace)
    home.brief(Ask(ASK, session=MAIN))
    for file in (workspace / DAY, workspace / "FOREWORD.md"):
        assert not home.record(Event(file.read_text(), session=MAIN)).id


# Forgetting


@pytest.mark.proves("B5")
def test_what_is_forgotten_is_in_no_file_and_no_journal_either(
    open_home: Open, workspace: Path, tmp_path: Path
) -> None:
    home = open_home(lanes__hot="both", lanes__journal=True)
    said = home.record(Event(FACT, session="monday"))
    home.record(Event("My sister Ada lives in Graz.", session="monday"))
    for session, ask in ((MAIN, "Where does my sister Ada live?"), ("agent:main:second", ASK)):
        learnt(home, workspace, session)
        assert home.brief(Ask(ASK, session=session) if ask is ASK else Ask(ask, session=session)).text
    assert b"5433" in everything_in(workspace)
    # Another process, with no lane on: what was written is known by the store.
    forgotten = open_home().forget([said.id])
    assert (forgotten.memories, forgotten.sections, forgotten.left) == (1, 1, ())
    assert b"5433" not in everything_in(workspace)
    assert "Ada lives in Graz" in (workspace / DAY).read_text()


@pytest.mark.proves("B5")
def test_an_ask_that_said_the_same_words_goes_from_the_journal_too(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__journal=True)
    home.record(Event(FACT, session="monday"))
    learnt(home, workspace)
    assert home.brief(Ask(ASK, session=MAIN)).text
    asked = home.record(Event(ASK, session=MAIN))
    assert home.forget([asked.id]).sections == 1
    assert b"staging" not in everything_in(workspace)


@pytest.mark.proves("B5")
def test_forgetting_while_turns_are_taken_leaves_nothing_behind(open_home: Open, workspace: Path) -> None:
    home = open_home(lanes__hot="both", lanes__journal=True)
    sessions = [f"agent:main:{number}" for number in range(6)]
    for session in sessions:
        learnt(home, workspace, session)
    for _ in range(5):
        said = home.record(Event(FACT, session="monday"))
        ready = threading.Barrier(len(sessions) + 1)

        def asks(session: str, ready: threading.Barrier = ready) -> None:
            ready.wait()
            home.brief(Ask(ASK, session=session))

        with ThreadPoolExecutor(len(sessions) + 1) as pool:
            asking = [pool.submit(asks, session) for session in sessions]
            ready.wait()
            home.forget([said.id])
            for one in asking:
                one.result()
        assert b"5433" not in everything_in(workspace)
