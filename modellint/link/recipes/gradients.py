"""Places in a script's run where gradients are recorded."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, Value
from modellint.link.calls.gradients import records_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function
    from modellint.link.project import Project

#: Attributes and methods of a tensor through which no gradient flows back.
_WITHOUT_GRADIENT = (
    {"detach"}
    | operators.attributes("Tensor", "gives")
    | operators.methods("Tensor", "gives:size", "gives:int", "gives:bool", "gives:tuple", "host gives")
)


class Gradients:
    """Tracks whether gradients are recorded at the current point of a run."""

    def __init__(self, run: Interpreter, project: Project) -> None:
        self._run = run
        self._project = project
        #: True while a training step runs; and how many calls on the stack suppress gradients.
        self.learns = False
        self.quiet = 0

    @contextmanager
    def kept_off(self, is_so: bool) -> Iterator[None]:
        """Suppress gradients in the context if `is_so`."""
        self.quiet += is_so
        yield
        self.quiet -= is_so

    def is_quiet(self, context: Value, function: Function) -> bool:
        """True if a context or decorator records no gradients, or may record none."""
        return records_nothing(context, function.module, self._project, perhaps=True)

    def is_detached(self, value: Value, frame: Frame) -> bool:
        function = frame.function
        if function is None:
            return False
        found = self._project.once(("detached", function), lambda: _detached_calls(function))
        return id(value) in found

    def are_recorded(self) -> bool:
        """True if gradients are recorded here."""
        contexts = self._run.contexts
        return (
            self.learns
            and not self.quiet
            and not any(f.function is not None and self.is_quiet(context, f.function) for context, f in contexts)
        )


def _detached_calls(function: Function) -> frozenset[int]:
    """The ids of calls whose results are only used detached."""
    callees = (event.value.callee for event in function.flow.of(EventKind.CALL))
    detached = {id(callee.args[0]) for callee in callees if callee.op is Op.ATTR and callee.data == "detach"}
    if not detached:
        return frozenset()
    seen: set[int] = set()
    for event in function.flow.events:
        if event.kind is not EventKind.CALL:
            detached.discard(id(event.value))
        for part in event.value.walk() if id(event.value) not in seen else ():
            if id(part) not in seen and not (part.op is Op.ATTR and part.data in _WITHOUT_GRADIENT):
                detached.difference_update(map(id, part.args))
            seen.add(id(part))
    return frozenset(detached)
