"""What several places ask the table of operators: what a call reaches, and what becomes of a tensor's elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from modellint.graph.value import Value
    from modellint.link.values.evaluator import Target
    from modellint.operators import Operator

#: Attributes of a tensor that hold its elements, and methods that keep, repeat, reorder or pick them.
PASSED_BY_ATTRIBUTES = operators.attributes("Tensor", "passed")
PASSED_BY_METHODS = operators.methods("Tensor", "passed")
#: Methods that give the same elements in the same order.
KEEPING_ORDER = operators.methods("Tensor", "passed same-shape", "sizes", "squeezes", "unsqueezes", "flattens")
#: What limits elements from above by the argument `max`.
CLAMPS = operators.words("limit:max@2", "limit:max@1")
#: Layers that keep the width of the last dimension and are no projections.
SAME_WIDTH_LAYERS = operators.functions("same-shape")
_FLOAT_TYPES = operators.attributes("torch", "type:float")


def operator_of(target: Target) -> Operator | None:
    """The row of the function, or of the method of a tensor, that a call reaches."""
    if target.name is None:
        return None if target.method is None else operators.row(f"Tensor.{target.method}")
    # `torch.Tensor.clamp` is the method.
    name = target.name if "." in target.name else f"builtins.{target.name}"
    return operators.row(name) or operators.row(name.removeprefix("torch."))


def argument_of(call: Value, argument: tuple[int, str] | None, target: Target) -> Value | None:
    """The argument that a row tells of, where positions count from the tensor."""
    return None if argument is None else call.argument(argument[0] - (target.method is not None), argument[1])


def sizes_of(name: str, call: Value) -> tuple[Value, ...] | None:
    """The sizes that a function is given which makes a tensor of them; None for any other, and for one of data."""
    row = operators.row(name)
    if row is None or "sized" not in row.facets or name.startswith("Tensor."):
        return None
    given = call.positional[:1] if row.facets["sized"] == "tuple" else call.positional
    is_sequence = len(given) == 1 and given[0].op in (Op.LIST, Op.TUPLE)
    if is_sequence and "passed" in row.facets:
        return None  # `torch.Tensor([1, 2])` holds these numbers
    sizes = given[0].args if is_sequence else given
    return None if any(size.op is Op.STARRED for size in sizes) else sizes


def is_float_dtype(value: Value | None) -> bool:
    """Whether an argument names a floating point type (`torch.float32`)."""
    return value is not None and _names(value, _FLOAT_TYPES)


def _names(value: Value, types: AbstractSet[str]) -> bool:
    is_torch = value.op.value == "attr" and value.args[0].data == "torch"
    return is_torch and value.data in types
