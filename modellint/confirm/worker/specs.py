"""Specifications of arguments: kind, shape and values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from . import called

BATCH, TIME, STEPS, IMAGE, SAMPLES = 2, 5, 4, 32, 1600
#: The most elements of a tensor that is made up.
_MOST = 1 << 22


class Example(dict[str, Any]):
    """One example of a data set: each key has a sequence of ids or positions, with a length of its own."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    def __missing__(self, key: str) -> torch.Tensor:
        return torch.arange(self._length) if called.POSITIONS.search(key) else _bits(self._length)


def _bits(length: int) -> torch.Tensor:
    return torch.tensor([number % 2 for number in range(length)])


@dataclass(frozen=True)
class Spec:
    """How to make one argument.

    `kind` is "float" | "ids" | "mask" | "padding" | "positions" | "lengths" | "examples" | "ragged" | "streams" |
    "size" | "value": a padding is the mask of a batch whose sequences differ in length, examples are what a data set
    yields, ragged are such sequences of ids, streams are lists of tensors of ids, a size is a `torch.Size`.
    """

    kind: str
    shape: tuple[int, ...] = ()
    value: Any = None
    #: The largest id that is in range everywhere; and the declared range of an input, with its source.
    largest: int = 1
    declared: tuple[int, int, str] | None = None
    #: The name of the declared number of ids: it counts only if it sizes the table that the input reaches.
    counted: str = ""
    is_documented: bool = False
    #: True if settings or documentation say that the numbers are real.
    is_real: bool = False
    #: True if documentation states the number of features.
    has_width: bool = False
    #: The length of sequences, in place of `TIME` in the shape.
    time: int = TIME
    #: The first position, and the number of positions after which they start again.
    start: int = 0
    period: int = 0
    #: The dimensions whose sizes are guesses.
    free: tuple[int, ...] = ()
    #: True if even the kind is a guess.
    is_guess: bool = False
    #: The number of streams.
    number: int = 2

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.time if size == TIME else size for size in self.shape)

    def make(self, device: str, scale: float = 1.0, fill: int | None = None) -> Any:
        """The argument; `scale` multiplies real numbers, `fill` is the id to use."""
        sizes = self.sizes
        if self.kind == "value":
            return self.value
        if self.kind == "size":
            return torch.Size(sizes)
        if self.kind == "examples":
            return [Example(length) for length in self._lengths(BATCH)]
        if self.kind == "ragged":
            return [_bits(length) for length in self._lengths(BATCH)]
        if self.kind == "streams":
            return [_bits(self.time).expand(sizes).to(device) for _ in range(self.number)]
        if self.kind == "float":
            return (torch.randn(sizes) * scale).to(device)
        if self.kind == "mask":
            mask = torch.ones(sizes, dtype=torch.bool)
            mask.view(-1)[::2] = False
            return mask.to(device)
        if self.kind == "padding":
            return (torch.arange(sizes[-1]) < torch.tensor(self._lengths(sizes[0])).unsqueeze(-1)).to(device)
        if self.kind == "positions":
            positions = torch.arange(sizes[-1]) % (self.period or max(1, sizes[-1])) + self.start
            return positions.expand(sizes).to(device)
        if self.kind == "lengths":
            return torch.tensor(self._lengths(torch.Size(sizes).numel())).reshape(sizes).to(device)
        ids = torch.arange(max(1, torch.Size(sizes).numel())).reshape(sizes) % (self.largest + 1)
        return (ids if fill is None else torch.full(sizes, fill)).to(device)

    @property
    def is_made_up_real(self) -> bool:
        """True if it holds real numbers only because no source tells its type."""
        if self.kind == "float":
            return not self.is_real
        return any(isinstance(part, torch.Tensor) and part.is_floating_point() for part in tree_leaves(self.value))

    def whole(self) -> Spec:
        """The same with integers in place of real numbers."""
        if self.kind == "float":
            return replace(self, kind="ids", largest=0)
        return replace(self, value=tree_map_only(torch.Tensor, lambda tensor: tensor.long(), self.value))

    def _lengths(self, number: int) -> list[int]:
        """The lengths of a batch's sequences, the longest first."""
        return [max(1, self.time - 2 * (row % 2)) for row in range(number)]

    def __str__(self) -> str:
        if self.kind == "value":
            return repr(tree_map_only(torch.Tensor, lambda tensor: list(tensor.shape), self.value))
        if self.kind == "streams":
            return f"{self.number} streams of ids {'x'.join(map(str, self.sizes))}"
        return f"{self.kind} {'x'.join(map(str, self.sizes))}" if self.sizes else self.kind


def is_small(spec: Spec) -> bool:
    """True if a specification has at most `_MOST` elements."""
    return torch.Size(spec.shape).numel() <= _MOST


def with_size(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    """A shape with another size in one dimension."""
    return (*shape[:dim], size, *shape[dim + 1 :])


def known_spec(dtype: str, sizes: tuple[int, ...]) -> Spec:
    """An input of known sizes, whose type is known, too, or real numbers."""
    kind = "mask" if dtype == "bool" else "ids" if "int" in dtype else "float"
    return Spec(kind, sizes, time=TIME, is_documented=True)


def configured_spec(name: str, said: Any) -> Spec:
    """An input that the settings describe: a value, or a table with `shape` and, for ids, `low` and `high`."""
    if not isinstance(said, dict):
        return Spec("value", value=said)
    shape = tuple(said["shape"])
    if "high" in said:
        low = said.get("low", 0)
        return Spec("ids", shape, largest=min(1, said["high"]), declared=(low, said["high"], f"`{name}` as configured"))
    return Spec("float", shape, is_documented=True, is_real=True)
