"""What keeps a target from being built or called whatever is passed to it: then its author is told of that alone."""

from __future__ import annotations

import dis
import re
from typing import TYPE_CHECKING

from torch import nn

from .passing import Passing
from .standins import described

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

#: What is wrong with the code itself: a name that nothing defines, or nothing offers.
_OF_CODE = (NameError, ImportError, SyntaxError)


class UncallableError(Exception):
    """There is nothing to call; the message says of what."""


def cause_of(error: BaseException, doing: str, lacking: Iterable[str]) -> str | None:
    """Why something fails whatever is passed, where an error says so; None if it may depend on that.

    `lacking` are libraries that could not be imported.
    """
    if isinstance(error, UncallableError):
        return str(error)
    said = described(error)
    for name in lacking:
        if re.search(rf"\b{re.escape(name)}\.\w", said) is not None:  # what stands for a part of it
            return f"`{name}` cannot be imported, and is needed for {doing}: {said}"
    return f"{doing}: {said}" if isinstance(error, _OF_CODE) or _is_refused_by_module(error) else None


def _is_refused_by_module(error: BaseException) -> bool:
    """Whether a module refuses what its own code does: registers a name twice, or before it is set up.

    A layer that was made up lacks what the one has that it stands for.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not _is_of_module(last.tb_frame):
        return False
    is_raised = dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    return is_raised and not isinstance(last.tb_frame.f_locals.get("self"), Passing)


def _is_of_module(frame: FrameType) -> bool:
    """Whether a frame runs a method that every module has from torch."""
    return frame.f_globals.get("__name__") == nn.Module.__module__
