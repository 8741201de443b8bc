"""The texts of a finding, by what does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from modellint.flow.queries import RefusedOperation


class Wording(NamedTuple):
    """The texts of a finding, with `{name}`, and the types `{left}` and `{right}`."""

    message: str
    help: str


_REAL = "convert the tensor to real numbers: `.float()`"
_KINDS = {
    "dtype": Wording("{name} takes real numbers, but gets a tensor of {left}", _REAL),
    "dtype-weights": Wording("{name} has weights of {right}, but gets a tensor of {left}", _REAL),
    "dtype-same": Wording(
        "{name} takes tensors of one type, but gets {left} and {right}",
        "convert one of the tensors: `.to(other.dtype)`",
    ),
    "dtype-mask": Wording("{name} takes a mask of {right}, but gets one of {left}", "pass a comparison, or `.bool()`"),
    "dtype-condition": Wording(
        "{name} takes a condition of {right}, but gets one of {left}",
        "pass a comparison, or `.bool()`",
    ),
    "dtype-index": Wording("{name} takes ids of {right}, but gets a tensor of {left}", "convert the ids: `.long()`"),
    "dtype-subscript": Wording(
        "a tensor of {left} is no subscript: ids are of {right}, masks of `torch.bool`",
        "convert the ids (`.long()`), or compare the tensor to make a mask of it",
    ),
    "dtype-targets": Wording(
        "{name} takes ids of classes of {right}, but gets a target of {left}",
        "convert the target (`.long()`), or give it a probability for each class, in the shape of the scores",
    ),
    "dtype-real-target": Wording("{name} takes a target of {right}, but gets one of {left}", _REAL),
    "dtype-no-flags": Wording("{name} subtracts a target of `torch.bool`, which PyTorch refuses", _REAL),
    "dtype-bits": Wording(
        "a tensor of {left} has no bits for {name}",
        "compare the tensor (`x > 0`) or convert it (`.bool()`) before",
    ),
    "dtype-bool": Wording(
        "{name} takes no tensor of {left}",
        "`~mask` inverts a mask; `mask.long()` or `mask.float()` makes numbers of it",
    ),
    "dtype-cast": Wording(
        "a tensor of {left} is changed in place, and cannot hold the result of {right}",
        "make the tensor of {right} first, or assign the result: `x = x + y`",
    ),
    "dtype-put": Wording(
        "elements of {right} are assigned to a tensor of {left} by ids or a mask",
        "convert the elements: `x[ids] = y.to(x.dtype)`",
    ),
    "dtype-gradient": Wording(
        "a tensor of {left} can have no gradient",
        "make it of real numbers, or a buffer (`register_buffer`); `nn.Parameter` takes `requires_grad=False`",
    ),
}
_OTHER = Wording("{name} does not take {left} and {right} together", "convert one of the tensors")
#: The types as PyTorch's errors call them.
_WORDS = {
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "int8": "Char",
    "uint8": "Byte",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bool": "Bool",
}
_WHOLE = frozenset(("int8", "uint8", "int16", "int32", "int64", "integer", "bool"))


def wording(refused: RefusedOperation) -> Wording:
    """The texts of the finding about an operation."""
    kind = _KINDS.get(refused.kind, _OTHER)
    parts = {"name": _name_of(refused), "left": in_words(refused.left), "right": in_words(refused.right)}
    if refused.kind == "dtype-weights" and refused.left not in _WHOLE:
        kind = Wording(kind.message, "convert the tensor or the layer: both need one type")
    return Wording(kind.message.format(**parts), kind.help.format(**parts))


def evidence(refused: RefusedOperation) -> str:
    """How PyTorch calls the types."""
    known = [f"`{_WORDS[one]}`" for one in dict.fromkeys((refused.left, refused.right)) if one in _WORDS]
    error = "PyTorch raises an error" + (" in the call that leads here" if refused.steps else "")
    return f"{error}, which speaks of {' and '.join(known)}" if known else error


def in_words(kind: str) -> str:
    """`torch.int64`, or what a kind of types is."""
    kinds = {"float": "real numbers", "integer": "whole numbers", "number": "numbers", "None": "real numbers"}
    return kinds.get(kind) or f"`torch.{kind}`"


def _name_of(refused: RefusedOperation) -> str:
    """The name of what takes the operands: a function or layer, or the sign of an operator."""
    from modellint.graph.value import Op

    value = refused.site.value
    if value.op in (Op.BIN, Op.UNARY):
        return f"`{value.data}`"
    return f"`{refused.name}`"
