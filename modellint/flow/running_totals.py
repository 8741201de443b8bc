"""Running totals that count the elements of a tensor: `torch.cumsum(ids.ne(padding), dim=1)`.

Such a total is a position, from 1 up to the length of the tensor. What is summed up tells it from others: a mask of
elements that differ from one value, or one that the total is multiplied by. A slice tells how long the tensor may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import constant, size_of
from modellint.graph.arguments import possible_arguments
from modellint.graph.value import EventKind, Op, called_name, same, subscripts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Atoms
    from modellint.flow.interp import Interpreter
    from modellint.flow.operation import Operation
    from modellint.graph.python import Function
    from modellint.graph.size import Size
    from modellint.graph.value import Value

#: The operands of functions that pass a tensor on, by their facets.
_PASSING = frozenset(("casts", "passed"))
#: How many operations are traced back from a total.
_MAX_DEPTH = 16


def summand(total: Value) -> Value | None:
    """The tensor that a call of `cumsum` sums up."""
    return _operand(total) if total.op is Op.CALL else None


def counts_elements(total: Value) -> bool:
    """True if a total is of elements that differ from one value, which are nearly all."""
    summed = summand(total)
    return summed is not None and any(map(_tells_others, _passed_by(summed)))


def is_of_mask(total: Value, factor: Value) -> bool:
    """True if a factor is the mask that a total, perhaps passed on since, sums up."""
    while total.op is Op.BIN and total.data in ("+", "-"):
        total = total.args[0]
    for one in _passed_by(total):
        summed = summand(one) if one.op is Op.CALL and _has_facet(one, "sums-up") else None
        if summed is not None:
            return any(same(part, other) for part in _passed_by(summed) for other in _passed_by(factor))
    return False


def most_elements(operation: Operation, run: Interpreter) -> Size | None:
    """The length up to which a total counts, where a slice cuts the tensor to it; None if none does."""
    dim = operation.get((1, "dim"))
    known = None if dim is None else constant(dim)
    summed = summand(operation.value)
    if known is None or type(known.value) is not int or summed is None:
        return None
    value, frame, way = summed, operation.frame, [*run.calls.way]
    for _ in range(_MAX_DEPTH):
        if value.op is Op.INDEX:
            end = _end_along(value, known.value)
            found: Atoms = () if end is None else run.evaluate(end, frame)
            return size_of(found)
        if value.op is Op.PARAM:
            outer, call = way.pop() if way else (frame, value)
            function = frame.function
            if function is None or outer.function is None or call.op is not Op.CALL:
                return None
            given = [arg for name, arg in possible_arguments(function.open_parameters, call) if name == value.data]
            if len(given) != 1 or not _is_called_once(function, outer.function):
                return None
            value, frame = given[0], outer
            continue
        below = _operand_of_length(value)
        if below is None:
            return None
        value = below
    return None


def _is_called_once(function: Function, caller: Function) -> bool:
    """True if the file of a caller calls a function only once: other calls may pass longer tensors."""
    functions = (*caller.module.all_functions(), caller.module.body)
    calls = (event.value for one in functions if function.name in one.words for event in one.flow.of(EventKind.CALL))
    return sum(called_name(call.callee) == function.name for call in calls) == 1


def _end_along(value: Value, dim: int) -> Value | None:
    """The end of the slice along a dimension: `n` of `ids[:, :n]`, of one that begins at 0."""
    parts = subscripts(value)
    is_plain = all(part.op is Op.SLICE for part in parts)
    place = dim if dim >= 0 else len(parts) + dim if len(parts) == 2 else -1
    if not is_plain or not 0 <= place < len(parts):
        return None
    first, end, step = parts[place].args
    is_whole = all(part.op is Op.CONST and part.data is None for part in (first, step))
    return end if is_whole and not (end.op is Op.CONST and end.data is None) else None


def _operand(call: Value) -> Value | None:
    """The tensor that an operator is applied to, as a method or as a function of torch."""
    callee = call.callee
    if callee.op is Op.ATTR and operators.row(f"Tensor.{callee.data}") is not None and not _is_of_torch(callee.args[0]):
        return callee.args[0]
    return call.argument(0, "input")


def _is_of_torch(value: Value) -> bool:
    return value.op is Op.GLOBAL and value.data == "torch"


def _row(call: Value) -> operators.Operator | None:
    name = called_name(call.callee)
    return operators.row(f"Tensor.{name}") or operators.row(f"torch.{name}")


def _has_facet(call: Value, facet: str) -> bool:
    row = _row(call)
    return row is not None and facet in row.facets


def _passed_by(value: Value) -> Iterator[Value]:
    """A value, and those that it is but for its type: `mask.int()`, then `mask`."""
    for _ in range(_MAX_DEPTH):
        yield value
        row = _row(value) if value.op is Op.CALL else None
        inner = _operand(value) if row is not None and not _PASSING.isdisjoint(row.facets) else None
        if inner is None:
            return
        value = inner


def _tells_others(mask: Value) -> bool:
    """True for `ids != padding`, `ids.ne(padding)`, `~(ids == padding)`."""
    if mask.op is Op.UNARY and mask.data == "~":
        return any(_compares(part, "==") for part in _passed_by(mask.args[0]))
    return _compares(mask, "!=")


def _compares(mask: Value, operator: str) -> bool:
    if mask.op is Op.COMPARE:
        return bool(mask.data == operator)
    row = _row(mask) if mask.op is Op.CALL else None
    return row is not None and row.facets.get("like") == operator


def _operand_of_length(value: Value) -> Value | None:
    """The operand of which a value has the length: of a comparison, a cast, `~`, the other side of a number."""
    if value.op is Op.CALL:
        row = _row(value)
        return _operand(value) if row is not None and "same-shape" in row.facets else None
    return value.args[0] if value.op in (Op.COMPARE, Op.UNARY, Op.BIN) else None
