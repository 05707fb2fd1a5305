"""Typed dictionaries as JSON Schema, and the check of a value against them: what the wire says of itself is what it
holds its callers to."""

from __future__ import annotations

import types
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Literal, NotRequired, Required, get_args, get_origin, get_type_hints, is_typeddict

# A larger whole number loses digits where numbers are floats, as in JavaScript.
_LARGEST = 2**53
# A type's name in a schema, and what a person is told that a value must be.
_SIMPLE: Mapping[type, tuple[str, str]] = {
    str: ("string", "a string"),
    bool: ("boolean", "true or false"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
}


@cache
def fields(shape: type) -> Mapping[str, Any]:
    return get_type_hints(shape)


@cache
def required(shape: type) -> frozenset[str]:
    # Annotations are strings until they are asked for, so the class itself knows only whether it is `total`.
    marks = {name: get_origin(hint) for name, hint in get_type_hints(shape, include_extras=True).items()}
    usual: frozenset[str] = shape.__required_keys__  # type: ignore[attr-defined]
    return frozenset(
        name for name, mark in marks.items() if mark is Required or (name in usual and mark is not NotRequired)
    )


def misfit(value: object, hint: Any) -> str:
    """What a value of this type has to be, when the given one is not; "" when it is."""
    if hint is Any:
        return ""
    if get_origin(hint) is Literal:
        known = isinstance(value, str) and value in get_args(hint)
        return "" if known else f"one of {', '.join(get_args(hint))}"
    if get_origin(hint) is list:
        inner = get_args(hint)[0]
        if isinstance(value, list) and not any(misfit(one, inner) for one in value):
            return ""
        return f"a list of {_SIMPLE[inner][0]}s"
    if hint is bool or isinstance(value, bool):
        return "" if hint is bool and isinstance(value, bool) else _SIMPLE[hint][1]
    if hint in (int, float):
        fits = isinstance(value, int | hint) and -_LARGEST < value < _LARGEST
        return "" if fits else _SIMPLE[hint][1]
    return "" if isinstance(value, hint) else _SIMPLE[hint][1]


def of(hint: Any, shapes: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type. Typed dictionaries are named, and laid down in `shapes`."""
    if hint is Any:
        return {}
    if is_typeddict(hint):
        if hint.__name__ not in shapes:
            shapes[hint.__name__] = {}  # a shape may hold itself
            shapes[hint.__name__] = {
                "type": "object",
                "description": " ".join((hint.__doc__ or "").split()),
                "properties": {name: of(inner, shapes) for name, inner in fields(hint).items()},
                "required": sorted(required(hint)),
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    if get_origin(hint) is list:
        return {"type": "array", "items": of(get_args(hint)[0], shapes)}
    if get_origin(hint) in (dict, Mapping):
        return {"type": "object", "additionalProperties": of(get_args(hint)[1], shapes)}
    if isinstance(hint, types.UnionType):
        return {"anyOf": [of(one, shapes) for one in get_args(hint)]}
    if hint is type(None):
        return {"type": "null"}
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return {"enum": [one.value for one in hint]}
    return {"type": _SIMPLE[hint][0]}
