"""Evidence that a value is a tensor: how it is made, declared and passed, and how a function uses it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph import declared
from modellint.graph.value import Op, same, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.rule import Project

_OF_TENSORS = operators.methods("Tensor") | operators.attributes("Tensor")
#: Methods of tensors that return no tensor.
_TELLING = operators.methods("Tensor", "gives")
#: Operators that numbers and tensors have, but neither containers nor settings.
_ARITHMETIC = frozenset("-*@/") | {"**", "//"}
#: Operations that pick an element.
_PICKING = (Op.INDEX, Op.ITEM, Op.UNPACK)


@functools.cache
def _methods() -> frozenset[str]:
    """Methods that tensors have, but neither layers nor containers nor texts."""
    others = frozenset(name for kind in (list, tuple, dict, set, str) for name in dir(kind))
    return queries.tensor_names() - operators.attributes("Tensor") - others - (_of_layers() - {"requires_grad_"})


def _of_layers() -> frozenset[str]:
    return queries.layer_members("torch.nn.Module") or frozenset()


def is_tensor(value: Value, function: Function, project: Project) -> bool:
    """True if a value is a tensor by where it comes from, by what declares it, or by its uses in the function."""
    return _is_made(value, function, project) or _is_used(value, function, project)


def reads(value: Value, function: Function) -> set[str]:
    """The names of the attributes and methods that a function asks a value for, `device` left out."""
    return {str(part.data) for part in _asked(value, function)}


def _asked(value: Value, function: Function) -> Iterator[Value]:
    for part in walk_all(function.flow.values):
        if part.op is Op.ATTR and part.data != "device" and same(part.args[0], value):
            yield part


def _is_made(value: Value, function: Function, project: Project) -> bool:
    """True if the source of a value, or its declaration, is a tensor's."""
    if _is_computed(value):
        return True
    if value.op is Op.INDEX:
        owner, subscript = value.args[:2]
        is_row = not isinstance(subscript.data, str) and is_tensor(owner, function, project)
        return subscript.op is Op.TUPLE or is_row
    if value.op is Op.PARAM:
        parameter = function.parameter(str(value.data))
        if parameter is not None and (declared.is_tensor(parameter) or declared.documented(parameter, function)):
            return True
    if value.op is Op.CALL:
        callee = value.callee
        definition = project.names.definition(function.module, callee)
        name = str(getattr(definition, "name", ""))
        if name.startswith("torch.") and name.endswith("Tensor"):
            return True
        if definition is None and callee.op is Op.ATTR:
            if callee.data in _methods():
                return callee.data not in _TELLING
            if callee.data in _of_layers() and callee.data in _OF_TENSORS:
                return is_tensor(callee.args[0], function, project)
    kinds = queries.Operand(value, function, project).kinds()
    return queries.Kind.TENSOR in kinds and kinds <= {queries.Kind.TENSOR, queries.Kind.NONE}


def _is_used(value: Value, function: Function, project: Project) -> bool:
    """True if a function works with a value as only a tensor stands it."""
    parts = list(walk_all(function.flow.values))
    if any(_works_with(value, part) for part in parts) or _is_asked_as_tensor(value, function):
        return True
    named = [queries.Operand(part, function, project) for part in parts if part.op is value.op and same(part, value)]
    known = {id(one.value) for one in named}
    return any(id(operand.value) in known and use.user.op is not Op.ATTR for operand, use in queries.tensor_uses(named))


def _works_with(value: Value, part: Value) -> bool:
    """True for arithmetic with a value, a subscript of several dimensions, and a tensor's method on an element."""
    if part.op is Op.INDEX:
        return part.args[1].op is Op.TUPLE and (same(part.args[0], value) or _is_element(part.args[0], value))
    if part.op is Op.CALL and part.callee.op is Op.ATTR:
        return part.callee.data in _methods() and _is_element(part.callee.args[0], value)
    return _is_computed(part) and any(same(operand, value) for operand in part.args)


def _is_computed(value: Value) -> bool:
    """True for the result of arithmetic that numbers and tensors have."""
    if value.op is Op.BIN:
        return value.data in _ARITHMETIC
    return value.op is Op.UNARY and value.data in ("-", "~")


def _is_element(part: Value, value: Value) -> bool:
    """True if a part is an element of a value, or of its elements, that no text names."""
    while part.op in _PICKING:
        if part.op is Op.INDEX and isinstance(part.args[1].data, str):
            return False
        part = part.args[0]
        if same(part, value):
            return True
    return False


def _is_asked_as_tensor(value: Value, function: Function) -> bool:
    """True if a function calls a method of tensors on a value, and asks it for nothing that tensors lack."""
    called = {id(part.callee) for part in walk_all(function.flow.values) if part.op is Op.CALL}
    asked = list(_asked(value, function))
    return any(id(part) in called and part.data in _methods() for part in asked) and all(
        part.data in (queries.tensor_names() if id(part) in called else _OF_TENSORS) for part in asked
    )
