"""Functions that set attributes of other objects by names that they compute, and the objects that they are passed."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.arguments import bind_call
from modellint.graph.value import EventKind, Op, is_self, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Functions and attributes that set attributes by any name, and attributes that hold an object's attributes.
_ALTERING = frozenset(("setattr", "vars", "exec", "__dict__", "__class__"))
_HOLDING = ("__dict__", "__class__")
#: Methods of a dictionary that put something into it.
_FILLING = ("update", "setdefault", "__setitem__")


def is_filled_by_others(cls: Class, project: Project) -> bool:
    """True if a file that names a class, or a subclass, may set attributes of its objects by computed names.

    It does so itself, or by a function that it passes them to. Where it makes such objects, an unknown one may be it.
    """
    return project.once(
        ("filled by others", cls.module.path, cls.qualname, cls.line), lambda: _is_filled_by_others(cls, project)
    )


def _is_filled_by_others(cls: Class, project: Project) -> bool:
    family = {cls, *queries.subclasses(cls, project)}
    above = (model.cls for model in project.classes.model(cls).mro() if model.cls is not None)
    for method in (method for one in above for method in one.methods.values()):
        calls = [queries.Call(event, method, project) for event in method.flow.of(EventKind.CALL)]
        if any(is_self(value) for call in calls for value in _filled_by(call)):
            return True
    named = (queries.files_mentioning(cls.module, project, one.name) for one in family)
    for module in dict.fromkeys((cls.module, *chain.from_iterable(named))):
        for function in (*module.all_functions(), module.body):
            calls = [queries.Call(event, function, project) for event in function.flow.of(EventKind.CALL)]
            filled = [value for call in calls for value in _filled_by(call)]
            if filled and any(_may_be_of(value, family, calls) for value in filled):
                return True
    return False


def _may_be_of(value: Value, family: set[Class], calls: list[queries.Call]) -> bool:
    """True if a value is an object of a class, or an unknown one in a function whose `calls` make such objects."""
    found = {_made_class(leaf) for leaf in queries.Operand(value, calls[0].function, calls[0].project).origins()}
    is_made = None in found and any(_made_class(call.result) in family for call in calls)
    return is_made or not found.isdisjoint(family)


def _made_class(operand: queries.Operand) -> Class | None:
    made = operand.made_class()
    return None if made is None else made.cls


def _filled_by(call: queries.Call) -> Iterator[Value]:
    """The objects whose attributes a call may set by computed names: its own, or what it passes to a function."""
    if _alters(call.value, call.function):
        yield _owner(call.value)
        return
    target = call.target
    if target is None or target.function is None or not sets_by_computed_name(target.function):
        return
    bound = bind_call(target.parameters, call.value).certain
    filled = _filled_parameters(target.function)
    if filled is None or not filled <= bound.keys():
        yield from call.value.args[1:]
    else:
        yield from (bound[name] for name in filled)


def _filled_parameters(function: Function) -> set[str] | None:
    """The parameters whose attributes a function sets by computed names; None if it sets those of other objects."""
    calls = [value for value in walk_all(function.flow.evaluated()) if value.op is Op.CALL and _alters(value, function)]
    owners = [_owner(call) for call in calls]
    is_known = bool(owners) and all(owner.op is Op.PARAM for owner in owners)
    return {str(owner.data) for owner in owners} if is_known else None


def _owner(call: Value) -> Value:
    """The object whose attributes a call sets: `x` of `setattr(x, …)`, `vars(x)` and `x.__dict__.update(…)`."""
    return call.callee.args[0].args[0] if call.callee.op is Op.ATTR else call.positional[0]


def sets_by_computed_name(function: Function) -> bool:
    """True if a function sets attributes of other objects than `self` by names that it computes, or their class."""
    if _ALTERING.isdisjoint(function.words):
        return False
    for event in function.flow.events:
        target = event.target
        if target is not None and any(part.op is Op.ATTR and part.data in _HOLDING for part in target.walk()):
            return True
    return any(_alters(value, function) for value in walk_all(function.flow.evaluated()) if value.op is Op.CALL)


def _alters(call: Value, function: Function) -> bool:
    """True if a call sets attributes by computed names of an object other than the receiver of a method."""
    callee, given = call.callee, call.positional
    if callee.op is Op.ATTR:
        owner = callee.args[0]
        is_held = owner.op is Op.ATTR and owner.data == "__dict__" and not _is_receiver(owner.args[0], function)
        return is_held and callee.data in _FILLING
    is_named = callee.op is Op.GLOBAL and callee.data in _ALTERING
    if not is_named or not given or _is_receiver(given[0], function):
        return False
    return callee.data != "setattr" or len(given) < 2 or given[1].op is not Op.CONST


def _is_receiver(value: Value, function: Function) -> bool:
    return function.owner is not None and is_self(value)
