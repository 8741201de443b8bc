"""What findings claim: small typed facts, made where a finding is made, that its rule's probe takes and a run judges.

The rooms here hold the claims of the built-in rules; each is loaded with the first claim of it. A pack has its own, in
a module that its rules import. A claim is stored by its class and its fields: texts, whole numbers, truths, places,
None, and tuples of these, as they are annotated. What confirms reads these rooms where they lie: their imports are
relative, and of the standard library.

Begin with `layers.py`, which is a page of them.
It imports `source.py`.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ..source import Place

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = (bool, int, str, NoneType, Place)
_T = TypeVar("_T", bound="Claim")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a run can show of a finding. `place` is where it stands in the code that is run."""

    place: Place

    def __post_init__(self) -> None:
        cls: type = type(self)
        for name, kind in _kinds(cls).items():
            if not _fits(getattr(self, name), kind):
                raise TypeError(f"`{name}` of the claim `{cls.__name__}` must be {kind}, not {getattr(self, name)!r}")


def as_json(claim: Claim) -> list[Any]:
    """A claim as JSON-able values."""
    cls = type(claim)
    return [
        cls.__module__.removeprefix(__name__),
        cls.__qualname__,
        *(_plain(getattr(claim, field.name)) for field in fields(claim)),
    ]


def from_json(data: Any) -> Claim:
    """The claim that was stored. Raises ValueError or TypeError for what is none; loads nothing but rooms of claims."""
    if not isinstance(data, list):
        raise TypeError(f"expected a list, not {data!r}")
    module, name, *values = data
    return _class(module, name)(*map(_restored, values))


def moved(claim: _T, move: Callable[[Place], Place]) -> _T:
    """A claim with other places."""
    return type(claim)(*(_moved(getattr(claim, field.name), move) for field in fields(claim)))


def _class(module: Any, name: Any) -> type[Claim]:
    if isinstance(module, str) and module[:1] == "." and module[1:].isidentifier():
        with suppress(ImportError):
            importlib.import_module(module, __name__)
        module = __name__ + module
    found = getattr(sys.modules.get(module), "__dict__", {}).get(name)
    if not isinstance(found, type) or not issubclass(found, Claim):
        raise ValueError(f"there is no claim `{name}` in `{module}`")
    return found


@cache
def _kinds(cls: type) -> dict[str, Any]:
    """The types of the fields; what stands for a place need not be imported where a claim is defined."""
    hints = get_type_hints(cls, localns={"Place": Place})
    return {field.name: hints[field.name] for field in fields(cls)}


def _fits(value: object, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is not tuple:
        return kind in _KINDS and type(value) is kind
    if not isinstance(value, tuple):
        return False
    expected = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
    return len(value) == len(expected) and all(map(_fits, value, expected))


def _plain(value: Any) -> Any:
    if isinstance(value, Place):
        return {"place": value.as_list()}
    return [*map(_plain, value)] if isinstance(value, tuple) else value


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() != {"place"}:
            raise ValueError(f"expected a place, not {value!r}")
        return Place.from_list(value["place"])
    return tuple(map(_restored, value)) if isinstance(value, list) else value


def _moved(value: Any, move: Callable[[Place], Place]) -> Any:
    if isinstance(value, Place):
        return move(value)
    return tuple(_moved(one, move) for one in value) if isinstance(value, tuple) else value
