"""A pattern that is compiled late must still be one, and work like one."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator

import foreword
from foreword.patterns import _Uncompiled, lazy


def lazy_patterns(value: object) -> Iterator[_Uncompiled]:
    if isinstance(value, _Uncompiled):
        yield value
    elif isinstance(value, dict):
        yield from lazy_patterns(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from lazy_patterns(one)


def modules() -> Iterable[object]:
    return [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(foreword.__path__, "foreword.")
        if not found.name.endswith("__main__")
    ]


def test_every_late_pattern_compiles() -> None:
    found = {id(one): one for module in modules() for one in lazy_patterns(list(vars(module).values()))}
    assert len(found) > 150
    for one in found.values():
        re.compile(one.pattern, one.flags)


def test_a_late_pattern_finds_what_a_compiled_one_finds() -> None:
    late, compiled = lazy(r"(a)|b", re.IGNORECASE), re.compile(r"(a)|b", re.IGNORECASE)
    assert late.pattern == compiled.pattern
    assert late.groups == compiled.groups
    assert late.findall("Abba") == late.findall("Abba") == compiled.findall("Abba")
    assert late.sub("-", "Abba") == compiled.sub("-", "Abba")


def test_a_late_pattern_is_compiled_once() -> None:
    late = lazy("a")
    assert late.search is late.search
