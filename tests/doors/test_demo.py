"""The demo: what it promises in front of people must be so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foreword.cli.demo import history, scenes

SILENT = {"The same question again", "A greeting", "A near miss", "Another agent"}


def test_the_demo_keeps_its_promises(run):
    shown = run("demo")
    assert shown.code == 0, shown.out[-2000:]
    assert "✗" not in shown.out
    assert "\x1b[" not in shown.out
    for scene in scenes.SCENES:
        assert scene.title in shown.out
    assert "foreword init" in shown.out


def test_the_demo_answers_in_one_document(run):
    data = run("demo", "--json").data
    turns = {turn["title"]: turn for turn in data["turns"]}
    assert data["problems"] == []
    assert data["status"]["memories"] == len(history.EVENTS)
    assert all(turns[title]["text"] == "" for title in SILENT)
    assert "blue toolbox" in turns["A relevant memory"]["text"]
    assert "Bilbao" in turns["Said in private, asked in private"]["text"]
    assert turns["Said in private, asked in a group"]["text"] == ""
    assert turns["Said in private, asked in a group by its owner"]["text"] == ""
    assert history.SECRET not in turns["A secret"]["text"]


def test_the_demo_fails_when_a_turn_does(run, monkeypatch):
    wrong = replace(scenes.SCENES[0], gives="", never="blue toolbox")
    monkeypatch.setattr("foreword.cli.demo.SCENES", (wrong, *scenes.SCENES[1:]))
    failed = run("demo")
    assert failed.code == 1
    assert "✗ turn 1: 'blue toolbox' was given, and must never be." in failed.out


def test_the_demo_ignores_this_users_settings(run, monkeypatch):
    monkeypatch.setenv("FOREWORD_GATE_CONFIDENT", "1")
    monkeypatch.setenv("FOREWORD_TURN_ENABLED", "false")
    assert run("demo", "--json").data["problems"] == []


def test_the_demo_touches_no_home_but_its_own(run, tmp_path):
    kept = tmp_path / "kept"
    assert run("demo", "--keep", str(kept)).code == 0
    assert "spare key" in run("why", "r1", "--home", str(kept)).out
    assert run("demo", "--keep", str(kept)).code == 2
    assert run("demo", "--home", str(tmp_path / "mine")).code == 2
    assert not (tmp_path / "mine").exists()
    assert not (tmp_path / "user" / ".local").exists()


@pytest.mark.parametrize("scene", scenes.SCENES, ids=lambda scene: scene.title)
def test_every_scene_tells_silence_from_an_answer(scene):
    from foreword.model import Brief

    assert scene.problem(Brief(text=scene.gives)) == ""
    assert scene.problem(Brief(text="something else", reason="of a bug"))


def test_the_demo_is_coloured_for_people(terminal):
    shown = terminal("demo")
    assert shown.code == 0
    assert "\x1b[32m" in shown.out
