"""Claims about steps of training: what a loss or an activation is fed with, and what gets a gradient and is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .claim import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class Fed(Claim):
    """The loss or activation at the place, called `function`, gets elements of a `kind`, such as "probabilities".

    The place is the call, or makes a layer that is called later. `within` is the function of the same file that is
    called to reach it, if it is not the one around the place.
    """

    function: str
    kind: str
    within: str = ""


@dataclass(frozen=True, slots=True)
class NoGradient(Claim):
    """The call of `backward` at the place gives no parameter a gradient. `within` is as above."""

    within: str = ""


@dataclass(frozen=True, slots=True)
class InNoGroup(Claim):
    """`backward` gives the parameters of the model that is made at the place a gradient, and no optimizer has them.

    `function` is the function of the same file that is called to reach it; empty for code outside of functions.
    """

    backward: Place
    function: str
