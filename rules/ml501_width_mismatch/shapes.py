"""The known dimensions of a tensor, counted from the end, and transfer functions of operators for them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.size import Size
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modellint.graph.value import Value

    from .evaluator import Located


@dataclass(frozen=True)
class Width:
    """The size of a dimension, and the layer that made it so, if one did: the call of its constructor."""

    size: Size
    maker: Located | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Shape:
    """The widths of some dimensions by their place from the end (-1 is the last); `rank` is how many there are."""

    axes: Mapping[int, Width] = field(default_factory=dict)
    rank: int | None = None

    def at(self, place: int) -> Width | None:
        return self.axes.get(place)

    def place(self, dim: int) -> int | None:
        """A dimension's place from the end; None if that takes to know how many there are."""
        if dim < 0:
            return dim
        return None if self.rank is None or dim >= self.rank else dim - self.rank


UNKNOWN = Shape()


def common(shapes: Sequence[Shape]) -> Shape:
    """The join of several shapes: the dimensions about which they agree."""
    first, *others = shapes
    axes = {place: width for place, width in first.axes.items() if all(o.axes.get(place) == width for o in others)}
    return Shape(axes, first.rank if all(o.rank == first.rank for o in others) else None)


def broadcast(one: Shape, other: Shape) -> Shape:
    """A sum: a dimension that is known, and not 1, is that of the sum."""
    axes = {}
    for place in {*one.axes, *other.axes}:
        known = [width for shape in (one, other) if (width := shape.at(place)) is not None]
        wide = [width for width in known if width.size.constant not in (None, 1)]
        if wide:
            axes[place] = wide[0]
        elif known[0].size.constant != 1 and (len(known) == 1 or known[0] == known[1]):
            axes[place] = known[0]
    ranks = (one.rank, other.rank)
    return Shape(axes, None if None in ranks else max(rank for rank in ranks if rank is not None))


def transpose(shape: Shape, first: int, second: int) -> Shape:
    """`transpose`."""
    one, other = shape.place(first), shape.place(second)
    if one is None or other is None:
        return Shape(rank=shape.rank)
    moved = {one: other, other: one}
    return Shape({moved.get(place, place): width for place, width in shape.axes.items()}, shape.rank)


def permute(shape: Shape, order: Sequence[int]) -> Shape:
    """`permute`."""
    count = len(order)
    axes = {}
    for place, dim in enumerate(order):
        width = shape.at(dim if dim < 0 else dim - count)
        if width is not None:
            axes[place - count] = width
    return Shape(axes, count)


def without(shape: Shape, dims: Iterable[int]) -> Shape:
    """Without some dimensions."""
    gone = [shape.place(dim) for dim in dims]
    if None in gone:
        return UNKNOWN
    places = {place for place in gone if place is not None}
    axes = {
        place + sum(other > place for other in places): width
        for place, width in shape.axes.items()
        if place not in places
    }
    return Shape(axes, None if shape.rank is None else shape.rank - len(places))


def with_one(shape: Shape, dim: int) -> Shape:
    """`unsqueeze`."""
    rank = None if shape.rank is None else shape.rank + 1
    if dim >= 0:
        if rank is None:
            return UNKNOWN
        dim -= rank
    axes = {(place if place > dim else place - 1): width for place, width in shape.axes.items()}
    return Shape({**axes, dim: Width(Size.of(1))}, rank)


def flatten(shape: Shape, first: int, last: int) -> Shape:
    """`flatten`: one dimension in the place of several, as large as their product."""
    start, end = shape.place(first), shape.place(last)
    if end is None or (start is None and end != -1):
        return UNKNOWN
    if start is None:  # how many dimensions there are is not known
        return UNKNOWN
    if start > end:
        return shape
    parts = [shape.at(place) for place in range(start, end + 1)]
    lost = end - start
    axes = {(place if place > end else place + lost): w for place, w in shape.axes.items() if not start <= place <= end}
    rank = None if shape.rank is None else shape.rank - lost
    size, makers = Size.of(1), []
    for part in parts:
        if part is None:
            return Shape(axes, rank)
        size *= part.size
        makers += [part.maker] if part.maker is not None else []
    return Shape({**axes, end: Width(size, makers[0] if makers else None)}, rank)


def divide(size: Size, count: int) -> Size | None:
    """A size divided by a number, where nothing remains whatever its symbols are."""
    if any(factor % count for _, factor in size.terms):
        return None
    return Size(tuple((key, factor // count) for key, factor in size.terms))


def pixel_shuffle(shape: Shape, factor: int | None) -> Shape:
    """`PixelShuffle`."""
    width = shape.at(-3)
    size = divide(width.size, factor * factor) if width is not None and factor else None
    axes = {} if size is None or width is None else {-3: Width(size, width.maker)}
    return Shape(axes, shape.rank)


def subscript(shape: Shape, parts: Sequence[Value]) -> Shape:
    """The shape of `x[:, 0]`, `x[..., None]`, where the dimensions that go are known; a slice makes a size unknown."""
    dots = next((at for at, part in enumerate(parts) if part.op is Op.CONST and part.data is Ellipsis), None)
    if dots is None and shape.rank is None:
        # The last dimension is the one of the last part, or one behind it.
        last = shape.at(-1) if parts and _is_whole(parts[-1]) else None
        return UNKNOWN if last is None else Shape({-1: last})
    before, after = (parts, ()) if dots is None else (parts[:dots], parts[dots + 1 :])
    taken = [sum(not _is_none(part) for part in some) for some in (before, after)]
    if shape.rank is None:
        kept = {} if before else {place: w for place, w in shape.axes.items() if place < -taken[1]}
        front: list[Width | None] | None = []
    else:
        if sum(taken) > shape.rank:
            return UNKNOWN
        kept = {}
        middle = range(taken[0] - shape.rank, -taken[1])
        first = _dimensions_left(shape, before, -shape.rank)
        front = None if first is None else [*first, *map(shape.at, middle)]
    end = _dimensions_left(shape, after, -taken[1])
    if front is None or end is None:
        return UNKNOWN
    found = [*front, *end]
    axes = {place - len(found): width for place, width in enumerate(found) if width is not None}
    axes.update({place + taken[1] - len(end): width for place, width in kept.items()})
    return Shape(axes, None if shape.rank is None else len(found))


def _dimensions_left(shape: Shape, parts: Sequence[Value], place: int) -> list[Width | None] | None:
    """The dimensions that parts of a subscript leave, from `place` on; None where an index is not a constant."""
    found: list[Width | None] = []
    for part in parts:
        if _is_none(part):
            found.append(Width(Size.of(1)))
            continue
        if part.op is Op.SLICE:
            found.append(shape.at(place) if _is_whole(part) else None)
        elif not (part.op is Op.CONST and type(part.data) is int):
            return None
        place += 1
    return found


def _is_none(part: Value) -> bool:
    return part.op is Op.CONST and part.data is None


def _is_whole(part: Value) -> bool:
    return part.op is Op.SLICE and all(_is_none(end) for end in part.args)
