"""Stacks of layers by the names of their tensors, and layers that differ from all others."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from .misfit import Misfit, shape_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from modellint.folders import Tensor

_LAYER = re.compile(r"((?:[A-Za-z_]\w*\.)*(?:layers|layer|h|block|blocks))\.(\d+)\.(.+)")
#: The least number of layers among which one that differs is a mistake, and the most tensors that it may lack.
ENOUGH, _FEW = 4, 4
#: Among three layers one that differs is a mistake if only a part of a module is missing.
_LEAST = 3
_AGAIN = "save the model again"


class Stack:
    """A stack of layers: its name, and the tensors of each layer by the rest of their names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.layers: dict[int, dict[str, Tensor]] = {}

    @property
    def is_whole(self) -> bool:
        """True if the layers are numbered from 0, without gaps."""
        return len(self.layers) == max(self.layers) + 1

    @cached_property
    def rows(self) -> dict[str, list[Tensor]]:
        """The tensors of all layers, by the rest of their names."""
        found: dict[str, list[Tensor]] = {}
        for layer in self.layers.values():
            for name, tensor in layer.items():
                found.setdefault(name, []).append(tensor)
        return found

    @cached_property
    def sizes(self) -> set[int]:
        """The sizes of all dimensions."""
        return sizes_of(tensor for layer in self.layers.values() for tensor in layer.values())

    def matrices(self, rest: re.Pattern[str]) -> Iterator[tuple[list[Tensor], re.Match[str]]]:
        """The matrices of real numbers in the layers whose names match, by name."""
        for name, tensors in self.rows.items():
            match = rest.fullmatch(name)
            found = [] if match is None else [one for one in tensors if len(one.shape) == 2 and one.dtype in FLOATS]
            if match is not None and found:
                yield found, match

    def vectors(self, rest: re.Pattern[str]) -> Iterator[Tensor]:
        """The first vector of each name that has one size in all layers."""
        for name, tensors in self.rows.items():
            found = [one for one in tensors if len(one.shape) == 1] if rest.fullmatch(name) is not None else []
            if found and len({one.shape for one in found}) == 1:
                yield found[0]

    def same(self, rest: re.Pattern[str]) -> Iterator[tuple[Tensor, re.Match[str]]]:
        """The first matrix of each name that has one shape in all layers."""
        for tensors, match in self.matrices(rest):
            if len({tensor.shape for tensor in tensors}) == 1:
                yield tensors[0], match


FLOATS = ("float16", "bfloat16", "float32", "float64")


def stacks_in(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Stack], dict[str, Tensor]]:
    """The stacks of layers, by name, and the tensors that are in none.

    Stacks within a layer of another one are left out.
    """
    found: dict[str, Stack] = {}
    outside = {}
    for name, tensor in tensors.items():
        match = _LAYER.fullmatch(name)
        if match is None:
            outside[name] = tensor
        else:
            prefix, number, rest = match.groups()
            if prefix not in found:
                found[prefix] = Stack(prefix)
            found[prefix].layers.setdefault(int(number), {})[rest] = tensor
    return found, outside


def sizes_of(tensors: Iterable[Tensor]) -> set[int]:
    """The sizes of all dimensions of tensors."""
    return set().union(*{tensor.shape for tensor in tensors})


def odd_layers(stack: Stack) -> Iterator[Misfit]:
    """Layers that are missing between others, lack a tensor that all others have, or have it in another shape."""
    if not stack.is_whole:
        yield from _gap(stack)
    elif len(stack.layers) >= _LEAST:
        yield from _lacking(stack)
        yield from _transposed_matrix(stack)


def _gap(stack: Stack) -> Iterator[Misfit]:
    """A layer whose tensors are all missing, between others."""
    last = max(stack.layers)
    if last > 2 * len(stack.layers):
        return
    missing = [number for number in range(last + 1) if number not in stack.layers]
    names = [set(layer) for layer in stack.layers.values()]
    is_alike = len(names) > 1 and all(one == names[0] for one in names) and len(names[0]) >= ENOUGH
    if (len(stack.layers) >= _LEAST or is_alike) and len(missing) == 1:
        tensor = next(iter(stack.layers[last].values()))
        name = f"{stack.name}.{missing[0]}"
        message = f"no tensor of `{name}` is here, and the layers around it are"
        yield Misfit(name, message, "", (name,), tensor, (), _AGAIN)


def _lacking(stack: Stack) -> Iterator[Misfit]:
    """A layer that lacks a few tensors that all other layers have, or has them under other names.

    The first and the last layer of some classes are built otherwise: there, only a part of a module that is there is
    missing.
    """
    counts = {name: len(tensors) for name, tensors in stack.rows.items()}
    most = [name for name, count in counts.items() if count == len(stack.layers) - 1]
    if not most:
        return
    for number, layer in stack.layers.items():
        lacking = sorted(name for name in most if name not in layer)
        own = sorted(name for name in layer if counts[name] == 1)
        if not lacking or len(lacking) > _FEW or len(own) > len(lacking):
            continue
        other = stack.layers[(number + 1) % len(stack.layers)]
        shapes = sorted(other[name].shape for name in lacking)
        if own and sorted(layer[name].shape for name in own) != shapes:
            continue
        is_end = number in (0, len(stack.layers) - 1) or len(stack.layers) < ENOUGH
        if is_end and not own and not all(_has_siblings(name, layer) for name in lacking):
            continue
        name = f"{stack.name}.{number}.{lacking[0]}"
        tensor = layer[own[0]] if own else next(iter(layer.values()))
        message = f"`{name}` is missing, which all other layers of `{stack.name}` have"
        evidence = (f"the layer has `{tensor.name}` instead",) if own else ()
        yield Misfit(name, message, "", (name,), tensor, evidence, _AGAIN)


def _has_siblings(name: str, layer: Mapping[str, Tensor]) -> bool:
    """True if a layer has other parts of the module that a weight or a bias is a part of."""
    module, _, kind = name.rpartition(".")
    around = module.rpartition(".")[0]
    return kind in ("weight", "bias") and bool(around) and any(other.startswith(f"{around}.") for other in layer)


def _transposed_matrix(stack: Stack) -> Iterator[Misfit]:
    """A matrix of one layer that is transposed, or has another shape, where all other layers have one shape."""
    for _, tensors in sorted(stack.rows.items()):
        if len({tensor.shape for tensor in tensors}) != 2 or all(len(tensor.shape) != 2 for tensor in tensors):
            continue
        shapes = Counter(tensor.shape for tensor in tensors)
        if len(tensors) < ENOUGH or min(shapes.values()) != 1:
            continue
        usual = max(shapes, key=lambda shape: shapes[shape])
        odd = next(tensor for tensor in tensors if tensor.shape != usual)
        if odd.shape == usual[::-1]:
            message = f"`{odd.name}` is transposed: all other layers have the shape [{usual[0]}, {usual[1]}]"
            yield Misfit(odd.name, message, "", (odd.name,), odd, (shape_text(odd),), "transpose the tensor")
