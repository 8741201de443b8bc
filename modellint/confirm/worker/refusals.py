"""Probes of calls that raise an error: of Python or torch for their arguments, or for want of CUDA."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from .beside import CALLS
from .observed import is_torchs
from .places import Spot
from .reaching import is_at, is_on, reach, steps
from .standins import described, likeliest
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.calls import OnCuda, Refused

    from .session import Session


def refusal(session: Session, claim: Refused) -> Verdict:
    """Reach a call by importing, building or calling: confirmed if it raises the claimed error."""
    spot, reasons = Spot.of(claim.place), list[str]()
    for error, is_reached in reach(session, spot, reasons, tensors=claim.tensors):
        if error is not None and _is_it(session, error, claim):
            return confirmed(f"{_target_text(session, spot)}: {described(error)}")
        if is_reached and (error is None or not is_at(error, spot)):
            if not isinstance(claim, CALLS.RefusedLater):
                return refuted(_harmless(session, spot))
            reasons.append("the call was perhaps made only once")
    return unconfirmed(likeliest(reasons))


def placing(session: Session, claim: OnCuda) -> Verdict:
    """Reach a place without CUDA: confirmed if it raises torch's error for that."""
    spot, reasons = Spot.of(claim.place), list[str]()
    with _without_cuda():
        for error, is_reached in reach(session, spot, reasons):
            is_cuda = error is not None and ("CUDA" in str(error) or "NVIDIA" in str(error))
            if error is not None and is_cuda and is_at(error, spot) and _is_own(session, error, spot):
                detail = f"{_target_text(session, spot)}, run without CUDA: {described(error)}"
                return confirmed(detail)
            if is_reached and (error is None or not is_at(error, spot)):
                return refuted(_harmless(session, spot))
    return unconfirmed(likeliest(reasons))


@contextmanager
def _without_cuda() -> Iterator[None]:
    """No CUDA device meanwhile, whatever the machine has."""
    original = torch.cuda._lazy_init

    def refuse() -> None:
        raise RuntimeError("No CUDA GPUs are available")

    torch.cuda._lazy_init = refuse
    try:
        yield
    finally:
        torch.cuda._lazy_init = original


def _target_text(session: Session, spot: Spot) -> str:
    return f"`{session.name or os.path.basename(spot.path)}`"


def _harmless(session: Session, spot: Spot) -> str:
    return f"{_target_text(session, spot)} was run, and nothing was raised there"


def _is_it(session: Session, error: Exception, claim: Refused) -> bool:
    """True if an error is the claimed one, raised by the call itself or by torch on its behalf."""
    if type(error).__name__ not in claim.error.split(" or ") or claim.words not in str(error):
        return False
    said = {int(number) for number in re.findall(r"\d+", str(error))}
    if said and not said.issuperset(claim.numbers):
        return False  # the inputs that were made up do not fit, either
    spot, is_there = Spot.of(claim.place), False
    if not _is_own(session, error, spot):
        return False
    for code, line in steps(error):
        if not is_torchs(code):
            is_there = is_on(spot, code, line)
    return is_there


def _is_own(session: Session, error: Exception, spot: Spot) -> bool:
    """True if an error may be raised by the act at a place, rather than by its operands."""
    return not session.observed.is_act(spot) or session.observed.has_raised(spot, error)
