"""Claims about position tables and grids: code that works inside its range and fails at an end of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .claim import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class LengthNotPositions(Claim):
    """A table of the length at the place does not cover the positions that index it at `lookup`.

    Either the length counts positions, to which an offset may be added (`is_offset`), or it is taken from a position
    that is not the largest. `asking` is the first call that passes the length on.
    """

    lookup: Place | None
    asking: Place | None
    is_offset: bool


@dataclass(frozen=True, slots=True)
class StepBeyond(Claim):
    """One more step, with the state of earlier steps in the arguments `past`, exceeds the table at `lookup`."""

    lookup: Place
    past: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableEnds(Claim):
    """`lookup` indexes the table made at the place with more positions than it has rows."""

    lookup: Place


@dataclass(frozen=True, slots=True)
class RowsDiffer(Claim):
    """`lookup` reads the table made at the place for another number of positions than it has rows, whatever is given.

    There are `more` positions, by the size of inputs that the table is made for; 0 if they do not depend on inputs.
    """

    lookup: Place
    more: int = 0


@dataclass(frozen=True, slots=True)
class TableShort(Claim):
    """The table at the place is combined with more rows than it has: those of an input that is longer than a limit.

    `is_kept`: those of an input that is joined to the ones of earlier calls.
    """

    is_kept: bool


@dataclass(frozen=True, slots=True)
class NegativeFiller(Claim):
    """The constant filled in at the place is no valid id, but is looked up (at `lookup`, if known)."""

    lookup: Place | None


@dataclass(frozen=True, slots=True)
class GridEmpty(Claim):
    """The side of a small image, taken at `measured`, is rounded down to 0 at the place, and used at `used`."""

    measured: Place
    used: Place
