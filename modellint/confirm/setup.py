"""The interpreter, guard and settings of probes."""

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
    """The interpreter, guard and settings of probes."""

    python: Path
    roots: tuple[str, ...]
    guarding: Guarding = field(default_factory=Guarding)
    overrides: tuple[tuple[str, Any], ...] = ()
    stand_ins: tuple[str, ...] = ()
    #: Arguments of classes and functions, by target (`pkg.module:Class`, `file.py::Class`).
    targets: tuple[tuple[str, Any], ...] = ()
    #: The guard that the system gives for `guarding`.
    guard: Sandbox | None = None
    #: The fork servers; without them, each process imports torch for itself.
    servers: ForkServers | None = field(default=None, compare=False)
