"""Layers that are used, or kept on purpose, in other ways than by a method that reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph import mentions
from modellint.graph.definitions import DefinedClass
from modellint.graph.python import INITIAL
from modellint.graph.value import EventKind, Op, dotted, walk_all

from .filled import is_only_filled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.rule import Project


def is_used_at_first(name: str, relatives: Iterable[Class], project: Project) -> bool:
    """True if a method that is named like an initialiser computes something with a layer.

    It returns a result, or is called by others than constructors and initialisers: it makes the first state of each
    call, say.
    """
    initial = [
        method
        for one in relatives
        for method in one.methods.values()
        if method.name != "__init__" and INITIAL.fullmatch(method.name)
    ]
    reading = [one for one in initial if name in one.words and not is_only_filled(one, name, project)]
    if not reading:
        return False
    if any(name in _read_in(event.value) for one in reading for event in one.flow.of(EventKind.RETURN)):
        return True
    called = {word for one in relatives for word in queries.mentions(one, project).read}
    pending = initial
    while pending:
        reached = [one for one in pending if one.name in called]
        if any(one in reading for one in reached):
            return True
        if not reached:
            return False
        called.update(str(event.value.data) for one in reached for event in one.flow.reads)
        pending = [one for one in pending if one not in reached]
    return False


def _read_in(value: Value) -> set[str]:
    return {str(part.data) for part in value.walk() if part.op is Op.ATTR}


def is_behind_unwritten(name: str, relatives: Iterable[Class]) -> bool:
    """True if code that reads a layer exists, but stands behind `raise NotImplementedError`."""
    return any(
        name in mentions.attributes(method.text)
        and all(event.value.data != name for event in method.flow.reads)
        and any(_is_unwritten(event.value) for event in method.flow.of(EventKind.RAISE))
        for one in relatives
        for method in one.methods.values()
        if name in method.words and method.name != "__init__"
    )


def _is_unwritten(value: Value) -> bool:
    plain = value.callee if value.op is Op.CALL else value
    return (dotted(plain) or "").rpartition(".")[2] == "NotImplementedError"


def is_filled_from_file(cls: Class, project: Project) -> bool:
    """True if all parameters of an object are loaded from elsewhere: by its class, or by code that makes it."""
    relatives = queries.family(cls, project).classes
    classes = {cls, *queries.subclasses(cls, project)}
    names = {one.name for one in classes}
    others = (one for name in names for one in queries.files_mentioning(cls.module, project, name, "load_state_dict"))
    modules = dict.fromkeys((cls.module, *others))
    owners = [
        one
        for module in modules
        for one in module.classes.values()
        if any(_makes(method, classes, project) for method in one.methods.values())
    ]
    methods = (method for one in dict.fromkeys((*relatives, *owners)) for method in one.methods.values())
    if any(_loads(call) and _is_self(call.callee.args[0]) for method in methods for call in _loading(method)):
        return True
    classes.update(owners)
    return any(
        _loads(call) and _gives(function, call.callee.args[0])
        for module in modules
        for function in module.functions.values()
        for call in _loading(function)
        if _makes(function, classes, project)
    )


def _makes(function: Function, classes: set[Class], project: Project) -> bool:
    """True if a function names one of the classes, and not another class of that name."""
    names = {one.name for one in classes}
    if names.isdisjoint(function.words):
        return False
    found = (
        project.names.definition(function.module, value)
        for value in walk_all(function.flow.values)
        if value.op in (Op.GLOBAL, Op.ATTR) and value.data in names
    )
    return any(isinstance(one, DefinedClass) and one.cls in classes for one in found)


def _loading(function: Function) -> Iterator[Value]:
    """The calls of `load_state_dict` in a function."""
    if "load_state_dict" in function.words:
        for event in function.flow.of(EventKind.CALL):
            if event.value.callee.op is Op.ATTR and event.value.callee.data == "load_state_dict":
                yield event.value


def _loads(call: Value) -> bool:
    """True if a call of `load_state_dict` requires all parameters, and its state is from elsewhere."""
    strict, state = call.argument(1, "strict"), call.argument(0, "state_dict")
    if state is None or (strict is not None and strict.op is Op.CONST and not strict.data):
        return False
    return not any(part.op is Op.CALL and part.callee.data == "state_dict" for part in state.walk())


def _is_self(value: Value) -> bool:
    return value.op is Op.PARAM and value.data == "self"


def _gives(function: Function, value: Value) -> bool:
    """True if a function returns an object, and so makes it rather than trains it."""
    return any(part is value for event in function.flow.of(EventKind.RETURN) for part in event.value.walk())
