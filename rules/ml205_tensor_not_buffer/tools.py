"""Objects that functions, or objects that are no layers, feed the outputs of layers: losses, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedClass
from modellint.graph.value import EventKind, Op, is_argument, is_self, self_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_MOVES = operators.methods("Tensor", "moves")
_TYPES = operators.attributes("torch", "type")
_CALL = "__call__"
#: Operations that may stand between an object and the place where it is stored.
_BETWEEN = frozenset((Op.CHOICE, Op.BOOL, Op.UPDATE))
_MAX_DEPTH = 4


def feeding_methods(cls: Class, project: Project) -> frozenset[str]:
    """The methods by which functions in sight feed objects of a class outputs of layers, or tensors that were moved."""
    return project.once(("fed", cls), lambda: frozenset(_Uses(cls, project).all()))


class _Uses:
    """The uses of the objects that are made of one class."""

    def __init__(self, cls: Class, project: Project) -> None:
        self._cls = cls
        self._project = project

    def all(self) -> Iterator[str]:
        for module in queries.neighbours(self._cls.module, self._project, self._cls.name):
            for function in (*module.all_functions(), module.body):
                if self._cls.name in function.words and not self._is_of_layer(function):  # runs of layers tell
                    for made in self._constructions(function):
                        yield from self._of(made, function)
            for name, value in module.constants.items():
                if self._is_made(value, module):
                    yield from self._of_global(name, module)

    def _constructions(self, function: Function) -> list[Value]:
        calls = (event.value for event in function.flow.of(EventKind.CALL))
        return [call for call in calls if self._is_made(call, function.module)]

    def _is_made(self, value: Value, module: ModuleFacts) -> bool:
        if value.op is not Op.CALL or value.callee.op not in (Op.GLOBAL, Op.ATTR):
            return False
        return self._project.names.definition(module, value.callee) == DefinedClass(self._cls)

    def _of(self, made: Value, function: Function) -> Iterator[str]:
        """The methods by which a function feeds an object that it makes, or by which the object's keeper does."""
        for event in function.flow.events:
            value, target = event.value, event.target
            name = None if event.kind is not EventKind.STORE or target is None else self_attribute(target)
            if name is not None and function.owner is not None and any(part is made for part in value.walk()):
                yield from self._of_attribute(name, function.owner)
            elif event.kind is EventKind.CALL and value is not made:
                method = _method(value, lambda part: _is(part, made))
                if method is not None and self._gets_output(value, function):
                    yield method
                yield from self._of_argument(value, made, function)

    def _is_of_layer(self, function: Function) -> bool:
        return function.owner is not None and self._project.classes.model(function.owner).is_module is True

    def _of_global(self, name: str, module: ModuleFacts) -> Iterator[str]:
        for function in module.all_functions():
            for event in function.flow.of(EventKind.CALL) if name in function.words else ():
                method = _method(event.value, lambda part: part.op is Op.GLOBAL and part.data == name)
                if method is not None and self._gets_output(event.value, function):
                    yield method

    def _of_attribute(self, name: str, owner: Class) -> Iterator[str]:
        """The methods by which the methods of a class feed the object in an attribute."""
        for function in owner.methods.values():
            for event in function.flow.of(EventKind.CALL) if name in function.words else ():
                method = _method(event.value, lambda part: self_attribute(part) == name)
                if method is not None and self._gets_output(event.value, function):
                    yield method

    def _of_argument(self, call: Value, made: Value, function: Function) -> Iterator[str]:
        """The methods by which an object feeds the one that its constructor is given."""
        definition = self._project.names.definition(function.module, call.callee)
        constructor = definition.cls.methods.get("__init__") if isinstance(definition, DefinedClass) else None
        if constructor is None or not isinstance(definition, DefinedClass) or call.has_unpacking:
            return
        if self._is_of_layer(constructor):
            return
        for parameter, given in constructor.bind(call).items():
            for name, events in constructor.flow.stores.items() if _is(given, made) else ():
                if any(event.value.op is Op.PARAM and event.value.data == parameter for event in events):
                    yield from self._of_attribute(name, definition.cls)

    def _gets_output(self, call: Value, function: Function) -> bool:
        """True if an argument of a call is an output of a layer, or was moved."""
        return any(self._is_output(part, function) for arg in call.args[1:] for part in arg.walk())

    def _is_output(self, value: Value, function: Function) -> bool:
        if value.op is not Op.CALL:
            return False
        callee = value.callee
        if callee.op is Op.ATTR and callee.data in _MOVES:
            is_type = any(arg.op is Op.ATTR and arg.data in _TYPES for arg in value.args[1:])
            return callee.data == "cuda" or (bool(value.args[1:]) and not is_type)
        if is_self(callee):
            return self._is_of_layer(function)
        name = self_attribute(callee)
        if name is not None and function.owner is not None:
            stored = function.owner.stores(name)
            return any(event.value.op is Op.PARAM or self._holds_layer(event.value, where) for where, event in stored)
        return is_argument(callee) or self._holds_layer(callee, function)

    def _holds_layer(self, value: Value, function: Function) -> bool:
        """True if a value is a layer of the project that is made there, perhaps moved."""
        while value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in _MOVES:
            value = value.callee.args[0]
        if value.op is not Op.CALL or value.callee.op not in (Op.GLOBAL, Op.ATTR):
            return False
        model = self._project.classes.of(self._project.names.definition(function.module, value.callee))
        return model is not None and model.is_module is True


def _is(value: Value, made: Value, depth: int = 0) -> bool:
    """True if a value is `made`, or may be; the depth is limited, for a loop may lead back to itself."""
    if value is made:
        return True
    return depth < _MAX_DEPTH and value.op in _BETWEEN and any(_is(part, made, depth + 1) for part in value.args)


def _method(call: Value, is_it: Callable[[Value], bool]) -> str | None:
    """The method of an object that a call runs; None if it runs none of it."""
    if is_it(call.callee):
        return _CALL
    return str(call.callee.data) if call.callee.op is Op.ATTR and is_it(call.callee.args[0]) else None
