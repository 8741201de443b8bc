"""Names of attributes in code: those that an event sets, by an assignment or a call, and those in strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, is_self, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.value import Event, Value

#: Methods of a layer that register an object under the name in their first argument.
REGISTERING = operators.methods("Module", "registers")
#: The parameters by which these methods get the object.
_REGISTERED = ("module", "param", "tensor")


def set_attribute(event: Event) -> str | None:
    """The attribute of `self` that an event assigns, registers or sets by a constant name; None for other events.

    It is `x` for `self.x = …`, `self.register_buffer("x", …)` and `setattr(self, "x", …)`.
    """
    if event.kind is EventKind.STORE and event.target is not None:
        return self_attribute(event.target)
    if event.kind is not EventKind.CALL:
        return None
    call = event.value
    callee, given = call.callee, call.positional
    if is_registration(call) and is_self(callee.args[0]):
        name = call.argument(0, "name")
    elif callee.op is Op.GLOBAL and callee.data == "setattr" and len(given) == 3 and is_self(given[0]):
        name = given[1]
    else:
        return None
    return str(name.data) if name is not None and name.op is Op.CONST else None


def set_value(event: Event) -> Value:
    """The value that an event with a `set_attribute` stores."""
    if event.kind is not EventKind.CALL:
        return event.value
    call = event.value
    given = (call.argument(1, name) for name in _REGISTERED) if is_registration(call) else ()
    return next((value for value in given if value is not None), call.args[-1])


def is_registration(call: Value) -> bool:
    """True if a call is of a method that registers an object under a name: `layer.add_module("x", …)`."""
    return call.callee.op is Op.ATTR and call.callee.data in REGISTERING


def names_in(value: Value) -> Iterator[str]:
    """The names in a string that consists only of names: `encoder.layer`, or `width, depth`."""
    if value.op is Op.CONST and isinstance(value.data, str) and len(value.data) < 200:
        words = [word.strip() for word in value.data.replace(".", ",").split(",")]
        if all(map(str.isidentifier, words)):
            yield from words
    elif value.op is Op.DICT:
        for key in value.data:
            if key is not None:
                yield from names_in(key)
