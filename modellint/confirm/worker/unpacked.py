"""Into how many names the code that runs unpacks a value."""

from __future__ import annotations

import dis
import os
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from types import FrameType

_OTHERS = tuple(os.path.dirname(os.path.realpath(path)) + os.sep for path in (torch.__file__, __file__))


def number_unpacked(frame: FrameType | None) -> int | None:
    """The number of names that the innermost code of the user unpacks a value into; None if it does something else."""
    while frame is not None and not is_users(frame):
        frame = frame.f_back
    if frame is None:
        return None
    code = frame.f_code.co_code
    name = dis.opname[code[frame.f_lasti]]
    return code[frame.f_lasti + 1] if name == "UNPACK_SEQUENCE" else None


def is_users(frame: FrameType) -> bool:
    """True if a frame runs neither torch nor the worker."""
    return not os.path.realpath(frame.f_code.co_filename).startswith(_OTHERS)
