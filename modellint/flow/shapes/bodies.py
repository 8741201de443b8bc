"""Facts about the bodies of functions that decide how the theory of shapes runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.attributes import set_attribute
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.operators.shapes import shape_row

if TYPE_CHECKING:
    from modellint.graph.python import Function
    from modellint.graph.value import Flow


def changes_itself(function: Function, known: frozenset[Function] = frozenset()) -> bool:
    """True for a method that stores attributes of its object, itself or by another method of the class."""
    if function.owner is None or function in known:
        return False
    if any(set_attribute(event) is not None for event in function.flow.events):
        return True
    names = (self_attribute(event.value.callee) for event in function.flow.of(EventKind.CALL))
    methods = [function.owner.methods[name] for name in names if name in function.owner.methods]
    return any(changes_itself(method, known | {function}) for method in methods)


def calls_before_calls(flow: Flow) -> frozenset[int]:
    """The ids of a body's calls that read an attribute of the object which is stored behind them, or may be.

    A method that the body calls may store any of them.
    """
    return calls_before_stores(flow, are_methods=True)


def calls_before_stores(flow: Flow, *, are_methods: bool = False) -> frozenset[int]:
    """The ids of a body's calls that read an attribute of the object which is stored behind them."""
    found: set[int] = set()
    late: set[str | None] = set()
    is_any = False
    for event in reversed(flow.events):
        if event.kind is EventKind.CALL:
            reads = {self_attribute(part) for part in event.value.walk() if part.op is Op.ATTR and part.args} - {None}
            if reads if is_any else not late.isdisjoint(reads):
                found.add(id(event.value))
            callee = event.value.callee
            is_any = is_any or (are_methods and callee.op is Op.ATTR and self_attribute(callee) is not None)
        late.update({set_attribute(event)} - {None})
    return frozenset(found)


def changes_tensors(flow: Flow) -> bool:
    """True if a body calls methods that change the elements of a tensor in place, or that ask for its gradient.

    Or if it sets `requires_grad`, other than of a tensor that it calls `backward` on: that asks for none of others.
    """
    callees = (event.value.callee for event in flow.of(EventKind.CALL))
    losses = {id(one.args[0]) for one in callees if one.op is Op.ATTR and one.data == "backward" and one.args}
    return any(
        callee.op is Op.ATTR and str(callee.data).endswith("_") and shape_row(f"Tensor.{callee.data}") is not None
        for callee in (event.value.callee for event in flow.of(EventKind.CALL))
    ) or any(
        event.target is not None and event.target.data == "requires_grad" and id(event.target.args[0]) not in losses
        for event in flow.of(EventKind.STORE)
    )


def stored_attributes(flow: Flow) -> frozenset[str]:
    """The attributes that a body stores to objects other than the receiver."""
    targets = (event.target for event in flow.of(EventKind.STORE))
    attributes = (one for one in targets if one is not None and one.op is Op.ATTR and self_attribute(one) is None)
    return frozenset(str(one.data) for one in attributes)


def unpackings(flow: Flow) -> dict[int, list[str]]:
    """The names that values are unpacked to, in order, by the identity of the value.

    Leaves out starred ones, those under a condition, and values that are unpacked to several numbers of names.
    """
    found: dict[int, list[str]] = {}
    open_ones = set()
    for event in flow.unpackings:
        if event.target is None:
            continue
        names = [part.target or "" for part in event.target.args]
        if event.guard is not None or len(found.setdefault(id(event.value), names)) != len(names):
            open_ones.add(id(event.value))
    return {key: names for key, names in found.items() if key not in open_ones}


def unpacked_parameters(flow: Flow) -> dict[str, list[str]]:
    """The names that the shapes of parameters are unpacked to: `b, n, c = x.shape`, `b, n, c = x.size()`."""
    unpacked = flow.once(unpackings)
    found: dict[str, list[str]] = {}
    for event in flow.unpackings:
        value = event.value.callee if event.value.op is Op.CALL and len(event.value.args) == 1 else event.value
        is_shape = value.op is Op.ATTR and value.data == ("shape" if value is event.value else "size")
        if is_shape and value.args[0].op is Op.PARAM and id(event.value) in unpacked:
            found.setdefault(str(value.args[0].data), unpacked[id(event.value)])
    return found
