"""Loops that train a layer, put it into evaluation mode, and leave it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.flow.queries import Act
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Event, Loop


@dataclass(frozen=True, eq=False, slots=True)
class Left:
    """An `eval()` in a loop; what trains the layer in it, and the `train()` before the loop."""

    action: queries.Action
    trained: queries.Action
    set: queries.Action | None
    is_known: bool


def left_in_evaluation(module: ModuleFacts, courses: list[queries.ModeCourse]) -> Iterator[Left]:
    """The calls of `eval` in a file after which a loop goes on to train the layer."""
    told: set[int] = set()
    for course in courses:
        if not course.of(Act.BACKWARD):
            continue
        for number, action in enumerate(course.actions):
            if action.act is not Act.EVAL or action.function.module is not module or id(action.value) in told:
                continue
            found = _judge(number, action, course)
            if found is not None:
                told.add(id(action.value))
                yield found


def _judge(number: int, action: queries.Action, course: queries.ModeCourse) -> Left | None:
    backward = [(at, one) for at, one in enumerate(course.actions) if one.act is Act.BACKWARD]
    loop = next((one for one in reversed(action.loops) if any(loss.is_within(one) for _, loss in backward)), None)
    keys = None if loop is None else course.objects(action, action.subject)
    if loop is None or not keys or not course.is_whole:
        return None
    for one in course.of(Act.TRAIN, Act.MODE, within=loop):
        found = course.objects(one, one.subject)
        if found is None or course.may_be_related(found, keys):
            return None
    trained = _training_run(number, loop, keys, course)
    if trained is None:
        return None
    run, is_before = trained
    started = [one for one in course.actions[:number] if one.act is Act.TRAIN and not one.is_within(loop)]
    started = [one for one in started if course.objects(one, one.subject) == keys]
    if not (is_before or started) or _ends(action, loop):
        return None
    made = [what.operand for kind, what in keys if kind == "made" and isinstance(what, queries.ModeObject)]
    acting = [queries.acts_by_mode(one) for one in made]
    is_known = len(acting) == len(keys) and all(acting)
    if False in acting or not (started or is_known):
        return None  # perhaps it was in evaluation mode before, and is not trained
    if any(course.may_hand_over(one, keys) for one in course.of(Act.OTHER, Act.RUN, within=loop)):
        return None
    if not course.is_certain(loop):
        return None
    return Left(action, run, started[-1] if started else None, is_known)


def _training_run(
    number: int, loop: Loop, keys: frozenset[queries.Key], course: queries.ModeCourse
) -> tuple[queries.Action, bool] | None:
    """A run that trains the layer in a loop, and whether it is done before the layer is put into evaluation mode."""
    found: list[tuple[queries.Action, bool]] = []
    for at, one in enumerate(course.actions):
        if one.act is not Act.RUN or not one.is_within(loop) or course.is_quiet(one):
            continue
        losses = [
            other
            for other, loss in enumerate(course.actions)
            if loss.act is Act.BACKWARD and other > at and loss.loops == one.loops
        ]
        if not losses or at < number < losses[0]:
            continue
        objects = course.objects(one, one.subject)
        if objects and objects & keys:
            found.append((one, at < number))
    return next((one for one in found if one[1]), found[0] if found else None)


def _ends(action: queries.Action, loop: Loop) -> bool:
    """True if the loop may end after an action, or if that is done in its last turn."""
    items = {id(item) for item, _ in loop.turns}
    for event, function in ((action.event, action.function), *action.steps):
        chain = [] if event.guard is None else list(event.guard.chain())
        for link in chain:
            compared = link.test.args if link.test.op is Op.COMPARE and link.test.data == "==" else ()
            if any(id(part) in items or (part.op is Op.UNPACK and id(part.args[0]) in items) for part in compared):
                return True
        number = next((at for at, one in enumerate(function.flow.events) if one is event), 0)
        if not any(one is loop for one in function.flow.loops):
            continue
        later = list(function.flow.events[number + 1 : loop.last])
        if any(one.kind is EventKind.RETURN and one.guard is event.guard for one in later):
            return True
        tests = {id(link.test) for link in chain if not link.early}
        if tests and loop.is_left and _leaves(later, tests):
            return True
    return False


def _leaves(later: list[Event], tests: set[int]) -> bool:
    """True if a loop may end in a branch: what follows in its turn happens in other branches only."""
    links = [[] if one.guard is None else list(one.guard.chain()) for one in later]
    behind = [chain for chain in links if not any(not link.early and id(link.test) in tests for link in chain)]
    return not behind or any(link.early and id(link.test) in tests for chain in behind for link in chain)
