"""The parts of a training step that are done in the wrong order."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.flow.queries import Act
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.value import Loop
    from modellint.rule import Project


class Order(Enum):
    """The ways in which an order can be wrong."""

    SCHEDULED_FIRST = "scheduler"
    CLIPPED_LATE = "clip"
    CLIPPED_SCALED = "scaled"
    CLEARED_EARLY = "clear"
    NEVER_UPDATED = "update"


@dataclass(frozen=True, eq=False, slots=True)
class Misplaced:
    """An action at the wrong place, and the step, or the backward pass, that it should stand behind or before."""

    order: Order
    action: queries.Action
    other: queries.Action


def wrong_orders(course: queries.Course, project: Project) -> Iterator[Misplaced]:
    """The actions of a course that are done too early or too late."""
    if not course.is_whole or course.of(Act.ENGINE):
        return
    for number, action in enumerate(course.actions):
        found = None
        if action.act is Act.SCHEDULE:
            found = _of_schedule(number, course) if queries.warns_of_early_schedules(project) else None
        elif action.act is Act.CLIP:
            found = _of_late_clip(number, course) or _of_scaled_clip(number, course)
        elif action.act is Act.CLEAR:
            found = _of_early_clear(number, course)
        elif action.act is Act.STEP and action.scaler is not None and action.loops:
            found = _of_update(action, course)
        if found is not None and course.is_certain(action.loops[-1] if action.loops else None):
            yield found


# -- schedulers ------------------------------------------------------------------------------------------------------


def _of_schedule(number: int, course: queries.Course) -> Misplaced | None:
    """A scheduler that steps in each turn of a loop before its optimizer has made a step."""
    action = course.actions[number]
    if action.subject is None or not action.loops or len(action.value.args) > 1:
        return None
    loop = action.loops[-1]
    if _is_unread(course.actions[:number], loop):
        return None
    driven = [_optimizers_of(one) for one in queries.schedulers(action.subject)]
    steps = [one for one in course.of(Act.STEP) if any(_steps(one, made) for made in driven)]
    positions = [course.actions.index(one) for one in steps]
    if not driven or not all(driven) or not steps or min(positions) < number:
        return None
    return next(
        (
            Misplaced(Order.SCHEDULED_FIRST, action, step)
            for step in steps
            if step.is_within(loop) and action.is_done_before(step)
        ),
        None,
    )


def _optimizers_of(scheduler: queries.Operand) -> tuple[queries.Operand, ...]:
    """The optimizers that a scheduler is made for; empty for one that waits for a metric, and if unknown."""
    given = scheduler.value.argument(0, "optimizer")
    if given is None or any(name.endswith("ReduceLROnPlateau") for name in queries.made_names(scheduler)):
        return ()
    return queries.optimizers(queries.Operand(given, scheduler.function, scheduler.project, context=scheduler.context))


def _steps(step: queries.Action, made: tuple[queries.Operand, ...]) -> bool:
    """True if one of these optimizers makes a step."""
    own = () if step.subject is None else queries.optimizers(step.subject)
    return bool({id(one.value) for one in own} & {id(one.value) for one in made})


# -- clipping --------------------------------------------------------------------------------------------------------


def _of_late_clip(number: int, course: queries.Course) -> Misplaced | None:
    """A clip behind the step, where the next thing that changes gradients clears them or goes backward."""
    clip = course.actions[number]
    if all(event is not clip.event for event in clip.function.flow.dropped):
        return None
    before = _last(course.actions[:number], Act.STEP, Act.BACKWARD, Act.CLIP, Act.SET)
    behind = next((one for one in course.actions[number:] if one.act in (Act.STEP, Act.BACKWARD, Act.SET)), None)
    if before is None or before.act is not Act.STEP or not before.is_done_before(clip) or before.loops != clip.loops:
        return None
    if behind is not None and behind.act is not Act.BACKWARD:
        return None
    start = course.actions.index(before)
    around = clip.loops[-1] if clip.loops else None
    if not _goes_backward(course, start, around) or _is_unread(course.actions[start:number], around):
        return None
    made = [queries.optimizers(one.subject) for one in course.of(Act.STEP) if one.subject is not None]
    return Misplaced(Order.CLIPPED_LATE, clip, before) if len({_key(one) for one in made}) == 1 else None


def _of_scaled_clip(number: int, course: queries.Course) -> Misplaced | None:
    """A clip of gradients that a scaler has scaled, and that nothing has unscaled yet."""
    clip = course.actions[number]
    loss = _last(course.actions[:number], Act.BACKWARD)
    step = next((one for one in course.actions[number:] if one.act in (Act.STEP, Act.BACKWARD)), None)
    if loss is None or loss.subject is None or step is None or step.scaler is None or loss.loops != clip.loops:
        return None
    if (
        step.loops != clip.loops
        or not _is_scaled(loss)
        or not loss.is_done_before(step)
        or not _are_together(clip, step)
    ):
        return None
    start = course.actions.index(loss)
    between = course.actions[start:number]
    if any(one.act in (Act.UNSCALE, Act.SET, Act.STEP) for one in between):
        return None
    if any(_may_unscale(one) for one in between) or _is_unread(between, None):
        return None
    return Misplaced(Order.CLIPPED_SCALED, clip, step)


def _is_scaled(loss: queries.Action) -> bool:
    """True if a loss certainly is the result of a scaler's `scale`."""
    assert loss.subject is not None
    value = loss.subject.value
    if value.op is not Op.CALL or value.callee.op is not Op.ATTR or value.callee.data != "scale":
        return False
    return bool(queries.scalers(loss.operand(value.callee.args[0])))


def _may_unscale(action: queries.Action) -> bool:
    callee = action.value.callee if action.value.op is Op.CALL else None
    return callee is not None and callee.op is Op.ATTR and callee.data in ("unscale_", "unscale_gradients")


# -- clearing --------------------------------------------------------------------------------------------------------


def _of_early_clear(number: int, course: queries.Course) -> Misplaced | None:
    """A `zero_grad()` between the last backward pass and the step that should use its gradients."""
    clear = course.actions[number]
    step = next((one for one in course.actions[number:] if one.act is Act.STEP and _is_of(clear, one)), None)
    if step is None or step.loops != clear.loops or not clear.is_done_before(step) or len(_arguments(step)) > 0:
        return None
    end = course.actions.index(step)
    before = course.actions[:number]
    loss = _last(before, Act.BACKWARD)
    if loss is None or loss.loops[: len(clear.loops)] != clear.loops or not _are_together(loss, step):
        return None
    start = course.actions.index(loss)
    others = course.actions[start + 1 : end]
    if any(one.act in (Act.BACKWARD, Act.SET) for one in others):
        return None
    if any(one.act is Act.STEP and _is_of(clear, one) for one in others) or _is_unread(others, None):
        return None
    return Misplaced(Order.CLEARED_EARLY, clear, step)


def _is_made_for(optimizer: queries.Operand, clear: queries.Action) -> bool:
    """True if an optimizer is made from the `parameters()` of the model that a `zero_grad()` clears."""
    given = optimizer.value.argument(0, "params") if optimizer.value.op is Op.CALL else None
    if given is None or given.op is not Op.CALL or given.callee.op is not Op.ATTR or given.callee.data != "parameters":
        return False
    assert clear.subject is not None
    owner = given.callee.args[0]
    return optimizer.function is clear.function and same(owner, clear.subject.value)


def _arguments(step: queries.Action) -> tuple[object, ...]:
    """The arguments of a step, such as a closure, without the optimizer that a scaler gets."""
    return step.value.args[1 if step.scaler is None else 2 :]


def _is_of(clear: queries.Action, step: queries.Action) -> bool:
    """True if a `zero_grad()` certainly clears all gradients that a step of an optimizer of torch uses."""
    assert clear.subject is not None
    assert step.subject is not None
    if clear.subject.value is step.subject.value:
        return True
    made, cleared = queries.optimizers(step.subject), queries.optimizers(clear.subject)
    if not made or any(one.made_class() is not None for one in made):
        return False
    if cleared:
        return _key(cleared) == _key(made)
    if all(_is_made_for(one, clear) for one in made):
        return True
    layers, trained = queries.made_objects(clear.subject), [queries.trained_layers(one) for one in made]
    if layers is None or not trained:
        return False
    return all(one is not None and _values(one) <= _values(layers) for one in trained)


# -- scalers ---------------------------------------------------------------------------------------------------------


def _of_update(step: queries.Action, course: queries.Course) -> Misplaced | None:
    """A scaler that steps in a loop and is never updated."""
    assert step.scaler is not None
    loop = step.loops[0]
    loss = _last(course.of(Act.BACKWARD), Act.BACKWARD)
    if loss is None or course.of(Act.UPDATE) or _is_unread(course.actions, loop):
        return None
    if any(_may_update(one) for one in course.of(Act.OTHER)) or _is_made_in(step, course):
        return None
    return Misplaced(Order.NEVER_UPDATED, step, loss)


def _may_update(action: queries.Action) -> bool:
    callee = action.value.callee
    return callee.op is Op.ATTR and callee.data == "update" and not action.value.args[1:]


def _is_made_in(step: queries.Action, course: queries.Course) -> bool:
    """True if the scaler may be made anew in the turns of a loop."""
    assert step.scaler is not None
    for made in queries.scalers(step.scaler):
        if made.function is not course.function and made.function in step.functions:
            return True
        event = made.function.flow.circumstances(made.value)
        if event is not None and event.loops:
            return True
    return False


# -- common ----------------------------------------------------------------------------------------------------------


def _key(made: tuple[queries.Operand, ...]) -> frozenset[int]:
    return frozenset(id(one.value) for one in made)


def _values(layers: list[queries.Operand]) -> set[int]:
    return {id(one.value) for one in layers}


def _last(actions: list[queries.Action], *acts: Act) -> queries.Action | None:
    """The last action of some kinds."""
    return next((one for one in reversed(actions) if one.act in acts), None)


def _are_together(one: queries.Action, other: queries.Action) -> bool:
    """True if one of two actions is done wherever the other one is."""
    return one.is_done_before(other) or other.is_done_before(one)


def _goes_backward(course: queries.Course, end: int, loop: Loop | None) -> bool:
    """True if a loss goes backward before an action, in the same loop."""
    before = course.actions[:end]
    return any(one.act is Act.BACKWARD and (loop is None or one.is_within(loop)) for one in before)


def _is_unread(actions: list[queries.Action], loop: Loop | None) -> bool:
    """True if code that cannot be read may do a part of the step."""
    others = (one for one in actions if one.act is Act.OTHER and (loop is None or one.is_within(loop)))
    return any(queries.hands_over(one) for one in others)
