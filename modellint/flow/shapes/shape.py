"""Shapes of tensors: their dimensions, as far as they are known, and how operators combine them.

A shape is `[head…, *star, …tail]`: the star stands for dimensions of unknown number. `[*, 64]` is a batch of vectors of
64 numbers. An operator that torch certainly refuses raises `Refused`; two sizes of unlike symbols never are a reason.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from hashlib import sha256
from math import gcd
from typing import TYPE_CHECKING, NoReturn

from modellint.graph.hashing import HashedOnce, hashed_once
from modellint.graph.immutable import dataclass, replace
from modellint.graph.size import Quotient, Size, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from modellint.flow.domain import Site

    Note = Callable[[int, str], None]

#: The most terms of a size that is kept, and the most dimensions of a shape.
_MAX_TERMS, _MAX_RANK = 12, 16
ONE = Size.of(1)
#: How a number of dimensions is known: an operation takes it, or the code says so; or it is asked for.
TAKEN, SAID, ASKED = "taken", "said", "asked"


@hashed_once
@dataclass(frozen=True, slots=True)
class Dim(HashedOnce):
    """A dimension: its size, None if unknown, and the expression that decides it (which is not compared)."""

    size: Size | None = None
    site: Site | None = field(default=None, compare=False)

    @staticmethod
    def of(number: int) -> Dim:
        return Dim(Size.of(number))

    @property
    def is_one(self) -> bool:
        return self.size == ONE

    def __str__(self) -> str:
        return "?" if self.size is None else str(self.size)


#: A dimension of unknown size.
ANY = Dim()
_ONE_DIM = Dim(ONE)


def is_of_input(symbol: Symbol) -> bool:
    """True for the size of a dimension of a tensor whose rank was unknown."""
    return symbol.owner.startswith("*")


#: The most shapes that decide dimensions of unknown number.
_MAX_WEIGHT = 64


def limit(size: Size | None) -> Size | None:
    """A size that is small enough to be kept; None for one of too many terms."""
    return None if size is None or len(size.terms) > _MAX_TERMS else size


@hashed_once
@dataclass(frozen=True, slots=True)
class Star(HashedOnce):
    """Dimensions of unknown number: those of an input, by its name, or of the result of an expression.

    Equal stars stand for the same dimensions, except for those without a key, of which nothing is known.
    """

    key: Hashable
    name: str = field(default="", compare=False)
    #: The dimensions that these are a part of, and how many are left out in front and behind.
    whole: tuple[Star, int, int] | None = field(default=None, compare=False)
    #: What is told their number, and how it is known, once an operation decides it; None in runs that learn nothing.
    note: Note | None = field(default=None, compare=False, repr=False)
    #: How many stars the key is made of.
    weight: int = field(default=1, compare=False, repr=False)

    @property
    def is_definite(self) -> bool:
        """True if an equal star stands for the same dimensions."""
        return self.key is not None

    def derive(self, *parts: Hashable) -> Star:
        """The dimensions that an operation makes of these; `parts` tell the operation apart from others."""
        return Star((self.key, *parts), weight=self.weight) if self.is_definite else ANY_STAR

    def cut(self, front: int = 0, back: int = 0) -> Star:
        """The dimensions without so many in front and behind, which are there."""
        if not self.is_definite:
            return self
        star, before, behind = self.whole or (self, 0, 0)
        before, behind = before + front, behind + back
        whole = (star, before, behind)
        key = (star.key, "cut", before, behind)
        return Star(key, star.name, whole, _shift(star.note, before + behind), star.weight)

    def counted_from(self, shape: Shape, more: int) -> Star:
        """These dimensions, known to be `more` than those that the star of a shape stands for."""
        note = None if shape.star is None else shape.star.note
        return self if note is None or not self.is_definite else replace(self, note=_shift(note, -more))

    def symbol(self, place: int) -> Symbol:
        """The size of one of the dimensions, negative places counted from the last."""
        if self.whole is not None:
            star, before, behind = self.whole
            return star.symbol(place + before if place >= 0 else place - behind)
        return Symbol(f"*{_digest(self)}", f"{self.name}_{place}")


#: Dimensions of which nothing is known.
ANY_STAR = Star(None)


def _shift(note: Note | None, more: int) -> Note | None:
    """The function to tell a number of dimensions, where another star stands for `more` than that."""
    return None if note is None else lambda number, how: note(number + more, how)


@lru_cache(maxsize=4096)
def _digest(star: Star) -> str:
    """A short text of a star's key, the same in each process."""
    return sha256(repr(star.key).encode()).hexdigest()[:12]


def star_of(*parts: Hashable) -> Star:
    """The dimensions that shapes (and numbers that describe the operation) decide, if these are known well enough.

    Those that very many shapes decide are not worth their comparison: a key holds each shape as often as it is used.
    """
    weight = 0
    for part in parts:
        if isinstance(part, Shape):
            is_whole = all(dim.size is not None for dim in (*part.head, *part.tail))
            if not is_whole or (part.star is not None and not part.star.is_definite):
                return ANY_STAR
            weight += 1 if part.star is None else part.star.weight
        elif isinstance(part, Dim) and part.size is None:
            return ANY_STAR
    return Star(parts, weight=weight) if weight <= _MAX_WEIGHT else ANY_STAR


class Refused(Exception):  # noqa: N818
    """Torch certainly refuses an operator.

    `kind` is what does not fit, `left` and `right` are the two sides: shapes, sizes or numbers of dimensions. `given`
    is the size that a layer gets where it takes the size `right`.
    """

    def __init__(self, kind: str, left: object, right: object, given: Size | None = None) -> None:
        super().__init__(f"{kind}: {left} against {right}")
        self.kind = kind
        self.left = left
        self.right = right
        self.given = given


@hashed_once
@dataclass(frozen=True, slots=True)
class Shape(HashedOnce):
    """The dimensions of a tensor; without a `star` they are all in `head`."""

    head: tuple[Dim, ...] = ()
    star: Star | None = None
    tail: tuple[Dim, ...] = ()

    @staticmethod
    def of(*sizes: int | Size | Dim | None) -> Shape:
        """The shape with these sizes."""
        return Shape(tuple(_dim(size) for size in sizes))

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if unknown."""
        return len(self.head) if self.star is None else None

    @property
    def least_rank(self) -> int:
        return len(self.head) + len(self.tail)

    @property
    def is_known(self) -> bool:
        """True if the size of each dimension is known, as a number or in symbols."""
        return self.star is None and all(dim.size is not None for dim in self.head)

    def __str__(self) -> str:
        star = () if self.star is None else ("*",)
        return f"[{', '.join((*map(str, self.head), *star, *map(str, self.tail)))}]"

    # -- dimensions ------------------------------------------------------------------------------------------------

    def place(self, at: int) -> int | None:
        """A dimension's place counted from the first one if the rank is known.

        Raises `Refused` if there is no such dimension, None if that is not known.
        """
        rank = self.rank
        if rank is None:
            return None
        if not -max(rank, 1) <= at < max(rank, 1):
            raise Refused("dim", at, self)
        return at % rank if rank else 0

    def at(self, place: int) -> Dim:
        """The dimension at a place, negative ones counted from the last. Raises `Refused` if there is none."""
        if self.star is None:
            if not -len(self.head) <= place < len(self.head):
                raise Refused("dim", place, self)
            return self.head[place]
        if 0 <= place < len(self.head):
            return self.head[place]
        if place < 0 and -place <= len(self.tail):
            return self.tail[place]
        beyond = place - len(self.head) if place >= 0 else place + len(self.tail)
        if (place >= 0 and self.tail) or (place < 0 and self.head):
            return ANY
        return Dim(Size.symbol(self.star.symbol(beyond))) if self.star.name and self.star.is_definite else ANY

    def with_dim(self, place: int, dim: Dim) -> Shape:
        """The shape with another size at a place that is there."""
        head, tail = list(self.head), list(self.tail)
        if self.star is None or 0 <= place < len(head):
            head[place] = dim
        elif place < 0 and -place <= len(tail):
            tail[place] = dim
        else:
            more = len(self.tail) if place >= 0 else len(self.head)
            star = star_of(self, "with", place, dim).counted_from(self, more)
            return Shape(self.head, star) if place >= 0 else Shape((), star, self.tail)
        return Shape(tuple(head), self.star, tuple(tail))

    def without(self, place: int) -> Shape:
        """The shape without one dimension. Raises `Refused` if there is none."""
        if self.star is None:
            at = self.place(place)
            assert at is not None
            return Shape(self.head[:at] + self.head[at + 1 :])
        if 0 <= place < len(self.head):
            return Shape(self.head[:place] + self.head[place + 1 :], self.star, self.tail)
        if place < 0 and -place <= len(self.tail):
            at = len(self.tail) + place
            return Shape(self.head, self.star, self.tail[:at] + self.tail[at + 1 :])
        if place >= 0:
            at = place - len(self.head)
            star = self.star.derive("without", at) if at else self.star.cut(front=1)
            return Shape(self.head, star) if not self.tail else unknown(None)
        at = place + len(self.tail)
        star = self.star.derive("without", at) if at + 1 else self.star.cut(back=1)
        return Shape((), star, self.tail) if not self.head else unknown(None)

    def insert(self, place: int, dim: Dim = _ONE_DIM) -> Shape:
        """The shape with one more dimension, which stands at `place` of the result. Raises `Refused`."""
        if self.star is None:
            rank = len(self.head)
            if not -rank - 1 <= place <= rank:
                raise Refused("dim", place, self)
            at = place % (rank + 1)
            return Shape((*self.head[:at], dim, *self.head[at:]))
        if 0 <= place <= len(self.head):
            return Shape((*self.head[:place], dim, *self.head[place:]), self.star, self.tail)
        if place < 0 and -place <= len(self.tail) + 1:
            at = len(self.tail) + place + 1
            return Shape(self.head, self.star, (*self.tail[:at], dim, *self.tail[at:]))
        more = 1 + (len(self.tail) if place >= 0 else len(self.head))
        star = star_of(self, "inserted", place, dim).counted_from(self, more)
        return Shape(self.head, star) if place >= 0 else Shape((), star, self.tail)

    def elements(self) -> Size | None:
        """The number of elements; None if unknown."""
        total = ONE
        for dim in self.head:
            if dim.size is None:
                return None
            total = total * dim.size
        return limit(total) if self.star is None else None


def _dim(size: int | Size | Dim | None) -> Dim:
    if isinstance(size, Dim):
        return size
    return Dim.of(size) if isinstance(size, int) else Dim(size)


def unknown(key: Hashable, name: str = "") -> Shape:
    """The shape of a tensor of which nothing is known, identified by `key`."""
    return Shape((), Star(key, name))


# -- sizes that cannot agree -----------------------------------------------------------------------------------------


def differ(one: Size | None, other: Size | None) -> bool:
    """True if two sizes differ whatever their symbols stand for, as long as these are above 0."""
    if one is None or other is None or one == other:
        return False
    apart = one - other
    if apart.constant is not None:
        return True
    number = next((factor for key, factor in apart.terms if not key), 0)
    if number % gcd(*(factor for key, factor in apart.terms if key)):
        return True  # `2 * n` and 3
    if len(one.terms) == len(other.terms) == 1 and one.terms[0][0] == other.terms[0][0]:
        return not any(isinstance(symbol, Quotient) for symbol in one.terms[0][0])  # `n` and `2 * n`
    return _is_part(one, other) or _is_part(other, one)


def _is_part(one: Size, other: Size) -> bool:
    """True for `n // 2` and `n`: a part that is smaller whatever `n` stands for."""
    (key, factor), *rest = one.terms or (((), 0),)
    quotient = key[0] if len(key) == 1 and not rest else None
    if not isinstance(quotient, Quotient) or quotient.numerator != other or quotient.denominator is None:
        return False
    divisor = quotient.denominator.constant
    return divisor is not None and 0 < factor < divisor


def cannot_broadcast(one: Dim, other: Dim) -> bool:
    """True if two dimensions are of different sizes, and neither can be 1."""
    return differ(one.size, other.size) and cannot_be_one(one.size) and cannot_be_one(other.size)


def cannot_be_one(size: Size | None) -> bool:
    """True if a size is known not to be 1, as long as its symbols are above 0."""
    if size is None or size.constant is not None:
        return size is not None and size.constant != 1
    if differ(size, ONE):
        return True
    factors = [factor for key, factor in size.terms if not any(isinstance(symbol, Quotient) for symbol in key)]
    return len(factors) == len(size.terms) and all(factor > 0 for factor in factors) and sum(factors) > 1


# -- combinations ----------------------------------------------------------------------------------------------------


def common_dim(one: Dim, other: Dim, left: Shape, right: Shape, *, is_same: bool = False) -> Dim:
    """The size that two dimensions are broadcast to; `is_same`: neither, if known, is 1 by chance. Raises `Refused`."""
    if one == other or other.is_one:
        return one
    if one.is_one:
        return other
    if cannot_broadcast(one, other):
        raise Refused("broadcast", left, right)
    for first in (one, other):
        if first.size is not None and first.size.constant is not None:
            return first  # the other one is the same, or 1
    for first in (one, other):
        if cannot_be_one(first.size):
            return first
    return one if is_same and one.size is not None and other.size is not None else ANY


def broadcast(left: Shape, right: Shape, *, is_same: bool = False) -> Shape:
    """The shape of an elementwise result; `is_same`: no size is 1 by chance. Raises `Refused`."""
    if left == right or (not right.head and right.star is None):
        return left
    if not left.head and left.star is None:
        return right
    if left.star is None and right.star is None:
        long, short = (left, right) if len(left.head) >= len(right.head) else (right, left)
        more = len(long.head) - len(short.head)
        pairs = zip(long.head[more:], short.head, strict=True)
        dims = [common_dim(a, b, left, right, is_same=is_same) for a, b in pairs]
        return Shape((*long.head[:more], *dims))
    for shape, other in ((left, right), (right, left)):
        if shape.star is None:
            continue
        if other.star is None and len(other.head) <= len(shape.tail):
            return Shape(shape.head, shape.star, _common_tail(shape.tail, other.head, left, right))
        is_same = other.star == shape.star and shape.star.is_definite and len(other.tail) == len(shape.tail)
        if is_same and len(other.head) == len(shape.head):
            head = tuple(common_dim(a, b, left, right) for a, b in zip(shape.head, other.head, strict=True))
            return Shape(head, shape.star, _common_tail(shape.tail, other.tail, left, right))
    tails = [shape.head if shape.star is None else shape.tail for shape in (left, right)]
    return Shape((), star_of(left, right), _common_tail(tails[0], tails[1], left, right))


def _common_tail(one: tuple[Dim, ...], other: tuple[Dim, ...], left: Shape, right: Shape) -> tuple[Dim, ...]:
    """The last dimensions that both are broadcast to; where only one has a dimension, the other may have any size."""
    count = max(len(one), len(other))
    sides = ((*(ANY,) * (count - len(side)), *side) for side in (one, other))
    return tuple(common_dim(a, b, left, right) for a, b in zip(*sides, strict=True))


def join(parts: Sequence[Shape], place: int, more: bool = False) -> Shape:
    """The shape of parts that are joined along a dimension (`torch.cat`); `more`: of some further ones as well.

    A part of shape `[0]` fits everywhere. Raises `Refused` where another dimension differs.
    """
    for part in parts:
        if part.rank == 0:
            raise Refused("cat", part, place)
    known = [part for part in parts if part != _EMPTY] or [*parts]
    certain = [part for part in known if part.rank is not None and not _may_be_empty(part)]
    for other in certain[1:]:
        if other.rank != certain[0].rank:
            raise Refused("cat", certain[0], other)
    if not known:
        return unknown(None)
    if not certain:
        ends = [_end(part, -1) for part in known]
        sizes = [None if end is None else end.size for end in ends]
        if place == -1 and not more and None not in sizes and not any(size == Size.of(0) for size in sizes):
            star = known[0].star if all(part.star == known[0].star for part in known) else None
            return Shape((), star if star is not None and not known[0].head else ANY_STAR, (Dim(total(sizes)),))
        is_flat = all(part.rank == 1 for part in known)
        length = Dim(None if more else total([part.at(0).size for part in known])) if is_flat else ANY
        return Shape((length,)) if is_flat else unknown(None)
    first = certain[0]
    at = first.place(place)
    assert at is not None
    rank = len(first.head)
    dims = []
    for number in range(rank):
        found = [_end(part, number - rank) for part in known]
        if number != at:
            dims.append(
                _same([dim for dim in found if dim is not None], [p for p, d in zip(known, found, strict=True) if d])
            )
        elif more or None in found:
            dims.append(ANY)
        else:
            dims.append(Dim(total([dim.size for dim in found if dim is not None])))
    return Shape(tuple(dims))


#: What `torch.cat` leaves out.
_EMPTY = Shape((Dim(Size.of(0)),))


def _may_be_empty(part: Shape) -> bool:
    """True for a tensor that may have the shape `[0]`."""
    if part.least_rank != 1:
        return part.star is not None and not part.least_rank
    size = (*part.head, *part.tail)[0].size
    return size is None or size.constant == 0 or bool(_quotients(size))


def _quotients(size: Size) -> set[Symbol]:
    return {symbol for symbol in size.symbols if isinstance(symbol, Quotient)}


def _end(part: Shape, place: int) -> Dim | None:
    """The dimension at a negative place; None for one that may not be there."""
    if _may_be_empty(part):
        return None
    dims = part.head if part.star is None else part.tail
    return dims[place] if -place <= len(dims) else None


def _same(dims: Sequence[Dim], parts: Sequence[Shape]) -> Dim:
    """The size that dimensions of several parts have in common. Raises `Refused` if two differ."""
    best = next((dim for dim in dims if dim.size is not None and dim.size.constant is not None), None)
    best = best or next((dim for dim in dims if dim.size is not None), ANY)
    for number, dim in enumerate(dims):
        if differ(best.size, dim.size):
            raise Refused("cat", parts[dims.index(best)], parts[number])
    return best


def agree(shapes: Sequence[Shape], kind: str) -> Shape:
    """The shape that several tensors must have in common. Raises `Refused` if two differ."""
    first, *rest = shapes
    for other in rest:
        if first.star is None and other.star is None:
            if len(first.head) != len(other.head):
                raise Refused(kind, first, other)
            pairs = zip(first.head, other.head, strict=True)
        else:
            least = min(len(first.head), len(other.head))
            pairs = zip(first.head[:least], other.head[:least], strict=True)
        dims = []
        for one, two in pairs:
            if differ(one.size, two.size):
                raise Refused(kind, first, other)
            is_better = one.size is None or (two.size is not None and two.size.constant is not None)
            dims.append(two if is_better else one)
        if first.star is None and other.star is None:
            first = Shape(tuple(dims))
        elif first.star is not None and (other.star is None or other.least_rank > first.least_rank):
            first = other
    return first


def total(sizes: Iterable[Size | None]) -> Size | None:
    """The sum of sizes; None if one is unknown."""
    found = Size.of(0)
    for size in sizes:
        if size is None:
            return None
        found = found + size
    return limit(found)


def multiply(left: Shape, right: Shape) -> Shape:
    """The shape of `left @ right`. Raises `Refused`."""
    if 0 in (left.rank, right.rank):
        raise Refused("matmul", left, right)
    if right.rank == 1 and (left.star is None or left.tail):
        _contract(left.at(-1), right.head[0], left, right)
        return left.without(-1)
    if left.rank == 1 and right.least_rank >= 2:
        _contract(left.head[0], right.at(-2), left, right)
        return right.without(-2)
    if right.rank == 2 and left.star is not None:  # a vector, too
        _contract(left.tail[-1] if left.tail else ANY, right.head[0], left, right)
        return with_last(left, right.head[1])
    if left.least_rank < 2 or right.least_rank < 2:
        return Shape((), star_of(left, "times", right))
    _contract(left.at(-1), right.at(-2), left, right)
    batch = broadcast(_cut(left), _cut(right)) if right.rank != 2 else _cut(left)
    rows, columns = left.at(-2), right.at(-1)
    if batch.star is None:
        return Shape((*batch.head, rows, columns))
    return Shape(batch.head, batch.star, (*batch.tail, rows, columns))


def with_last(shape: Shape, dim: Dim) -> Shape:
    """The shape with another size of the last dimension, which is there."""
    if shape.star is None:
        return Shape((*shape.head[:-1], dim))
    if shape.tail:
        return shape.with_dim(-1, dim)
    if shape.head:
        star = star_of(shape, "rows").counted_from(shape, len(shape.head) - 1)
        return Shape((), star, (dim,))
    return Shape((), shape.star.cut(back=1), (dim,))


def _cut(shape: Shape) -> Shape:
    """A shape without its last two dimensions, which are there."""
    return shape.without(-1).without(-1)


def _contract(one: Dim, other: Dim, left: Shape, right: Shape) -> None:
    if differ(one.size, other.size):
        raise Refused("matmul", left, right)


def reduce(shape: Shape, places: Sequence[int] | None, *, keeps: bool = False, key: Hashable = None) -> Shape:
    """The shape without the dimensions that are reduced, all if `places` is None. Raises `Refused`."""
    if places is None:
        star = None if shape.star is None else shape.star.derive("ones")
        return Shape((_ONE_DIM,) * len(shape.head), star, (_ONE_DIM,) * len(shape.tail)) if keeps else Shape()
    if len(set(places)) < len(places):
        raise Refused("dim", list(places), shape)
    if shape.star is None:
        at = {shape.place(place) for place in places}
        if len(at) < len(places):
            raise Refused("dim", list(places), shape)
        if keeps:
            return Shape(tuple(_ONE_DIM if n in at else dim for n, dim in enumerate(shape.head)))
        return Shape(tuple(dim for n, dim in enumerate(shape.head) if n not in at))
    is_end = all(place < 0 and -place <= len(shape.tail) for place in places)
    if is_end or all(0 <= place < len(shape.head) for place in places):
        if keeps:
            for place in places:
                shape = shape.with_dim(place, _ONE_DIM)
            return shape
        for place in sorted(places, key=abs, reverse=True):
            shape = shape.without(place)
        return shape
    more = shape.least_rank - (0 if keeps else len(places))
    return Shape((), star_of(shape, "reduced", tuple(places), keeps).counted_from(shape, more))


def swap(shape: Shape, one: int, other: int) -> Shape:
    """The shape with two dimensions exchanged. Raises `Refused`."""
    if one == other and shape.star is not None:
        return shape  # of rank 0, too, where torch takes 0 and -1 as places
    if shape.star is None:
        a, b = shape.place(one), shape.place(other)
        assert a is not None
        assert b is not None
        dims = list(shape.head)
        if dims:
            dims[a], dims[b] = dims[b], dims[a]
        return Shape(tuple(dims))
    is_end = all(place < 0 and -place <= len(shape.tail) for place in (one, other))
    if is_end or all(0 <= place < len(shape.head) for place in (one, other)):
        first, second = shape.at(one), shape.at(other)
        return shape.with_dim(one, second).with_dim(other, first)
    star = star_of(shape, "swapped", one, other)
    if one < 0 and other < 0:
        deepest = max(-one, -other)
        star = star.counted_from(shape, shape.least_rank - deepest)
        tail = [*((ANY,) * (deepest - len(shape.tail))), *shape.tail]
        tail[one], tail[other] = tail[other], tail[one]
        return Shape((), star, tuple(tail))
    kept = shape.head[: min(one, other)] if one >= 0 and other >= 0 else ()
    return Shape(kept, star.counted_from(shape, shape.least_rank - len(kept)))


def permute(shape: Shape, order: Sequence[int]) -> Shape:
    """The shape with its dimensions in another order. Raises `Refused`."""
    rank = len(order)
    at = {place % rank for place in order if -rank <= place < rank}
    if len(at) < rank or shape.least_rank > rank or shape.rank not in (None, rank):
        raise Refused("permute", shape, list(order))
    dims = of_rank(shape, rank).head
    return Shape(tuple(dims[place] for place in order))


def of_rank(shape: Shape, rank: int) -> Shape:
    """A shape that is known to have `rank` dimensions. Raises `Refused` if it cannot have them."""
    if shape.star is None:
        if len(shape.head) != rank:
            raise Refused("rank", shape, rank)
        return shape
    more = rank - shape.least_rank
    if more < 0:
        raise Refused("rank", shape, rank)
    if shape.star.note is not None:
        shape.star.note(more, TAKEN)
    is_named = shape.star.name and shape.star.is_definite
    dims = [Dim(Size.symbol(shape.star.symbol(number))) if is_named else ANY for number in range(more)]
    return Shape((*shape.head, *dims, *shape.tail))


def view(shape: Shape, given: Sequence[Dim | Star | None], *, is_possible: bool = False) -> Shape:
    """The shape of `x.view(given)`; -1 takes what is left, None is a number that is not known.

    `is_possible`: the numbers of elements agree, so that what is left is whole.

    Raises `Refused` where the numbers of elements differ.
    """
    star = next((one for one in given if isinstance(one, Star)), None)
    dims = [one for one in given if not isinstance(one, Star)]
    free = [number for number, one in enumerate(dims) if one is not None and one.size == Size.of(-1)]
    numbers = [one.size.constant for one in dims if one is not None and one.size is not None]
    if len(free) > 1 or any(number is not None and number < -1 for number in numbers):
        raise Refused("view", shape, [str(one) for one in given])
    if star is not None:
        at = given.index(star)
        head, tail = [(_or_any(one)) for one in given[:at]], [_or_any(one) for one in given[at + 1 :]]
        if free:
            left = None
            if shape.star == star and star.is_definite:
                own = [dim.size for dim in (*shape.head, *shape.tail)]
                rest = [dim.size for dim in (*head, *tail) if dim.size != Size.of(-1)]
                left = _left_over(own, rest, is_whole=is_possible)
            head, tail = ([Dim(left) if d.size == Size.of(-1) else d for d in side] for side in (head, tail))
        return Shape(tuple(head), star, tuple(tail))
    if not free:
        result = Shape(tuple(map(_or_any, dims)))
        before, after = shape.elements(), result.elements()
        if differ(before, after) or _has_no_batch_view(shape, result):
            raise Refused("view", shape, result)
        return result
    rest = [one.size if one is not None else None for number, one in enumerate(dims) if number != free[0]]
    own = [dim.size for dim in shape.head]
    left = _left_over(own, rest, is_whole=is_possible) if shape.star is None else None
    if shape.star is None and left is None:
        before, product = shape.elements(), Shape(tuple(Dim(size) for size in rest)).elements()
        if before is not None and product is not None and before.constant is not None and product.constant:
            raise Refused("view", shape, [str(one) for one in given])
    return Shape(tuple(Dim(left) if number == free[0] else _or_any(one) for number, one in enumerate(dims)))


def _has_no_batch_view(shape: Shape, result: Shape) -> bool:
    """True if `[*, 50]` is viewed as `[x.size(0), 8, 8]`: neither number divides the other."""
    if shape.star is None or not shape.star.is_definite or not shape.star.name or shape.head:
        return False
    batch = Size.symbol(shape.star.symbol(0))
    others = [dim.size for dim in result.head if dim.size != batch]
    sides = [_product([dim.size for dim in shape.tail]), _product(others)]
    if len(others) != len(result.head) - 1 or not all(sides):
        return False
    own, wanted = sides
    return bool(own and wanted and wanted % own and own % wanted)


def _product(sizes: Iterable[Size | None]) -> int | None:
    """The product of sizes that are numbers; None if one is not."""
    found = 1
    for size in sizes:
        if size is None or size.constant is None:
            return None
        found *= size.constant
    return found


def _or_any(one: Dim | Star | None) -> Dim:
    return one if isinstance(one, Dim) else ANY


def _left_over(before: Sequence[Size | None], given: Sequence[Size | None], *, is_whole: bool) -> Size | None:
    """The product of sizes, divided by that of others; None if it is not known, or not known to be whole."""
    before, given = list(before), list(given)
    for size in list(given):
        if size in before and size is not None:
            before.remove(size)
            given.remove(size)
    if None in before or None in given:
        return None
    above, below = ONE, ONE
    for size in before:
        above = above * size  # type: ignore[operator]
    for size in given:
        below = below * size  # type: ignore[operator]
    if below == ONE:
        return limit(above)
    if below.constant == 0:
        return None
    if above.constant is not None and below.constant is not None:
        return Size.of(above.constant // below.constant) if above.constant % below.constant == 0 else None
    if len(above.terms) > _MAX_TERMS or len(below.terms) > _MAX_TERMS:
        return None
    exact = above.floor(below)
    return exact if is_whole or exact * below == above else None


def flatten(shape: Shape, first: int, last: int) -> Shape:
    """The shape with the dimensions from `first` to `last` as one. Raises `Refused`."""
    if shape.star is None:
        start, end = shape.place(first), shape.place(last)
        assert start is not None
        assert end is not None
        if not shape.head:
            return Shape((_ONE_DIM,))
        if start > end:
            raise Refused("dim", first, shape)
        merged = Shape(shape.head[start : end + 1])
        site = next((dim.site for dim in merged.head if dim.site is not None), None)
        return Shape((*shape.head[:start], Dim(merged.elements(), site), *shape.head[end + 1 :]))
    if first >= 0 and last == -1:
        return Shape((*(shape.at(place) for place in range(first)), ANY))
    if first > last and (last < 0 or first >= 0 > last) and first < 0:
        raise Refused("dim", first, shape)
    if first < 0 and -first <= len(shape.tail):
        start, end = len(shape.tail) + first, len(shape.tail) + last
        if last < 0:
            merged = Shape(shape.tail[start : end + 1])
            return Shape(shape.head, shape.star, (*shape.tail[:start], Dim(merged.elements()), *shape.tail[end + 1 :]))
    if first >= 0 and first <= last < len(shape.head):
        merged = Shape(shape.head[first : last + 1])
        return Shape((*shape.head[:first], Dim(merged.elements()), *shape.head[last + 1 :]), shape.star, shape.tail)
    star = star_of(shape, "flattened", first, last)
    head = shape.head[:first] if first >= 0 else ()
    return Shape(head, star, shape.tail[last + 1 :] if -len(shape.tail) <= last < -1 else ())


def squeeze(shape: Shape, place: int | None) -> Shape:
    """The shape without a dimension of 1, or without all of them. Raises `Refused`."""
    if place is not None:
        if shape.rank == 0:
            shape.place(place)
            return shape
        dim = shape.at(place)
        if dim.is_one:
            return shape.without(place)
        if cannot_be_one(dim.size):
            return shape
        star = star_of(shape, "squeezed", place)
        if shape.star is None:
            return Shape(shape.head[:place], star, shape.head[place:][1:])
        if 0 <= place < len(shape.head):
            return Shape(shape.head[:place], star, shape.tail)
        if place < 0 and -place <= len(shape.tail):
            return Shape(shape.head, star, shape.tail[place:][1:])
        return Shape((), star)
    if shape.star is not None:
        return Shape((), star_of(shape, "squeezed"))
    dims = [dim for dim in shape.head if not dim.is_one]
    open_places = [number for number, dim in enumerate(dims) if not cannot_be_one(dim.size)]
    if not open_places:
        return Shape(tuple(dims))
    return Shape(tuple(dims[: open_places[0]]), star_of(shape, "squeezed"), tuple(dims[open_places[-1] + 1 :]))


def expand(shape: Shape, given: Sequence[Dim | Star | None]) -> Shape:
    """The shape of `x.expand(given)`: -1 keeps a size. Raises `Refused`."""
    if any(isinstance(one, Star) for one in given):
        return unknown(None)
    dims = [_or_any(one) for one in given]
    more = len(dims) - shape.least_rank
    if more < 0:
        raise Refused("expand", shape, [str(one) for one in dims])
    own: tuple[Dim | None, ...] = (*((None if shape.star is None else ANY,) * more), *shape.head)
    if shape.star is not None:
        own = (*((ANY,) * (len(dims) - len(shape.tail))), *shape.tail)
    found = []
    for wanted, dim in zip(dims, own, strict=True):
        if wanted.size == Size.of(-1):
            if dim is None:
                raise Refused("expand", shape, [str(one) for one in dims])
            found.append(dim)
            continue
        if dim is not None and cannot_be_one(dim.size) and differ(wanted.size, dim.size):
            raise Refused("expand", shape, [str(one) for one in dims])
        found.append(wanted)
    return Shape(tuple(found))


def repeat(shape: Shape, given: Sequence[Dim | Star | None]) -> Shape:
    """The shape of `x.repeat(given)`. Raises `Refused`."""
    if any(isinstance(one, Star) for one in given):
        return unknown(None)
    times = [_or_any(one) for one in given]
    if len(times) < shape.least_rank:
        raise Refused("repeat", shape, [str(one) for one in times])
    ends = shape.head if shape.star is None else shape.tail
    own = (*((_ONE_DIM if shape.star is None else ANY,) * (len(times) - len(ends))), *ends)
    return Shape(
        tuple(
            ANY if a.size is None or b.size is None else Dim(limit(a.size * b.size), b.site)
            for a, b in zip(times, own, strict=True)
        )
    )


def common(shapes: Sequence[Shape]) -> Shape:
    """The join: what several shapes have in common."""
    first, *rest = shapes
    for other in rest:
        if first == other:
            continue
        if first.star is None and other.star is None and len(first.head) == len(other.head):
            first = Shape(tuple(a if a == b else ANY for a, b in zip(first.head, other.head, strict=True)))
            continue
        ends = [shape.head if shape.star is None else shape.tail for shape in (first, other)]
        count = min(map(len, ends))
        pairs = zip(ends[0][len(ends[0]) - count :], ends[1][len(ends[1]) - count :], strict=True)
        first = Shape((), ANY_STAR, tuple(a if a == b else ANY for a, b in pairs))
    return first


def place_sites(shape: Shape, site: Site | None) -> Shape:
    """The shape with the expression that decides the sizes of which none is known to be decided elsewhere."""
    if site is None or all(dim.site is not None or dim.size is None for dim in (*shape.head, *shape.tail)):
        return shape

    def mark(dim: Dim) -> Dim:
        return dim if dim.site is not None or dim.size is None else replace(dim, site=site)

    return Shape(tuple(map(mark, shape.head)), shape.star, tuple(map(mark, shape.tail)))


def without_size(shape: Shape, size: Size | None) -> Shape:
    """The shape with dimensions of a size made unknown."""

    def blank(dim: Dim) -> Dim:
        return ANY if dim.size == size else dim

    return Shape(tuple(map(blank, shape.head)), shape.star, tuple(map(blank, shape.tail)))


def refuse(kind: str, left: object, right: object) -> NoReturn:
    raise Refused(kind, left, right)
