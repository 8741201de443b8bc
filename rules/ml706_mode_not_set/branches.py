"""Conditions of which both branches do nothing but put a layer into training mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, same, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event


def same_mode(module: ModuleFacts) -> Iterator[tuple[Function, Event, Event]]:
    """The pairs of calls of `train()` of the same object, in the two branches of one condition."""
    for function in (*module.all_functions(), module.body):
        if "train" not in function.words:
            continue
        calls = [one for one in function.flow.of(EventKind.CALL) if _sets_training(one)]
        for at, first in enumerate(calls):
            for second in calls[at + 1 :]:
                is_same = same(first.value.callee.args[0], second.value.callee.args[0])
                if is_same and _are_opposite(first, second) and _are_alone(first, second, function):
                    yield function, first, second


def _sets_training(event: Event) -> bool:
    callee = event.value.callee
    return callee.op is Op.ATTR and callee.data == "train" and len(event.value.args) == 1 and event.guard is not None


def _are_opposite(first: Event, second: Event) -> bool:
    one, other = first.guard, second.guard
    if one is None or other is None or one.early or other.early:
        return False
    return one.test is other.test and one.truthy and not other.truthy and one.outer is other.outer


def _are_alone(first: Event, second: Event, function: Function) -> bool:
    """True if two branches do nothing else."""
    assert first.guard is not None
    assert second.guard is not None
    test = first.guard.test
    return not any(
        link.test is test
        for event in (*function.flow.events, *function.flow.unpackings)
        if event not in (first, second) and event.guard is not None
        for link in event.guard.chain()
    ) and not any(part.data is test for part in walk_all(function.flow.evaluated()) if part.op is Op.CHOICE)
