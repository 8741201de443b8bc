"""Tensors that may be of a subclass, which has methods of its own: another library's, torch's, or a project's.

The result of an operator is of the class of its operands. A call of another library may return any class; so may
arguments, attributes and unknown layers be of any, where a file mentions such classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedConstant, DefinedFunction, External
from modellint.graph.python import sides
from modellint.graph.value import EventKind, Op, dotted, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Modules of torch that have subclasses of its tensors.
_SUBCLASSES = ("torch.distributed", "torch.nested", "torch.masked", "torch.ao", "torch._subclasses", "torch.sparse")
_TENSORS = frozenset(("torch.Tensor", "torch._tensor.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"))
#: The method by which any class takes over functions of torch.
_TAKES_OVER = "__torch_function__"
_MADE = ("fresh", "sized", "counted")
_MAX_PARTS = 200
#: How many calls of the project's functions are followed into each other.
_MAX_DEPTH = 3


def may_be_subclass(value: Value, name: str, function: Function, project: Project, depth: int = _MAX_DEPTH) -> bool:
    """True if a tensor may be of a subclass with a method `name`, judged by the values that it comes from."""
    pending, seen = [value], set[int]()
    for part in pending:
        is_open = part.op is Op.PARAM or (
            part.op is Op.CALL and project.names.definition(function.module, part.callee) is None
        )
        if is_open and _is_method_of_subclass(name, function.module, project):
            return True
        for own in _callees(part, function, project):
            returned = (event.value for event in own.flow.of(EventKind.RETURN))
            if depth == 0 or any(may_be_subclass(one, name, own, project, depth - 1) for one in returned):
                return True
        if id(part) in seen:
            continue
        seen.add(id(part))
        operands = _operands(part, function, project)
        if operands is None or len(seen) > _MAX_PARTS:
            return True
        pending.extend(operands)
    return False


def _callees(value: Value, function: Function, project: Project) -> tuple[Function, ...]:
    """The function of the project that a value is a call of."""
    definition = project.names.definition(function.module, value.callee) if value.op is Op.CALL else None
    return (definition.function,) if isinstance(definition, DefinedFunction) else ()


def _operands(value: Value, function: Function, project: Project) -> tuple[Value, ...] | None:
    """The operands from which a value inherits its class; None where it may be of any other class."""
    op = value.op
    if op is Op.CONST or queries.Operand(value, function, project).is_number:
        return ()
    if op in (Op.BIN, Op.UNARY, Op.CHOICE, Op.LIST, Op.TUPLE):
        return value.args
    if op in (Op.INDEX, Op.UPDATE, Op.STARRED):
        return value.args[:1]
    if op is Op.ATTR:
        return value.args[1:] or (value.args if _is_tensor(value.args[0], function, project) else _of_unknown(function))
    if op is Op.COMPREHENSION:
        return value.args if value.data != "dict" else None
    if op is Op.PARAM:
        return None if value.data == "self" or _is_of_other_class(str(value.data), function, project) else ()
    if op is Op.GLOBAL:
        definition = project.names.definition(function.module, value)
        return (definition.value,) if isinstance(definition, DefinedConstant) else None
    return _of_call(value, function, project) if op is Op.CALL else _of_unknown(function)


def _is_tensor(value: Value, function: Function, project: Project) -> bool:
    return queries.Operand(value, function, project).is_tensor


def _of_unknown(function: Function) -> tuple[Value, ...] | None:
    """Empty, for an unknown tensor; None, for any class, if its file mentions subclasses."""
    return None if _speaks_of_subclasses(function.module) else ()


def _of_call(call: Value, function: Function, project: Project) -> tuple[Value, ...] | None:
    definition = project.names.definition(function.module, call.callee)
    if definition is None and call.callee.op is Op.ATTR and _is_tensor(call.callee.args[0], function, project):
        row = operators.row(f"Tensor.{call.callee.data}")
        others = call.args[1:] if row is not None and "together" in row.facets else ()
        return None if row is None else (call.callee.args[0], *others)
    if definition is None:
        return call.positional[:1] if _is_tensor(call, function, project) else _of_unknown(function)
    if isinstance(definition, DefinedFunction):
        return call.positional
    row = operators.row(definition.name) if isinstance(definition, External) else None
    if row is None or not row.name.startswith("torch."):
        return None
    if any(facet in row.facets for facet in _MADE):
        return ()
    return call.args[1:] if "together" in row.facets else call.args[1:2]


def _is_of_other_class(name: str, function: Function, project: Project) -> bool:
    """True if an argument may be of a subclass: its annotation is another class, or its file mentions subclasses."""
    module, parameter = function.module, function.parameter(name)
    annotation = None if parameter is None else parameter.annotation
    for side in () if annotation is None else sides(annotation):
        if side.op in (Op.GLOBAL, Op.ATTR):
            definition = project.names.definition(module, side)
            if not isinstance(definition, External) or definition.name not in _TENSORS:
                return True
        elif side.op is Op.CONST and str(side.data).rpartition(".")[2] != "Tensor":
            return True
    return _speaks_of_subclasses(module)


def _speaks_of_subclasses(module: ModuleFacts) -> bool:
    named = (*module.imports.values(), *(name for one in module.all_functions() for name in _dotted_names(one)))
    return any(name.startswith(_SUBCLASSES) for name in named)


def _dotted_names(function: Function) -> Iterator[str]:
    """The dotted names in a function that may be of modules with subclasses."""
    words = {name.partition(".")[2] for name in _SUBCLASSES}
    for value in walk_all(function.flow.values) if not words.isdisjoint(function.words) else ():
        if value.op is Op.ATTR:
            yield dotted(value) or ""


def _is_method_of_subclass(name: str, module: ModuleFacts, project: Project) -> bool:
    """True if a class of the project that stands for tensors has a method `name`, its own or that of a mixin."""
    return any(
        _derives(derived, project) or project.classes.model(derived).method(_TAKES_OVER) is not None
        for defining in dict.fromkeys((module, *queries.files_mentioning(module, project, f"def {name}")))
        for one in defining.classes.values()
        if name in one.methods
        for derived in (one, *queries.subclasses(one, project))
    )


def _derives(cls: Class, project: Project) -> bool:
    bases = (base for model in project.classes.model(cls).mro() for base in model.facts.bases)
    return any(
        isinstance(base, External) and (base.name in _TENSORS or base.name.startswith(_SUBCLASSES)) for base in bases
    )
