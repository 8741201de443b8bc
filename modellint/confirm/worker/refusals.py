"""Calls that are refused: what Python or torch says of them once they are reached."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch

from . import roles
from .inputs import Inputs
from .places import Spot
from .standins import described, likeliest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from modellint.claims.calls import Refused

    from .classes import Attempt
    from .session import Session

CONFIRMED, REFUTED, UNCONFIRMED = "confirmed", "refuted", "unconfirmed"
_TORCH = os.path.dirname(os.path.realpath(torch.__file__)) + os.sep


def refusal(session: Session, claim: Refused) -> dict[str, Any]:
    """Whether a call raises what is claimed: when the file is imported, an object is built, or a function is called."""
    spot, reasons = Spot.of(claim.place), list[str]()
    for error, is_reached in _tried(session, spot, reasons):
        told = f"`{session.name or os.path.basename(spot.path)}`"
        if error is not None and _is_it(error, claim):
            return {"status": CONFIRMED, "device": "cpu", "detail": f"{told}: {described(error)}"}
        if is_reached and (error is None or not _is_at(error, spot)):
            return {"status": REFUTED, "device": "cpu", "detail": f"{told} was run, and nothing was raised there"}
    return {"status": UNCONFIRMED, "detail": likeliest(reasons)}


def _tried(session: Session, spot: Spot, reasons: list[str]) -> Iterator[tuple[Exception | None, bool]]:
    """What importing, building and calling raise, and whether they reach a place; the first ways assume the least."""
    with _watching(spot) as reached:
        try:
            source = session.source()
        except Exception as error:
            yield error, bool(reached)
            raise
    if not session.name:
        reasons.append("importing the file does not reach it")
        yield None, bool(reached)
        return
    owner, method = source.split(session.name)
    is_built_only = session.name.endswith(".__init__")
    for variant in (0, roles.EQUAL):
        for attempt in session.attempts(owner, variant=variant):
            with _watching(spot) as reached:
                try:
                    found = attempt.build()
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    yield error, bool(reached)
                    continue
            if is_built_only:
                reasons.append("an object was built, and the call was not reached")
                yield None, bool(reached)
            else:
                yield from _called(attempt, found, method, spot, reasons)


def _called(
    attempt: Attempt, found: Any, method: str, spot: Spot, reasons: list[str]
) -> Iterator[tuple[Exception | None, bool]]:
    function = getattr(found, method) if method else found
    inputs = Inputs(function, found, attempt)
    # What builds something takes sizes, as constructors do.
    sizes = [] if method else [attempt.builder.arguments_of(function)]
    for number, given in enumerate(chain(sizes, inputs.combinations())):
        is_guess = number < len(sizes)
        arguments = given if is_guess else {name: spec.make("cpu") for name, spec in given.items()}
        with _watching(spot) as reached:
            try:
                with torch.no_grad():
                    function(**arguments)
            except Exception as error:
                reasons.append(f"calling it: {described(error)[:200]}")
                yield error, bool(reached)
                if not is_guess:
                    inputs.learn(error.with_traceback(None), given)
                continue
        reasons.append("a call did not reach it")
        yield None, bool(reached)
        return


@contextmanager
def _watching(spot: Spot) -> Iterator[list[int]]:
    """Note the lines of a place that are run meanwhile."""
    reached: list[int] = []

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and spot.has_line(frame):
            reached.append(frame.f_lineno)
        return line

    def entered(frame: FrameType, _: str, __: Any) -> Any:
        return line if os.path.realpath(frame.f_code.co_filename) == spot.path else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield reached
    finally:
        sys.settrace(before)


def _is_it(error: Exception, claim: Refused) -> bool:
    """Whether an error is the one that is claimed, raised at the place itself or by torch on its behalf."""
    if type(error).__name__ != claim.error or claim.words not in str(error):
        return False
    spot, is_there = Spot.of(claim.place), False
    for path, line in _steps(error):
        if path == spot.path:
            is_there = spot.line <= line <= spot.end_line
        elif not path.startswith(_TORCH):
            is_there = False
    return is_there


def _is_at(error: Exception, spot: Spot) -> bool:
    """Whether an error comes through a place."""
    return any(path == spot.path and spot.line <= line <= spot.end_line for path, line in _steps(error))


def _steps(error: Exception) -> Iterator[tuple[str, int]]:
    """The files and lines that an error came through, from the outside in."""
    step = error.__traceback__
    while step is not None:
        yield os.path.realpath(step.tb_frame.f_code.co_filename), step.tb_lineno
        step = step.tb_next
