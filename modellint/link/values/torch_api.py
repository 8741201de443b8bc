"""What several places ask the table of operators: what a call reaches, and what becomes of a tensor's elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators

if TYPE_CHECKING:
    from modellint.graph.value import Value
    from modellint.link.values.evaluator import Target
    from modellint.operators import Operator

#: Methods that keep, repeat, reorder or pick the elements of a tensor.
PASSED_BY_METHODS = operators.methods("Tensor", "passed")
#: What limits elements from above by the argument `max`.
CLAMPS = operators.words("limit:max@2", "limit:max@1")


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
