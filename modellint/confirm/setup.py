"""Under which interpreter, guard and settings probes run."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from modellint.confirm.guarded import Guarding
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.confirm.forkserver import ForkServers
    from modellint.finding import Sandbox


@dataclass(frozen=True)
class Setup:
    """Under which interpreter and with which settings probes run."""

    python: Path
    roots: tuple[str, ...]
    guarding: Guarding = field(default_factory=Guarding)
    overrides: tuple[tuple[str, Any], ...] = ()
    stand_ins: tuple[str, ...] = ()
    #: What to pass to classes and functions, by target (`pkg.module:Class`, `file.py::Class`).
    targets: tuple[tuple[str, Any], ...] = ()
    #: What the system makes of `guarding`.
    guard: Sandbox | None = None
    #: What forks processes; without, each imports torch for itself.
    servers: ForkServers | None = field(default=None, compare=False)
