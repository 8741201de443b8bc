"""How runs are started: which theories they have, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from modellint.flow.devices import Devices
from modellint.flow.gate import Keepers
from modellint.flow.interp import Interpreter
from modellint.flow.lookups import Lookups
from modellint.flow.newborn import Newborn

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.flow.theory import Theory
    from modellint.link.project import Project

#: What every run knows of layers and tensors: it comes last, and gives way to what else a run is started with.
OBJECTS: tuple[Callable[[Interpreter], Theory], ...] = (Newborn, Devices)

Following = TypeVar("Following", bound=Lookups)


def started(project: Project, *theories: Callable[[Interpreter], Theory], gate: Keepers | None = None) -> Interpreter:
    """A run with some theories, the first of which is asked first."""
    return Interpreter(project, gate or project.of(Keepers), (*theories, *OBJECTS))


def followed(project: Project, kind: type[Following]) -> tuple[Interpreter, Following]:
    """A run that follows tensors, and what does so."""
    run = started(project, kind.TENSORS, kind)
    run.of(Devices).tells_parameters = False
    return run, run.of(kind)
