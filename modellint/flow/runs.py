"""Starting runs: their theories, in order, and the functions that they follow, with receivers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from modellint.flow.devices import Devices
from modellint.flow.domain import ANY_ARGUMENTS, FunctionRef
from modellint.flow.frame import class_frame
from modellint.flow.gate import Keepers
from modellint.flow.heap import Shell
from modellint.flow.interp import Interpreter
from modellint.flow.late_layers import LateLayers
from modellint.flow.theory import Theory
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.flow.frame import Frame
    from modellint.graph.python import Class, Function
    from modellint.link.project import Project

#: The theories of runs about objects. They come last, so that others are asked first.
OBJECTS: tuple[Callable[[Interpreter], Theory], ...] = (LateLayers, Devices)

Following = TypeVar("Following", bound=Theory)


def started(project: Project, *theories: Callable[[Interpreter], Theory], gate: Keepers | None = None) -> Interpreter:
    """A new run with theories, asked in this order; theories of rule packs come before them."""
    return Interpreter(project, gate or project.of(Keepers), (*project.options.theories, *theories, *OBJECTS))


def tensor_run(
    project: Project, kind: type[Following], *before: Callable[[Interpreter], Theory]
) -> tuple[Interpreter, Following]:
    """A new run that follows tensors with a theory of class `kind`, others `before` it; and that theory."""
    theories = (*project.options.theories, *before, *kind.rests_on, kind, *kind.goes_before, Devices)
    run = Interpreter(project, project.of(Keepers), cast("tuple[Callable[[Interpreter], Theory], ...]", theories))
    run.of(Devices).tells_parameters = False
    run.budget = project.budget.of(kind.mode.asks or kind.__name__)
    return run, run.of(kind)


def called(function: Function, objects: dict[Class, Shell], project: Project) -> Iterator[tuple[FunctionRef, Frame]]:
    """References to a function, one for each receiver, each with a frame to call it from."""
    code = SourceMethod(function, project.names)
    frame = class_frame(code.scope, id(function))
    for receiver in _receivers(function, objects, project):
        yield FunctionRef(code, None, receiver), frame


def follow(function: Function, objects: dict[Class, Shell], run: Interpreter) -> None:
    """Run a function with unknown arguments."""
    for reference, frame in called(function, objects, run.project):
        run.start(reference, frame)


def _receivers(function: Function, objects: dict[Class, Shell], project: Project) -> Iterator[Shell | None]:
    """The receivers of a function: an object of its class; for a mixin, also of the layers that inherit it."""
    owner = function.owner
    if owner is None or function.is_static:
        yield None
        return
    model = project.classes.model(owner)
    for cls in (owner,) if model.is_module is True else function.module.classes.values():
        other = project.classes.model(cls)
        is_mixed = model.is_module is not True and other.is_module is True and other.method(function.name) is function
        if cls is owner or is_mixed:
            if cls not in objects:
                objects[cls] = Shell("instance", None, (id(cls),), other, ANY_ARGUMENTS)
            yield objects[cls]
