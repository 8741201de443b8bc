"""Calls whose arguments do not fit the definition that they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op
from modellint.link.calls.doubts import is_certain
from modellint.link.calls.reached import CallReach
from modellint.link.classes.signatures import Misfit, misfits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.calls.reached import Reached
    from modellint.link.project import Project


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call in a function, what it reaches, and what of its arguments does not fit."""

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


def unfit(call: Value, reached: Reached) -> list[Misfit]:
    """What does not fit of the arguments of a CALL. Behind `*args` any number may follow, in `**kwargs` any name."""
    positional = call.positional
    is_final = not call.has_unpacking
    given = next((n for n, value in enumerate(positional) if value.op is Op.STARRED), len(positional))
    names = [name for name in call.data if name is not None]
    found = misfits(reached.parameters, given, names, is_final=is_final)
    most = sum(value.op is not Op.STARRED for value in positional)
    if most > given and not any(misfit.most >= 0 for misfit in found):
        found += [one for one in misfits(reached.parameters, most, (), is_final=False) if one.most >= 0]
    return found
