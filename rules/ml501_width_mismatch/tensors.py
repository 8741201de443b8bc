"""The widths of tensors, followed backwards through layers and operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, Value, subscripts
from modellint.link.values.members import Members

from . import shapes
from .evaluator import Activation, Evaluator, Instance
from .layers import MAX_DEPTH, MAX_FRAMES, Layers
from .operated import operator_of, output_shape, part_shape
from .outputs import Outputs
from .shapes import UNKNOWN, Shape
from .sizes import Sizes
from .table import SIZED

if TYPE_CHECKING:
    from modellint.rule import Project

    from .layers import Layer
    from .outputs import Met


class Tensors:
    """The tensors of one file, and its layers."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = project.of(Evaluator)
        self.layers = Layers(project)
        self.outputs = Outputs(self.layers, self._of_class)
        self._shapes: dict[tuple[int, int], Shape] = {}
        self._given: dict[int, dict[str, Shape]] = {}
        self._nested = 0
        #: The first misfit at any turn of a loop.
        self.met: dict[tuple[int, int], Met] = {}
        self._kept: list[object] = []

    def shape(self, value: Value, frame: Activation, depth: int = 0) -> Shape:
        """The known dimensions of a tensor."""
        key = (id(value), id(frame))
        found = self._shapes.get(key)
        if found is None:
            if depth > MAX_DEPTH or self._nested > MAX_DEPTH:
                return UNKNOWN
            self._shapes[key] = UNKNOWN
            self._kept += (value, frame)
            self._nested += 1
            found = self._shapes[key] = self._shape(value, frame, depth + 1)
            self._nested -= 1
        return found

    def _shape(self, value: Value, frame: Activation, depth: int) -> Shape:
        if value.op is Op.CALL:
            return self._of_call(value, frame, depth)
        if value.op is Op.PARAM:
            given = self._given.get(id(frame), {}).get(str(value.data))
            if given is not None:
                return given
            bound = self._evaluator.argument(value, frame)
            return UNKNOWN if bound is None else self.shape(bound.value, bound.frame, depth)
        if value.op is Op.BIN and value.data in ("+", "-", "*", "/", "**"):
            one, other = (self.shape(arg, frame, depth) for arg in value.args)
            return shapes.broadcast(one, other)
        if value.op is Op.BIN and value.data == "@":
            one, other = (self.shape(arg, frame, depth) for arg in value.args)
            last = other.at(-1) if other.rank != 1 else None
            rows = one.at(-2)
            axes = {place: width for place, width in ((-1, last), (-2, rows)) if width is not None}
            return Shape(axes, one.rank if one.rank == other.rank else None)
        if value.op is Op.UNARY and value.data != "not":
            return self.shape(value.args[0], frame, depth)
        if value.op is Op.CHOICE and value.args:
            if value.data is None:
                return self._shape_of_carried(value, frame, depth)
            return shapes.common([self.shape(part, frame, depth) for part in value.args])
        if value.op is Op.INDEX:
            return self._subscript(value, frame, depth)
        if value.op is Op.UNPACK and value.data >= 0:
            return self._part(value.args[0], value.data, frame, depth)
        return UNKNOWN

    def _shape_of_carried(self, choice: Value, frame: Activation, depth: int) -> Shape:
        """The shape of a variable that a loop changes: the join of its shape before the loop and after each turn."""
        key = (id(choice), id(frame))
        start = self.shape(choice.args[0], frame, depth)
        call = self._turning(choice, frame)
        if call is not None:
            return self._after_turns(choice, call, start, frame, depth)
        if start is UNKNOWN:
            return UNKNOWN
        before = set(self._shapes)
        self._shapes[key] = start
        after = [self.shape(part, frame, depth) for part in choice.args[1:]]
        found = shapes.common([start, *after])
        if found != start:  # what was taken for granted meanwhile does not hold
            for other in self._shapes.keys() - before:
                del self._shapes[other]
        return found

    def _turning(self, choice: Value, frame: Activation) -> Value | None:
        """The only call of the loop's own element, in a loop that carries a value from turn to turn to its end."""
        flow = frame.function.flow
        loop = next((one for one in flow.loops if any(carried is choice for carried in one.carried)), None)
        if loop is None or loop.is_left or len(loop.turns) != 1 or len(choice.args) != 2 or self.layers.turn:
            return None
        events = (event for event in flow.events[loop.first : loop.last] if event.kind is EventKind.CALL)
        calls = [event.value for event in events if event.value.callee is loop.turns[0][0]]
        return calls[0] if len(calls) == 1 else None

    def _after_turns(self, choice: Value, call: Value, start: Shape, frame: Activation, depth: int) -> Shape:
        """The shape after a loop over a list of layers, turn by turn; of a comprehension, only the first turn."""
        held = self.layers.layers_in(call.callee.args[0], frame)
        made = [None if one is None else self.layers.layer(one.value, one.frame) for one in held or ()]
        each = None if held is not None else self.layers.layer(call.callee, frame)
        layers = [each] if each is not None else made
        shape, before = start, set(self._shapes)
        for layer in layers:
            if layer is None:
                return UNKNOWN
            self.layers.turn[id(call.callee), id(frame)] = layer
            self._shapes[id(choice), id(frame)] = shape
            met = self.outputs.first_misfit(layer, self.input(call, frame, depth))
            if met is not None:
                self.met.setdefault((id(call), id(frame)), met)
            shape = self.shape(choice.args[1], frame, depth)
            del self.layers.turn[id(call.callee), id(frame)]
            for other in self._shapes.keys() - before:
                del self._shapes[other]
        if not layers:
            return UNKNOWN
        return shape if held is not None else shapes.common([start, shape])

    def _subscript(self, value: Value, frame: Activation, depth: int) -> Shape:
        parts = subscripts(value)
        if len(parts) == 1 and parts[0].op is Op.CONST and type(parts[0].data) is int:
            part = self._part(value.args[0], parts[0].data, frame, depth)
            if part is not UNKNOWN:
                return part
            if self._gives_tuple(value.args[0], frame):
                return UNKNOWN
        return shapes.subscript(self.shape(value.args[0], frame, depth), parts)

    def _gives_tuple(self, value: Value, frame: Activation) -> bool:
        return value.op is not Op.CALL or self.layers.target(value, frame) is not None

    def _part(self, whole: Value, at: int, frame: Activation, depth: int) -> Shape:
        """One of the values in a result: the output of a recurrent layer, or an element of a tuple."""
        if whole.op in (Op.TUPLE, Op.LIST):
            is_there = -len(whole.args) <= at < len(whole.args) and all(p.op is not Op.STARRED for p in whole.args)
            return self.shape(whole.args[at], frame, depth) if is_there else UNKNOWN
        if whole.op is not Op.CALL:
            return UNKNOWN
        layer = self.layers.target(whole, frame)
        if layer is not None and layer.name:
            sized = SIZED.get(layer.name)
            return self.outputs.of(layer, self.input(whole, frame, depth), depth) if sized and at == 0 else UNKNOWN
        inner = self.layers.frame(whole, frame)
        if inner is not None:
            returned = [event.value for event in inner.function.flow.of(EventKind.RETURN)]
            if returned:
                return shapes.common([self._part(one, at, inner, depth) for one in returned])
        found = operator_of(whole, frame, self._project)
        return UNKNOWN if found is None else part_shape(*found, lambda part: self.shape(part, frame, depth))

    def _of_call(self, call: Value, frame: Activation, depth: int) -> Shape:
        layer = self.layers.target(call, frame)
        if layer is not None and layer.name:
            if SIZED.get(layer.name) is not None and SIZED[layer.name].is_tuple:
                return UNKNOWN
            return self.outputs.of(layer, self.input(call, frame, depth), depth)
        inner = self.layers.frame(call, frame)
        if inner is not None:
            return self._returned_shape(inner, depth)
        found = operator_of(call, frame, self._project)
        if found is None:
            return UNKNOWN
        return output_shape(
            *found, lambda part: self.shape(part, frame, depth), lambda part: Sizes(self._evaluator).size(part, frame)
        )

    def _returned_shape(self, inner: Activation, depth: int) -> Shape:
        returned = [event.value for event in inner.function.flow.of(EventKind.RETURN)]
        if not returned or any(event.kind is EventKind.YIELD for event in inner.function.flow.events):
            return UNKNOWN
        return shapes.common([self.shape(value, inner, depth) for value in returned])

    def input(self, call: Value, frame: Activation, depth: int) -> Shape:
        given = call.positional[:1] or tuple(call.keywords.values())[:1]
        if not given or given[0].op is Op.STARRED:
            return UNKNOWN
        return self.shape(given[0], frame, depth)

    def _of_class(self, layer: Layer, given: Shape, depth: int) -> Shape:
        """The output of a project layer's `forward` for an input that no call passes: in `Sequential`."""
        inner = self.frame_of(layer, given)
        return UNKNOWN if inner is None else self._returned_shape(inner, depth)

    def frame_of(self, layer: Layer, given: Shape) -> Activation | None:
        """The frame of a layer's `forward` that is given one tensor."""
        assert layer.cls is not None
        function = self._project.of(Members).method(layer.cls, "forward")
        if function is None or layer.made.frame.depth >= MAX_FRAMES or len(function.parameters) < 2:
            return None
        made = Instance(layer.cls, layer.made.value, layer.made.frame)
        frame = Activation(function, receiver=made, depth=layer.made.frame.depth + 1)
        self._kept.append(frame)
        self._given[id(frame)] = {function.parameters[1].name: given}
        return frame
