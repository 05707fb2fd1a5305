"""feedback and tune, and the settings file they change on request and never otherwise."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from foreword.cli.settings_file import change
from foreword.cli.settling import commented
from foreword.errors import BadSettings
from foreword.install.toml import rewritten

KEY = "agent:main:main"
FACTS = (
    "Maya's cat is called Biscuit.",
    "The staging database listens on port 5433.",
    "My sister Anna has lived in Lisbon since spring.",
    "Our logo uses the colour teal.",
    "The old printer only works with black ink.",
    "The board meets on the fourteenth of March.",
)
# As close to the memories as questions can be: these tests are about the door, not about the gate behind it.
ASKS = (
    "Is Maya's cat called Biscuit?",
    "Which port has the staging database, 5433?",
    "Has my sister Anna lived in Lisbon since spring?",
    "Is the colour of our logo teal?",
    "Does the old printer work with black ink only?",
    "Does the board meet on the fourteenth of March?",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "user" / ".config" / "foreword" / "config.toml"


@pytest.fixture
def full(run):
    """A home with six memories."""
    for fact in FACTS:
        assert run("record", fact, "--session", KEY).code == 0
    return run


@pytest.fixture
def silent(full, file):
    """The same, where the settings file makes the gate so strict that six turns, r1 to r6, were silent."""
    file.parent.mkdir(parents=True)
    file.write_text("# mine\n[gate]\nconfident = 1.0 # too strict?\nfloor = 1.0\n")
    for number, ask in enumerate(ASKS):
        assert full("brief", ask, "--session", f"agent:main:{number}").out == ""
    return full


# feedback


def test_feedback_is_kept_replaced_and_taken_back(full):
    full("brief", ASKS[0], "--session", "agent:main:b")
    said = full("feedback", "r1", "good")
    assert (said.code, said.out) == (0, "r1: good, what was given helped.\n")
    assert full("feedback", "r1", "noise", "--json").data == {"receipt": "r1", "feedback": "noise"}
    assert "feedback  noise" in full("why", "r1").out
    assert full("status", "--json").data["feedback"] == {"noise": 1}
    assert "on 1 turn: noise 1" in full("status").out
    assert full("feedback", "r1", "clear").out == "r1: no feedback any more.\n"
    assert "none yet" in full("status").out


def test_feedback_that_cannot_be_is_refused_with_the_next_step(full):
    full("brief", "hello", "--session", "agent:main:b")
    silent = full("feedback", "r1", "good")
    assert (silent.code, silent.out) == (2, "")
    assert "Nothing was given in r1" in silent.err
    assert "Use missed" in silent.err
    unknown = full("feedback", "r7", "good", "--json")
    assert (unknown.code, unknown.error["code"]) == (1, "unknown_id")
    assert full("feedback", "seven", "good").code == 2
    assert "good, noise, missed, or clear" in full("feedback", "r1", "fine").err
    assert full("feedback", "r1").code == 2
    assert "no candidates" in full("feedback", "r1", "missed").out


# tune


def test_with_too_little_feedback_tune_says_how_much_is_missing_and_what_to_judge(silent):
    empty = silent("tune")
    assert empty.code == 0
    assert "None of 6 turns are judged" in empty.out
    assert "Judge 5 more" in empty.out
    assert ASKS[5] in empty.out
    silent("feedback", "r6", "missed")
    more = silent("tune")
    assert "1 of 6 turns is judged" in more.out
    assert "Judge 4 more" in more.out
    assert ASKS[5] not in more.out
    data = silent("tune", "--json").data
    assert (data["missing"], data["changes"], data["applied"]) == (4, {}, False)
    assert [one["receipt"] for one in data["to_judge"]] == ["r5", "r4", "r3", "r2", "r1"]


def test_an_empty_home_can_be_tuned(run):
    assert run("tune").code == 0
    assert run("tune", "--apply", "--json").data["applied"] is False


@pytest.mark.proves("B6")
def test_tune_proposes_what_the_feedback_speaks_for_and_writes_nothing(silent, file):
    for number in range(1, 6):
        silent("feedback", f"r{number}", "missed")
    before = file.read_bytes()
    for argv in ([], ["--dry-run"]):
        shown = silent("tune", *argv)
        assert shown.code == 0
        assert "gate.confident" in shown.out
        assert ASKS[0] in shown.out
        assert "Nothing was changed. To apply it: foreword tune --apply\n" in shown.out
    data = silent("tune", "--json").data
    assert data["agreement"]["present"] == 0
    assert data["agreement"]["proposed"] >= 2
    assert data["present"] == {"confident": 1.0, "floor": 1.0, "companion": 0.5}
    assert 0.4 <= data["proposed"]["floor"] <= data["proposed"]["confident"] <= 0.9
    assert "--last 6" in silent("tune", "--last", "6").out.splitlines()[-1]
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]
    wanted = [f"--{name}={value}" for name, value in data["proposed"].items()]
    replayed = [one for one in silent("replay", *wanted, "--json").data["turns"] if one["changed"]]
    assert [(one["receipt"], one["after"]) for one in replayed] == [
        (one["receipt"], one["after"]) for one in data["changed"]
    ]


@pytest.mark.proves("B6")
def test_tune_applies_on_request_keeps_the_rest_of_the_file_and_the_file_as_it_was(silent, file):
    for number in range(1, 6):
        silent("feedback", f"r{number}", "missed")
    before = file.read_text()
    file.chmod(0o640)
    proposed = silent("tune", "--json").data["proposed"]
    applied = silent("tune", "--apply")
    assert applied.code == 0
    assert f"Written to {file}" in applied.out
    assert file.with_name("config.toml.bak").read_text() == before
    assert file.read_text() == before.replace("confident = 1.0", f"confident = {proposed['confident']}").replace(
        "floor = 1.0", f"floor = {proposed['floor']}"
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert silent("config", "gate.confident").out == f"{proposed['confident']}\n"
    assert silent("brief", ASKS[0], "--session", "agent:main:later").out != ""
    again = silent("tune", "--apply", "--json").data
    assert (again["applied"], again["changes"]) == (False, {}), "the smallest change was made, there is no other"


def test_tune_does_not_write_what_would_not_count(silent, file, folder, monkeypatch):
    for number in range(1, 6):
        silent("feedback", f"r{number}", "missed")
    before = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setenv("FOREWORD_GATE_FLOOR", "1.0")
        refused = silent("tune", "--apply")
        assert refused.code == 4
        assert "Unset FOREWORD_GATE_FLOOR" in refused.err
    (folder / ".foreword.toml").write_text("[gate]\nfloor = 1.0\n")
    refused = silent("tune", "--apply", "--json")
    assert (refused.code, refused.error["code"]) == (4, "bad_settings")
    assert str(folder / ".foreword.toml") in refused.error["message"]
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_wrong_calls_of_tune_are_named(run):
    assert "at least 1" in run("tune", "--last", "0").err
    assert "--dry-run" in run("tune", "--apply", "--dry-run").err
    assert run("tune", "--last", "many").code == 2


def test_a_file_that_cannot_be_changed_safely_is_left_as_it_is(silent, file):
    for number in range(1, 6):
        silent("feedback", f"r{number}", "missed")
    file.write_text("gate = {confident = 1.0, floor = 1.0}\n")
    refused = silent("tune", "--apply")
    assert refused.code == 4
    assert "it is as it was" in refused.err
    assert "Set it by hand: gate.confident = " in refused.err
    assert file.read_text() == "gate = {confident = 1.0, floor = 1.0}\n"
    assert list(file.parent.iterdir()) == [file]


def test_a_settings_file_that_is_a_link_stays_one(silent, file, tmp_path):
    for number in range(1, 6):
        silent("feedback", f"r{number}", "missed")
    kept = tmp_path / "dotfiles.toml"
    file.rename(kept)
    file.symlink_to(kept)
    assert silent("tune", "--apply").code == 0
    assert file.is_symlink()
    assert tomllib.loads(kept.read_text())["gate"]["confident"] < 1
    assert tomllib.loads((tmp_path / "dotfiles.toml.bak").read_text())["gate"]["confident"] == 1


# the settings file


def test_a_settings_file_that_is_missing_begins_as_init_makes_it(file: Path) -> None:
    assert change(file, {"gate.floor": 0.5}, fresh=commented()) is None
    assert tomllib.loads(file.read_text())["gate"] == {"floor": 0.5}
    assert "# A memory this sure" in file.read_text()
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"# \xff\n", "not UTF-8.*by hand: gate.floor = 0.5"), (b"[gate\n", "not valid TOML.*Correct it")],
)
def test_a_file_that_cannot_be_read_is_named_and_left_as_it_is(file: Path, data: bytes, said: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    with pytest.raises(BadSettings, match=said) as refused:
        change(file, {"gate.floor": 0.5}, fresh="")
    assert str(file) in str(refused.value)
    assert file.read_bytes() == data
    assert list(file.parent.iterdir()) == [file]


def test_a_place_where_no_file_can_be_is_named(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(BadSettings, match="is not a file"):
        change(file, {"gate.floor": 0.5}, fresh="")
    with pytest.raises(BadSettings, match=r"cannot be written.*FOREWORD_CONFIG"):
        change(Path("/dev/null/config.toml"), {"gate.floor": 0.5}, fresh="")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "[gate]\nfloor = 0.5\n"),
        ("[gate]\nfloor = 0.6", "[gate]\nfloor = 0.5"),
        ("[gate]\n  floor=0.6   # mine\n", "[gate]\n  floor=0.5   # mine\n"),
        ("[gate]\r\nfloor = 0.6\r\n", "[gate]\r\nfloor = 0.5\r\n"),
        ("[gate]\r\n\r\n[turn]\r\n", "[gate]\r\nfloor = 0.5\r\n\r\n[turn]\r\n"),
        ("[ 'gate' ] # here\n\"floor\" = 0.6\n", "[ 'gate' ] # here\n\"floor\" = 0.5\n"),
        ("[gate]\n# floor = 0.6\n\n# more\n", "[gate]\n# floor = 0.6\nfloor = 0.5\n\n# more\n"),
        ("gate.floor = 0.6\nprofile = 'aci'\n", "gate.floor = 0.5\nprofile = 'aci'\n"),
        ("gate.confident = 0.8\n[turn]\n", "gate.confident = 0.8\ngate.floor = 0.5\n[turn]\n"),
        ("[turn]\nenabled = true", "[turn]\nenabled = true\n\n[gate]\nfloor = 0.5\n"),
        (
            "[compose]\nfloor = 3\n[gate]\nconfident = 0.8\n",
            "[compose]\nfloor = 3\n[gate]\nfloor = 0.5\nconfident = 0.8\n",
        ),
    ],
)
def test_one_value_changes_and_every_other_byte_stays(text: str, wanted: str) -> None:
    assert rewritten(text, {"gate.floor": 0.5}) == wanted


def test_the_file_that_init_makes_can_be_changed() -> None:
    values = {"gate.confident": 0.85, "gate.floor": 0.55, "gate.companion": 0.7}
    text = rewritten(commented(), values)
    assert tomllib.loads(text)["gate"] == {"confident": 0.85, "floor": 0.55, "companion": 0.7}
    added = set(text.splitlines()) - set(commented().splitlines())
    assert added == {"confident = 0.85", "floor = 0.55", "companion = 0.7"}


@pytest.mark.parametrize(
    "text",
    [
        "gate = {floor = 0.6}\n",
        "gate = 5\n",
        '[record]\nnote = """\n[gate]\nfloor = 0.6\n"""\n[gate]\nfloor = 0.6\n',
        "[[gate]]\nfloor = 0.6\n",
    ],
)
def test_what_cannot_be_changed_for_sure_is_not_changed(text: str) -> None:
    with pytest.raises(ValueError):
        rewritten(text, {"gate.floor": 0.5})
