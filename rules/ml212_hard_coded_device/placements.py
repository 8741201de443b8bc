"""The places where functions put something on a CUDA device by a literal that nothing chooses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Methods that move on purpose.
MOVING = frozenset(("cuda", "to", "_apply", "cpu"))
#: Methods whose names and arguments say where a tensor goes.
_MOVES = frozenset(("to", "type_as", "cuda", "cpu"))
#: The number of parts of a condition that are looked at.
_MAX_PARTS = 1_000
_CUDA = re.compile(r"cuda(?::\d+)?")
#: Operations that have a name as data.
_NAMED = (Op.ATTR, Op.GLOBAL, Op.PARAM, Op.INNER, Op.CONST)
#: Names in conditions that choose the device themselves.
_CHOOSING = re.compile(
    r"\w*(?:cuda|[cg]pu|device|accelerator|nccl)\w*|(?:\w+_)?rank|world_size|is_initialized", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Placement:
    """A literal CUDA device in a method. `is_asked`: under `is_available()` or `is_cuda`, the wrong question."""

    function: Function
    event: Event
    device: Value | None
    is_asked: bool


def placements(function: Function, project: Project) -> Iterator[Placement]:
    """The calls of a method that name a CUDA device, and that nothing chooses."""
    if function.name in MOVING:
        return
    stored = {id(e.value): e.target for e in function.flow.of(EventKind.STORE)}
    for event in function.flow.of(EventKind.CALL):
        device = device_of(event.value, function, project)
        if device is None or _is_current(device, event, function, project):
            continue
        is_asked = False
        for guard in event.guard.chain() if event.guard is not None else ():
            parts = [part for part in _parts(guard.test) if chooses(part)]
            if not parts:
                continue
            asks = all(_asks_machine(part, function, project) for part in parts)
            if not guard.truthy or not asks or function.name == "__init__":
                break
            is_asked = True
        else:
            if not event.handled and not _is_for_good(stored.get(id(event.value)), event.value, function):
                yield Placement(function, event, device if device is not event.value else None, is_asked)


def _is_current(device: Value, event: Event, function: Function, project: Project) -> bool:
    """True if a literal means the current device, which a context around the call has chosen."""
    return (device.op is not Op.CONST or device.data == "cuda") and is_device_chosen(event, function, project)


def is_device_chosen(event: Event, function: Function, project: Project) -> bool:
    """True in a context that makes another tensor's device the current one: `with torch.cuda.device(x.device)`."""
    for context in event.contexts:
        if context.op is Op.CALL:
            name = getattr(project.names.definition(function.module, context.callee), "name", "")
            chosen = context.argument(0, "device")
            is_literal = chosen is not None and _is_number(chosen)
            if name == "torch.cuda.device_of" or (name == "torch.cuda.device" and not is_literal):
                return True
    return False


def _parts(test: Value) -> tuple[Value, ...]:
    """The conditions that all have to hold."""
    return test.args if test.op is Op.BOOL and test.data == "and" else (test,)


def chooses(test: Value) -> bool:
    """True if a condition has a name in it that has to do with devices."""
    names = (str(part.data) for part in _tested_parts(test) if part.op in _NAMED)
    return any(_CHOOSING.fullmatch(word) for name in names for word in name.split("."))


def _tested_parts(test: Value) -> Iterator[Value]:
    """The parts of a condition, without the devices to which tensors in it were moved.

    What is nothing but a move (`if self.cuda():`) is meant as a question.
    """
    queue, seen = [test], set[int]()
    for value in queue:
        if id(value) in seen or len(seen) > _MAX_PARTS:
            continue
        seen.add(id(value))
        yield value
        is_call = value is not test and value.op is Op.CALL
        is_moved = is_call and value.callee.op is Op.ATTR and value.callee.data in _MOVES
        queue.extend(value.callee.args if is_moved else value.args)


def _asks_machine(test: Value, function: Function, project: Project) -> bool:
    """True if a condition asks the machine, or another tensor; an attribute of the layer itself is a flag."""
    if test.op is Op.CALL:
        definition = project.names.definition(function.module, test.callee)
        return getattr(definition, "name", "") == "torch.cuda.is_available"
    return test.op is Op.ATTR and test.data == "is_cuda" and self_attribute(test) is None


def device_of(call: Value, function: Function, project: Project) -> Value | None:
    """The literal CUDA device of a call; the call itself, where its name says CUDA; else None."""
    callee = call.callee
    definition = project.names.definition(function.module, callee)
    if definition is not None:
        name = str(getattr(definition, "name", ""))
        if name.startswith("torch.cuda.") and name.endswith("Tensor"):
            return call
    elif callee.op is Op.ATTR and not _is_super(callee.args[0]):
        if callee.data == "cuda" and all(_is_number(arg) for arg in call.positional):
            device = call.keywords.get("device")
            return call if device is None or _is_number(device) else None
        if callee.data == "to" and call.positional:
            return call.positional[0] if is_cuda(call.positional[0], function, project) else None
    device = call.keywords.get("device")
    return device if device is not None and is_cuda(device, function, project) else None


def _is_number(value: Value) -> bool:
    return value.op is Op.CONST and (isinstance(value.data, int) or names_cuda(value))


def is_cuda(value: Value, function: Function, project: Project) -> bool:
    """True for the literal name of a CUDA device, and for a `torch.device` of it."""
    if value.op is Op.CALL and len(value.args) == 2:
        definition = project.names.definition(function.module, value.callee)
        return getattr(definition, "name", "") == "torch.device" and names_cuda(value.args[1])
    return names_cuda(value)


def names_cuda(value: Value) -> bool:
    return value.op is Op.CONST and isinstance(value.data, str) and _CUDA.fullmatch(value.data) is not None


def _is_super(value: Value) -> bool:
    is_call = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "super"
    return is_call or (value.op is Op.PARAM and value.data == "self")


def _is_for_good(target: Value | None, call: Value, function: Function) -> bool:
    """True if a constructor stores the result of `.cuda()` of a fresh tensor: a plain attribute is ML205's mistake.

    A tensor that is put there by the name of the device is not.
    """
    is_kept = function.name == "__init__" and target is not None and self_attribute(target) is not None
    if not is_kept or call.callee.data != "cuda":
        return False
    return call.callee.op is not Op.ATTR or self_attribute(call.callee.args[0]) is None
