"""The code that clears the gradients of an optimizer's parameters in a loop, for all that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.flow.queries import Act
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from modellint.graph.python import Function

#: Words of a class of the project that show that its optimizer clears gradients by itself.
_CLEARING = frozenset(("zero_grad", "zero_", "set_to_none"))


def is_cleared(turn: queries.Turn) -> bool:
    """True if the gradients of a step may be cleared in the loop, or if the step may be another one."""
    loop, step, course = turn.loop, turn.step, turn.course
    made = () if step.subject is None else queries.optimizers(step.subject)
    if not made or step.value.callee.data != "step" or len(step.value.args) > (1 if step.scaler is None else 2):
        return True
    contexts = [context for one in (step, *turn.losses) for context in one.event.contexts]
    if any(context.op is not Op.CALL for context in contexts):
        return True
    if course.of(Act.SET, Act.ENGINE, within=loop) or course.may_clear_unseen or not course.is_whole:
        return True
    if any(_clears(one, made) for one in course.of(Act.CLEAR, within=loop)):
        return True
    if any(_is_made_within(turn, one) or _clears_itself(one) for one in made):
        return True
    if any(queries.hands_over(one) for one in course.of(Act.OTHER, within=loop)):
        return True
    return not course.is_certain(loop)


def _clears(action: queries.Action, made: tuple[queries.Operand, ...]) -> bool:
    """True if a `zero_grad()` may clear the gradients of optimizers."""
    assert action.subject is not None
    others = queries.optimizers(action.subject)
    if {id(one.value) for one in others} & {id(one.value) for one in made}:
        return True
    own = [queries.trained_layers(one) for one in made]
    cleared = [queries.trained_layers(one) for one in others] if others else [queries.made_objects(action.subject)]
    return any(mine is None or other is None or _may_share(mine, other) for mine in own for other in cleared)


def _may_share(some: list[queries.Operand], others: list[queries.Operand]) -> bool:
    """True if layers may have parameters in common."""
    return any(_may_be_part(one, other) or _may_be_part(other, one) for one in some for other in others)


def _may_be_part(part: queries.Operand, whole: queries.Operand) -> bool:
    """True if a layer is another one, or may be built into it."""
    if part.function is not whole.function:
        return True
    return any(value is part.value for value in whole.value.walk())


def _is_made_within(turn: queries.Turn, optimizer: queries.Operand) -> bool:
    """True if an optimizer is made anew in the turns of a loop, perhaps by a helper that the loop calls."""
    made: queries.Operand | None = optimizer
    while made is not None:
        function, context = made.function, made.context
        if function.is_property:
            return True  # whoever reads it makes a new one
        if function is not turn.course.function and (
            function in turn.step.functions or turn.course.is_called_in(function, turn.loop)
        ):
            return True
        for number, event in enumerate(function.flow.events):
            if event.value is not made.value:
                continue
            if any(one is turn.loop and one.first <= number < one.last for one in function.flow.loops):
                return True
            if context is None and any(one.first <= number < one.last for one in function.flow.nested):
                return True
        made = None if context is None else context.call
    return False


def _clears_itself(optimizer: queries.Operand) -> bool:
    """True if the class of an optimizer is one of the project whose methods speak of clearing."""
    model = optimizer.made_class()
    for one in () if model is None else model.mro():
        methods = {} if one.cls is None else one.cls.methods
        if any(not _CLEARING.isdisjoint(method.words) or _sets_gradients(method) for method in methods.values()):
            return True
    return False


def _sets_gradients(method: Function) -> bool:
    return any(
        event.target is not None and event.target.op is Op.ATTR and event.target.data == "grad"
        for event in method.flow.of(EventKind.STORE)
    )
