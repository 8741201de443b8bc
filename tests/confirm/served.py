"""Setups for tests, whose processes are forked by servers that all tests of a pytest process share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from modellint.confirm.forkserver import ForkServers
from modellint.confirm.setup import Setup

SERVERS = ForkServers()


def served(roots: tuple[str, ...] = (), **settings: Any) -> Setup:
    """This interpreter, with the settings of a `Setup`."""
    return Setup(Path(sys.executable), roots, servers=SERVERS, **settings)
