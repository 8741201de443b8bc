"""The texts of a finding, by the kind of misfit."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from modellint.flow.queries import RefusedOperation


class Wording(NamedTuple):
    """The texts of a finding."""

    message: str
    evidence: str
    help: str


class _Kind(NamedTuple):
    """Texts with `{name}`, `{left}`, `{right}` and, in the evidence, the sizes `{one}` and `{other}` that differ."""

    message: str
    evidence: str
    help: str


_EVERY = ""
_KINDS = {
    "broadcast": _Kind(
        "shapes `{left}` and `{right}` do not broadcast",
        "sizes are compared from the last one on: {one} and {other} differ, and neither is 1",
        "give both the same sizes, or a size of 1 (`unsqueeze`, `keepdim=True`) to the one that is repeated",
    ),
    "matmul": _Kind(
        "a tensor of shape `{left}` cannot be multiplied by one of shape `{right}`",
        "the last size of the first, {one}, has to equal the last but one of the second, {other}",
        "multiply `[..., n, k]` by `[..., k, m]`: transpose one of them, or make it of another size",
    ),
    "cat": _Kind(
        "tensors of shapes `{left}` and `{right}` cannot be concatenated",
        "{one} and {other} differ: only the dimension along which tensors are joined may",
        "make all other dimensions agree: pad, crop or resize one of the tensors, or join them along another dimension",
    ),
    "stack": _Kind(
        "tensors of shapes `{left}` and `{right}` cannot be stacked",
        "{one} and {other} differ: `stack` takes tensors of one shape",
        "make the shapes agree, or use `torch.cat`",
    ),
    "view": _Kind(
        "a tensor of shape `{left}` has no view of shape `{right}`: the number of elements differs",
        _EVERY,
        "let the sizes multiply to the number of elements that there are",
    ),
    "negative": _Kind(
        "{name} takes no size below 0, but gets `{left}`",
        _EVERY,
        "give a size for each dimension: only views take -1 for what is left",
    ),
    "dim": _Kind(
        "there is no dimension {left} in a tensor of shape `{right}`",
        _EVERY,
        "name one of the dimensions that are there",
    ),
    "rank": _Kind(
        "{name} takes a tensor of {right} dimensions, but gets one of shape `{left}`",
        _EVERY,
        "pass a tensor of as many dimensions",
    ),
    "ranks": _Kind(
        "{name} does not take tensors of shapes `{left}` and `{right}` together",
        _EVERY,
        "pass tensors of as many dimensions",
    ),
    "permute": _Kind(
        "{name} puts {count} dimensions in order, but the tensor has shape `{left}`",
        _EVERY,
        "name each dimension of the tensor once",
    ),
    "unpack": _Kind(
        "there are {right} names for the sizes of a tensor of shape `{left}`",
        "Python raises `ValueError`: it unpacks as many sizes as there are dimensions",
        "unpack as many names as there are dimensions",
    ),
    "subscripts": _Kind(
        "a tensor of shape `{left}` takes no {right} subscripts",
        _EVERY,
        "use as many subscripts as there are dimensions, at most",
    ),
    "number": _Kind(
        "a tensor of a single number has no elements to index",
        "the tensor has no dimensions",
        "use `.item()`, which gives the number",
    ),
    "expand": _Kind(
        "a tensor of shape `{left}` cannot be expanded to `{right}`",
        _EVERY,
        "expand dimensions of size 1 only (`unsqueeze` adds one), or use `repeat`",
    ),
    "repeat": _Kind(
        "{name} repeats fewer dimensions than a tensor of shape `{left}` has",
        _EVERY,
        "pass a number for each dimension",
    ),
    "split": _Kind(
        "a tensor of shape `{left}` cannot be split into sizes `{right}`",
        _EVERY,
        "let the sizes add up to that of the dimension",
    ),
    "half": _Kind(
        "a tensor of shape `{left}` cannot be halved: the dimension is odd",
        _EVERY,
        "make the dimension even",
    ),
    "einsum": _Kind(
        "an operand of shape `{left}` does not fit `{right}`",
        _EVERY,
        "write a letter for each dimension of each operand",
    ),
    "letters": _Kind(
        "operands of shapes `{left}` and `{right}` do not fit the letters that they share",
        _EVERY,
        "give a letter to dimensions of one size only",
    ),
    "pattern": _Kind(
        "the pattern `{right}` does not fit a tensor of shape `{left}`",
        "einops raises an error",
        "name each dimension of the tensor on the left of the arrow",
    ),
    "pad": _Kind(
        "{name} cannot pad a tensor of shape `{left}` by `{right}`",
        _EVERY,
        "pass a pair of numbers for each of the last dimensions",
    ),
    "window": _Kind(
        "the kernel of {name} is larger than its input, whose sizes are `{left}`",
        _EVERY,
        "use fewer layers with a stride, or a larger input",
    ),
    "shuffle": _Kind(
        "{name} cannot divide the channels of a tensor of shape `{left}` by the square of {right}",
        _EVERY,
        "make the number of channels a multiple of it",
    ),
    "loss": _Kind(
        "{name} takes no target of shape `{right}` for an input of shape `{left}`",
        _EVERY,
        "bring the target to the shape that the loss takes, or the input (`squeeze(1)`, `transpose`)",
    ),
    "weight": _Kind(
        "{name} takes a weight for each class: `{left}` does not fit scores of shape `{right}`",
        _EVERY,
        "pass as many weights as there are classes",
    ),
    "index": _Kind(
        "{name} takes no ids of shape `{right}` for a tensor of shape `{left}`",
        _EVERY,
        "bring the ids to as many dimensions as the tensor has",
    ),
    "attention": _Kind(
        "queries of shape `{left}` do not fit keys of shape `{right}`",
        _EVERY,
        "give queries and keys the same last size",
    ),
    "bias": _Kind(
        "a bias of shape `{left}` does not fit a weight of shape `{right}`",
        _EVERY,
        "pass as many numbers as there are rows of the weight",
    ),
}
_OTHER = _Kind("{name} does not take `{left}` and `{right}` together", _EVERY, "make the shapes agree")


def wording(refused: RefusedOperation) -> Wording:
    """The texts of the finding about an operation."""
    kind = _KINDS.get(_kind(refused), _OTHER)
    one, other = refused.apart or ("", "")
    parts = {
        "name": f"`{refused.name}`",
        "left": refused.left,
        "right": refused.right,
        "count": refused.right.count(",") + 1,
        "one": one,
        "other": other,
    }
    evidence = _EVERY if "{one}" in kind.evidence and refused.apart is None else kind.evidence
    return Wording(kind.message.format(**parts), evidence.format(**parts) or _on_error(refused), _help(refused, kind))


def _on_error(refused: RefusedOperation) -> str:
    if any(letter.isalpha() for letter in refused.left):
        return "PyTorch raises an error, whatever the symbols stand for"
    return "PyTorch raises an error" + (" in the call that leads here" if refused.steps else "")


def _kind(refused: RefusedOperation) -> str:
    if refused.kind == "subscripts" and refused.left == "[]":
        return "number"
    if refused.kind in ("rank", "einsum") and refused.right.startswith("["):
        return "ranks" if refused.kind == "rank" else "letters"
    return refused.kind


def _help(refused: RefusedOperation, kind: _Kind) -> str:
    """The advice, with the numbers of the finding where these tell it."""
    rank = _rank(refused.right if refused.kind == "dim" else refused.left)
    if refused.kind == "dim" and rank:
        return f"name a dimension from {-rank} to {rank - 1}"
    if refused.kind == "unpack" and rank is not None:
        return f"unpack {rank} names, or bring the tensor to {refused.right} dimensions before"
    if refused.kind == "rank" and rank is not None and refused.right[:1].isdecimal():
        if rank < int(refused.right[0]):
            return "add dimensions with `unsqueeze` or `view`, or do not flatten the tensor before"
        is_product = refused.name.rpartition(".")[2] in ("mm", "bmm")
        return "use `torch.matmul`, which takes batches of matrices" if is_product else kind.help
    if refused.kind == "view" and "-1" in refused.right and _numbers(refused.left):
        return f"let the other sizes divide the {prod(map(int, _numbers(refused.left))):,} elements that there are"
    if refused.kind == "view" and "-1" not in refused.right:
        counts = [prod(map(int, sizes)) for sizes in map(_numbers, (refused.left, refused.right)) if sizes]
        return f"the tensor has {counts[0]:,} elements, the view {counts[1]:,}" if len(counts) == 2 else kind.help
    if refused.kind == "permute" and rank is not None:
        return f"name each of the {rank} dimensions once"
    return kind.help


def _numbers(shape: str) -> list[str]:
    """The sizes of a shape in words; none if one of them is no number."""
    sizes = shape.strip("[]").split(", ")
    return sizes if all(size.isdecimal() for size in sizes) else []


def _rank(shape: str) -> int | None:
    """The number of dimensions of a shape in words; None if unknown."""
    if "*" in shape.replace(" * ", " ") or not shape.startswith("["):
        return None
    return 0 if shape == "[]" else shape.count(",") + 1
