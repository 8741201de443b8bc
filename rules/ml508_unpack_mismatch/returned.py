"""The number of values that a call returns, where each path through its callee tells it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import Event, EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: The number of calls that are followed, each of which returns the result of the next one.
_MAX_DEPTH = 5
_CATCHING = frozenset(("ValueError", "TypeError", "Exception", "BaseException"))


@dataclass(frozen=True, slots=True)
class Part:
    """A `return` (or a display) of so many values in a function."""

    function: Function
    value: Value
    count: int


@dataclass(frozen=True, slots=True)
class Unpacking:
    """A tuple assignment in a function, and the values that it gets instead: one for each path."""

    function: Function
    event: Event
    parts: tuple[Part, ...]
    reached: queries.Reached | None


def misfit_unpackings(module: ModuleFacts, project: Project) -> Iterator[Unpacking]:
    """The tuple assignments of a file that are given another number of values, whatever way the call takes."""
    for function in (*module.all_functions(), module.body):
        for event in function.flow.unpackings:
            names = event.target
            if names is None or not _CATCHING.isdisjoint(event.handled):
                continue
            if _asks_length(event):
                continue
            found = _parts(project, function, event.value, event, 0)
            if found is None or not found.parts or any(part.count == len(names.args) for part in found.parts):
                continue
            # A call that Python refuses returns nothing, which ML502 reports.
            if found.reached is not None and queries.Call(event, function, project).misfits(found.reached):
                continue
            # The certainty of a call's target may take reading all files of the project.
            if all(call.is_certain(target) for call, target in found.calls):
                yield Unpacking(function, event, found.parts, found.reached)


def _asks_length(event: Event) -> bool:
    """True if a condition around an assignment checks the unpacked value's length or type."""
    tests = [guard.test for guard in event.guard.chain()] if event.guard is not None else []
    calls = [part for test in tests for part in test.walk() if part.op is Op.CALL and part.callee.op is Op.GLOBAL]
    return any(call.callee.data in ("len", "isinstance") and event.value in call.args for call in calls)


@dataclass(frozen=True, slots=True)
class _Found:
    """The values that may be unpacked, and the calls that this depends on, each with its function and likely callee."""

    parts: tuple[Part, ...]
    reached: queries.Reached | None = None
    calls: tuple[tuple[queries.Call, queries.Reached], ...] = ()


def _parts(project: Project, function: Function, value: Value, event: Event, depth: int) -> _Found | None:
    """The numbers of values that a value may be unpacked into; None if they are not all known."""
    if value.op in (Op.TUPLE, Op.LIST):
        if any(part.op is Op.STARRED for part in value.args):
            return None
        return _Found((Part(function, value, len(value.args)),))
    if value.op is Op.CHOICE and value.data is not None and value.args:
        found = [_parts(project, function, part, event, depth + 1) for part in value.args]
        known = [one for one in found if one is not None]
        if len(known) < len(found) or depth > _MAX_DEPTH:
            return None
        parts, calls = (one.parts for one in known), (one.calls for one in known)
        return _Found(tuple(chain.from_iterable(parts)), calls=tuple(chain.from_iterable(calls)))
    if value.op is Op.ITEM:
        return _turns(project, function, value.args[0])
    if value.op is Op.CALL:
        return _parts_of_call(project, function, value, event, depth)
    return None


def _turns(project: Project, function: Function, iterable: Value) -> _Found | None:
    """The value that a loop over `zip(…)` or `enumerate(…)` unpacks at each turn."""
    if iterable.op is not Op.CALL or iterable.has_unpacking:
        return None
    definition = project.names.definition(function.module, iterable.callee)
    if definition == External("builtins.zip"):
        return _Found((Part(function, iterable, len(iterable.positional)),))
    if definition == External("builtins.enumerate"):
        return _Found((Part(function, iterable, 2),))
    return None


def _parts_of_call(project: Project, function: Function, call: Value, event: Event, depth: int) -> _Found | None:
    made = queries.Call(_as_event(call, event), function, project)
    outside = queries.number_of_values(made.result)
    if outside is not None:
        return _Found((Part(function, call, outside),))
    reached = made.target
    if reached is None or reached.function is None or reached.is_made or depth >= _MAX_DEPTH:
        return None
    target = reached.function
    if target.signature.is_async:
        return None
    bound = queries.constant_arguments(call, reached, {})
    parts: list[Part] = []
    calls = [(made, reached)]
    for inner in target.flow.events:
        if inner.kind is EventKind.YIELD:
            return None
        if inner.kind is not EventKind.RETURN or not queries.is_possible(inner, bound):
            continue
        if inner.value.op is Op.CONST and inner.value.data is None:
            continue
        found = _parts(project, target, inner.value, inner, depth + 1)
        if found is None:
            return None
        parts += (Part(target, inner.value, part.count) for part in found.parts)
        calls += found.calls
    return _Found(tuple(parts), reached, tuple(calls))


def _as_event(call: Value, event: Event) -> Event:
    return Event(EventKind.CALL, call, None, event.guard, event.loops, event.contexts, event.handled)
