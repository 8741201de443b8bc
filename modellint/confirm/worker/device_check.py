"""The check that a model runs on the device it was moved to; other checks repeated with a simulated GPU."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import placement, roles
from .checking import FAILED, LARGE, NOT_RUN, PASSED, TargetCall, TargetCheck, too_many
from .labelled import asks_for_gpu, labelled
from .movement import mixes
from .standins import described
from .verdicts import NEVER, NOTHING, PART, Verdict, quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from modellint.claims import Claim

    from .checking import Specs
    from .session import Session


def with_gpu(check: Callable[[Session, Claim], Verdict]) -> Callable[[Session, Claim], Verdict]:
    """Repeat a check with a simulated GPU if the code asks for one."""

    def checked(session: Session, claim: Claim) -> Verdict:
        try:
            outcome = check(session, claim)
        except Exception as error:
            if not asks_for_gpu(error):
                raise
            session.asks_for_gpu = True
        else:
            if outcome.status is not NOT_RUN or outcome.extent is NOTHING or not session.asks_for_gpu:
                return outcome
        with labelled(is_strict=False):
            return check(session, claim)

    return checked


def placement_check(session: Session, _: Claim) -> Verdict:
    """The check that a moved model runs on its device.

    Code that tensors without data do not get through is run on the CPU, with tensors that claim another device.
    """
    outcome: Verdict | None = None
    if not session.asks_for_gpu:
        outcome = _placement(session, session.machine(), is_brief=True)
        if session.works_when_large:
            return _in_all_ways(session, outcome)
        session.asks_for_gpu = False  # what there was no way around is no wish of the code
        is_partial = outcome.status is PASSED and outcome.extent is PART
        if session.is_on_gpu:
            return outcome
        if outcome.extent is NOTHING or (outcome.status is not NOT_RUN and not is_partial):
            return outcome
    builder = session.builder
    with TargetCheck(session).small() as size:
        again = _placement(session, labelled()) if size <= LARGE else None
    is_more = again is not None and again.status is not NOT_RUN and again.extent is not PART
    if outcome is None or (again is not None and (is_more or outcome.status is NOT_RUN)):
        return again or Verdict(NOT_RUN, None, too_many(size))
    session.builder = builder
    return outcome


def _in_all_ways(session: Session, outcome: Verdict) -> Verdict:
    """The verdict of a large model of which one call works; all other ways to call it are tried on a small one."""
    with TargetCheck(session).small() as size:
        small = _placement(session, session.machine()) if size <= LARGE else None
    if small is None or small.status is NOT_RUN:
        return _placement(session, session.machine())
    if small.status is FAILED:
        return small
    return replace(small, detail=f"{outcome.detail}; made small: {small.detail}")


def _placement(session: Session, machine: AbstractContextManager[Any], *, is_brief: bool = False) -> Verdict:
    """The verdict of calls on a device; with `is_brief`, a large model is called in one way only."""
    check = TargetCheck(session)
    moved: str | None = None
    with machine:
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant, placement.DEVICE):
                if isinstance(call.owner, nn.Module):
                    call.owner.to(placement.DEVICE)
                stayed = placement.left_behind(call.owner)
                for specs in check.specs(call):
                    outcome = _call_on_device(call, stayed, specs)
                    if not isinstance(outcome, Exception):
                        if is_brief and call.size > LARGE:
                            session.works_when_large = outcome.status is PASSED
                            return outcome
                        return check.everywhere(call, specs, outcome, partial(_call_on_device, call, stayed))
                    check.learn(call, outcome, specs)
                number = len(list(placement.tensors(call.owner)))
                if number and not stayed and moved is None:
                    moved = f"all {number} tensors move to {placement.DEVICE}, but no call got through: "
    outcome = check.not_run()
    return outcome if outcome.extent is NEVER else replace(outcome, detail=(moved or "") + outcome.detail)


class _Counted(TorchFunctionMode):
    """Counts the calls of torch functions."""

    number = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.number += 1
        return func(*args, **(kwargs or {}))


def _call_on_device(call: TargetCall, stayed: list[tuple[str, torch.Tensor]], specs: Specs) -> Verdict | Exception:
    """The verdict of one call on the device, or the error that decides nothing."""
    counted = _Counted()
    error = call.run(specs, placement.DEVICE, counted)
    if error is not None and not mixes(error):
        return error
    call.note(specs)
    names = quoted([path for path, _ in stayed])
    if error is not None:
        left = f"after the move to {placement.DEVICE}, {names} stayed on `cpu`; " if stayed else ""
        return Verdict(FAILED, "fake", f"{left}the call raises {described(error)[:240]}")
    number = len(list(placement.tensors(call.owner)))
    if not number and not counted.number:
        return Verdict(NOT_RUN, None, "it holds no tensors, and computes nothing", NOTHING)
    left = f" but {names}, which the call can do with" if stayed else ""
    detail = f"{number} tensors move to {placement.DEVICE}{left}, and the call works there"
    return Verdict(PASSED, "fake", detail)
