"""The named numbers of an object: its own attributes, its arguments, and its configuration."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .taken import vars_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .classes import Builder


class Named:
    """Numbers by the names that an object, its arguments and its configuration give them."""

    def __init__(self, owner: Any, builder: Builder) -> None:
        self._owner = owner
        self._builder = builder

    def _places(self) -> tuple[Any, ...]:
        """The objects that name numbers, the nearest first."""
        arguments = self._builder.arguments.get(id(self._owner), {})
        return (self._owner, arguments, defaults(self._owner), *arguments.values())

    def states(self, name: str) -> int | None:
        """The number with a name; None if it was assumed."""
        return None if name in self._builder.numbers.assumed else self.known(name)

    def known(self, name: str) -> int | None:
        """The number with a name, stated or else assumed."""
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
        """The number of the first name that has one."""
        return next((number for name in names if (number := self.known(name)) is not None), None)

    def numbers(self) -> Iterator[tuple[str, int]]:
        """All numbers with their names, also those assumed."""
        for place in self._places():
            for name, value in (place if isinstance(place, dict) else vars_of(place)).items():
                if type(value) is int and isinstance(name, str):
                    yield name, value
        yield from ((name, value) for name, value in self._builder.numbers.assumed.items() if type(value) is int)


def defaults(owner: Any) -> dict[str, Any]:
    """The parameters of an object's constructor, with their defaults."""
    try:
        parameters = inspect.signature(type(owner).__init__).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {parameter.name: parameter.default for parameter in parameters}
