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
    used = [*(event.value for event in flow.events[nested.first : nested.last]), *nested.returns]
    seen: set[int] = set()
    while used:
        value = used.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if id(value) in around:
            yield value
        else:
            inner = value.op is Op.LAMBDA and value.data is not nested
            parts = value.data.returns if inner and hasattr(value.data, "returns") else value.args
            used += (one for one in parts if value.op is not Op.CALL or one is value.callee or id(one) not in around)
