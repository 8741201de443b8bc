"""Transfer functions of operators on sizes of tensors: each dimension has a size, a length of the run, or None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import (
    PLAIN,
    Constant,
    Counter,
    Length,
    Number,
    Plain,
    SymbolicInput,
    Tensor,
    constant,
    join,
    size_of,
    text,
)
from modellint.flow.heap import Shell
from modellint.graph.immutable import replace
from modellint.graph.size import Size
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms, Shape, Site, Sizes
    from modellint.graph.value import Value
    from modellint.operators import Operator

#: Atoms that may be numbers.
_NUMBERS = (Constant, Counter, SymbolicInput, Length, Number, Plain)
_ONE = Size.of(1)
#: Operations whose value was made elsewhere.
_HANDED = frozenset((Op.PARAM, Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK))
#: The arguments that name the two exchanged dimensions, by the operator's name.
_ORDER = {"transpose": ("dim0", "dim1"), "swapaxes": ("axis0", "axis1"), "swapdims": ("dim0", "dim1")}


def numbers(given: tuple[Atoms, ...]) -> tuple[Atoms, ...]:
    """The sizes that are passed one by one, or in a single container; none if its entries are not all known."""
    first = given[0] if len(given) == 1 else ()
    if len(first) == 1 and isinstance(first[0], Shell) and first[0].is_container:
        return tuple(entry.atoms for entry in first[0].entries) if first[0].is_exact else ()
    return given


def number(size: Size) -> Atom:
    """A number that is known as a sum of symbols."""
    return Number(size) if size.constant is None else Constant(size.constant)


def measured(shape: Shape, at: Atoms | None) -> Atoms:
    """`x.shape[at]`: a size that only a run knows is a length, unless the tensor was cut to some number."""
    tensor, known, place = shape.tensor, constant(at or ()), whole(at)
    if place == -1 and tensor.width is not None:
        return (number(tensor.width),)
    if tensor.sizes is not None:
        is_there = place is not None and -len(tensor.sizes) <= place < len(tensor.sizes)
        size = tensor.sizes[place] if is_there and place is not None else None
        return PLAIN if size is None else (size if isinstance(size, Length) else number(size),)
    if tensor.is_cut:
        return PLAIN
    length = shape.length.along(None if known is None else known.value)
    is_more = type(length) is Length and place is not None and place == tensor.joined
    return (replace(length, is_more=True) if is_more else length,)


def element(shape: Shape) -> Atoms:
    """One of the sizes that `for n in x.shape` goes through."""
    if shape.tensor.sizes is None:
        return measured(shape, None)
    return join(measured(shape, (Constant(at),)) for at in range(len(shape.tensor.sizes)))


def side(atoms: Atoms) -> Size | Length | None:
    """The size of a dimension that a number says; None if it says none."""
    size = size_of(atoms)
    return next((atom for atom in atoms if isinstance(atom, Length)), None) if size is None else size


def viewed(given: tuple[Atoms, ...], at: Site, before: Sizes | None = None) -> Sizes | None:
    """The sizes passed to `view`, `expand` and the like at a site; -1 leaves one to the tensor.

    `before` are the sizes of the tensor, where -1 is that of the same dimension, counted from the last one.
    """
    sides = tuple(map(side, numbers(given)))
    left: tuple[Size | Length | None, ...] = tuple(Length(at) for _ in sides)
    if sides and before:
        left = (*left, *before)[-len(sides) :]
    return tuple(b if isinstance(a, Size) and a.constant == -1 else a for a, b in zip(sides, left, strict=True)) or None


def after(row: Operator, sizes: Sizes | None, get: Callable[[int, str], Atoms | None]) -> Sizes | None:
    """The sizes of an operator's result by those of its operand; `get` finds an argument behind it, from 0 on."""
    if sizes is None or "same-shape" in row.facets:
        return sizes
    count, name = len(sizes), row.name.rpartition(".")[2]
    if name == "rearrange":
        return _rearrange(sizes, text(get(0, "pattern")) or "")
    if "unsqueezes" in row.facets:
        at = whole(get(0, "dim"))
        if at is None:
            return None
        at %= count + 1
        return (*sizes[:at], _ONE, *sizes[at:])
    if name in _ORDER and count:
        places = [whole(get(at, key)) for at, key in enumerate(_ORDER[name])]
        if places[0] is None or places[1] is None:
            return None
        order = list(sizes)
        one, other = places[0] % count, places[1] % count
        order[one], order[other] = order[other], order[one]
        return tuple(order)
    if name == "permute":
        given = (get(at, "" if at else "dims") for at in range(count))
        order_ = [whole(atoms) for atoms in numbers(tuple(atoms for atoms in given if atoms is not None))]
        return tuple(sizes[at % count] for at in order_ if at is not None) if None not in order_ else None
    return sizes[::-1] if name == "t" and count == 2 else None


def _rearrange(sizes: Sizes, pattern: str) -> Sizes | None:
    """`rearrange(x, "rows columns -> 1 rows columns")`; None for patterns that group or compute dimensions."""
    left, arrow, right = (part.split() for part in pattern.partition("->"))
    if not arrow or len(left) != len(sizes):
        return None
    named: dict[str, Size | Length | None] = {**dict(zip(left, sizes, strict=True)), "1": _ONE}
    return tuple(named[name] for name in right) if named.keys() >= set(right) else None


def joined(row: Operator, operand: Atoms, along: int | None) -> Sizes | None:
    """`torch.cat`, `torch.stack`. Along `along`, the sizes of all entries add up, if their number is known."""
    parts = [part for atom in operand for part in _parts(atom)]
    known = [part for part in parts if part is not None]
    if along is None or not known or len(known) < len(parts):
        return None
    first = known[0]
    if "stacks" in row.facets:
        at = along % (len(first) + 1)
        return (*first[:at], None, *first[at:])
    if not first or any(len(part) != len(first) for part in known):
        return None
    at = along % len(first)
    return (*first[:at], _sum([part[at] for part in known]) if _is_counted(operand) else None, *first[at + 1 :])


def _parts(atom: Atom) -> Iterator[Sizes | None]:
    """The sizes of each entry of a container of tensors; None for one that may be several, or is no tensor."""
    entries = [entry.atoms for entry in atom.entries] if isinstance(atom, Shell) else [(atom,)]
    for atoms in entries:
        found = {one.sizes if isinstance(one, Tensor) else None for one in atoms}
        yield found.pop() if len(found) == 1 else None


def _is_counted(operand: Atoms) -> bool:
    """True if an operand is one container, all of whose entries are known."""
    return len(operand) == 1 and isinstance(operand[0], Shell) and operand[0].items is not None


def _sum(lengths: Iterable[Size | Length | None]) -> Size | Length | None:
    total: Size | Length | None = Size.of(0)
    for size in lengths:
        if isinstance(total, Size) and isinstance(size, Size):
            total = total + size
        else:
            length = next((one for one in (total, size) if isinstance(one, Length)), None)
            total = replace(length, is_more=True) if type(length) is Length and total != Size.of(0) else length
    return total


def broadcast(first: Sizes | None, second: Sizes | None) -> Sizes | None:
    """The sizes of an elementwise result: of two sizes for one dimension the one that is known, and not 1."""
    if first is None or second is None:
        return None
    if len(first) < len(second):
        first, second = second, first
    padded = (*([_ONE] * (len(first) - len(second))), *second)
    return tuple(_common(a, b) for a, b in zip(first, padded, strict=True))


def _common(one: Size | Length | None, other: Size | Length | None) -> Size | Length | None:
    if one == _ONE or one is None:
        return None if one is None and other == _ONE else other
    return one


def is_outer(equation: Atoms) -> bool:
    """True if an equation of `einsum` is that of an outer product: `i,j->ij`."""
    known = constant(equation)
    if known is None or not isinstance(known.value, str):
        return False
    left, _, right = known.value.replace(" ", "").partition("->")
    first, _, second = left.partition(",")
    return len(first) == len(second) == 1 and right == first + second


def indexed(sizes: Sizes | None, parts: tuple[Value, ...], evaluate: Callable[[Value], Atoms]) -> Sizes | None:
    """`x[:, None]`, `x[None]`, `x[..., 0]`, `x[: n]`."""
    if sizes is None:
        return None
    rest = list(sizes)
    found: list[Size | Length | None] = []
    for number, part in enumerate(parts):
        if part.op is Op.CONST and part.data is None:
            found.append(_ONE)
        elif part.op is Op.CONST and part.data is Ellipsis:
            after_it = sum(not (later.op is Op.CONST and later.data is None) for later in parts[number + 1 :])
            kept = max(len(rest) - after_it, 0)
            found += rest[:kept]
            del rest[:kept]
        elif not rest:
            return None
        elif part.op is Op.SLICE:
            size, ends = rest.pop(0), [evaluate(arg) for arg in part.args]
            is_whole = all(constant(end) == Constant(None) for end in ends)
            found.append(size if is_whole else next((a for a in ends[1] if isinstance(a, Length)), None))
        elif is_number(evaluate(part)):
            rest.pop(0)
        else:
            return None
    return (*found, *rest)


def kept(atoms: Atoms, site: Site) -> Atoms:
    """The atoms of a store: a tensor of known sizes is made at the store, unless it is only passed on there."""
    is_given = site.value.op in _HANDED

    def mark_made(atom: Atom) -> Atom:
        if not isinstance(atom, Tensor) or atom.sizes is None or (is_given and atom.made is not None):
            return atom
        return replace(atom, made=site)

    return tuple(map(mark_made, atoms))


def place_of(at: int, parts: tuple[Value, ...], count: int) -> int | None:
    """The dimension, of `count`, that a part of a subscript indexes; None for the last one, which is the width."""
    if any(part.op is Op.CONST and part.data is None for part in parts):
        return None
    dots = [number for number, part in enumerate(parts) if part.op is Op.CONST and part.data is Ellipsis]
    place = count - (len(parts) - at) if dots and dots[0] < at else at
    return place if 0 <= place < count - 1 else None


def is_number(atoms: Atoms) -> bool:
    """True if a value certainly is one number, rather than several or a tensor."""
    return bool(atoms) and all(isinstance(a, Counter | Length | Number) or whole((a,)) is not None for a in atoms)


def is_limit(upper: Atoms) -> bool:
    """True if the end of a slice is a number that limits a length."""
    known = constant(upper)
    if known is not None:
        return type(known.value) is int and known.value >= 0
    return bool(upper) and not any(isinstance(atom, Length) for atom in upper)


def whole(atoms: Atoms | None) -> int | None:
    """The whole number that a value is on all paths, such as that of a dimension; None if there is none."""
    known = constant(atoms or ())
    return known.value if isinstance(known, Constant) and type(known.value) is int else None


def of(atoms: Atoms) -> Sizes | None:
    """The sizes of a tensor, or of the data of a parameter or buffer; a number has no dimension.

    An atom that may be a number counts as one.
    """
    found = {_of(atom) for atom in atoms}
    return found.pop() if len(found) == 1 else None


def _of(atom: Atom) -> Sizes | None:
    if isinstance(atom, Tensor):
        return atom.sizes
    if isinstance(atom, Shell):
        return None if atom.is_container else of(atom.arguments.argument(0, "data") or ())
    return () if isinstance(atom, _NUMBERS) else None


def negative(value: Value, operand: Atoms) -> Atoms | None:
    """`-x` of a number; None where it is not known as one."""
    size = size_of(operand) if value.data == "-" else None
    return None if size is None else (number(-size),)
