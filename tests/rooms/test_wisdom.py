"""Lessons → themes → patterns → a section that keeps its rules, and a file in which nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foreword.compose import count_tokens
from foreword.errors import ProviderError, ReviewError
from foreword.providers import StaticEmbedder
from foreword.wisdom import (
    EXTRACTIVE,
    HEADING,
    LOAD_BEARING,
    MAX_TOKENS,
    Lesson,
    Pattern,
    check,
    collect,
    distil,
    entries_of,
    found_in,
    last_compressed,
    rendered,
    replaced,
    tightened,
)
from tests import lessons as shop

TODAY = date(2026, 3, 4)
EMBED = StaticEmbedder().embed


def plain(text: str) -> str:
    return text


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return shop.write(tmp_path / "workspace", TODAY)


def learnt(workspace: Path) -> Sequence[Lesson]:
    return collect(workspace, TODAY, redact=plain).lessons


def broken(section: str) -> list[str]:
    return [str(one) for one in check(section, count_tokens=count_tokens)]


# lessons


@pytest.mark.proves("T6")
def test_lessons_come_from_all_four_sources_and_from_nowhere_else(workspace: Path) -> None:
    found = collect(workspace, TODAY, redact=plain)
    texts = {one.text for one in found.lessons}
    assert len(found.lessons) == 59
    assert found.warnings == ()
    assert {one.source.partition("/")[0] for one in found.lessons} == {
        "AGENTS.md",
        "LESSONS_LEARNED.md",
        "MEMORY.md",
        "memory",
    }
    assert "Read the whole error message before changing code." in texts
    assert "announce a deploy before it starts, and watch the error rate after it." in texts
    for stranger in ("fence", "no lesson", "Three people", "groceries", "too old", "USER.md"):
        assert not any(stranger in text for text in texts), stranger


@pytest.mark.proves("T6")
def test_a_missing_source_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n\nNothing was learnt.\n")
    found = collect(tmp_path, TODAY, redact=plain)
    assert found.lessons == ()
    told = " ".join(found.warnings)
    for name in (
        "AGENTS.md is not there",
        "LESSONS_LEARNED.md is not there",
        "MEMORY.md holds no lessons",
        "daily notes",
    ):
        assert name in told


def test_a_lesson_that_is_written_twice_is_one_and_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("- Never read this file from elsewhere.\n")
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "LESSONS_LEARNED.md").write_text(
        "- Check the disk before a build.\n- **Check the disk before a build**\n"
    )
    (folder / "AGENTS.md").symlink_to(tmp_path / "secret.md")
    found = collect(folder, TODAY, redact=plain)
    assert [one.text for one in found.lessons] == ["Check the disk before a build."]
    assert any("leads out of the workspace" in one for one in found.warnings)


# distil


@pytest.mark.proves("T6", "T7")
def test_an_extractive_draft_keeps_every_rule_and_each_pattern_stands_for_three_lessons(workspace: Path) -> None:
    lessons = learnt(workspace)
    made = distil(lessons, embed=EMBED, count_tokens=count_tokens)
    section = rendered([one.text for one in made.patterns], str(TODAY), len(lessons))
    assert broken(section) == []
    assert made.by == EXTRACTIVE
    assert 6 <= len(made.patterns) <= 14
    assert all(len(one.lessons) >= 3 for one in made.patterns)
    held = [lesson.fingerprint for one in made.patterns for lesson in one.lessons]
    assert len(held) == len(set(held)), "a lesson belongs to one theme"
    assert {*held} | {one.fingerprint for one in made.alone} == {one.fingerprint for one in lessons}
    assert last_compressed(section) == ("2026-03-04", 59)


@pytest.mark.proves("T6")
def test_a_theme_holds_lessons_that_say_alike(workspace: Path) -> None:
    made = distil(learnt(workspace), embed=EMBED, count_tokens=count_tokens)
    by_word = {
        word: [one for one in made.patterns if sum(word in lesson.text.lower() for lesson in one.lessons) >= 3]
        for word in ("backup", "zone", "customer", "log")
    }
    assert all(len(found) == 1 for found in by_word.values()), by_word


def test_the_same_lessons_give_the_same_draft_whatever_their_order_within_a_theme(workspace: Path) -> None:
    lessons = learnt(workspace)
    first = distil(lessons, embed=EMBED, count_tokens=count_tokens)
    again = distil(lessons, embed=EMBED, count_tokens=count_tokens)
    assert first == again


def test_specifics_go_or_become_common_nouns() -> None:
    lessons = [
        Lesson("Always take a backup of `shop.db` before migrating to v3.2 on port 5433.", "a"),
        Lesson("Never migrate the database without a backup: it broke on 2026-01-14.", "b"),
        Lesson("We should take a backup before every migration of 10.0.0.7.", "c"),
    ]
    made = distil(lessons, embed=EMBED, count_tokens=count_tokens)
    assert [one.text for one in made.patterns] == ["Take a backup before every migration"]


def test_what_happened_and_headlines_make_no_pattern() -> None:
    notes = ["The backup disk failed last night", "Backup disk status", "Backups: Marta's idea of a backup disk"]
    made = distil([Lesson(one, "a") for one in notes], embed=EMBED, count_tokens=count_tokens)
    assert made.patterns == ()
    assert len(made.alone) == 3
    assert any("No advice" in note for note in made.notes)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_lessons_make_no_pattern_and_still_a_section_that_keeps_the_rules(count: int) -> None:
    made = distil(
        [Lesson(f"Lesson about thing {n} and more", "a") for n in range(count)], embed=EMBED, count_tokens=count_tokens
    )
    assert made.patterns == ()
    assert broken(rendered([], "2026-03-04", count)) == []


def test_what_a_person_approved_keeps_its_words_in_the_next_cycle(workspace: Path) -> None:
    lessons = learnt(workspace)
    first = distil(lessons, embed=EMBED, count_tokens=count_tokens)
    theirs = Pattern("Trust no backup that was never restored", first.patterns[0].lessons)
    gone = Pattern("Leave the campsite cleaner", [Lesson(f"an old lesson {n}", "SOUL.md") for n in "abc"])
    unruly = Pattern("Use port 5433", first.patterns[1].lessons)
    again = distil(lessons, embed=EMBED, count_tokens=count_tokens, approved=[theirs, gone, unruly])
    texts = [one.text for one in again.patterns]
    assert theirs.text in texts
    assert first.patterns[0].text not in texts
    assert unruly.text not in texts


@pytest.mark.proves("T6")
def test_a_writer_s_patterns_are_taken_and_those_that_break_a_rule_are_replaced_and_said_so(workspace: Path) -> None:
    asked: list[str] = []

    def write(instructions: str, material: str) -> str:
        asked.append(material)
        return "1: Prove that backups restore\n2) Ask early, guess never\n3. Use port 5433 for gpt-4o\nchatter\n"

    made = distil(learnt(workspace), embed=EMBED, count_tokens=count_tokens, write=write, writer="scribe")
    texts = [one.text for one in made.patterns]
    assert len(asked) == 1
    assert texts[:2] == ["Prove that backups restore", "Ask early, guess never"]
    assert made.by == "scribe"
    assert any("Use port 5433" in note and "scribe" in note for note in made.notes)
    assert broken(rendered(texts, "2026-03-04", 59)) == []


def test_a_writer_that_fails_or_talks_past_the_point_leaves_the_extractive_draft_and_says_so(workspace: Path) -> None:
    lessons = learnt(workspace)
    own = distil(lessons, embed=EMBED, count_tokens=count_tokens)

    def fails(instructions: str, material: str) -> str:
        raise ProviderError("The writing model is away.")

    for write, said in ((fails, "is away"), (lambda *_: "I cannot do that.", "did not answer with patterns")):
        made = distil(lessons, embed=EMBED, count_tokens=count_tokens, write=write, writer="scribe")
        assert made.patterns == own.patterns
        assert made.by == EXTRACTIVE
        assert any(said in note for note in made.notes)


# rules


def _with(*entries: str) -> str:
    return rendered(entries, "2026-03-04", 12)


@pytest.mark.proves("T6")
@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("Restart whatever listens on port 8080", "a number (8080)"),
        ("Prefer claude-sonnet for long answers", "a model's name"),
        ("Ask gpt-4o twice", "a model's name"),
        ("Never edit /etc/hosts by hand", "a path or a file"),
        ("Write it into MEMORY.md at once", "a path or a file"),
        ("Pin it to v2 before upgrading", "a version"),
        ("Deploy never after 2026-03-01", "a date"),
        ("Never deploy on Friday", "a date"),
        ("Run it with --force only when asked", "a flag"),
        ("Set MAX_RETRIES before calling", "an identifier"),
        ("See https://example.net for more", "an address"),
        ("Use `rsync` for copies", "code"),
        (
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
            "16 words",
        ),
    ],
)
def test_an_entry_that_breaks_a_rule_is_named_with_the_rule(entry: str, rule: str) -> None:
    found = broken(_with("Ask before acting", entry))
    assert len(found) == 1
    assert entry in found[0]
    assert rule in found[0]


@pytest.mark.proves("T7")
def test_a_section_without_the_load_bearing_entry_is_refused() -> None:
    section = _with("Ask before acting")
    assert broken(section) == []
    assert "must survive every cycle" in broken(section.replace(f"- {LOAD_BEARING}\n", ""))[0]
    assert broken(section.replace("historical knowledge", "old knowledge")) != []


@pytest.mark.proves("T6")
def test_too_many_tokens_too_many_entries_a_missing_line_and_another_heading_are_refused() -> None:
    assert any(
        "150 are the most" in one for one in broken(_with(*(f"Keep calm and carry on {w}" for w in "abcdefghijklm")))
    )
    assert any("15 are the most" in one for one in broken(_with(*(f"Go {w}" for w in "abcdefghijklmnop"))))
    assert any("Last compressed" in one for one in broken(_with("Ask").replace("_Last compressed", "_Made")))
    assert any("another heading" in one for one in broken(_with("Ask") + "\n## More\n"))
    assert any("does not begin" in one for one in broken("# Wisdom\n"))


def test_an_entry_that_an_editor_wrapped_is_one_entry() -> None:
    section = _with("Ask before acting").replace("check your memory. Read", "check your memory.\n  Read")
    assert broken(section) == []
    assert entries_of(section) == ["Ask before acting", LOAD_BEARING]


# SOUL.md

NEW = rendered(["Ask before acting"], "2026-03-04", 12)


@pytest.mark.proves("T6")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["", "{n}", "{n}{n}{n}"])
@pytest.mark.parametrize("after", ["", "{n}{n}## Tone{n}{n}Short.", "{n}{n}# Next{n}", "{n}{n}Next{n}===={n}more"])
def test_the_section_is_replaced_and_every_other_byte_is_kept(newline: str, mark: str, end: str, after: str) -> None:
    head = f"{mark}# SOUL{newline}{newline}Be kind.  {newline}{newline}"
    tail = (after + end).format(n=newline)
    old = f"## Wisdom{newline}_old_{newline}{newline}- Old entry{newline}  wrapped"
    new = newline.join(NEW.strip().splitlines())
    assert replaced((head + old + tail).encode(), NEW) == (head + new + tail).encode()


@pytest.mark.proves("T6")
@pytest.mark.parametrize(
    ("soul", "expected"),
    [
        (b"# SOUL\n", b"# SOUL\n\n{new}\n"),
        (b"# SOUL", b"# SOUL\n\n{new}"),
        (b"# SOUL\r\n\r\n", b"# SOUL\r\n\r\n{new}\r\n"),
        (b"", b"{new}\n"),
        (b"\xef\xbb\xbf# SOUL\n", b"\xef\xbb\xbf# SOUL\n\n{new}\n"),
        (b"```\n## Wisdom\n```\n", b"```\n## Wisdom\n```\n\n{new}\n"),
        (b"~~~~ md\n## Wisdom\n~~~\n~~~~\n", b"~~~~ md\n## Wisdom\n~~~\n~~~~\n\n{new}\n"),
        (b"<!--\n## Wisdom\n-->\n", b"<!--\n## Wisdom\n-->\n\n{new}\n"),
        (b"# Wisdom\n### Wisdom\n## Wisdoms\n", b"# Wisdom\n### Wisdom\n## Wisdoms\n\n{new}\n"),
        (b"    ## Wisdom\n", b"    ## Wisdom\n\n{new}\n"),
    ],
)
def test_where_there_is_no_such_section_it_is_appended(soul: bytes, expected: bytes) -> None:
    newline = b"\r\n" if b"\r\n" in soul else b"\n"
    new = newline.join(NEW.strip().encode().splitlines())
    assert replaced(soul, NEW) == expected.replace(b"{new}", new)


def test_two_sections_and_a_file_that_is_not_utf8_are_refused() -> None:
    with pytest.raises(ReviewError, match="two sections"):
        replaced(b"## Wisdom\n\n## Wisdom\n", NEW)
    with pytest.raises(ReviewError, match="not UTF-8"):
        replaced(b"# SOUL \xff\n", NEW)


_BLOCKS = st.lists(
    st.sampled_from(
        [
            "# A",
            "## B",
            "## Wisdom",
            "### C",
            "text",
            "- item",
            "",
            "```",
            "~~~",
            "<!-- x",
            "-->",
            "Title\n===",
            "---",
            "\u2028x",
        ]
    ),
    max_size=14,
)


@given(_BLOCKS, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_replacing_twice_equals_once_and_the_section_is_found_again(
    blocks: list[str], newline: str, marked: bool, ended: bool
) -> None:
    text = newline.join(blocks).replace("\r\n", "\n").replace("\n", newline) + (newline if ended else "")
    soul = (("\ufeff" if marked else "") + text).encode()
    try:
        once = replaced(soul, NEW)
        assume(found_in(once.decode()).strip() == NEW.strip())
    except ReviewError:
        return
    assert replaced(once, NEW) == once
    other = rendered(["Look twice"], "2026-04-01", 3)
    assert replaced(replaced(once, other), NEW) == once


# soul


@pytest.mark.proves("T10")
def test_a_tightened_soul_fits_with_its_wisdom_and_keeps_who_it_is_and_its_limits() -> None:
    long = (
        shop.SOUL
        + "\n## Habits\n\n"
        + "\n".join(f"- Habit {word} is a long one that can go." for word in "abcdefgh" * 3)
    )
    wisdom = rendered(["Ask before acting", "Read the log before guessing"], "2026-03-04", 12)
    made = tightened(long, wisdom, count_tokens=count_tokens, max_tokens=200)
    assert count_tokens(made.text.strip()) <= 200
    assert made.text.endswith(wisdom)
    assert broken(found_in(made.text)) == []
    for kept in ("# SOUL.md", "You are the assistant of a small software shop.", "What is private stays private."):
        assert kept in made.text
    assert "Habit" in " ".join(made.left_out)
    body = made.text.split(HEADING)[0]
    assert [one for one in body.splitlines() if one and one not in _plain(long)] == []


def _plain(text: str) -> str:
    return text.replace("**", "")


def test_the_load_bearing_entry_alone_leaves_room_for_patterns() -> None:
    assert count_tokens(rendered([], "2026-03-04", 9999).strip()) < MAX_TOKENS / 2
