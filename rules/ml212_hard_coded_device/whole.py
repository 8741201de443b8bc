"""Classes that decide where all of themselves is: they put themselves on CUDA, or only move what they hand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.value import EventKind, Op, self_attribute

from .placements import MOVING, chooses, is_cuda

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.rule import Project

    from .placements import Placement


def moves_itself(cls: Class, project: Project) -> bool:
    """True if the constructor of a class puts the whole layer on a CUDA device, and nothing chooses it."""
    mro = queries.flow(cls.module, project).mro(cls)
    function = next((owner.methods["__init__"] for owner in mro if "__init__" in owner.methods), None)
    return function is not None and any(
        _is_own_move(event.value, function, project)
        and not event.handled
        and not (event.guard is not None and any(chooses(link.test) for link in event.guard.chain()))
        for event in function.flow.of(EventKind.CALL)
    )


def _is_own_move(call: Value, function: Function, project: Project) -> bool:
    """True for `self.cuda()` and `self.to("cuda")`, also after another move of the layer."""
    moved, callee = call, call.callee
    while moved.op is Op.CALL and moved.callee.op is Op.ATTR and moved.callee.data in MOVING:
        moved = moved.callee.args[0]
    if moved is call or moved.op is not Op.PARAM or moved.data != "self":
        return False
    to = call.argument(0, "device") if callee.data == "to" else None
    return callee.data == "cuda" or (to is not None and is_cuda(to, function, project))


def only_moves_inputs(cls: Class, placed: list[Placement]) -> bool:
    """True if a class keeps what its constructor is given, and only calls that, with inputs that are moved."""
    constructor, forward = cls.methods.get("__init__"), cls.methods.get("forward")
    if constructor is None or forward is None or len(cls.methods) > 2:
        return False
    stores = [event for event in constructor.flow.of(EventKind.STORE) if event.target is not None]
    kept = {self_attribute(event.target) for event in stores if event.target is not None}
    moves = [one.event.value for one in placed]
    others = [event.value for event in forward.flow.of(EventKind.CALL) if event.value not in moves]
    return (
        all(event.value.op is Op.PARAM for event in stores)
        and all(move.callee.op is Op.ATTR and move.callee.args[0].op is Op.PARAM for move in moves)
        and all(self_attribute(call.callee) in kept for call in others)
        and all(event.value in others for event in forward.flow.of(EventKind.RETURN))
    )
