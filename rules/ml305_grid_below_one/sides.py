"""Sides of images as numbers: how they are scaled, rounded down to whole patches, and kept above one.

A side is measured (`image.shape[0]`, `image.size`), perhaps scaled so that the area fits, divided by a number of
pixels, rounded, and multiplied by the same number again. The result is 0 for a side that is shorter, unless
something limits it from below on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass, replace
from modellint.graph.value import Op, same

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from modellint.graph.value import Value


@dataclass(frozen=True, slots=True)
class Scale(queries.Length):
    """A factor that fits an area: a square root, or a number computed from one."""


@dataclass(frozen=True, slots=True)
class Quotient(queries.Length):
    """The quotient of a floor division of numbers of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Side(queries.Length):
    """A side of an image, or a number computed from it, measured at `origin`, at index `place` of the image's sizes.

    It is `whole`, a `ratio` to a number of pixels, that ratio `floored`, a `multiple` of the pixels again, or the
    `rest` that a division leaves. `quotient` is the division by `divisor`, `rounding` the operation that rounds.
    `is_divided`: it has been divided at some time. `is_scaled`: it fits an area. `is_limited`: it has been bounded from
    below since, or another number was made of it.
    """

    image: Hashable = None
    place: Hashable = None
    stage: str = "whole"
    quotient: queries.Site | None = None
    rounding: queries.Site | None = None
    divisor: queries.Atoms = ()
    is_divided: bool = False
    is_scaled: bool = False
    is_limited: bool = False

    def along(self, place: Hashable) -> queries.Length:
        return queries.Length(self.origin) if isinstance(place, str) else replace(self, place=place)

    @property
    def is_rounded(self) -> bool:
        """True if it is 0 where the side is shorter than the divisor."""
        return self.stage in ("floored", "multiple")

    def whole(self, *, is_limited: bool) -> Side:
        """A new whole number that is computed from it."""
        made = Side(self.origin, image=self.image, place=self.place, is_divided=self.is_divided)
        return replace(made, is_scaled=self.is_scaled, is_limited=is_limited)

    def scale_to_area(self) -> Side:
        """This side scaled to an area, which undoes any bound from before."""
        return replace(self.whole(is_limited=False), is_scaled=True)

    def bounded_below(self) -> Side:
        """This side after `max(side, …)`, or any other bound from below."""
        return self.whole(is_limited=True) if self.is_rounded else replace(self, is_limited=True)

    def shares_facts_of(self, other: Side) -> bool:
        """True if facts about `other` hold of it: both are of one side, and scaled and rounded alike."""
        if other.is_limited or (other.image, other.place, other.is_scaled) != (self.image, self.place, self.is_scaled):
            return False
        return not other.is_rounded or other.rounding == self.rounding


def sides_in(atoms: queries.Atoms) -> Iterator[Side]:
    """The sides among atoms, and those held in their containers and the fields of their objects."""
    pending, seen = [atoms], set[queries.Shell]()
    for one in pending:
        for atom in one:
            if isinstance(atom, Side):
                yield atom
            elif isinstance(atom, queries.Shell) and atom not in seen:
                seen.add(atom)
                pending += [entry.atoms for entry in atom.entries]
                pending += [found for name in atom.history if not atom.is_layer and (found := atom.get(name))]


def are_of_grid(sides: Iterable[Side]) -> bool:
    """True if the sides form a grid: several of an image have been divided, or one of unknown place has."""
    places = {side.place for side in sides if side.is_divided}
    return len(places) > 1 or None in places


def round_side(side: Side, where: str, at: queries.Site) -> Side:
    """The side after rounding `up`, `down` or to the `nearest` number, or an operation that keeps a number."""
    if side.stage == "ratio" and where in ("down", "nearest"):
        return replace(side, stage="floored", rounding=at)
    return side.bounded_below() if where == "up" and side.stage == "ratio" else side


def combine(operator: str, left: queries.Atoms, right: queries.Atoms, made: queries.Site) -> queries.Atoms | None:
    """The result of arithmetic on sides and scales; None where neither operand is one."""
    operands = _operands(made)
    found: list[queries.Atom] = [
        _with_operand(operator, a, right, operands[1], made) for a in left if isinstance(a, Side)
    ]
    if operator in ("*", "+"):
        found += [_with_operand(operator, a, left, operands[0], made) for a in right if isinstance(a, Side)]
    if found:
        return tuple(dict.fromkeys(found))
    atoms = (*left, *right)
    if any(isinstance(atom, Scale) for atom in atoms):
        return (Scale(made),)
    return (queries.Length(made, is_made=True),) if any(isinstance(atom, Side) for atom in atoms) else None


def _operands(made: queries.Site) -> tuple[Value | None, Value | None]:
    value = made.value
    return (value.args[0], value.args[1]) if value.op is Op.BIN else (None, None)


def _with_operand(
    operator: str, side: Side, other: queries.Atoms, written: Value | None, made: queries.Site
) -> queries.Atom:
    """The result of an operator on a side and the operand `other`, whose expression is `written`."""
    if operator == "**":
        return Scale(made) if queries.constant(other) == queries.Constant(0.5) else side.whole(is_limited=True)
    if operator in ("*", "/", "//") and any(isinstance(atom, Scale) for atom in other):
        return side.scale_to_area()
    if operator == "*":
        if side.stage == "floored" and _is_divisor(side, other, written):
            return replace(side, stage="multiple")
        return side if side.is_rounded or _is_still_scaled(side) else side.whole(is_limited=True)
    if operator in ("/", "//"):
        return _divide(operator, side, other, made)
    if operator == "%" and side.stage == "whole" and is_number_of_pixels(other):
        return replace(side, stage="rest", divisor=other, is_divided=True)
    if operator == "-" and side.stage == "whole":
        rest = next((a for a in other if isinstance(a, Side) and a.stage == "rest" and side.shares_facts_of(a)), None)
        if rest is not None:
            return replace(side, stage="multiple", quotient=made, rounding=made, divisor=rest.divisor, is_divided=True)
    return side.whole(is_limited=True)


def _divide(operator: str, side: Side, other: queries.Atoms, made: queries.Site) -> Side:
    if side.is_rounded:
        return side
    if side.stage == "ratio" and operator == "//" and queries.constant(other) == queries.Constant(1):
        return replace(side, stage="floored", rounding=made)
    if not is_number_of_pixels(other) or (side.stage != "whole" and not _is_still_scaled(side)):
        return side.whole(is_limited=True)
    divided = replace(side, stage="ratio", quotient=made, divisor=other, is_divided=True)
    return replace(divided, stage="floored", rounding=made) if operator == "//" else divided


def _is_still_scaled(side: Side) -> bool:
    return side.is_scaled and side.stage in ("whole", "ratio")


def is_number_of_pixels(atoms: queries.Atoms) -> bool:
    """True if a divisor may be a number of pixels: a setting, or a constant above 1."""
    return bool(atoms) and all(map(_is_setting, atoms))


def _is_setting(atom: queries.Atom) -> bool:
    if isinstance(atom, queries.Constant):
        return type(atom.value) in (int, float) and atom.value > 1  # type: ignore[operator]
    return isinstance(atom, Quotient) or not isinstance(
        atom, queries.Length | queries.Counter | queries.Tensor | queries.Shape | queries.Shell
    )


def _is_divisor(side: Side, other: queries.Atoms, written: Value | None) -> bool:
    """True if the number is the one that the side was divided by."""
    size = queries.size_of(side.divisor)
    if size is not None:
        return size == queries.size_of(other)
    if side.divisor == other and all(
        isinstance(atom, queries.Constant | queries.SymbolicInput | queries.Number) for atom in other
    ):
        return True
    divided = None if side.quotient is None else _operands(side.quotient)[1]
    return divided is not None and written is not None and same(divided, written)
