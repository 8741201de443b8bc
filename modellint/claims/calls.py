"""What is claimed of calls: that they are refused."""

from __future__ import annotations

from dataclasses import dataclass

from . import Claim


@dataclass(frozen=True, slots=True)
class Refused(Claim):
    """The call at the place raises an error of the type `error`, which says `words`.

    `within` is the function of the same file that is called to reach it, if it is not the one around the place.
    """

    error: str
    words: str
    within: str = ""
