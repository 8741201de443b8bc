"""Calls whose arguments do not fit the definition that they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind
from modellint.link.calls.doubts import is_certain
from modellint.link.calls.reached import CallReach, unfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, Misfit, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.calls.reached import Reached
    from modellint.rule import Project


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call in a function, the definition that it reaches, and its arguments that do not fit."""

    function: Function
    event: Event
    reached: Reached
    misfits: tuple[Misfit, ...]

    @property
    def call(self) -> Value:
        return self.event.value


def mismatches(module: ModuleFacts, project: Project) -> Iterator[Mismatch]:
    """The calls of a file that Python would refuse, in the order of its functions."""
    for function in (*module.all_functions(), module.body):
        reach = CallReach(project, function)
        for event in function.flow.of(EventKind.CALL):
            call = event.value
            reached = reach.of(call)
            if reached is None:
                continue
            found = tuple(unfit(call, reached))
            if found and is_certain(project, function, event, reached):
                yield Mismatch(function, event, reached, found)
