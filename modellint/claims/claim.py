"""A claim, the places in it, and its form as JSON."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ..source import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


#: The package whose modules define claims.
PACKAGE = __name__.rpartition(".")[0]
_T = TypeVar("_T", bound="Claim")


@dataclass(frozen=True, slots=True)
class Anchor:
    """The definition around a place when a claim was made, so that the place is found again after its lines moved.

    `name` is the dotted name of the innermost class or function, which begins at `head`; empty where there is none.
    `text` is the code at the place; empty where the file could not be read.
    """

    place: Place
    name: str
    head: Place
    text: str


_KINDS = (bool, int, str, NoneType, Place, Anchor)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that a run can judge. `place` is the code that it is about.

    `anchors` name the definition around each of its places; the analyser adds them.
    """

    place: Place
    anchors: tuple[Anchor, ...] = field(default=(), kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        cls: type = type(self)
        for name, kind in _kinds(cls).items():
            if not _fits(getattr(self, name), kind):
                raise TypeError(f"`{name}` of the claim `{cls.__name__}` must be {kind}, not {getattr(self, name)!r}")


def places_of(claim: Claim) -> Iterator[Place]:
    """All places in a claim: its own, and those in other fields."""
    return (part for part in _parts(_values(claim)) if isinstance(part, Place))


def texts_of(claim: Claim) -> Iterator[str]:
    """All texts and numbers in a claim's fields, as texts."""
    return (str(part) for part in _parts(_values(claim)) if isinstance(part, str | int))


def name_at(claim: Claim, place: Place) -> str:
    """The dotted name of the class or function around a place of a claim; empty if there is none."""
    return next((anchor.name for anchor in claim.anchors if anchor.place == place), "")


def as_json(claim: Claim) -> list[Any]:
    """A claim as JSON-able values."""
    cls = type(claim)
    anchors = [[anchor.place.as_list(), anchor.name, anchor.head.as_list(), anchor.text] for anchor in claim.anchors]
    data = [cls.__module__.removeprefix(PACKAGE), cls.__qualname__, *map(_plain, _values(claim))]
    return [*data, {"anchors": anchors}] if anchors else data


def from_json(data: Any) -> Claim:
    """Restore a claim from `as_json`. Raises ValueError or TypeError otherwise; imports only modules of claims."""
    if not isinstance(data, list):
        raise TypeError(f"expected a list, not {data!r}")
    module, name, *values = data
    stored = values.pop()["anchors"] if values and isinstance(values[-1], dict) and "anchors" in values[-1] else []
    anchors = tuple(_anchor(*anchor) for anchor in stored)
    return _class(module, name)(*map(_from_plain, values), anchors=anchors)


def moved(claim: _T, move: Callable[[Place], Place]) -> _T:
    """The claim with `move` applied to its places and to those of its anchors."""
    anchors = tuple(Anchor(move(anchor.place), anchor.name, move(anchor.head), anchor.text) for anchor in claim.anchors)
    return type(claim)(*(_with_moved_places(value, move) for value in _values(claim)), anchors=anchors)


def _anchor(place: Any, name: Any, head: Any, text: Any) -> Anchor:
    if not isinstance(name, str) or not isinstance(text, str):
        raise TypeError(f"expected two texts, not {name!r} and {text!r}")
    return Anchor(Place.from_list(place), name, Place.from_list(head), text)


def _values(claim: Claim) -> tuple[Any, ...]:
    """The fields of a claim but for its anchors, in the order of its constructor."""
    return tuple(getattr(claim, field.name) for field in fields(claim) if field.name != "anchors")


def _parts(value: Any) -> Iterator[Any]:
    """The values in a field, nested tuples flattened."""
    if isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
    else:
        yield value


def _class(module: Any, name: Any) -> type[Claim]:
    if isinstance(module, str) and module[:1] == "." and module[1:].isidentifier():
        with suppress(ImportError):
            importlib.import_module(module, PACKAGE)
        module = PACKAGE + module
    cls = getattr(sys.modules.get(module), "__dict__", {}).get(name)
    if not isinstance(cls, type) or not issubclass(cls, Claim):
        raise ValueError(f"there is no claim `{name}` in `{module}`")
    return cls


@cache
def _kinds(cls: type) -> dict[str, Any]:
    """The types of the fields by name; `Place` and `Anchor` need not be imported where a claim is defined."""
    hints = get_type_hints(cls, localns={"Place": Place, "Anchor": Anchor})
    return {field.name: hints[field.name] for field in fields(cls)}


def _fits(value: object, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, member) for member in inner)
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


def _from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() != {"place"}:
            raise ValueError(f"expected a place, not {value!r}")
        return Place.from_list(value["place"])
    return tuple(map(_from_plain, value)) if isinstance(value, list) else value


def _with_moved_places(value: Any, move: Callable[[Place], Place]) -> Any:
    if isinstance(value, Place):
        return move(value)
    return tuple(_with_moved_places(part, move) for part in value) if isinstance(value, tuple) else value
