"""The inputs that a module's layers take: numbers of features, and sizes of images."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .specs import BATCH, IMAGE, TIME

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLED_SIDES = ("image_size", "img_size", "sample_size", "input_size")
CALLED_CHANNELS = ("in_channels", "channels")
#: The number of channels of an image, and the most channels that are no feature map's.
COLOURS, _MOST_COLOURS = 3, 4
#: Normalisations with the number of dimensions behind the channels.
_NORMS = {nn.BatchNorm2d: 2, nn.InstanceNorm2d: 2, nn.BatchNorm3d: 3, nn.InstanceNorm3d: 3}


@dataclass(frozen=True)
class Width:
    """The number of features or channels that a layer takes, and the number of dimensions behind the channels."""

    size: int
    spatial: int = 0

    #: The stated sizes of images, if there are any.
    sides: tuple[int, ...] = ()

    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of inputs with that width: sequences and vectors, or images."""
        if self.spatial == 1:
            return [(BATCH, self.size, TIME), (BATCH, TIME, self.size), (BATCH, self.size, IMAGE)]
        if self.spatial:
            sides = self.sides if len(self.sides) == self.spatial else (IMAGE,) * self.spatial
            return [(BATCH, self.size, *sides)]
        return [(BATCH, TIME, self.size), (BATCH, self.size), (self.size,)]


def parts(owner: Any) -> list[nn.Module]:
    """The modules of an object, itself included."""
    return list(owner.modules()) if isinstance(owner, nn.Module) else []


def widths(owner: Any) -> Iterator[Width]:
    """The widths that an object's layers take, in their order; a first layer that takes images comes first."""
    sides = sides_of(owner)
    first = next((part for part in parts(owner) if part._parameters and not part._modules), None)
    if isinstance(first, nn.Conv2d) and first.in_channels <= _MOST_COLOURS:
        yield Width(first.in_channels, len(first.kernel_size), sides)
    for part in parts(owner):
        if isinstance(part, nn.modules.conv._ConvNd):
            yield Width(part.in_channels, len(part.kernel_size), sides)
        elif type(part) in _NORMS:
            yield Width(part.num_features, _NORMS[type(part)], sides)
        elif isinstance(part, nn.LayerNorm):
            yield Width(part.normalized_shape[-1])
        else:
            for name in ("in_features", "input_size", "d_model", "embed_dim"):
                width = getattr(part, name, None)
                if type(width) is int:
                    yield Width(width)
    for name, value in vars_of(owner).items():
        if type(value) is int and value > 0 and re.search(r"width|dim|size|hidden|channels", name):
            yield Width(value)
        elif isinstance(value, torch.Tensor) and value.dim():
            yield Width(value.shape[-1])
    if isinstance(owner, nn.Module):
        for tensor in (*owner.parameters(recurse=False), *owner.buffers(recurse=False)):
            if tensor.dim():
                yield Width(tensor.shape[-1])


def sides_of(owner: Any) -> tuple[int, ...]:
    """The height and width of images as the object, its configuration or a layer states them; empty if none does."""
    said = [getattr(owner, name, None) for name in ("default_cfg", "config")]
    for place in (owner, *said, *parts(owner)):
        for name in CALLED_SIDES:
            found = place.get(name) if isinstance(place, dict) else getattr(place, name, None)
            sides = (found, found) if type(found) is int else found
            if isinstance(sides, list | tuple) and len(sides) > 1 and all(type(side) is int for side in sides):
                return tuple(sides[-2:])
    return ()


def vars_of(owner: Any) -> dict[str, Any]:
    """The attributes that an object itself has."""
    return getattr(owner, "__dict__", {})
