"""Ways to reach a place in code: its file is imported, an object is built, a function is called."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import roles
from .inputs import Inputs
from .specs import known_spec
from .standins import described

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType, FrameType

    from .attempts import Attempt
    from .observed import Observed
    from .places import Spot
    from .session import Session


def reach(
    session: Session,
    spot: Spot,
    reasons: list[str],
    *,
    is_trained: bool = True,
    tensors: Sequence[tuple[str, str, tuple[int, ...]]] = (),
) -> Iterator[tuple[Exception | None, bool]]:
    """Import, build and call in several ways; yields each error, or None, and whether the place was reached.

    Ways that assume the least come first. Layers are called in training mode, or in evaluation mode. If a method does
    not lead to the place, `forward` is called, too. `tensors` are inputs that the function is known to be given: name,
    type and sizes.
    """
    observed = session.observed
    with _watching(observed, spot) as reached:
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
            with _watching(observed, spot) as reached:
                try:
                    found = attempt.build()
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    yield error, bool(reached)
                    continue
            if is_built_only:
                reasons.append("an object was built, and the call was not reached")
                yield None, bool(reached)
                continue
            if isinstance(found, nn.Module):
                found.train(is_trained)
            elif method:
                found.training = is_trained  # as layers have it, of which this may be a mixin
            yield from _call(attempt, found, method, observed, spot, reasons, tensors)
            if method != "forward" and type(found).__dict__.get("forward") is not None:
                yield from _call(attempt, found, "forward", observed, spot, reasons)


def _call(
    attempt: Attempt,
    found: Any,
    method: str,
    observed: Observed,
    spot: Spot,
    reasons: list[str],
    tensors: Sequence[tuple[str, str, tuple[int, ...]]] = (),
) -> Iterator[tuple[Exception | None, bool]]:
    """Call a function with its required arguments, then with all; yields errors and whether the place was reached."""
    function = getattr(found, method) if method else found
    for is_full in (False, True):
        inputs = Inputs(function, found, attempt, is_full=is_full)
        for name, dtype, shape in tensors:
            if not inputs.is_said(name):
                inputs.candidates.setdefault(name, []).insert(0, known_spec(dtype, shape))
        # A function that builds something takes sizes, as constructors do.
        sizes = [] if method or is_full else [attempt.builder.arguments_of(function)]
        for number, given in enumerate(chain(sizes, inputs.combinations())):
            is_guess = number < len(sizes)
            arguments = given if is_guess else {name: spec.make("cpu") for name, spec in given.items()}
            with _watching(observed, spot) as reached:
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
            if reached:
                return
            break


class _Reached:
    """True once a place was reached: its act has begun, or, where acts are not observed, one of its lines has run."""

    def __init__(self, observed: Observed, spot: Spot) -> None:
        self._observed = observed
        self._spot = spot
        self.has_line = False

    def __bool__(self) -> bool:
        is_act = self._observed.is_act(self._spot)
        return self._observed.has_begun(self._spot) if is_act else self.has_line


@contextmanager
def _watching(observed: Observed, spot: Spot) -> Iterator[_Reached]:
    """Watch whether a place is reached inside the block."""
    reached = _Reached(observed, spot)
    observed.forget()

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and spot.has_line(frame):
            reached.has_line = True
        return line

    def entered(frame: FrameType, _: str, __: Any) -> Any:
        return line if os.path.realpath(frame.f_code.co_filename) == spot.path else None

    before = sys.gettrace()
    sys.settrace(before if observed.is_act(spot) else entered)
    try:
        yield reached
    finally:
        sys.settrace(before)


def is_at(error: Exception, spot: Spot) -> bool:
    """True if a line of the place is in an error's traceback."""
    return any(is_on(spot, code, line) for code, line in steps(error))


def is_on(spot: Spot, code: CodeType, line: int) -> bool:
    """True if a line of some code is one of a place."""
    return spot.line <= line <= spot.end_line and os.path.realpath(code.co_filename) == spot.path


def steps(error: Exception) -> Iterator[tuple[CodeType, int]]:
    """The code objects and lines of an error's traceback, from the outside in."""
    step = error.__traceback__
    while step is not None:
        yield step.tb_frame.f_code, step.tb_lineno
        step = step.tb_next
