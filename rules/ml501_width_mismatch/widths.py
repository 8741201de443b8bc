"""How wide tensors are between layers, followed backwards from the layers that take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.size import Size
from modellint.graph.value import EventKind, Op, Value, self_attribute, subscripts
from modellint.link.calls.reached import keeps_signature
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.values.evaluator import Frame, Instance, Located
from modellint.link.values.members import is_super

from . import shapes
from .layers import POOLS, SECOND, SIZED
from .shapes import UNKNOWN, Shape, Width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from modellint.graph.python import Class
    from modellint.graph.value import Event
    from modellint.link.project import Project

    from .layers import Argument

    #: An argument of an operator behind its operand, by position and name.
    Given: TypeAlias = Callable[[int, str], Value | None]

_MAX_DEPTH = 60
_MAX_FRAMES = 4
_NN = "torch.nn."
#: What wraps a layer, or hands it back.
_WRAPPERS = operators.functions("wraps")
_SAME_LAYER = operators.methods("Module", "itself")
#: Where torch keeps operators of tensors.
_MODULES = frozenset(("torch", "torch.nn.functional", "torch.functional"))
_SAME_SHAPE = frozenset(
    name for name in operators.functions("same-shape") if name.startswith(_NN) and name.count(".") == 2
)


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer that one call makes: of torch, by its `name` there, or of a class of the project."""

    made: Located
    name: str = ""
    cls: Class | None = None

    def argument(self, argument: Argument) -> Value | None:
        return None if self.made.value.has_unpacking else self.made.value.argument(*argument)


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
    #: Whether the one width or the other is chosen by a condition, of which this is one side, and the other fits.
    is_one_side: bool = False
    #: Whether the condition is a parameter whose default takes that side.
    is_default: bool = False
    #: The call of the layer itself, which may stand in what is called at `call`.
    met: Located | None = None
    #: The `Sequential` of which it is an element.
    around: Value | None = None


class Widths:
    """The layers and tensors of one file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = project.evaluator
        self._shapes: dict[tuple[int, int], Shape] = {}
        self._frames: dict[tuple[int, int], Frame | None] = {}
        self._layers: dict[tuple[int, int], Layer | None] = {}
        self._stored: dict[tuple[int, str], list[Located]] = {}
        self._given: dict[int, dict[str, Shape]] = {}
        self._nested = 0
        #: The layer that an ITEM is at the turn of a loop that is followed, and what did not fit at any turn.
        self._turn: dict[tuple[int, int], Layer] = {}
        self._met: dict[tuple[int, int], tuple[Layer, Width, Size]] = {}
        self._kept: list[object] = []

    # -- layers --------------------------------------------------------------------------------------------------

    def layer(self, value: Value, frame: Frame, depth: int = 0) -> Layer | None:
        """The layer that a value is; None if it is not known, or not one of one kind and width."""
        key = (id(value), id(frame))
        if value.op is Op.ITEM:
            return self._turn.get(key) or self._each(value, frame)
        if key not in self._layers:
            self._layers[key] = None  # what leads back to itself is not known
            self._kept += (value, frame)
            self._nested += 1
            if self._nested < _MAX_DEPTH:
                self._layers[key] = self._layer(value, frame, depth + 1)
            self._nested -= 1
        return self._layers[key]

    def _each(self, item: Value, frame: Frame) -> Layer | None:
        """The layer that each element of a list is, where one expression makes them all."""
        container = self._contents(item.args[0], frame)
        if container is None or container.value.op is not Op.COMPREHENSION or container.value.data != "list":
            return None
        return self.layer(container.value.args[-1], container.frame)

    def _contents(self, value: Value, frame: Frame, depth: int = 0) -> Located | None:
        """The list that is kept, perhaps in a `ModuleList`."""
        if value.op is Op.ATTR and depth < _MAX_FRAMES:
            stored = self._attribute(value, frame)
            return self._contents(stored[0].value, stored[0].frame, depth + 1) if len(stored) == 1 else None
        if value.op is Op.CALL and len(value.args) == 2 and not value.data:
            is_list = self._project.names.definition(frame.module, value.callee) == External(f"{_NN}ModuleList")
            return self._contents(value.args[1], frame, depth + 1) if is_list else None
        return Located(value, frame)

    def _attribute(self, value: Value, frame: Frame) -> list[Located]:
        """What an attribute holds, but for None; of the object whose method a frame is, always in the same frames."""
        name = self_attribute(value)
        if name is None or len(value.args) > 1 or frame.receiver is None:
            return [one for one in self._evaluator.attribute(value, frame) if not _is_none(one.value)]
        key = (id(frame.receiver), name)
        if key not in self._stored:
            self._kept.append(frame.receiver)
            stored = self._evaluator.attribute(value, frame)
            self._stored[key] = [one for one in stored if not _is_none(one.value)]
        return self._stored[key]

    def _layer(self, value: Value, frame: Frame, depth: int) -> Layer | None:
        if value.op is Op.CALL:
            return self._made(value, frame, depth)
        if value.op is Op.ATTR:
            return self._agreed(self._attribute(value, frame), depth)
        if value.op is Op.CHOICE and value.data is not None:
            return self._agreed([Located(part, frame) for part in value.args if not _is_none(part)], depth)
        if value.op is Op.PARAM:
            bound = None if value.data == "self" else self._evaluator.argument(value, frame)
            return None if bound is None else self.layer(bound.value, bound.frame, depth)
        if value.op is Op.INDEX and value.args[1].op is Op.CONST and type(value.args[1].data) is int:
            held = self.held(value.args[0], frame, depth)
            at = value.args[1].data
            if held is not None and None not in held and -len(held) <= at < len(held):
                found = held[at]
                return None if found is None else self.layer(found.value, found.frame, depth)
        return None

    def _made(self, call: Value, frame: Frame, depth: int) -> Layer | None:
        def is_wrapper(value: Value) -> bool:
            found = self._project.names.definition(frame.module, value)
            return isinstance(found, External) and found.name in _WRAPPERS

        definition = self._project.names.definition(frame.module, call.callee)
        if isinstance(definition, External):
            if definition.name in _WRAPPERS and call.positional:
                return self.layer(call.positional[0], frame, depth)
            is_layer = definition.name.startswith(_NN) and definition.name.count(".") == 2
            return Layer(Located(call, frame), definition.name.removeprefix(_NN)) if is_layer else None
        if isinstance(definition, DefinedClass):
            return Layer(Located(call, frame), cls=definition.cls)
        if call.callee.op is Op.CHOICE and call.positional and all(map(is_wrapper, call.callee.args)):
            return self.layer(call.positional[0], frame, depth)
        if definition is None and call.callee.op is Op.ATTR and call.callee.data in _SAME_LAYER:
            return self.layer(call.callee.args[0], frame, depth)
        inner = self._frame(call, frame)
        if inner is None or (inner.receiver is not None and inner.function.name in ("forward", "__call__")):
            return None
        returned = [event.value for event in inner.function.flow.of(EventKind.RETURN)]
        return self._agreed([Located(value, inner) for value in returned], depth) if returned else None

    def _agreed(self, located: list[Located], depth: int) -> Layer | None:
        """One of several layers that take and give the same."""
        found = [self.layer(one.value, one.frame, depth) for one in located]
        first = found[0] if found else None
        if first is None or any(one is None or not self._are_alike(first, one) for one in found[1:]):
            return None
        return first

    def _are_alike(self, one: Layer, other: Layer) -> bool:
        sized = SIZED.get(one.name)
        if one.name != other.name or not one.name:
            return False
        if sized is None:
            return one.name in POOLS or f"{_NN}{one.name}" in _SAME_SHAPE
        ends = [end for end in (sized.takes, sized.gives) if end is not None]
        return all(self.size(one, end) == self.size(other, end) for end in ends)

    def size(self, layer: Layer, argument: Argument) -> Size | None:
        """How large an argument of a layer's constructor is."""
        value = layer.argument(argument)
        if value is not None and value.op in (Op.LIST, Op.TUPLE) and value.args:
            value = value.args[-1]
        return self._evaluator.size(value, layer.made.frame)

    def held(self, value: Value, frame: Frame, depth: int = 0) -> list[Located | None] | None:
        """What a list, or a layer made of one, holds in order; None in the place of what is not known."""
        if depth > _MAX_DEPTH:
            return None
        if value.op in (Op.LIST, Op.TUPLE):
            return self._spread(value.args, frame, depth)
        if value.op is Op.UPDATE and value.data == "append" and len(value.args) == 2 and value.guard is None:
            before = self.held(value.args[0], frame, depth + 1)
            return None if before is None else [*before, Located(value.args[1], frame)]
        if value.op is Op.UPDATE and value.data == "extend" and len(value.args) == 2 and value.guard is None:
            before, more = (self.held(arg, frame, depth + 1) for arg in value.args)
            return None if before is None else [*before, *(more or [None])]
        if value.op is Op.UPDATE:
            return None if self.held(value.args[0], frame, depth + 1) is None else [None]
        if value.op is Op.BIN and value.data == "+":
            parts = [self.held(arg, frame, depth + 1) for arg in value.args]
            return [one for part in parts for one in (part or [None])]
        if value.op is Op.CHOICE and value.args:
            before = self.held(value.args[0], frame, depth + 1) if value.data is None else None
            return [*(before or ()), None]
        if value.op is Op.ATTR:
            stored = self._attribute(value, frame)
            return self.held(stored[0].value, stored[0].frame, depth + 1) if len(stored) == 1 else None
        if value.op is Op.CALL:
            definition = self._project.names.definition(frame.module, value.callee)
            if isinstance(definition, External) and not value.data:
                if definition.name == f"{_NN}Sequential":
                    return self._sequence(value, frame, depth)
                if definition.name == f"{_NN}ModuleList" and len(value.args) == 2:
                    return self.held(value.args[1], frame, depth + 1)
        return None

    def _sequence(self, call: Value, frame: Frame, depth: int) -> list[Located | None] | None:
        given = call.positional
        if len(given) == 1 and given[0].op is Op.CALL and not given[0].data:
            definition = self._project.names.definition(frame.module, given[0].callee)
            if definition == External("collections.OrderedDict") and len(given[0].args) == 2:
                pairs = self.held(given[0].args[1], frame, depth + 1)
                return None if pairs is None else [_second(pair) for pair in pairs]
        return self._spread(given, frame, depth)

    def _spread(self, parts: tuple[Value, ...], frame: Frame, depth: int) -> list[Located | None]:
        found: list[Located | None] = []
        for part in parts:
            if part.op is Op.STARRED:
                found += self.held(part.args[0], frame, depth + 1) or [None]
            else:
                found.append(Located(part, frame))
        return found

    # -- tensors -------------------------------------------------------------------------------------------------

    def shape(self, value: Value, frame: Frame, depth: int = 0) -> Shape:
        """What is known of a tensor's dimensions."""
        key = (id(value), id(frame))
        found = self._shapes.get(key)
        if found is None:
            if depth > _MAX_DEPTH or self._nested > _MAX_DEPTH:
                return UNKNOWN
            self._shapes[key] = UNKNOWN
            self._kept += (value, frame)
            self._nested += 1
            found = self._shapes[key] = self._shape(value, frame, depth + 1)
            self._nested -= 1
        return found

    def _shape(self, value: Value, frame: Frame, depth: int) -> Shape:
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
                return self._carried(value, frame, depth)
            return shapes.common([self.shape(part, frame, depth) for part in value.args])
        if value.op is Op.INDEX:
            return self._indexed(value, frame, depth)
        if value.op is Op.UNPACK and value.data >= 0:
            return self._part(value.args[0], value.data, frame, depth)
        return UNKNOWN

    def _carried(self, choice: Value, frame: Frame, depth: int) -> Shape:
        """What a loop changes: as wide before it as after each turn."""
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

    def _turning(self, choice: Value, frame: Frame) -> Value | None:
        """The only call of the loop's own element, in a loop that carries a value from turn to turn to its end."""
        flow = frame.function.flow
        loop = next((one for one in flow.loops if any(carried is choice for carried in one.carried)), None)
        if loop is None or loop.is_left or len(loop.turns) != 1 or len(choice.args) != 2 or self._turn:
            return None
        events = (event for event in flow.events[loop.first : loop.last] if event.kind is EventKind.CALL)
        calls = [event.value for event in events if event.value.callee is loop.turns[0][0]]
        return calls[0] if len(calls) == 1 else None

    def _after_turns(self, choice: Value, call: Value, start: Shape, frame: Frame, depth: int) -> Shape:
        """What a loop over a list of layers gives, turn by turn; where one expression makes all, only the first."""
        held = self.held(call.callee.args[0], frame)
        made = [None if one is None else self.layer(one.value, one.frame) for one in held or ()]
        each = None if held is not None else self.layer(call.callee, frame)
        layers = [each] if each is not None else made
        shape, before = start, set(self._shapes)
        for layer in layers:
            if layer is None:
                return UNKNOWN
            self._turn[id(call.callee), id(frame)] = layer
            self._shapes[id(choice), id(frame)] = shape
            met = self._entered(layer, self._input(call, frame, depth))
            if met is not None:
                self._met.setdefault((id(call), id(frame)), met)
            shape = self.shape(choice.args[1], frame, depth)
            del self._turn[id(call.callee), id(frame)]
            for other in self._shapes.keys() - before:
                del self._shapes[other]
        if not layers:
            return UNKNOWN
        return shape if held is not None else shapes.common([start, shape])

    def _indexed(self, value: Value, frame: Frame, depth: int) -> Shape:
        parts = subscripts(value)
        if len(parts) == 1 and parts[0].op is Op.CONST and type(parts[0].data) is int:
            part = self._part(value.args[0], parts[0].data, frame, depth)
            if part is not UNKNOWN:
                return part
            if self._gives_tuple(value.args[0], frame):
                return UNKNOWN
        return shapes.indexed(self.shape(value.args[0], frame, depth), parts)

    def _gives_tuple(self, value: Value, frame: Frame) -> bool:
        return value.op is not Op.CALL or self._target_layer(value, frame) is not None

    def _part(self, whole: Value, at: int, frame: Frame, depth: int) -> Shape:
        """One of the values that something gives: the output of a recurrent layer, or a part of a tuple."""
        if whole.op in (Op.TUPLE, Op.LIST):
            is_there = -len(whole.args) <= at < len(whole.args) and all(p.op is not Op.STARRED for p in whole.args)
            return self.shape(whole.args[at], frame, depth) if is_there else UNKNOWN
        if whole.op is not Op.CALL:
            return UNKNOWN
        layer = self._target_layer(whole, frame)
        if layer is not None and layer.name:
            sized = SIZED.get(layer.name)
            return self._output(layer, self._input(whole, frame, depth), depth) if sized and at == 0 else UNKNOWN
        inner = self._frame(whole, frame)
        if inner is not None:
            returned = [event.value for event in inner.function.flow.of(EventKind.RETURN)]
            if returned:
                return shapes.common([self._part(one, at, inner, depth) for one in returned])
        return self._chunk(whole, frame, depth)

    def _chunk(self, call: Value, frame: Frame, depth: int) -> Shape:
        """One part of `x.chunk(2, dim=-1)`."""
        found = self._operator(call, frame)
        if found is None or found[0] not in ("chunk", "split", "unbind"):
            return UNKNOWN
        name, operand, given = found
        shape = self.shape(operand, frame, depth)
        dim = _whole(given(1, "dim"), 0) if name != "unbind" else _whole(given(0, "dim"), 0)
        place = None if dim is None else shape.place(dim)
        if place is None or dim is None:
            return UNKNOWN
        if name == "unbind":
            return shapes.without(shape, [dim])
        axes = {other: width for other, width in shape.axes.items() if other != place}
        width, count = shape.at(place), _whole(given(0, "chunks"), None)
        if name == "chunk" and width is not None and count:
            part = shapes.divided(width.size, count)
            if part is not None:
                axes[place] = Width(part, width.maker)
        return Shape(axes, shape.rank)

    def _of_call(self, call: Value, frame: Frame, depth: int) -> Shape:
        layer = self._target_layer(call, frame)
        if layer is not None and layer.name:
            if SIZED.get(layer.name) is not None and SIZED[layer.name].is_tuple:
                return UNKNOWN
            return self._output(layer, self._input(call, frame, depth), depth)
        inner = self._frame(call, frame)
        if inner is not None:
            return self._returned(inner, depth)
        found = self._operator(call, frame)
        return UNKNOWN if found is None else self._operated(call, *found, frame, depth)

    def _returned(self, inner: Frame, depth: int) -> Shape:
        returned = [event.value for event in inner.function.flow.of(EventKind.RETURN)]
        if not returned or any(event.kind is EventKind.YIELD for event in inner.function.flow.events):
            return UNKNOWN
        return shapes.common([self.shape(value, inner, depth) for value in returned])

    def _input(self, call: Value, frame: Frame, depth: int) -> Shape:
        given = call.positional[:1] or tuple(call.keywords.values())[:1]
        if not given or given[0].op is Op.STARRED:
            return UNKNOWN
        return self.shape(given[0], frame, depth)

    def _target_layer(self, call: Value, frame: Frame) -> Layer | None:
        """The layer that is called: one that is kept, or made there."""
        callee = root = call.callee
        while root.op is Op.ATTR:
            root = root.args[0]
        if callee.op is Op.GLOBAL or root.op is Op.GLOBAL or (callee is root and root.data == "self"):
            return None
        if callee is not root and not (root.op is Op.PARAM and root.data == "self"):
            return None  # a method of something that is made
        return self.layer(callee, frame)

    def _frame(self, call: Value, frame: Frame) -> Frame | None:
        """The frame of the function of the project that a call reaches for certain, the same one each time."""
        key = (id(call), id(frame))
        if key not in self._frames:
            self._kept += (call, frame)
            self._frames[key] = None
            inner = self._reached(call, frame) if frame.depth < _MAX_FRAMES else None
            is_plain = inner is not None and not inner.function.signature.is_async
            if inner is not None and is_plain and keeps_signature(inner.function, self._project):
                self._frames[key] = inner
        return self._frames[key]

    def _reached(self, call: Value, frame: Frame) -> Frame | None:
        callee = call.callee
        if isinstance(self._project.names.definition(frame.module, callee), DefinedFunction):
            return self._evaluator.call_frame(call, frame)
        owner = callee.args[0] if callee.op is Op.ATTR else None
        if owner is not None and (is_super(owner) or (owner.op is Op.PARAM and owner.data == "self")):
            cls = None if frame.receiver is None else frame.receiver.cls
            if is_super(owner) or (cls is not None and self._project.members.method(cls, str(callee.data))):
                return self._evaluator.call_frame(call, frame)
        layer, name = self._target_layer(call, frame), "forward"
        if layer is None and owner is not None and owner.op is Op.ATTR:
            layer, name = self.layer(owner, frame), str(callee.data)
        if layer is None or layer.cls is None:
            return None
        function = self._project.members.method(layer.cls, name)
        if function is None or (name == "forward" and self._project.members.method(layer.cls, "__call__") is not None):
            return None
        made = Instance(layer.cls, None, layer.made.value, layer.made.frame)
        inner = Frame(function, function.bind(call), frame, made, frame.depth + 1, call)
        return None if self._evaluator.is_recursive(inner) else inner

    # -- what layers make of tensors -----------------------------------------------------------------------------

    def _output(self, layer: Layer, given: Shape, depth: int) -> Shape:
        if layer.cls is not None:
            return self._of_class(layer, given, depth)
        sized = SIZED.get(layer.name)
        if sized is not None:
            return self._of_sized(layer, given)
        if f"{_NN}{layer.name}" in _SAME_SHAPE:
            return given
        if layer.name == "Sequential":
            held = self.held(layer.made.value, layer.made.frame)
            for one in held if held is not None else [None]:
                inner = None if one is None else self.layer(one.value, one.frame, depth)
                given = UNKNOWN if inner is None or depth > _MAX_DEPTH else self._output(inner, given, depth + 1)
            return given
        if layer.name == "PixelShuffle":
            return shapes.shuffled(given, _whole(layer.argument((0, "upscale_factor")), None))
        if layer.name == "Flatten":
            first, last = (_whole(layer.argument(end), default) for end, default in _FLATTENED)
            return UNKNOWN if first is None or last is None else shapes.flattened(given, first, last)
        return self._pooled(layer, given)

    def _of_sized(self, layer: Layer, given: Shape) -> Shape:
        sized = SIZED[layer.name]
        if sized.gives is None:
            return given if sized.axis == SECOND else Shape(given.axes, given.rank or sized.dimensions)
        size = self.size(layer, sized.gives)
        if layer.name in ("RNN", "LSTM", "GRU"):
            two = layer.argument((99, "bidirectional"))
            is_known = two is None or (two.op is Op.CONST and type(two.data) is bool)
            if layer.argument((99, "proj_size")) is not None or layer.made.value.has_unpacking or not is_known:
                return UNKNOWN
            size = None if size is None else size * Size.of(2 if two is not None and two.data else 1)
            return UNKNOWN if size is None else Shape({-1: Width(size, layer.made)}, given.rank)
        if layer.name == "Embedding":
            given = shapes.with_one(given, -1)
        if sized.axis == -1:
            axes = dict(given.axes)
        else:
            axes = {place: width for place, width in given.axes.items() if place < sized.axis}
        axes.pop(sized.axis, None)
        if size is not None:
            axes[sized.axis] = Width(size, layer.made)
        return Shape(axes, given.rank or sized.dimensions)

    def _pooled(self, layer: Layer, given: Shape) -> Shape:
        grid = POOLS.get(layer.name)
        if grid is None:
            return UNKNOWN
        axes = {place: width for place, width in given.axes.items() if place < -grid}
        size = layer.argument((0, "output_size")) if layer.name.startswith("AdaptiveAvgPool") else None
        sides = size.args if size is not None and size.op in (Op.TUPLE, Op.LIST) else [size] * grid
        for place, side in enumerate(sides if len(sides) == grid else ()):
            known = _whole(side, None)
            if known is not None:
                axes[place - grid] = Width(Size.of(known))
        return Shape(axes, given.rank)

    def _of_class(self, layer: Layer, given: Shape, depth: int) -> Shape:
        """What `forward` of a layer of the project gives, of an input that no call passes: in `Sequential`."""
        inner = self.frame_of(layer, given)
        return UNKNOWN if inner is None else self._returned(inner, depth)

    def frame_of(self, layer: Layer, given: Shape) -> Frame | None:
        """The frame of a layer's `forward` that is given one tensor."""
        assert layer.cls is not None
        function = self._project.members.method(layer.cls, "forward")
        if function is None or layer.made.frame.depth >= _MAX_FRAMES or len(function.parameters) < 2:
            return None
        made = Instance(layer.cls, None, layer.made.value, layer.made.frame)
        frame = Frame(function, receiver=made, depth=layer.made.frame.depth + 1)
        self._kept.append(frame)
        self._given[id(frame)] = {function.parameters[1].name: given}
        return frame

    # -- what operators make of them -----------------------------------------------------------------------------

    def _operator(self, call: Value, frame: Frame) -> tuple[str, Value, Given] | None:
        """The name of an operator of torch, its operand, and its arguments behind that."""
        callee = call.callee
        definition = self._project.names.definition(frame.module, callee)
        if isinstance(definition, External) and definition.name.rpartition(".")[0] in _MODULES:
            operand = call.argument(0, "input") or call.argument(0, "tensors")
            name, offset = definition.name, 1
        elif definition is None and callee.op is Op.ATTR and callee.args[0].op is not Op.GLOBAL:
            operand, name, offset = callee.args[0], f"Tensor.{callee.data}", 0
            if operand.op is Op.PARAM and operand.data == "self":
                return None
        else:
            return None
        if operand is None or call.has_unpacking:
            return None

        def given(at: int, name: str) -> Value | None:
            return call.argument(at + offset, name)

        return name.rpartition(".")[2], operand, given

    def _operated(self, call: Value, name: str, operand: Value, given: Given, frame: Frame, depth: int) -> Shape:
        if name in ("cat", "concat", "concatenate"):
            return self._joined(operand, _whole(given(0, "dim"), 0), frame, depth)
        if name in ("view", "reshape"):
            return self._viewed(call, operand, given, frame)
        shape = self.shape(operand, frame, depth)
        if shape is UNKNOWN:
            return UNKNOWN
        row = operators.row(f"Tensor.{name}") or operators.row(f"torch.nn.functional.{name}")
        if name in ("add", "sub", "mul", "div"):
            other = given(0, "other")
            return shape if other is None else shapes.broadcast(shape, self.shape(other, frame, depth))
        if row is not None and "same-shape" in row.facets and name not in ("where", "addmm"):
            return shape
        if name in ("transpose", "swapaxes", "swapdims"):
            first, last = (_whole(given(at, key), None) for at, key in enumerate(("dim0", "dim1")))
            return UNKNOWN if first is None or last is None else shapes.swapped(shape, first, last)
        if name == "permute":
            order = [_whole(part, None) for part in _several(given, "dims")]
            known = [dim for dim in order if dim is not None]
            return shapes.reordered(shape, known) if known and len(known) == len(order) else UNKNOWN
        if name == "flatten":
            first, last = _whole(given(0, "start_dim"), 0), _whole(given(1, "end_dim"), -1)
            return UNKNOWN if first is None or last is None else shapes.flattened(shape, first, last)
        if name == "unsqueeze":
            dim = _whole(given(0, "dim"), None)
            return UNKNOWN if dim is None else shapes.with_one(shape, dim)
        if name == "squeeze":
            dim = _whole(given(0, "dim"), None)
            place = None if dim is None else shape.place(dim)
            width = None if place is None else shape.at(place)
            is_one = width is not None and width.size.constant == 1
            return shapes.without(shape, [place]) if place is not None and is_one else UNKNOWN
        if name in ("mean", "sum", "amax", "amin"):
            return self._reduced(shape, given)
        return self._resized(shape, name, given)

    def _reduced(self, shape: Shape, given: Given) -> Shape:
        dims = given(0, "dim")
        kept = given(1, "keepdim")
        if dims is None or (kept is not None and not (kept.op is Op.CONST and kept.data is False)):
            return UNKNOWN
        parts = dims.args if dims.op in (Op.TUPLE, Op.LIST) else (dims,)
        known = [_whole(part, None) for part in parts]
        return UNKNOWN if None in known else shapes.without(shape, [dim for dim in known if dim is not None])

    def _resized(self, shape: Shape, name: str, given: Given) -> Shape:
        """What pools and resizes an image keeps of it."""
        for kind, grid in POOLS.items():
            if name == _function_of(kind):
                axes = {place: width for place, width in shape.axes.items() if place < -grid}
                size = given(0, "output_size") if name.startswith("adaptive_avg") else None
                side = _whole(size, None)
                ones = {-at: Width(Size.of(side)) for at in range(1, grid + 1)} if side is not None else {}
                return Shape({**axes, **ones}, shape.rank)
        if name in ("interpolate", "upsample") and shape.rank is not None:
            return Shape({place: width for place, width in shape.axes.items() if place <= 1 - shape.rank}, shape.rank)
        return UNKNOWN

    def _joined(self, parts: Value, dim: int | None, frame: Frame, depth: int) -> Shape:
        if parts.op not in (Op.LIST, Op.TUPLE) or not parts.args or any(p.op is Op.STARRED for p in parts.args):
            return UNKNOWN
        found = [self.shape(part, frame, depth) for part in parts.args]
        rank = next((shape.rank for shape in found if shape.rank is not None), None)
        found = [Shape(shape.axes, rank) for shape in found]
        place = None if dim is None else found[0].place(dim)
        if place is None:
            return UNKNOWN
        axes = {p: w for shape in reversed(found) for p, w in shape.axes.items() if p != place}
        total = Size.of(0)
        widths = [shape.at(place) for shape in found]
        for width in widths:
            if width is None:
                return Shape(axes, rank)
            total = total + width.size
        return Shape({**axes, place: Width(total, widths[0].maker if widths[0] is not None else None)}, rank)

    def _viewed(self, call: Value, operand: Value, given: Given, frame: Frame) -> Shape:
        parts = _several(given, "shape")
        if len(parts) < 2 or any(part.op is Op.STARRED for part in parts):
            return UNKNOWN
        axes = {}
        for at, part in enumerate(parts):
            size = self._evaluator.size(part, frame)
            if size is not None and size.constant is not None and size.constant > 0:
                axes[at - len(parts)] = Width(size)
        return Shape(axes, len(parts))

    # -- where they meet -----------------------------------------------------------------------------------------

    def _is_sized(self, layer: Layer) -> bool:
        """Whether a layer of torch takes a width that is known."""
        sized = SIZED.get(layer.name)
        if sized is None:
            return layer.name == "Sequential"
        return sized.takes is not None and self.size(layer, sized.takes) is not None

    def _entered(self, layer: Layer, given: Shape, depth: int = 0) -> tuple[Layer, Width, Size] | None:
        """The layer that a tensor meets first, how wide it is there, and the width that is taken, if they differ."""
        sized = SIZED.get(layer.name)
        if sized is not None and sized.takes is not None:
            place = (1 - given.rank if given.rank else None) if sized.axis == SECOND else sized.axis
            width = None if place is None else given.at(place)
            taken = self.size(layer, sized.takes)
            differs = width is not None and taken is not None and width.size != taken
            return (layer, width, taken) if differs and width is not None and taken is not None else None
        if layer.name == "Sequential" and depth < _MAX_DEPTH and given.axes:
            for one in self.held(layer.made.value, layer.made.frame) or ():
                inner = None if one is None else self.layer(one.value, one.frame)
                if inner is None or inner.cls is not None:
                    return None
                if inner.name in SIZED or inner.name == "Sequential":
                    return self._entered(inner, given, depth + 1)
                given = self._output(inner, given, 0)
        return None

    def misfits(self, frame: Frame) -> Iterator[Misfit]:
        """The layers that a function calls with another width than they take, and those of the functions it calls."""
        yield from self._misfits(frame, None, ())

    def _misfits(self, frame: Frame, outer: Located | None, events: tuple[Event, ...]) -> Iterator[Misfit]:
        is_own = outer is None or frame.receiver is outer.frame.receiver
        for event in frame.function.flow.of(EventKind.CALL):
            call = event.value
            place = Located(call, frame) if is_own or outer is None else outer
            layer = self._target_layer(call, frame)
            if call.callee.op is Op.ITEM:
                self._input(call, frame, 0)
                met = self._met.get((id(call), id(frame)))
                if met is not None:
                    yield Misfit(*met, place, (*events, event), met=Located(call, frame))
                continue
            if layer is not None and layer.name:
                met = self._entered(layer, self._input(call, frame, 0)) if self._is_sized(layer) else None
                if met is not None:
                    yield Misfit(*met, place, (*events, event), met=Located(call, frame))
                continue
            inner = self._frame(call, frame)
            if inner is None or inner.depth >= _MAX_FRAMES or inner.function.name == "__init__":
                continue
            if any(self.shape(arg, frame).axes for arg in call.args[1:] if arg.op is not Op.STARRED):
                yield from self._misfits(inner, place, (*events, event))

    def neighbours(self, call: Value, frame: Frame) -> Iterator[Misfit]:
        """The layers of a `Sequential` that take another width than those before them give."""
        shape, before = UNKNOWN, None
        for one in self.held(call, frame) or ():
            layer = None if one is None else self.layer(one.value, one.frame)
            if one is None or layer is None:
                shape, before = UNKNOWN, None
                continue
            met = self._entered(layer, shape) if shape.axes else None
            if met is not None:
                yield Misfit(*met, one, around=call)
            yield from self._one_side(before, shape, layer, one, call)
            if layer.name in SIZED or layer.cls is not None:
                before = layer
            if layer.cls is not None and shape.axes:
                inner = self.frame_of(layer, shape)
                yield from self._misfits(inner, one, ()) if inner is not None else ()
            shape = self._output(layer, shape, 0)

    def _one_side(
        self, before: Layer | None, shape: Shape, layer: Layer, one: Located, around: Value
    ) -> Iterator[Misfit]:
        """A layer that takes what another one gives on one side of a condition, and something else on the other."""
        ends = SIZED.get(before.name) if before is not None else None
        sized = SIZED.get(layer.name)
        if before is None or ends is None or sized is None or sized.takes is None or ends.gives is None:
            return
        if ends.axis != sized.axis or sized.axis == SECOND or ends.is_tuple:
            return
        width, taken = shape.at(sized.axis), self.size(layer, sized.takes)
        if width is not None and taken is None:
            for side, is_default in self._sides(layer, sized.takes, width.size):
                yield Misfit(layer, width, side, one, (), True, is_default, around=around)
        elif width is None and taken is not None:
            for side, is_default in self._sides(before, ends.gives, taken):
                yield Misfit(layer, Width(side, before.made), taken, one, (), True, is_default, around=around)

    def _sides(self, layer: Layer, argument: Argument, other: Size) -> list[tuple[Size, bool]]:
        """The side of a condition where an argument differs from a size which it is on the other side."""
        value = layer.argument(argument)
        if value is None or value.op is not Op.CHOICE or not isinstance(value.data, Value) or len(value.args) != 2:
            return []
        sides = [self._evaluator.size(part, layer.made.frame) for part in value.args]
        taken = _default(value.data, layer.made.frame)
        if other not in sides:
            return []
        return [(side, taken is (at == 0)) for at, side in enumerate(sides) if side is not None and side != other]


def _default(test: Value, frame: Frame) -> bool | None:
    """Whether a condition holds by default: a parameter that is told apart by its truth."""
    parameter = frame.function.parameter(str(test.data)) if test.op is Op.PARAM else None
    default = None if parameter is None else parameter.default
    return bool(default.data) if default is not None and default.op is Op.CONST else None


_FLATTENED = (((0, "start_dim"), 1), ((1, "end_dim"), -1))


def _function_of(kind: str) -> str:
    """`max_pool2d` of `MaxPool2d`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_").replace("l_p_", "lp_")


def _is_none(value: Value) -> bool:
    return value.op is Op.CONST and value.data is None


def _second(pair: Located | None) -> Located | None:
    if pair is None or pair.value.op not in (Op.TUPLE, Op.LIST) or len(pair.value.args) != 2:
        return None
    return Located(pair.value.args[1], pair.frame)


def _whole(value: Value | None, default: int | None) -> int | None:
    """A whole number that is written down, the default where nothing is given."""
    if value is None:
        return default
    if value.op is Op.UNARY and value.data == "-":
        inner = _whole(value.args[0], None)
        return None if inner is None else -inner
    return value.data if value.op is Op.CONST and type(value.data) is int else None


def _several(given: Given, name: str) -> tuple[Value, ...]:
    """Arguments that are given one by one, or in a tuple."""
    first = given(0, name)
    if first is None:
        return ()
    if first.op in (Op.TUPLE, Op.LIST):
        return first.args
    found = [first]
    while (more := given(len(found), "")) is not None:
        found.append(more)
    return tuple(found)
