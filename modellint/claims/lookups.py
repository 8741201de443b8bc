"""Claims about look-ups in tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .claim import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class SizedByWidth(Claim):
    """The table made at the place has as many rows as its input features; `is_swapped`: as many columns as ids."""

    is_swapped: bool


@dataclass(frozen=True, slots=True)
class FedNumbers(Claim):
    """Real numbers reach the look-up at the place."""


@dataclass(frozen=True, slots=True)
class IdsExceed(Claim):
    """Ids without a row reach the look-up at the place, drawn from the scores of the layer made at `head`.

    `codec` is the class of a published codec, if its codebooks are looked up, each of which has `rows` rows. `given`
    are the numbers of a configuration with which the class is built.
    """

    codec: str = ""
    rows: int = 0
    head: Place | None = None
    given: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class GuardAdmits(Claim):
    """The guard in front of `lookup` lets an id through that has no row."""

    lookup: Place


@dataclass(frozen=True, slots=True)
class PaddingOutside(Claim):
    """The table made at the place has no row for its `padding_idx`."""


@dataclass(frozen=True, slots=True)
class ConstantOutside(Claim):
    """`lookup` passes a constant id to the table made at the place that has no row for it."""

    lookup: Place
