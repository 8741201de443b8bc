"""Least fixpoints found on demand: answers that rest on each other, each computed when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from modellint.link.remembered import Form, RememberedAnswers
    from modellint.reading.files import Files, Trace

T = TypeVar("T")
_NEVER = 1 << 30


@dataclass(slots=True)
class _Active:
    """A question that is being answered: what is known so far, how many stand around it, and if one inside asked it."""

    value: Any
    depth: int
    is_asked: bool = False


class Fixpoint:
    """Answers by their keys. An answer that rests on itself starts at the bottom and is computed until it is stable.

    Answers are kept with the files that they rest on, until one of these changes. Computing them must be monotone: more
    in what they rest on never makes them less.
    """

    def __init__(self, files: Files, kept: RememberedAnswers | None = None) -> None:
        """`kept` are answers of earlier runs."""
        self._files = files
        self._kept = kept
        self._done: dict[Hashable, tuple[Any, Trace]] = {}
        self._active: dict[Hashable, _Active] = {}
        #: Answers that rest on one which is not stable yet: the depth of the outermost such one, and the files.
        self._provisional: dict[Hashable, tuple[Any, int, Trace]] = {}
        self._lowest = _NEVER
        #: The answers, each once: many are the same.
        self._values: dict[Hashable, Any] = {}
        #: How many answers were computed, again and again where they rest on themselves, for the outermost question.
        self.computed = 0
        #: How many questions are being answered.
        self.depth = 0

    def __len__(self) -> int:
        return len(self._done)

    def known(self, key: Hashable, kept: Form | None = None) -> Any:
        """An answer that is stable; None if there is none, and none in a form is `kept` of earlier runs."""
        known = self._done.get(key)
        if known is None:
            known = None if kept is None or self._kept is None else self._kept.get(key, kept)
            if known is None:
                return None
            self._done[key] = known
        self._files.depend(known[1])
        return known[0]

    def keep(self, key: Hashable) -> None:
        """Keep an answer for later runs, if it is stable."""
        known = self._done.get(key)
        if known is not None and self._kept is not None:
            self._kept.put(key, known)

    def rests_on(self, key: Hashable) -> Trace | None:
        """The files that an answer rests on, None if it is not stable yet."""
        known = self._done.get(key)
        return None if known is None else known[1]

    def ask(self, key: Hashable, compute: Callable[[], T], bottom: T) -> T:
        """The least answer of `compute` to a question, which may ask it again."""
        known = self.known(key)
        if known is not None:
            return cast("T", known)
        active = self._active.get(key)
        if active is not None:
            active.is_asked = True
            self._lowest = min(self._lowest, active.depth)
            return cast("T", active.value)
        provisional = self._provisional.get(key)
        if provisional is not None:
            self._lowest = min(self._lowest, provisional[1])
            self._files.depend(provisional[2])
            return cast("T", provisional[0])
        return self._answer(key, compute, bottom)

    def _answer(self, key: Hashable, compute: Callable[[], T], bottom: T) -> T:
        outer, depth = self._lowest, self.depth
        if not depth:
            self.computed = 0
        active = self._active[key] = _Active(bottom, depth)
        self.depth += 1
        try:
            while True:
                self._lowest = _NEVER
                self.computed += 1
                value, trace = self._files.traced(compute)
                is_stable = value == active.value or not active.is_asked
                active.value = value
                if is_stable:
                    break
                self._forget(depth)
        except BaseException:  # cut short: what rests on it is not known either
            self._forget(0)
            self._lowest = outer
            raise
        finally:
            del self._active[key]
            self.depth = depth
        lowest = self._lowest
        if lowest >= depth:
            self._done[key] = self._values.setdefault(value, value), trace
            self._settle(depth)
            lowest = _NEVER
        else:
            self._provisional[key] = value, lowest, trace
        self._lowest = min(outer, lowest)
        return value

    def _forget(self, depth: int) -> None:
        """Let go of what rests on an answer that has changed."""
        self._provisional = {key: known for key, known in self._provisional.items() if known[1] < depth}

    def _settle(self, depth: int) -> None:
        """Keep what rests on an answer that is stable now."""
        for key, (value, lowest, trace) in list(self._provisional.items()):
            if lowest >= depth:
                self._done[key] = value, trace
                del self._provisional[key]

    def forget(self, keys: set[str]) -> None:
        """Forget what rests on files that have changed, by the keys that they have as dependencies."""
        self._done = {key: known for key, known in self._done.items() if keys.isdisjoint(known[1])}
