"""What running code came to: the one shape of it, in the process that runs the code as in the one that reports it.

What runs user code reads this file where it lies: it imports the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """What running the code showed; `unconfirmed` also covers "could not run"."""

    NOT_RUN = "not-run"
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNCONFIRMED = "unconfirmed"


class Extent(Enum):
    """How much of what was to be shown a run could show: nothing is what there was to show, where it is `nothing`.

    It is `never` where no run shows more, whatever is passed.
    """

    WHOLE = "whole"
    PART = "part"
    NOTHING = "nothing"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of confirming a claim, on which device ("fake", "cpu", "cuda"), and the fact or reason observed."""

    status: Status = Status.NOT_RUN
    device: str | None = None
    detail: str = ""
    extent: Extent = Extent.WHOLE
