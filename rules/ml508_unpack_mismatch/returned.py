"""The number of values that an unpacked value has, where each path to it tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import Event, Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.rule import Project

    _Parts = tuple[tuple[queries.Operand, int], ...]

_CATCHING = frozenset(("ValueError", "TypeError", "Exception", "BaseException"))
_FOLLOWED = (Op.TUPLE, Op.LIST, Op.CHOICE, Op.CALL)


@dataclass(frozen=True, slots=True)
class Unpacking:
    """A tuple assignment in a function, and what it gets instead: one operand for each path, with its number of values.

    `reached` is the target of the call whose result is unpacked.
    """

    function: Function
    event: Event
    parts: _Parts
    reached: queries.Reached | None


def misfit_unpackings(module: ModuleFacts, project: Project) -> Iterator[Unpacking]:
    """The tuple assignments of a file that are given another number of values, whatever way the call takes."""
    for function in (*module.all_functions(), module.body):
        for event in function.flow.unpackings:
            names = event.target
            if names is None or not _CATCHING.isdisjoint(event.handled) or _asks_length(event):
                continue
            unpacked = queries.Operand(event.value, function, project)
            parts = _misfits(unpacked, len(names.args))
            if not parts:
                continue
            # A call that Python refuses returns nothing, which ML502 reports.
            calls = {id(call.value): call for part, _ in parts for call in _calls(part)}
            targets = [(call, call.target) for call in calls.values()]
            own = next((target for call, target in targets if call.value is event.value), None)
            if own is not None and queries.Call(event, function, project).misfits(own):
                continue
            # The certainty of a call's target may take reading all files of the project.
            if all(target is not None and call.is_certain(target) for call, target in targets):
                yield Unpacking(function, event, parts, own)


def _asks_length(event: Event) -> bool:
    """True if a condition around an assignment checks the unpacked value's length or type."""
    tests = [guard.test for guard in event.guard.chain()] if event.guard is not None else []
    calls = [part for test in tests for part in test.walk() if part.op is Op.CALL and part.callee.op is Op.GLOBAL]
    return any(call.callee.data in ("len", "isinstance") and event.value in call.args for call in calls)


def _misfits(unpacked: queries.Operand, wanted: int) -> _Parts:
    """The values that a value is on its paths, with their numbers of values; none unless all are known and misfit."""
    if unpacked.value.op is Op.ITEM:
        count = _turns(unpacked.of(unpacked.value.args[0]))
        return () if count is None or count == wanted else ((unpacked, count),)

    def misfits(leaves: Iterable[queries.Operand]) -> _Parts | None:
        parts: list[tuple[queries.Operand, int]] = []
        for leaf in leaves:
            if leaf.is_none and leaf.context:
                continue
            count = queries.number_of_values(leaf)
            if count is None or count == wanted or not _is_returned(leaf, unpacked):
                return None
            parts.append((leaf, count))
        return tuple(parts) or None

    return (unpacked.conclude(misfits) if unpacked.value.op in _FOLLOWED else None) or ()


def _is_returned(leaf: queries.Operand, unpacked: queries.Operand) -> bool:
    """True if a value is made in the unpacking function, or in one that it calls, and a list is not changed there."""
    if leaf.value.op is Op.LIST and leaf.value not in (unpacked.value, *queries.returns(leaf.function)):
        return False
    calls = list(_calls(leaf))
    target = calls[0].target if calls else None
    return leaf.function is (unpacked.function if not calls else None if target is None else target.function)


def _calls(leaf: queries.Operand) -> Iterator[queries.Call]:
    """The calls by which the search came to a value, the innermost first."""
    context = leaf.context
    while context is not None:
        call = queries.Call.at(context.call.value, context.call.function, leaf.project)
        if call is not None:
            yield call
        context = context.outer


def _turns(iterable: queries.Operand) -> int | None:
    """The number of values that a loop over `zip(…)` or `enumerate(…)` unpacks at each turn."""
    call = iterable.value
    if call.op is not Op.CALL or call.has_unpacking:
        return None
    definition = iterable.project.names.definition(iterable.function.module, call.callee)
    if definition == External("builtins.zip"):
        return len(call.positional)
    return 2 if definition == External("builtins.enumerate") else None
