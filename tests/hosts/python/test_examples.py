"""The page for Python programs keeps what it says, on the real libraries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hosts.program import FRAME
from tests.hosts.python.talk import LIBRARIES, PAGE, PYTHON, Library, Talk, talk

FACT = "The staging database listens on port 6544 behind the bastion."
QUESTION = "Which port does the staging database listen on?"
SMALL_TALK = "Please reverse the word stressed. [[say:It is desserts, read backwards.]]"


@pytest.fixture(scope="module", params=LIBRARIES, ids=lambda one: one.name)
def library(request: pytest.FixtureRequest) -> Library:
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is missing: run `make hosts`")
    found: Library = request.param
    return found


@pytest.fixture(scope="module")
def held(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Talk:
    """A question that a memory answers, then small talk."""
    folder = tmp_path_factory.mktemp(library.name) / "talk"
    return talk(library, folder, [QUESTION, SMALL_TALK], knows=FACT)


@pytest.mark.proves("S3", "B3", "B7")
def test_the_memory_stands_right_behind_the_message_it_answers(held: Talk) -> None:
    first, _ = held.requests
    said = [(one.role, one.text) for one in first.said if one.role != "system"]
    assert "port 6544" not in first.system
    words = "\n".join(text for _, text in said)
    assert words.startswith(QUESTION)
    assert FRAME in words
    assert "port 6544" in words.removeprefix(QUESTION)
    assert {role for role, _ in said} == {"user"}


@pytest.mark.proves("L3")
def test_a_turn_that_needs_nothing_is_sent_as_it_would_be_without_foreword(held: Talk) -> None:
    _, second = held.requests
    assert [(one.role, one.text) for one in second.said if one.role != "system"] == [
        ("user", QUESTION),
        ("assistant", "Understood."),
        ("user", SMALL_TALK),
    ]
    assert b"foreword" not in second.raw


def test_what_the_library_stores_stays_clean(held: Talk) -> None:
    assert "desserts, read backwards" in held.stored
    assert FRAME not in held.stored
    assert "6544" not in held.stored


@pytest.mark.proves("S1", "L6")
def test_what_was_said_is_kept_and_what_was_injected_is_not(held: Talk) -> None:
    assert held.answers == ["Understood.", "It is desserts, read backwards."]
    assert [one for one in held.kept() if one[1] != "Understood."] == [
        ("owner", FACT),
        ("owner", QUESTION),
        ("owner", SMALL_TALK),
        ("agent", "It is desserts, read backwards."),
    ]


@pytest.mark.proves("S8", "L7", "L8")
def test_the_answer_comes_all_the_same_when_memory_fails(
    library: Library, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp(library.name) / "broken"
    failed = talk(library, folder, [QUESTION], broken=True)
    assert failed.answers == ["Understood."]
    assert FRAME not in json.dumps([request.body for request in failed.requests])


def test_the_page_names_the_versions_that_are_tested() -> None:
    lines = Path(__file__).with_name("requirements.txt").read_text().splitlines()
    for name in ("openai-agents", "langchain", "pydantic-ai-slim", "litellm"):
        (version,) = [line.partition("==")[2] for line in lines if line.startswith(f"{name}==")]
        assert f"{name.removesuffix('-slim')} {version}" in PAGE
