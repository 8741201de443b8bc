"""Observe the construction of objects, wherever it happens."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


@contextmanager
def seeing(kind: Any, note: Callable[[Any, FrameType], None]) -> Iterator[None]:
    """Call `note` with each object of a class that is made meanwhile, and with the frame that makes it.

    Its constructor has not run then.
    """
    original = kind.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        note(self, sys._getframe(1))
        original(self, *args, **kwargs)

    kind.__init__ = init
    try:
        yield
    finally:
        kind.__init__ = original
