"""Which attributes may hold plain lists, tuples, sets and dicts of layers or parameters, by what is stored in them.

Constructing an object on paper costs far more than looking at what its methods store, and correct code keeps few layers
in plain containers. So this only says which attributes are worth it, and never that something is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes import calls
from modellint.link.classes.objects import ANY_ARGUMENTS, ClassObject, Outside, Trained
from modellint.link.names import DefinedFunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

_DISPLAYS = frozenset((Op.LIST, Op.TUPLE, Op.SET, Op.DICT, Op.COMPREHENSION))
_ALTERNATIVES = frozenset((Op.CHOICE, Op.BOOL, Op.BIN))
#: What makes a container, or a copy of one.
_CONTAINERS = frozenset("dict list tuple set OrderedDict defaultdict deque deepcopy copy".split())
_COPIES = frozenset("deepcopy copy clone".split())
_FILLS = frozenset("append extend insert update add setdefault appendleft".split())
#: How many functions that call each other are looked into.
_DEPTH = 4


class Suspects:
    """Answers for the classes of a project; what is known of functions is kept."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._makers: dict[Function, bool] = {}
        self._givers: dict[Function, bool] = {}

    def of(self, cls: Class) -> set[str]:
        """The attributes of a class that may hold a plain container of layers or parameters."""
        stored: dict[str, list[tuple[Value, Function]]] = {}
        containers: set[str] = set()
        grown: set[str] = set()
        for method in _builders(cls):
            for event in method.flow.events:
                name, values, is_part = _stored(event)
                if name is None:
                    continue
                stored.setdefault(name, []).extend((value, method) for value in values)
                if is_part:
                    grown.add(name)
                elif name not in containers and self._may_be_container(event.value, method, _DEPTH):
                    containers.add(name)
        containers |= self._inherited(cls, grown - containers)
        return {
            name
            for name in containers
            if any(_is_stray_tuple(value) or self._makes(value, method, _DEPTH) for value, method in stored[name])
        }

    def _inherited(self, cls: Class, names: set[str]) -> set[str]:
        """Those of some attributes in which a base keeps a container."""
        found: set[str] = set()
        for model in self._project.classes.model(cls).mro() if names else ():
            if model.cls is not None and model.cls is not cls:
                for method in _builders(model.cls):
                    for event in method.flow.of(EventKind.STORE):
                        name = None if event.target is None else self_attribute(event.target)
                        if name in names and name is not None and self._may_be_container(event.value, method, _DEPTH):
                            found.add(name)
        return found

    # -- containers ------------------------------------------------------------------------------------------------

    def _may_be_container(self, value: Value, function: Function, depth: int) -> bool:
        """Whether a value may be a plain container."""
        seen: set[int] = set()
        pending = [value]
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if value.op in _DISPLAYS and value.data != "generator":
                return True
            if value.op is Op.UPDATE:
                pending.append(value.args[0])
            elif value.op in _ALTERNATIVES:
                pending.extend(value.args)
            elif value.op is Op.UNPACK or (value.op is Op.INDEX and value.args[0].op is Op.CALL):
                pending.extend(self._parts(value, function, depth))
            elif value.op is Op.CALL and self._gives_container(value, function, depth):
                return True
        return False

    def _parts(self, value: Value, function: Function, depth: int) -> Iterator[Value]:
        """What a value may be that is taken out of what a function returns."""
        call = value.args[0]
        called = self._function(call.callee, function) if call.op is Op.CALL and depth else None
        for event in () if called is None else called.flow.of(EventKind.RETURN):
            if event.value.op is Op.TUPLE:
                yield from event.value.args

    def _gives_container(self, call: Value, function: Function, depth: int) -> bool:
        callee = call.callee
        if callee.op in (Op.GLOBAL, Op.ATTR) and callee.data in _CONTAINERS:
            return True
        called = self._function(callee, function)
        if called is None or not depth:
            return False
        if called not in self._givers:
            self._givers[called] = False  # a function that calls itself
            self._givers[called] = any(
                self._may_be_container(event.value, called, depth - 1) for event in called.flow.of(EventKind.RETURN)
            )
        return self._givers[called]

    # -- layers ----------------------------------------------------------------------------------------------------

    def _makes(self, value: Value, function: Function, depth: int) -> bool:
        """Whether layers or parameters may be made somewhere in a value."""
        return any(self._is_maker(part.callee, function, depth) for part in value.walk() if part.op is Op.CALL)

    def _is_maker(self, callee: Value, function: Function, depth: int) -> bool:
        """Whether calling something may make a layer or a parameter."""
        if callee.op in (Op.CHOICE, Op.BOOL):
            return depth > 0 and any(self._is_maker(arg, function, depth - 1) for arg in callee.args)
        if callee.op in (Op.GLOBAL, Op.ATTR) and callee.data in _COPIES:
            return True
        if callee.op is Op.PARAM and callee.data != "self":
            parameter = function.parameter(str(callee.data))
            default = None if parameter is None else parameter.default
            return default is None or self._is_maker(default, function, depth - 1) if depth else False
        called = self._function(callee, function)
        if called is not None:
            return bool(depth) and self._function_makes(called, depth - 1)
        made = self._project.classes.object_of(self._project.names.definition(function.module, callee))
        if isinstance(made, ClassObject):
            return made.model.is_module is not False or made.model.name in calls.TENSOR_CLASSES
        if isinstance(made, Outside):
            return isinstance(calls.external_result(made.name, ANY_ARGUMENTS), Trained)
        return callee.op in (Op.CALL, Op.INDEX, Op.ITEM, Op.UNPACK)

    def _function_makes(self, function: Function, depth: int) -> bool:
        if function not in self._makers:
            self._makers[function] = False
            self._makers[function] = any(
                self._makes(event.value, function, depth) for event in function.flow.of(EventKind.RETURN)
            )
        return self._makers[function]

    def _function(self, callee: Value, function: Function) -> Function | None:
        """The function or method of the project that is called."""
        name = self_attribute(callee)
        if name is not None and function.owner is not None:
            return self._project.classes.model(function.owner).method(name)
        found = self._project.names.definition(function.module, callee)
        return found.function if isinstance(found, DefinedFunction) else None


def _builders(cls: Class) -> Iterable[Function]:
    """The methods in which a class may fill its attributes."""
    found = dict.fromkeys(method for methods in cls.assigned.values() for method in methods)
    constructor = cls.methods.get("__init__")
    if constructor is not None:
        found[constructor] = None
        for event in constructor.flow.of(EventKind.CALL):
            called = cls.methods.get(self_attribute(event.value.callee) or "")
            if called is not None:
                found[called] = None
    return found


def _stored(event: Event) -> tuple[str | None, tuple[Value, ...], bool]:
    """The attribute that an event fills, with what, and whether it only puts that into what is there."""
    if event.kind is EventKind.STORE and event.target is not None:
        owner = event.target
        while owner.op in (Op.INDEX, Op.UPDATE):
            owner = owner.args[0]
        return self_attribute(owner), (event.value,), owner is not event.target
    if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR and event.value.callee.data in _FILLS:
        owner = event.value.callee.args[0]
        while owner.op in (Op.INDEX, Op.UPDATE):
            owner = owner.args[0]
        return self_attribute(owner), event.value.args[1:], True
    return None, (), False


def _is_stray_tuple(value: Value) -> bool:
    """Whether a value is a tuple of one call, as a comma behind it makes it."""
    return value.op is Op.TUPLE and len(value.args) == 1 and value.args[0].op is Op.CALL
