"""What of an ask is worth searching with."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.recall import Intent, IntentSettings, intent

USUAL = IntentSettings()


def query(text: str, settings: IntentSettings = USUAL) -> str:
    return intent(text, settings).query


@pytest.mark.proves("D2")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Why does this fail?\n```python\nprint(1)\n```\nI need it today.", "Why does this fail? I need it today."),
        ("Why does this fail?\n~~~\nprint(1)\n~~~", "Why does this fail?"),
        ("Look at ```inline fences``` as well please", "Look at as well please"),
        ("Is the fence open?\n```\nnever closed", "Is the fence open?"),
        ("> he said no\n  > and no again\nWhat did I answer him?", "What did I answer him?"),
        ("Five > three, is it not so?", "Five > three, is it not so?"),
        (
            "What broke last night?\n2026-03-01 12:00:00 boom\n[2026-03-01T12:00:00Z] bang\n12:00:01.5 crash",
            "What broke last night?",
        ),
        ("ERROR: disk on fire\n[WARN] smoke\nINFO - calm\nWhich disk do we own?", "Which disk do we own?"),
        ("Errors are human, are they not?", "Errors are human, are they not?"),
        (
            'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nHow did we fix this before?',
            "How did we fix this before?",
        ),
        ("    at run (/srv/app.js:10:5)\n    at Main.go(Main.java:42)\nSame one as in May?", "Same one as in May?"),
        ("npm ERR! code E404\n$ npm install\nWhich registry do we use?", "Which registry do we use?"),
        ("  many \t\n\n  spaces   here \r\n now ", "many spaces here now"),
        ("a question\0with a hole in it", "a question with a hole in it"),
    ],
)
def test_code_quotes_and_logs_are_left_out(text: str, left: str) -> None:
    assert intent(text, USUAL) == Intent(left)


@pytest.mark.proves("D2", "S5")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the ask is empty"),
        (" \n\t ", "the ask is empty"),
        ("hi", "the ask is shorter than 10 characters"),
        ("123456789", "the ask is shorter than 10 characters"),
        ("heartbeat", "a heartbeat asks for nothing"),
        ("[HEARTBEAT]", "a heartbeat asks for nothing"),
        (" Heartbeat_OK ", "a heartbeat asks for nothing"),
        ("Read HEARTBEAT.md if it exists, then report.\nOr not.", "a heartbeat asks for nothing"),
        ("```\na long piece of code\n```", "nothing is left of the ask without its code, quotes and logs"),
        ("> only somebody else's words", "nothing is left of the ask without its code, quotes and logs"),
    ],
)
def test_an_ask_with_nothing_in_it_says_why(text: str, reason: str) -> None:
    assert intent(text, USUAL) == Intent("", reason)


@pytest.mark.proves("D2")
def test_ten_characters_are_enough() -> None:
    assert query("1234567890") == "1234567890"


def test_a_wide_character_counts_for_two() -> None:
    assert query("牙医什么时候") == "牙医什么时候"
    assert query("牙医呢") == ""


@pytest.mark.proves("D2")
def test_a_long_ask_is_cut_at_280_between_words() -> None:
    cut = query("remember the lighthouse " * 50)
    assert 250 < len(cut) <= 280
    assert cut.endswith(("remember", "the", "lighthouse"))
    assert len(query("x" * 1000)) == 280


def test_a_heartbeat_in_a_sentence_is_a_question() -> None:
    assert query("How often should the heartbeat run?")


@pytest.mark.proves("D3")
@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("How does a regex lookahead work in Python?", True),
        ("Explain recursion and big-O of quicksort sorting", True),
        ("What is the syntax of a SQL left join?", True),
        ("Which regex did we use for the invoices?", False),
        ("What Python version does our project need?", False),
        ("How did I configure nginx last time?", False),
        ("When is the dentist appointment?", False),
        ("What colour are the curtains upstairs?", False),
    ],
)
def test_a_technical_ask_without_anything_personal_is_skipped_only_on_request(text: str, skipped: bool) -> None:
    asked = intent(text, IntentSettings(skip_technical=True))
    assert (asked.query == "") == skipped
    assert bool(asked.reason) == skipped
    assert query(text) == text, "by default everything is searched with"


@pytest.mark.proves("D2")
@settings(max_examples=200, deadline=None)
@given(
    text=st.text(max_size=400)
    | st.lists(st.sampled_from(["```", "~~~", "> q\n", "\n", "ERROR: x\n", "word ", "牙"]), max_size=60).map("".join),
    least=st.integers(0, 30),
    most=st.integers(30, 300),
)
def test_any_text_gives_a_bounded_query_or_a_reason(text: str, least: int, most: int) -> None:
    found = intent(text, IntentSettings(min_chars=least, max_chars=most))
    assert len(found.query) <= most
    assert found.query == " ".join(found.query.split())
    assert bool(found.query) or bool(found.reason) or least == 0
    assert not (found.query and found.reason)


@pytest.mark.parametrize(
    "bulk", ["a" * 1_000_000, "```" * 300_000, "> \n" * 300_000, "2026-01-01 00:00 " * 60_000, "\t" * 10**6]
)
def test_a_megabyte_of_anything_is_read_at_its_beginning(bulk: str) -> None:
    assert len(query("What about the lighthouse? " + bulk)) <= 280
