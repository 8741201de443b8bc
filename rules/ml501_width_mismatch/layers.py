"""Which layer a value is: made by one call, kept under an attribute, in a list, or handed back by a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, Value, self_attribute
from modellint.link.calls.reached import keeps_signature
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.values.evaluator import Frame, Instance, Located
from modellint.link.values.members import is_super

from .table import POOLS, SIZED

if TYPE_CHECKING:
    from modellint.graph.python import Class
    from modellint.graph.size import Size
    from modellint.link.project import Project

    from .table import Argument

MAX_DEPTH = 60
MAX_FRAMES = 4
NN = "torch.nn."
#: What wraps a layer, or hands it back.
_WRAPPERS = operators.functions("wraps")
_SAME_LAYER = operators.methods("Module", "itself")
SAME_SHAPE = frozenset(
    name for name in operators.functions("same-shape") if name.startswith(NN) and name.count(".") == 2
)


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer that one call makes: of torch, by its `name` there, or of a class of the project."""

    made: Located
    name: str = ""
    cls: Class | None = None

    def argument(self, argument: Argument) -> Value | None:
        return None if self.made.value.has_unpacking else self.made.value.argument(*argument)


class Layers:
    """The layers of one file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = project.evaluator
        self._frames: dict[tuple[int, int], Frame | None] = {}
        self._layers: dict[tuple[int, int], Layer | None] = {}
        self._stored: dict[tuple[int, str], list[Located]] = {}
        self._nested = 0
        #: The layer that an ITEM is at the turn of a loop that is followed.
        self.turn: dict[tuple[int, int], Layer] = {}
        self._kept: list[object] = []

    def layer(self, value: Value, frame: Frame, depth: int = 0) -> Layer | None:
        """The layer that a value is; None if it is not known, or not one of one kind and width."""
        key = (id(value), id(frame))
        if value.op is Op.ITEM:
            return self.turn.get(key) or self._each(value, frame)
        if key not in self._layers:
            self._layers[key] = None  # what leads back to itself is not known
            self._kept += (value, frame)
            self._nested += 1
            if self._nested < MAX_DEPTH:
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
        if value.op is Op.ATTR and depth < MAX_FRAMES:
            stored = self._attribute(value, frame)
            return self._contents(stored[0].value, stored[0].frame, depth + 1) if len(stored) == 1 else None
        if value.op is Op.CALL and len(value.args) == 2 and not value.data:
            is_list = self._project.names.definition(frame.module, value.callee) == External(f"{NN}ModuleList")
            return self._contents(value.args[1], frame, depth + 1) if is_list else None
        return Located(value, frame)

    def _attribute(self, value: Value, frame: Frame) -> list[Located]:
        """What an attribute holds, but for None; of the object whose method a frame is, always in the same frames."""
        name = self_attribute(value)
        if name is None or len(value.args) > 1 or frame.receiver is None:
            return [one for one in self._evaluator.attribute(value, frame) if not is_none(one.value)]
        key = (id(frame.receiver), name)
        if key not in self._stored:
            self._kept.append(frame.receiver)
            stored = self._evaluator.attribute(value, frame)
            self._stored[key] = [one for one in stored if not is_none(one.value)]
        return self._stored[key]

    def _layer(self, value: Value, frame: Frame, depth: int) -> Layer | None:
        if value.op is Op.CALL:
            return self._made(value, frame, depth)
        if value.op is Op.ATTR:
            return self._agreed(self._attribute(value, frame), depth)
        if value.op is Op.CHOICE and value.data is not None:
            return self._agreed([Located(part, frame) for part in value.args if not is_none(part)], depth)
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
            is_layer = definition.name.startswith(NN) and definition.name.count(".") == 2
            return Layer(Located(call, frame), definition.name.removeprefix(NN)) if is_layer else None
        if isinstance(definition, DefinedClass):
            return Layer(Located(call, frame), cls=definition.cls)
        if call.callee.op is Op.CHOICE and call.positional and all(map(is_wrapper, call.callee.args)):
            return self.layer(call.positional[0], frame, depth)
        if definition is None and call.callee.op is Op.ATTR and call.callee.data in _SAME_LAYER:
            return self.layer(call.callee.args[0], frame, depth)
        inner = self.frame(call, frame)
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
            return one.name in POOLS or f"{NN}{one.name}" in SAME_SHAPE
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
        if depth > MAX_DEPTH:
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
                if definition.name == f"{NN}Sequential":
                    return self._sequence(value, frame, depth)
                if definition.name == f"{NN}ModuleList" and len(value.args) == 2:
                    return self.held(value.args[1], frame, depth + 1)
        return None

    def parts(self, layer: Layer) -> list[Located | None] | None:
        """What a `Sequential` holds in order."""
        return self.held(layer.made.value, layer.made.frame)

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

    def target(self, call: Value, frame: Frame) -> Layer | None:
        """The layer that is called: one that is kept, or made there."""
        callee = root = call.callee
        while root.op is Op.ATTR:
            root = root.args[0]
        if callee.op is Op.GLOBAL or root.op is Op.GLOBAL or (callee is root and root.data == "self"):
            return None
        if callee is not root and not (root.op is Op.PARAM and root.data == "self"):
            return None  # a method of something that is made
        return self.layer(callee, frame)

    def frame(self, call: Value, frame: Frame) -> Frame | None:
        """The frame of the function of the project that a call reaches for certain, the same one each time."""
        key = (id(call), id(frame))
        if key not in self._frames:
            self._kept += (call, frame)
            self._frames[key] = None
            inner = self._reached(call, frame) if frame.depth < MAX_FRAMES else None
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
        layer, name = self.target(call, frame), "forward"
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


def is_none(value: Value) -> bool:
    return value.op is Op.CONST and value.data is None


def _second(pair: Located | None) -> Located | None:
    if pair is None or pair.value.op not in (Op.TUPLE, Op.LIST) or len(pair.value.args) != 2:
        return None
    return Located(pair.value.args[1], pair.frame)
