"""The verbs, their answers and their exit codes."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from foreword.cli import reference
from foreword.cli.settling import commented
from foreword.settings import keys, load

CAT = "Maya's cat is called Biscuit."
# As close to the memory as a question can be: these tests are about the door, not about the gate behind it.
ASK = "Is Maya's cat called Biscuit?"
KEY = "agent:main:main"
VERBS = (
    "init config record brief start compact search get sessions why replay feedback tune forget status doctor tidy"
    " stats demo"
).split()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "user" / ".local" / "share" / "foreword"


@pytest.fixture
def full(run):
    """A home with three memories and one turn."""
    assert run("record", CAT, "--session", KEY, "--at", "2026-03-02T10:00").code == 0
    assert run("record", "The staging database runs on port 5433.", "--session", KEY, "--at", "2026-03-03").code == 0
    assert run("record", "Training is on Thursdays.", "--session", "agent:other:main", "--source-id", "x-1").code == 0
    assert run("brief", ASK, "--session", "agent:main:new").code == 0
    return run


# help and version


def test_help_lists_every_verb_and_every_exit_code(run):
    shown = run("--help")
    assert shown.code == 0
    for verb in VERBS:
        assert f"\n    {verb} " in shown.out
    assert "exit codes:" in shown.out
    assert run().out == shown.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(run, verb):
    shown = run(verb, "--help")
    assert shown.code == 0
    assert "example:\n  " in shown.out
    assert f"foreword {verb}" in shown.out.split("example:")[1]
    assert "--json" in shown.out


def test_help_and_version_never_wait_for_numpy(program):
    for flag in ("--help", "--version"):
        shown = program(flag, PYTHONPROFILEIMPORTTIME="1")
        assert shown.code == 0
        assert "foreword.cli" in shown.err
        assert "numpy" not in shown.err


def test_the_version_is_that_of_the_package(run):
    import foreword

    assert run("--version").out == f"foreword {foreword.__version__}\n"


def test_the_reference_is_what_the_program_says_of_itself():
    file = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
    assert file.read_text("utf-8") == reference.text(), "python -m foreword.cli.reference > docs/reference/cli.md"


# init and config


def test_init_makes_a_private_home_and_a_settings_file_that_changes_nothing(run, home):
    made = run("init", "--json")
    assert made.code == 0
    file = Path(made.data["config"])
    assert made.data["made"] == [str(home), str(file)]
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in home.iterdir())
    assert load().warnings == ()
    assert set(load().sources.values()) <= {"XDG_DATA_HOME"}


def test_init_says_what_comes_next_and_it_works(run):
    suggested = run("init").out.partition("Next:\n")[2].splitlines()
    done = [run(*shlex.split(line)[1:]) for line in suggested]
    assert [one.code for one in done] == [0, 0, 0]
    assert "Biscuit" in done[1].out


def test_init_twice_leaves_what_a_person_wrote(run):
    file = Path(run("init", "--json").data["config"])
    file.write_text("[gate]\nfloor = 0.3\n")
    again = run("init", "--json")
    assert again.code == 0
    assert again.data["made"] == []
    assert file.read_text() == "[gate]\nfloor = 0.3\n"


def test_a_dry_init_makes_nothing(run, home):
    dry = run("init", "--dry-run")
    assert dry.code == 0
    assert "would be made" in dry.out
    assert not home.exists()
    assert not Path(run("config", "--path").out.strip()).exists()


def test_the_settings_file_names_every_setting_with_its_default():
    lines = [line.removeprefix("# ") for line in commented().splitlines() if " = " in line or line.startswith("[")]
    values = tomllib.loads("\n".join(line for line in lines if not line.startswith("The environment")))
    for key in keys():
        section, _, name = key.name.rpartition(".")
        found = values[section][name] if section else values[name]
        assert found == (list(key.default) if isinstance(key.default, tuple) else key.default)
        assert key.help.split()[0] in commented()


def test_a_settings_file_that_cannot_be_written_is_a_settings_problem(run, tmp_path, monkeypatch):
    (tmp_path / "plain").write_text("")
    monkeypatch.setenv("FOREWORD_CONFIG", str(tmp_path / "plain" / "config.toml"))
    failed = run("init")
    assert failed.code == 4
    assert "config.toml" in failed.err


def test_config_shows_where_each_value_came_from(run, folder, monkeypatch):
    file = Path(run("init", "--json").data["config"])
    file.write_text("[gate]\nfloor = 0.3\n")
    (folder / ".foreword.toml").write_text("[compose]\nmax_memories = 2\n")
    monkeypatch.setenv("FOREWORD_INTENT_MIN_CHARS", "4")
    rows = {row["key"]: row for row in run("config", "--json").data["settings"]}
    assert (rows["gate.floor"]["value"], rows["gate.floor"]["source"]) == (0.3, str(file))
    assert (rows["compose.max_memories"]["value"], rows["compose.max_memories"]["source"]) == (
        2,
        str(folder / ".foreword.toml"),
    )
    assert (rows["intent.min_chars"]["value"], rows["intent.min_chars"]["source"]) == (4, "environment")
    assert rows["gate.confident"]["source"] == "default"
    assert set(rows) == {key.name for key in keys()}
    table = run("config").out
    assert all(key.name in table for key in keys())


def test_config_prints_one_value_alone(run, tmp_path):
    assert run("config", "compose.max_memories").out == "3\n"
    assert run("config", "compose.style").out == "markdown\n"
    assert run("config", "store.home", "--home", str(tmp_path / "h")).out == f"{tmp_path / 'h'}\n"
    assert run("config", "gate.floor", "--json").data["source"] == "default"
    unknown = run("config", "gate.flor")
    assert unknown.code == 2
    assert "gate.floor" in unknown.err
    assert run("config", "gate.floor", "--path").code == 2


@pytest.mark.proves("D10")
def test_a_typo_in_the_settings_is_named_and_nothing_stops(run):
    file = Path(run("init", "--json").data["config"])
    file.write_text('[gate]\nflor = 0.3\nconfident = "high"\n')
    recorded = run("record", CAT)
    assert recorded.code == 0
    assert "gate.flor is not a setting; did you mean gate.floor?" in recorded.err
    assert "gate.confident" in recorded.err
    assert recorded.out == "m1 stored\n"
    assert run("status", "--json").data["warnings"]


def test_a_project_file_cannot_send_memories_elsewhere(run, folder, tmp_path):
    (folder / ".foreword.toml").write_text(f"[store]\nhome = '{tmp_path / 'elsewhere'}'\n")
    recorded = run("record", CAT)
    assert recorded.code == 0
    assert "store.home may not be set by a project's file" in recorded.err
    assert not (tmp_path / "elsewhere").exists()


def test_an_unusable_embedder_is_a_settings_problem(run, monkeypatch):
    monkeypatch.setenv("FOREWORD_EMBEDDER_PROVIDER", "openai")
    monkeypatch.setenv("FOREWORD_EMBEDDER_URL", "ftp://nowhere")
    failed = run("record", CAT, "--json")
    assert failed.code == 4
    assert failed.error["code"] == "bad_settings"
    assert run("doctor").code == 1


# record


def test_record_keeps_once_and_says_so(run):
    assert run("record", CAT, "--session", KEY).out == "m1 stored\n"
    again = run("record", "--session", KEY, "--json", stdin=CAT)
    assert again.code == 0
    assert again.data == {
        "outcome": "known",
        "id": "m1",
        "reason": "It is already kept as m1.",
        "redactions": [],
    }


def test_record_carries_every_flag_to_the_memory(run):
    flags = {
        "--session": "agent:main:telegram:group:5",
        "--agent": "main",
        "--kind": "observation",
        "--origin": "tool",
        "--audience": "external",
        "--sender": "Ann",
        "--channel": "telegram",
        "--project": "harbour",
        "--source-id": "t-9",
        "--at": "2026-03-01T12:00:00+00:00",
        "--title": "A run",
        "--type": "test",
        "--tool": "bash",
    }
    argv = [part for pair in flags.items() for part in pair]
    lists = ["--file", "a.py", "--file", "b.py", "--concept", "tests", "--decision", "ship it"]
    assert run("record", "All passed.", *argv, *lists).code == 0
    kept = run("get", "m1", "--json").data["memories"][0]
    assert kept["content"] == "All passed."
    expected = {name.lstrip("-").replace("-", "_"): value for name, value in flags.items()}
    for name in ("at", "tool"):
        expected.pop(name)
    assert kept["metadata"] | {**expected, "ts": "2026-03-01T12:00:00.000Z"} == kept["metadata"]
    assert kept["metadata"]["files"] == ["a.py", "b.py"]
    assert (kept["metadata"]["concepts"], kept["metadata"]["decisions"]) == (["tests"], ["ship it"])


def test_what_is_skipped_says_why_and_is_no_failure(run):
    for text in ("", "   \n"):
        skipped = run("record", text)
        assert (skipped.code, skipped.out) == (0, "skipped: The text is empty.\n")
    assert run("record", "[cron: nightly] do it", "--json").data["outcome"] == "skipped"


def test_a_secret_is_named_but_neither_kept_nor_shown(run, home):
    said = run("record", "our password=tidalWren4471quay is new")
    assert "password redacted" in said.out
    assert all(b"tidalWren4471quay" not in file.read_bytes() for file in home.iterdir())
    assert "tidalWren4471quay" not in run("search", "password", "--json").out


def test_any_bytes_are_harmless(run, program):
    big = ("word " * 210_000).encode()
    assert len(big) > 1_000_000
    for stdin in (b"a\0b is a text", b"\xff\xfe is no UTF-8", b"\xed\xa0\x80 is half a pair", big):
        recorded = run("record", stdin=stdin)
        assert recorded.code == 0, recorded.err
        assert "stored" in recorded.out
    assert program("record", b"a byte \xff from the shell").code == 0
    assert program("search", b'\xff\xed\xa0\x80 AND (NEAR* "').code in (0, 1)
    assert run("get", "m1", "--json").data["memories"][0]["content"] == "a b is a text"


def test_a_text_that_is_too_large_is_refused_whole(run):
    refused = run("record", "--json", stdin="x" * 2_000_001)
    assert refused.code == 2
    assert refused.error["code"] == "too_large"
    assert run("status", "--json").data["memories"] == 0


def test_times_are_iso_or_seconds(run):
    assert run("record", "one thing", "--at", "1772625600").code == 0
    assert run("get", "m1", "--json").data["memories"][0]["metadata"]["ts"] == "2026-03-04T12:00:00.000Z"
    for wrong in ("yesterday", "nan", "-5", "99999-01-01", "1e300"):
        assert run("record", "another", f"--at={wrong}").code == 2, wrong


# record --jsonl


def lines(*events: object) -> str:
    return "".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in events)


def test_many_events_are_recorded_from_lines(run, folder):
    events = [
        {"text": f"Fact number {n} of many.", "session": f"agent:main:{n // 200}", "at": 1e9 + n} for n in range(600)
    ]
    (folder / "history.jsonl").write_text(lines(*events, "\n", {"text": "", "kind": None}, events[0]))
    done = run("record", "--jsonl", "history.jsonl", "--json")
    assert done.code == 0
    assert done.data == {"stored": 600, "known": 1, "skipped": 1, "redacted": 0, "failed": []}
    assert run("record", "--jsonl", "-", stdin=lines(*events)).out.startswith("600 lines: 0 stored, 600 known already")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{nope\n", "not JSON"),
        ("[1]\n", "not a JSON object"),
        ("[" * 100_000 + "\n", "not JSON"),
        ({"txt": "a"}, "Did you mean 'text'?"),
        ({"session": "a"}, "'text' is missing"),
        ({"text": 5}, "'text' is not a string"),
        ({"text": "a", "kind": "gossip"}, "not a kind"),
        ({"text": "a", "origin": []}, "not an origin"),
        ({"text": "a", "audience": 7}, "not an audience"),
        ({"text": "a", "at": "soon"}, "not a time"),
        ({"text": "a", "at": -1}, "not a time"),
        ({"text": "a", "files": "a.py"}, "not a list"),
        ({"text": "a", "files": [1]}, "not a list"),
        ({"text": "a", "sender": {}}, "'sender' is not a string"),
        ({"text": "x" * 2_000_001}, "2,000,000 are kept"),
    ],
)
def test_a_bad_line_stops_with_its_number_and_loses_nothing_before_it(run, folder, bad, said):
    (folder / "h.jsonl").write_text(
        lines({"text": "first fact"}, {"text": "second fact"}, bad, {"text": "fourth fact"})
    )
    stopped = run("record", "--jsonl", "h.jsonl")
    assert stopped.code == 2
    assert "h.jsonl, line 3: " in stopped.err
    assert said in stopped.err
    assert "2 stored" in stopped.err
    assert run("status", "--json").data["memories"] == 2
    going = run("record", "--jsonl", "h.jsonl", "--keep-going", "--json")
    assert going.code == 2
    assert (going.data["stored"], going.data["known"]) == (1, 2)
    assert [one["line"] for one in going.data["failed"]] == [3]


def test_a_file_that_is_not_there_is_bad_input(run):
    assert run("record", "--jsonl", "nowhere.jsonl").code == 2
    assert run("record", "--jsonl", ".").code == 2
    assert run("record", "text", "--jsonl", "-").code == 2


# brief, start, compact


def test_brief_prints_the_text_alone(full):
    given = full("brief", ASK, "--session", "agent:main:another")
    assert given.code == 0
    assert CAT in given.out
    assert given.out.startswith("> **foreword recall**")
    assert given.err == ""


def test_brief_explains_on_demand(full):
    given = full("brief", ASK, "--session", "agent:main:another", "--explain")
    assert "foreword why r2" in given.err
    assert "foreword why" not in given.out


def test_silence_is_empty_and_only_a_failure_on_request(full):
    silent = full("brief", "hi", "--session", KEY)
    assert (silent.code, silent.out, silent.err) == (0, "", "")
    assert full("brief", "", "--exit-code").code == 1
    assert full("brief", ASK, "--session", "agent:main:x", "--exit-code").code == 0
    data = full("brief", "hi there", "--session", KEY, "--json").data
    assert data["text"] == ""
    assert data["reason"] == "the ask is shorter than 10 characters"
    assert set(data) == {"text", "memories", "tokens", "reason", "receipt", "file"}


def test_a_wider_audience_is_respected(full):
    assert full("brief", ASK, "--session", "agent:main:y", "--audience", "group").out == ""


def test_start_and_compact_list_what_there_is(full):
    full("record", "Chose the port.", "--kind", "summary", "--session", KEY, "--decision", "5433 it is")
    for verb in ("start", "compact"):
        shown = full(verb, "--session", "agent:main:later")
        assert shown.code == 0
        assert "5433 it is" in shown.out
        assert full(verb, "--session", "agent:main:later", "--json").data["tokens"] > 0
        assert full(verb).code == 2


# search, get, sessions


@pytest.mark.proves("S2")
def test_search_answers_in_the_envelope(full):
    found = json.loads(full("search", "Maya's cat", "--limit", "1", "--json").out)
    assert found["status"] == "ok"
    (result,) = found["data"]["results"]
    assert (result["id"], result["content"]) == ("m1", CAT)
    assert 0 <= result["score"] <= 1
    assert {"channel", "ts", "session", "agent"} <= set(result["metadata"])


def test_search_reads_well_and_its_exit_code_tells(full):
    shown = full("search", "Maya's", "cat")
    assert shown.code == 0
    assert "m1" in shown.out
    assert CAT in shown.out
    nothing = full("search", "the weather on Jupiter", "--sure", "0.9")
    assert (nothing.code, nothing.out) == (1, "Nothing found.\n")
    assert full("search", "cat", "--limit", "0").code == 2
    assert full("search", "cat", "--agent", "other", "--sure", "0.5").code == 1


def test_get_shows_in_full_and_with_neighbours(full):
    assert CAT in full("get", "m1").out
    assert [one["id"] for one in full("get", "m1", "--around", "1", "--json").data["memories"]] == ["m1", "m2"]
    assert "5433" in full("get", "m1", "--whole-session").out


def test_an_unknown_id_is_a_no_and_a_wrong_one_bad_input(full):
    unknown = full("get", "m99", "--json")
    assert (unknown.code, unknown.error["code"]) == (1, "unknown_id")
    assert full("get", "m1", "--agent", "other").code == 1
    assert full("get", "12").code == 2
    assert full("why", "r99").code == 1
    assert full("why", "m1").code == 2
    assert full("forget", "m99", "--yes").code == 1


def test_no_text_of_a_memory_takes_over_the_terminal(run):
    run("record", "before \x1b]0;title\x07\x1b[31m after the escape")
    for argv in (("get", "m1"), ("search", "escape"), ("forget", "m1", "--dry-run")):
        assert "\x1b" not in run(*argv).out


def test_sessions_lists_conversations(full):
    keys_shown = {one["session"] for one in full("sessions", "--json").data["sessions"]}
    assert keys_shown == {KEY, "agent:other:main"}, "only sessions of which something is kept"
    assert "agent:other:main" in full("sessions", "--agent", "other").out
    assert KEY not in full("sessions", "--agent", "other").out


def test_an_empty_home_answers_everything(run):
    assert run("sessions").out == "No session is kept yet.\n"
    assert run("search", "anything at all").code == 1
    why = run("why")
    assert (why.code, why.err) == (1, "foreword: No turn has been taken yet.\n")
    assert run("replay").code == 0
    assert run("status").code == 0
    assert run("brief", ASK).out == ""


# why and replay


@pytest.mark.proves("B6")
def test_why_explains_the_last_turn_or_the_one_that_is_named(full):
    full("brief", "hello", "--session", "agent:main:new")
    assert "silence" in full("why").out
    assert "Biscuit" in full("why", "r1").out
    receipt = full("why", "r1", "--json").data["receipt"]
    assert receipt["candidates"][0]["id"] == "m1"
    assert full("why", "--session", "agent:main:new", "--json").data["receipt"]["id"] == "r2"
    assert full("why", "--session", "nobody").code == 1


@pytest.mark.proves("B6")
def test_replay_shows_what_another_gate_would_have_done(full):
    stricter = full("replay", "--confident", "1", "--floor", "1")
    assert stricter.code == 0
    assert "1 would change" in stricter.out
    assert ASK in stricter.out
    data = full("replay", "--confident", "1", "--floor", "1", "--json").data
    assert data["totals"] == {
        "turns": 1,
        "changed": 1,
        "memories_before": 1,
        "memories_after": 0,
        "silent_before": 0,
        "silent_after": 1,
    }
    assert data["turns"][0]["after"] == []
    assert full("replay", "--json").data["totals"]["changed"] == 0
    assert full("replay", "--floor", "0.9").code == 2
    assert full("replay", "--floor", "7").code == 2
    assert full("replay", "--last", "0").code == 2


# forget


def test_forget_shows_what_would_go_and_takes_nothing(full):
    preview = full("forget", "--session", KEY, "--dry-run")
    assert preview.code == 0
    assert "would forget 2 memories" in preview.out
    assert CAT in preview.out
    assert full("status", "--json").data["memories"] == 3


def test_forget_refuses_when_nobody_can_confirm(full):
    refused = full("forget", "m1", stdin="y\n")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert full("forget", "m1", "--json").error["code"] == "bad_input"
    assert full("get", "m1").code == 0


@pytest.mark.proves("B5")
def test_forget_leaves_no_byte_behind(full, home):
    gone = full("forget", "m1", "--yes", "--json").data
    assert (gone["forgotten"], gone["receipts"]) == (1, 1)
    assert all(b"Biscuit" not in file.read_bytes() for file in home.iterdir())
    assert full("get", "m1").code == 1


@pytest.mark.parametrize(
    ("argv", "left"),
    [
        (["--session", KEY], 1),
        (["--agent", "other"], 2),
        (["--source", "x-1"], 2),
        (["--before", "2026-03-03"], 2),
        (["--session", KEY, "--before", "2026-03-02"], 3),
        (["--search", "Maya's cat is called Biscuit"], 2),
        (["m1", "m2", "m1"], 1),
    ],
)
def test_forget_takes_what_every_given_part_names(full, argv, left):
    gone = full("forget", *argv, "--yes")
    assert gone.code == (1 if left == 3 else 0)
    assert full("status", "--json").data["memories"] == left


def test_forget_by_search_takes_only_what_it_is_sure_of(full):
    unsure = full("forget", "--search", "the weather on Jupiter", "--yes")
    assert unsure.code == 1
    assert "--sure" in unsure.err
    assert full("status", "--json").data["memories"] == 3


def test_forget_by_search_misses_none_for_its_place(full):
    for number, text in enumerate(
        (
            "My girlfriend Clara moved out in March after we argued about money for the whole evening.",
            "Clara called again and wants her bicycle and the books back from the cellar.",
            "I saw Clara in the tram today and did not know what to say.",
            "Clara's birthday is on the 12th of May; she likes lilies.",
            "Clara and I met in Lisbon six years ago, at the hostel by the river.",
        )
    ):
        assert full("record", text, "--session", f"agent:main:clara-{number}").code == 0
    # A turn reads two memories, and is surer of them than of others that hold as much.
    assert "would forget 5 memories" in full("forget", "--search", "Clara", "--sure", "0.95", "--dry-run").out


def test_forget_must_be_told_what_in_one_way(full):
    for argv in ([], ["m1", "--agent", "main"], ["--search", "a", "--agent", "b"], ["m1", "--sure", "0.5"]):
        assert full("forget", *argv, "--yes").code == 2
    assert full("status", "--json").data["memories"] == 3


def test_a_person_is_asked_before_anything_is_forgotten(full, terminal):
    declined = terminal("forget", "m1", keys=b"\n", wait_for=b"[y/N]")
    assert declined.code == 1
    assert "Biscuit" in declined.out
    assert "Nothing was forgotten." in declined.out
    agreed = terminal("forget", "m1", keys=b"y\n", wait_for=b"[y/N]")
    assert agreed.code == 0
    assert "Forgotten: 1 memory" in agreed.out
    assert full("get", "m1").code == 1


# status and doctor


def test_status_counts(full, monkeypatch):
    monkeypatch.setenv("FOREWORD_TURN_EXCLUDE", "build-*")
    found = full("status", "--json").data
    assert (found["memories"], found["turns"], found["silent_turns"]) == (3, 1, 0)
    assert found["excluded"]["injection"] == ["build-*"]
    shown = full("status").out
    assert "3 in 2 sessions" in shown
    assert "build-*" in shown


def test_doctor_finds_a_sound_home_sound(full):
    well = full("doctor")
    assert well.code == 0
    assert "✗" not in well.out
    assert "every byte matches its checksum" in well.out
    assert "Everything is fine." in well.out


def test_doctor_makes_nothing(run, home):
    assert run("doctor", "--json").data["failed"] == 0
    assert not home.exists()


def test_doctor_sees_what_others_may_read(full, home):
    home.chmod(0o755)
    seen = full("doctor")
    assert seen.code == 0
    assert "chmod" in seen.out


def test_doctor_names_a_typo_and_what_is_excluded(full, monkeypatch):
    file = Path(full("init", "--json").data["config"])
    file.write_text('[gate]\nflor = 1\n[guard]\nexclude_capture = ["scout"]\n')
    checks = full("doctor", "--json").data["checks"]
    assert any(one["name"] == "settings" and one["state"] == "warn" and "gate.flor" in one["found"] for one in checks)
    assert any(one["name"] == "excluded" and "scout" in one["found"] for one in checks)


def failing(run, *argv):
    checked = run("doctor", *argv, "--json")
    assert checked.code == 1
    return {one["name"]: one for one in checked.data["checks"] if one["state"] == "fail"}


def test_a_damaged_database_is_told_by_doctor_and_by_every_verb(full, home):
    file = home / "foreword.db"
    for sidecar in home.glob("foreword.db-*"):
        sidecar.unlink()
    file.write_bytes(b"this was a database once" * 100)
    assert failing(full)["database"]["next"]
    for argv in (("search", "cat"), ("record", "x y z"), ("status",), ("brief", ASK), ("forget", "m1", "--yes")):
        refused = full(*argv)
        assert refused.code == 3, argv
        assert "damaged" in refused.err
        assert "Traceback" not in refused.err
    assert full("status", "--json").error["code"] == "store_damaged"
    assert file.read_bytes() == b"this was a database once" * 100


def test_damage_in_the_middle_of_the_database_is_found(full, home):
    file = home / "foreword.db"
    for n in range(40):
        full("record", f"A fact with the number {n} and a good deal of text. " * 20)
    data = bytearray(file.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = os.urandom(4096)
    file.write_bytes(data)
    assert "database" in failing(full)


def test_a_database_from_the_future_is_left_alone(full, home):
    with sqlite3.connect(home / "foreword.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "999" in failing(full)["schema"]["found"]
    refused = full("record", "x y z", "--json")
    assert (refused.code, refused.error["code"]) == (3, "store_from_the_future")


def test_a_home_that_is_no_folder_is_a_store_problem(run, tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        refused = run("--home", str(place), "record", CAT)
        assert refused.code == 3
        assert "Traceback" not in refused.err
    assert "home" in failing(run, "--home", str(tmp_path / "file"))
    assert run("--home", "", "status").code == 2
    (tmp_path / "odd" / "foreword.db").mkdir(parents=True)
    assert run("--home", str(tmp_path / "odd"), "status").code == 3
    assert "database" in failing(run, "--home", str(tmp_path / "odd"))


def test_a_read_only_home_is_a_store_problem(run, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if os.geteuid() == 0:  # no folder of its own is read-only to root, but the kernel's are
        locked = Path("/sys/foreword")
    refused = run("--home", str(locked), "record", CAT)
    assert refused.code == 3
    assert str(locked) in refused.err


def test_a_damaged_model_is_told_by_doctor(full, monkeypatch, tmp_path):
    import shutil

    from foreword.providers import static

    copy = tmp_path / "data"
    shutil.copytree(static.DATA, copy)
    vectors = bytearray((copy / static.VECTORS).read_bytes())
    vectors[-1] ^= 1
    (copy / static.VECTORS).write_bytes(vectors)
    monkeypatch.setattr(static, "shipped", lambda: static.StaticEmbedder(copy))
    assert "checksum" in failing(full)["embedder"]["found"]


def test_a_damaged_reader_is_told_by_doctor_and_fails_nothing(full, monkeypatch, tmp_path):
    from foreword.recall import reader

    copy = tmp_path / reader.FILE.name
    copy.write_bytes(reader.FILE.read_bytes()[:-1] + b"\xff")
    copy.with_suffix(".json").write_bytes(reader.FILE.with_suffix(".json").read_bytes())
    monkeypatch.setattr(reader, "FILE", copy)
    checked = full("doctor", "--json")
    told = next(one for one in checked.data["checks"] if one["name"] == "reader")
    assert (checked.code, told["state"]) == (0, "warn")
    assert "checksum" in told["found"]
    assert "Reinstall" in told["next"]


def test_missing_vectors_are_made_on_request(run, monkeypatch):
    monkeypatch.setenv("FOREWORD_EMBEDDER_PROVIDER", "none")
    run("record", CAT)
    monkeypatch.delenv("FOREWORD_EMBEDDER_PROVIDER")
    rebuilt = run("doctor", "--rebuild")
    assert rebuilt.code == 0
    assert run("status", "--json").data["embedder"]["waiting"] == 0


# the door


def test_every_verb_has_flags_before_or_after_its_name(run, tmp_path):
    other = str(tmp_path / "other")
    assert run("--home", other, "--json", "record", CAT).data["id"] == "m1"
    assert run("record", CAT, "--json", "--home", other).data["outcome"] == "known"
    assert run("status", "--json").data["memories"] == 0


def test_a_wrong_call_gets_one_line_and_2(run):
    for argv in (["recrod", "x"], ["record", "--kind", "gossip", "x"], ["get"], ["brief", "--nope", "x"]):
        refused = run(*argv)
        assert refused.code == 2
        assert refused.err.startswith("foreword: ")
        assert refused.err.count("\n") == 1
        assert run("--json", *argv).error["code"] == "bad_input"
    assert "Did you mean record?" in run("recrod").err


def test_nobody_meets_a_traceback(run, program, monkeypatch):
    from foreword.engine import Foreword

    def broken(self, *args, **kwargs):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Foreword, "status", broken)
    met = run("status")
    assert met.code == 70
    assert met.err.count("\n") == 1
    assert "ZeroDivisionError" in met.err
    assert "FOREWORD_DEBUG=1" in met.err
    assert run("status", "--json").error["code"] == "unexpected"
    monkeypatch.setenv("FOREWORD_DEBUG", "1")
    assert "Traceback" in run("status").err


def test_a_reader_that_leaves_early_is_no_error(full, folder):
    import subprocess

    for n in range(30):
        full("record", f"Fact {n}. " + "word " * 2000, "--session", KEY)
    command = f"{sys.executable} -m foreword get m1 --whole-session | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=folder, timeout=30, check=False)
    assert done.stderr == b""
    assert done.stdout.startswith(b"m1")


def test_an_interrupt_leaves_with_130(run, monkeypatch):
    from foreword.engine import Foreword

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Foreword, "status", interrupted)
    assert run("status").code == 130


def test_colour_is_for_terminals_that_want_it(full, program, terminal):
    assert "\x1b[" not in program("search", "cat").out
    assert "\x1b[" in terminal("search", "cat").out
    assert "\x1b[" not in terminal("search", "cat", NO_COLOR="1").out
    assert "\x1b[" not in terminal("search", "cat", "--no-color").out
    assert "\x1b[" not in terminal("search", "cat", TERM="dumb").out


def test_a_person_who_gives_no_text_is_told_how(terminal):
    told = terminal("record")
    assert told.code == 2
    assert "standard input" in told.out


def test_progress_is_shown_when_asked_for(folder, program):
    events = ({"text": f"Fact number {n} of many, said once.", "session": f"s{n // 50}"} for n in range(4000))
    (folder / "h.jsonl").write_text(lines(*events))
    done = program("record", "--jsonl", "h.jsonl", "--progress")
    assert done.code == 0
    assert "/s)" in done.err
    assert done.out.startswith("4,000 lines: 4,000 stored")


def test_tidy_tells_what_it_did_and_a_dry_run_does_nothing(run, full):
    before = run("status", "--json").data["memories"]
    assert "would be forgotten" in run("tidy", "--dry-run").out
    assert run("tidy", "--all", "--json").data["forgotten"] == 0
    assert run("status", "--json").data["memories"] >= before


def test_stats_tell_day_by_day_what_was_kept_and_asked(run, full):
    run("brief", "Which port does the staging database listen on?", "--session", "agent:main:main")
    found = run("stats", "--days", "3650", "--json").data
    assert sum(day["memories"] for day in found["days"]) == run("status", "--json").data["memories"]
    assert found["turns"] == 2
    assert "tokens a turn" in run("stats", "--days", "3650").out


def test_stats_of_an_empty_home_say_so(run, home):
    assert "Nothing was kept" in run("stats").out
