"""Resolves a value to a layer: made by one call, held under an attribute or in a list, or returned by a function."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.attributes import set_attribute, set_value
from modellint.graph.definitions import DefinedClass, DefinedConstant, DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, Value, is_super, self_attribute
from modellint.link.calls.reached import keeps_signature
from modellint.link.values.members import Members

from .evaluator import Activation, Evaluator, Instance, Located
from .sizes import Sizes
from .table import POOLS, SIZED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.definitions import Definition
    from modellint.graph.python import Class
    from modellint.graph.size import Size
    from modellint.graph.value import Event
    from modellint.rule import Project

    from .table import Argument

#: Methods that add a layer to a container, and the position of the argument that it is; None where that is not known.
_ADDING = {"append": 0, "extend": 0, "add_module": 1, "register_module": 1, "insert": None, "pop": None}
#: Methods and functions that store a layer under a name that is a string.
_SETTING = frozenset(("add_module", "register_module", "setattr"))
_PARTIAL = External("functools.partial")
MAX_DEPTH = 60
MAX_FRAMES = 4
NN = "torch.nn."
#: Functions and methods that wrap a layer, or return it.
_WRAPPERS = operators.functions("wraps")
_SAME_LAYER = operators.methods("Module", "itself")
SAME_SHAPE = frozenset(
    name for name in operators.functions("same-shape") if name.startswith(NN) and name.count(".") == 2
)


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer that one call makes: of torch, by its `name` there, or of a class of the project.

    `partial` is the call of `functools.partial` that gave the constructor its first arguments.
    """

    made: Located
    name: str = ""
    cls: Class | None = None
    partial: Value | None = None
    #: True if a container may hold more layers than those seen where it was made.
    is_undecided: bool = False

    def argument(self, argument: Argument) -> Value | None:
        """The value of an argument of the constructor, by position and name; None if it is unknown or not given."""
        call, partial = self.made.value, self.partial
        if call.has_unpacking or (partial is not None and partial.has_unpacking):
            return None
        if partial is None:
            return call.argument(*argument)
        at, name = argument
        before = len(partial.positional) - 1
        if at < before:
            return partial.positional[at + 1]
        given = call.argument(at - before, name)
        return partial.keywords.get(name) if given is None else given


class Layers:
    """The layers that one file makes, with their widths."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = project.of(Evaluator)
        self._frames: dict[tuple[int, int], Activation | None] = {}
        self._layers: dict[tuple[int, int], Layer | None] = {}
        self._stored: dict[tuple[int, str], list[Located]] = {}
        self._grown: dict[tuple[int, int], list[Located | None]] = {}
        self._nested = 0
        #: The layer that an ITEM is at the turn of a loop that is followed.
        self.turn: dict[tuple[int, int], Layer] = {}
        self._kept: list[object] = []

    def layer(self, value: Value, frame: Activation, depth: int = 0) -> Layer | None:
        """The layer that a value is; None if it is not known, or may be of another class or width."""
        key = (id(value), id(frame))
        if value.op is Op.ITEM:
            return self.turn.get(key) or self._each(value, frame)
        if key not in self._layers:
            self._layers[key] = None  # what leads back to itself is not known
            self._kept += (value, frame)
            self._nested += 1
            if self._nested < MAX_DEPTH:
                found = self._layer(value, frame, depth + 1)
                if found is not None and found.name == "Sequential" and self._may_grow(value, found, frame):
                    found = replace(found, is_undecided=True)
                self._layers[key] = found
            self._nested -= 1
        return self._layers[key]

    def _each(self, item: Value, frame: Activation) -> Layer | None:
        """The layer that an item of a list is, where one comprehension makes them all."""
        container = self._contents(item.args[0], frame)
        if container is None or container.value.op is not Op.COMPREHENSION or container.value.data != "list":
            return None
        return self.layer(container.value.args[-1], container.frame)

    def _contents(self, value: Value, frame: Activation, depth: int = 0) -> Located | None:
        """The list behind a value, unwrapped from a `ModuleList`; None if several may be stored there."""
        if value.op is Op.ATTR and depth < MAX_FRAMES:
            stored = self._attribute(value, frame)
            return self._contents(stored[0].value, stored[0].frame, depth + 1) if len(stored) == 1 else None
        if value.op is Op.CALL and len(value.args) == 2 and not value.data:
            is_list = self._project.names.definition(frame.module, value.callee) == External(f"{NN}ModuleList")
            return self._contents(value.args[1], frame, depth + 1) if is_list else None
        return Located(value, frame)

    def _attribute(self, value: Value, frame: Activation) -> list[Located]:
        """The values that an attribute may hold, but for None; for `self`, always located in the same frames."""
        name = self_attribute(value)
        if name is None or len(value.args) > 1 or frame.receiver is None:
            return [one for one in self._evaluator.attribute(value, frame) if not is_none(one.value)]
        key = (id(frame.receiver), name)
        if key not in self._stored:
            self._kept.append(frame.receiver)
            stored = [*self._evaluator.attribute(value, frame), *self._registered_values(frame.receiver, name)]
            self._stored[key] = [one for one in stored if not is_none(one.value)]
        return self._stored[key]

    def _registered_values(self, receiver: Instance, name: str) -> list[Located]:
        """The values that an object registers or sets under a name that is a string: `self.add_module("name", …)`."""
        members = self._project.of(Members)
        return [
            Located(set_value(event), self._evaluator.method_frame(function, receiver))
            for owner in (members.mro(receiver.cls) if receiver.cls is not None else ())
            for function in owner.methods.values()
            if name in function.words and not _SETTING.isdisjoint(function.words)
            for event in function.flow.of(EventKind.CALL)
            if set_attribute(event) == name
        ]

    def _layer(self, value: Value, frame: Activation, depth: int) -> Layer | None:
        if value.op is Op.CALL:
            return self._layer_of_call(value, frame, depth)
        if value.op is Op.ATTR:
            return self._common_layer(self._attribute(value, frame), depth)
        if value.op is Op.CHOICE and value.data is not None:
            return self._common_layer([Located(part, frame) for part in value.args if not is_none(part)], depth)
        if value.op is Op.PARAM:
            bound = None if value.data == "self" else self._evaluator.argument(value, frame)
            return None if bound is None else self.layer(bound.value, bound.frame, depth)
        if value.op is Op.INDEX and value.args[1].op is Op.CONST and type(value.args[1].data) is int:
            held = self.layers_in(value.args[0], frame, depth)
            at = value.args[1].data
            if held is not None and None not in held and -len(held) <= at < len(held):
                found = held[at]
                return None if found is None else self.layer(found.value, found.frame, depth)
        return None

    def _layer_of_call(self, call: Value, frame: Activation, depth: int) -> Layer | None:
        def is_wrapper(value: Value) -> bool:
            found = self._project.names.definition(frame.module, value)
            return isinstance(found, External) and found.name in _WRAPPERS

        definition, partial = self._constructor(call.callee, frame)
        if isinstance(definition, External):
            if definition.name in _WRAPPERS and call.positional:
                return self.layer(call.positional[0], frame, depth)
            is_layer = definition.name.startswith(NN) and definition.name.count(".") == 2
            name = definition.name.removeprefix(NN)
            return Layer(Located(call, frame), name, partial=partial) if is_layer else None
        if isinstance(definition, DefinedClass):
            return None if partial is not None else Layer(Located(call, frame), cls=definition.cls)
        if call.callee.op is Op.CHOICE and call.positional and all(map(is_wrapper, call.callee.args)):
            return self.layer(call.positional[0], frame, depth)
        if definition is None and call.callee.op is Op.ATTR and call.callee.data in _SAME_LAYER:
            return self.layer(call.callee.args[0], frame, depth)
        inner = self.frame(call, frame)
        if inner is None or (inner.receiver is not None and inner.function.name in ("forward", "__call__")):
            return None
        returned = [event.value for event in inner.function.flow.of(EventKind.RETURN)]
        return self._common_layer([Located(value, inner) for value in returned], depth) if returned else None

    def _constructor(self, callee: Value, frame: Activation) -> tuple[Definition | None, Value | None]:
        """The definition of a callee, and the call of `functools.partial` behind it, if there is one."""
        names = self._project.names
        definition = names.definition(frame.module, callee)
        if isinstance(definition, DefinedConstant) and definition.module is frame.module:
            callee = definition.value
        if callee.op is Op.CALL and callee.positional and names.definition(frame.module, callee.callee) == _PARTIAL:
            return names.definition(frame.module, callee.positional[0]), callee
        return definition, None

    def _common_layer(self, located: list[Located], depth: int) -> Layer | None:
        """The first of several layers that take and give the same widths; None where they differ."""
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
        """The size that is given for an argument of a layer's constructor."""
        value = layer.argument(argument)
        if value is not None and value.op in (Op.LIST, Op.TUPLE) and value.args:
            value = value.args[-1]
        return Sizes(self._evaluator).size(value, layer.made.frame)

    def layers_in(self, value: Value, frame: Activation, depth: int = 0) -> list[Located | None] | None:
        """The layers in a list, or in a container made of one, in order; None for an unknown layer."""
        if depth > MAX_DEPTH:
            return None
        if value.op in (Op.LIST, Op.TUPLE):
            return self._unpack_all(value.args, frame, depth)
        if value.op is Op.UPDATE and (made := self._root(value)).op is Op.CALL:
            return self.layers_in(made, frame, depth + 1)
        if value.op is Op.UPDATE and value.data == "append" and len(value.args) == 2 and value.guard is None:
            before = self.layers_in(value.args[0], frame, depth + 1)
            return None if before is None else [*before, Located(value.args[1], frame)]
        if value.op is Op.UPDATE and value.data == "extend" and len(value.args) == 2 and value.guard is None:
            before, more = (self.layers_in(arg, frame, depth + 1) for arg in value.args)
            return None if before is None else [*before, *(more or [None])]
        if value.op is Op.UPDATE:
            return None if self.layers_in(value.args[0], frame, depth + 1) is None else [None]
        if value.op is Op.BIN and value.data == "+":
            parts = [self.layers_in(arg, frame, depth + 1) for arg in value.args]
            return [one for part in parts for one in (part or [None])]
        if value.op is Op.CHOICE and value.args:
            before = self.layers_in(value.args[0], frame, depth + 1) if value.data is None else None
            return [*(before or ()), None]
        if value.op is Op.ATTR:
            stored = self._attribute(value, frame)
            return self.layers_in(stored[0].value, stored[0].frame, depth + 1) if len(stored) == 1 else None
        if value.op is Op.CALL:
            definition = self._project.names.definition(frame.module, value.callee)
            if isinstance(definition, External) and not value.data:
                if definition.name == f"{NN}Sequential":
                    return [*self._sequence(value, frame, depth), *self._added_layers(value, frame)]
                if definition.name == f"{NN}ModuleList" and len(value.args) <= 2:
                    held = self.layers_in(value.args[1], frame, depth + 1) if len(value.args) == 2 else []
                    return None if held is None else [*held, *self._added_layers(value, frame)]
        return None

    def _added_layers(self, made: Value, frame: Activation) -> list[Located | None]:
        """The layers that are appended to a container after it is made, in order; None for an unknown layer."""
        key = (id(made), id(frame))
        if key not in self._grown:
            self._kept += (made, frame)
            self._grown[key] = []
            self._grown[key] = [*self._added_in(made, frame), *self._added_elsewhere(made, frame)]
        return self._grown[key]

    def _added_in(self, made: Value, frame: Activation) -> Iterator[Located | None]:
        """The layers that the function which makes a container appends to it."""
        for event in frame.function.flow.events:
            callee = event.value.callee if event.kind is EventKind.CALL else None
            if callee is None:
                continue
            if callee.op is not Op.ATTR or callee.data not in _ADDING or self._root(callee.args[0]) is not made:
                if self._is_handed_on(made, event.value, frame):
                    yield None
                continue
            given = event.value.positional
            at = _ADDING[str(callee.data)]
            is_plain = not event.loops and (event.guard is None or all(guard.raised for guard in event.guard.chain()))
            if not is_plain or at is None or len(given) <= at:
                yield None
            elif callee.data == "extend":
                yield from self.layers_in(given[at], frame) or [None]
            else:
                yield Located(given[at], frame)

    def _is_handed_on(self, made: Value, call: Value, frame: Activation) -> bool:
        """True if a container is an argument of a function that mentions methods that add layers."""
        if not any(self._root(arg) is made for arg in call.args[1:]):
            return False
        function = queries.named_function(call.callee, frame.module, frame.function.owner, self._project)
        return function is not None and not function.words.isdisjoint(_ADDING)

    def _may_grow(self, value: Value, found: Layer, frame: Activation) -> bool:
        """True if a layer may be added to a `Sequential` by another name than the one that it is made under.

        That is an attribute, or a call that returned it.
        """
        if value is found.made.value:
            return False
        name = self_attribute(value)
        if name is None or frame.receiver is None or frame.receiver.cls is None:
            return any(self._adds_to(value, event) for event in frame.function.flow.of(EventKind.CALL))
        return any(
            self_attribute(event.value.callee.args[0]) == name and self._root(event.value.callee.args[0]) is not made
            for made in (found.made.value,)
            for owner in self._project.of(Members).mro(frame.receiver.cls)
            for function in owner.methods.values()
            if name in function.words and not function.words.isdisjoint(_ADDING)
            for event in function.flow.of(EventKind.CALL)
            if event.value.callee.op is Op.ATTR and event.value.callee.data in _ADDING
        )

    def _adds_to(self, value: Value, event: Event) -> bool:
        callee = event.value.callee
        return callee.op is Op.ATTR and callee.data in _ADDING and self._root(callee.args[0]) is value

    def _added_elsewhere(self, made: Value, frame: Activation) -> Iterator[None]:
        """Yields None, for unknown layers, if other methods add some to the attribute that holds the container."""
        owner = frame.function.owner
        for name, events in frame.function.flow.stores.items():
            if owner is not None and any(self._root(event.value) is made for event in events):
                found = self._project.of(Members).calls_on(owner, name, tuple(_ADDING))
                if any(function is not frame.function for function, _ in found):
                    yield None

    def _root(self, value: Value) -> Value:
        """The container as it was made, before the updates that a value is the result of."""
        while value.op is Op.UPDATE or (value.op is Op.ATTR and len(value.args) > 1):
            value = value.args[0] if value.op is Op.UPDATE else value.args[1]
        return value

    def parts(self, layer: Layer) -> list[Located | None] | None:
        """The layers in a `Sequential`, in order; None if there may be others."""
        return None if layer.is_undecided else self.layers_in(layer.made.value, layer.made.frame)

    def _sequence(self, call: Value, frame: Activation, depth: int) -> list[Located | None]:
        given = call.positional
        if len(given) == 1 and given[0].op is Op.CALL and not given[0].data:
            definition = self._project.names.definition(frame.module, given[0].callee)
            if definition == External("collections.OrderedDict") and len(given[0].args) == 2:
                pairs = self.layers_in(given[0].args[1], frame, depth + 1)
                return [None] if pairs is None else [_second(pair) for pair in pairs]
        return self._unpack_all(given, frame, depth)

    def _unpack_all(self, parts: tuple[Value, ...], frame: Activation, depth: int) -> list[Located | None]:
        found: list[Located | None] = []
        for part in parts:
            if part.op is Op.STARRED:
                found += self.layers_in(part.args[0], frame, depth + 1) or [None]
            else:
                found.append(Located(part, frame))
        return found

    def target(self, call: Value, frame: Activation) -> Layer | None:
        """The layer that a call runs: held under an attribute, or made on the spot."""
        callee = root = call.callee
        while root.op is Op.ATTR:
            root = root.args[0]
        if callee.op is Op.GLOBAL or root.op is Op.GLOBAL or (callee is root and root.data == "self"):
            return None
        if callee is not root and not (root.op is Op.PARAM and root.data == "self"):
            return None  # a method of something that is made
        return self.layer(callee, frame)

    def frame(self, call: Value, frame: Activation) -> Activation | None:
        """The frame of the function of the project that a call reaches for certain, the same one each time."""
        key = (id(call), id(frame))
        if key not in self._frames:
            self._kept += (call, frame)
            self._frames[key] = None
            inner = self._reached_frame(call, frame) if frame.depth < MAX_FRAMES else None
            is_plain = inner is not None and not inner.function.signature.is_async
            if inner is not None and is_plain and keeps_signature(inner.function, self._project):
                self._frames[key] = inner
        return self._frames[key]

    def _reached_frame(self, call: Value, frame: Activation) -> Activation | None:
        callee = call.callee
        if isinstance(self._project.names.definition(frame.module, callee), DefinedFunction):
            return self._evaluator.call_frame(call, frame)
        owner = callee.args[0] if callee.op is Op.ATTR else None
        if owner is not None and (is_super(owner) or (owner.op is Op.PARAM and owner.data == "self")):
            cls = None if frame.receiver is None else frame.receiver.cls
            if is_super(owner) or (cls is not None and self._project.of(Members).method(cls, str(callee.data))):
                return self._evaluator.call_frame(call, frame)
        layer, name = self.target(call, frame), "forward"
        if layer is None and owner is not None and owner.op is Op.ATTR:
            layer, name = self.layer(owner, frame), str(callee.data)
        if layer is None or layer.cls is None:
            return None
        members = self._project.of(Members)
        function = members.method(layer.cls, name)
        if function is None or (name == "forward" and members.method(layer.cls, "__call__") is not None):
            return None
        made = Instance(layer.cls, layer.made.value, layer.made.frame)
        inner = Activation(function, function.bind(call), frame, made, frame.depth + 1, call)
        return None if self._evaluator.is_recursive(inner) else inner


def is_none(value: Value) -> bool:
    return value.op is Op.CONST and value.data is None


def _second(pair: Located | None) -> Located | None:
    if pair is None or pair.value.op not in (Op.TUPLE, Op.LIST) or len(pair.value.args) != 2:
        return None
    return Located(pair.value.args[1], pair.frame)
