"""Kinds of values that parameters take and arguments have, and names that mean one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.value import Op, dotted

if TYPE_CHECKING:
    from modellint.graph.python import Function
    from modellint.graph.value import Parameter, Value
    from modellint.rule import Project

_TYPES = {
    "int": "number",
    "float": "number",
    "bool": "bool",
    "str": "text",
    "Tensor": "tensor",
    "LongTensor": "tensor",
    "FloatTensor": "tensor",
    "BoolTensor": "tensor",
    "Module": "layer",
}
_KINDS = {"tensor": "tensor", "number": "number", "text": "text", "layer": "layer"}
#: Words for the ends of a layer and of a model, which encoders and decoders exchange.
_ENDS = frozenset("in out inp input inputs output outputs hidden mid middle encoder decoder source target".split())


def plain(name: str) -> str:
    """A name without the underscores around it."""
    return name.strip("_")


def of_parameter(parameter: Parameter, function: Function | None, project: Project) -> str:
    """The kind of value that a parameter takes, by its type or else its default; empty if neither tells.

    `function` is the one that has it, None for one of torch.
    """
    if parameter.annotation is not None:
        return _of_type(parameter.annotation, function, project)
    if parameter.default is None or function is None:
        return "" if parameter.default is None else _of_constant(parameter.default)
    return of_value(queries.Operand(parameter.default, function.module.body, project))


def _of_type(annotation: Value, function: Function | None, project: Project) -> str:
    if annotation.op is Op.CONST and isinstance(annotation.data, str):
        return _TYPES.get(annotation.data.rpartition(".")[2], "")
    if annotation.op is Op.INDEX and _name(annotation.args[0], function, project) == "Optional":
        return _of_type(annotation.args[1], function, project)
    if annotation.op is Op.BIN and annotation.data == "|":
        types = (one for one in annotation.args if not (one.op is Op.CONST and one.data is None))
        found = {_of_type(one, function, project) for one in types}
        return found.pop() if len(found) == 1 else ""
    return _TYPES.get(_name(annotation, function, project), "")


def _name(annotation: Value, function: Function | None, project: Project) -> str:
    """The last name of a type, whatever it is called in the file."""
    definition = None if function is None else project.names.definition(function.module, annotation)
    name = definition.name if isinstance(definition, External) else dotted(annotation)
    return (name or "").rpartition(".")[2]


def _of_constant(value: Value) -> str:
    data = value.data if value.op is Op.CONST else None
    if isinstance(data, bool):
        return "bool"
    return "number" if isinstance(data, int | float) else "text" if isinstance(data, str) else ""


def of_value(operand: queries.Operand) -> str:
    """The kind of an argument, if it is of one kind on every path; that of a parameter by its type or default."""
    value = operand.value
    if value.op is Op.PARAM:
        parameter = operand.function.parameter(str(value.data))
        found = "" if parameter is None else of_parameter(parameter, operand.function, operand.project)
        if found:
            return found
        return "tensor" if operand.is_used_as_tensor else ""
    if value.op is Op.CONST:
        return _of_constant(value)
    found_kinds = {_KINDS.get(one.value, "") for one in operand.kinds()}
    return found_kinds.pop() if len(found_kinds) == 1 else ""


def are_ends(one: str, other: str) -> bool:
    """True for two names that differ only in the end that they speak of: `in_features`, `out_features`."""
    differing = set(one.split("_")) ^ set(other.split("_"))
    return bool(differing) and differing <= _ENDS


def are_one(one: str, other: str) -> bool:
    """True if a name is the initials of the other one: `ks` for `kernel_size`."""
    shorter, longer = sorted((one, other), key=len)
    return shorter == "".join(word[:1] for word in longer.split("_"))
