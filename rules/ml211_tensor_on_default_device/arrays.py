"""Inputs that are on the CPU: NumPy or another library takes them as they are, or a function asks for their arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow import queries
    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.rule import Project

_TO_HOST = operators.methods("Tensor", "host") | operators.methods("Tensor", "moves")
_NUMBERS = operators.attributes("Tensor", "gives") | operators.methods("Tensor", "gives")
#: Packages whose functions take tensors as tensors, or as numbers.
_TAKING = ("torch", "builtins", "math")


def is_for_cpu(met: queries.Encounter, project: Project) -> bool:
    """True if a tensor is made from what a library makes of the very input that it meets, or from an array of one."""
    functions = [one for one in (met.function, met.made.function) if one is not None]
    if any(_asks_for_array(one, project) for one in functions):
        return True
    function, maker = met.made.function, met.made.maker
    if function is None or function is not met.function or met.other is None or maker.op is not Op.CALL:
        return False
    taken = {name for given in maker.positional[:1] for name in _taken_parameters(given, function, project)}
    return not taken.isdisjoint(_inputs(met.other))


def _asks_for_array(function: Function, project: Project) -> bool:
    """True if a function, or one that it calls, asks for a tensor's array: that fails unless it is on the CPU."""
    if _takes_array(function):
        return True
    called = (project.names.definition(function.module, one.value.callee) for one in function.flow.of(EventKind.CALL))
    return any(isinstance(one, DefinedFunction) and _takes_array(one.function) for one in called)


def _takes_array(function: Function) -> bool:
    return "numpy" in function.words and any(
        call.callee.op is Op.ATTR
        and call.callee.data == "numpy"
        and not any(part.op is Op.ATTR and part.data in _TO_HOST for part in call.callee.args[0].walk())
        for call in (event.value for event in function.flow.of(EventKind.CALL))
    )


def _taken_parameters(value: Value, function: Function, project: Project) -> Iterator[str]:
    """The parameters whose tensors are passed to functions of other libraries, or index their objects."""
    for part in value.walk():
        if part.op is Op.CALL and _is_of_library(part.callee, function, project):
            yield from (name for given in part.args[1:] for name in _inputs(given))
        elif part.op is Op.INDEX and _is_of_library(part.args[0], function, project):
            yield from _inputs(part.args[1])


def _is_of_library(value: Value, function: Function, project: Project) -> bool:
    named = project.names.definition(function.module, value) if value.op in (Op.GLOBAL, Op.ATTR) else None
    return isinstance(named, External) and named.name.partition(".")[0] not in _TAKING


def _inputs(value: Value) -> Iterator[str]:
    """The parameters of which a value is, or has a part, as a tensor that was neither moved nor read as a number."""
    pending, seen = [value], set()
    while pending:
        part = pending.pop()
        asked = part.callee if part.op is Op.CALL else part
        is_read = asked.op is Op.ATTR and (asked.data in _NUMBERS or (asked is not part and asked.data in _TO_HOST))
        if id(part) in seen or is_read:
            continue
        seen.add(id(part))
        if part.op is Op.PARAM and part.data != "self":
            yield str(part.data)
        pending += part.args
