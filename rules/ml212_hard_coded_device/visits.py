"""Tensors that visit a CUDA device: functions compute something there, and what they compute comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedClass, DefinedConstant, DefinedFunction, External
from modellint.graph.value import EventKind, Op, walk_all

from .evidence import is_tensor

if TYPE_CHECKING:
    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.rule import Project

_HOST = operators.methods("Tensor", "host")
#: Events that keep a value beyond the function.
_KEEPING = (EventKind.RETURN, EventKind.YIELD, EventKind.STORE)
#: Operations whose result is no layer, whatever their operands.
_PLAIN = frozenset((Op.CONST, Op.BIN, Op.UNARY, Op.COMPARE, Op.STRING, Op.SLICE))
#: Operations through which a tensor cannot be followed.
_OPAQUE = frozenset((Op.LAMBDA, Op.UNKNOWN))
#: What an argument that is no layer may be.
_NO_LAYERS = frozenset((queries.Kind.TENSOR, queries.Kind.NUMBER, queries.Kind.TEXT, queries.Kind.NONE))


def comes_back(call: Value, function: Function, project: Project) -> bool:
    """True if a call puts a tensor on a device, no layer gets it, and all that is computed from it comes back."""
    is_method = call.callee.op is Op.ATTR and call.callee.data in ("cuda", "to")
    if not is_tensor(call.callee.args[0] if is_method else call, function, project):
        return False
    users: dict[int, list[Value]] = {}
    for part in walk_all(function.flow.values):
        for operand in part.args:
            users.setdefault(id(operand), []).append(part)
    kept = {id(event.value) for event in function.flow.events if event.kind in _KEEPING}
    pending, seen, has_returned = [call], {id(call)}, False
    while pending:
        value = pending.pop()
        if id(value) in kept:
            return False
        for user in users.get(id(value), ()):
            if user.op in _OPAQUE or (user.op is Op.CALL and not _computes(user, value, seen, function, project)):
                return False
            if user.op is Op.CALL and _is_return(user, value):
                has_returned = True
                continue
            # A function whose result nobody takes writes it into an argument.
            new = [user, *(user.args[1:] if user.op is Op.CALL and id(user) not in users else ())]
            pending += (one for one in new if id(one) not in seen and one.op is not Op.CONST)
            seen.update(map(id, new))
    return has_returned


def _is_return(call: Value, value: Value) -> bool:
    """True for a method, asked of a tensor, that gives its elements on the CPU: `x.tolist()`, `x.to("cpu")`."""
    if call.callee is not value:
        return False
    to = call.argument(0, "device") if value.data == "to" else None
    return value.data in _HOST or (to is not None and any(part.data == "cpu" for part in to.walk()))


def _computes(call: Value, value: Value, seen: set[int], function: Function, project: Project) -> bool:
    """True if a call that a tensor takes part in is of a tensor's method, or of a function that gets no layer."""
    callee = call.callee
    if callee is value:
        return value.op is Op.ATTR and value.data in queries.tensor_names()
    root = callee
    while root.op is Op.ATTR:
        root = root.args[0]
    found = [project.names.definition(function.module, one) for one in (callee, root)]
    if isinstance(found[0], External):
        if found[0].name.rpartition(".")[2][:1].isupper():
            return False
    elif not isinstance(found[0], DefinedFunction):
        # A function of a module that cannot be read, as one of C++ is.
        is_module = root.op is Op.GLOBAL and not isinstance(found[1], DefinedClass | DefinedConstant)
        if found[0] is not None or not is_module or callee is root:
            return False
    return all(id(given) in seen or _is_no_layer(given, function, project) for given in call.args[1:])


def _is_no_layer(given: Value, function: Function, project: Project) -> bool:
    if given.op in _PLAIN or is_tensor(given, function, project):
        return True
    is_plain = given.op is Op.PARAM and queries.is_plain_parameter(str(given.data), function, project)
    return is_plain or queries.Operand(given, function, project).kinds() <= _NO_LAYERS
