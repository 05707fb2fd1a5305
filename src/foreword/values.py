"""Dataclasses that are sooner made. Foreword has over a hundred frozen ones, and before 3.13 Python compiles six
methods for each, one by one, on every start: a sixth of what a cold brief waits for. Here only `__init__` is compiled,
as it differs from class to class; the others are the same for all. To a type checker, and to whoever uses one, each is
a dataclass like any other: `fields`, `replace` and `asdict` take it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from inspect import get_annotations
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False) -> Callable[[type], type]:
        """As the library's own; what is not both frozen and slotted, and what brings methods or a base of its own that
        would have to be minded, is made by that."""

        def made(plain: type) -> type:
            minded = plain.__bases__ != (object,) or not _MINDED.isdisjoint(plain.__dict__)
            if not (frozen and slots) or minded or sys.version_info >= (3, 13):
                return dataclasses.dataclass(frozen=frozen, slots=slots)(plain)
            return _value(plain)

        return made


_MINDED = frozenset({"__post_init__", "__init__", "__eq__", "__hash__", "__repr__", "__setattr__", "__slots__"})
_set = object.__setattr__


@dataclasses.dataclass(frozen=True, slots=True)
class _Pattern:
    """By what stands in one of its own, and has no public name, the library knows a frozen dataclass and a field."""

    only: int = 0


_PARAMS = _Pattern.__dataclass_params__  # type: ignore[attr-defined]
_FIELD = dataclasses.fields(_Pattern)[0]._field_type  # type: ignore[attr-defined]


def _value(plain: type) -> type:
    fields = {name: _field(plain, name, kind) for name, kind in get_annotations(plain).items()}
    names = tuple(fields)
    space = {name: kept for name, kept in plain.__dict__.items() if name not in {*names, "__dict__", "__weakref__"}}
    space |= {
        "__slots__": names,
        "__match_args__": names,
        "__dataclass_fields__": fields,
        "__dataclass_params__": _PARAMS,
        "__init__": _init(plain, fields),
        "__repr__": _shown,
        "__setattr__": _refused,
        "__delattr__": _refused,
        "__getstate__": _state,
        "__setstate__": _restored,
    }
    values = _values(names)

    def same(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    space["__eq__"], space["__hash__"] = same, lambda self: hash(values(self))
    made = type(plain.__name__, (), space)
    made.__qualname__ = plain.__qualname__
    return made


def _field(plain: type, name: str, kind: Any) -> dataclasses.Field[Any]:
    given = plain.__dict__.get(name, dataclasses.MISSING)
    made: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
    usual = (
        made.init and made.repr and made.compare and made.hash is None and made.kw_only in (False, dataclasses.MISSING)
    )
    if not usual or isinstance(made.default, list | dict | set) or "ClassVar" in str(kind) or "InitVar" in str(kind):
        raise TypeError(f"{plain.__qualname__}.{name} asks for more than values.py does: take dataclasses.dataclass.")
    made.name, made.type, made.kw_only = name, kind, False
    made._field_type = _FIELD
    return made  # type: ignore[no-any-return]


def _init(plain: type, fields: dict[str, dataclasses.Field[Any]]) -> Any:
    space: dict[str, Any] = {"_set": _set, "_missing": dataclasses.MISSING}
    taken, lines = ["self"], ["pass"]
    for name, field in fields.items():
        value = name
        if field.default is not dataclasses.MISSING:
            space[f"_default_{name}"] = field.default
            taken.append(f"{name}=_default_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            space[f"_make_{name}"] = field.default_factory
            taken.append(f"{name}=_missing")
            value = f"_make_{name}() if {name} is _missing else {name}"
        else:
            taken.append(name)
        lines.append(f"_set(self, {name!r}, {value})")
    # Made of the names of fields, which a parser has seen already.
    exec(f"def __init__({', '.join(taken)}):\n " + "\n ".join(lines), space)
    space["__init__"].__qualname__ = f"{plain.__qualname__}.__init__"
    return space["__init__"]


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """All of them, in order; of one name attrgetter gives what it names, and no tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _shown(self: Any) -> str:
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({inside})"


def _refused(self: Any, name: str, *value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__match_args__]


def _restored(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        _set(self, name, value)
