"""What is asked of several places about what PyTorch's functions and layers do to the elements of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from modellint.graph.value import Value

#: Attributes of a tensor that hold its elements, and methods that keep, repeat, reorder or pick them.
PASSED_BY_ATTRIBUTES = operators.attributes("Tensor", "passed")
PASSED_BY_METHODS = operators.methods("Tensor", "passed")
#: Layers that keep the width of the last dimension and are no projections.
SAME_WIDTH_LAYERS = operators.functions("same-shape")
_FLOAT_TYPES = operators.attributes("torch", "type:float")
_INTEGER_TYPES = operators.attributes("torch", "type:integer")
#: What `torch.nn` has that is no layer, or computes nothing by itself.
_NO_NUMBERS = operators.functions("holds", "trained", "kept", "passed")


def is_continuous_layer(name: str) -> bool:
    """Whether a `torch.nn` layer gives real numbers: all but containers and those that pass elements on."""
    package, _, short = name.rpartition(".")
    return package == "torch.nn" and name not in _NO_NUMBERS and short[:1].isupper()


def is_float_dtype(value: Value | None) -> bool:
    """Whether an argument names a floating point type (`torch.float32`)."""
    return value is not None and _names(value, _FLOAT_TYPES)


def is_integer_dtype(value: Value | None) -> bool:
    """Whether an argument names an integer type (`torch.long`)."""
    return value is not None and _names(value, _INTEGER_TYPES)


def _names(value: Value, types: AbstractSet[str]) -> bool:
    is_torch = value.op.value == "attr" and value.args[0].data == "torch"
    return is_torch and value.data in types
