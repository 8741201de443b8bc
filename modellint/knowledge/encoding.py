"""Encode values of functions as nodes of a table, in which equal nodes are stored once, for the shipped facts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from modellint import knowledge
from modellint.flow.built import has_state
from modellint.graph.definitions import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule
from modellint.graph.value import Event, EventKind, Op, Value, self_attribute
from modellint.knowledge import facts as form
from modellint.link.classes import calls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.definitions import Definition
    from modellint.graph.methods import Scope
    from modellint.graph.value import Parameter, PathCondition
    from modellint.link.classes.models import ClassModel

_EVENT_CODES = {kind: code for code, kind in form.EVENTS.items()}
_CODES = {op: code for code, op in form.CODES.items()}
#: Functions whose result may hold their arguments.
_HOLDING = frozenset(
    ("builtins.enumerate", "builtins.zip", "builtins.dict", "collections.OrderedDict", "builtins.getattr")
)
#: Operations that take a part of their first operand.
_PARTS = frozenset((Op.ITEM, Op.UNPACK, Op.INDEX, Op.STARRED))
_MAX_NODES = 1500
#: Builtins whose arguments matter.
_TELLING = frozenset(f"builtins.{name}" for name in ("isinstance", "super", "setattr", "getattr"))
#: Longer strings are prose.
_LONGEST = 32
#: Operations whose result holds no layer, whatever their operands are.
PLAIN_OPS = frozenset((Op.STRING, Op.SLICE))


class Nodes:
    """The table of nodes: equal ones stand once."""

    def __init__(self) -> None:
        self.table: list[Any] = []
        self._numbers: dict[str, int] = {}

    def add(self, node: Any) -> int:
        key = json.dumps(node)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.table)
            self.table.append(node)
        return number


class Described(Protocol):
    """The questions of an encoder about the package that is described."""

    nodes: Nodes
    #: The functions that constructors call, by name.
    functions: dict[str, DefinedFunction]

    def model(self, name: str) -> ClassModel | None:
        """The model of a class of this package, or of one that was described before."""

    def holds_layers(self, attribute: str) -> bool:
        """True if some class may store a layer in that attribute."""


class Encoder:
    """Encodes the values of one function."""

    def __init__(
        self,
        extraction: Described,
        scope: Scope,
        plain: frozenset[str] = frozenset(),
        bound: frozenset[str] = frozenset(),
    ) -> None:
        self._extraction = extraction
        self._nodes = extraction.nodes
        self._scope = scope
        self._plain = plain
        #: Names of methods: uncalled, they stand for no layer.
        self._bound = bound
        self._known: dict[int, int] = {}
        self._active: set[int] = set()
        self._size = 0
        self._open: dict[int, int] = {}

    def value(self, value: Value) -> int:
        number = self._known.get(id(value))
        if number is None:
            if id(value) in self._active:
                return self._nodes.add("-")  # a loop's variable leads back to itself
            self._active.add(id(value))
            self._size += 1
            number = self._nodes.add(self._node(value) if self._size < _MAX_NODES else "?")
            self._active.discard(id(value))
            self._known[id(value)] = number
        return number

    def _node(self, value: Value) -> Any:
        op = value.op
        if op is Op.CONST:
            if isinstance(value.data, str) and len(value.data) > _LONGEST:
                return "!"
            return ["c", value.data] if isinstance(value.data, str | int | float | None) else "!"
        if op is Op.PARAM:
            return "self" if value.data == "self" else f"${value.data}"
        if op is Op.GLOBAL:
            return self._name(value) or "?"
        if op is Op.ATTR:
            return self._attribute(value)
        if op is Op.CALL:
            return self._call(value)
        if op is Op.DICT:
            keys = [-1 if key is None else self.value(key) for key in value.data]
            return ["d", keys, self._all(value.args)]
        if op is Op.CHOICE:
            test = self.value(value.data) if isinstance(value.data, Value) else -1
            return ["ch", test, self._all(value.args)]
        if op in PLAIN_OPS or is_arithmetic(value):
            return "!"
        if op is Op.BIN:
            sides = self._all(value.args)
            tables = [self._nodes.table[side] for side in sides]
            return ["b", value.data, sides] if not any(t == "!" or t[0] == "c" for t in tables) else "!"
        if op in _CODES:
            data = value.data if isinstance(value.data, str | int) else None
            if op in _PARTS and self._nodes.table[self.value(value.args[0])] in ("?", "!"):
                return self._nodes.table[self.value(value.args[0])]
            return [_CODES[op], data, self._all(value.args)]
        return "?"

    def _all(self, values: Iterable[Value]) -> list[int]:
        return [self.value(value) for value in values]

    def _name(self, value: Value) -> Any:
        """The node of a global name, None if it does not resolve."""
        definition = self._scope.definition(value)
        if definition is None:
            return None
        constant = self._scope.constant(definition)
        if constant is not None:
            stated, home = constant
            if self._size > _MAX_NODES or len(self._active) > 60:
                return "?"
            inner = Encoder(self._extraction, home)
            inner._active = self._active
            return self._nodes.table[inner.value(stated)]
        name = name_of(definition)
        if isinstance(definition, DefinedFunction):
            self._extraction.functions.setdefault(name, definition)
        return f"@{name}"

    def _attribute(self, value: Value) -> Any:
        owner = self_attribute(value)
        if owner is not None:
            return "!" if owner in self._bound else f".{owner}"
        found = self._name(value)
        if found is not None:
            return found
        if value.data in calls.PLAIN_ATTRIBUTES:
            return "!"
        inner = self.value(value.args[0])
        node = self._nodes.table[inner]
        if isinstance(node, str) and (node in ("!", "?") or (node[0] == "$" and value.data not in calls.FOLLOWED)):
            return "!" if node == "!" or node[1:] in self._plain else "?"
        return ["a", value.data, [inner]]

    def _call(self, value: Value) -> Any:
        own = self_attribute(value.callee)
        callee = self.value(value.callee) if own is None else self._nodes.add(f".{own}")
        node = self._nodes.table[callee]
        if isinstance(node, str) and node.startswith("@") and self._gives_plain(node[1:]):
            return "!"
        if node in ("?", "!"):
            return node
        operands = self._all(value.args[1:])
        if isinstance(node, str) and node.startswith("@") and all(map(self._is_indifferent, operands)):
            model = self._extraction.model(node[1:])
            if model is not None and model.is_module and has_state(model) is not None:
                return ["n", "", [callee]]
        return ["k", " ".join(name or "*" for name in value.data), [callee, *operands]]

    def _gives_plain(self, name: str) -> bool:
        """True if a function that cannot be read, called `name`, never gives a layer."""
        if name in self._extraction.functions or name in _TELLING:
            return False
        return _gives_plain(name)

    def _is_indifferent(self, number: int) -> bool:
        """True if a node holds nothing that could be a layer."""
        node = self._nodes.table[number]
        if isinstance(node, str):
            if node[0] == ".":
                return not self._extraction.holds_layers(node[1:])
            return node in ("!", "?") or bool(node[0] == "$" and node[1:] in self._plain)
        if node[0] in ("c", "n"):
            return bool(node[0] == "c")
        harmless: bool = node[0] in ("m", "o", "u", "i", "t", "l", "a") and all(map(self._is_indifferent, node[2]))
        return harmless

    def parameters(self, parameters: Iterable[Parameter], plain: frozenset[str]) -> list[int]:
        rows: list[int] = []
        for p in parameters:
            kind = form.KINDS.index(p.kind) + (form.PLAIN_FLAG if p.name in plain else 0)
            default = [] if p.default is None else [self.value(p.default)]
            rows.append(self._nodes.add(["p", [p.name, kind], default]))
        return rows

    def event(self, event: Event) -> list[Any] | None:
        """The row of an event, None for a call that cannot matter."""
        if event.kind is EventKind.CALL and isinstance(self._nodes.table[self.value(event.value)], str):
            return None
        guard = self._guard(event.guard)
        target = -1 if event.target is None else self.value(event.target)
        value = self._nodes.add("!") if event.kind is EventKind.RAISE else self.value(event.value)
        if guard < 0 and event.kind is EventKind.CALL:
            return [value]
        if guard < 0 and event.kind is EventKind.STORE:
            return [value, target]
        return [_EVENT_CODES[event.kind], value, target, guard]

    def _test(self, test: Value) -> int:
        """The node of a condition; undecided conditions stay distinct."""
        if test.op is Op.BOOL or (test.op is Op.UNARY and test.data == "not"):
            return self._nodes.add([_CODES[test.op], test.data, [self._test(arg) for arg in test.args]])
        number = self.value(test)
        if self._nodes.table[number] in ("?", "!"):
            return self._nodes.add(["?", self._open.setdefault(id(test), len(self._open)), []])
        return number

    def _guard(self, guard: PathCondition | None) -> int:
        if guard is None:
            return -1
        test = self._test(guard.test)
        outer = self._guard(guard.outer)
        outcome = (2 if guard.truthy else 3) if guard.raised else int(guard.truthy)
        return self._nodes.add(["g", outcome, [test] if outer < 0 else [test, outer]])


def name_of(definition: Definition) -> str:
    """The canonical name of a definition."""
    if isinstance(definition, DefinedClass):
        return knowledge.canonical(f"{definition.cls.module.name}.{definition.cls.qualname}")
    if isinstance(definition, DefinedFunction):
        return f"{definition.function.module.name}.{definition.function.qualname}"
    if isinstance(definition, DefinedModule):
        return definition.module.name
    if isinstance(definition, DefinedConstant):
        return f"{definition.module.name}.{definition.name}"
    return definition.name


def _gives_plain(name: str) -> bool:
    """True if a function or class that cannot be read never gives a layer, with any arguments."""
    if name in calls.COPIES | calls.WRAPPERS | calls.SEQUENCES | _HOLDING or calls.PRETRAINED.match(name):
        return False
    top = name.partition(".")[0]
    if top == "torch":
        return not calls.is_torch_class(name)
    return calls.is_standard(top) or top in ("builtins", "numpy") or name.startswith(knowledge.TOOLS_ELSEWHERE)


def is_arithmetic(value: Value) -> bool:
    return value.op is Op.BIN and value.data not in ("+", "*")
