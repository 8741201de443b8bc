"""Running totals that count the elements of a tensor: `torch.cumsum(ids.ne(padding), dim=1)`.

Such a total is a position, from 1 up to the length of the tensor. What is summed up tells it from others: a mask of
elements that differ from one value, or one that the total is multiplied by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Op, same
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.names import Names

    #: The file that code stands in, and the names of its project.
    Within = tuple[ModuleFacts, Names]

#: The operands of functions that pass a tensor on, by their facets.
_PASSING = frozenset(("casts", "passed"))
#: How many operations are traced back from a total.
_MAX_DEPTH = 16


def counts_elements(total: Value, within: Within) -> bool:
    """True if a total is of elements that differ from one value, which are nearly all."""
    summed = _operand(total, within)
    return summed is not None and any(_tells_others(part, within) for part in _passed_by(summed, within))


def is_of_mask(within: Within, total: Value, factor: Value) -> bool:
    """True if a factor is the mask that a total, perhaps passed on since, sums up."""
    while total.op is Op.BIN and total.data in ("+", "-"):
        total = total.args[0]
    for one in _passed_by(total, within):
        row = _row(one, within)
        summed = _operand(one, within) if row is not None and "sums-up" in row.facets else None
        if summed is not None:
            factors = [*_passed_by(factor, within)]
            return any(same(part, other) for part in _passed_by(summed, within) for other in factors)
    return False


def _row(call: Value, within: Within) -> operators.Operator | None:
    """The row of the operator that a value calls, as a method or as an imported function; None for other values."""
    if call.op is not Op.CALL:
        return None
    module, names = within
    found = names.definition(module, call.callee)
    if isinstance(found, External):
        return operators.row(found.name)
    return operators.row(f"Tensor.{call.callee.data}") if call.callee.op is Op.ATTR else None


def _operand(call: Value, within: Within) -> Value | None:
    """The tensor that an operator is applied to, as a method or as a function; None for other values."""
    row = _row(call, within)
    if row is None:
        return None
    return call.callee.args[0] if row.name.startswith("Tensor.") else call.argument(0, "input")


def _passed_by(value: Value, within: Within) -> Iterator[Value]:
    """A value, and those that it is but for its type: `mask.int()`, then `mask`."""
    found: Value | None = value
    for _ in range(_MAX_DEPTH):
        if found is None:
            return
        yield found
        row = _row(found, within)
        found = _operand(found, within) if row is not None and not _PASSING.isdisjoint(row.facets) else None


def _tells_others(mask: Value, within: Within) -> bool:
    """True for `ids != padding`, `ids.ne(padding)`, `~(ids == padding)`."""
    if mask.op is Op.UNARY and mask.data == "~":
        return any(_compares(part, "==", within) for part in _passed_by(mask.args[0], within))
    return _compares(mask, "!=", within)


def _compares(mask: Value, operator: str, within: Within) -> bool:
    if mask.op is Op.COMPARE:
        return bool(mask.data == operator)
    row = _row(mask, within)
    return row is not None and row.facets.get("like") == operator
