"""How one note names another, and that a name is one term of the index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.model import note_links, note_name
from foreword.recall.words import whole_term


@pytest.mark.parametrize("name", ["Boat House", "boat house.md", "BOAT  HOUSE.markdown", "boat_house"])
def test_a_note_has_one_name_however_it_is_written(name: str) -> None:
    assert note_name(name) == "boat-house.md"


def test_a_folder_and_a_heading_belong_to_the_name() -> None:
    assert note_name("Projects/Boat House") == "projects/boat-house.md"
    assert note_name("Boat", "Winter storage!") == "boat.md#winter-storage"
    assert note_name("???") == ""


@given(st.text(max_size=90), st.text(max_size=30))
def test_every_name_is_a_single_term_of_the_index(name: str, heading: str) -> None:
    term = note_name(name, heading)
    assert not term or whole_term(term) == term


@pytest.mark.proves("S13")
def test_links_lead_to_the_most_exact_name_first() -> None:
    text = "[[Boat]] [[Areas/Boat#Winter|the boat]] ![[Plan^block]] [x](../b%20c.md#Top) [y](<d e.md>) [z](https://a.b/c.md)"
    assert [(link.shown, list(link.names)) for link in note_links(text, "areas/home/n.md")] == [
        ("[[Boat]]", ["boat.md"]),
        ("[[Areas/Boat#Winter|the boat]]", ["boat.md#winter", "areas/boat.md", "boat.md"]),
        ("[[Plan^block]]", ["plan.md"]),
        ("../b c.md", ["b-c.md#top", "areas/b-c.md"]),
        ("d e.md", ["areas/home/d-e.md"]),
    ]


def test_a_link_to_a_heading_of_the_same_note_and_none_out_of_the_vault() -> None:
    assert [list(link.names) for link in note_links("[[#Top]]", "a/n.md")] == [["n.md#top", "a/n.md"]]
    assert note_links("[x](../../../etc/b.md)", "a/n.md") == []
    assert [list(link.names) for link in note_links("[x](#Top)", "a/n.md")] == [["n.md#top", "a/n.md"]]
    assert note_links("[x](picture.png) [[]] [a]() ](", "n.md") == []
