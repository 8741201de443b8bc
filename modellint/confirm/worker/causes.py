"""Errors that keep a target from being built or called with any arguments: only these are told to its author."""

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

#: Errors of the code itself: a name that nothing defines, or that no module has.
_OF_CODE = (NameError, ImportError, SyntaxError)


class UncallableError(Exception):
    """The target has nothing that can be called; the message names it."""


def cause_of(error: BaseException, doing: str, lacking: Iterable[str]) -> str | None:
    """The reason, as a text, why something fails with any arguments; None if it may depend on the arguments.

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
    """True if `nn.Module` itself raises: a name is registered twice, or before `super().__init__()`.

    False for a stand-in of a layer, which may lack attributes of the real one.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not _is_of_module(last.tb_frame):
        return False
    is_raised = dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    return is_raised and not isinstance(last.tb_frame.f_locals.get("self"), Passing)


def _is_of_module(frame: FrameType) -> bool:
    """True if a frame runs a method of `nn.Module`."""
    return frame.f_globals.get("__name__") == nn.Module.__module__
