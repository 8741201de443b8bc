"""How runs are started: which theories they have, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from modellint.flow.devices import Devices
from modellint.flow.gate import Keepers
from modellint.flow.interp import Interpreter
from modellint.flow.newborn import Newborn
from modellint.flow.theory import Theory

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.link.project import Project

#: What every run knows of layers and tensors: it comes last, and gives way to what else a run is started with.
OBJECTS: tuple[Callable[[Interpreter], Theory], ...] = (Newborn, Devices)

Following = TypeVar("Following", bound=Theory)


def started(project: Project, *theories: Callable[[Interpreter], Theory], gate: Keepers | None = None) -> Interpreter:
    """A run with some theories, the first of which is asked first; those that rule packs bring are asked before."""
    return Interpreter(project, gate or project.of(Keepers), (*project.options.theories, *theories, *OBJECTS))


def followed(
    project: Project, kind: type[Following], *before: Callable[[Interpreter], Theory]
) -> tuple[Interpreter, Following]:
    """A run that follows tensors with a theory, and with others that are asked before it; and that theory."""
    theories = (*before, *kind.rests_on, kind, *kind.goes_before)
    run = started(project, *cast("tuple[Callable[[Interpreter], Theory], ...]", theories))
    run.of(Devices).tells_parameters = False
    return run, run.of(kind)
