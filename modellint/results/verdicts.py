"""Verdicts of running code: one type for the process that runs the code and the one that reports it.

The child that runs user code imports this file alone: it needs the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """The outcome of running the code; `unconfirmed` includes code that could not be run."""

    NOT_RUN = "not-run"
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNCONFIRMED = "unconfirmed"


class Extent(Enum):
    """How much of a claim a run could test: `nothing` if there is nothing to test.

    It is `never` if no run can test more, with any arguments.
    """

    WHOLE = "whole"
    PART = "part"
    NOTHING = "nothing"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of confirming a claim, its device ("fake", "cpu", "cuda"), and the fact or reason observed."""

    status: Status = Status.NOT_RUN
    device: str | None = None
    detail: str = ""
    extent: Extent = Extent.WHOLE
