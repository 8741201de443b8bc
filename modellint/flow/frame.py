"""The frame of a function body being run: the atoms of its parameters, and a memo of its values."""

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
    """The operands of a comparison, and the keys of constants and ids (with their parts) among them."""

    operands: tuple[Atoms, ...]
    fillers: frozenset[Hashable]
    ids: frozenset[tuple[Hashable, Hashable]]


class Frame:
    """The frame of one call of a function body."""

    __slots__ = (
        "above", "body", "compared", "conditions", "event", "flow", "function", "given", "is_nested", "memo", "names",
        "parent", "path", "scope", "trail",
    )  # fmt: skip

    def __init__(
        self, flow: Flow, scope: Scope, names: dict[str, Atoms], trail: Trail, path: Path, parent: Frame | None = None
    ) -> None:
        self.flow = flow
        self.scope = scope
        #: The atoms of the parameters.
        self.names = names
        self.trail = trail
        #: The path condition of the call.
        self.path = path
        #: The frame that a nested function was made in.
        self.parent = parent
        self.is_nested = parent is not None
        self.function: Function | None = None
        #: The current event.
        self.event: Event | None = None
        #: The index in the MRO at which the method was found.
        self.above = 0
        #: The kinds of abstract elements among the arguments.
        self.given: frozenset[type] = frozenset()
        #: The summary of the function, once it is needed.
        self.body: Body | None = None
        self.memo: dict[int, Atoms] = {}
        self.conditions: dict[int, Path | None] = {}
        #: Comparisons by identity, with the operands that they had.
        self.compared: dict[int, Compared] = {}

    def release(self) -> None:
        """Clear the memo, at the end of the run."""
        self.memo.clear()
        self.conditions.clear()
        self.compared.clear()

    def mark(self) -> tuple[int, int]:
        """A mark of the memo's state, for `back_to`."""
        return len(self.memo), len(self.conditions)

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget the values and conditions that were found since a mark."""
        while len(self.memo) > mark[0]:
            self.memo.popitem()
        while len(self.conditions) > mark[1]:
            self.conditions.popitem()

    def turns(self, count: int) -> Iterator[int]:
        """Iterate `count` times, each with its own trail, and forget the values of the previous iteration."""
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
    """A frame for an expression outside of functions: a default, a class-level assignment."""
    return Frame(_NO_FLOW, scope, {}, (*trail, key), ())
