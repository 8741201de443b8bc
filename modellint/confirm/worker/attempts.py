"""Ways to build an object of a class, one after the other."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .classes import Builder

_MAX_ATTEMPTS = 12


class Attempt:
    """One way to build a class; `configured` has the arguments that the settings give."""

    def __init__(self, builder: Builder, found: Any, configured: Mapping[str, Any]) -> None:
        self.builder = builder
        self.found = found
        self.configured = configured
        #: True once an object has been built.
        self.is_built = False

    @property
    def is_certain(self) -> bool:
        """True if no argument was assumed, and none has an alternative."""
        return not self.builder.is_assuming and not self.builder.alternatives

    @property
    def takes_nothing(self) -> bool:
        """True if the constructor of the class takes no arguments at all."""
        with suppress(TypeError, ValueError):  # not all that is written in C tells it
            return isinstance(self.found, type) and not inspect.signature(self.found).parameters
        return False

    def build(self) -> Any:
        """Build an object of the class; anything that is no class is given back as it is."""
        found = self.builder.target(self.found) if isinstance(self.found, type) else self.found
        self.is_built = True
        return found

    def again(self, fixed: Mapping[str, Any]) -> Attempt:
        """The same way, with other values for some parameters."""
        return Attempt(self.builder.again(fixed), self.found, self.configured)


def attempts(begin: Callable[[Mapping[str, Any]], Attempt]) -> Iterator[Attempt]:
    """Ways to build a class: with the default guesses, then with each alternative value of an argument in turn.

    Where defaults are kept, these are those that must be passed, and, if nothing is built, what may be None.
    """
    first = begin({})
    yield first
    builder = first.builder
    kept = set[str]()
    if builder.keeps_defaults:
        kept = builder.alternatives.keys() - builder.needed - (set() if first.is_built else builder.optional)
    others = [(name, value) for name, values in builder.alternatives.items() if name not in kept for value in values]
    for name, value in others[:_MAX_ATTEMPTS]:
        yield begin({name: value})
