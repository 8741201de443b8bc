"""The transfer functions of torch's layers for the dimensions of their input, and the first width that does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.size import Size
from modellint.graph.value import Op

from . import shapes
from .layers import MAX_DEPTH, NN, SAME_SHAPE
from .operated import whole
from .shapes import UNKNOWN, Shape, Width
from .table import POOLS, SECOND, SIZED

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from .layers import Layer, Layers

    #: A layer, the width that it is given, and the width that it takes.
    Met: TypeAlias = tuple[Layer, Width, Size]

_FLATTENED = (((0, "start_dim"), 1), ((1, "end_dim"), -1))


class Outputs:
    """The output shapes of the layers of one file; `of_class` computes those of the project's own layers."""

    def __init__(self, layers: Layers, of_class: Callable[[Layer, Shape, int], Shape]) -> None:
        self._layers = layers
        self._of_class = of_class

    def of(self, layer: Layer, given: Shape, depth: int) -> Shape:
        if layer.cls is not None:
            return self._of_class(layer, given, depth)
        sized = SIZED.get(layer.name)
        if sized is not None:
            return self._of_sized(layer, given)
        if f"{NN}{layer.name}" in SAME_SHAPE:
            return given
        if layer.name == "Sequential":
            held = self._layers.parts(layer)
            for one in held if held is not None else [None]:
                inner = None if one is None else self._layers.layer(one.value, one.frame, depth)
                given = UNKNOWN if inner is None or depth > MAX_DEPTH else self.of(inner, given, depth + 1)
            return given
        if layer.name == "PixelShuffle":
            return shapes.pixel_shuffle(given, whole(layer.argument((0, "upscale_factor")), None))
        if layer.name == "Flatten":
            first, last = (whole(layer.argument(end), default) for end, default in _FLATTENED)
            return UNKNOWN if first is None or last is None else shapes.flatten(given, first, last)
        return self._output_of_pool(layer, given)

    def _of_sized(self, layer: Layer, given: Shape) -> Shape:
        sized = SIZED[layer.name]
        if sized.gives is None:
            return given if sized.axis == SECOND else Shape(given.axes, given.rank or sized.dimensions)
        size = self._layers.size(layer, sized.gives)
        if layer.name in ("RNN", "LSTM", "GRU"):
            two = layer.argument((99, "bidirectional"))
            is_known = two is None or (two.op is Op.CONST and type(two.data) is bool)
            if layer.argument((99, "proj_size")) is not None or layer.made.value.has_unpacking or not is_known:
                return UNKNOWN
            size = None if size is None else size * Size.of(2 if two is not None and two.data else 1)
            return UNKNOWN if size is None else Shape({-1: Width(size, layer.made)}, given.rank)
        if layer.name == "Embedding":
            given = shapes.with_one(given, -1)
        if sized.axis == -1:
            axes = dict(given.axes)
        else:
            axes = {place: width for place, width in given.axes.items() if place < sized.axis}
        axes.pop(sized.axis, None)
        if size is not None:
            axes[sized.axis] = Width(size, layer.made)
        return Shape(axes, given.rank or sized.dimensions)

    def _output_of_pool(self, layer: Layer, given: Shape) -> Shape:
        grid = POOLS.get(layer.name)
        if grid is None:
            return UNKNOWN
        axes = {place: width for place, width in given.axes.items() if place < -grid}
        size = layer.argument((0, "output_size")) if layer.name.startswith("AdaptiveAvgPool") else None
        sides = size.args if size is not None and size.op in (Op.TUPLE, Op.LIST) else [size] * grid
        for place, side in enumerate(sides if len(sides) == grid else ()):
            known = whole(side, None)
            if known is not None:
                axes[place - grid] = Width(Size.of(known))
        return Shape(axes, given.rank)

    def is_sized(self, layer: Layer) -> bool:
        """True if a layer of torch takes a width that is known."""
        sized = SIZED.get(layer.name)
        if sized is None:
            return layer.name == "Sequential"
        return sized.takes is not None and self._layers.size(layer, sized.takes) is not None

    def first_misfit(self, layer: Layer, given: Shape, depth: int = 0) -> Met | None:
        """The first layer that takes a width, and the widths that it is given and takes; None where they agree."""
        sized = SIZED.get(layer.name)
        if sized is not None and sized.takes is not None:
            place = (1 - given.rank if given.rank else None) if sized.axis == SECOND else sized.axis
            width = None if place is None else given.at(place)
            taken = self._layers.size(layer, sized.takes)
            differs = width is not None and taken is not None and width.size != taken
            return (layer, width, taken) if differs and width is not None and taken is not None else None
        if layer.name == "Sequential" and depth < MAX_DEPTH and given.axes:
            for one in self._layers.parts(layer) or ():
                inner = None if one is None else self._layers.layer(one.value, one.frame)
                if inner is None or inner.cls is not None:
                    return None
                if inner.name in SIZED or inner.name == "Sequential":
                    return self.first_misfit(inner, given, depth + 1)
                given = self.of(inner, given, 0)
        return None
