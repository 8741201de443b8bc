"""Answers to a question that values ask of each other in circles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

T = TypeVar("T")


class Answers(Generic[T]):
    """Answers by key, those to questions that are still being answered left out.

    An answer that rests on a question further out, which is not answered yet, is kept until that one is. A loop body
    of many branches is so gone through once for each value that leads back, not once for each way through it.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin anew, also if an answer was given up."""
        self._known: dict[Hashable, tuple[T, frozenset[int]]] = {}
        #: How far out each question that is being answered was asked.
        self._asked: dict[Hashable, int] = {}
        #: The questions on which what is being answered now rests.
        self._rests_on: set[int] = set()
        self._outer: list[set[int]] = []
        #: What to forget when a question is answered.
        self._kept_until: dict[int, list[Hashable]] = {}

    def get(self, key: Hashable) -> T | None:
        """The answer, if there is one."""
        known = self._known.get(key)
        if known is None:
            return None
        self._rests_on |= known[1]
        return known[0]

    def ask(self, key: Hashable) -> bool:
        """Begin to answer a question; False if that is being done further out."""
        asked = self._asked.get(key)
        if asked is not None:
            self._rests_on.add(asked)
            return False
        self._asked[key] = len(self._asked)
        self._outer.append(self._rests_on)
        self._rests_on = set()
        return True

    def answer(self, key: Hashable, found: T) -> None:
        """The answer to the question that was asked last."""
        asked = self._asked.pop(key)
        self._rests_on.discard(asked)
        rests_on = frozenset(self._rests_on)
        for other in self._kept_until.pop(asked, ()):
            self._known.pop(other, None)
        self._known[key] = found, rests_on
        if rests_on:
            self._kept_until.setdefault(max(rests_on), []).append(key)
        self._rests_on = self._outer.pop()
        self._rests_on |= rests_on
