"""What the conditions around a Brain come to under one recipe.

Values are followed only as far as the recipe and constants decide them. Everything else is unknown, and what is unknown
never becomes true or false.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from modellint.graph.value import EventKind, Op, Value, dotted
from modellint.link.names import DefinedClass, External
from modellint.link.recipes.evaluation import Item, ItemKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from modellint.graph.python import Function
    from modellint.link.project import Project
    from modellint.link.recipes.scripts import Script


class Truth(Enum):
    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    def __invert__(self) -> Truth:
        if self is Truth.TRUE:
            return Truth.FALSE
        return Truth.TRUE if self is Truth.FALSE else self


def both(first: Truth, second: Truth) -> Truth:
    """The truth of `first and second`."""
    if Truth.FALSE in (first, second):
        return Truth.FALSE
    if first is Truth.TRUE:
        return second
    if second is Truth.TRUE:
        return first
    return Truth.UNKNOWN


def _truth(value: bool) -> Truth:
    return Truth.TRUE if value else Truth.FALSE


class Special(Enum):
    """Values that have no counterpart in the recipe's text."""

    UNKNOWN = "unknown"
    HPARAMS = "hparams"  # all keys of the recipe, as a mapping
    NAMESPACE = "namespace"  # all keys of the recipe, as the attributes of a namespace
    OBJECT = "object"  # an object of some class


@dataclass(frozen=True, slots=True)
class Known:
    """A Python constant."""

    value: Any


Abstract = Special | Known | Item

_ALL_KEYS = (Special.HPARAMS, Special.NAMESPACE)
_NAMESPACES = frozenset(("SimpleNamespace", "types.SimpleNamespace", "Namespace", "argparse.Namespace"))
_MAX_DEPTH = 40
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


@dataclass(frozen=True)
class Frame:
    """A function as it is called, and what is known of its arguments."""

    function: Function
    arguments: Mapping[str, Abstract] = field(default_factory=dict)
    #: The attributes under which a method's object keeps the keys.
    kept: Mapping[str, Special] = field(default_factory=dict)
    #: What values of the function have been found to be, by identity.
    known: dict[int, Abstract] = field(default_factory=dict, init=False, compare=False, repr=False)


class Guards:
    """Evaluates values and conditions of a script under one recipe."""

    def __init__(self, script: Script, keys: Mapping[Any, Item], changed: frozenset[str], project: Project) -> None:
        self.script = script
        self._project = project
        self.keys = keys
        #: Keys that the script itself sets; their values are unknown.
        self.changed = changed
        #: What functions hand back, at a position, if these parameters are given the recipe's keys.
        self._handing_back: dict[tuple[int, int | None, tuple[str, ...]], Abstract] = {}

    # -- conditions --------------------------------------------------------------------------------------------

    def truth(self, value: Value, frame: Frame, depth: int = 0) -> Truth:
        if depth > _MAX_DEPTH:
            return Truth.UNKNOWN
        if value.op is Op.BOOL:
            parts = [self.truth(arg, frame, depth + 1) for arg in value.args]
            if value.data == "and":
                return _all(parts)
            return ~_all([~part for part in parts])
        if value.op is Op.UNARY and value.data == "not":
            return ~self.truth(value.args[0], frame, depth + 1)
        if value.op is Op.COMPARE:
            return self._compare(value, frame, depth)
        if value.op is Op.CALL:
            return self._call_truth(value, frame, depth)
        if value.op is Op.GLOBAL and value.data == "__name__":
            return Truth.UNKNOWN
        return _truth_of(self.evaluate(value, frame, depth + 1))

    def _compare(self, value: Value, frame: Frame, depth: int) -> Truth:
        sign = value.data
        left = self.evaluate(value.args[0], frame, depth + 1)
        if sign in ("in", "not in"):
            found = self._contains(left, value.args[1], frame, depth)
            return found if sign == "in" else ~found
        right = self.evaluate(value.args[1], frame, depth + 1)
        if sign in ("is", "is not", "==", "!=") and Known(None) in (left, right):
            other = right if left == Known(None) else left
            if other is Special.OBJECT or (isinstance(other, Item) and other.kind is not ItemKind.UNKNOWN):
                return _truth(sign in ("is not", "!="))
        if isinstance(left, Known) and isinstance(right, Known):
            try:
                return _truth(bool(_COMPARISONS[sign](left.value, right.value)))
            except TypeError:
                return Truth.UNKNOWN
        return Truth.UNKNOWN

    def _contains(self, left: Abstract, container: Value, frame: Frame, depth: int) -> Truth:
        if container.op in (Op.TUPLE, Op.LIST, Op.SET):
            choices = [self.evaluate(arg, frame, depth + 1) for arg in container.args]
            if left is Special.UNKNOWN or Special.UNKNOWN in choices or isinstance(left, Item):
                return Truth.UNKNOWN
            return _truth(left in choices)
        if not isinstance(left, Known) or not isinstance(left.value, str):
            return Truth.UNKNOWN
        return self._has(self.evaluate(container, frame, depth + 1), left.value)

    def _has(self, owner: Abstract, name: str) -> Truth:
        """Whether `owner` has an entry or attribute called `name`."""
        if owner in _ALL_KEYS:
            return _truth(name in self.keys or name in self.changed)
        if isinstance(owner, Item) and owner.kind is ItemKind.MAPPING:
            return _truth(name in owner.fields)
        if isinstance(owner, Known) and isinstance(owner.value, str):
            return _truth(name in owner.value)
        return Truth.UNKNOWN

    def _call_truth(self, value: Value, frame: Frame, depth: int) -> Truth:
        asked = dotted(value.callee)
        if asked != "hasattr":
            return _truth_of(self.evaluate(value, frame, depth + 1))
        if len(value.positional) == 2:
            name = self.evaluate(value.positional[1], frame, depth + 1)
            if isinstance(name, Known) and isinstance(name.value, str):
                return self._has(self.evaluate(value.positional[0], frame, depth + 1), name.value)
        return Truth.UNKNOWN

    # -- values ------------------------------------------------------------------------------------------------

    def evaluate(self, value: Value, frame: Frame, depth: int = 0) -> Abstract:
        """What `value` is, as far as the recipe and constants tell."""
        known = frame.known.get(id(value))
        if known is None:
            if depth > _MAX_DEPTH:
                return Special.UNKNOWN
            known = frame.known[id(value)] = self._evaluate(value, frame, depth)
        return known

    def _evaluate(self, value: Value, frame: Frame, depth: int) -> Abstract:
        match value.op:
            case Op.CONST:
                return Known(value.data)
            case Op.PARAM:
                return self._parameter(value, frame)
            case Op.GLOBAL:
                return self._global(value, frame)
            case Op.ATTR:
                return self._attribute(value, frame, depth)
            case Op.INDEX:
                return self._index(value, frame, depth)
            case Op.CALL:
                return self._call(value, frame, depth)
            case Op.UNPACK:
                return self._handed_back(value.args[0], value.data, frame, depth)
            case Op.CHOICE:
                return self._choice(value, frame, depth)
            case Op.BIN:
                return self._binary(value, frame, depth)
            case Op.UPDATE:
                return self.evaluate(value.args[0], frame, depth + 1)
            case Op.BOOL | Op.COMPARE | Op.UNARY:
                truth = self.truth(value, frame, depth + 1)
                return Known(truth is Truth.TRUE) if truth in (Truth.TRUE, Truth.FALSE) else Special.UNKNOWN
        return Special.UNKNOWN

    def _parameter(self, value: Value, frame: Frame) -> Abstract:
        if value.data in frame.arguments:
            return frame.arguments[value.data]
        if value.data in self.script.names and frame.function.module is self.script.module:
            return Special.HPARAMS
        return Special.UNKNOWN

    def _global(self, value: Value, frame: Frame) -> Abstract:
        module = frame.function.module
        if value.data in self.script.names and module is self.script.module:
            return Special.HPARAMS
        constant = module.constants.get(value.data)
        if constant is not None and constant.op is Op.CONST:
            return Known(constant.data)
        return Special.UNKNOWN

    def _attribute(self, value: Value, frame: Frame, depth: int) -> Abstract:
        owner_value = value.args[0]
        if frame.kept and owner_value.op is Op.PARAM and owner_value.data == "self":
            return frame.kept.get(value.data, Special.UNKNOWN)
        owner = self.evaluate(owner_value, frame, depth + 1)
        if value.data == "__dict__":
            return Special.HPARAMS if owner in _ALL_KEYS else Special.UNKNOWN
        return self._member(owner, value.data) if owner is Special.NAMESPACE else Special.UNKNOWN

    def _index(self, value: Value, frame: Frame, depth: int) -> Abstract:
        owner = self.evaluate(value.args[0], frame, depth + 1)
        key = self.evaluate(value.args[1], frame, depth + 1)
        if not isinstance(key, Known):
            return Special.UNKNOWN
        if isinstance(owner, Item):
            if owner.kind is ItemKind.MAPPING and key.value in owner.fields:
                return _known(owner.fields[key.value])
            if owner.kind is ItemKind.SEQUENCE and isinstance(key.value, int) and 0 <= key.value < len(owner.elements):
                return _known(owner.elements[key.value])
            return Special.UNKNOWN
        return self._member(owner, key.value)

    def _member(self, owner: Abstract, name: Any) -> Abstract:
        if owner in _ALL_KEYS and name in self.keys and name not in self.changed:
            return _known(self.keys[name])
        return Special.UNKNOWN

    def _call(self, value: Value, frame: Frame, depth: int) -> Abstract:
        name = dotted(value.callee) or ""
        if self.script.is_load(value) and frame.function.module is self.script.module:
            return Special.HPARAMS
        if name == "hasattr":
            truth = self._call_truth(value, frame, depth + 1)
            return Known(truth is Truth.TRUE) if truth in (Truth.TRUE, Truth.FALSE) else Special.UNKNOWN
        if name == "getattr" and len(value.positional) >= 2:
            return self._getattr(value, frame, depth)
        if name in ("vars", "dict", "bool", "int", "str") and len(value.positional) == 1 and not value.data:
            inner = self.evaluate(value.positional[0], frame, depth + 1)
            return Special.HPARAMS if inner in _ALL_KEYS else Special.UNKNOWN
        if name in _NAMESPACES and value.data == (None,) and not value.positional:
            inner = self.evaluate(value.args[-1], frame, depth + 1)
            return Special.NAMESPACE if inner is Special.HPARAMS else Special.UNKNOWN
        if value.callee.op is not Op.ATTR:
            return self._handed_back(value, None, frame, depth)
        owner = self.evaluate(value.callee.args[0], frame, depth + 1)
        method = value.callee.data
        if method == "keys":
            return owner if owner is Special.HPARAMS else Special.UNKNOWN
        if method == "get" and value.positional:
            return self._get(owner, value, frame, depth)
        return Special.UNKNOWN

    def _handed_back(self, call: Value, index: int | None, frame: Frame, depth: int) -> Abstract:
        """What a function of the script returns, alone or among others: the keys that it is given, a constant."""
        module = self.script.module
        is_own = call.op is Op.CALL and call.callee.op is Op.GLOBAL and frame.function.module is module
        function = module.functions.get(call.callee.data) if is_own else None
        if function is None:
            is_made = index is None and call.op is Op.CALL and self._is_class(call.callee, frame)
            return Special.OBJECT if is_made else Special.UNKNOWN
        given = {name: self.evaluate(value, frame, depth + 1) for name, value in function.bind(call).items()}
        keys: dict[str, Abstract] = {name: found for name, found in given.items() if found is Special.HPARAMS}
        key = (id(function), index, tuple(sorted(keys)))
        if key not in self._handing_back:
            self._handing_back[key] = Special.UNKNOWN  # a function that calls itself
            inner = Frame(function, keys)
            events = list(function.flow.of(EventKind.RETURN))
            returned = [_element(event.value, index) for event in events]
            found = [Special.UNKNOWN if part is None else self.evaluate(part, inner, depth + 1) for part in returned]
            is_keys = bool(keys) and Special.HPARAMS in found
            always = is_keys or any(event.guard is None for event in events)
            if always and all(_same(found[0], other) for other in found) and not isinstance(found[0], Item):
                self._handing_back[key] = found[0]
        return self._handing_back[key]

    def _is_class(self, callee: Value, frame: Frame) -> bool:
        """Whether a class is called, so that an object is made."""
        found = self._project.names.definition(frame.function.module, callee)
        if isinstance(found, External):
            return self._project.classes.resolve(found.name, frame.function.module.file) is not None
        return isinstance(found, DefinedClass)

    def _getattr(self, value: Value, frame: Frame, depth: int) -> Abstract:
        owner = self.evaluate(value.positional[0], frame, depth + 1)
        return self._or_default(owner, value.positional[1:], frame, depth)

    def _get(self, owner: Abstract, value: Value, frame: Frame, depth: int) -> Abstract:
        found = self._or_default(owner, value.positional, frame, depth)
        missing = found is Special.UNKNOWN and len(value.positional) == 1
        if missing and owner is Special.HPARAMS:
            name = self.evaluate(value.positional[0], frame, depth + 1)
            if isinstance(name, Known) and self._has(owner, name.value) is Truth.FALSE:
                return Known(None)
        return found

    def _or_default(self, owner: Abstract, args: tuple[Value, ...], frame: Frame, depth: int) -> Abstract:
        name = self.evaluate(args[0], frame, depth + 1)
        if not isinstance(name, Known) or not isinstance(name.value, str):
            return Special.UNKNOWN
        if self._has(owner, name.value) is Truth.FALSE and len(args) > 1:
            return self.evaluate(args[1], frame, depth + 1)
        return self._member(owner, name.value)

    def _choice(self, value: Value, frame: Frame, depth: int) -> Abstract:
        if isinstance(value.data, Value) and len(value.args) == 2:
            truth = self.truth(value.data, frame, depth + 1)
            if truth in (Truth.TRUE, Truth.FALSE):
                return self.evaluate(value.args[truth is Truth.FALSE], frame, depth + 1)
        # What a loop changes in place is still the same object.
        options = [arg for arg in value.args if _unchanged(arg) is not value]
        found = [self.evaluate(arg, frame, depth + 8) for arg in options]
        return found[0] if found and all(_same(found[0], other) for other in found) else Special.UNKNOWN

    def _binary(self, value: Value, frame: Frame, depth: int) -> Abstract:
        left = self.evaluate(value.args[0], frame, depth + 1)
        right = self.evaluate(value.args[1], frame, depth + 1)
        if not isinstance(left, Known) or not isinstance(right, Known) or value.data not in _ARITHMETIC:
            return Special.UNKNOWN
        if not all(isinstance(side.value, int | float) for side in (left, right)):
            return Special.UNKNOWN
        try:
            return Known(_ARITHMETIC[value.data](left.value, right.value))
        except ArithmeticError:
            return Special.UNKNOWN


def _unchanged(value: Value) -> Value:
    """A value before it was changed in place."""
    while value.op is Op.UPDATE:
        value = value.args[0]
    return value


def _all(parts: list[Truth]) -> Truth:
    result = Truth.TRUE
    for part in parts:
        result = both(result, part)
    return result


def _same(first: Abstract, second: Abstract) -> bool:
    return first is not Special.UNKNOWN and first == second and type(first) is type(second)


def _known(item: Item) -> Abstract:
    """A recipe's constant as a constant; any other object as itself."""
    if item.kind is ItemKind.CONSTANT:
        values = item.values
        return Known(item.value if values is None else values)
    return Special.UNKNOWN if item.kind is ItemKind.UNKNOWN else item


def _truth_of(value: Abstract) -> Truth:
    if isinstance(value, Known):
        return _truth(bool(value.value))
    if isinstance(value, Item):
        if value.kind in (ItemKind.MAPPING, ItemKind.SEQUENCE):
            return _truth(bool(value.fields or value.elements))
        return Truth.TRUE if value.kind in (ItemKind.NEW, ItemKind.NAME) else Truth.UNKNOWN
    return Truth.UNKNOWN


def _element(value: Value, index: int | None) -> Value | None:
    """An element of a tuple that is written out; with no index, the value as it is."""
    if index is None:
        return value
    is_plain = value.op in (Op.TUPLE, Op.LIST) and all(arg.op is not Op.STARRED for arg in value.args)
    return value.args[index] if is_plain and 0 <= index < len(value.args) else None
