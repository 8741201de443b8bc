"""How bad a finding is, and how sure: the two scales that settings speak of."""

from __future__ import annotations

from enum import Enum
from functools import total_ordering


@total_ordering
class _Ranked(Enum):
    """An enumeration whose members are ordered by their position: the first is the least."""

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        members = list(type(self))
        return members.index(self) < members.index(other)

    def __str__(self) -> str:
        return str(self.value)


class Severity(_Ranked):
    """`error` breaks or silently corrupts, `warning` breaks under conditions that occur, `info` is latent."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Confidence(_Ranked):
    """`high`: proved from facts, no other reading; `medium`: several signals agree; `low`: a single hint."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
