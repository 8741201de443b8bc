"""The form in which facts are shipped, and how they are read.

One JSON file per package. Values of all classes share one table of nodes, in which equal nodes stand once; a node
refers to others by number. A class or method is decoded when it is first asked for.

    nodes      "$name" a parameter, "self" the object, ".name" an attribute of it, "@name" a global by its canonical
               name ("~" and "^" abbreviate a package), "!" something plain, "?" unknown, "-" nothing, "'text" or
               any other JSON scalar a constant, "code data;operands" an operation ("n": a call whose arguments do
               not matter; "p": a parameter, its kind + 4 if it is plain, its default; "g": a test's outcome, 2 or
               3 if it is asserted to hold or not to, the test, the guard around it)
    classes    by module and name: b bases, m methods, a class-level values, f dataclass fields,
               c conduct (used, moved, moved parameters, carried, changing)
    aliases    by package: the classes that it offers under its own name
    methods    "parameters|receiver?|events"; an event is "kind value target guard", with -1 for what is absent,
               shorter for an unconditional call ("value") or assignment ("value target")
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.graph.definitions import External
from modellint.graph.methods import Conduct
from modellint.graph.value import Event, EventKind, Flow, Op, Parameter, PathCondition, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.graph.definitions import Definition

KINDS = ("positional", "var-positional", "keyword", "var-keyword")
PLAIN_FLAG = 4
_DISPLAYS = frozenset((Op.LIST, Op.DICT, Op.SET))
EVENTS = {"c": EventKind.CALL, "s": EventKind.STORE, "r": EventKind.RETURN, "x": EventKind.RAISE}
#: The prefixes that the marks of global names abbreviate.
PREFIXES = {"@": "", "~": "speechbrain.", "^": "torch.nn."}
_MARKS = frozenset("'$.!?-") | PREFIXES.keys()
#: Operations whose operands are nodes and whose data is a constant or None.
CODES = {
    "a": Op.ATTR,
    "b": Op.BIN,
    "u": Op.UNARY,
    "m": Op.COMPARE,
    "o": Op.BOOL,
    "i": Op.INDEX,
    "sl": Op.SLICE,
    "t": Op.TUPLE,
    "l": Op.LIST,
    "se": Op.SET,
    "*": Op.STARRED,
    "co": Op.COMPREHENSION,
    "it": Op.ITEM,
    "un": Op.UNPACK,
    "up": Op.UPDATE,
    "la": Op.LAMBDA,
}


class ShippedScope:
    """Global names in shipped facts are canonical already."""

    def definition(self, value: Value) -> Definition | None:
        parts: list[str] = []
        while value.op is Op.ATTR:
            parts.append(str(value.data))
            value = value.args[0]
        if value.op is not Op.GLOBAL:
            return None
        return External(".".join([str(value.data), *reversed(parts)]))

    def constant(self, definition: Definition) -> None:
        return None


_SCOPE = ShippedScope()


class _Nodes:
    """Decodes nodes; within one decoder equal nodes are one value, as they were one test in the source."""

    def __init__(self, table: list[Any]) -> None:
        self._table = table
        self._values: dict[int, Value] = {}
        self._guards: dict[int, PathCondition] = {}

    def value(self, number: int) -> Value:
        known = self._values.get(number)
        if known is None:
            known = self._values[number] = _value(Op.UNKNOWN, (), None)
            node = self._table[number]
            if not isinstance(node, str):
                known.op, known.data = Op.CONST, node
            elif node == "self":
                known.op, known.data = Op.PARAM, node
            elif node[0] in _MARKS:
                _decode_name(known, node[0], node[1:])
            else:
                self._decode(known, *self._row(node))
        return known

    def guard(self, number: int) -> PathCondition:
        known = self._guards.get(number)
        if known is None:
            _, truthy, (test, *outer) = self._row(self._table[number])
            above = self.guard(outer[0]) if outer else None
            is_asserted = truthy in ("2", "3")  # that it holds, that it does not
            known = PathCondition(self.value(test), truthy in ("1", "2"), above, early=is_asserted, raised=is_asserted)
            self._guards[number] = known
        return known

    def parameters(self, numbers: list[int]) -> Iterator[tuple[str, int, list[int]]]:
        """The names, kinds and defaults (none or one) of parameters."""
        for number in numbers:
            _, data, default = self._row(self._table[number])
            name, _, kind = data.partition(" ")
            yield name, int(kind), default

    @staticmethod
    def _row(node: str) -> tuple[str, str, list[int]]:
        head, _, operands = node.rpartition(";")
        code, _, data = head.partition(" ")
        return code, data, numbers_in(operands)

    def _decode(self, value: Value, code: str, data: str, operands: list[int]) -> None:
        value.args = tuple(self.value(number) for number in operands)
        if code == "n":
            value.op, value.data = Op.CALL, (None,)
            value.args = (*value.args, _value(Op.UNKNOWN, (), None))
        elif code == "k":
            value.op, value.data = Op.CALL, tuple(None if name == "*" else name for name in data.split())
        elif code == "d":
            value.op = Op.DICT
            value.data = tuple(None if key < 0 else self.value(key) for key in numbers_in(data))
        elif code == "ch":
            value.op = Op.CHOICE
            value.data = None if data == "-1" else self.value(int(data))
        else:
            value.op = CODES[code]
            value.data = int(data) if code == "un" else data or None


def _decode_name(value: Value, mark: str, name: str) -> None:
    if mark == "'":
        value.op, value.data = Op.CONST, name
    elif mark == "$":
        value.op, value.data = Op.PARAM, name
    elif mark == ".":
        value.op, value.data = Op.ATTR, name
        value.args = (_value(Op.PARAM, (), "self"),)
    elif mark == "!":
        value.op = Op.STRING
    elif mark == "-":
        value.op, value.args = Op.ITEM, (_value(Op.LIST, (), None),)
    elif mark != "?":
        value.op, value.data = Op.GLOBAL, PREFIXES[mark] + name


def numbers_in(text: str) -> list[int]:
    """The numbers in a text that blanks separate."""
    return [int(number) for number in text.split()]


def _value(op: Op, args: tuple[Value, ...], data: Any) -> Value:
    return Value(op, args, data, None)


class ShippedMethod:
    """A method or function as shipped."""

    def __init__(self, name: str, text: str, table: list[Any]) -> None:
        self.name = name
        parameters, receiver, self._events = text.split("|")
        self._parameters = numbers_in(parameters)
        self.has_receiver = receiver == "1"
        self._nodes = _Nodes(table)

    @property
    def scope(self) -> ShippedScope:
        return _SCOPE

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return _parameters(self._parameters, self._nodes)

    @cached_property
    def plain(self) -> frozenset[str]:
        return frozenset(name for name, kind, _ in self._nodes.parameters(self._parameters) if kind & PLAIN_FLAG)

    @cached_property
    def flow(self) -> Flow:
        return Flow(tuple(self._event(row.split()) for row in self._events.split(";") if row))

    def _event(self, row: list[str]) -> Event:
        if len(row) < 3:
            row = ["c", *row, "-1", "-1"] if len(row) == 1 else ["s", *row, "-1"]
        kind, (value, target, guard) = row[0], map(int, row[1:])
        found = self._nodes.value(value)
        if target >= 0 and found.op in _DISPLAYS and not found.args:
            found = Value(
                found.op, (), found.data, None
            )  # empty ones share a node, and are one object each where they are stored
        return Event(
            EVENTS[kind],
            found,
            None if target < 0 else self._nodes.value(target),
            None if guard < 0 else self._nodes.guard(guard),
        )


def _parameters(numbers: list[int], nodes: _Nodes) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(name, KINDS[kind & 3], nodes.value(default[0]) if default else None, None)
        for name, kind, default in nodes.parameters(numbers)
    )


class ShippedFacts:
    """The facts of a class that modellint ships."""

    def __init__(self, name: str, data: dict[str, Any], table: list[Any]) -> None:
        self.name = name
        self._data = data
        self._table = table
        self._methods: dict[str, ShippedMethod] = {}

    @property
    def scope(self) -> ShippedScope:
        return _SCOPE

    @cached_property
    def bases(self) -> tuple[Definition | None, ...]:
        nodes = _Nodes(self._table)
        return tuple(_SCOPE.definition(nodes.value(number)) for number in self._data.get("b", ()))

    @cached_property
    def attributes(self) -> Mapping[str, Value]:
        nodes = _Nodes(self._table)
        return {name: nodes.value(number) for name, number in self._data.get("a", {}).items()}

    @cached_property
    def fields(self) -> tuple[Parameter, ...] | None:
        return _parameters(self._data["f"], _Nodes(self._table)) if "f" in self._data else None

    @cached_property
    def conduct(self) -> Conduct:
        return Conduct(*(frozenset(names.split()) for names in self._data.get("c", ())))

    def has_method(self, name: str) -> bool:
        return name in self._data.get("m", ())

    def method(self, name: str) -> ShippedMethod | None:
        data = self._data.get("m", {}).get(name)
        if data is None:
            return None
        method = self._methods.get(name)
        if method is None:
            method = self._methods[name] = ShippedMethod(name, data, self._table)
        return method


#: How many re-exports and redirections a name may pass through.
_MAX_HOPS = 4
NO_FACTS: dict[str, Any] = {"release": "", "nodes": [], "classes": {}}


class Package:
    """The facts of one package: its newest release, and where older ones differ from it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._classes = _by_name(data["classes"])
        self._older = {release: _by_name(classes) for release, classes in data.get("older", {}).items()}
        self._aliases = {
            f"{package}.{target.rpartition('.')[2]}": target
            for package, targets in data.get("aliases", {}).items()
            for target in targets.split()
        }
        self._known: dict[tuple[str, str | None], ShippedFacts | None] = {}
        self._functions: dict[str, ShippedMethod] = {}

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases described, newest first."""
        return (self._data["release"], *self._older)

    def names(self) -> list[str]:
        """The canonical names of the classes in the newest release."""
        return list(self._classes)

    def canonical(self, name: str) -> str:
        """The name under which a class is described, through re-exports and redirected modules."""
        for _ in range(_MAX_HOPS):
            if name in self._classes:
                break
            found = self._aliases.get(name) or self._redirected_name(name)
            if found is None:
                break
            name = found
        return name

    def _redirected_name(self, name: str) -> str | None:
        redirects = self._data.get("redirects", {})
        prefix = name.rpartition(".")[0]
        while prefix:
            if prefix in redirects:
                moved = redirects[prefix] + name[len(prefix) :]
                return moved if moved in self._classes or moved in self._aliases else None
            prefix = prefix.rpartition(".")[0]
        return None

    def class_facts(self, name: str, release: str | None = None) -> ShippedFacts | None:
        key = (name, release)
        if key not in self._known:
            data = self._class_data(name, release)
            self._known[key] = None if data is None else ShippedFacts(name, data, self._data["nodes"])
        return self._known[key]

    def _class_data(self, name: str, release: str | None) -> dict[str, Any] | None:
        preferred = [self._older[release]] if release in self._older else []
        candidates = (*preferred, self._classes, *self._older.values())
        return next((classes[name] for classes in candidates if name in classes), None)

    def function_facts(self, name: str) -> ShippedMethod | None:
        data = self._data.get("functions", {}).get(name)
        if data is None:
            return None
        method = self._functions.get(name)
        if method is None:
            method = self._functions[name] = ShippedMethod(name, data, self._data["nodes"])
        return method


def _by_name(modules: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Classes by their full names."""
    return {f"{module}.{name}": data for module, classes in modules.items() for name, data in classes.items()}


def load(name: str) -> Package:
    """The facts about a package, from the file beside this one."""
    import json

    return Package(json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8")))
