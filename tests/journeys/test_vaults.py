"""Folders of notes as memories: read once, followed, never written, and never touched on a turn."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword import Ask, Audience, Event, Foreword, Kind, Origin, Settings
from foreword.errors import BadInput, UnknownId
from foreword.model import Memory, Scope
from foreword.store import SqliteStore
from foreword.vaults import Summary, Taken

EVERYTHING = Scope(agent="", every_agent=True, every_project=True)
ASK = "Where does the spare key of the boat house hang?"
KEY = "# Boat House\n\nThe spare key of the boat house hangs behind the oars.\n"
OTHERS = (
    "My sister Anna has lived in Lisbon since last spring.",
    "The old printer in the hall only works with black ink.",
    "I am allergic to peanuts, so no satay for me.",
    "Our logo uses the colour teal and a serif typeface.",
    "The quarterly report for the board is due on the fourteenth.",
    "Maya's cat is called Biscuit and she is three years old.",
    "We keep the garden hose in the cellar during winter.",
    "Dinner with the neighbours is planned for Saturday.",
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """Every path that this process opens or lists from here on."""
    seen: list[str] = []
    listening = True

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if listening and event in ("open", "os.listdir", "os.scandir", "glob.glob"):
            seen.append(str(arguments[0]))

    sys.addaudithook(hear)
    yield seen
    listening = False


def write(folder: Path, path: str, text: str | bytes, *, age_s: float = 3600) -> Path:
    """A note that was written a while ago."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    at = time.time() - age_s
    os.utime(file, (at, at))
    return file


def add(foreword: Foreword, folder: Path, **options: Any) -> Summary:
    vault = foreword.vaults.proposed(folder, **options)
    foreword.vaults.add(vault)
    return foreword.vaults.bring_up_to_date(vault)


def check(foreword: Foreword, name: str = "notes") -> Summary:
    return foreword.vaults.bring_up_to_date(foreword.vaults.named(name))


def chunks(foreword: Foreword) -> list[Memory]:
    """Every chunk that a search can see, by path and place in the file."""
    with foreword._store.view(EVERYTHING) as view:
        import numpy as np

        slots = np.flatnonzero(view._mask).astype(np.int32)  # type: ignore[attr-defined]
        rows = view.facts(slots).row.tolist()
    return [memory for memory in foreword._store.get(rows) if memory.kind is Kind.CHUNK]


def texts(foreword: Foreword) -> list[str]:
    return sorted(memory.text for memory in chunks(foreword))


@pytest.mark.proves("D4")
def test_a_note_answers_and_says_where_it_stands(foreword: Foreword, notes: Path) -> None:
    write(notes, "projects/Boat.md", f"---\ntags: [sailing]\n---\n{KEY}\n## Winter\n\nIt is locked. #ice\n")
    done = add(foreword, notes)
    assert (done.files, done.read, done.added, done.skipped) == (1, 1, 2, {})
    brief = foreword.brief(Ask(ASK, session="agent:main:a"))
    assert "behind the oars" in brief.text
    assert "the user's notes, projects/Boat.md" in brief.text
    first, second = chunks(foreword)
    assert (first.kind, first.origin, first.audience) == (Kind.CHUNK, Origin.OWNER, Audience.PRIVATE)
    assert (first.agent, first.project, first.session) == ("", "", "")
    assert first.title == "Boat > Boat House"
    assert second.title == "Boat > Boat House > Winter"
    assert first.files == ("projects/Boat.md",)
    assert {"sailing", "ice"} <= set(second.concepts)


@pytest.mark.proves("D4")
def test_only_what_changed_is_read_again_and_chunks_that_did_not_keep_their_memories(
    foreword: Foreword, notes: Path, opened: list[str]
) -> None:
    write(notes, "a.md", "# One\n\nfirst\n\n# Two\n\nsecond\n\n# Three\n\nthird\n")
    write(notes, "b.md", "untouched")
    add(foreword, notes)
    rows = {memory.text: memory.row for memory in chunks(foreword)}
    opened.clear()
    again = check(foreword)
    assert (again.files, again.read, again.gone) == (2, 0, 0)
    assert str(notes) in {path.rstrip("/") for path in opened}
    assert not any(path.endswith(".md") for path in opened)
    write(notes, "a.md", "# One\n\nfirst\n\n# Two\n\nSecond, mended\n\n# Three\n\nthird\n", age_s=60)
    opened.clear()
    done = check(foreword)
    assert (done.read, done.added, done.kept, done.superseded) == (1, 1, 2, 1)
    assert [Path(path).name for path in opened if path.endswith(".md")] == ["a.md"]
    now = {memory.text: memory.row for memory in chunks(foreword)}
    assert now["# One\n\nfirst"] == rows["# One\n\nfirst"]
    assert now["# Three\n\nthird"] == rows["# Three\n\nthird"]
    assert "# Two\n\nsecond" not in now
    replaced = rows["# Two\n\nsecond"]
    with pytest.raises(UnknownId):
        foreword.get([f"m{replaced}"])


@pytest.mark.proves("D4")
def test_a_touched_file_changes_nothing_and_deleted_and_renamed_ones_are_followed(
    foreword: Foreword, notes: Path
) -> None:
    write(notes, "a.md", KEY)
    write(notes, "b.md", "bees")
    add(foreword, notes)
    rows = [memory.row for memory in chunks(foreword)]
    os.utime(notes / "a.md", (1000, 1000))
    touched = check(foreword)
    assert (touched.read, touched.added, touched.kept) == (1, 0, 1)
    assert [memory.row for memory in chunks(foreword)] == rows
    (notes / "b.md").unlink()
    (notes / "sub").mkdir()
    (notes / "a.md").rename(notes / "sub" / "c.md")
    done = check(foreword)
    assert done.gone == 2
    assert [memory.files for memory in chunks(foreword)] == [("sub/c.md",)]
    assert "behind the oars" in foreword.brief(Ask(ASK, session="agent:main:a")).text


@pytest.mark.proves("D4")
def test_a_replaced_chunk_is_gone_for_whoever_has_the_store_open(foreword: Foreword, notes: Path) -> None:
    write(notes, "a.md", KEY)
    add(foreword, notes)
    other = SqliteStore(foreword._store.path.parent)  # type: ignore[attr-defined]
    with other.view(EVERYTHING) as view:
        assert view.size == 1
    given_once = foreword.brief(Ask(ASK, session="agent:main:a"))
    write(notes, "a.md", "# Boat House\n\nThe spare key of the boat house hangs at the neighbour's.\n", age_s=60)
    check(foreword)
    with other.view(EVERYTHING) as view:
        assert view.size == 1
    other.close()
    brief = foreword.brief(Ask(ASK, session="agent:main:a"))
    assert "neighbour" in brief.text
    assert "oars" not in brief.text
    assert "(forgotten)" in foreword.why(given_once.receipt)


@pytest.mark.proves("D4")
def test_a_turn_never_touches_the_vault(foreword: Foreword, notes: Path, opened: list[str]) -> None:
    write(notes, "a.md", KEY)
    add(foreword, notes)
    assert str(notes / "a.md") in opened, "the hook hears what is read"
    opened.clear()
    notes.rename(notes.with_name("elsewhere"))
    assert "behind the oars" in foreword.brief(Ask(ASK, session="agent:main:a")).text
    assert foreword.search(ASK)
    foreword.start("agent:main:b")
    foreword.compact("agent:main:a")
    assert [path for path in opened if "notes" in path or "elsewhere" in path] == []


@pytest.mark.proves("D4", "L2")
def test_a_vault_is_never_written(foreword: Foreword, notes: Path) -> None:
    write(notes, "memory/2026-03-04.md", KEY)
    write(notes, "MEMORY.md", "x")
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in notes.rglob("*") if file.is_file()}
    for folder in (notes / "memory", notes):
        folder.chmod(0o500)
    try:
        add(foreword, notes)
        foreword.brief(Ask(ASK, session="agent:main:a"))
        check(foreword)
        foreword.remove_vault("notes")
    finally:
        for folder in (notes, notes / "memory"):
            folder.chmod(0o700)
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in notes.rglob("*") if file.is_file()} == before


def test_a_note_that_is_being_written_is_left_until_it_is_not(foreword: Foreword, notes: Path) -> None:
    write(notes, "a.md", KEY)
    add(foreword, notes)
    vault = foreword.vaults.named("notes")
    # Half of it is there, the rest is to come.
    write(notes, "a.md", "# Boat", age_s=0)
    *_, look = foreword.vaults.look(vault)
    assert (look.read, look.waiting, look.gone) == ([], {"a.md"}, [])
    assert list(foreword.vaults.prepare(vault, "a.md")) == [Taken("a.md", waiting=True)]
    assert "behind the oars" in texts(foreword)[0]
    # An editor that empties a note before it writes it anew is waited for longer than for a change.
    write(notes, "a.md", "", age_s=0.6)
    *_, look = foreword.vaults.look(vault)
    assert look.waiting == {"a.md"}
    write(notes, "a.md", "# Boat\n\nmended", age_s=0)
    done = check(foreword)
    assert done.skipped == {}
    assert texts(foreword) == ["# Boat\n\nmended"]


def test_a_save_by_renaming_leaves_no_trace_of_the_copy(foreword: Foreword, notes: Path) -> None:
    write(notes, "a.md", "before")
    add(foreword, notes)
    for name in (".a.md.swp", "a.md~", "a.md.tmp", "4913", ".#a.md", "#a.md#"):
        write(notes, name, "half")
    write(notes, "a.md.tmp", "after", age_s=60).rename(notes / "a.md")
    check(foreword)
    assert texts(foreword) == ["after"]


def test_what_cannot_be_a_note_is_left_out_and_named(foreword: Foreword, notes: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "secret.md", "outside the vault")
    write(notes, "good.md", "good")
    with write(notes, "huge.md", "x").open("r+b") as file:
        file.truncate(100_000_000)
    write(notes, "binary.md", b"\x89PNG\r\n\0\0\x1a")
    write(notes, "latin.md", "caf\xe9".encode("latin-1"))
    write(notes, "a (conflicted copy 2026-03-04).md", "conflict")
    (notes / "link.md").symlink_to(outside)
    (notes / "inner.md").symlink_to(notes / "good.md")
    (notes / "loop").symlink_to(notes)
    (notes / "out").symlink_to(outside.parent)
    os.mkfifo(notes / "pipe.md")
    locked = write(notes, "locked.md", "locked")
    locked.chmod(0)
    done = add(foreword, notes)
    assert texts(foreword) == ["good"] if os.geteuid() else ["good", "locked"]
    expected = {
        "huge.md": "larger than 2 MB",
        "binary.md": "not text in UTF-8",
        "latin.md": "not text in UTF-8",
        "a (conflicted copy 2026-03-04).md": "a copy that is left of a conflict",
        "link.md": "a link, which is not followed",
        "inner.md": "a link, which is not followed",
        "loop": "a link, which is not followed",
        "out": "a link, which is not followed",
        "pipe.md": "not a file",
    }
    assert {path: reason for path, reason in done.skipped.items() if path != "locked.md"} == expected
    [report] = foreword.vaults.reports()
    told = {path: reason for reason, paths in report.skipped.items() for path in paths if path != "locked.md"}
    assert told == expected
    again = check(foreword)
    assert again.read == 0, "what is left out is not read again either"
    assert {path for paths in foreword.vaults.reports()[0].skipped.values() for path in paths} >= set(expected)
    (notes / "binary.md").unlink()
    write(notes, "latin.md", "café")
    check(foreword)
    left = {path for paths in foreword.vaults.reports()[0].skipped.values() for path in paths}
    assert not {"binary.md", "latin.md"} & left


def test_a_name_that_is_no_text_or_a_secret_is_told_without_being_kept(foreword: Foreword, notes: Path) -> None:
    os.close(os.open(os.fsencode(notes) + b"/\xff\xfe.md", os.O_CREAT | os.O_WRONLY))
    write(notes, "AKIAIOSFODNN7EXAMPLE.md", "x", age_s=0)
    for _ in range(3):
        add(foreword, notes) if not foreword.vaults.all() else check(foreword)
        [report] = foreword.vaults.reports()
        assert sorted(report.skipped) == ["its name is not UTF-8", "its name looks like a secret"]
        assert "AKIA" not in str(report.skipped)


@pytest.mark.proves("D8", "L6")
def test_foreword_s_own_files_and_sections_are_no_notes(foreword: Foreword, notes: Path) -> None:
    for name in ("FOREWORD.md", "ETHOS_CONTEXT.md", "sub/foreword.md"):
        write(notes, name, "<!-- ethos:context ts=x -->\n## 🧠 Memory Context\n\n1. recalled\n")
    section = (
        "<!-- adaptive-memory:session=agent:main:x -->\n## Recalled memory\n\n1. 90% `m3` recalled\n"
        "<!-- /adaptive-memory -->\n"
    )
    write(notes, "memory/2026-03-04.md", f"# Today\n\nMine.\n\n{section}\nAlso mine.\n")
    done = add(foreword, notes)
    assert texts(foreword) == ["# Today\n\nMine.\n\nAlso mine."]
    assert done.files == 1


@pytest.mark.proves("B5")
def test_removing_a_vault_leaves_no_byte_of_it(open_home: Callable[..., Foreword], notes: Path, tmp_path: Path) -> None:
    foreword = open_home()
    foreword.record(Event("Something else that stays.", session="agent:main:a"))
    for number in range(60):
        write(notes, f"zanzibar/xylophone-{number}.md", f"# Quetzal\n\nThe marmalade is numbered {number}.\n" * 9)
    add(foreword, notes, name="vivarium")
    foreword.brief(Ask("Which marmalade is numbered?", session="agent:main:a"))
    write(notes, "zanzibar/xylophone-3.md", "# Quetzal\n\nThe marmalade is gone.\n", age_s=60)
    check(foreword, "vivarium")
    foreword.remove_vault("vivarium")
    assert foreword.vaults.all() == []
    assert foreword.status()["memories"] == 1
    stored = b"".join(file.read_bytes() for file in (tmp_path / "home").rglob("*") if file.is_file())
    for word in (b"xylophone", b"marmalade", b"Quetzal", b"vivarium", str(notes).encode()):
        assert word not in stored
    assert b"Something else that stays." in stored


@pytest.mark.proves("B5")
def test_what_is_taken_out_of_a_note_leaves_no_byte_with_the_next_forget(
    open_home: Callable[..., Foreword], notes: Path, tmp_path: Path
) -> None:
    foreword = open_home()
    other = foreword.record(Event("Something that is forgotten.", session="agent:main:a"))
    write(notes, "a.md", "# A\n\nThe xylophone is here.\n\n# B\n\nother\n")
    add(foreword, notes)
    write(notes, "a.md", "# A\n\nNothing.\n\n# B\n\nother\n", age_s=60)
    check(foreword)
    foreword.forget([other.id])
    stored = b"".join(file.read_bytes() for file in (tmp_path / "home").rglob("*") if file.is_file())
    assert b"xylophone" not in stored


@pytest.mark.proves("B4")
def test_a_vault_is_for_whom_it_was_added(foreword: Foreword, tmp_path: Path) -> None:
    for name in ("mine", "ours", "hers"):
        write(tmp_path / name, "n.md", f"# Boat House\n\nThe spare key of the boat house hangs behind the {name}.\n")
    add(foreword, tmp_path / "mine")
    add(foreword, tmp_path / "ours", audience=Audience.GROUP)
    add(foreword, tmp_path / "hers", agent="ada", project="sea")
    in_group = foreword.brief(Ask(ASK, session="agent:main:telegram:group:-1"))
    assert "ours" in in_group.text
    assert "mine" not in in_group.text
    assert "hers" not in in_group.text
    assert "hers" not in foreword.brief(Ask(ASK, session="agent:main:a")).text
    assert "hers" in foreword.brief(Ask(ASK, session="agent:ada:a", project="sea")).text


@pytest.mark.proves("S13")
@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[[Winter Plan]]", "Winter Plan.md"),
        ("[[winter plan|the plan]]", "deep/folder/Winter Plan.md"),
        ("[the plan](../Winter%20Plan.md)", "Winter Plan.md"),
        ("[[Cold Season]]", "Winter Plan.md"),
        ("[[Winter Plan#Ropes]]", "Winter Plan.md"),
    ],
    ids=["name", "display", "path", "alias", "heading"],
)
def test_a_link_in_a_note_leads_to_the_note_it_names(foreword: Foreword, notes: Path, link: str, target: str) -> None:
    write(notes, "sub/boat.md", f"# Shed\n\nThe spare key of the boat house hangs behind the oars, see {link}.\n")
    write(
        notes,
        target,
        "---\naliases: [Cold Season]\n---\n# Preparations\n\nTwelve of them.\n\n# Ropes\n\nSoaked in tar.\n",
    )
    for number, text in enumerate(OTHERS):
        write(notes, f"other-{number}.md", text)
        # Who links to it as well does not weaken the link.
        write(notes, f"also-{number}.md", f"{text} See [[Winter Plan]].")
    add(foreword, notes)
    brief = foreword.brief(Ask(ASK, session="agent:main:a"))
    assert "behind the oars" in brief.text
    assert ("Soaked in tar" if "#" in link else "Twelve of them") in brief.text
    assert "by way of" in foreword.why(brief.receipt)


def test_another_section_of_the_same_note_does_not_come_along(foreword: Foreword, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "boats.md").write_text("# Boats\nThe boat house key hangs by the clock.\n\n## Repairs\nPaid 420 euros.\n")
    add(foreword, folder)
    brief = foreword.brief(Ask("Where does the key of the boat house hang?"))
    assert "by the clock" in brief.text
    assert "420 euros" not in brief.text


def test_a_tag_that_few_notes_have_is_a_concept_of_each(foreword: Foreword, notes: Path) -> None:
    write(notes, "a.md", "about #project/boat")
    add(foreword, notes)
    assert "project/boat" in chunks(foreword)[0].concepts


def test_a_folder_that_is_not_there_or_empty_all_at_once_takes_nothing_away(foreword: Foreword, notes: Path) -> None:
    for number in range(30):
        write(notes, f"n{number}.md", f"note {number}")
    add(foreword, notes)
    away = notes.with_name("away")
    notes.rename(away)
    gone = check(foreword)
    assert "cannot be read" in gone.problem
    assert foreword.vaults.named("notes").problem == gone.problem
    notes.mkdir()
    assert "is empty and held 30 notes" in check(foreword).problem
    assert len(chunks(foreword)) == 30
    notes.rmdir()
    away.rename(notes)
    assert check(foreword).problem == ""
    assert foreword.vaults.named("notes").problem == ""


def test_a_folder_inside_that_cannot_be_read_keeps_what_was_known_of_it(foreword: Foreword, notes: Path) -> None:
    write(notes, "sub/a.md", "inside")
    write(notes, "b.md", "beside")
    add(foreword, notes)
    (notes / "sub").rename(notes / "was")
    (notes / "sub").symlink_to(notes / "was")
    check(foreword)
    assert {memory.files for memory in chunks(foreword)} == {("was/a.md",), ("b.md",)}


@pytest.mark.proves("D5")
@pytest.mark.parametrize(
    "odd", ["+ ? ( [ \" ' : * -", "C++ (oars) [key]", "NEAR(key, oars) OR *", "🛶 key\0oars", "key " * 25_000]
)
def test_any_character_in_a_question_about_notes_is_harmless(foreword: Foreword, notes: Path, odd: str) -> None:
    write(notes, "C++ [oars] (key) 100%.md", f"# [[*]] (\n\n{KEY}\n{odd[:500]}".replace("\0", ""))
    add(foreword, notes)
    assert "behind the oars" in foreword.brief(Ask(f"{ASK} {odd}", session="agent:main:a")).text
    foreword.search(odd)


def test_what_cannot_be_a_vault_is_refused_with_the_next_step(foreword: Foreword, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "user").mkdir(exist_ok=True)
    file = write(notes, "a.md", "x")
    add(foreword, notes)
    (notes / "sub").mkdir()
    for folder, words in (
        (tmp_path / "missing", "does not exist"),
        (file, "is not a folder"),
        (Path("/"), "far more than notes"),
        (Path("~"), "far more than notes"),
        (notes, "is a vault already, called notes"),
        (notes / "sub", "stand one in the other"),
        (tmp_path, "stand one in the other"),
    ):
        with pytest.raises(BadInput, match=words):
            foreword.vaults.proposed(folder)
    other = tmp_path / "other" / "notes"
    other.mkdir(parents=True)
    assert foreword.vaults.proposed(other).name == "notes-2"
    with pytest.raises(BadInput, match="called notes already"):
        foreword.vaults.proposed(other, name="notes")
    with pytest.raises(BadInput, match="cannot be a vault's name"):
        foreword.vaults.proposed(other, name="../x")


def test_names_that_are_excluded_leave_the_index_and_recording_can_be_switched_off(
    open_home: Callable[..., Foreword], notes: Path
) -> None:
    foreword = open_home()
    write(notes, "a.md", "kept")
    write(notes, "drafts/b.md", "draft")
    write(notes, "node_modules/c.md", "module")
    add(foreword, notes)
    assert texts(foreword) == ["draft", "kept"]
    foreword.close()
    foreword = open_home(vaults__exclude=["draft*"])
    check(foreword)
    assert texts(foreword) == ["kept", "module"]
    foreword.close()
    foreword = open_home(record__enabled=False)
    assert check(foreword).problem == "Recording is switched off."
    assert texts(foreword) == ["kept", "module"]


FILES = ("a.md", "b.md", "sub/c.md", "sub/d.md")
TEXTS = ("", "# A\n\none", "# A\n\none\n\n# B\n\ntwo", "# B\n\ntwo\n\nthree [[a]] #tag", "two\n\ntwo", "x" * 3000)
steps = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(FILES), st.sampled_from(TEXTS)),
    st.tuples(st.just("delete"), st.sampled_from(FILES), st.just("")),
    st.tuples(st.just("rename"), st.sampled_from(FILES), st.sampled_from(FILES)),
    st.tuples(st.just("check"), st.just(""), st.just("")),
)


@pytest.mark.proves("D4")
@settings(max_examples=25)
@given(st.lists(steps, max_size=14))
def test_whatever_happens_to_notes_the_index_is_that_of_a_fresh_look(sequence: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        notes.mkdir()
        with Foreword.open(Path(folder) / "followed", settings=Settings()) as followed:
            add(followed, notes)
            for number, (what, path, more) in enumerate(sequence):
                if what == "write":
                    write(notes, path, more, age_s=86_400 - number)
                elif what == "delete":
                    (notes / path).unlink(missing_ok=True)
                elif what == "rename" and (notes / path).exists():
                    (notes / more).parent.mkdir(exist_ok=True)
                    (notes / path).rename(notes / more)
                else:
                    check(followed)
            check(followed)
            once = _told(followed)
            again = check(followed)
            assert (again.read, again.gone) == (0, 0)
            assert _told(followed) == once
            with Foreword.open(Path(folder) / "fresh", settings=Settings()) as fresh:
                add(fresh, notes)
                assert _told(fresh) == once


def _told(foreword: Foreword) -> list[tuple[Any, ...]]:
    return sorted((one.files, one.title, one.text, sorted(one.concepts)) for one in chunks(foreword))


def test_the_store_can_be_shared_by_two_that_look_at_once(open_home: Callable[..., Foreword], notes: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    one, two = open_home(), open_home()
    for number in range(30):
        write(notes, f"n{number}.md", f"# Note\n\nNumber {number} of many.")
    add(one, notes)
    for number in range(30):
        write(notes, f"n{number}.md", f"# Note\n\nNumber {number} of more.", age_s=60)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, (one, two)))
    assert texts(one) == texts(two) == sorted(f"# Note\n\nNumber {number} of more." for number in range(30))


def test_a_vault_that_another_takes_away_meanwhile_gets_nothing_more(foreword: Foreword, notes: Path) -> None:
    write(notes, "a.md", KEY)
    add(foreword, notes)
    vault = foreword.vaults.named("notes")
    write(notes, "b.md", "late")
    foreword.remove_vault("notes")
    assert foreword.vaults.bring_up_to_date(vault).added == 0
    assert chunks(foreword) == []
    shutil.rmtree(notes)
    with pytest.raises(UnknownId, match="no vault notes"):
        foreword.remove_vault("notes")
