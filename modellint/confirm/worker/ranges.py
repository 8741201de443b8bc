"""Ranges of integers, numbers that remember theirs, and look-ups with a range of ids."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Range:
    """The integers from `low` to `high`, both included, and a description of their origin."""

    low: int
    high: int
    origin: str

    def __str__(self) -> str:
        return f"[{self.low}, {self.high}]"

    def united(self, other: Range) -> Range:
        """The join of two ranges."""
        origin = self.origin if (self.high, -self.low) >= (other.high, -other.low) else other.origin
        return Range(min(self.low, other.low), max(self.high, other.high), origin)

    def within(self, low: int | None, high: int | None) -> Range:
        """The part of the range between two limits."""
        least = self.low if low is None else max(self.low, low)
        most = self.high if high is None else min(self.high, high)
        return Range(min(least, most), max(least, most), self.origin)


@dataclass(frozen=True)
class RangeLookup:
    """A lookup: `ids` that can be out of range index `rows` rows."""

    operator: str
    rows: int
    ids: Range
    #: True if negative ids count from the end (indexing) rather than fail (`embedding`).
    wraps: bool

    @property
    def fails(self) -> bool:
        lowest = -self.rows if self.wraps else 0
        return self.ids.high >= self.rows or self.ids.low < lowest

    def __str__(self) -> str:
        return f"ids {self.ids} of {self.ids.origin} look up {self.rows} rows in `{self.operator}`"


@dataclass(frozen=True)
class Test:
    """The comparison that made a mask: the mask is true where `subject` is between two limits."""

    subject: object
    low: int | None
    high: int | None


class RangedInt(int):
    """A number that was read out of a tensor: it computes as the largest that it can be, and remembers the range."""

    range: Range

    def __new__(cls, found: Range) -> RangedInt:
        number = super().__new__(cls, found.high)
        number.range = found
        return number


def _arithmetic(name: str) -> Callable[[RangedInt, Any], Any]:
    compute = getattr(operator, name)

    def method(self: RangedInt, other: Any) -> Any:
        result = compute(int(self), other)
        if type(other) is int and isinstance(result, int):
            ends = sorted((compute(self.range.low, other), result))
            return RangedInt(Range(ends[0], ends[1], self.range.origin))
        return result

    return method


for _name in ("add", "sub", "mul", "floordiv"):
    setattr(RangedInt, f"__{_name}__", _arithmetic(_name))
for _name in ("add", "mul"):
    setattr(RangedInt, f"__r{_name}__", _arithmetic(_name))


def is_integer(tensor: torch.Tensor) -> bool:
    """True if a tensor holds integers; masks do not."""
    return not (tensor.dtype.is_floating_point or tensor.dtype.is_complex or tensor.dtype is torch.bool)
