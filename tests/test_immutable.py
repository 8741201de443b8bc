"""Our dataclasses behave like those of the standard library, though the first call compiles their methods."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from modellint.graph import immutable

KINDS = [
    {},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "eq": False},
    {"eq": False, "slots": True},
    {"slots": True},
]


def both(settings: dict[str, bool]) -> list[Any]:
    """A base with all kinds of fields and a child of it, made by the standard library and by us."""
    made = []
    for dataclass in (dataclasses.dataclass, immutable.dataclass):

        @dataclass(**settings)
        class Base:
            name: str
            parts: tuple[int, ...] = (1, 2)
            seen: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)

        @dataclass(**settings)
        class Child(Base):
            last: int = 0

            def __post_init__(self) -> None:
                assert self.last < 9, "too much"

        made.append((Base, Child))
    return made


@pytest.mark.parametrize("settings", KINDS, ids=str)
def test_they_are_made_compared_and_shown_alike(settings: dict[str, bool]) -> None:
    told = []
    for base, child in both(settings):
        one, same, other = child("a", last=3), child("a", (1, 2), [7], 3), child("b")
        with pytest.raises(AssertionError, match="too much"):
            child("a", last=9)
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
            base()
        assert one.seen == []
        assert one.seen is not child("a").seen
        hashes = hash(one) == hash(same) if child.__hash__ else None
        names = [field.name for field in dataclasses.fields(child)]
        told.append((one == same, one == other, one == base("a"), hashes, repr(one), names, hasattr(one, "__dict__")))
        assert dataclasses.replace(one, last=4).last == 4
    assert told[0] == told[1]
    _, (_, ours) = both(settings)
    copy = immutable.replace(ours("a", last=3), last=9)  # without `__post_init__`
    assert (copy.name, copy.last) == ("a", 9)


@pytest.mark.parametrize("first", ["__init__", "__repr__", "__eq__", "__hash__"])
def test_whatever_is_called_first_compiles_them(first: str) -> None:
    @immutable.dataclass(frozen=True)
    class Pair:
        left: int
        right: int

    pair = object.__new__(Pair)
    pair.__dict__.update(left=1, right=2)
    calls = {
        "__init__": lambda: Pair(1, 2),
        "__repr__": lambda: repr(pair),
        "__eq__": lambda: pair == pair,
        "__hash__": lambda: hash(pair),
    }
    calls[first]()
    assert (pair, hash(pair)) == (Pair(1, 2), hash((1, 2)))
    assert repr(pair).endswith("Pair(left=1, right=2)")


def test_what_a_class_says_for_itself_stays() -> None:
    @immutable.dataclass(frozen=True)
    class Quiet:
        name: str

        def __repr__(self) -> str:
            return "quiet"

        def __hash__(self) -> int:
            return 7

    assert (repr(Quiet("a")), hash(Quiet("a")), Quiet("a") == Quiet("a")) == ("quiet", 7, True)
