"""Objects that are saved under the name of another one: `add_recoverable("scheduler_g", self.scheduler_d)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value

_ADDS = "add_recoverable"


@dataclass(frozen=True, eq=False, slots=True)
class Mixed:
    """A call that adds `self.other` under the name of `self.name`, which nothing adds."""

    cls: Class
    function: Function
    name: str
    other: str
    #: The object that is added, as an expression.
    value: Value


def mixed_names(module: ModuleFacts) -> Iterator[Mixed]:
    """The wrong pairs in the classes of a file."""
    for cls in module.classes.values() if _ADDS in module.text else ():
        pairs = [pair for method in cls.methods.values() if _ADDS in method.words for pair in _pairs(method)]
        added = {other for _, other, _, _ in pairs}
        wrong = [pair for pair in pairs if pair[0] != pair[1] and pair[0] not in added]
        for name, other, value, function in wrong:
            if any(cls.stores(name)):
                yield Mixed(cls, function, name, other, value)


def _pairs(method: Function) -> Iterator[tuple[str, str, Value, Function]]:
    """The names under which a method adds attributes of its object: name, attribute, value and method."""
    for event in method.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is Op.ATTR and call.callee.data == _ADDS and not call.has_unpacking:
            name, value = call.argument(0, "name"), call.argument(1, "obj")
            other = None if value is None else self_attribute(value)
            if name is not None and name.op is Op.CONST and value is not None and other is not None:
                yield str(name.data), other, value, method
