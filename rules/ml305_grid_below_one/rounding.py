"""A gate before any run: which functions may round a number down to a multiple, and which may use it.

It over-approximates, by the value graph and by names: a function that it cannot judge counts.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import DefinedFunction
from modellint.graph.value import EventKind, Nested, Op, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value
    from modellint.rule import Project


class Fate(Flag):
    """The fate of a rounded ratio in a function."""

    NOTHING = 0
    #: It is multiplied again, or subtracted where it is the remainder of a division.
    MULTIPLIED = auto()
    #: The function returns it.
    RETURNED = auto()
    #: It is stored, or passed to another function.
    PASSED = auto()


#: Calls that round down, written with `/`.
ROUNDING = operators.words("rounds:down", "rounds:nearest")
_LIKE = operators.words("rounds", "same-number", "extreme", "passed")
_OPERATORS = operators.words()
#: Operations whose result is, or may hold, one of their operands.
_HOLDING = frozenset(
    (Op.CHOICE, Op.BOOL, Op.TUPLE, Op.LIST, Op.DICT, Op.STARRED, Op.COMPREHENSION, Op.UPDATE, Op.LAMBDA)
)
_PARTS = frozenset((Op.UNPACK, Op.INDEX, Op.ITEM, Op.ATTR))
_FATES = {
    EventKind.RETURN: Fate.RETURNED,
    EventKind.YIELD: Fate.RETURNED,
    EventKind.STORE: Fate.PASSED,
    EventKind.CALL: Fate.PASSED,
}
_SCALING = frozenset(("*", "/", "//"))
#: Names of operators that use sizes, and of those that measure them.
_USING = operators.words("sizes", "repeats", "resamples")
MEASURING = operators.words("gives:size")
_CONSTRUCTORS = frozenset(("__init__", "__post_init__"))
_MAX_DEPTH = 40


def rounding(function: Function) -> Fate:
    """The fate of the ratios that a function rounds down, of sizes that it measures or is given.

    The arguments of a constructor are settings, and left out.
    """
    text = function.text
    is_dividing = "//" in text or "%" in text or ("/" in text and not ROUNDING.isdisjoint(function.words))
    return _Body(function).fate if is_dividing and function.name not in _CONSTRUCTORS else Fate.NOTHING


def passing(function: Function, name: str) -> Fate:
    """The fate, in a function, of the rounded ratio that a call of `name` returns."""
    return _Body(function, name).fate


def numerators(function: Function) -> frozenset[str] | None:
    """The parameters that a function rounds ratios of; None where variables scale them, or parts are rounded."""
    found: set[str] = set()
    for ratio in ratios(function):
        for leaf in _leaves(ratio.args[0], _MAX_DEPTH):
            if leaf.op is not Op.PARAM or leaf.data == "self":
                return None
            found.add(str(leaf.data))
    return frozenset(found)


def ratios(function: Function) -> Iterator[Value]:
    """The divisions whose results a function rounds down, or whose rests it takes."""
    for value in _parts(function.flow.events):
        yield from _rounded_ratios(value)


def _rounded_ratios(value: Value) -> Iterator[Value]:
    """The division that a value rounds down, or whose remainder it is."""
    if value.op is Op.BIN and value.data in ("//", "%"):
        yield value
    elif value.op is Op.CALL and value.callee.data in ROUNDING:
        yield from (arg for arg in value.args[1:] if arg.op is Op.BIN and arg.data == "/")


def _leaves(value: Value, depth: int) -> Iterator[Value]:
    """The parameters, their parts and the scaled values that a number is computed from; measured sizes are left out."""
    if value.op is Op.ATTR and value.data in MEASURING:
        return
    is_part = value.op in _PARTS and value.args[0].op is Op.PARAM
    is_scaled = value.op is Op.BIN and value.args[1].op in (Op.PARAM, Op.ATTR)
    if value.op is Op.PARAM or is_part or is_scaled or depth <= 0:
        yield value
    elif value.op is not Op.CALL or value.callee.op is not Op.ATTR:
        for arg in value.args[1:] if value.op is Op.CALL else value.args:
            yield from _leaves(arg, depth - (4 if value.op is Op.CHOICE else 1))


class Reach:
    """Over-approximates the effects of a function and its callees, by the names that they mention."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[Function, str], bool] = {}

    def may_use(self, function: Function) -> bool:
        """True if the function or one that it calls may shape, repeat or resize something."""
        return self._may("use", function, _USING)

    def may_measure(self, function: Function) -> bool:
        """True if the function or one that it calls may ask for the sizes of something."""
        return self._may("measure", function, MEASURING)

    def _may(self, what: str, function: Function, words: AbstractSet[str]) -> bool:
        known = self._known.get((function, what))
        if known is None:
            pending = {function: None}
            known = any(not words.isdisjoint(_words(one)) for one in self._with_mentions(pending))
            self._known.update(((one, what), known) for one in ((function,) if known else pending))
        return known

    def _with_mentions(self, found: dict[Function, None]) -> Iterator[Function]:
        """The functions `found` and all that they mention, transitively; these are added to `found`."""
        pending = list(found)
        for function in pending:
            yield function
            pending += [other for other in dict.fromkeys(self._mentioned_by(function)) if other not in found]
            found.update(dict.fromkeys(pending))

    def _mentioned_by(self, function: Function) -> Iterator[Function]:
        """The functions that a function mentions: of its file, of the bases of its class, and imported ones."""
        module, words = function.module, function.words
        yield from (other for other in module.all_functions() if called_as(other) in words)
        for model in () if function.owner is None else self._project.classes.model(function.owner).mro():
            if model.cls is not None and model.cls.module is not module:
                yield from (method for method in model.cls.methods.values() if method.name in words)
        for name in module.imports.keys() & words:
            definition = self._project.names.resolve(module, name)
            if isinstance(definition, DefinedFunction):
                yield definition.function


def _words(function: Function) -> frozenset[str]:
    """The names that a function mentions, with the original names of imported things."""
    imports = function.module.imports
    return function.words.union(str(imports[name]).rpartition(".")[2] for name in imports.keys() & function.words)


def stores(function: Function) -> bool:
    """True if the method stores something in an attribute."""
    return function.owner is not None and any(
        event.target is not None and event.target.op is Op.ATTR for event in function.flow.of(EventKind.STORE)
    )


def called_as(function: Function) -> str:
    """The name by which a function is called: that of its class, for a special method."""
    is_special = function.name.startswith("__") and function.owner is not None
    return function.owner.name if is_special and function.owner is not None else function.name


class _Body:
    """Computes the fate of the ratios that a function rounds, or of those that its calls of `name` return."""

    def __init__(self, function: Function, name: str | None = None) -> None:
        self._function = function
        self._name = name
        self._quotients: dict[int, bool] = {}
        self._depth = 0

    @property
    def fate(self) -> Fate:
        fate = Fate.NOTHING
        events = self._function.flow.events
        for event in events:
            if fate & _fate_of(event) != _fate_of(event) and any(map(self._holds_quotient, self._passed_values(event))):
                fate |= _fate_of(event)
        is_multiplied = any(map(self._is_multiple, _parts(events)))
        return fate | Fate.MULTIPLIED if is_multiplied else fate

    def _is_multiple(self, value: Value) -> bool:
        if value.op is not Op.BIN:
            return False
        if value.data == "*":
            return any(map(self._holds_quotient, value.args))
        return bool(value.data == "-") and self._holds_quotient(value.args[1])

    def _passed_values(self, event: Event) -> tuple[Value, ...]:
        """The values that an event passes on: of a call its arguments, but for those of operators."""
        if event.kind is not EventKind.CALL:
            return (event.value,)
        return () if self._is_operator(event.value.callee) else event.value.args[1:]

    def _is_operator(self, callee: Value) -> bool:
        name = str(callee.data) if callee.op in (Op.ATTR, Op.GLOBAL) else ""
        return name in _OPERATORS and name not in self._function.module.functions

    def _holds_quotient(self, value: Value) -> bool:
        known = self._quotients.get(id(value))
        if known is None:
            if self._depth > _MAX_DEPTH:
                return True
            self._quotients[id(value)] = False  # a loop, which adds nothing by itself
            self._depth += 1
            known = self._quotients[id(value)] = self._is_quotient(value)
            self._depth -= 1
        return known

    def _is_quotient(self, value: Value) -> bool:
        if value.op is Op.BIN:
            is_own = self._name is None and value.data in ("//", "%") and _may_be_side(value.args[0], _MAX_DEPTH)
            return is_own or (value.data in _SCALING and self._holds_quotient(value.args[0]))
        if value.op is Op.CALL:
            return self._gives_quotient(value)
        if value.op in _PARTS:
            return self._holds_quotient(value.args[0])
        return value.op in _HOLDING and any(map(self._holds_quotient, (*value.args, *nested_returns(value))))

    def _gives_quotient(self, call: Value) -> bool:
        callee = call.callee
        name = callee.data if callee.op in (Op.ATTR, Op.GLOBAL) else None
        if self._name is not None and name == self._name:
            return True
        if name in _LIKE:
            is_own = self._name is None and name in ROUNDING and any(map(_is_ratio, call.args))
            return is_own or any(map(self._holds_quotient, call.args))
        if callee.op is Op.LAMBDA and self._holds_quotient(callee):
            return True
        return not self._is_operator(callee) and any(map(self._holds_quotient, call.args[1:]))


def _fate_of(event: Event) -> Fate:
    return _FATES.get(event.kind, Fate.NOTHING)


def _parts(events: Iterable[Event]) -> Iterator[Value]:
    """All values of a body, with those that its nested functions return."""
    for value in walk_all(event.value for event in events):
        yield value
        yield from walk_all(nested_returns(value))


def nested_returns(value: Value) -> tuple[Value, ...]:
    """The values that a nested function returns; empty for any other value."""
    return value.data.returns if value.op is Op.LAMBDA and isinstance(value.data, Nested) else ()


def _is_ratio(value: Value) -> bool:
    return value.op is Op.BIN and value.data == "/" and _may_be_side(value.args[0], _MAX_DEPTH)


def _may_be_side(value: Value, depth: int, is_scaled: bool = False) -> bool:
    """True if a number may be the side of an image, perhaps scaled."""
    if depth <= 0:
        return True
    if value.op is Op.BIN:
        is_scaled = is_scaled or value.data in _SCALING
        return is_scaled and any(_may_be_side(arg, depth - 1, True) for arg in value.args)
    if value.op is Op.CHOICE or value.op is Op.BOOL:
        return any(_may_be_side(arg, depth - 4, is_scaled) for arg in value.args)
    if value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data in _LIKE:
        return any(_may_be_side(arg, depth - 1, is_scaled) for arg in value.args[1:])
    if value.op is Op.ATTR:
        return _may_be_side(value.args[0], depth - 1)
    return value.op is not Op.CONST and value.op is not Op.GLOBAL
