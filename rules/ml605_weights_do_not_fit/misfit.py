"""The type of the rule's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from modellint.folders import Tensor


class Misfit(NamedTuple):
    """A number of the configuration, at `keys` of the file `document`, that tensors refute.

    `symbol` is the key or the tensor that it is about, `tensor` one of those that refute it. Without keys it is told at
    the tensor's file.
    """

    symbol: str
    message: str
    document: str
    keys: tuple[str | int, ...]
    tensor: Tensor
    evidence: tuple[str, ...] = ()
    help: str = ""


def shape_text(tensor: Tensor) -> str:
    """A tensor with its shape, in words."""
    return f"`{tensor.name}` has the shape [{', '.join(map(str, tensor.shape))}]"
