"""The form in which facts are shipped, and how they are read.

One JSON file per package. Values of all classes share one table of nodes, in which equal nodes stand once; a node
refers to others by number. A class or method is decoded when it is first asked for.

    nodes      "$name" a parameter, "self" the object, ".name" an attribute of it, "@name" a global by its canonical
               name, "!" something plain, "?" unknown, or a list: an operation's code and its operands
               ("n" is a call whose arguments do not matter)
    classes    by canonical name: b bases, m methods, a class-level values, f dataclass fields,
               c conduct (used, moved, moved parameters, carried)
    methods    [parameters, receiver?, events]; a parameter is its name, or [name, kind + 4 if it is plain, default];
               an event is [kind, value, target or -1, guard or -1], shorter for an unconditional call ([value]) or
               assignment ([value, target]); a guard is a node of its test, its outcome and the guard around it
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.graph.python import Parameter
from modellint.graph.value import Event, EventKind, Flow, Guard, Op, Value
from modellint.link.methods import Conduct
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.link.names import Definition

KINDS = ("positional", "var-positional", "keyword", "var-keyword")
PLAIN_FLAG = 4
EVENTS = {"c": EventKind.CALL, "s": EventKind.STORE, "r": EventKind.RETURN, "x": EventKind.RAISE}
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
        self._guards: dict[int, Guard] = {}

    def value(self, number: int) -> Value:
        known = self._values.get(number)
        if known is None:
            known = self._values[number] = _value(Op.UNKNOWN, (), None)
            node = self._table[number]
            if isinstance(node, str):
                self._decode_name(known, node)
            else:
                self._decode(known, node)
        return known

    def guard(self, number: int) -> Guard:
        known = self._guards.get(number)
        if known is None:
            _, truthy, (test, *outer) = self._table[number]
            known = Guard(self.value(test), bool(truthy), self.guard(outer[0]) if outer else None)
            self._guards[number] = known
        return known

    def _decode_name(self, value: Value, node: str) -> None:
        mark, name = node[0], node[1:]
        if node == "self":
            value.op, value.data = Op.PARAM, "self"
        elif mark == "$":
            value.op, value.data = Op.PARAM, name
        elif mark == ".":
            value.op, value.data = Op.ATTR, name
            value.args = (_value(Op.PARAM, (), "self"),)
        elif mark == "@":
            value.op, value.data = Op.GLOBAL, name
        elif mark == "!":
            value.op = Op.STRING

    def _decode(self, value: Value, node: list[Any]) -> None:
        code = node[0]
        if code == "?":
            return  # a test of its own, which nothing decides
        if code == "n":
            value.op, value.data = Op.CALL, (None,)
            value.args = (self.value(node[2][0]), _value(Op.UNKNOWN, (), None))
        elif code == "c":
            value.op, value.data = Op.CONST, node[1]
        elif code == "k":
            value.op, value.data = Op.CALL, tuple(None if name == "*" else name for name in node[1].split())
            value.args = self._all(node[2])
        elif code == "d":
            value.op = Op.DICT
            value.data = tuple(None if key < 0 else self.value(key) for key in node[1])
            value.args = self._all(node[2])
        elif code == "?:":
            value.op, value.args = Op.CHOICE, self._all(node[2])
            value.data = None if node[1] < 0 else self.value(node[1])
        else:
            value.op, value.data, value.args = CODES[code], node[1], self._all(node[2])

    def _all(self, numbers: list[int]) -> tuple[Value, ...]:
        return tuple(self.value(number) for number in numbers)


def _value(op: Op, args: tuple[Value, ...], data: Any) -> Value:
    return Value(op, args, data, None)


class ShippedMethod:
    """A method or function as shipped."""

    def __init__(self, name: str, data: list[Any], table: list[Any]) -> None:
        self.name = name
        self._data = data
        self._nodes = _Nodes(table)

    @property
    def scope(self) -> ShippedScope:
        return _SCOPE

    @property
    def has_receiver(self) -> bool:
        return bool(self._data[1])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return _parameters(self._data[0], self._nodes)

    @cached_property
    def plain(self) -> frozenset[str]:
        return frozenset(row[0] for row in self._data[0] if isinstance(row, list) and row[1] & PLAIN_FLAG)

    @cached_property
    def flow(self) -> Flow:
        return Flow(tuple(self._event(row) for row in self._data[2]))

    def _event(self, row: list[Any]) -> Event:
        if len(row) < 3:
            row = ["c", *row, -1] if len(row) == 1 else ["s", *row]
        kind, value, target, *guard = row
        return Event(
            EVENTS[kind],
            self._nodes.value(value),
            None if target < 0 else self._nodes.value(target),
            self._nodes.guard(guard[0]) if guard else None,
        )


def _parameters(rows: list[Any], nodes: _Nodes) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    for row in rows:
        name, kind, *default = (row, 0) if isinstance(row, str) else row
        found.append(Parameter(name, KINDS[kind & 3], nodes.value(default[0]) if default else None, None))
    return tuple(found)


class ShippedFacts:
    """A class as shipped."""

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


NO_FACTS: dict[str, Any] = {"release": "", "nodes": [], "classes": {}}


class Package:
    """The facts of one package: its newest release, and where older ones differ from it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._known: dict[tuple[str, str | None], ShippedFacts | None] = {}
        self._functions: dict[str, ShippedMethod] = {}

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases described, newest first."""
        return (self._data["release"], *self._data.get("older", {}))

    def canonical(self, name: str) -> str:
        """The name under which a class is described, through re-exports and redirected modules."""
        if name in self._data["classes"]:
            return name
        aliases = self._data.get("aliases", {})
        for _ in range(4):
            found = aliases.get(name) or self._redirected(name)
            if found is None:
                break
            name = found
        return name

    def _redirected(self, name: str) -> str | None:
        redirects = self._data.get("redirects", {})
        prefix = name.rpartition(".")[0]
        while prefix:
            if prefix in redirects:
                moved = redirects[prefix] + name[len(prefix) :]
                return moved if moved in self._data["classes"] or moved in self._data.get("aliases", {}) else None
            prefix = prefix.rpartition(".")[0]
        return None

    def names(self) -> list[str]:
        """The canonical names of the classes in the newest release."""
        return list(self._data["classes"])

    def class_facts(self, name: str, release: str | None = None) -> ShippedFacts | None:
        key = (name, release)
        if key not in self._known:
            data = self._class_data(name, release)
            self._known[key] = None if data is None else ShippedFacts(name, data, self._data["nodes"])
        return self._known[key]

    def _class_data(self, name: str, release: str | None) -> dict[str, Any] | None:
        newest: dict[str, Any] | None = self._data["classes"].get(name)
        older: dict[str, dict[str, Any]] = self._data.get("older", {})
        if release in older and name in older[release]:
            return older[release][name]
        if newest is not None:
            return newest
        return next((classes[name] for classes in older.values() if name in classes), None)

    def function_facts(self, name: str) -> ShippedMethod | None:
        data = self._data.get("functions", {}).get(name)
        if data is None:
            return None
        method = self._functions.get(name)
        if method is None:
            method = self._functions[name] = ShippedMethod(name, data, self._data["nodes"])
        return method


def load(name: str) -> Package:
    """The facts about a package, from the file beside this one."""
    return Package(json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8")))
