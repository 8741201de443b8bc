"""Tensors that a layer makes on the device that its constructor kept, which is not where the layer is after a move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedFunction
from modellint.graph.value import EventKind, Op, is_self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.rule import Project

_MOVES = operators.methods("Module", "moves") | operators.methods("Module", "host")
_PARTS = frozenset((Op.ATTR, Op.INDEX, Op.CALL, Op.ITEM, Op.UNPACK))
#: Methods by which a layer hears that it is moved.
_HEARING = ("_apply", "to", "cuda", "cpu", "__setattr__", "__getattribute__")


def is_left(made: queries.Fresh, model: queries.ClassModel, project: Project) -> bool:
    """True if the device that a layer kept is not known to follow it, nor to be where all its objects stay."""
    kept, cls = made.at, model.cls
    if kept is None or cls is None:
        return kept is None
    if any(map(model.has_own_adder, _HEARING)) or _is_set_outside(kept.name, cls, project):
        return False
    owners = [one.cls for one in model.mro() if one.cls is not None]
    methods = [method for owner in owners for method in owner.methods.values()]
    if any(_places(function, kept) for method in methods for function in (method, *_helpers(method, kept, project))):
        return False
    constructor = model.method("__init__")
    maker = None if constructor is None else constructor.owner
    return kept.parameter is None or (maker is not None and not _is_passed(kept.parameter, maker, project))


def _helpers(method: Function, kept: queries.KeptDevice, project: Project) -> Iterator[Function]:
    """The functions that a method calls and which mention the kept device."""
    for event in method.flow.of(EventKind.CALL):
        definition = project.names.definition(method.module, event.value.callee)
        if isinstance(definition, DefinedFunction) and kept.name in definition.function.words:
            yield definition.function


def is_passed_by_nobody(kept: queries.KeptDevice, model: queries.ClassModel, project: Project) -> bool:
    """True if the device is always the same, or there are callers in sight, none of which passes another one."""
    if kept.parameter is None:
        return True
    return model.cls is not None and bool(queries.flow(model.cls.module, project).constructed_anywhere(model))


def _is_passed(parameter: str, cls: Class, project: Project) -> bool:
    """True if a caller in sight passes an argument for a parameter, or a subclass may do so."""
    if any(True for _ in queries.flow(cls.module, project).given_values(cls, parameter)):
        return True
    constructors = (one.methods.get("__init__") for one in queries.subclasses(cls, project))
    return any(one is not None and parameter in one.words for one in constructors)


def _places(method: Function, kept: queries.KeptDevice) -> bool:
    """True if a function moves the layer, or puts a part of it or its input on the device that it keeps."""
    for event in method.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is not Op.ATTR or call.callee.data not in _MOVES:
            continue
        owner, named = call.callee.args[0], call.argument(0, "device")
        is_kept = named is not None and (
            (named.op is Op.ATTR and named.data == kept.name) or (named.op is Op.PARAM and named.data == kept.parameter)
        )
        if is_self(owner) or (is_kept and (method.name == "__init__" or _is_given(owner))):
            return True
    return False


def _is_given(value: Value) -> bool:
    """True if a value is an argument or attribute, a part of one, or what a method of one gives."""
    while not is_self(value) and value.args and value.op in _PARTS:
        value = value.args[0]
    return value.op is Op.PARAM or value.op is Op.INNER


def _is_set_outside(name: str, cls: Class, project: Project) -> bool:
    """True if a function in sight sets the attribute of another object than its own."""
    return any(
        event.target is not None
        and event.target.op is Op.ATTR
        and event.target.data == name
        and not is_self(event.target.args[0])
        for module in queries.neighbours(cls.module, project, name)
        for function in (module.body, *module.all_functions())
        if name in function.words
        for event in function.flow.of(EventKind.STORE)
    )
