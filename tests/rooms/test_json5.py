"""Editing a person's JSON: one value goes in or out, every other byte stays."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.install import json5

ODD = """\
{
  // who I am
  gateway: { mode: 'local', port: 0x1F, auth: {token: "a // b", } },
\tagents: { list: [ {id: "main",}, /* the other */ {id: "other"} ], },
  "plugins": {
    "load": { "paths": [ "/one", ] }   // mine
  } // the end of plugins
  ,
  number: +.5, big: Infinity, text: 'it\\'s \\
here', "\\u00e4": null
}
"""


def test_what_people_write_is_read() -> None:
    value = json5.parse(ODD)
    assert value["gateway"] == {"mode": "local", "port": 31, "auth": {"token": "a // b"}}
    assert value["agents"]["list"] == [{"id": "main"}, {"id": "other"}]
    assert value["number"] == 0.5
    assert value["text"] == "it's here"
    assert value["ä"] is None


def test_a_value_goes_in_beside_comments_and_comes_out_without_a_trace() -> None:
    text = json5.put(ODD, ("plugins", "entries", "foreword", "enabled"), True)
    text = json5.put_item(text, ("plugins", "load", "paths"), "/two")
    assert json5.parse(text)["plugins"] == {
        "load": {"paths": ["/one", "/two"]},
        "entries": {"foreword": {"enabled": True}},
    }
    for comment in ("// who I am", "/* the other */", "// mine", "// the end of plugins"):
        assert comment in text
    text = json5.taken(text, ("plugins", "entries", "foreword", "enabled"), made=2)
    assert json5.taken_item(text, ("plugins", "load", "paths"), "/two") == ODD


def test_a_new_member_stands_as_its_neighbours_do() -> None:
    lined = '{\n    "a": 1 // one\n}\n'
    assert json5.put(lined, ("b", "c"), 2) == '{\n    "a": 1, // one\n    "b": {\n        "c": 2\n    }\n}\n'
    assert json5.put("{ a: 1, }", ("b",), 2) == '{ a: 1, "b": 2, }'
    assert json5.put("{\r\n\ta: 1\r\n}", ("b",), [2]) == '{\r\n\ta: 1,\r\n\t"b": [\r\n\t\t2\r\n\t]\r\n}'


def test_a_value_that_is_there_is_replaced_where_it_stands() -> None:
    assert json5.put("{ on: false, /* why */ b: 1 }", ("on",), True) == "{ on: true, /* why */ b: 1 }"


def test_an_item_that_is_there_is_not_added_twice() -> None:
    assert json5.put_item('{"a": ["x"]}', ("a",), "x") == '{"a": ["x"]}'


def test_what_follows_on_the_line_does_not_fall_into_a_comment() -> None:
    text = '{ a: 1, // one\n  "k": 2, b: 3 }'
    assert json5.parse(json5.taken(text, ("k",))) == {"a": 1, "b": 3}
    last = '{ a: 1, // one\n  "k": 2 }'
    assert json5.parse(json5.taken(last, ("k",))) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "it ends too soon"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, "a comma or } is expected"),
        ("{a: }", 1, "a value is expected"),
        ('{\n"a": "x\n}', 2, "a string does not end"),
        ("{} {}", 1, "something follows after the end"),
        ("/* ", 1, "a comment does not end"),
        ("[" * 5000, 1, "it is nested too deeply"),
        ("{a: 1x}", 1, "a value is expected"),
    ],
)
def test_what_is_not_json_is_named_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(json5.Unreadable, match=what) as found:
        json5.parse(text)
    assert found.value.line == line


def test_a_value_in_the_way_is_not_written_over() -> None:
    with pytest.raises(ValueError, match="plugins is not an object"):
        json5.put('{"plugins": []}', ("plugins", "entries"), {})
    with pytest.raises(ValueError, match="a is not a list"):
        json5.put_item('{"a": {}}', ("a",), 1)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\u2028", "\u2029"])
def test_a_comment_ends_where_any_line_does(end: str) -> None:
    text = f'{{\n  "a": 1 // mine{end}}}\n'
    changed = json5.put(text, ("b",), 2)
    assert json5.parse(changed) == {"a": 1, "b": 2}
    assert json5.taken(changed, ("b",)) == text


def test_a_change_that_would_do_more_than_it_should_is_refused() -> None:
    # Without the second, the first would count.
    with pytest.raises(ValueError, match="not changed safely"):
        json5.taken('{"a": 1, "a": 2}', ("a",))
    assert json5.put('{"a": NaN}', ("b",), 1) == '{"a": NaN, "b": 1}'


KEYS = st.sampled_from(["a", "b", "c", "$d", "ä ö", "plugins"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), st.text(max_size=5))
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)
TRIVIA = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\t", "/* c, } */", ' // { "x\n', "\r\n  ", "\r", "// y\r", "// z\u2028"]
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value in a way that somebody might write it."""
    gap = lambda: draw(TRIVIA)  # noqa: E731
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    if isinstance(value, dict):
        inner = [
            gap()
            + (key if key.isidentifier() and draw(st.booleans()) else json.dumps(key))
            + gap()
            + ":"
            + gap()
            + draw(written(one))
            + gap()
            for key, one in value.items()
        ]
    else:
        inner = [gap() + draw(written(one)) + gap() for one in value]
    comma = "," + gap() if inner and draw(st.booleans()) else ""
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return opened + ",".join(inner) + comma + (gap() if not inner else "") + closed


DOCUMENTS = st.one_of(
    OBJECTS.flatmap(lambda value: st.tuples(st.just(value), written(value))),
    OBJECTS.map(lambda value: (value, json.dumps(value, indent=2))),
)


@given(DOCUMENTS)
def test_every_way_of_writing_is_read_alike(document: tuple[Any, str]) -> None:
    value, text = document
    assert json5.parse(text) == value


def _with(value: Any, path: tuple[str, ...], new: Any) -> Any:
    return {**value, path[0]: _with(value.get(path[0], {}), path[1:], new)} if path else new


@given(DOCUMENTS, PATHS, VALUES)
def test_what_is_put_in_is_there_and_nothing_else_changes(document: tuple[Any, str], path: Any, new: Any) -> None:
    value, text = document
    try:
        changed = json5.put(text, path, new)
    except ValueError:
        above = [json5.member(value, path[:depth]) for depth in range(1, len(path))]
        assert any(not isinstance(one, dict) for one in above)
        return
    assert json5.parse(changed) == _with(value, path, new)


@given(DOCUMENTS, PATHS, VALUES)
def test_what_was_put_in_is_taken_out_to_the_byte(document: tuple[Any, str], path: Any, new: Any) -> None:
    _, text = document
    try:
        absent = json5.absent(text, path)
    except ValueError:
        return
    if absent:
        assert json5.taken(json5.put(text, path, new), path, made=absent - 1) == text


@given(DOCUMENTS, PATHS, SCALARS)
def test_an_item_that_was_put_in_is_taken_out_to_the_byte(document: tuple[Any, str], path: Any, new: Any) -> None:
    _, text = document
    try:
        absent = json5.absent(text, path)
        changed = json5.put_item(text, path, new)
    except ValueError:
        return
    if changed != text:
        assert json5.taken_item(changed, path, new, made=absent) == text


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(json5.Unreadable):
        json5.parse(text)
