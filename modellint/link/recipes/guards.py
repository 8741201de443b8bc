"""What the conditions of a training script come to under one recipe.

Values are followed only as far as the recipe, constants and the course of a training decide them. Everything else
is unknown, and what is unknown never becomes true or false.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from modellint import operators
from modellint.graph.value import EventKind, Guard, Op, Value, dotted
from modellint.link.classes.objects import Constant
from modellint.link.recipes.evaluation import Item, ItemKind
from modellint.link.recipes.moved import layers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modellint.graph.python import Function
    from modellint.link.project import Project
    from modellint.link.recipes.scripts import BrainUse, Script


class Truth(Enum):
    """SOMETIMES: certainly in some step of a training, though not in every one."""

    TRUE = "true"
    FALSE = "false"
    SOMETIMES = "sometimes"
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
    SELF = "self"
    HPARAMS = "hparams"  # all keys of the recipe, as a mapping or namespace
    MODULES = "modules"  # `self.modules`


@dataclass(frozen=True, slots=True)
class Known:
    """A Python constant."""

    value: Any


@dataclass(frozen=True, slots=True)
class Stage:
    """A member of `speechbrain.Stage`."""

    name: str


@dataclass(frozen=True, slots=True)
class Counter:
    """A whole number that runs from `low` to `high` (None: without end) in the course of a training."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """`self.modules.name`."""

    name: str


Abstract = Special | Known | Stage | Counter | ModuleEntry | Item

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
#: Methods of a module that give back the module itself.
FLUENT = operators.methods("Module", "itself")
#: What the framework's Brain counts in a training.
_PROGRESS = {"step": Counter(1, None), "optimizer_step": Counter(0, None)}
#: Its arguments that it keeps under their own names.
_PASSED = frozenset(("checkpointer", "opt_class"))
_ACCUMULATION = "grad_accumulation_factor"
#: What a run is told on its command line, whatever its recipe says: off in one run, on in another.
_SWITCHES = frozenset(("auto_mix_prec", "bfloat16_mix_prec"))
#: Its methods that allow a step of the optimizer: a training in which they never do trains nothing.
_ALLOWING = frozenset(("check_gradients", "check_loss_isfinite"))
_COUNTER = "speechbrain.utils.epoch_loop.EpochCounter"


@dataclass(frozen=True)
class Frame:
    """A function as it is called: its stage of the training and what is known of its arguments."""

    function: Function
    stage: str
    arguments: Mapping[str, Abstract] = field(default_factory=dict)
    #: What values of the function have been found to be, by identity.
    known: dict[int, Abstract] = field(default_factory=dict, init=False, compare=False, repr=False)
    #: Whether code under its conditions runs, by their identity.
    held: dict[int, Truth] = field(default_factory=dict, init=False, compare=False, repr=False)


class Guards:
    """Evaluates values and conditions of a script under one recipe."""

    def __init__(
        self,
        script: Script,
        brain: BrainUse | None,
        keys: Mapping[Any, Item],
        changed: frozenset[str],
        modules: Mapping[str, Item | None] | None,
    ) -> None:
        self.script = script
        self.brain = brain
        self.keys = keys
        #: Keys that the script itself sets; their values are unknown.
        self.changed = changed
        #: The entries of `modules=`, None if they are not all known.
        self.modules = modules
        #: Where classes are looked up, if they may be.
        self.project: Project | None = None
        self._stores: dict[str, list[tuple[Function, Value]]] | None = None
        #: What attributes of the Brain are in a stage of the training.
        self._attributes: dict[tuple[str, str], Abstract] = {}
        #: Whether functions hand the recipe's keys back, at a position, if these parameters are given them.
        self._handing_back: dict[tuple[int, int | None, tuple[str, ...]], bool] = {}

    # -- conditions --------------------------------------------------------------------------------------------

    def holds(self, guard: Guard | None, frame: Frame) -> Truth:
        """Whether code under `guard` runs."""
        if guard is None:
            return Truth.TRUE
        known = frame.held.get(id(guard))
        if known is None:
            known = frame.held[id(guard)] = self._holds(guard, frame)
        return known

    def _holds(self, guard: Guard, frame: Frame) -> Truth:
        result = Truth.TRUE
        for condition in guard.chain():
            truth = self.truth(condition.test, frame)
            result = both(result, truth if condition.truthy else ~truth)
            if result is Truth.FALSE:
                break
        return result

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
        if isinstance(right, Stage) or isinstance(left, Stage):
            return self._compare_stages(value, left, right, frame)
        if isinstance(left, Counter) and isinstance(right, Known):
            return _compare_counter(left, sign, right.value)
        if isinstance(right, Counter) and isinstance(left, Known):
            return _compare_counter(right, _MIRRORED.get(sign, sign), left.value)
        if sign in ("is", "is not", "==", "!=") and Known(None) in (left, right):
            other = right if left == Known(None) else left
            if isinstance(other, Item) and other.kind is not ItemKind.UNKNOWN:
                return _truth(sign in ("is not", "!="))
        if isinstance(left, Known) and isinstance(right, Known):
            try:
                return _truth(bool(_COMPARISONS[sign](left.value, right.value)))
            except TypeError:
                return Truth.UNKNOWN
        return Truth.UNKNOWN

    def _compare_stages(self, value: Value, left: Abstract, right: Abstract, frame: Frame) -> Truth:
        """A parameter that is compared with a stage is the stage."""
        sides = [
            Stage(frame.stage) if side is Special.UNKNOWN and arg.op is Op.PARAM else side
            for side, arg in ((left, value.args[0]), (right, value.args[1]))
        ]
        if not all(isinstance(side, Stage) for side in sides) or value.data not in _COMPARISONS:
            return Truth.UNKNOWN
        same = sides[0] == sides[1]
        return _truth(same if value.data in ("==", "is") else not same)

    def _contains(self, left: Abstract, container: Value, frame: Frame, depth: int) -> Truth:
        if container.op in (Op.TUPLE, Op.LIST, Op.SET):
            choices = [self.evaluate(arg, frame, depth + 1) for arg in container.args]
            left = (
                Stage(frame.stage) if left is Special.UNKNOWN and any(isinstance(c, Stage) for c in choices) else left
            )
            if left is Special.UNKNOWN or Special.UNKNOWN in choices or isinstance(left, Counter | Item):
                return Truth.UNKNOWN
            return _truth(left in choices)
        if not isinstance(left, Known) or not isinstance(left.value, str):
            return Truth.UNKNOWN
        return self._has(self.evaluate(container, frame, depth + 1), left.value)

    def _has(self, owner: Abstract, name: str) -> Truth:
        """Whether `owner` has an entry or attribute called `name`."""
        if owner is Special.HPARAMS:
            return _truth(name in self.keys or name in self.changed)
        if owner is Special.MODULES and self.modules is not None:
            return Truth.TRUE if name in self.modules else Truth.FALSE
        if isinstance(owner, Item) and owner.kind is ItemKind.MAPPING:
            return _truth(name in owner.fields)
        if isinstance(owner, Known) and isinstance(owner.value, str):
            return _truth(name in owner.value)
        if isinstance(owner, Item) and owner.kind is ItemKind.NEW and self.project is not None:
            model = self.project.classes.resolve(owner.target, owner.recipe.file)
            if model is not None and (model.has_method(name) or model.changes_state(name)):
                return Truth.TRUE
        return Truth.UNKNOWN

    def _call_truth(self, value: Value, frame: Frame, depth: int) -> Truth:
        asked = dotted(value.callee)
        if asked == "isinstance" and len(value.positional) == 2:
            return self._is_instance(value, frame)
        owner, _, method = (asked or "").rpartition(".")
        if method == "if_main_process":
            return Truth.SOMETIMES
        if owner == "self" and method in _ALLOWING and self.brain is not None and self.brain.method(method) is None:
            return Truth.TRUE
        if asked != "hasattr":
            return _truth_of(self.evaluate(value, frame, depth + 1))
        if len(value.positional) == 2:
            name = self.evaluate(value.positional[1], frame, depth + 1)
            if isinstance(name, Known) and isinstance(name.value, str):
                return self._has(self.evaluate(value.positional[0], frame, depth + 1), name.value)
        return Truth.UNKNOWN

    def _is_instance(self, value: Value, frame: Frame) -> Truth:
        """Whether an object of the recipe is of a class, both being known."""
        item = self.item(value.positional[0], frame)
        if self.project is None or item is None or item.kind is not ItemKind.NEW:
            return Truth.UNKNOWN
        classes = self.project.classes
        model = classes.resolve(item.target, item.recipe.file)
        wanted = classes.resolve(value.positional[1], frame.function.module)
        if model is None or wanted is None:
            return Truth.UNKNOWN
        found = any(base.name == wanted.name for base in model.mro())
        return Truth.TRUE if found else Truth.FALSE if model.is_complete else Truth.UNKNOWN

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
                is_brain = self.brain is not None and value is self.brain.call
                return Special.SELF if is_brain else self._call(value, frame, depth)
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

    def item(self, value: Value, frame: Frame) -> Item | None:
        """The recipe's object that `value` is, entries of `self.modules` included."""
        found = self.evaluate(value, frame)
        if isinstance(found, ModuleEntry) and self.modules is not None:
            return self.modules.get(found.name)
        return found if isinstance(found, Item) else None

    def _parameter(self, value: Value, frame: Frame) -> Abstract:
        if value.data in frame.arguments:
            return frame.arguments[value.data]
        if value.data == "self" and frame.function.owner is not None:
            return Special.SELF
        if value.data in self.script.names and frame.function.module is self.script.module:
            return Special.HPARAMS
        return Special.UNKNOWN

    def _global(self, value: Value, frame: Frame) -> Abstract:
        module = frame.function.module
        if value.data in self.script.names and module is self.script.module:
            return Special.HPARAMS
        if self.brain is not None and module is self.script.module and value.data == self.brain.call.target:
            return Special.SELF
        constant = module.constants.get(value.data)
        if constant is not None and constant.op is Op.CONST:
            return Known(constant.data)
        return Special.UNKNOWN

    def _attribute(self, value: Value, frame: Frame, depth: int) -> Abstract:
        name = value.data
        holder = value.args[0]
        if holder.data == "Stage" and holder.op in (Op.GLOBAL, Op.ATTR):
            return Stage(name)
        owner = self.evaluate(holder, frame, depth + 1)
        if owner is Special.SELF:
            return self._own(value, frame, depth)
        if owner is Special.HPARAMS and name == "__dict__":
            return Special.HPARAMS
        if isinstance(owner, Item):
            if owner.kind is ItemKind.NEW and owner.target == _COUNTER and name == "current":
                return _epochs(owner)
            return self._constant_of(owner, name)
        return self._member(owner, name)

    def _constant_of(self, item: Item, name: str) -> Abstract:
        """An attribute of an object of the recipe that its constructor sets to a constant."""
        if self.project is None or item.kind is not ItemKind.NEW:
            return Special.UNKNOWN
        found = layers_of(self.project).attribute(item, name)
        return Known(found.value) if isinstance(found, Constant) else Special.UNKNOWN

    def _own(self, value: Value, frame: Frame, depth: int) -> Abstract:
        """An attribute of the Brain: one of its own, what this body has stored, or what any method stores."""
        name = value.data
        if name == "hparams":
            return Special.HPARAMS
        if name in ("modules", "mods"):
            return Special.MODULES
        if len(value.args) > 1:
            return self.evaluate(value.args[1], frame, depth + 1)
        stores = self._stores_of(name)
        if not stores and name in _PROGRESS:
            return _PROGRESS[name]
        if not stores and name == _ACCUMULATION:
            return _known(self.keys[name]) if name in self.keys else Known(1)
        if not stores and name in _SWITCHES:
            return Counter(0, 1)
        if not stores:
            passed = self.brain.argument(name) if self.brain and name in _PASSED else None
            if passed is not None and passed.op in (Op.LIST, Op.TUPLE):
                return Known(passed)
            return self._at_top(passed, depth) if passed is not None else Special.UNKNOWN
        return self._stored(name, stores, frame, depth)

    def _stored(self, name: str, stores: Sequence[tuple[Function, Value]], frame: Frame, depth: int) -> Abstract:
        """What all methods store as an attribute, unknown while it is followed (`self.count += 1` in two of them)."""
        known = self._attributes.get((name, frame.stage))
        if known is None:
            self._attributes[name, frame.stage] = Special.UNKNOWN
            frames = [(replace(frame, function=function, arguments={}), stored) for function, stored in stores]
            values = [self.evaluate(stored, inside, depth + 1) for inside, stored in frames]
            known = values[0] if all(_same(values[0], other) for other in values) else Special.UNKNOWN
            self._attributes[name, frame.stage] = known
        return known

    def _at_top(self, value: Value, depth: int) -> Abstract:
        return self.evaluate(value, Frame(self.script.module.body, ""), depth + 1)

    def _stores_of(self, name: str) -> list[tuple[Function, Value]]:
        if self._stores is None:
            self._stores = {}
            for attribute, function, value in self.brain.stored if self.brain else ():
                self._stores.setdefault(attribute, []).append((function, value))
            for cls in self.brain.classes if self.brain else ():
                for method in cls.methods.values():
                    for event in method.flow.of(EventKind.STORE):
                        target = event.target
                        if target is not None and target.op is Op.ATTR and target.args[0].op is Op.PARAM:
                            self._stores.setdefault(target.data, []).append((method, event.value))
        return self._stores.get(name, [])

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
        if owner is Special.HPARAMS and name in self.keys and name not in self.changed:
            return _known(self.keys[name])
        if owner is Special.MODULES and isinstance(name, str):
            return ModuleEntry(name)
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
            return inner if inner is Special.HPARAMS else Special.UNKNOWN
        if value.callee.op is not Op.ATTR:
            return self._handed_back(value, None, frame, depth)
        owner = self.evaluate(value.callee.args[0], frame, depth + 1)
        method = value.callee.data
        if method == "keys":
            return owner if owner in (Special.HPARAMS, Special.MODULES) else Special.UNKNOWN
        if method == "get" and value.positional:
            return self._get(owner, value, frame, depth)
        if method in FLUENT and isinstance(owner, Item | ModuleEntry):
            return owner
        return Special.UNKNOWN

    def _handed_back(self, call: Value, index: int | None, frame: Frame, depth: int) -> Abstract:
        """The recipe's keys, where a function of the script returns those that it is given, alone or among others."""
        module = self.script.module
        is_own = call.op is Op.CALL and call.callee.op is Op.GLOBAL and frame.function.module is module
        function = module.functions.get(call.callee.data) if is_own else None
        if function is None:
            return Special.UNKNOWN
        given = {name: self.evaluate(value, frame, depth + 1) for name, value in function.bind(call).items()}
        keys: dict[str, Abstract] = {name: found for name, found in given.items() if found is Special.HPARAMS}
        key = (id(function), index, tuple(sorted(keys)))
        if key not in self._handing_back:
            self._handing_back[key] = False  # a function that calls itself
            inner = Frame(function, "", keys)
            returned = [_element(event.value, index) for event in function.flow.of(EventKind.RETURN)]
            found = [None if part is None else self.evaluate(part, inner, depth + 1) for part in returned]
            self._handing_back[key] = bool(keys and found) and all(one is Special.HPARAMS for one in found)
        return Special.HPARAMS if self._handing_back[key] else Special.UNKNOWN

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
        if isinstance(left, Counter) and isinstance(right, Known) and value.data == "%":
            if isinstance(right.value, int) and right.value > 0 and (left.high is None or left.high >= right.value):
                return Counter(0, right.value - 1)
            return Special.UNKNOWN
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


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


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
    if isinstance(value, Counter):
        return Truth.TRUE if value.low > 0 else Truth.SOMETIMES
    return Truth.UNKNOWN


def _epochs(counter: Item) -> Abstract:
    """The values that an epoch counter takes while its epochs run."""
    limit = counter.fields.get("limit") or (counter.elements[0] if counter.elements else None)
    number = limit.number if limit is not None else None
    return Counter(1, int(number) if number is not None and number >= 1 else None)


def _compare_counter(counter: Counter, sign: str, bound: Any) -> Truth:
    """Whether a number that runs from low to high ever, always or never compares so with `bound`."""
    if isinstance(bound, bool) or not isinstance(bound, int | float) or sign not in _COMPARISONS:
        return Truth.UNKNOWN
    compare = _COMPARISONS["==" if sign == "is" else "!=" if sign == "is not" else sign]
    low, high = counter.low, counter.high
    if sign in ("==", "!=", "is", "is not"):
        inside = low <= bound and (high is None or bound <= high) and float(bound).is_integer()
        equal = Truth.SOMETIMES if inside else Truth.FALSE
        equal = Truth.TRUE if inside and low == high else equal
        return equal if sign in ("==", "is") else ~equal
    first = compare(low, bound)
    last = compare(high, bound) if high is not None else sign in (">", ">=")
    if first and last:
        return Truth.TRUE
    if not first and not last:
        return Truth.FALSE
    # How many epochs there are is unknown: those that come late may never come.
    return Truth.UNKNOWN if high is None and last else Truth.SOMETIMES


def _element(value: Value, index: int | None) -> Value | None:
    """An element of a tuple that is written out; with no index, the value as it is."""
    if index is None:
        return value
    is_plain = value.op in (Op.TUPLE, Op.LIST) and all(arg.op is not Op.STARRED for arg in value.args)
    return value.args[index] if is_plain and 0 <= index < len(value.args) else None
