"""What looks something up, followed forwards: ids that are drawn from scores, and what a function guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import ANY_ARGUMENTS, FunctionRef, size_of
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell
from modellint.flow.interp import Interpreter
from modellint.graph.value import Op, Value
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.lookups import Indexed, Lookup
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event
    from modellint.link.project import Project

_NOWHERE = Value(Op.UNKNOWN, (), None, None)


def lookups(module: ModuleFacts, project: Project) -> Iterator[Lookup]:
    """The look-ups with drawn ids of a file's functions, or of what they call."""
    run = Interpreter(project, project.lives.keepers, with_tensors=True)
    assert run.lookups is not None
    objects: dict[Class, Shell] = {}
    told = 0
    for function in run.lookups.drawing(module).roots():
        code = SourceMethod(function, project.names)
        frame = class_frame(code.scope, id(function))
        for receiver in _receivers(function, objects, project):
            run.steps = 0
            run.calls.apply(FunctionRef(code, None, receiver), ANY_ARGUMENTS, frame, _NOWHERE)
        found = list(run.lookups.found.values())
        yield from found[told:]
        told = len(found)


class Guarded:
    """A function that limits what it looks up, run with anything."""

    def __init__(self, function: Function, project: Project) -> None:
        self._run = Interpreter(project, project.lives.keepers, with_tensors=True)
        assert self._run.lookups is not None
        self._found = self._run.lookups
        self._found.is_open = True
        code = SourceMethod(function, project.names)
        for receiver in _receivers(function, {}, project):
            self._run.steps = 0
            frame = class_frame(code.scope, id(function))
            self._run.calls.apply(FunctionRef(code, None, receiver), ANY_ARGUMENTS, frame, _NOWHERE)

    @property
    def lookups(self) -> Iterator[tuple[Indexed, Event]]:
        """What it looks up, and the event that does so."""
        for one in list(self._found.indexed_by.values()):
            events = (e for frame in self._found.roots for e in frame.flow.events if e.value is one.call)
            event = next(events, None)
            if event is not None:
                yield one, event

    def size(self, value: Value) -> Size | None:
        """The number that a value of the function is."""
        found = {size_of(self._run.evaluate(value, frame)) for frame in self._found.roots}
        return found.pop() if len(found) == 1 else None


def _receivers(function: Function, objects: dict[Class, Shell], project: Project) -> Iterator[Shell | None]:
    """What a function is called on: any object of its class, and, of a mixin, of those that it is mixed into."""
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
