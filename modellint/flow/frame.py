"""One function body that is run: what its parameters are, and what was found of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.domain import UNKNOWN
from modellint.graph.value import Flow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow.bodies import Body
    from modellint.flow.domain import Atoms
    from modellint.flow.heap import Path, Trail
    from modellint.graph.methods import Scope
    from modellint.graph.python import Function
    from modellint.graph.value import Event

_NO_FLOW = Flow(())


class Compared(NamedTuple):
    """What a comparison is about: the keys of constants, and of ids with their parts."""

    operands: tuple[Atoms, ...]
    fillers: frozenset[Hashable]
    ids: frozenset[tuple[Hashable, Hashable]]


class Frame:
    """One function body that is run."""

    __slots__ = (
        "above", "body", "compared", "conditions", "event", "flow", "function", "given", "is_nested", "memo", "names",
        "parent", "path", "scope", "trail",
    )  # fmt: skip

    def __init__(
        self, flow: Flow, scope: Scope, names: dict[str, Atoms], trail: Trail, path: Path, parent: Frame | None = None
    ) -> None:
        self.flow = flow
        self.scope = scope
        #: What the parameters are.
        self.names = names
        self.trail = trail
        #: The open conditions on the way to the call.
        self.path = path
        #: The frame that a function inside of a function was made in.
        self.parent = parent
        self.is_nested = parent is not None
        self.function: Function | None = None
        #: What happens in it now.
        self.event: Event | None = None
        #: How far up the MRO the method was found.
        self.above = 0
        #: Of which kinds elements are known among what the parameters are.
        self.given: frozenset[type] = frozenset()
        #: What may matter in the function, once that is asked.
        self.body: Body | None = None
        self.memo: dict[int, Atoms] = {}
        self.conditions: dict[int, Path | None] = {}
        #: What comparisons are about, by their identity: of what their operands were then.
        self.compared: dict[int, Compared] = {}

    def release(self) -> None:
        """Let go of what was found out, once nothing is asked any more."""
        self.memo.clear()
        self.conditions.clear()
        self.compared.clear()

    def mark(self) -> tuple[int, int]:
        """The number of values that are found by now, to go back to."""
        return len(self.memo), len(self.conditions)

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget what was found out since."""
        while len(self.memo) > mark[0]:
            self.memo.popitem()
        while len(self.conditions) > mark[1]:
            self.conditions.popitem()

    def turns(self, count: int) -> Iterator[int]:
        """Some turns, in each of which nothing is left of what was found out in the one before."""
        trail, mark = self.trail, self.mark()
        for turn in range(count):
            self.back_to(mark)
            self.trail = (*trail, -1 - turn)
            yield turn
            self.trail = trail

    def known(self, key: int) -> Atoms | None:
        """The atoms found for a value, in this frame or in the one that its function was made in."""
        frame: Frame | None = self
        while frame is not None:
            found = frame.memo.get(key)
            if found is not None:
                return found
            frame = frame.parent
        return None

    def parameter(self, name: str) -> Atoms:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.parent
        return UNKNOWN


def class_frame(scope: Scope, key: int, trail: Trail = ()) -> Frame:
    """A frame for an expression that stands in no function: a default, a class-level assignment."""
    return Frame(_NO_FLOW, scope, {}, (*trail, key), ())
