"""The numbers that an object has names for: itself, what it was built with, and its configuration."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .taken import vars_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .classes import Builder


class Named:
    """What an object, its arguments and its configuration call numbers."""

    def __init__(self, owner: Any, builder: Builder) -> None:
        self._owner = owner
        self._builder = builder

    def _places(self) -> tuple[Any, ...]:
        """Where numbers have names, the nearest first."""
        arguments = self._builder.arguments.get(id(self._owner), {})
        return (self._owner, arguments, defaults(self._owner), *arguments.values())

    def states(self, name: str) -> int | None:
        """The number that is called so; nothing that was assumed counts."""
        return None if name in self._builder.numbers.assumed else self.known(name)

    def known(self, name: str) -> int | None:
        """The number that the target calls by a name."""
        for place in self._places():
            found = (
                place.get(name)
                if isinstance(place, dict)
                else vars_of(place).get(name, getattr(type(place), name, None))
            )
            if type(found) is int:
                return found
        return self._builder.numbers.assumed.get(name)

    def first(self, names: Iterable[str]) -> int | None:
        """The number that one of several names stands for, the likeliest first."""
        return next((number for name in names if (number := self.known(name)) is not None), None)

    def numbers(self) -> Iterator[tuple[str, int]]:
        """All numbers with their names, also those assumed."""
        for place in self._places():
            for name, value in (place if isinstance(place, dict) else vars_of(place)).items():
                if type(value) is int and isinstance(name, str):
                    yield name, value
        yield from ((name, value) for name, value in self._builder.numbers.assumed.items() if type(value) is int)


def defaults(owner: Any) -> dict[str, Any]:
    """What the constructor of an object was called with where nothing was passed."""
    try:
        parameters = inspect.signature(type(owner).__init__).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {parameter.name: parameter.default for parameter in parameters}
