"""Sizes of an input cut into patches, and of a table that has a row for each of them.

A table of `(side // 16) ** 2` rows is meant for inputs of `side` by `side`. A layer with that stride makes as many
vectors of such an input. If one more is put in front of them, the table is one row short, whatever `side` is.
"""

from __future__ import annotations

from itertools import permutations, zip_longest
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.shapes.atoms import Shaped, dim_of
from modellint.flow.shapes.shape import Refused, Shape, is_of_input
from modellint.graph.size import Quotient, Size, Symbol
from modellint.graph.value import Op, called_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modellint.flow.domain import Atoms
    from modellint.flow.shapes.shape import Dim
    from modellint.graph.value import Value

#: The kind of a doubt: there are more, or fewer, vectors than rows for the input that the table is made for.
ROWS = "doubt-rows"
#: The most sizes of an input, and of settings, that are matched.
_MAX_SIDES = 3
_COUNTED = operators.words("counted")


def doubt_of_rows(one: Shape, other: Shape) -> Refused | None:
    """Why two shapes are seldom added: one counts patches of an input, the other has another number of rows."""
    if one.star is not None or other.star is not None:
        return None
    for first, second in zip_longest(reversed(one.head), reversed(other.head)):
        if first is None or second is None or first.size is None or second.size is None or first.size == second.size:
            continue
        for counted, table, sizes in ((one, other, (first.size, second.size)), (other, one, (second.size, first.size))):
            apart = rows_apart(*sizes)
            if apart:
                return Refused(ROWS, counted, table, Size.of(apart))
    return None


def doubt_of_slices(shape: Shape, parts: Sequence[Value], evaluate: Callable[[Value], Atoms]) -> Refused | None:
    """Why a slice of a table is seldom meant: up to the number of patches, and more: `table[:, : count + 1]`."""
    if shape.star is not None or not any(map(_is_of_patches, shape.head)):
        return None
    dims = iter(shape.head)
    for part in parts:
        if part.op is Op.CONST and part.data is Ellipsis:
            return None
        dim = None if part.op is Op.CONST and part.data is None else next(dims, None)
        if part.op is not Op.SLICE or dim is None or dim.size is None:
            continue
        end = dim_of(evaluate(part.args[1]))
        apart = None if end.size is None else rows_apart(end.size, dim.size)
        if apart is not None and apart > 0:
            return Refused(ROWS, Shape((end,)), shape, Size.of(apart))
    return None


def doubt_of_counted(call: Value, rows: Atoms, evaluate: Callable[[Value], Atoms]) -> Refused | None:
    """Why a look-up of positions is seldom meant: as many as patches, and more than the table has `rows`."""
    dim, index = dim_of(rows), call.args[1] if call.op is Op.CALL and len(call.args) > 1 else None
    while index is not None and dim.size is not None and _is_of_patches(dim):
        if index.op is Op.CALL and called_name(index.callee) in _COUNTED:
            counted = [one.shape for one in evaluate(index) if isinstance(one, Shaped)]
            size = counted[0].head[0].size if len(counted) == 1 and counted[0].rank == 1 else None
            apart = None if size is None else rows_apart(size, dim.size)
            is_beyond = apart is not None and apart > 0
            return Refused(ROWS, counted[0], Shape((dim,)), Size.of(apart or 0)) if is_beyond else None
        index = index.callee.args[0] if index.op is Op.CALL and index.callee.op is Op.ATTR else None
    return None


def _is_of_patches(dim: Dim) -> bool:
    return dim.size is not None and any(isinstance(symbol, Quotient) for symbol in dim.size.symbols)


def rows_apart(counted: Size, rows: Size) -> int | None:
    """By how much the number of patches exceeds the rows, for inputs of the size that the rows are made for.

    None if the sizes count no patches of the same size, or if it is not the same number for all sizes.
    """
    sides = list(dict.fromkeys(symbol for symbol in _inner(counted) if is_of_input(symbol)))
    if not 0 < len(sides) <= _MAX_SIDES or any(is_of_input(symbol) for symbol in _inner(rows)):
        return None
    made = [symbol for symbol in rows.symbols if isinstance(symbol, Quotient)]
    cut = {symbol.denominator for symbol in counted.symbols if isinstance(symbol, Quotient)}
    settings = sorted({one.numerator for one in made if one.denominator in cut and one.numerator is not None}, key=str)
    if len(settings) == 1:
        orders = [tuple(settings * len(sides))]
    else:
        orders = list(permutations(settings)) if len(settings) == len(sides) else []
    table = _with_sides(rows, {})
    for order in orders:
        difference = _with_sides(counted, dict(zip(sides, order, strict=True))) - table
        if difference.constant is not None:
            return difference.constant
    return None


def _inner(size: Size) -> Iterator[Symbol]:
    """The symbols of a size, and those of its quotients."""
    for symbol in sorted(size.symbols, key=lambda one: (one.owner, one.name)):
        if isinstance(symbol, Quotient):
            for part in (symbol.numerator, symbol.denominator):
                yield from () if part is None else _inner(part)
        else:
            yield symbol


def _with_sides(size: Size, sides: dict[Symbol, Size]) -> Size:
    """A size with other ones for some symbols, whose quotients have no whole multiples of the divisor.

    `(n - k) // k` is `n // k - 1`.
    """
    total = Size.of(0)
    for key, factor in size.terms:
        product = Size.of(factor)
        for symbol in key:
            product *= (
                _quotient(symbol, sides) if isinstance(symbol, Quotient) else sides.get(symbol, Size.symbol(symbol))
            )
        total += product
    return total


def _quotient(symbol: Quotient, sides: dict[Symbol, Size]) -> Size:
    above, below = symbol.numerator, symbol.denominator
    if above is None or below is None:
        return Size.symbol(symbol)
    above, below = _with_sides(above, sides), _with_sides(below, sides)
    whole, rest = Size.of(0), Size.of(0)
    for term in above.terms:
        part = Size((term,))
        times = part.floor(below)
        is_multiple = times * below == part
        whole, rest = (whole + times, rest) if is_multiple else (whole, rest + part)
    return whole + rest.floor(below) if rest.terms else whole
