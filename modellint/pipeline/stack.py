"""Memory for the frames of Python functions: one chunk for all, which makes deep calls cheaper."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")
#: Words of a frame that is too large for a chunk of 1 MiB, and leaves half of one of 2 MiB to those above it.
_WORDS = (1 << 17) + 1


def in_one_chunk(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator: make CPython keep the frames of all calls below a function in one chunk of memory.

    CPython (3.11 and later) maps chunks of 16 KiB for the frames of a thread, a larger one for a frame that does not
    fit, and unmaps a chunk when its last frame returns. An analysis crosses the end of a chunk hundreds of thousands
    of times, which took an eighth of its time.
    """

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=_WORDS)
    return wraps(function)(call)
