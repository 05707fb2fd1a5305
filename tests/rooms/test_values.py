"""A dataclass that is sooner made must be one: held against the library's own, field by field."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace

import pytest

import foreword
from foreword.values import _value, dataclass


@dataclass(frozen=True, slots=True)
class Ours:
    """A place."""

    name: str
    size: int = 2
    tags: Sequence[str] = field(default_factory=tuple)
    about: dict[str, int] = field(default_factory=dict, metadata={"help": "what is known"})

    @property
    def long_name(self) -> str:
        return self.name * self.size


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """A place."""

    name: str
    size: int = 2
    tags: Sequence[str] = field(default_factory=tuple)
    about: dict[str, int] = field(default_factory=dict, metadata={"help": "what is known"})


@dataclass(frozen=True, slots=True)
class Single:
    name: str = "only"


@dataclass(frozen=True, slots=True)
class Nothing:
    """Has no field."""


def test_its_fields_are_those_of_the_library_s_own() -> None:
    for ours, theirs in zip(fields(Ours), fields(Theirs), strict=True):
        for about in ("name", "type", "default", "default_factory", "init", "repr", "compare", "metadata", "kw_only"):
            assert getattr(ours, about) == getattr(theirs, about)
    assert is_dataclass(Ours)
    assert Ours.__match_args__ == Theirs.__match_args__
    assert Ours.__slots__ == Theirs.__slots__
    assert Ours.__doc__ == Theirs.__doc__
    assert (Ours.__module__, Ours.__qualname__) == (__name__, "Ours")


def test_it_is_made_shown_compared_and_changed_like_the_library_s_own() -> None:
    one = Ours("oslo", tags=("a",))
    assert repr(one) == repr(Theirs("oslo", tags=("a",))).replace("Theirs", "Ours")
    assert one == Ours("oslo", 2, ("a",), {})
    assert one != Ours("oslo", 3, ("a",))
    assert one != Theirs("oslo", tags=("a",)), "another class is another thing, whatever it holds"
    assert one.about is not Ours("oslo").about, "each has a default of its own"
    assert replace(one, size=3).long_name == "oslooslooslo"
    assert asdict(one) == {"name": "oslo", "size": 2, "tags": ("a",), "about": {}}
    assert hash(Single("a")) == hash(Single("a"))
    assert Single("a") != Single("b")
    assert Nothing() == Nothing()
    match one:
        case Ours("oslo", size):
            assert size == 2
        case _:
            pytest.fail("it is matched by place")


def test_it_is_frozen_and_has_no_room_for_more() -> None:
    one = Ours("oslo")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        one.name = "rome"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del one.name  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        one.other = 1  # type: ignore[attr-defined]
    assert not hasattr(one, "__dict__")


def test_one_that_lacks_a_field_is_told_which() -> None:
    with pytest.raises(TypeError, match=r"Ours.__init__\(\) missing 1 required positional argument: 'name'"):
        Ours()  # type: ignore[call-arg]


def test_it_can_be_copied_and_sent_to_another_process() -> None:
    one = Ours("oslo", about={"a": 1})
    assert copy.copy(one) == one
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one


def test_what_has_a_base_or_methods_of_its_own_is_made_by_the_library() -> None:
    @dataclass(frozen=True, slots=True)
    class Longer(Ours):
        more: int = 0

    @dataclass(frozen=True, slots=True)
    class Checked:
        size: int

        def __post_init__(self) -> None:
            if self.size < 0:
                raise ValueError("too small")

    @dataclass(slots=True)
    class Open:
        size: int = 0

    assert Longer("a", more=3).long_name == "aa"
    assert [one.name for one in fields(Longer)] == ["name", "size", "tags", "about", "more"]
    with pytest.raises(ValueError, match="too small"):
        Checked(-1)
    changed = Open()
    changed.size = 4
    assert changed == Open(4)


def test_every_class_of_foreword_can_be_changed_one_field_at_a_time() -> None:
    found = 0
    for module in pkgutil.walk_packages(foreword.__path__, "foreword."):
        if module.name.endswith("__main__"):
            continue
        for one in vars(importlib.import_module(module.name)).values():
            if isinstance(one, type) and is_dataclass(one) and one.__module__ == module.name:
                names = [each.name for each in fields(one)]
                assert list(one.__match_args__) == names
                assert one.__eq__ is not object.__eq__
                found += 1
    assert found > 100


@pytest.mark.parametrize(
    "asked",
    [field(repr=False), field(compare=False), field(init=False, default=1), field(kw_only=True), [1]],
    ids=["repr", "compare", "init", "kw_only", "mutable"],
)
def test_what_it_does_not_do_is_refused_and_not_forgotten(asked: object) -> None:
    with pytest.raises(TypeError, match="value"):
        _value(type("Asks", (), {"__annotations__": {"value": int}, "value": asked}))
