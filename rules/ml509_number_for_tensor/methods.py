"""Methods of tensors that are called on plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, self_attribute

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, PathCondition, Value

_NUMBERS = (bool, int, float, complex)
_GIVING_NUMBERS = frozenset(("len", "int", "float", "round", "ord"))
_DEPTH = 4
_ONLY_NUMBERS = frozenset((queries.Kind.NUMBER,))
_EITHER = frozenset((queries.Kind.NUMBER, queries.Kind.TENSOR))


@dataclass(frozen=True, slots=True)
class OnNumber:
    """A call of a tensor's method on a number.

    `stored` is where the constructor stores the number; `default` the parameter whose default selects the number.
    """

    stored: Event | None = None
    default: str = ""


def on_number(call: queries.Call) -> OnNumber | None:
    """The call of a method that tensors have, if a number, which lacks it, is what it is called on."""
    callee, function = call.value.callee, call.function
    name = str(callee.data)
    if callee.op is not Op.ATTR or name not in queries.tensor_names() or any(hasattr(kind, name) for kind in _NUMBERS):
        return None
    held, cls = callee.args[0], function.owner
    attribute = self_attribute(held)
    if attribute is None or cls is None:
        is_number = _may_be_number(held) and queries.Operand(held, function, call.project).kinds() == _ONLY_NUMBERS
        return OnNumber() if is_number else None
    stored = _stored_once(attribute, cls)
    if stored is None or not _may_be_number(stored.value) or len(held.args) > 1 or _is_asked(attribute, cls):
        return None
    kinds = queries.Operand(held, function, call.project).kinds()
    default = "" if kinds == _ONLY_NUMBERS else _by_default(call, stored, cls) if kinds == _EITHER else None
    return None if default is None or _is_set_besides(attribute, cls, call) else OnNumber(stored, default)


def _may_be_number(value: Value, depth: int = 0) -> bool:
    """True if the operation of a value may give a number: what it is is asked only then, because that costs more."""
    if value.op is Op.CALL:
        return value.callee.op is Op.GLOBAL and value.callee.data in _GIVING_NUMBERS
    if value.op is Op.CONST:
        return isinstance(value.data, _NUMBERS)
    # A choice of a loop leads back to itself.
    is_made = value.op in (Op.BIN, Op.UNARY, Op.CHOICE) and depth < _DEPTH
    return is_made and any(_may_be_number(part, depth + 1) for part in value.args)


def _stored_once(name: str, cls: Class) -> Event | None:
    """The one store of an attribute by the constructor, which each object runs; None if there is no such store."""
    constructor = cls.methods.get("__init__")
    events = constructor.flow.stores.get(name, ()) if constructor is not None else ()
    return events[0] if len(events) == 1 and events[0].guard is None and not events[0].loops else None


def _is_asked(name: str, cls: Class) -> bool:
    """True if a condition in a method of a class asks what an attribute is, by a call: `torch.is_tensor(self.x)`."""
    for method in cls.methods.values():
        for event in method.flow.events if name in method.words else ():
            guards = () if event.guard is None else event.guard.chain()
            asked = (part for guard in guards for part in guard.test.walk() if part.op is Op.CALL)
            if any(self_attribute(given) == name for part in asked for given in part.args[1:]):
                return True
    return False


def _is_set_besides(name: str, cls: Class, call: queries.Call) -> bool:
    """True if other code than the constructor may set an attribute of objects of a class, or of a subclass."""
    if queries.is_set_besides(cls, name, cls.methods["__init__"], call.project):
        return True
    below = queries.subclasses(cls, call.project)
    return any(
        name in (*one.attributes, *one.annotations, *one.methods, *queries.mentions(one, call.project).stored)
        for one in below
    )


def _by_default(call: queries.Call, stored: Event, cls: Class) -> str | None:
    """The parameter whose default makes the constructor store a number, where `forward` by default calls the method."""
    choice, function = stored.value, cls.methods["__init__"]
    if call.function.name != "forward" or choice.op is not Op.CHOICE or choice.data is None or len(choice.args) != 2:
        return None
    sides = [queries.Operand(side, function, call.project).kinds() for side in choice.args]
    if _ONLY_NUMBERS not in sides or sides[0] == sides[1]:
        return None
    is_first = sides[0] == _ONLY_NUMBERS
    guards = () if call.event.guard is None else call.event.guard.chain()
    if call.event.loops or not all(guard.raised or _holds_by_default(guard, cls) for guard in guards):
        return None
    for parameter in function.parameters:
        default = parameter.default
        if default is None or default.op is not Op.CONST:
            continue
        if queries.outcome(choice.data, {parameter.name: default.data}) is is_first:
            return parameter.name
    return None


def _holds_by_default(guard: PathCondition, cls: Class) -> bool:
    """True if a condition in a method is an attribute, and the default of the constructor's parameter decides it so."""
    test, truthy = guard.test, guard.truthy
    while test.op is Op.UNARY and test.data == "not":
        test, truthy = test.args[0], not truthy
    stored = _stored_once(self_attribute(test) or "", cls)
    function: Function = cls.methods["__init__"]
    if stored is None or stored.value.op is not Op.PARAM:
        return False
    parameter = function.parameter(str(stored.value.data))
    default = parameter.default if parameter is not None else None
    return default is not None and default.op is Op.CONST and bool(default.data) is truthy
