"""Totals and lists that hold losses with their graphs over the turns of a loop."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.flow.queries import Act
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, same, self_attribute, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Event, Loop, Value

_SUMS = frozenset(("+", "-"))
_SCALES = frozenset(("*", "/"))
#: Methods that give a number of a tensor, with its graph.
_REDUCING = frozenset(("mean", "sum"))
#: What a factor of a loss can be.
_FACTORS = (Op.CONST, Op.PARAM, Op.ATTR, Op.GLOBAL, Op.CALL, Op.INDEX, Op.ITEM, Op.UNPACK, Op.BIN, Op.INNER)
_NO_GRADIENT = frozenset(("torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autograd.no_grad"))
_MAX_LEAVES = 40
#: Loops of fewer turns keep next to nothing.
_FEW = 10


@dataclass(frozen=True, eq=False, slots=True)
class Kept:
    """A total, or a list (`is_list`), to which each turn adds the loss `added`: `value` does so."""

    name: str
    value: Value
    added: Value
    function: Function
    loss: queries.Action
    is_list: bool


def kept_graphs(course: queries.Course) -> Iterator[Kept]:
    """The totals and lists of a course that hold the graphs of losses which went backward in the same turns."""
    for loss in course.of(Act.BACKWARD, Act.ENGINE):
        if loss.loops and not _is_short(loss.loops[-1]) and not _is_part_of_step(loss, course):
            for function, loop, losses in _holders(loss):
                yield from _of_names(course, loss, function, loop, losses)
                yield from _of_places(course, loss, function, loss.loops[-1], losses)


def _is_part_of_step(loss: queries.Action, course: queries.Course) -> bool:
    """True if the turns of a loop are parts of one step, which is made, or goes on, outside of it."""
    loop, around = loss.loops[-1], loss.loops[-2] if len(loss.loops) > 1 else None
    if around is not None:
        others = course.of(Act.BACKWARD, Act.ENGINE, Act.STEP)
        return any(one.loops and one.loops[-1] is around for one in others)
    steps = course.of(Act.STEP)
    return bool(steps) and not any(one.is_within(loop) for one in steps)


def _is_short(loop: Loop) -> bool:
    """True for a loop over a few things that are written down."""
    for _, iterable in loop.turns:
        counts = iterable.args[1:] if iterable.op is Op.CALL and iterable.callee.data == "range" else ()
        if iterable.op in (Op.TUPLE, Op.LIST) and len(iterable.args) < _FEW:
            return True
        if counts and all(one.op is Op.CONST and type(one.data) is int and one.data < _FEW for one in counts):
            return True
    return False


def _holders(loss: queries.Action) -> Iterator[tuple[Function, Loop | None, list[Value]]]:
    """The functions that hold a loss, each with its innermost loop around the backward pass, and the loss there."""
    losses = _graphs(loss)
    if losses:
        yield loss.function, _innermost(loss.function, loss), losses
    if loss.steps and losses:
        event, caller = loss.steps[-1]
        given = [one.value for one in loss.function.flow.of(EventKind.RETURN)]
        if loss.context is not None and loss.context.nested is not None:
            given = list(loss.context.nested.returns)
        yield caller, _innermost(caller, loss), _results(event.value, given, losses, caller)


def _results(call: Value, given: list[Value], losses: list[Value], caller: Function) -> list[Value]:
    """The values of a caller that are the loss which a helper returns: its result, or a part of that."""
    if given and all(any(one is loss for loss in losses) for one in given):
        return [call]
    if not given or any(one.op is not Op.TUPLE for one in given):
        return []
    sizes = {len(one.args) for one in given}
    numbers = range(sizes.pop()) if len(sizes) == 1 else ()
    taken = {number for number in numbers if all(any(one.args[number] is loss for loss in losses) for one in given)}
    parts = walk_all(caller.flow.evaluated()) if taken else ()
    return [one for one in parts if one.op is Op.UNPACK and one.args[0] is call and one.data in taken]


def _innermost(function: Function, loss: queries.Action) -> Loop | None:
    """The innermost loop of a function around a backward pass."""
    loops = [*function.flow.loops, *(loop for nested in function.flow.nested for loop in nested.loops)]
    around = [one for one in loss.loops if any(one is loop for loop in loops)]
    return around[-1] if around else None


def _graphs(loss: queries.Action) -> list[Value]:
    """The loss that goes backward, and the values with the same graph that it is made of."""
    if loss.act is Act.ENGINE:
        value = loss.value.argument(0, "loss")
    else:
        value = None if loss.subject is None else loss.subject.value
    found: list[Value] = []
    while value is not None and len(found) < _MAX_LEAVES and all(value is not one for one in found):
        if value.op not in (Op.CALL, Op.BIN, Op.CHOICE, Op.UNPACK, Op.INDEX, Op.ATTR):
            break
        found.append(value)
        value = _operand(value)
    return found


def _operand(value: Value) -> Value | None:
    """The tensor that an operation scales or averages."""
    if value.op is Op.BIN and value.data in _SCALES:
        first, second = value.args
        if second.op in (Op.CONST, Op.PARAM, Op.ATTR, Op.GLOBAL):
            return first
        return second if value.data == "*" and first.op in (Op.CONST, Op.PARAM, Op.ATTR, Op.GLOBAL) else None
    if value.op is Op.CALL and value.callee.op is Op.ATTR:
        if value.callee.data in _REDUCING:
            return value.callee.args[0]
        if value.callee.data == "scale" and len(value.args) == 2:
            return value.args[1]
    return None


def _loss_in(value: Value, losses: list[Value], depth: int = 4) -> Value | None:
    """The loss that a value is that is added, perhaps scaled; None if it is none."""
    if any(value is one for one in losses):
        return value
    if not depth:
        return None
    if value.op is Op.BIN and value.data in _SCALES:
        first, second = value.args
        found = _loss_in(first, losses, depth - 1)
        if found is None and value.data == "*":
            first, second = second, first
            found = _loss_in(first, losses, depth - 1)
        return found if second.op in _FACTORS else None
    is_reduced = value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in _REDUCING
    return _loss_in(value.callee.args[0], losses, depth - 1) if is_reduced else None


# -- variables -------------------------------------------------------------------------------------------------------


def _of_names(
    course: queries.Course, loss: queries.Action, function: Function, loop: Loop | None, losses: list[Value]
) -> Iterator[Kept]:
    """The variables that a loop adds a loss to."""
    for carried in () if loop is None else loop.carried:
        if len(carried.args) != 2 or carried.target is None:
            continue
        changes = _changes(carried)
        if not changes or _is_deleted(carried.target, function):
            continue
        is_list = changes[0].op is Op.UPDATE
        before = queries.Operand(carried.args[0], function, course.project)
        if is_list and not all(_is_list(one.value) for one in before.origins(through_operators=False)):
            continue
        parts = [(one, _loss_in(part, losses)) for one in changes for part in _parts(one, carried)]
        added = [(one, part) for one, part in parts if part is not None]
        if added and not _goes_backward(carried, course) and not _is_without_graph(added[0][0], function, course):
            change, part = added[0]
            yield Kept(carried.target, _call_of(change, function), part, function, loss, is_list)


def _call_of(change: Value, function: Function) -> Value:
    """The call that appends to a list; another change itself."""
    calls = (event.value for event in function.flow.of(EventKind.CALL) if change.op is Op.UPDATE)
    return next((call for call in calls if call.callee.at == change.at), change)


def _changes(carried: Value) -> list[Value]:
    """The additions by which a turn of a loop changes a variable; none if it may change it in another way."""
    found: list[Value] = []
    seen: set[int] = {id(carried)}
    pending = [carried.args[1]]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if value.op is Op.CHOICE and value.data is not None:
            pending += value.args
        elif value.op is Op.BIN and value.data in _SUMS:
            found.append(value)
            pending.append(value.args[0] if _leads_to(value.args[0], carried) else value.args[1])
        elif value.op is Op.UPDATE and value.data == "append":
            found.append(value)
            pending.append(value.args[0])
        else:
            return []
        if len(seen) > _MAX_LEAVES:
            return []
    return found if len({one.op for one in found}) == 1 else []


def _leads_to(value: Value, carried: Value) -> bool:
    """True for a variable's earlier value: itself, a choice, or another addition."""
    if value is carried:
        return True
    if value.op is Op.CHOICE and value.data is not None:
        return any(_leads_to(one, carried) for one in value.args if one is not value)
    is_addition = (value.op is Op.BIN and value.data in _SUMS) or value.op is Op.UPDATE
    return is_addition and any(_leads_to(one, carried) for one in value.args)


def _parts(change: Value, carried: Value) -> list[Value]:
    """The values that a change adds."""
    return [one for one in change.args if not _leads_to(one, carried)]


def _is_list(value: Value) -> bool:
    is_made = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "list"
    return value.op is Op.LIST or (is_made and len(value.args) == 1)


def _is_deleted(name: str, function: Function) -> bool:
    """True if code deletes elements of a variable."""
    return any(
        part.target == name
        for event in function.flow.of(EventKind.DELETE)
        if event.target is not None
        for part in event.target.walk()
    )


def _goes_backward(total: Value, course: queries.Course) -> bool:
    """True if a loss of the course is made of a total."""
    for loss in course.of(Act.BACKWARD, Act.ENGINE):
        roots = loss.value.args
        if any(part is total for root in roots for part in root.walk()):
            return True
    return False


def _is_without_graph(change: Value, function: Function, course: queries.Course) -> bool:
    """True if an addition is made where nothing is recorded."""
    event = function.flow.circumstances(change)
    if event is None:
        event = next((one for one in function.flow.events if one.value is change), None)
    contexts = () if event is None else event.contexts
    names = (course.project.names.definition(function.module, one.callee) for one in contexts if one.op is Op.CALL)
    return any(getattr(one, "name", "") in _NO_GRADIENT for one in names)


# -- attributes and elements -----------------------------------------------------------------------------------------


def _of_places(
    course: queries.Course, loss: queries.Action, function: Function, loop: Loop, losses: list[Value]
) -> Iterator[Kept]:
    """The attributes of `self`, and the elements of dictionaries, that a turn adds a loss to."""
    for event in function.flow.events:
        if not _is_near(event, function, loss):
            continue
        target, added = _addition(event)
        added = None if added is None else _loss_in(added, losses)
        if target is None or added is None:
            continue
        is_list = event.kind is EventKind.CALL
        if is_list and not _is_list_attribute(target, function, course):
            continue
        if _is_set_anew(event, target, function, loop, course) or _is_without_graph(event.value, function, course):
            continue
        if any(
            same(part, target)
            for one in course.of(Act.BACKWARD, Act.ENGINE)
            for root in one.value.args
            for part in root.walk()
        ):
            continue
        yield Kept(function.module.text_of(target), event.value, added, function, loss, is_list)


def _is_near(event: Event, function: Function, loss: queries.Action) -> bool:
    """True if an event stands in the innermost loop of the function around a backward pass."""
    loop = _innermost(function, loss)
    if loop is None:
        return True
    events = function.flow.events[loop.first : loop.last]
    return any(one is event for one in events)


def _addition(event: Event) -> tuple[Value | None, Value | None]:
    """The place to which an event adds something, and what it adds."""
    value, target = event.value, event.target
    if event.kind is EventKind.STORE and target is not None and target.op in (Op.ATTR, Op.INDEX):
        if value.op is Op.BIN and value.data == "+" and type(value.data) is not str:
            return target, value.args[1]
        return None, None
    if event.kind is EventKind.CALL and value.callee.op is Op.ATTR and value.callee.data == "append":
        owner = value.callee.args[0]
        if self_attribute(owner) is not None and len(value.positional) == 1:
            return owner, value.positional[0]
    return None, None


def _is_list_attribute(target: Value, function: Function, course: queries.Course) -> bool:
    """True if an attribute of `self` is a list, and nothing takes elements from it."""
    name, owner = self_attribute(target), function.owner
    if name is None or owner is None:
        return False
    stored = queries.stored_values(owner, name, course.project)
    leaves = [leaf for one in stored for leaf in one.origins(through_operators=False)]
    if not leaves or not all(_is_list(leaf.value) for leaf in leaves):
        return False
    taking = re.compile(rf"\b{re.escape(name)}\s*\.\s*(?:clear|pop|remove)\b|\bdel\s+[\w.]*\b{re.escape(name)}\b")
    return not taking.search(function.module.code)


def _is_set_anew(event: Event, target: Value, function: Function, loop: Loop, course: queries.Course) -> bool:
    """True if a place may get another value in the turns of a loop."""
    name = _name_of(target)
    for one in (*course.functions, function):
        for number, other in enumerate(one.flow.events):
            if other is event or other.kind not in (EventKind.STORE, EventKind.DELETE) or other.target is None:
                continue
            if _name_of(other.target) != name or one.name == "__init__":
                continue
            own_loops = [*one.flow.loops, *(inner for nested in one.flow.nested for inner in nested.loops)]
            around = next((inner for inner in own_loops if inner is loop), None)
            if around is None or around.first <= number < around.last:
                return True
    return False


def _name_of(place: Value) -> object:
    """The name of an attribute or a variable, whatever its elements."""
    while place.op is Op.INDEX:
        place = place.args[0]
    return place.data if place.op in (Op.ATTR, Op.GLOBAL, Op.PARAM) else place.target
