"""The door for Python programs: it gives, keeps, and never stands in the way."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from pathlib import Path

import pytest

from foreword import Foreword, Prompter, Settings
from foreword.errors import BadInput
from foreword.serve.address import address
from foreword.serve.trail import Failure, cause, failures

FACT = "The staging database listens on port 6544 behind the bastion."
QUESTION = "Which port does the staging database listen on?"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # A busy machine is not a failure.
    monkeypatch.setenv("FOREWORD_SERVE_DEADLINE_MS", "60000")
    monkeypatch.setenv("FOREWORD_SERVE_COLD_DEADLINE_MS", "60000")
    return tmp_path / "home"


def _kept(home: Path) -> list[tuple[str, str, str]]:
    with sqlite3.connect(home / "foreword.db") as database:
        found = database.execute("SELECT agent, origin, text FROM memory ORDER BY row").fetchall()
    database.close()
    return found


def _noted(home: Path) -> list[Failure]:
    return list(failures(address(os.environ, home).failures, since_s=60))


def _told(home: Path, text: str = FACT, agent: str = "helper") -> None:
    with Prompter(agent, home=home) as prompter:
        prompter.heard(text, session="monday")


@pytest.mark.proves("S1", "S3", "L3")
def test_what_was_heard_in_one_conversation_is_given_in_another_and_small_talk_gets_nothing(home: Path) -> None:
    _told(home)
    with Prompter("helper", home=home) as prompter:
        assert "port 6544" in prompter.heard(QUESTION, session="tuesday")
        assert prompter.heard("Please reverse the word stressed.", session="tuesday") == ""
    assert _noted(home) == []


@pytest.mark.proves("S1")
def test_questions_and_answers_are_on_disk_when_it_is_closed(home: Path) -> None:
    with Prompter("helper", home=home) as prompter:
        prompter.heard(QUESTION, session="s")
        prompter.said("It listens on port 6544, as far as I know.", session="s")
    assert _kept(home) == [
        ("helper", "owner", QUESTION),
        ("helper", "agent", "It listens on port 6544, as far as I know."),
    ]


def test_every_call_of_a_turn_is_given_the_same_until_the_answer_is_told(home: Path) -> None:
    _told(home)
    with Prompter("helper", home=home) as prompter:
        first = prompter.heard(QUESTION, session="tuesday")
        assert "port 6544" in first
        prompter.said("", session="tuesday")
        assert prompter.heard(QUESTION, session="tuesday") == first
        prompter.said("On port 6544.", session="tuesday")
        # The conversation has it by now.
        assert "port 6544" not in prompter.heard("So which port does staging listen on?", session="tuesday")
    assert [text for _, _, text in _kept(home)].count(QUESTION) == 1


@pytest.mark.proves("B4")
def test_one_person_s_agent_knows_nothing_of_another_s(home: Path) -> None:
    with Prompter(home=home) as prompter:
        prompter.heard(FACT, session="one", agent="for-anna")
        assert prompter.heard(QUESTION, session="two", agent="for-ben") == ""
        assert "port 6544" in prompter.heard(QUESTION, session="three", agent="for-anna")


def test_the_words_of_a_message_made_of_parts_are_heard(home: Path) -> None:
    _told(home)
    with Prompter("helper", home=home) as prompter:
        parts = [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": QUESTION}]
        assert "port 6544" in prompter.heard(parts, session="tuesday")
        assert prompter.heard([b"\x00", 7, None], session="tuesday") == ""


@pytest.mark.proves("S8", "L7")
def test_a_home_that_cannot_be_opened_is_silence_and_a_line_in_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREWORD_SERVE_COLD_DEADLINE_MS", "60000")
    home = tmp_path / "home"
    home.mkdir()
    (home / "foreword.db").write_text("This is no database, and it is long enough to be looked at." * 20)
    with Prompter("helper", home=home) as prompter:
        assert prompter.heard(QUESTION, session="s") == ""
        prompter.said("I do not know.", session="s")
    assert {one.event for one in _noted(home)} == {"open", "heard", "said"}
    assert {one.host for one in _noted(home)} == {"python"}
    assert not any("staging" in one.cause for one in _noted(home))


@pytest.mark.proves("S8", "L7")
def test_past_the_deadline_it_is_silent_and_the_message_is_still_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _told(home)
    monkeypatch.setenv("FOREWORD_SERVE_DEADLINE_MS", "50")
    with Prompter("helper", home=home) as prompter:
        prompter.heard("Let us begin with something else.", session="tuesday")
        held = sqlite3.connect(home / "foreword.db", isolation_level=None, check_same_thread=False)
        held.execute("BEGIN IMMEDIATE")
        # Somebody writes for a second and a half; nobody waits so long.
        threading.Timer(1.5, held.close).start()
        assert prompter.heard(QUESTION, session="tuesday") == ""
    assert QUESTION in [text for _, _, text in _kept(home)]
    assert any("within 50 ms" in one.cause for one in _noted(home))


def test_after_it_is_closed_it_is_silent(home: Path) -> None:
    _told(home)
    prompter = Prompter("helper", home=home)
    prompter.close()
    prompter.close()
    assert prompter.heard(QUESTION, session="s") == ""
    prompter.said("Too late.", session="s")


def test_a_session_s_name_may_hold_any_sign(home: Path) -> None:
    _told(home)
    with Prompter("helper", home=home) as prompter:
        assert "port 6544" in prompter.heard(QUESTION, session="telegram:group:7|x")
    assert _noted(home) == []


def test_a_name_with_a_word_of_the_hosts_in_it_is_the_owner_s_own_all_the_same(home: Path) -> None:
    with Prompter("concierge", home=home) as prompter:
        for name in ("topic", "cron", "my-subagent-7", "group:12", "heartbeat", "main"):
            prompter.heard(f"For {name}: {FACT}", session=name)
    with Foreword.open(home, settings=Settings()) as engine:
        kept = engine.sessions(limit=20)
        assert len(kept) == 6
        assert {one.audience.label for one in kept} == {"private"}
        assert {one.kind.value for one in kept} == {"fallback", "main_session"}


def test_a_child_that_a_server_forks_hears_as_well(home: Path) -> None:
    with Prompter("concierge", home=home) as prompter:
        prompter.heard(FACT, session="monday")
    prompter = Prompter("concierge", home=home)
    prompter.heard("Let us begin with something else.", session="tuesday")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, prompter.heard(QUESTION, session="wednesday").encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as told:
        heard = told.read()
    os.waitpid(child, 0)
    prompter.close()
    assert b"port 6544" in heard


def test_a_fork_while_something_is_being_written_leaves_no_child_waiting_for_good(home: Path) -> None:
    with Prompter("concierge", home=home) as prompter:
        for turn in range(12):
            prompter.heard(f"Let us speak of number {turn} and of something else.", session=f"turn {turn}")
            child = os.fork()
            if not child:
                try:
                    signal.alarm(20)  # which ends a child that hangs
                    prompter.heard(QUESTION, session=f"child {turn}")
                finally:
                    os._exit(0)
            assert os.waitpid(child, 0)[1] == 0


@pytest.mark.proves("B5")
def test_what_goes_wrong_is_told_without_a_word_that_was_said() -> None:
    assert cause(ValueError(f"cannot read {FACT}")) == "Foreword failed inside (ValueError)."
    assert cause(BadInput("An ask needs words.")) == "An ask needs words."
