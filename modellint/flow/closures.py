"""The values of the function around that a nested function uses: `layer` of `lambda x: layer(x)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.value import Flow, Nested, Value


def calls_used_inside(nested: Nested, flow: Flow) -> Iterator[Value]:
    """The calls of a function body whose results a function inside of it uses, each once.

    A result that it only hands to another function counts as none: nobody knows what that does with it.
    """
    if nested.flow is not None:
        return
    inside = range(nested.first, nested.last)
    around = {
        id(event.value)
        for number, event in enumerate(flow.events)
        if event.kind is EventKind.CALL and number not in inside
    }
    used = [(event.value, False) for event in flow.events[nested.first : nested.last]]
    used += [(value, False) for value in nested.returns]
    seen: set[tuple[int, bool]] = set()
    while used:
        value, is_handed = used.pop()
        if (id(value), is_handed) in seen:
            continue
        seen.add((id(value), is_handed))
        if id(value) not in around:
            inner = value.op is Op.LAMBDA and value.data is not nested
            parts = value.data.returns if inner and hasattr(value.data, "returns") else value.args
            is_call = value.op is Op.CALL
            is_handed = is_handed and value.op is not Op.ATTR
            used += ((one, one is not value.callee if is_call else is_handed) for one in parts)
        elif not is_handed:
            yield value
