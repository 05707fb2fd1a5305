"""Settings: which layer wins, who may set what, and that nothing broken goes unnamed."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.errors import BadSettings
from foreword.model import Style
from foreword.settings import (
    PROFILES,
    PROJECT_FILE,
    Loaded,
    Settings,
    config_file,
    from_values,
    keys,
    load,
    value_of,
)

KEYS = list(keys())


class Desk:
    """A user's config folder, a project, and an environment, all of this test alone."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "config" / "foreword" / "config.toml"
        self.config.parent.mkdir(parents=True)
        self.project = folder / "project"
        self.project.mkdir()
        self.environ = {"XDG_CONFIG_HOME": str(folder / "config"), "HOME": str(folder)}

    def load(self, user: str | None = None, project: str | None = None, **environ: str) -> Loaded:
        if user is not None:
            self.config.write_text(user, "utf-8")
        if project is not None:
            (self.project / PROJECT_FILE).write_text(project, "utf-8")
        return load(project=self.project, environ={**self.environ, **environ})


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# Layers


def test_without_any_file_the_defaults_stand_and_nothing_is_wrong(desk: Desk) -> None:
    loaded = desk.load()
    assert loaded.settings == Settings()
    assert loaded.warnings == ()
    assert loaded.sources == {}


def test_each_layer_wins_over_the_one_below_it_and_is_named_as_the_source(desk: Desk) -> None:
    user = 'profile = "openclaw-mem"\n[gate]\nconfident = 0.8\nfloor = 0.4\n[compose]\nmax_memories = 7\n'
    loaded = desk.load(user, "[gate]\nfloor = 0.5\n[compose]\nmax_memories = 6\n", FOREWORD_COMPOSE_MAX_MEMORIES="2")
    gate, compose = loaded.settings.gate, loaded.settings.compose
    assert loaded.warnings == ()
    assert gate.companion == Settings().gate.companion
    assert compose.style is Style.PLAIN
    assert (gate.confident, gate.floor, compose.max_memories) == (0.8, 0.5, 2)
    assert dict(loaded.sources) == {
        "profile": str(desk.config),
        "turn.at_start": "profile openclaw-mem",
        "compose.style": "profile openclaw-mem",
        "gate.confident": str(desk.config),
        "gate.floor": str(desk.project / PROJECT_FILE),
        "compose.max_memories": "environment",
    }


def test_the_environment_may_choose_the_profile_and_the_file_still_comes_after_it(desk: Desk) -> None:
    loaded = desk.load('profile = "ethos"\n[compose]\nmax_memories = 4\n', FOREWORD_PROFILE="openclaw-mem")
    assert loaded.settings.profile == "openclaw-mem"
    assert loaded.settings.compose.style is Style.PLAIN
    assert loaded.settings.compose.max_memories == 4
    assert loaded.sources["profile"] == "environment"


def test_the_environment_speaks_in_strings(desk: Desk) -> None:
    loaded = desk.load(
        FOREWORD_TURN_ENABLED="off",
        FOREWORD_TURN_ONCE_PER_SESSION="Yes",
        FOREWORD_TURN_EXCLUDE="build-*, lint ,",
        FOREWORD_GATE_FLOOR="0.25",
        FOREWORD_COMPOSE_STYLE="xml",
        FOREWORD_SOMETHING_ELSE="not ours to complain about",
    )
    assert loaded.warnings == ()
    assert loaded.settings.turn.enabled is False
    assert loaded.settings.turn.once_per_session is True
    assert loaded.settings.turn.exclude == ("build-*", "lint")
    assert loaded.settings.gate.floor == 0.25
    assert loaded.settings.compose.style is Style.XML


@pytest.mark.proves("D10")
@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_tilde_is_the_users_home(desk: Desk, where: str) -> None:
    given_in = {"file": {"user": '[store]\nhome = "~/memories"\n'}, "environment": {"FOREWORD_HOME": "~/memories"}}
    loaded = desk.load(**given_in[where])
    assert loaded.settings.store.home == str(Path.home() / "memories")
    assert loaded.warnings == ()


def test_the_home_of_a_user_who_does_not_exist_is_named(desk: Desk) -> None:
    loaded = desk.load(FOREWORD_HOME="~nobody-of-this-name/memories")
    [warning] = loaded.warnings
    assert "store.home" in warning
    assert loaded.settings.store.home == Settings().store.home


@pytest.mark.parametrize("home", ["", "  ", "\\u0000"])
def test_a_home_without_a_name_does_not_become_the_current_folder(desk: Desk, home: str) -> None:
    loaded = desk.load(f'[store]\nhome = "{home}"\n')
    assert loaded.settings.store.home == Settings().store.home
    assert "must name a folder" in loaded.warnings[0]


def test_the_config_file_is_where_the_environment_says(tmp_path: Path) -> None:
    assert config_file({"FOREWORD_CONFIG": str(tmp_path / "my.toml")}) == tmp_path / "my.toml"
    assert config_file({"FOREWORD_CONFIG": "~/my.toml"}) == Path.home() / "my.toml"
    assert config_file({"XDG_CONFIG_HOME": "/x"}) == Path("/x/foreword/config.toml")
    assert config_file({"HOME": "/h"}) == Path("/h/.config/foreword/config.toml")
    assert load(environ={"FOREWORD_CONFIG": "~nobody-of-this-name/my.toml", "HOME": "/h"}).settings == Settings()


# A project's file


def test_a_projects_file_may_set_only_what_makes_foreword_say_less(desk: Desk) -> None:
    for key in KEYS:
        section, _, name = key.name.rpartition(".")
        value = desk_value(key.default)
        text = f"[{section}]\n{name} = {value}\n" if section else f"{name} = {value}\n"
        loaded = desk.load(project=text)
        if key.project:
            assert loaded.warnings == (), key.name
            assert loaded.sources == {key.name: str(desk.project / PROJECT_FILE)}
        else:
            assert loaded.settings == Settings()
            assert loaded.sources == {}
            [warning] = loaded.warnings
            assert warning.startswith(f"{desk.project / PROJECT_FILE}: {key.name} may not be set by a project's file")


@pytest.mark.parametrize(
    ("text", "key", "kept"),
    [
        ("[gate]\nconfident = 0.0\n", "gate.confident", 0.75),
        ("[gate]\nfloor = 0.0\n", "gate.floor", 0.6),
        ("[gate]\ncompanion = 0.1\n", "gate.companion", 0.5),
        ("[compose]\nmax_memories = 1000\n", "compose.max_memories", 3),
        ("[compose]\nmax_hot_tokens = 100000000\n", "compose.max_hot_tokens", 400),
        ("[turn]\nrepeat_ms = 999999\n", "turn.repeat_ms", 5000),
    ],
)
def test_a_projects_file_cannot_make_foreword_say_more(desk: Desk, text: str, key: str, kept: Any) -> None:
    loaded = desk.load(project=text)
    assert value_of(loaded.settings, key) == kept
    assert "by a project's file" in loaded.warnings[0]


def test_a_projects_file_may_tighten(desk: Desk) -> None:
    text = "[gate]\nfloor = 0.7\n[compose]\nmax_memories = 1\n[turn]\nenabled = false\nonce_per_session = true\n"
    loaded = desk.load(project=text)
    assert loaded.warnings == ()
    assert (loaded.settings.gate.floor, loaded.settings.compose.max_memories) == (0.7, 1)
    assert (loaded.settings.turn.enabled, loaded.settings.turn.once_per_session) == (False, True)


def test_a_projects_file_that_is_a_device_or_a_pipe_is_not_read(desk: Desk) -> None:
    file = desk.project / PROJECT_FILE
    file.symlink_to("/dev/zero")
    assert "is not a settings file" in desk.load().warnings[0]
    file.unlink()
    os.mkfifo(file)
    assert "is not a settings file" in desk.load().warnings[0]


def test_a_number_with_hundreds_of_digits_is_refused(desk: Desk) -> None:
    loaded = desk.load(project="[turn]\ndebounce_ms = 1" + "0" * 400 + "\n")
    assert loaded.settings.turn.debounce_ms == 0
    assert "between 0 and" in loaded.warnings[0]


def test_a_hostile_key_is_not_printed_raw(desk: Desk) -> None:
    [warning] = desk.load(project='"\\u001b]0;pwn\\u0007" = 1\n').warnings
    assert "\x1b" not in warning


def desk_value(default: Any) -> str:
    """A default as TOML writes it."""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, str):
        return f'"{default}"'
    return str(list(default)) if isinstance(default, tuple) else str(default)


def test_what_could_send_text_away_or_move_it_is_not_harmless() -> None:
    guarded = ("profile", "store.", "owner.", "record.", "guard.", "embedder.")
    assert [key.name for key in KEYS if key.project and key.name.startswith(guarded)] == []


# Broken files


@pytest.mark.proves("D10")
def test_an_unknown_key_is_named_with_the_one_that_was_meant(desk: Desk) -> None:
    loaded = desk.load("[gate]\nflor = 0.2\nconfident = 0.9\n[zebra]\nstripes = 3\n")
    assert loaded.settings.gate.confident == 0.9, "the rest still counts"
    assert loaded.warnings == (
        f"{desk.config}: gate.flor is not a setting; did you mean gate.floor?",
        f"{desk.config}: zebra.stripes is not a setting; it is ignored.",
    )


def test_an_unknown_key_in_a_projects_file_is_named_too(desk: Desk) -> None:
    assert "gate.flor is not a setting" in desk.load(project="[gate]\nflor = 0.2\n").warnings[0]


@pytest.mark.proves("D10")
@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("[gate]\nfloor = 1.5", "gate.floor = 1.5 must be between 0 and 1.0; {default} is used."),
        ("[gate]\nfloor = -0.1", "gate.floor = -0.1 must be between 0 and 1.0; {default} is used."),
        ("[gate]\nfloor = nan", "gate.floor = nan must be between 0 and 1.0; {default} is used."),
        ("[gate]\nfloor = inf", "gate.floor = inf must be between 0 and 1.0; {default} is used."),
        ("[gate]\nfloor = true", "gate.floor = True must be a number; {default} is used."),
        ('[gate]\nfloor = "high"', "gate.floor = 'high' must be a number; {default} is used."),
        ("[gate]\nfloor = [1]", "gate.floor = [1] must be a number; {default} is used."),
        ("[gate.floor]\nx = 1", "gate.floor = {{'x': 1}} must be a number; {default} is used."),
        ("[compose]\nmax_memories = 2.5", "compose.max_memories = 2.5 must be a whole number; {default} is used."),
        ("[compose]\nmax_memories = -1", "compose.max_memories = -1 must be at least 0; {default} is used."),
        ("[compose]\nmax_memories = inf", "compose.max_memories = inf must be a whole number; {default} is used."),
        ("[compose]\nmax_memories = nan", "compose.max_memories = nan must be a whole number; {default} is used."),
        (
            '[compose]\nstyle = "pdf"',
            "compose.style = 'pdf' must be one of markdown, xml, plain, open-mem; {default} is used.",
        ),
        (
            "[compose]\nstyle = []",
            "compose.style = [] must be one of markdown, xml, plain, open-mem; {default} is used.",
        ),
        ('[turn]\nenabled = "maybe"', "turn.enabled = 'maybe' must be true or false; {default} is used."),
        ("[turn]\nenabled = 1", "turn.enabled = 1 must be true or false; {default} is used."),
        ("[turn]\nexclude = [1, 2]", "turn.exclude = [1, 2] must be a list of strings; {default} is used."),
        ("[turn]\nexclude = 7", "turn.exclude = 7 must be a list of strings; {default} is used."),
        ("[store]\nhome = 7", "store.home = 7 must be a string; {default} is used."),
        ("[record]\nmax_chars = 0", "record.max_chars = 0 must be at least 1; {default} is used."),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_the_one_that_is(desk: Desk, written: str, complaint: str) -> None:
    loaded = desk.load(written)
    name = complaint.split(" = ")[0]
    default = value_of(Settings(), name)
    shown = repr(default.value if isinstance(default, Style) else default)
    assert loaded.settings == Settings()
    assert loaded.warnings == (f"{desk.config}: " + complaint.format(default=shown),)


def test_a_bad_value_falls_back_to_the_layer_below_not_to_the_default(desk: Desk) -> None:
    loaded = desk.load("[gate]\nfloor = 0.3\n", FOREWORD_GATE_FLOOR="lots")
    assert loaded.settings.gate.floor == 0.3
    assert loaded.warnings == ("environment: gate.floor = 'lots' must be a number; 0.3 is used.",)
    assert loaded.sources["gate.floor"] == str(desk.config)


@pytest.mark.parametrize("profile", ['"etos"', "7", '["ethos"]', "[{a = 1}]"])
def test_a_profile_that_does_not_exist_is_named_with_those_that_do(desk: Desk, profile: str) -> None:
    loaded = desk.load(f"profile = {profile}\n")
    [warning] = loaded.warnings
    assert loaded.settings == Settings()
    assert "does not exist; 'foreword' is used" in warning
    assert all(name in warning for name in PROFILES)


@pytest.mark.proves("D10")
def test_broken_toml_is_named_with_its_line_and_the_rest_still_counts(desk: Desk) -> None:
    loaded = desk.load("[gate]\nconfident = 0.8\nfloor 0.2\n", FOREWORD_GATE_FLOOR="0.3")
    [warning] = loaded.warnings
    assert str(desk.config) in warning
    assert "line 3" in warning
    assert loaded.settings.gate.floor == 0.3
    assert loaded.settings.gate.confident == Settings().gate.confident


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a = " + b"[" * 100_000, b"\0", b"a = 1\na = 2"])
def test_a_file_that_cannot_be_read_is_named_and_never_raised(desk: Desk, data: bytes) -> None:
    desk.config.write_bytes(data)
    (desk.project / PROJECT_FILE).write_bytes(data)
    loaded = desk.load()
    assert loaded.settings == Settings()
    assert [str(desk.config) in loaded.warnings[0], PROJECT_FILE in loaded.warnings[1]] == [True, True]


def test_a_folder_in_the_place_of_the_file_is_named(desk: Desk) -> None:
    desk.config.mkdir()
    assert "is not a settings file" in desk.load().warnings[0]


def test_a_floor_above_confident_is_lowered_and_named(desk: Desk) -> None:
    loaded = desk.load("[gate]\nconfident = 0.3\nfloor = 0.6\n")
    assert (loaded.settings.gate.floor, loaded.settings.gate.confident) == (0.3, 0.3)
    assert loaded.warnings == ("gate.floor = 0.6 is above gate.confident = 0.3; both count as 0.3.",)


@pytest.mark.parametrize(("confident", "told"), [(0.9, False), (0.95, True), (0.97, True), (1.0, False)])
def test_a_bar_that_no_memory_reaches_is_named_unless_it_asks_for_silence(
    desk: Desk, confident: float, told: bool
) -> None:
    loaded = desk.load(f"[gate]\nconfident = {confident}\n")
    assert loaded.settings.gate.confident == confident
    wanted = f"gate.confident = {confident}: among many memories none is ever 0.95 sure, so none is given alone there."
    assert loaded.warnings == ((wanted,) if told else ())


@settings(max_examples=150, deadline=None)
@given(
    values=st.dictionaries(
        st.sampled_from([key.name for key in KEYS]) | st.text(max_size=8),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=12)
        | st.lists(st.integers() | st.text(max_size=3), max_size=3)
        | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
        max_size=6,
    )
)
def test_no_value_of_any_type_is_used_unless_it_fits(values: dict[str, Any]) -> None:
    try:
        got = from_values(values)
    except BadSettings:
        return
    for key in KEYS:
        value = value_of(got, key.name)
        assert isinstance(value, tuple if "tuple" in str(key.type) else key.type)
        if isinstance(value, int | float) and not isinstance(value, bool):
            assert math.isfinite(value)
            assert key.least is None or value >= key.least
            assert key.most is None or value <= key.most
    assert got.gate.floor <= got.gate.confident


# From a caller


def test_values_of_a_caller_are_refused_where_a_files_would_be_warned_about() -> None:
    assert from_values({"gate.floor": 0.2}).gate.floor == 0.2
    for bad in ({"gate.flor": 0.2}, {"gate.floor": "x"}, {"profile": "none"}, {"gate.floor": math.nan}):
        with pytest.raises(BadSettings, match=r"gate|profile"):
            from_values(bad)


def test_values_of_a_caller_go_on_top_of_what_is_there() -> None:
    base = from_values({"gate.confident": 0.9, "compose.max_memories": 8})
    got = from_values({"gate.floor": 0.2}, base=base)
    assert (got.gate.confident, got.gate.floor, got.compose.max_memories) == (0.9, 0.2, 8)


# The table itself


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_setting_has_a_sentence_and_a_default_that_may_be_written_down(desk: Desk, key: Any) -> None:
    assert key.help.endswith(".")
    assert len(key.help) > 15
    section, _, name = key.name.rpartition(".")
    value = desk_value(key.default)
    loaded = desk.load(f"[{section}]\n{name} = {value}\n" if section else f"{name} = {value}\n")
    assert loaded.warnings == ()
    expected = key.default if key.name != "store.home" else str(Path(key.default).expanduser())
    assert value_of(loaded.settings, key.name) == expected


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_loads_without_a_word(desk: Desk, profile: str) -> None:
    loaded = desk.load(f'profile = "{profile}"\n')
    assert loaded.warnings == ()
    assert loaded.settings.profile == profile
    flat: Mapping[str, Any] = {
        f"{section}.{name}": value for section, values in PROFILES[profile].items() for name, value in values.items()
    }
    for name, value in flat.items():
        assert value_of(loaded.settings, name) == value
        assert loaded.sources[name] == f"profile {profile}"


def test_there_are_six_profiles_and_the_default_one_changes_nothing() -> None:
    assert sorted(PROFILES) == ["aci", "adaptive-memory", "ethos", "foreword", "open-mem", "openclaw-mem"]
    assert PROFILES["foreword"] == {}


@pytest.mark.proves("D6")
def test_the_on_demand_profile_caps_what_it_says() -> None:
    compose = from_values({"profile": "adaptive-memory"}).compose
    assert (compose.max_memories, compose.max_snippet_chars, compose.max_hot_chars) == (3, 800, 4000)


@pytest.mark.proves("S4")
def test_the_ethos_profile_has_the_thresholds_of_its_design() -> None:
    gate = from_values({"profile": "ethos"}).gate
    assert (gate.confident, gate.floor) == (0.75, 0.12)
