"""Shapes by a text: the equations of `torch.einsum` and the patterns of einops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow.shapes.shape import (
    ANY_STAR,
    ONE,
    Dim,
    Refused,
    Shape,
    broadcast,
    cannot_broadcast,
    common_dim,
    differ,
    limit,
    of_rank,
)
from modellint.graph.size import Size

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The dimensions of an ellipsis as one.
_MERGED = "(...)"
_TOKEN = re.compile(r"\(|\)|\.\.\.|…|[A-Za-z_]\w*|\d+")


def einsum(equation: str, tensors: Sequence[Shape]) -> Shape | None:
    """The shape of `torch.einsum(equation, *tensors)`. Raises `Refused`."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        raise Refused("einsum", equation, len(tensors))
    known: dict[str, tuple[Dim, Shape]] = {}
    rest = Shape()
    for term, shape in zip(terms, tensors, strict=True):
        before, dots, behind = term.partition("...")
        dims = _letter_dims(shape, before, behind, has_dots=bool(dots))
        for letter, dim in zip(before + behind, dims, strict=True):
            _meet(known, letter, dim, shape, is_twice=term.count(letter) > 1)
        if dots:
            rest = broadcast(rest, _between(shape, len(before), len(behind)))
    letters = left.replace(",", "").replace("...", "")
    if not arrow:
        right = "..." * ("..." in left) + "".join(sorted(one for one in set(letters) if letters.count(one) == 1))
    before, dots, behind = right.partition("...")
    if any(letter not in known or right.count(letter) > 1 for letter in before + behind):
        raise Refused("einsum", equation, right)
    head, tail = (tuple(known[letter][0] for letter in side) for side in (before, behind))
    if not dots:
        return Shape(head)
    if rest.star is None:
        return Shape((*head, *rest.head, *tail))
    return Shape((*head, *rest.head), rest.star, (*rest.tail, *tail))


def _letter_dims(shape: Shape, before: str, behind: str, *, has_dots: bool) -> list[Dim]:
    """The dimensions that letters stand for: the first ones, and behind an ellipsis the last ones. Raises `Refused`."""
    count = len(before) + len(behind)
    is_short = shape.rank is not None and shape.rank < count
    if is_short or (not has_dots and (shape.least_rank > count or shape.rank not in (None, count))):
        raise Refused("einsum", shape, before + behind)
    if not has_dots:
        return list(of_rank(shape, count).head)
    return [*(shape.at(place) for place in range(len(before))), *(shape.at(place) for place in range(-len(behind), 0))]


def _between(shape: Shape, front: int, back: int) -> Shape:
    """A shape without so many dimensions in front and behind, which are there."""
    if shape.star is None:
        return Shape(shape.head[front : len(shape.head) - back])
    head, tail = shape.head, shape.tail
    star = shape.star
    if front > len(head) or back > len(tail):
        is_simple = (front <= len(head) or not tail) and (back <= len(tail) or not head)
        star = star.cut(max(front - len(head), 0), max(back - len(tail), 0)) if is_simple else ANY_STAR
        if not is_simple:
            return Shape((), ANY_STAR)
    return Shape(head[front:], star, tail[: max(len(tail) - back, 0)])


def _meet(known: dict[str, tuple[Dim, Shape]], letter: str, dim: Dim, shape: Shape, *, is_twice: bool) -> None:
    """Note the size of a letter. Raises `Refused` if it has another one already, unless one of them is 1."""
    if letter not in known:
        known[letter] = dim, shape
        return
    before, where = known[letter]
    if cannot_broadcast(before, dim) or (is_twice and where is shape and differ(before.size, dim.size)):
        raise Refused("einsum", where, shape)
    known[letter] = common_dim(before, dim, where, shape), shape


def _groups(side: str) -> list[list[str]] | None:
    """The dimensions of one side of a pattern, each with the names in it; None if it is malformed."""
    found: list[list[str]] = []
    inside: list[str] | None = None
    for token in _TOKEN.findall(side):
        if token == "(":
            inside = []
        elif token == ")":
            if inside is None:
                return None
            found.append(inside)
            inside = None
        elif inside is not None:
            inside.append(_MERGED if token in ("...", "…") else token)
        else:
            found.append([token])
    return found if inside is None else None


def rearrange(pattern: str, shape: Shape, given: dict[str, Dim]) -> Shape | None:
    """The shape of `rearrange(x, pattern, **given)`, of `reduce` and `repeat`. Raises `Refused`."""
    left, arrow, right = pattern.partition("->")
    before, after = _groups(left), _groups(right)
    if not arrow or before is None or after is None or any(_MERGED in names for names in before):
        return None
    dots = [number for number, names in enumerate(before) if names in (["..."], ["…"])]
    known: dict[str, Size | None] = {name: dim.size for name, dim in given.items()}
    rest: tuple[Dim, ...] = ()
    star = None
    if dots:
        at = dots[0]
        behind = len(before) - at - 1
        if shape.star is None:
            if len(shape.head) < len(before) - 1:
                raise Refused("pattern", shape, pattern)
            end = len(shape.head) - behind
            rest = shape.head[at:end]
            dims = (*shape.head[:at], *shape.head[end:])
        elif len(shape.head) == at and len(shape.tail) == behind:
            star, dims = shape.star, (*shape.head, *shape.tail)
        else:
            return None
        before = before[:at] + before[at + 1 :]
    elif shape.star is not None:
        if shape.least_rank > len(before):
            raise Refused("pattern", shape, pattern)
        dims = of_rank(shape, len(before)).head
    else:
        if len(shape.head) != len(before):
            raise Refused("pattern", shape, pattern)
        dims = shape.head
    for names, dim in zip(before, dims, strict=True):
        _solve(names, dim, known, shape, pattern)
    known[_MERGED] = Shape(rest).elements() if dots and star is None else None
    found: list[Dim] = []
    place = None
    for names in after:
        if names in (["..."], ["…"]):
            place = len(found)
            found += rest
        else:
            found.append(Dim(_product(names, known)))
    if star is not None:
        return None if place is None else Shape(tuple(found[:place]), star, tuple(found[place:]))
    return Shape(tuple(found))


def _solve(names: list[str], dim: Dim, known: dict[str, Size | None], shape: Shape, pattern: str) -> None:
    """Note the sizes of the names that make up a dimension. Raises `Refused` where it cannot be split so."""
    open_names = [name for name in names if known.get(name) is None and not name.isdigit()]
    product = _product([name for name in names if name not in open_names], known)
    if not open_names:
        if differ(product, dim.size):
            raise Refused("pattern", shape, pattern)
        return
    if len(open_names) > 1 or dim.size is None or product is None or open_names[0] in known:
        return
    left = dim.size.floor(product) if product != ONE else dim.size
    if left * product != dim.size and dim.size.constant is not None and product.constant is not None:
        raise Refused("pattern", shape, pattern)
    known[open_names[0]] = left


def _product(names: list[str], known: dict[str, Size | None]) -> Size | None:
    found = ONE
    for name in names:
        size = Size.of(int(name)) if name.isdigit() else known.get(name)
        if size is None:
            return None
        found = found * size
    return limit(found)
