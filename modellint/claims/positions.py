"""What is claimed of positions, of tables of them, and of grids: what holds inside, and fails at an end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class LengthNotPositions(Claim):
    """A table as long as the place says does not cover the positions that index it at `lookup`.

    Either it is a length, to which a number may be added (`is_offset`), or the position that is measured is not the
    largest. `asking` is where the length is first passed on.
    """

    lookup: Place | None
    asking: Place | None
    is_offset: bool


@dataclass(frozen=True, slots=True)
class StepBeyond(Claim):
    """One more step, with what was kept of others in the arguments `past`, is beyond the table at `lookup`."""

    lookup: Place
    past: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableEnds(Claim):
    """`lookup` asks the table made at the place for more positions than it has rows."""

    lookup: Place


@dataclass(frozen=True, slots=True)
class NegativeFiller(Claim):
    """What is filled in at the place is no id, and is looked up, at `lookup` if that is known."""

    lookup: Place | None


@dataclass(frozen=True, slots=True)
class GridEmpty(Claim):
    """The side `measured` of a small image is rounded down to nothing at the place, and `used`."""

    measured: Place
    used: Place
