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

    A number is added to a length (`is_offset`), or it is not the largest position that is measured. `asking` is where
    the length is passed on.
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
