"""Shapes of parts of tensors: `x[:, None, …, 0]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.domain import Counter
from modellint.flow.shapes.atoms import Shaped, ShapeOf, constant_of, dim_of, is_none, is_number, number_of
from modellint.flow.shapes.dtypes import COMPLEX, FLOATS, is_of
from modellint.flow.shapes.shape import ANY, ONE, Dim, Refused, Shape, limit, unknown
from modellint.graph.size import Size
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from modellint.flow.domain import Atoms
    from modellint.graph.value import Value

    Evaluate = Callable[[Value], Atoms]


class Part(NamedTuple):
    """A part of a subscript: `new` for None, a `number`, a `slice` with its bounds, or a `tensor`."""

    kind: str
    atoms: tuple[Atoms, ...]


def index(shape: Shape, parts: Sequence[Value], evaluate: Evaluate, key: Hashable, *, has_rows: bool = False) -> Shape:
    """The shape of a part of a tensor; `has_rows`: dimensions of unknown number are at least one.

    Raises `Refused` for more subscripts than dimensions.
    """
    dots = next((number for number, part in enumerate(parts) if part.op is Op.CONST and part.data is Ellipsis), None)
    front = _parts(parts if dots is None else parts[:dots], evaluate)
    back = _parts(() if dots is None else parts[dots + 1 :], evaluate)
    if front is None or back is None:
        return unknown(key)
    tensors = [part for part in (*front, *back) if part.kind == "tensor"]
    for part in tensors:
        for atom in part.atoms[0]:
            if isinstance(atom, Shaped) and is_of(atom.dtype, (*FLOATS, *COMPLEX)):
                raise Refused("dtype-subscript", atom.dtype, "int64")
    if any(dim.size == Size.of(0) for dim in (*shape.head, *shape.tail)):
        return unknown(key)  # code that picks its elements is not run
    before, after = (sum(part.kind != "new" for part in side) for side in (front, back))
    if shape.star is None and before + after > len(shape.head) and not tensors:
        raise Refused("subscripts", shape, before + after)
    if tensors:
        return _pick(shape, front, key) if len(front) == 1 and dots is None else unknown(key)
    if shape.star is None:
        end = len(shape.head) - after
        kept = [*_dims(front, shape.head[:before]), *shape.head[before:end], *_dims(back, shape.head[end:])]
        return Shape(tuple(kept))
    head, tail, star = shape.head, shape.tail, shape.star
    if before > len(head):
        more = before - len(head)
        if tail and more > has_rows:
            return unknown(key)
        head = (*head, *(shape.at(place) for place in range(len(head), before)))
        star = star.cut(front=more)
    if after > len(tail) and head[before:]:
        return unknown(key)
    if after > len(tail):
        star = star.cut(back=after - len(tail))
        tail = (*(ANY for _ in range(after - len(tail))), *tail)
    end = len(tail) - after
    return Shape((*_dims(front, head[:before]), *head[before:]), star, (*tail[:end], *_dims(back, tail[end:])))


def _parts(parts: Sequence[Value], evaluate: Evaluate) -> list[Part] | None:
    """The parts of a subscript; None if one of them is not known."""
    found: list[Part] = []
    for part in parts:
        if part.op is Op.SLICE:
            found.append(Part("slice", tuple(map(evaluate, part.args))))
            continue
        atoms = evaluate(part)
        if part.op is Op.CONST and part.data is None:
            found.append(Part("new", ()))
        elif atoms and all(is_number(atom) or isinstance(atom, Counter) for atom in atoms):
            found.append(Part("number", (atoms,)))
        elif len(atoms) == 1 and isinstance(atoms[0], Shaped):
            found.append(Part("tensor", (atoms,)))
        else:
            return None
    return found


def _dims(parts: Sequence[Part], dims: Sequence[Dim]) -> list[Dim]:
    """The dimensions that parts of a subscript leave of `dims`, one for each part that is no None."""
    found: list[Dim] = []
    rest = iter(dims)
    for part in parts:
        if part.kind == "new":
            found.append(Dim(ONE))
        elif part.kind == "slice":
            found.append(slice_dim(next(rest), part.atoms))
        else:
            next(rest)
    return found


def slice_dim(dim: Dim, bounds: tuple[Atoms, ...]) -> Dim:
    """The size of a slice of a dimension."""
    if all(map(is_none, bounds)):
        return dim
    sizes = [None if is_none(one) else dim_of(one).size for one in bounds]
    if any(size is None and not is_none(one) for size, one in zip(sizes, bounds, strict=True)):
        return ANY
    numbers = [None if size is None else size.constant for size in sizes]
    if any(number is None and size is not None for number, size in zip(numbers, sizes, strict=True)):
        return ANY
    first, last, step = numbers
    if dim.size is None or step == 0 or (step or 1) < 0:
        return ANY
    known = dim.size.constant
    if known is not None:
        return Dim.of(len(range(known)[slice(first, last, step)]))
    if step not in (None, 1):
        return ANY
    if last is None and first is not None and first >= 0:
        return Dim(limit(dim.size - Size.of(first)))
    if not first and last is not None and last < 0:
        return Dim(limit(dim.size + Size.of(last)))
    return ANY


def _pick(shape: Shape, parts: Sequence[Part], key: Hashable) -> Shape:
    """The shape of `x[ids]`: the dimensions of the ids in the place of the first one, or one for those of a mask."""
    index = parts[0].atoms[0][0]
    assert isinstance(index, Shaped)
    if index.shape.star is not None or index.dtype is None or shape.star is not None:
        return unknown(key)
    if index.dtype == "bool":
        return Shape((ANY, *shape.head[len(index.shape.head) :]))
    if not shape.head:
        raise Refused("subscripts", shape, 1)
    return Shape((*index.shape.head, *shape.head[1:]))


def part_of_shape(shape: Shape, parts: Sequence[Value], evaluate: Evaluate) -> Atoms | None:
    """`x.shape[i]`, `x.shape[:-1]`; None if it is not known. Raises `Refused` where there is no such dimension."""
    if len(parts) != 1:
        return None
    if parts[0].op is not Op.SLICE:
        at = constant_of(evaluate(parts[0]))
        return None if at is None else number_of(shape.at(at))
    bounds = [evaluate(arg) for arg in parts[0].args]
    numbers = [None if is_none(one) else constant_of(one) for one in bounds]
    if any(number is None and not is_none(one) for number, one in zip(numbers, bounds, strict=True)):
        return None
    found = slice_of(shape, *numbers)
    return None if found is None else (ShapeOf(found),)


def slice_of(shape: Shape, first: int | None, last: int | None, step: int | None) -> Shape | None:
    """Some of the dimensions of a shape, as a slice picks them; None if it is not known which."""
    if shape.star is None:
        return Shape(shape.head[slice(first, last, step)])
    if step not in (None, 1):
        return None
    start = first or 0
    if start == 0 and last is not None and last < 0:
        if -last <= len(shape.tail):
            return Shape(shape.head, shape.star, shape.tail[:last])
        return None if shape.tail or shape.head else Shape((), shape.star.cut(back=-last))
    if start < 0 and last is None:
        return Shape(tuple(shape.at(place) for place in range(start, 0)))
    if start >= 0 and last is not None and last >= 0:
        return Shape(tuple(shape.at(place) for place in range(start, last)))
    if start >= 0 and last is None:
        if start <= len(shape.head):
            return Shape(shape.head[start:], shape.star, shape.tail)
        return None if shape.tail else Shape((), shape.star.cut(front=start - len(shape.head)))
    return None
