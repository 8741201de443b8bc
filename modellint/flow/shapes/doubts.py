"""Operations on shapes that torch allows, and that are seldom meant."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from modellint.flow.shapes.shape import Refused, cannot_be_one
from modellint.flow.shapes.transfer import arguments
from modellint.graph.size import Size

if TYPE_CHECKING:
    from modellint.flow.shapes.given import Given
    from modellint.flow.shapes.shape import Dim, Shape


#: The beginning of the kinds of clashes that torch allows.
DOUBT = "doubt"


def doubt_of_call(call: Given) -> Refused | None:
    """Why a call is seldom meant: a loss of all pairs, or scores of a single class that are compared."""
    facets = call.row.facets
    if facets.get("loses") == "broadcast":
        first, target = call.first, call.picked.get("target") or call.picked.get(1)
        return None if first is None or target is None else doubt_of_pair(first.shape, target.shape)
    if "needs-several" in facets and call.operand is not None:
        argument = arguments(call.row, facets["needs-several"])[0]
        place = call.whole(*argument) if call.is_given(*argument) else None
        if place is not None and _at(call.operand, place) == Size.of(1):
            return Refused("doubt-single", call.operand, place)
    return None


def doubt_of_pair(one: Shape, other: Shape) -> Refused | None:
    """Why operands are seldom meant: of `[n]` and `[n, 1]`, each element of one meets each of the other."""
    if one.star is not None or other.star is not None or len(one.head) == len(other.head):
        return None
    pairs = list(zip_longest(reversed(one.head), reversed(other.head)))
    left = {two.size for first, two in pairs if two is not None and (first is None or _is_one(first))}
    right = {first.size for first, two in pairs if first is not None and (two is None or _is_one(two))}
    both = {size for size in left & right if size is not None and size != Size.of(1)}
    if any(size.constant is None or cannot_be_one(size) for size in both):
        return Refused("doubt-pairs", one, other)
    return None


def _is_one(dim: Dim) -> bool:
    return dim.size == Size.of(1)


def _at(shape: Shape, place: int) -> Size | None:
    """The size of a dimension that is known to be there."""
    if shape.star is None:
        return shape.at(place).size if shape.head else None
    if place < 0:
        return shape.tail[place].size if -place <= len(shape.tail) else None
    return shape.head[place].size if place < len(shape.head) else None
