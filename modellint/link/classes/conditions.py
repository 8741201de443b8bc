"""Whether a condition holds, as far as the objects in it are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import Op, Value
from modellint.link.classes.objects import (
    Callable,
    Choice,
    ClassObject,
    Constant,
    Given,
    Group,
    Instance,
    Object,
    Outside,
    Tensor,
    Trained,
)

if TYPE_CHECKING:
    from collections.abc import Callable as Function


def truth(test: Value, evaluate: Function[[Value], Object]) -> bool | None:
    """The outcome of a condition, None if it is not known."""
    if test.op is Op.COMPARE:
        return _compare(test.data, evaluate(test.args[0]), evaluate(test.args[1]))
    if test.op is Op.UNARY and test.data == "not":
        inner = truth(test.args[0], evaluate)
        return None if inner is None else not inner
    if test.op is Op.BOOL:
        outcomes = [truth(arg, evaluate) for arg in test.args]
        decisive = bool(test.data == "or")
        if decisive in outcomes:
            return decisive
        return None if None in outcomes else not decisive
    if test.op is Op.CALL and test.callee.op is Op.GLOBAL and test.callee.data in ("isinstance", "builtins.isinstance"):
        return _is_instance(test, evaluate)
    return _truthy(evaluate(test))


def open_part(test: Value, evaluate: Function[[Value], Object]) -> tuple[Value, bool]:
    """The one operand that an open condition turns on, if there is one, and whether the condition negates it."""
    negated = False
    while True:
        if test.op is Op.UNARY and test.data == "not":
            test, negated = test.args[0], not negated
            continue
        if test.op is Op.BOOL:
            undecided = [arg for arg in test.args if truth(arg, evaluate) is None]
            if len(undecided) == 1:
                test = undecided[0]
                continue
        return test, negated


def _truthy(value: Object) -> bool | None:
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Group):
        return bool(value.items)
    if isinstance(value, Given):
        return True if value.is_layer else None
    if isinstance(value, Choice):
        outcomes = {_truthy(option) for option in value.options}
        return outcomes.pop() if len(outcomes) == 1 else None
    return True if isinstance(value, Instance | ClassObject | Callable | Trained | Outside) else None


def _is_none(value: Object) -> bool | None:
    if isinstance(value, Constant):
        return value.value is None
    if isinstance(value, Given):
        return False if value.is_layer else None
    if isinstance(value, Choice):
        outcomes = {_is_none(option) for option in value.options}
        return outcomes.pop() if len(outcomes) == 1 else None
    return False if isinstance(value, Group | Instance | ClassObject | Callable | Trained | Tensor | Outside) else None


def _compare(operator: str, left: Object, right: Object) -> bool | None:
    if isinstance(right, Constant) and right.value is None and operator in ("is", "is not", "==", "!="):
        outcome = _is_none(left)
        return outcome if outcome is None or operator in ("is", "==") else not outcome
    if isinstance(left, Choice):
        outcomes = {_compare(operator, option, right) for option in left.options}
        return outcomes.pop() if len(outcomes) == 1 else None
    if operator in ("in", "not in"):
        return _member(left, right, operator == "in")
    if isinstance(left, Constant) and isinstance(right, Constant):
        return compare_constants(operator, left.value, right.value)
    if isinstance(left, ClassObject) and isinstance(right, ClassObject) and operator in ("is", "==", "is not", "!="):
        return (left.model.name == right.model.name) is (operator in ("is", "=="))
    return None


def _member(left: Object, right: Object, wanted: bool) -> bool | None:
    if not isinstance(left, Constant):
        return None
    if isinstance(right, Constant) and isinstance(right.value, str) and isinstance(left.value, str):
        return (left.value in right.value) is wanted
    if isinstance(right, Group):
        known = right.keys
        if known is None:
            known = tuple(item.value for item in right.items if isinstance(item, Constant))
            if len(known) != len(right.items):
                return None
        return (left.value in known) is wanted
    return None


def compare_constants(operator: str, left: object, right: object) -> bool | None:
    """How two constants compare, None where that is not for us to say."""
    if operator in ("==", "is"):
        return left == right
    if operator in ("!=", "is not"):
        return left != right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}.get(operator)
    return None


def _is_instance(test: Value, evaluate: Function[[Value], Object]) -> bool | None:
    if len(test.positional) != 2:
        return None
    value, kind = (evaluate(arg) for arg in test.positional)
    name = kind.model.name if isinstance(kind, ClassObject) else kind.name if isinstance(kind, Outside) else None
    if name is None:
        return None
    if isinstance(value, Given):
        return True if value.is_layer and name == "torch.nn.Module" else None
    if isinstance(value, Constant):
        names = [f"builtins.{cls.__name__}" for cls in type(value.value).__mro__]
        return name in names if name.startswith(("builtins.", "torch.nn.")) else None
    if isinstance(value, Instance):
        if name in [model.name for model in value.model.mro()]:
            return True
        return False if value.model.is_complete else None
    if isinstance(value, ClassObject | Callable) and isinstance(kind, ClassObject):
        return False
    if isinstance(value, Group) and name.startswith("torch.nn."):
        return False
    return None
