"""What an installer changes on disk: shown first, kept, applied whole, and taken back."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import HostError
from foreword.install import installation
from foreword.install.installation import EDITED, LEFT, NOTHING, REMOVED, RESTORED, Change, Edit, Installation, edited
from foreword.record import redact

ODD = '{\n  // mine\n  plugins: { allow: ["telegram"], }, /* more */ gateway: {port: 1}\n}\n'
EDITS = [
    Edit(("plugins", "allow"), "foreword", item=True),
    Edit(("plugins", "entries", "foreword", "enabled"), True),
    Edit(("gateway", "port"), 2),
]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "host" / "host.json"
    file.parent.mkdir()
    file.write_text(ODD)
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "hosts" / "one"


def _plan(config: Path) -> list[Change]:
    plugin = config.parent / "made" / "plugin" / "index.js"
    return [installation.whole(plugin, b"code"), installation.edited(config, EDITS)]


def test_what_was_installed_is_taken_back_to_the_byte(config: Path, folder: Path) -> None:
    assert len(Installation(folder).apply(_plan(config))) == 2
    assert "foreword" in config.read_text()
    said = {one.file.name: one.said for one in Installation(folder).undo()}
    assert said == {"host.json": RESTORED, "index.js": REMOVED}
    assert config.read_text() == ODD
    assert os.listdir(config.parent) == ["host.json"]
    assert not folder.exists()


def test_a_second_install_changes_nothing(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert Installation(folder).apply(_plan(config)) == []
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before


def test_what_is_kept_is_the_user_s_alone(config: Path, folder: Path) -> None:
    umask = os.umask(0o022)
    Installation(folder).apply(_plan(config))
    os.umask(umask)
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for one in (folder, folder.parent, folder.parent.parent):
        assert stat.S_IMODE(one.stat().st_mode) == 0o700


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path, config: Path, folder: Path) -> None:
    config.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(config)
    Installation(folder).apply([installation.edited(link, EDITS)])
    assert link.is_symlink()
    assert stat.S_IMODE(config.stat().st_mode) == 0o640
    assert "foreword" in config.read_text()
    Installation(folder).undo()
    assert link.is_symlink()
    assert config.read_text() == ODD


def test_of_a_file_that_was_changed_since_only_ours_is_taken_out(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    theirs = config.read_text().replace("// mine", "// mine, and new").replace('["telegram",', '["telegram", "x",')
    config.write_text(theirs)
    (change, _) = Installation(folder).undo()
    assert change.said == EDITED
    assert config.read_text() == ODD.replace("// mine", "// mine, and new").replace('"telegram"', '"telegram", "x"')


def test_of_a_file_that_the_host_wrote_anew_only_ours_is_taken_out(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    config.write_text('{"gateway": {"port": 2}, "plugins": {"allow": ["telegram", "foreword"], "entries":'
                      ' {"foreword": {"enabled": false}}}, "meta": 1}')  # fmt: skip
    Installation(folder).undo()
    assert json.loads(config.read_text()) == {"gateway": {"port": 1}, "plugins": {"allow": ["telegram"]}, "meta": 1}


def test_what_somebody_set_otherwise_since_stays_theirs(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    config.write_text(config.read_text().replace("port: 2", "port: 3"))
    Installation(folder).undo()
    assert config.read_text() == ODD.replace("port: 1", "port: 3")


def test_a_file_of_ours_that_somebody_changed_is_left(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    plugin = config.parent / "made" / "plugin" / "index.js"
    plugin.write_text("theirs")
    assert {one.file.name: one.said for one in Installation(folder).undo()}["index.js"] == LEFT
    assert plugin.read_text() == "theirs"


def test_a_newer_install_is_taken_back_to_what_was_before_the_first(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    Installation(folder).apply([installation.edited(config, [*EDITS, Edit(("plugins", "enabled"), True)])])
    (change, _) = Installation(folder).undo()
    assert change.said == RESTORED
    assert config.read_text() == ODD


def test_an_install_over_a_change_of_the_user_s_keeps_that_change(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    config.write_text(config.read_text().replace("// mine", "// later").replace('"enabled": true', '"enabled": false'))
    Installation(folder).apply(_plan(config))
    assert '"enabled": true' in config.read_text()
    Installation(folder).undo()
    assert config.read_text() == ODD.replace("// mine", "// later")


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize("written", [0, 1])
def test_a_crash_between_two_files_is_finished_or_taken_back(
    config: Path, folder: Path, written: int, finished: bool
) -> None:
    plan = _plan(config)
    Installation(folder).apply(plan)
    # The record comes first and the files one by one, so a crash leaves the last of them as they were.
    for one in plan[written:]:
        installation.replace(Change(one.file, one.after, one.before))
    if finished:
        assert Installation(folder).apply(_plan(config)) == [one.file for one in plan[written:]]
        assert "foreword" in config.read_text()
    said = {one.said for one in Installation(folder).undo()}
    assert said <= {NOTHING, RESTORED, REMOVED}
    assert config.read_text() == ODD
    assert os.listdir(config.parent) == ["host.json"]


def test_a_plan_that_is_out_of_date_touches_nothing(config: Path, folder: Path) -> None:
    plan = _plan(config)
    config.write_text(ODD + "\n")
    with pytest.raises(HostError, match="changed in the meantime"):
        Installation(folder).apply(plan)
    assert config.read_text() == ODD + "\n"
    assert not Installation(folder).exists


def test_a_damaged_copy_is_not_put_back(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    (copy,) = folder.glob("before-*")
    copy.write_text("{}")
    (change, _) = Installation(folder).undo()
    assert change.said == EDITED
    assert config.read_text() == ODD


def test_settings_that_cannot_be_read_are_named_and_left(config: Path) -> None:
    config.write_text('{\n  "a": 1\n  "b": 2\n}')
    with pytest.raises(HostError, match=r"host\.json is not valid JSON: line 3, column 3: a comma"):
        installation.edited(config, EDITS)
    config.write_bytes(b"\xff\xfe{}")
    with pytest.raises(HostError, match="not UTF-8"):
        installation.edited(config, EDITS)


def test_a_damaged_record_is_named(config: Path, folder: Path) -> None:
    Installation(folder).apply(_plan(config))
    (folder / "installed.json").write_text("{")
    with pytest.raises(HostError, match="is damaged"):
        Installation(folder)


def test_the_diff_shows_the_change_and_no_secret(config: Path) -> None:
    config.write_text('{\n  "apiKey": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",\n  "gateway": {}\n}\n')
    shown = installation.diff(_plan(config), redact=lambda text: redact(text).text)
    assert "+++ " in shown
    assert '"plugins"' in shown
    assert "new file" in shown
    assert "abcdefghijklmnop" not in shown


def test_a_toml_file_is_edited_and_restored_too(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "config.toml"
    text = '# mine\n[owner]\nids = [\n  "signal:1",  # old\n]\n\n[gate]\nfloor = 0.2\n'
    file.write_text(text)
    edits = [Edit(("owner", "ids"), "telegram:7", item=True), Edit(("turn", "exclude"), "bot", item=True)]
    Installation(folder).apply([installation.edited(file, edits)])
    assert 'ids = [\n  "signal:1",  # old\n  "telegram:7",\n]' in file.read_text()
    file.write_text(file.read_text() + "\n[serve]\nport = 0\n")
    Installation(folder).undo()
    assert file.read_text() == text + "\n[serve]\nport = 0\n"


@given(
    st.dictionaries(
        st.sampled_from(["plugins", "gateway", "other"]),
        st.dictionaries(st.sampled_from(["allow", "entries", "port"]), st.just({}) | st.just(["x"]), max_size=2),
        max_size=3,
    ),
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_taking_out_by_hand_gives_the_bytes_that_were_there(value: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    edits = [
        Edit(("plugins", "load", "paths"), "/p", item=True),
        Edit(("plugins", "entries", "foreword", "enabled"), True),
        Edit(("plugins", "entries", "foreword", "hooks", "allow"), True),
    ]
    file, puts = Path("any.json"), []
    changed = text
    try:
        for edit in edits:
            changed, put = installation._put(file, changed, edit)
            puts.append(put)
    except ValueError:
        return
    assert installation._taken_out(file, changed.encode(), puts) == text.encode()


def test_a_file_that_was_missing_is_written_for_people_to_read(tmp_path: Path) -> None:
    made = edited(tmp_path / "settings.json", [Edit(("hooks", "Stop"), {"command": "x"}, item=True)])
    assert made.after == b'{\n  "hooks": {\n    "Stop": [\n      {\n        "command": "x"\n      }\n    ]\n  }\n}\n'


def test_a_table_of_ours_in_a_toml_file_that_was_changed_since_goes_with_its_header(
    tmp_path: Path, folder: Path
) -> None:
    # Codex does not start while a server in its settings has no command.
    file = tmp_path / "config.toml"
    file.write_text('model = "a"\n')
    edits = [Edit(("servers", "foreword", "command"), "x"), Edit(("servers", "foreword", "args"), ["y"])]
    Installation(folder).apply([edited(file, edits)])
    installed = file.read_text()
    for since, left in (
        ("\n[state]\nseen = 1\n", 'model = "a"\n\n[state]\nseen = 1\n'),
        ("# mine\n", 'model = "a"\n\n[servers.foreword]\n# mine\n'),
    ):
        file.write_text(installed + since)
        assert [one.said for one in Installation(folder).undoing()] == [EDITED]
        assert [one.after for one in Installation(folder).undoing()] == [left.encode()]
    file.write_text("other = 1\n" + installed)
    Installation(folder).undo()
    assert file.read_text() == 'other = 1\nmodel = "a"\n'


SERVER = Edit(("servers", "foreword"), {"command": "x", "args": ["y"]}, table=True)


@pytest.mark.parametrize(
    ("since", "left"),
    [
        ("timeout = 9\n", ""),
        ('timeout = 9  # slow\n\n[servers.foreword.tools.get]\nmode = "ask"\n', ""),
        (
            "# mine\n[servers.foreword.env]\nA = '''\n[other]\n'''\n\n[state]\nseen = 1\n",
            "\n# mine\n[state]\nseen = 1\n",
        ),
        ("\n[state]\nseen = 1\n\n['servers' . \"foreword\".env]\nA = 1\n", "\n[state]\nseen = 1\n"),
        ("\n[[servers.foreword.more]]\na = 1\n\n[servers.forewords]\nb = 1\n", "\n[servers.forewords]\nb = 1\n"),
    ],
)
def test_a_table_of_ours_goes_with_what_others_put_into_it(tmp_path: Path, folder: Path, since: str, left: str) -> None:
    # Codex does not start while a server in its settings has a timeout and no command.
    file = tmp_path / "config.toml"
    file.write_text('model = "a"\n')
    Installation(folder).apply([edited(file, [SERVER])])
    file.write_text(file.read_text() + since)
    Installation(folder).undo()
    assert file.read_text() == 'model = "a"\n' + left


def test_a_table_of_ours_that_is_not_taken_out_safely_is_left_with_the_rest(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('model = "a"\n')
    Installation(folder).apply([edited(file, [SERVER])])
    theirs = 'servers = { foreword = { command = "x", args = ["y"] }, other = { command = "z" } }\n'
    file.write_text(theirs)
    with pytest.raises(HostError, match="not changed safely"):
        Installation(folder).undo()
    assert file.read_text() == theirs
    assert Installation(folder).exists


@pytest.mark.parametrize("name", ["config.toml", "settings.json"])
def test_a_table_that_was_there_before_keeps_what_is_not_ours(tmp_path: Path, folder: Path, name: str) -> None:
    file = tmp_path / name
    is_toml = name.endswith("toml")
    file.write_text(
        '[servers.foreword]\ncommand = "mine"\ntrust = true\n'
        if is_toml
        else '{"servers": {"foreword": {"command": "mine", "trust": true}}}'
    )
    Installation(folder).apply([edited(file, [SERVER])])
    assert installation.parsed(file)["servers"]["foreword"] == {"command": "x", "trust": True, "args": ["y"]}
    file.write_text(file.read_text() + ("# later\n" if is_toml else "// later\n"))
    Installation(folder).undo()
    assert installation.parsed(file)["servers"]["foreword"] == {"command": "mine", "trust": True}


def test_what_somebody_set_on_a_table_of_ours_outlives_an_install_and_goes_with_it(config: Path, folder: Path) -> None:
    Installation(folder).apply([edited(config, [SERVER])])
    config.write_text(config.read_text().replace('"command": "x"', '"trust": true, "command": "x"'))
    Installation(folder).apply([edited(config, [Edit(SERVER.path, {"command": "new", "args": ["y"]}, table=True)])])
    assert installation.parsed(config)["servers"]["foreword"] == {"trust": True, "command": "new", "args": ["y"]}
    Installation(folder).undo()
    assert config.read_text() == ODD


@pytest.mark.parametrize("name", ["config.toml", "settings.json"])
def test_an_item_that_was_there_before_is_not_taken_out(tmp_path: Path, folder: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text('[owner]\nids = ["a"]\n' if name.endswith("toml") else '{"owner": {"ids": ["a"]}}')
    edits = [Edit(("owner", "ids"), one, item=True) for one in "ab"]
    Installation(folder).apply([edited(file, edits)])
    file.write_text(file.read_text() + "\n")
    Installation(folder).undo()
    assert installation.parsed(file) == {"owner": {"ids": ["a"]}}


def test_an_item_that_the_user_took_out_and_an_install_put_in_again_is_ours(config: Path, folder: Path) -> None:
    edits = [Edit(("plugins", "allow"), one, item=True) for one in ("telegram", "foreword")]
    Installation(folder).apply([edited(config, edits)])
    config.write_text(config.read_text().replace('"telegram", ', ""))
    Installation(folder).apply([edited(config, edits)])
    config.write_text(config.read_text().replace("// mine", "// later"))
    Installation(folder).undo()
    assert installation.parsed(config)["plugins"] == {"allow": []}


def test_two_at_once_keep_what_the_other_has_noted(config: Path, folder: Path) -> None:
    first, second = Installation(folder), Installation(folder)
    other = config.with_name("other.json")
    other.write_text("{}")
    first.apply(_plan(config))
    second.apply([installation.edited(other, EDITS)])
    Installation(folder).undo()
    assert config.read_text() == ODD
    assert other.read_text() == "{}"
