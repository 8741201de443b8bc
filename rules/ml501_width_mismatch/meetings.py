"""Calls that give a layer another width than it takes: along methods, and between the neighbours of a `Sequential`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.truth import truth_with
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, Value

from .evaluator import Evaluator, Located
from .layers import MAX_FRAMES
from .shapes import UNKNOWN, Shape, Width
from .sizes import Sizes
from .table import SECOND, SIZED
from .tensors import Tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.size import Size
    from modellint.graph.value import Event
    from modellint.rule import Project

    from .evaluator import Activation
    from .layers import Layer
    from .table import Argument


@dataclass(frozen=True, eq=False)
class Misfit:
    """A layer that is given another width than it takes: at `call`, or in the place of an element of `Sequential`.

    `events` are the calls that lead there, outermost first; none of `Sequential`.
    """

    layer: Layer
    given: Width
    taken: Size
    call: Located
    events: tuple[Event, ...] = ()
    #: True if a condition chooses one of the two widths, and only this side of it does not fit.
    is_one_side: bool = False
    #: True if the condition is a parameter whose default takes that side.
    is_default: bool = False
    #: The call of the layer itself, which may be in the function called at `call`.
    met: Located | None = None
    #: The `Sequential` of which it is an element.
    around: Value | None = None


class Meetings:
    """The misfits of widths in one file."""

    def __init__(self, project: Project) -> None:
        self._evaluator = project.of(Evaluator)
        self._tensors = project.of(Tensors)
        self._layers, self._outputs = self._tensors.layers, self._tensors.outputs

    def misfits(self, frame: Activation) -> Iterator[Misfit]:
        """The layers that a function, or a function that it calls, gives another width than they take."""
        yield from self._misfits(frame, None, ())

    def _misfits(self, frame: Activation, outer: Located | None, events: tuple[Event, ...]) -> Iterator[Misfit]:
        is_own = outer is None or frame.receiver is outer.frame.receiver
        for event in frame.function.flow.of(EventKind.CALL):
            call = event.value
            place = Located(call, frame) if is_own or outer is None else outer
            layer = self._layers.target(call, frame)
            if call.callee.op is Op.ITEM:
                self._tensors.input(call, frame, 0)
                met = self._tensors.met.get((id(call), id(frame)))
                if met is not None:
                    yield Misfit(*met, place, (*events, event), met=Located(call, frame))
                continue
            if layer is not None and layer.name:
                is_sized = self._outputs.is_sized(layer)
                met = self._outputs.first_misfit(layer, self._tensors.input(call, frame, 0)) if is_sized else None
                if met is not None:
                    yield Misfit(*met, place, (*events, event), met=Located(call, frame))
                continue
            inner = self._layers.frame(call, frame)
            if inner is None or inner.depth >= MAX_FRAMES or inner.function.name == "__init__":
                continue
            if any(self._tensors.shape(arg, frame).axes for arg in call.args[1:] if arg.op is not Op.STARRED):
                yield from self._misfits(inner, place, (*events, event))

    def neighbours(self, call: Value, frame: Activation) -> Iterator[Misfit]:
        """The layers of a `Sequential` that take another width than the layer before them returns."""
        shape, before = UNKNOWN, None
        for one in self._layers.layers_in(call, frame) or ():
            layer = None if one is None else self._layers.layer(one.value, one.frame)
            if one is None or layer is None:
                shape, before = UNKNOWN, None
                continue
            met = self._outputs.first_misfit(layer, shape) if shape.axes else None
            if met is not None:
                yield Misfit(*met, one, around=call)
            yield from self._one_side(before, shape, layer, one, call)
            if layer.name in SIZED or layer.cls is not None:
                before = layer
            if layer.cls is not None and shape.axes:
                inner = self._tensors.frame_of(layer, shape)
                yield from self._misfits(inner, one, ()) if inner is not None else ()
            shape = self._outputs.of(layer, shape, 0)

    def _one_side(
        self, before: Layer | None, shape: Shape, layer: Layer, one: Located, around: Value
    ) -> Iterator[Misfit]:
        """A layer that takes the other one's width on one side of a condition, and another width on the other side."""
        ends = SIZED.get(before.name) if before is not None else None
        sized = SIZED.get(layer.name)
        if before is None or ends is None or sized is None or sized.takes is None or ends.gives is None:
            return
        if ends.axis != sized.axis or sized.axis == SECOND or ends.is_tuple:
            return
        width, taken = shape.at(sized.axis), self._layers.size(layer, sized.takes)
        if width is not None and taken is None:
            for side, is_default in self._sides(layer, sized.takes, width.size):
                yield Misfit(layer, width, side, one, (), True, is_default, around=around)
        elif width is None and taken is not None:
            for side, is_default in self._sides(before, ends.gives, taken):
                yield Misfit(layer, Width(side, before.made), taken, one, (), True, is_default, around=around)

    def _sides(self, layer: Layer, argument: Argument, other: Size) -> list[tuple[Size, bool]]:
        """The sides of a condition where an argument is not `other`; each with a flag, true for the default side."""
        value = layer.argument(argument)
        if value is None or value.op is not Op.CHOICE or not isinstance(value.data, Value) or len(value.args) != 2:
            return []
        sides = [Sizes(self._evaluator).size(part, layer.made.frame) for part in value.args]
        taken = _default(value.data, layer.made.frame)
        if other not in sides:
            return []
        return [(side, taken is (at == 0)) for at, side in enumerate(sides) if side is not None and side != other]


def _default(test: Value, frame: Activation) -> bool | None:
    """True if a condition holds by default; None if that is not known."""
    defaults = {p.name: p.default for p in frame.function.parameters}
    constants = {name: value.data for name, value in defaults.items() if value is not None and value.op is Op.CONST}
    return truth_with(test, constants)
