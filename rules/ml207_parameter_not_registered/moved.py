"""Learned tensors that are moved after an optimizer was given them: it goes on with the ones that nobody uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.training import OPTIMIZERS, is_torch_optimizer
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, same, self_attribute, walk_all
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

#: What moves a tensor, and gives another one if that was elsewhere.
_MOVING = operators.methods("Tensor", "moves")
#: The namespace of types, to which nothing is moved.
_TYPES = operators.attributes("torch", "type:float")
#: The part of torch that optimizers are in.
_PART = OPTIMIZERS.strip(".").rpartition(".")[2]
#: Through how many functions it is followed what makes a tensor.
_MAX_DEPTH = 3
_PARAMETERS = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))


@dataclass(frozen=True, eq=False)
class Moved:
    """A learned tensor, made by `made`, that `optimizer` is given before `move` gives another one its `name`."""

    function: Function
    name: str
    made: Value
    optimizer: Value
    move: Value


def moved(module: ModuleFacts, project: Project) -> Iterator[Moved]:
    """The learned tensors of a file's functions that are moved too late."""
    names = {name for name, origin in module.imports.items() if origin.startswith(OPTIMIZERS)} | {_PART}
    for function in (*module.all_functions(), module.body):
        if not function.words.isdisjoint(_MOVING) and not function.words.isdisjoint(names):
            yield from _moved_in(function, project)


def _moved_in(function: Function, project: Project) -> Iterator[Moved]:
    events = list(function.flow.events)
    for at, event in enumerate(events):
        if event.kind is EventKind.CALL and _is_optimizer(event.value, function, project):
            given = {id(part): part for part in map(_stored, walk_all(event.value.args[1:]))}
            for later in events[at + 1 :]:
                found = _move(later, function)
                if found is None:
                    continue
                name, move, tensor = found
                is_given = id(tensor) in given and _is_learned(tensor, function, project)
                if is_given and not _stays(tensor, move) and _goes_on(name, event.value, later, function):
                    yield Moved(function, name, tensor, event.value, move)


def _is_optimizer(call: Value, function: Function, project: Project) -> bool:
    found = project.names.definition(function.module, call.callee)
    return isinstance(found, External) and is_torch_optimizer(found.name)


def _stored(value: Value) -> Value:
    """What the body stored under an attribute before, or the value itself."""
    return value.args[1] if value.op is Op.ATTR and len(value.args) > 1 else value


def _move(event: Event, function: Function) -> tuple[str, Value, Value] | None:
    """The name under which a moved tensor takes the place of the one that is moved, the move, and that tensor."""
    value = event.value
    if value.op is not Op.CALL or value.callee.op is not Op.ATTR or value.callee.data not in _MOVING:
        return None
    owner = value.callee.args[0]
    tensor = _stored(owner)
    if event.kind is EventKind.STORE and event.target is not None:
        name = self_attribute(event.target)
        return (f"self.{name}", value, tensor) if name is not None and name == self_attribute(owner) else None
    is_local = event.kind is EventKind.CALL and value.target is not None and value.target == tensor.target
    return (str(value.target), value, tensor) if is_local else None


def _is_learned(tensor: Value, function: Function, project: Project, depth: int = 0) -> bool:
    """Whether a value is a parameter, or a new tensor that asks for gradients."""
    tensor = _stored(tensor)
    if tensor.op is Op.CHOICE:
        return depth < _MAX_DEPTH and all(_is_learned(part, function, project, depth + 1) for part in tensor.args)
    if tensor.op is not Op.CALL:
        return False
    if tensor.callee.op is Op.ATTR and tensor.callee.data == "requires_grad_":
        return not tensor.args[1:] or (tensor.args[1].op is Op.CONST and tensor.args[1].data is True)
    found = project.names.definition(function.module, tensor.callee)
    if isinstance(found, DefinedFunction) and depth < _MAX_DEPTH:
        given = [event.value for event in found.function.flow.of(EventKind.RETURN)]
        return bool(given) and all(_is_learned(one, found.function, project, depth + 1) for one in given)
    if not isinstance(found, External):
        return False
    asked = tensor.keywords.get("requires_grad")
    is_asking = asked is not None and asked.op is Op.CONST and asked.data is True
    return found.name in _PARAMETERS or (is_asking and found.name.startswith("torch."))


def _stays(tensor: Value, move: Value) -> bool:
    """Whether a tensor is made where it is moved to, or changes its type at most."""
    if "dtype" in move.keywords or any(arg.data in _TYPES for arg in move.positional):
        return True
    made = [part.keywords["device"] for part in walk_all((tensor,)) if part.op is Op.CALL and "device" in part.keywords]
    if move.callee.data == "cuda" and any(str(device.data).startswith("cuda") for device in made):
        return True
    return any(same(device, to) for device in made for to in (*move.positional, *move.keywords.values()))


def _goes_on(name: str, optimizer: Value, later: Event, function: Function) -> bool:
    """Whether the optimizer makes steps after the move, and nobody is given the moved tensor to train it."""
    events = list(function.flow.events)
    behind = events[events.index(later) + 1 :]
    if any(
        event.kind is EventKind.CALL
        and (event.value.callee.data == "add_param_group" or event.value.callee is optimizer.callee)
        and any(_stored(part) is later.value for part in walk_all(event.value.args[1:]))
        for event in behind
    ):
        return False
    if not name.startswith("self."):
        return any(_is_step(event, optimizer) for event in behind)
    owner = function.owner
    kept = [e.target for e in events if e.kind is EventKind.STORE and e.value is optimizer and e.target is not None]
    under = {self_attribute(target) for target in kept} - {None}
    methods = [] if owner is None else [method for method in owner.methods.values() if method is not function]
    steps = (e.value.callee for method in methods for e in method.flow.of(EventKind.CALL))
    is_stepping = any(c.op is Op.ATTR and c.data == "step" and self_attribute(c.args[0]) in under for c in steps)
    return is_stepping and any(name.partition(".")[2] in method.words for method in methods)


def _is_step(event: Event, optimizer: Value) -> bool:
    callee = event.value.callee if event.kind is EventKind.CALL else None
    is_step = callee is not None and callee.op is Op.ATTR and callee.data == "step"
    return is_step and callee is not None and _stored(callee.args[0]) is optimizer
