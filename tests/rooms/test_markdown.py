"""A note in pieces: by heading and paragraph, in its own words, never too long, and nothing of it lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.record.markdown import MAX_CHUNK_CHARS, MAX_CHUNKS, date_in, note
from foreword.record.vault import Keeping, chunks_of, excluded, is_note, problem_of, text_of
from tests.scaling import is_linear

NOTE = """\
---
title: The Boat
tags: [sailing, "home"]
aliases:
  - Dinghy
  - Old Tub
date: 2026-03-04
---
# Boat House

The spare key hangs behind the oars. #keys

## Winter

Ropes are in the loft.

- tar
- twine

### Covers

| item | place |
|---|---|
| sail | Loft |

## Summer

```python
# not a heading
#notatag

key = "oars"
```
"""


def noon(day: str) -> float:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp()


@pytest.mark.proves("D4")
def test_a_note_is_cut_at_its_headings_and_keeps_its_own_words() -> None:
    read = note(NOTE)
    assert [chunk.headings for chunk in read.chunks] == [
        ("Boat House",),
        ("Boat House", "Winter"),
        ("Boat House", "Winter", "Covers"),
        ("Boat House", "Summer"),
    ]
    assert read.chunks[1].text == "## Winter\n\nRopes are in the loft.\n\n- tar\n- twine"
    assert "| sail | Loft |" in read.chunks[2].text


@pytest.mark.proves("D4")
def test_front_matter_is_understood_and_is_a_chunk_only_where_it_says_more() -> None:
    read = note(NOTE)
    assert (read.title, read.tags, read.aliases) == ("The Boat", ("sailing", "home"), ("Dinghy", "Old Tub"))
    assert read.at == noon("2026-03-04")
    assert not any(chunk.head for chunk in read.chunks)
    told = note("---\nbirthday: 1990-02-03\ntags: friend, paris\n---\nMaya.")
    assert [(chunk.head, chunk.text) for chunk in told.chunks] == [
        (True, "---\nbirthday: 1990-02-03\ntags: friend, paris\n---"),
        (False, "Maya."),
    ]
    assert told.tags == ("friend", "paris")


def test_what_only_looks_like_front_matter_is_text() -> None:
    assert note("---\nno end").chunks[0].text == "---\nno end"
    assert note("text\n---\ntags: a\n---\n").tags == ()


def test_code_is_not_read_for_headings_or_tags() -> None:
    summer = note(NOTE).chunks[3]
    assert "# not a heading" in summer.text
    assert summer.tags == ()
    assert note("See `#not` and #yes, colour #fff, issue #12, page#no.").chunks[0].tags == ("yes",)


def test_a_fence_inside_a_list_and_one_that_never_ends_hide_their_headings() -> None:
    assert len(note("- a\n  ```\n  # x\n  ```\n- b").chunks) == 1
    assert len(note("```\n# x\n\n# y\n").chunks) == 1


def test_an_underlined_title_is_a_heading_and_a_rule_is_not() -> None:
    assert [chunk.headings for chunk in note("Boats\n=====\n\ntext\n\nOars\n----\nmore").chunks] == [
        ("Boats",),
        ("Boats", "Oars"),
    ]
    assert [chunk.headings for chunk in note("a\n\n---\n\nb\n- item\n---\nc").chunks] == [()]


def test_headings_without_text_wait_for_some() -> None:
    (chunk,) = note("# A\n\n## B\n\n### [[C|see]] **d**\n\ntext").chunks
    assert chunk.headings == ("A", "B", "see d")
    assert chunk.opens == ("A", "B", "see d")


@pytest.mark.proves("D4")
def test_a_long_table_keeps_its_head_and_long_code_its_fence() -> None:
    rows = "\n".join(f"| boat {number} | berth {number} |" for number in range(200))
    chunks = note(f"# Berths\n\n| boat | berth |\n|---|---|\n{rows}\n").chunks
    assert len(chunks) > 3
    assert all("| boat | berth |\n|---|---|" in chunk.text for chunk in chunks)
    code = "\n".join(f"line_{number} = {number}" for number in range(300))
    chunks = note(f"```python\n{code}\n```").chunks
    assert len(chunks) > 3
    assert all(chunk.text.startswith("```python\n") and chunk.text.endswith("\n```") for chunk in chunks)


def test_a_long_line_is_cut_at_a_sentence() -> None:
    line = "The boat is blue. " * 200
    chunks = note(line).chunks
    assert all(chunk.text.endswith("blue.") for chunk in chunks)


@pytest.mark.proves("D4")
def test_of_one_note_no_more_than_two_hundred_chunks_are_kept_and_it_is_said() -> None:
    long = "\n\n".join(f"# H{number}\n\ntext {number}" for number in range(MAX_CHUNKS + 5))
    assert len(note(long).chunks) == MAX_CHUNKS
    assert note(long).cut
    assert not note("short").cut


pieces = st.sampled_from(
    [
        "# A",
        "## b",
        "```",
        "~~~py",
        "| a | b |",
        "|---|---|",
        "- x",
        "---",
        "===",
        "",
        "\r",
        "\t#",
        "[[x]]",
        "word " * 300,
    ]
)
notes = st.one_of(st.text(max_size=3000), st.lists(st.one_of(pieces, st.text(max_size=80)), max_size=60).map("\n".join))


@pytest.mark.proves("D4")
@given(notes)
def test_chunks_cover_the_text_in_order_and_none_is_too_long(text: str) -> None:
    read = note(text)
    assert all(0 < len(chunk.text) <= MAX_CHUNK_CHARS for chunk in read.chunks)
    if read.cut or text.startswith("---"):
        return
    kept = iter("".join("".join(chunk.text for chunk in read.chunks).split()))
    assert all(letter in kept for letter in "".join(text.removeprefix("\ufeff").split()))


@pytest.mark.parametrize(
    "piece",
    [
        "|" + " " * 20,
        "|:",
        "|-",
        "a|b\n" + "| " * 30 + "-",
        "~" * 40,
        "~" * 40 + "`",
        "# " + " " * 60,
        "`",
        "[[",
        "](",
        "#a",
        "- ",
        "\n",
        "---\n",
        "> ",
    ],
)
def test_reading_a_hostile_note_stays_linear(piece: str) -> None:
    assert is_linear(note, piece * (60_000 // len(piece)))


@given(st.binary(max_size=3000))
def test_any_bytes_are_a_note_or_are_not_and_nothing_breaks(data: bytes) -> None:
    text = text_of(data)
    if text is not None:
        chunks, _ = chunks_of(text, "a/b.md", 5.0, Keeping("v"), count_tokens=len)
        assert len({chunk.fingerprint for chunk in chunks}) == len(chunks)
        for chunk in chunks:
            chunk.memory.text.encode()


@pytest.mark.parametrize(
    ("name", "day"),
    [("2026-03-04", "2026-03-04"), ("log 2026-03-04 evening", "2026-03-04"), ("2026-13-40", ""), ("12026-03-04", "")],
)
def test_a_name_may_tell_the_day(name: str, day: str) -> None:
    assert date_in(name) == (noon(day) if day else None)


@pytest.mark.proves("D4")
def test_a_chunk_is_dated_by_its_head_then_its_name_then_its_file() -> None:
    def at(text: str, path: str) -> float:
        return chunks_of(text, path, 7.0, Keeping("v"), count_tokens=len)[0][0].memory.at

    assert at("---\ndate: 2026-05-06\n---\nx", "2026-03-04.md") == noon("2026-05-06")
    assert at("x", "memory/2026-03-04.md") == noon("2026-03-04")
    assert at("x", "notes.md") == 7.0
    assert at("---\ncreated: 2026-05-06T10:00:00Z\n---\nx", "n.md") == datetime(2026, 5, 6, 10, tzinfo=UTC).timestamp()


@pytest.mark.proves("D4", "B5")
def test_secrets_and_private_parts_never_become_chunks_even_over_paragraphs() -> None:
    text = "# Keys\n\n<private>\n\nhidden one\n\n# Also\n\nhidden two\n\n</private>\n\nopen\n\nAKIAIOSFODNN7EXAMPLE\n"
    chunks, _ = chunks_of(text, "n.md", 0.0, Keeping("v"), count_tokens=len)
    kept = " ".join(chunk.memory.text for chunk in chunks)
    assert "open" in kept
    assert "hidden" not in kept
    assert "AKIA" not in kept


@pytest.mark.proves("B5")
def test_what_is_hidden_where_a_long_note_is_cut_stays_hidden() -> None:
    long = "word " * 100_000
    text = f"<private>{'hidden ' * 30}{long}hidden</private> open"
    chunks, cut = chunks_of(text, "n.md", 0.0, Keeping("v"), count_tokens=len)
    assert cut
    assert not any("hidden" in chunk.memory.text for chunk in chunks)


def test_what_editors_and_syncing_leave_behind_is_no_note() -> None:
    for name in (".note.md.swp", "note.md~", "note.md.tmp", ".#note.md", "#note.md#", "~$note.md", ".note.md", "a.txt"):
        assert not is_note(name)
    assert is_note("Note.MD")
    for name in (
        "Note (conflicted copy 2026-03-04).md",
        "Note (Maya's conflicted copy 2026-03-04).md",
        "Note.sync-conflict-20260304-101010-ABCDEFG.md",
    ):
        assert "conflict" in problem_of(f"a/{name}", 10)
    assert problem_of("a/Resolving a conflict.md", 10) == ""
    assert problem_of("a/b.md", 100_000_000) == "larger than 2 MB"
    assert "secret" in problem_of("keys/AKIAIOSFODNN7EXAMPLE.md", 10)
    assert "UTF-8" in problem_of("a/\udcff.md", 10)


def test_names_are_left_out_plainly_or_by_glob() -> None:
    left_out = excluded(("node_modules", "Draft*"))
    assert [name for name in ("node_modules", "Drafts", "drafts", "notes") if left_out(name)] == [
        "node_modules",
        "Drafts",
    ]
