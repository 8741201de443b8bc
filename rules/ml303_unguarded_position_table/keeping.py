"""Over-approximates which classes may build a table of a fixed length, by the calls in constructors.

This is asked before an object is made. It says yes too often, and never no where the object has such a table.
"""

from __future__ import annotations

from functools import partial
from types import NoneType
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.python import Function
from modellint.graph.value import EventKind, Op, Value, called_name, same, self_attribute, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Event
    from modellint.rule import Project

#: Operators that make large numbers of small ones.
_POWERS = frozenset(("**", "<<", "*"))
ORDERS = frozenset(("<", "<=", ">", ">="))
#: Names of operators that make tables: layers, and tensors of given sizes.
_MAKING = operators.words("table", "sized", "counted", "spaced")
#: Functions that only ask for the class of an object.
_TESTS = frozenset(("isinstance", "issubclass"))
#: Functions that store their arguments, besides the methods that add to a container or register.
_KEEPING = frozenset(("setattr", "__setattr__"))
_GIVING = frozenset((EventKind.RETURN, EventKind.YIELD))


#: The origin of a number that a class fixes, or that cannot be followed. Other origins are attributes of the object,
#: which begin with a point, and parameters.
_FIXED = "="
Origins = frozenset[str]


@dataclass(frozen=True, eq=False)
class _ValueFlow:
    """The origins of the values that a method stores, by attribute, and of the arguments of its calls, by callee."""

    stored: dict[str, Origins]
    passed: dict[str, Origins]


class FixedTableGate:
    """Over-approximates which classes build a table of a fixed length."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._by_name = queries.Form(dict, (str,), (Function, NoneType))

    def may_hold_fixed_table(self, cls: Class) -> bool:
        """True if objects of a layer may hold a table of a fixed length: code makes a table, and states a length."""
        above = queries.flow(cls.module, self._project).mro(cls)
        methods = [method for owner in above for method in owner.methods.values()]
        if not methods or self._project.classes.model(cls).is_module is not True:
            return False
        building = constructing(methods, self._project)
        if all(self._functions(method.module).keys().isdisjoint(method.words) for method in building):
            return False
        if compares_rows(methods, building, self._project):
            return True
        sizes = {method: self._sizes(method) for method in building}
        if not any(sizes.values()) or not self._states_any_length(building, above):
            return False
        flows = {method: self._value_flow(method) for method in building}
        return any(_is_fixed(origins, method, flows, above) for method, origins in sizes.items())

    def _states_any_length(self, building: list[Function], above: Sequence[Class]) -> bool:
        """True if the classes, the methods that build their objects, or functions that make tables state a length."""
        if any(_is_length(value, cls.module) for cls in above for value in walk_all(cls.attributes.values())):
            return True
        helpers = (self._functions(method.module).get(name) for method in building for name in method.words)
        functions = (*building, *filter(None, helpers))
        return any(self._states_length(function) or _builds(function) for function in functions)

    def _states_length(self, function: Function) -> bool:
        return self._project.once(("says length", function), lambda: _states_length(function))

    def _functions(self, module: ModuleFacts) -> dict[str, Function | None]:
        """The names by which a file calls makers of tables; those that are functions of the project, with these."""
        return self._project.once(("makes tables", module), lambda: self._functions_of(module), kept=self._by_name)

    def _functions_of(self, module: ModuleFacts) -> dict[str, Function | None]:
        found: dict[str, Function | None] = dict.fromkeys(_MAKING)
        words = frozenset[str]().union(
            *(method.words for cls in module.classes.values() for method in cls.methods.values())
        )
        for name in module.imports.keys() & words:
            if str(module.imports[name]).rpartition(".")[2] in _MAKING:
                found[name] = None
            else:
                definition = self._project.names.resolve(module, name)
                if isinstance(definition, DefinedFunction) and not _MAKING.isdisjoint(definition.function.words):
                    found[name] = definition.function
        for function in module.functions.values():
            if not found.keys().isdisjoint(function.words):
                found[function.name] = function
        return found

    def _value_flow(self, method: Function) -> _ValueFlow:
        return self._project.once(("hands on", method), lambda: self._value_flow_of(method))

    def _value_flow_of(self, method: Function) -> _ValueFlow:
        kept: dict[str, Origins] = {}
        given: dict[str, Origins] = {}
        for event in method.flow.events:
            name = None if event.target is None else self_attribute(event.target)
            if name is not None:
                kept[name] = kept.get(name, frozenset()) | self._origins((event.value,), method)
            if event.kind is EventKind.CALL:
                name = called_name(event.value.callee)
                given[name] = given.get(name, frozenset()) | self._origins(event.value.args[1:], method)
        return _ValueFlow(kept, given)

    def _sizes(self, method: Function) -> Origins:
        """The origins of the sizes of the tables that a method may keep; of a maker that is handed on, a fixed one."""
        making = self._functions(method.module)
        if making.keys().isdisjoint(method.words):
            return frozenset()
        return self._project.once(("sizes of tables", method), lambda: self._sizes_of(method, making))

    def _sizes_of(self, method: Function, making: dict[str, Function | None]) -> Origins:
        found: set[str] = set()
        pending, seen = [part for event in method.flow.events for part in _keepable(event)], set[int]()
        if any(_names_maker(value, making) for value in pending):
            found.add(_FIXED)
        while pending and _FIXED not in found:
            value = pending.pop()
            if (
                id(value) in seen
                or value.op is Op.COMPARE
                or (value.op is Op.CALL and called_name(value.callee) in _TESTS)
            ):
                continue
            seen.add(id(value))
            pending += value.args
            if value.op is Op.CALL and _names_maker(value.callee, making):
                helper = making[called_name(value.callee)]
                found |= self._origins(value.args[1:], method)
                found.update((_FIXED,) if helper is not None and self._states_length(helper) else ())
            others = value.args[1:] if value.op is Op.CALL else value.args
            if any(_names_maker(arg, making) or _is_quoted(arg, value, making) for arg in others):
                found.add(_FIXED)
        return frozenset(found)

    def _origins(self, values: Iterable[Value], method: Function) -> Origins:
        """The origins of values in a method, as far as lengths go."""
        found: set[str] = set()
        pending, seen = list(values), set[int]()
        while pending and _FIXED not in found:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            name = self_attribute(value)
            if name is not None:
                found.add(f".{name}")
            elif value.op is Op.PARAM:
                found.add(str(value.data) if method.parameter(str(value.data)) is not None else _FIXED)
            elif _is_length(value, method.module) or self._is_other(value, method):
                found.add(_FIXED)
            else:
                pending += value.args
        return frozenset((_FIXED,) if _FIXED in found else found - {"self"})

    def _is_other(self, value: Value, method: Function) -> bool:
        """True if a value comes from elsewhere: a constant of another file, a nested function, a method's result."""
        if value.op is Op.GLOBAL:
            found = self._project.names.resolve(method.module, str(value.data))
            return found is not None and not isinstance(found, External)
        return value.op is Op.LAMBDA or (value.op is Op.CALL and self_attribute(value.callee) is not None)


def _is_fixed(origins: Origins, method: Function, flows: dict[Function, _ValueFlow], above: Sequence[Class]) -> bool:
    """True if one of the origins, in a method, may be a number that the class fixes.

    An argument that the constructor's caller chooses is not, nor anything that is found in one.
    """
    first = next(iter(flows))
    pending = [(origin, method) for origin in origins]
    seen: set[tuple[str, Function]] = set()
    while pending:
        origin, within = one = pending.pop()
        if origin == _FIXED:
            return True
        if one in seen:
            continue
        seen.add(one)
        if origin.startswith("."):
            name = origin[1:]
            found = [(flow.stored[name], by) for by, flow in flows.items() if name in flow.stored]
            attributes = [cls.attributes[name] for cls in above if name in cls.attributes]
            if (not found and not attributes) or any(_is_length(part, within.module) for part in walk_all(attributes)):
                return True
        else:
            parameter = within.parameter(origin)
            default = None if parameter is None else parameter.default
            found = [(flow.passed[within.name], by) for by, flow in flows.items() if within.name in flow.passed]
            if not found and within is not first:
                return True
            if default is not None and any(_is_length(part, within.module) for part in walk_all((default,))):
                return True
        pending += ((other, by) for others, by in found for other in others)
    return False


def _mentioned_names(method: Function) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes and quoted names in a method, and those that occur only in a `hasattr`."""
    parts = list(walk_all(method.flow.values))
    asked = [part.args[-1] for part in parts if part.op is Op.CALL and _asks(part.callee) and len(part.args) == 3]
    seen = set(map(id, asked))
    return _names_in(part for part in parts if id(part) not in seen), _names_in(asked)


def _asks(callee: Value) -> bool:
    return callee.op is Op.GLOBAL and callee.data == "hasattr"


def _names_in(values: Iterable[Value]) -> frozenset[str]:
    return frozenset(p.data for p in values if p.op in (Op.ATTR, Op.CONST) and isinstance(p.data, str))


def _keepable(event: Event) -> tuple[Value, ...]:
    """The values that an event may keep: of a store, a return, or a call that stores its arguments in the object."""
    value = event.value
    if event.kind in _GIVING or event.target is not None:
        return (value,)
    if event.kind is not EventKind.CALL:
        return ()
    is_told = any(_is_receiver(part) for part in (*value.args[1:], *_owners(value.callee)))
    return value.args if is_told or _keeps(called_name(value.callee)) else ()


def _keeps(name: str) -> bool:
    return name in _KEEPING or name in queries.ADDERS or name in queries.REGISTRARS


def _owners(callee: Value) -> Iterator[Value]:
    """The values that the attributes, subscripts and calls of a callee start from, the nearest first."""
    while callee.args:
        callee = callee.args[0]
        yield callee


def _is_receiver(value: Value) -> bool:
    is_self = value.op is Op.PARAM and value.data == "self"
    return is_self or (value.op is Op.GLOBAL and value.data == "super")


def _names_maker(value: Value, making: dict[str, Function | None]) -> bool:
    """True if a value is the name of a maker of tables."""
    return value.op in (Op.GLOBAL, Op.ATTR) and called_name(value) in making


def _is_quoted(value: Value, by: Value, making: dict[str, Function | None]) -> bool:
    """True if a value is a string that names a maker of tables, and `by` looks that name up."""
    is_name = value.op is Op.CONST and isinstance(value.data, str) and value.data in making
    return is_name and (by.op is Op.INDEX or (by.op is Op.CALL and "getattr" in called_name(by.callee)))


def constructing(methods: list[Function], project: Project) -> list[Function]:
    """The methods that run when an object is built: the constructors, and methods that these mention, transitively.

    A `hasattr` runs methods that are decorated, as properties are, but no others.
    """
    by_name: dict[str, list[Function]] = {}
    for method in methods:
        by_name.setdefault(method.name, []).append(method)
    at = {method: number for number, method in enumerate(methods)}
    found = by_name.pop("__init__", [])
    for builder in found:
        names, asked = project.once(("speaks of", builder), partial(_mentioned_names, builder))
        more = {method for name in by_name.keys() & names for method in by_name.pop(name)}
        more |= {method for name in by_name.keys() & asked for method in by_name[name] if method.signature.decorators}
        found += sorted(more.difference(found), key=at.__getitem__)
    return found


def compares_rows(methods: list[Function], building: list[Function], project: Project) -> bool:
    """True if a method compares something with an attribute that holds an argument of a call: perhaps a table's length.

    Methods that run when an object is built, `building`, are left out. A comparison with a small number is no length.
    """
    running = set(methods).difference(building)
    names = {name for method in running for name in project.once(("compares", method), partial(_compared_in, method))}
    if not names:
        return False
    events = [event for builder in building for event in builder.flow.events]
    kept = [e.value for e in events if e.target is not None and self_attribute(e.target) in names]
    given = list(walk_all(arg for e in events if e.kind is EventKind.CALL for arg in e.value.args[1:]))
    return any(same(value, arg) for value in kept if value.op is not Op.CALL for arg in given)


def _compared_in(method: Function) -> frozenset[str]:
    """The attributes of the object that a method compares with something that may be a length."""
    text = method.text.replace("->", "")
    tests = [event.value for event in method.flow.of(EventKind.COMPARE)] if "<" in text or ">" in text else []
    ordered = (test for test in tests if test.data in ORDERS and not any(map(_is_few, test.args)))
    return frozenset(name for test in ordered for arg in test.args if (name := self_attribute(arg)) is not None)


def _states_length(function: Function) -> bool:
    """True if a function may state the length of a table: by a number, a default or the name of a constant."""
    defaults = [parameter.default for parameter in function.parameters if parameter.default is not None]
    values = walk_all((*defaults, *(event.value for event in function.flow.events)))
    return any(_is_length(value, function.module) for value in values)


def _is_length(value: Value, module: ModuleFacts) -> bool:
    stated = module.constants.get(str(value.data)) if value.op is Op.GLOBAL else None
    if stated is not None:
        return stated.op in (Op.BIN, Op.CALL, Op.GLOBAL) or _is_length(stated, module)
    if value.op is Op.BIN:
        return value.data in _POWERS and all(arg.op is Op.CONST for arg in value.args)
    return value.op is Op.CONST and type(value.data) is int and value.data >= queries.FEW


def _is_few(value: Value) -> bool:
    return value.op is Op.CONST and (type(value.data) is str or (type(value.data) is int and value.data < queries.FEW))


def _builds(method: Function) -> bool:
    """True if a constructor calls another method of its object with arguments."""
    if method.name != "__init__":
        return False
    calls = (event.value for event in method.flow.of(EventKind.CALL))
    return any(self_attribute(call.callee) is not None and call.args[1:] for call in calls)
