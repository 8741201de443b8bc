"""Containers whose parts come with names: each name that a `ModuleDict` is given is an attribute of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import DefinedClass, External
from modellint.graph.value import EventKind, Op, is_super

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: How many loops and branches are gone back through that put something into an object.
_MAX_DEPTH = 4


def takes_any_names(cls: Class, project: Project) -> bool:
    """True if objects of a class are containers of torch whose parts may have names that the class does not write."""
    model = project.classes.model(cls)
    named = operators.functions("named")
    if not any(current.name in named for current in model.mro()):
        return False
    owners = [current.cls for current in model.mro() if current.cls is not None]
    if not any("__init__" in owner.methods for owner in owners):
        return True
    return any(
        _gives_any_names(event, function, project)
        for owner in owners
        for function in owner.methods.values()
        for event in function.flow.events
    )


def _gives_any_names(event: Event, function: Function, project: Project) -> bool:
    """True if an event gives its own object parts whose names are not written there."""
    if event.kind is EventKind.STORE:
        target = event.target
        is_item = target is not None and target.op is Op.INDEX and _is_self(target.args[0])
        return is_item and target is not None and target.args[1].op is not Op.CONST
    if event.kind is not EventKind.CALL or event.value.callee.op is not Op.ATTR:
        return False
    call, (owner, *_) = event.value, event.value.callee.args
    given = list(call.positional)
    if call.callee.data == "__init__":
        if given and _is_self(given[0]):
            del given[0]
        elif not is_super(owner):
            return False
    elif call.callee.data != "update" or not (is_super(owner) or _is_self(owner)):
        return False
    if None in call.data:
        return True
    parts = [*given, *call.keywords.values()]
    return len(parts) == 1 and not _is_written(parts[0], function, project)


def _is_written(given: Value, function: Function, project: Project) -> bool:
    """True if the argument of a container writes out the names of all parts, or is a layer."""
    if given.op is Op.STARRED:
        return given.args[0].op is not Op.PARAM
    if given.op is Op.DICT:
        return all(key is not None and key.op is Op.CONST for key in given.data)
    if given.op in (Op.LIST, Op.TUPLE):
        return all(part.op is Op.TUPLE and part.args and part.args[0].op is Op.CONST for part in given.args)
    if given.op is not Op.CALL:
        return False
    definition = project.names.definition(function.module, given.callee)
    if isinstance(definition, External) and not definition.name.startswith("torch."):
        return len(given.args) == 2 and not given.keywords and _is_written(given.args[1], function, project)
    return isinstance(definition, DefinedClass | External)


def _is_self(value: Value, depth: int = 0) -> bool:
    """True if a value is `self`, perhaps with items stored in it before."""
    if value.op is Op.UPDATE or (value.op is Op.CHOICE and depth < _MAX_DEPTH):
        earlier = value.args[:1] if value.op is Op.UPDATE else value.args
        return any(_is_self(one, depth + 1) for one in earlier)
    return value.op is Op.PARAM and value.data == "self"
