"""How much the tests try, and what that costs in calls, which a busy machine does not change.

By default a part of the examples takes its turn and fewer random ones are drawn; MODELLINT_EXAMPLES=all, as CI has it,
tries all of them, and runs what repeats a benchmark.
"""

from __future__ import annotations

import cProfile
import os
import zlib
from typing import TYPE_CHECKING

import pytest
from incremental.circumstances import has_turn

if TYPE_CHECKING:
    from collections.abc import Callable

IS_WHOLE = os.environ.get("MODELLINT_EXAMPLES") == "all"
#: For what repeats a benchmark, or installs and builds as users do.
in_full = pytest.mark.skipif(not IS_WHOLE, reason="MODELLINT_EXAMPLES=all runs it")
#: Seconds that a test waits for what an idle machine does at once: less than the limit of a test (`pyproject.toml`), so
#: that it is told what did not come.
PATIENCE = 240
IS_LARGE = os.environ.get("MODELLINT_LARGE") == "all"


def drawn(count: int) -> int:
    """How many of `count` random examples are drawn."""
    return count if IS_WHOLE else count // 5


def has_its_turn(name: str, every: int) -> bool:
    """Whether an example is one of those that are tried, about one of `every`."""
    return IS_WHOLE or zlib.crc32(name.encode()) % every == 0


def is_rewritten(name: str, every: int) -> bool:
    """True if an example is tried in another layout or in a notebook: one of `every`, or as many as are rewritten.

    They are rewritings, too, so that MODELLINT_REWRITINGS decides: with `turn` a third takes its turn by commit.
    """
    extent = os.environ.get("MODELLINT_REWRITINGS", "few")
    return extent == "all" or (has_turn(name, 3) if extent == "turn" else zlib.crc32(name.encode()) % every == 0)


def calls_of(work: Callable[[], object]) -> int:
    """How many calls of functions, those of C among them, some work takes."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
