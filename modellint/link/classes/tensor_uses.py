"""What functions do with a tensor that an object keeps: what it meets, and whether it is moved there first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes.fresh_tensors import is_placement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.values.evaluator import Frame


class UseKind(Enum):
    """What a use of a tensor tells of where it has to be."""

    MEETS = "meets"  # arithmetic with the input or with what a layer holds
    MOVED = "moved"  # it is moved to another device, or says where others go
    HOST = "host"  # Python numbers, indices, copies: it may be where it is
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class TensorUse:
    """One use: in which function, where, and for MEETS the other operand.

    `is_sure` is False where the other operand may be no tensor.
    """

    kind: UseKind
    function: Function
    value: Value
    other: Value | None = None
    is_sure: bool = True


_VIEWS = frozenset(("T", "mT", "H", "mH", "data", "real", "imag"))
_ASKS = frozenset("shape ndim dtype requires_grad grad names itemsize is_cuda layout".split())
_ASKED = frozenset(
    """size dim numel nelement stride is_contiguous is_floating_point element_size ndimension new_zeros new_ones
    new_full new_tensor new_empty""".split()
)
_HOST = frozenset("item tolist numpy cpu __len__ data_ptr copy_ fill_ zero_ normal_ uniform_".split())
_PLACES = frozenset("type_as cuda npu xpu to_device".split())
_BUILTINS = frozenset(
    "int float len range list print bool str min max sum isinstance id repr enumerate zip set tuple".split()
)
#: A docstring's line about a parameter that is a number: `t (int): the step`, `t : int`.
_NUMBER_IN_WORDS = r"^\s*{name}\s*(?:\(|:)\s*(?:int|float)\b"
_NUMBERS = frozenset(("int", "float", "bool", "str", "Size", "device", "dtype", "SeqLen"))
_NO_TENSOR = frozenset(("shape", "device", "dtype", "ndim", "training", "config"))
_NO_TENSOR_METHODS = frozenset("size dim numel item tolist stride get keys ndimension __len__".split())
#: What gives several tensors made of one.
_PARTS = frozenset("split chunk unbind tensor_split hsplit vsplit meshgrid broadcast_tensors topk sort max min".split())
_HOLDERS = frozenset((Op.LIST, Op.TUPLE, Op.STARRED, Op.CHOICE, Op.BOOL, Op.SET, Op.DICT))
_MAX_CALLS = 3


class TensorUses:
    """Classifies uses; one for each file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._parents: dict[Function, dict[int, list[tuple[Value, int]]]] = {}
        self._nodes: dict[Function, list[Value]] = {}

    def of_attribute(self, name: str, function: Function, cls: Class, depth: int = 0) -> Iterator[TensorUse]:
        """The uses of `self.name` in a method of an object of `cls`."""
        frame = self._frame(function)
        parents = self._parents_in(function)
        for node in self._nodes[function]:
            if self_attribute(node) == name:
                if len(node.args) > 1:
                    yield TensorUse(UseKind.UNKNOWN, function, node)
                yield from self._climb(node, function, frame, parents, cls, depth)

    def of_parameter(self, name: str, function: Function, cls: Class | None, depth: int) -> Iterator[TensorUse]:
        """The uses of what is passed as the parameter `name`."""
        frame = self._frame(function)
        parents = self._parents_in(function)
        roots = [node for node in self._nodes[function] if node.op is Op.PARAM and node.data == name]
        for node in roots:
            yield from self._climb(node, function, frame, parents, cls, depth)

    def _frame(self, function: Function) -> Frame:
        return self._project.evaluator.root(function)

    def _parents_in(self, function: Function) -> dict[int, list[tuple[Value, int]]]:
        """Which values each value of a function is a part of, and at which position."""
        known = self._parents.get(function)
        if known is not None:
            return known
        parents: dict[int, list[tuple[Value, int]]] = {}
        nodes: list[Value] = []
        seen: set[int] = set()
        for event in function.flow.events:
            pending = [event.value] if event.target is None else [event.value, event.target]
            if event.guard is not None:
                pending.extend(guard.test for guard in event.guard.chain())
            while pending:
                value = pending.pop()
                if id(value) in seen:
                    continue
                seen.add(id(value))
                nodes.append(value)
                for position, arg in enumerate(value.args):
                    parents.setdefault(id(arg), []).append((value, position))
                    pending.append(arg)
        self._parents[function] = parents
        self._nodes[function] = nodes
        return parents

    def _climb(
        self,
        node: Value,
        function: Function,
        frame: Frame,
        parents: dict[int, list[tuple[Value, int]]],
        cls: Class | None,
        depth: int,
    ) -> Iterator[TensorUse]:
        """Follow a value to what it becomes part of."""
        seen: set[int] = set()
        pending = [node]
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            for parent, position in parents.get(id(value), ()):
                step = self._step(value, parent, position, function, frame, parents, cls, depth)
                if isinstance(step, TensorUse):
                    yield step
                elif step is None:
                    continue
                elif isinstance(step, list):
                    yield from step
                else:
                    pending.append(step)
            yield from self._ends(value, function, cls, depth)

    def _ends(self, value: Value, function: Function, cls: Class | None, depth: int) -> Iterator[TensorUse]:
        """Uses that are no expressions: what is returned, or kept elsewhere."""
        for event in function.flow.events:
            if event.value is not value:
                continue
            if event.kind is EventKind.RETURN:
                yield from self._returned(value, function, cls, depth)
            elif event.kind is EventKind.YIELD:
                yield TensorUse(UseKind.UNKNOWN, function, value)
            elif event.kind is EventKind.STORE and event.target is not None:
                into_tensor = event.target.op is Op.INDEX
                yield TensorUse(UseKind.HOST if into_tensor else UseKind.UNKNOWN, function, value)

    def _returned(self, value: Value, function: Function, cls: Class | None, depth: int) -> Iterator[TensorUse]:
        """A helper's result is used where the helper is called."""
        callers = () if cls is None else cls.mentioned.get(function.name, ())
        found = False
        if depth < _MAX_CALLS and cls is not None and function.name not in ("forward", "__call__"):
            for caller in callers:
                parents = self._parents_in(caller)
                for node in self._nodes[caller]:
                    is_call = node.op is Op.CALL and self_attribute(node.callee) == function.name
                    if is_call or (function.is_property and self_attribute(node) == function.name):
                        found = True
                        yield from self._climb(node, caller, self._frame(caller), parents, cls, depth + 1)
        if not found:
            yield TensorUse(UseKind.UNKNOWN, function, value)

    def _step(
        self,
        value: Value,
        parent: Value,
        position: int,
        function: Function,
        frame: Frame,
        parents: dict[int, list[tuple[Value, int]]],
        cls: Class | None,
        depth: int,
    ) -> TensorUse | Value | list[TensorUse] | None:
        """What becomes of a value in one expression: a use, another value to follow, or nothing of interest."""

        def use(kind: UseKind, other: Value | None = None) -> TensorUse:
            sure = other is None or self.is_elsewhere(other, function, cls, strict=True)
            return TensorUse(kind, function, parent, other, sure)

        op = parent.op
        if op is Op.ATTR:
            if position != 0:
                return parent
            if parent.data in _VIEWS:
                return parent
            if parent.data == "device":
                return use(UseKind.MOVED)
            calls_ = [p for p, at in parents.get(id(parent), ()) if p.op is Op.CALL and at == 0]
            if not calls_:
                return None if parent.data in _ASKS else use(UseKind.UNKNOWN)
            return [
                found for call in calls_ for found in self._method(value, call, function, frame, parents, cls, depth)
            ]
        if op is Op.CALL:
            return None if position == 0 else self._argument(value, parent, position, function, frame, cls, depth)
        if op in (Op.BIN, Op.COMPARE):
            if op is Op.COMPARE and parent.data in ("is", "is not"):
                return None
            if op is Op.COMPARE and parent.data in ("in", "not in"):
                return use(UseKind.HOST)
            other = parent.args[1 - position]
            return use(UseKind.MEETS, other) if self.is_elsewhere(other, function, cls) else parent
        if op is Op.INDEX:
            if position == 1:
                return use(UseKind.HOST)
            index = parent.args[1]
            if self._indexes(index, function, cls):
                return use(UseKind.MEETS, index)
            # Picked by a number, a row of one dimension is a scalar, and scalars meet any device.
            return use(UseKind.UNKNOWN) if index.op is Op.PARAM else parent
        if op is Op.UPDATE:
            return parent if position == 0 or parent.data in ("append", "extend", "insert") else use(UseKind.HOST)
        if op in (Op.ITEM, Op.UNPACK):
            is_parts = value.op is Op.CALL and value.callee.data in _PARTS
            return parent if is_parts else use(UseKind.HOST)
        if op in (Op.STRING, Op.SLICE):
            return use(UseKind.HOST)
        if op is Op.UNARY or op in _HOLDERS:
            return parent
        return use(UseKind.UNKNOWN)

    def _indexes(self, index: Value, function: Function, cls: Class | None) -> bool:
        """Whether an index is a tensor of the input: it has to be where the tensor is."""
        parts = index.args if index.op is Op.TUPLE else (index,)
        return any(part.op is not Op.SLICE and self.is_elsewhere(part, function, cls) for part in parts)

    def _method(
        self,
        value: Value,
        call: Value,
        function: Function,
        frame: Frame,
        parents: dict[int, list[tuple[Value, int]]],
        cls: Class | None,
        depth: int,
    ) -> Iterator[TensorUse]:
        name = str(call.callee.data)
        if name in _ASKED:
            return
        if name in _HOST:
            yield TensorUse(UseKind.HOST, function, call)
        elif name in _PLACES or (name == "to" and is_placement(call)):
            yield TensorUse(UseKind.MOVED, function, call)
        else:
            given = [arg for arg in call.args[1:] if self.is_elsewhere(arg, function, cls, strict=True)]
            if given and name not in ("to", "type", "expand_as", "view_as", "reshape_as"):
                yield TensorUse(UseKind.MEETS, function, call, given[0])
            else:
                yield from self._climb(call, function, frame, parents, cls, depth)

    def _argument(
        self, value: Value, call: Value, position: int, function: Function, frame: Frame, cls: Class | None, depth: int
    ) -> TensorUse | Value | list[TensorUse] | None:
        def use(kind: UseKind, other: Value | None = None) -> TensorUse:
            sure = other is None or self.is_elsewhere(other, function, cls, strict=True)
            return TensorUse(kind, function, call, other, sure)

        evaluator = self._project.evaluator
        callee = call.callee
        name = evaluator.external_name(callee, function.module)
        if name is not None and name.startswith("torch."):
            if "device" in call.keywords or None in call.data:
                return use(UseKind.MOVED)
            if name.startswith("torch.nn.init."):
                return use(UseKind.HOST)
            rest = [arg for number, arg in enumerate(call.args) if number not in (0, position)]
            if value.op in (Op.LIST, Op.TUPLE):
                rest.extend(value.args)
            met = next((arg for arg in rest if self.is_elsewhere(arg, function, cls)), None)
            return call if met is None else use(UseKind.MEETS, met)
        if callee.op is Op.GLOBAL and callee.data in _BUILTINS:
            return use(UseKind.HOST)
        target = evaluator.target(call, frame)
        if target.frame is not None and depth < _MAX_CALLS:
            inner = target.frame.function
            names = [n for n, bound in inner.bind(call).items() if bound is value]
            if names:
                owner = cls if self_attribute(callee) is not None and target.layer is None else inner.owner
                found = [u for n in names for u in self.of_parameter(n, inner, owner, depth + 1)]
                if target.layer is not None and not any(u.kind in (UseKind.MEETS, UseKind.MOVED) for u in found):
                    return TensorUse(UseKind.MEETS, function, call, callee, is_sure=False)
                return found or [use(UseKind.UNKNOWN)]
            return use(UseKind.UNKNOWN)
        if target.layer is not None and (target.layer.external or "").startswith("torch.nn."):
            return use(UseKind.MEETS, callee)
        if callee.op is Op.ATTR and callee.data in ("to", "type_as", "to_device", "device"):
            return use(UseKind.MOVED if callee.data != "type_as" else UseKind.HOST)
        if callee.op is Op.ATTR and callee.data in ("copy_", "append", "extend", "index_put_"):
            return use(UseKind.HOST)
        if callee.op is Op.ATTR and self.is_elsewhere(callee.args[0], function, cls, strict=True):
            return use(UseKind.MEETS, callee.args[0])
        return use(UseKind.UNKNOWN)

    # -- what is where the input is --------------------------------------------------------------------------------

    def is_elsewhere(self, value: Value, function: Function, cls: Class | None, *, strict: bool = False) -> bool:
        """Whether a value is a tensor of the input, or of what the layer holds: on the device the layer runs on.

        With `strict` a bare parameter has to be known to be a tensor, by its annotation or by what is done with it.
        """
        return self._is_elsewhere(value, function, cls, strict, set())

    def _is_elsewhere(self, value: Value, function: Function, cls: Class | None, strict: bool, seen: set[int]) -> bool:
        if id(value) in seen or len(seen) > 400:
            return False
        seen.add(id(value))

        def any_of(values: tuple[Value, ...]) -> bool:
            return any(self._is_elsewhere(one, function, cls, strict, seen) for one in values)

        op = value.op
        if op is Op.PARAM:
            return value.data != "self" and self._may_be_tensor(str(value.data), function, strict)
        if op is Op.ATTR:
            attribute = self_attribute(value)
            if attribute is not None:
                held = value.args[1:]
                return any_of(held) if held else self._is_learned(attribute, cls)
            return value.data not in _NO_TENSOR and any_of(value.args[:1])
        if op is Op.CALL:
            callee = value.callee
            if callee.op is Op.ATTR:
                if callee.data in _NO_TENSOR_METHODS:
                    return False
                own = self_attribute(callee)
                if own is not None:
                    return any_of(value.args[1:]) or self._is_learned(own, cls)
                if any_of(callee.args[:1]):
                    return True
            if callee.op is Op.GLOBAL and callee.data in _BUILTINS:
                return False
            device = value.keywords.get("device")
            if device is not None:
                return any(part.op is Op.PARAM or part.op is Op.ATTR for part in device.walk())
            return any_of(value.args[1:])
        if op in (Op.BIN, Op.UNARY, Op.LIST, Op.TUPLE, Op.CHOICE, Op.STARRED, Op.COMPARE):
            return any_of(value.args)
        if op in (Op.INDEX, Op.UPDATE, Op.ITEM, Op.UNPACK):
            return any_of(value.args[:1])
        return False

    @staticmethod
    def _may_be_tensor(name: str, function: Function, strict: bool) -> bool:
        declared = function.parameter(name)
        if declared is None:
            return False
        if declared.annotation is not None:
            words = {str(part.data) for part in declared.annotation.walk() if isinstance(part.data, str)}
            if any("Tensor" in word for word in words):
                return True
            if words & _NUMBERS:
                return False
        if re.search(_NUMBER_IN_WORDS.format(name=re.escape(name)), function.docstring or "", re.MULTILINE):
            return False
        if declared.default is not None and declared.default.op is Op.CONST and declared.default.data is not None:
            return False
        return not strict or function.name in ("forward", "__call__")

    def _is_learned(self, attribute: str, cls: Class | None) -> bool:
        """Whether `self.attribute` is a layer, a parameter or a buffer."""
        if cls is None:
            return False
        return attribute in self._project.classes.model(cls).children
