"""Editing a person's TOML: one item goes into a list or out of it, every other byte stays."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.install import toml


def test_an_item_stands_as_its_neighbours_do_and_comments_stay() -> None:
    lined = '[owner]\r\nids = [\r\n\t"a",  # one, ]\r\n\t"b" # two\r\n]  # three\r\n'
    assert toml.with_item(lined, "owner.ids", "c") == lined.replace('"b" # two', '"b", # two\r\n\t"c"')
    assert toml.with_item('[owner]\nids = ["a", ] # x\n', "owner.ids", "c") == '[owner]\nids = ["a", "c", ] # x\n'
    assert toml.with_item("[owner]\n", "owner.ids", "c") == '[owner]\nids = ["c"]\n'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('["x", "b"]', '["b"]'),
        ('["a", "x", "x", "b"]', '["a", "b"]'),
        ('[\n  "x",  # mine\n  "b",\n]', '[\n    # mine\n  "b",\n]'),
        ('[\n  "a", # a\n  "x" # mine\n  , "b" ]', '[\n  "a", # a\n # mine\n   "b" ]'),
        ('["x"]', "[]"),
    ],
)
def test_an_item_is_taken_out_and_comments_stay(text: str, left: str) -> None:
    assert toml.without_item(f"[owner]\nids = {text}\n", "owner.ids", "x") == f"[owner]\nids = {left}\n"


@pytest.mark.parametrize("text", ['owner = { ids = ["a"] }\n', '[owner]\nids = "a"\n'])
def test_a_list_that_is_written_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not changed safely|not a list"):
        toml.with_item(text, "owner.ids", "b")


GAPS = st.sampled_from(["", "", " ", "\n", "\n  ", "\t", ' # [ "x, \n', "\r\n  ", " # y\r\n"])
ITEMS = st.one_of(
    st.integers(0, 9), st.text(st.characters(codec="ascii"), max_size=4), st.lists(st.just("]"), max_size=2)
)


@st.composite
def written(draw: st.DrawFn) -> tuple[list[Any], str]:
    items = draw(st.lists(ITEMS, max_size=4))
    shown = [draw(GAPS) + _shown(one) + draw(GAPS) for one in items]
    end = "," + draw(GAPS) if items and draw(st.booleans()) else "" if items else draw(GAPS)
    return items, f"[owner]\nids = [{','.join(shown)}{end}]  # end\nb = 1\n"


def _shown(value: Any) -> str:
    return json.dumps(value).replace("\x7f", "\\u007f")


@given(written())
def test_an_item_that_was_put_in_is_taken_out_to_the_byte(document: tuple[list[Any], str]) -> None:
    items, text = document
    assert tomllib.loads(text)["owner"]["ids"] == items
    changed = toml.with_item(text, "owner.ids", "new one")
    assert tomllib.loads(changed)["owner"] == {"ids": [*items, "new one"], "b": 1}
    assert toml.without_item(changed, "owner.ids", "new one") == text


@given(written(), st.integers(0, 3))
def test_any_item_is_taken_out_and_the_others_stay(document: tuple[list[Any], str], number: int) -> None:
    items, text = document
    if number < len(items):
        left = toml.without_item(text, "owner.ids", items[number])
        assert tomllib.loads(left)["owner"]["ids"] == [one for one in items if one != items[number]]
        assert left.count("#") == text.count("#") - sum(_marks(one) for one in items if one == items[number])


def _marks(value: Any) -> int:
    return _shown(value).count("#")
