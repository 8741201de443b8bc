"""Rotary and sinusoidal position tables: which parameter sizes them, and with what they are called and indexed.

A table is recognised by what its code does, not by its name: a class or function that takes cosines, and a parameter
of it that bounds an `arange` or a slice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Event, EventKind, Op, Value, same
from modellint.link.names import DefinedClass, DefinedFunction
from modellint.link.values.evaluator import Located
from modellint.link.values.torch_api import KEEPING_ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.values.evaluator import Evaluator, Frame

#: What counts the elements of a tensor, what is its largest one, and what is the larger one of several numbers.
_COUNTS = operators.words("counts")
LARGEST = operators.methods("Tensor", "reduces largest")
_LARGER_ONE = operators.words("extreme largest")
#: What goes from one number to another.
_STEPS = operators.words("counted fresh:default", "spaced")
#: What gives the number that it is given, or one near to it.
_SAME_NUMBER = operators.methods("Tensor", "passed same-shape", "passed host", "rounds:nearest")
_SAME_BY_FUNCTION = operators.functions("number rounds", "same-number")
_EXTREMES = operators.functions("extreme")
_MAX_DEPTH = 12


@dataclass(eq=False, slots=True)
class SizedTable:
    """A place where a length sizes or slices a table: a call that passes it, or the slice or range itself."""

    event: Event
    frame: Frame
    #: The length, where it is passed or written.
    length: Located
    #: The function that takes the length, and the parameter it arrives at; None for a slice or range on the spot.
    callee: Frame | None
    parameter: str | None

    @property
    def name(self) -> str:
        """What the length is called at the table: the parameter, or what it bounds."""
        return self.parameter or ("the range" if self.event.kind is EventKind.CALL else "the slice")


@dataclass(eq=False, slots=True)
class TableIndex:
    """Where the rows of a table (`cos[position_ids]`) are picked; `ids` is followed to where it comes from."""

    event: Event
    frame: Frame
    ids: Located


def _computes_cosines(function: Function) -> bool:
    """Whether a function calls `cos`."""
    return "cos" in function.words and any(e.value.callee.data == "cos" for e in function.flow.of(EventKind.CALL))


class Rotary:
    """Finds position tables and their lengths; one per project."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._parameters: dict[Function, frozenset[str]] = {}
        self._cosines: dict[Function | Class, bool] = {}
        self._callables: dict[ModuleFacts, frozenset[str]] = {}

    def takes_cosines(self, function: Function) -> bool:
        """Whether a function, or the class it belongs to, computes cosines."""
        if function.owner is not None:
            return self._class_takes_cosines(function.owner)
        known = self._cosines.get(function)
        if known is None:
            known = self._cosines[function] = _computes_cosines(function)
        return known

    def _class_takes_cosines(self, cls: Class) -> bool:
        known = self._cosines.get(cls)
        if known is None:
            owners = self.evaluator.project.members.mro(cls)
            known = any(_computes_cosines(method) for owner in owners for method in owner.methods.values())
            self._cosines[cls] = known
        return known

    def callables(self, module: ModuleFacts) -> frozenset[str]:
        """The names by which a file calls what takes cosines: functions, methods, and attributes that hold objects."""
        known = self._callables.get(module)
        if known is None:
            names = {name for name, function in module.functions.items() if self.takes_cosines(function)}
            for cls in module.classes.values():
                if self._class_takes_cosines(cls):
                    names.update(name for name in cls.methods if name != "forward" and not name.startswith("__"))
            names |= self._holders(module)
            names |= self._imported(module)
            known = self._callables[module] = frozenset(names)
        return known

    def _holders(self, module: ModuleFacts) -> set[str]:
        """The attributes under which classes of a file keep objects that take cosines."""
        return {
            attribute
            for cls in module.classes.values()
            for attribute, called in cls.built.items()
            if any(found is not None and self._class_takes_cosines(found) for found in self._classes(called, module))
        }

    def _classes(self, names: Iterable[str], module: ModuleFacts) -> Iterator[Class | None]:
        """The classes of the project that names stand for in a file."""
        for name in names:
            if name in module.classes:
                yield module.classes[name]
            elif name in module.imports:
                found = self.evaluator.project.names.resolve(module, name)
                yield found.cls if isinstance(found, DefinedClass) else None

    def _imported(self, module: ModuleFacts) -> set[str]:
        """Imported functions that take cosines."""
        found = set()
        for name in module.imports:
            if "rot" in name or "rope" in name or "cos" in name:
                definition = self.evaluator.project.names.resolve(module, name)
                if isinstance(definition, DefinedFunction) and self.takes_cosines(definition.function):
                    found.add(name)
        return found

    def length_parameters(self, function: Function) -> frozenset[str]:
        """The parameters of a function that size or slice a position table, in it or in what it calls."""
        known = self._parameters.get(function)
        if known is not None:
            return known
        self._parameters[function] = frozenset()
        if not self.takes_cosines(function):
            return frozenset()
        names: set[str] = set()
        for bound in self._bounds(function):
            names.update(source.data for source in _number_sources(bound) if source.op is Op.PARAM)
        frame = self.evaluator.root(function)
        callables = self.callables(function.module)
        for event in function.flow.of(EventKind.CALL):
            if event.value.callee.data not in callables:
                continue
            inner = self.evaluator.call_frame(event.value, frame)
            if inner is None or inner.function is function:
                continue
            for name in self.length_parameters(inner.function):
                passed = self.evaluator.argument_named(name, inner)
                if passed is not None and passed.frame is frame:
                    names.update(s.data for s in _number_sources(passed.value) if s.op is Op.PARAM)
        names.discard("self")
        found = self._parameters[function] = frozenset(names)
        return found

    @staticmethod
    def _bounds(function: Function) -> Iterator[Value]:
        """The values that bound an `arange` or the slice of an attribute."""
        for event in function.flow.events:
            value = event.value
            if event.kind is EventKind.CALL and value.callee.data in _STEPS and value.positional:
                yield from value.positional[:2] if len(value.positional) > 1 else value.positional
            elif event.kind is EventKind.INDEX and value.args[0].op is Op.ATTR:
                yield from _upper_bounds(value)

    def sized_tables(self, function: Function) -> Iterator[SizedTable]:
        """Where a function passes a length to a position table, slices one itself, or counts up to take cosines."""
        names = self.callables(function.module)
        slices = function.owner is not None and self.takes_cosines(function)
        if not slices and names.isdisjoint(function.words):
            return
        frame = self.evaluator.root(function)
        for event in function.flow.events:
            if event.kind is EventKind.CALL and event.value.args[1:] and event.value.callee.data in names:
                inner = self.evaluator.call_frame(event.value, frame)
                if inner is None:
                    continue
                for name in sorted(self.length_parameters(inner.function)):
                    passed = self.evaluator.argument_named(name, inner)
                    if passed is not None:
                        yield SizedTable(event, frame, passed, inner, name)
            elif event.kind is EventKind.CALL and event.value.callee.data == "arange" and _computes_cosines(function):
                if len(event.value.positional) == 1:
                    yield SizedTable(event, frame, Located(event.value.positional[0], frame), None, None)
            elif event.kind is EventKind.INDEX and event.value.args[0].op is Op.ATTR and self.takes_cosines(function):
                for upper in _upper_bounds(event.value):
                    yield SizedTable(event, frame, Located(upper, frame), None, None)

    def indices(self, table: SizedTable) -> list[TableIndex]:
        """Where the result of a call that returns a table is indexed by ids, in the function or in what it calls."""
        return list(self._indexed(table.event.value, table.frame, 0))

    def fits_grown(self, table: SizedTable, part: Located) -> bool:
        """Whether a table is longer than a tensor because it is applied to that tensor, padded or joined to others."""
        if part.frame is not table.frame or self.indices(table):
            return False
        sized = [
            tensor
            for source in number_sources(part, self.evaluator)
            if source.frame is table.frame and (tensor := measured_tensor(source.value)) is not None
        ]
        for event in table.frame.function.flow.events:
            for value in event.value.walk():
                if value.op not in (Op.BIN, Op.CALL):
                    continue
                applied = [any(inner is table.event.value for inner in arg.walk()) for arg in value.args]
                beside = [arg for arg, has_table in zip(value.args, applied, strict=True) if not has_table]
                if any(applied) and any(_is_grown(inner, sized) for arg in beside for inner in arg.walk()):
                    return True
        return False

    def _indexed(self, result: Value, frame: Frame, depth: int) -> Iterator[TableIndex]:
        if depth > 3:
            return
        for event in frame.function.flow.events:
            value = event.value
            if event.kind is EventKind.INDEX and _is_part_of(value.args[0], result):
                ids = value.args[1]
                if ids.op not in (Op.SLICE, Op.TUPLE, Op.CONST):
                    yield TableIndex(event, frame, self.follow(Located(ids, frame)))
            elif event.kind is EventKind.CALL:
                passed = [arg for arg in value.args[1:] if _is_part_of(arg, result)]
                if not passed:
                    continue
                inner = self.evaluator.call_frame(value, frame)
                if inner is None:
                    continue
                for name, argument in inner.arguments.items():
                    if any(argument is arg for arg in passed):
                        yield from self._indexed_parameter(name, inner, depth + 1)

    def _indexed_parameter(self, name: str, frame: Frame, depth: int) -> Iterator[TableIndex]:
        parameters = [
            part
            for event in frame.function.flow.events
            for part in event.value.walk()
            if part.op is Op.PARAM and part.data == name
        ]
        if parameters:
            yield from self._indexed(parameters[0], frame, depth)

    def follow(self, located: Located) -> Located:
        """Where a value comes from: through parameters, casts and views."""
        for _ in range(_MAX_DEPTH):
            value, frame = located.value, located.frame
            if value.op is Op.PARAM:
                bound = self.evaluator.argument(value, frame)
                if bound is None:
                    return located
                located = bound
            elif value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in KEEPING_ORDER:
                located = Located(value.callee.args[0], frame)
            else:
                return located
        return located


#: What makes a tensor longer.
_GROWS = operators.words("grows")


def _is_part_of(value: Value, result: Value) -> bool:
    """Whether a value is a call's result or one of the tensors it unpacks to, through casts and views."""
    for _ in range(_MAX_DEPTH):
        if value is result:
            return True
        if value.op is Op.UNPACK or (value.op is Op.INDEX and value.args[1].op in (Op.CONST, Op.SLICE, Op.TUPLE)):
            value = value.args[0]
        elif value.op is Op.CALL and value.callee.op is Op.ATTR:
            value = value.callee.args[0]
        else:
            return False
    return False


def _whole(value: Value) -> Value:
    """What a slice (`x.shape[-2:]`) is taken of."""
    while value.op is Op.INDEX and value.args[1].op is Op.SLICE:
        value = value.args[0]
    return value


def measured_tensor(value: Value) -> Value | None:
    """The tensor of which a number is a dimension."""
    if value.op in (Op.INDEX, Op.UNPACK):
        value = _whole(value.args[0])
    if value.op is Op.ATTR and value.data == "shape":
        return value.args[0]
    if value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == "size":
        return value.callee.args[0]
    return None


def _is_grown(value: Value, tensors: list[Value]) -> bool:
    """Whether a value is one of the tensors, padded or joined to others."""
    if value.op is not Op.CALL or value.callee.data not in _GROWS or not value.positional:
        return False
    given = value.positional[0]
    parts = given.args if given.op in (Op.LIST, Op.TUPLE) else (given,)
    return any(same(part, tensor) for part in parts for tensor in tensors)


def _upper_bounds(index: Value) -> Iterator[Value]:
    subscript = index.args[1]
    for part in subscript.args if subscript.op is Op.TUPLE else (subscript,):
        if part.op is Op.SLICE and part.args[1].op is not Op.CONST:
            yield part.args[1]


def operands(value: Value) -> tuple[Value, ...]:
    """What a number is computed from by arithmetic, extremes, casts and choices; empty for a source."""
    match value.op:
        case Op.CHOICE | Op.BOOL:
            return value.args
        case Op.BIN if value.data in ("+", "-"):
            return value.args
        case Op.CALL if is_extreme(value):
            return value.positional
        case Op.CALL if value.callee.op is Op.GLOBAL and f"builtins.{value.callee.data}" in _SAME_BY_FUNCTION:
            return value.positional[:1]
        case Op.CALL if value.callee.op is Op.ATTR and value.callee.data in _SAME_NUMBER:
            return value.callee.args[:1]
        case Op.ATTR if len(value.args) > 1:
            return value.args[1:]
        case _:
            return ()


def is_extreme(value: Value) -> bool:
    """Whether a value is `max(a, b)`, `min(a, b)` or the same of torch, of several numbers."""
    if value.op is not Op.CALL or len(value.positional) < 2:
        return False
    callee = value.callee
    name = (
        f"builtins.{callee.data}"
        if callee.op is Op.GLOBAL
        else f"{callee.args[0].data}.{callee.data}"
        if callee.args
        else None
    )
    return name in _EXTREMES


def _number_sources(value: Value) -> Iterator[Value]:
    """The sources that a number is computed from."""
    seen: set[int] = set()
    queue = [value]
    while queue:
        part = queue.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        inner = operands(part)
        if inner:
            queue.extend(inner)
        else:
            yield part


def number_sources(located: Located, evaluator: Evaluator) -> Iterator[Located]:
    """The sources that a number is computed from, parameters followed to what they are bound to."""
    seen: set[tuple[int, int]] = set()
    queue = [located]
    while queue:
        part = queue.pop()
        key = (id(part.value), id(part.frame))
        if key in seen or len(seen) > 200:
            continue
        seen.add(key)
        inner = operands(part.value)
        if inner:
            queue.extend(Located(value, part.frame) for value in inner)
            continue
        bound = evaluator.argument(part.value, part.frame) if part.value.op is Op.PARAM else None
        if bound is not None:
            queue.append(bound)
        else:
            yield part


def sums(located: Located, evaluator: Evaluator) -> Iterator[Located]:
    """The additions and subtractions that a number is computed by, outermost first, in helpers too."""
    seen: set[tuple[int, int]] = set()
    queue = [located]
    for part in queue:
        key = (id(part.value), id(part.frame))
        if key in seen or len(seen) > 200:
            continue
        seen.add(key)
        if part.value.op is Op.BIN and part.value.data in ("+", "-"):
            yield part
        bound = evaluator.argument(part.value, part.frame) if part.value.op is Op.PARAM else None
        if bound is not None:
            queue.append(bound)
        inner = operands(part.value)
        queue.extend(Located(value, part.frame) for value in inner)
        if part.value.op is Op.CALL and not inner:
            queue.extend(evaluator.returns(part.value, part.frame))


class LengthKind:
    """What a length measures."""

    COUNT = "count"  # how many: a dimension, `len`, a cache's length
    POSITION = "position"  # the largest position: one less than a length that covers it
    UNKNOWN = "unknown"


def length_kind(value: Value) -> str:
    """Whether a run-time number counts elements or is a position."""
    match value.op:
        case Op.INDEX if value.args[1].op is not Op.SLICE and _is_shape(value.args[0]):
            return LengthKind.COUNT
        case Op.INDEX if is_last(value):
            return LengthKind.POSITION
        case Op.UNPACK:
            return LengthKind.COUNT if _is_shape(value.args[0]) else LengthKind.UNKNOWN
        case Op.CALL if value.callee.data in _COUNTS:
            return LengthKind.COUNT
        case Op.CALL if value.callee.op is Op.ATTR and value.callee.data in LARGEST and not is_extreme(value):
            return LengthKind.POSITION
        case Op.CALL if value.callee.op is Op.ATTR and "length" in str(value.callee.data):
            return LengthKind.COUNT
        case _:
            return LengthKind.UNKNOWN


def _is_shape(value: Value) -> bool:
    """Whether a value is the shape of a tensor or a part of it: `x.shape`, `x.size()`, `x.shape[-2:]`."""
    whole = _whole(value)
    if whole.op is Op.CALL:
        return whole.callee.op is Op.ATTR and whole.callee.data == "size" and not whole.positional
    return whole.op is Op.ATTR and whole.data == "shape"


def is_last(value: Value) -> bool:
    """`x[-1]`, `x[:, -1]`, `x[..., -1]`: the last element, not the largest."""
    if value.op is not Op.INDEX:
        return False
    subscript = value.args[1]
    last = subscript.args[-1] if subscript.op is Op.TUPLE and subscript.args else subscript
    return last.op is Op.CONST and last.data == -1


def measured(value: Value) -> str:
    """What a number measures, through casts and the choices that made it."""
    kinds = set()
    queue = [value]
    seen: set[int] = set()
    while queue:
        part = queue.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        inner = operands(part)
        if inner and length_kind(part) == LengthKind.UNKNOWN:
            queue.extend(inner)
        else:
            kinds.add(length_kind(part))
    kinds.discard(LengthKind.UNKNOWN)
    return kinds.pop() if len(kinds) == 1 else LengthKind.UNKNOWN


def is_element(value: Value) -> bool:
    """`starts[0]`, an element of what a function is given."""
    if value.op is not Op.INDEX or value.args[0].op is not Op.PARAM or value.args[0].data == "self":
        return False
    return value.args[1].op is Op.CONST and isinstance(value.args[1].data, int)


def is_enlarged(table: SizedTable, part: Located) -> bool:
    """Whether the table is only enlarged, with room to spare, once a comparison has shown that it is too short."""
    if table.event.guard is None:
        return False
    added = [arg for arg in part.value.args if arg.op is not Op.CONST]
    return any(
        _exceeds(compare, holds, one)
        for guard in table.event.guard.chain()
        for compare, holds in _comparisons(guard.test, guard.truthy)
        for one in added
    )


def _comparisons(test: Value, holds: bool) -> Iterator[tuple[Value, bool]]:
    """The comparisons in a condition, and whether each of them holds where the condition does or does not."""
    if test.op is Op.UNARY and test.data in ("not", "~"):
        yield from _comparisons(test.args[0], not holds)
    elif test.op is Op.BOOL:
        for arg in test.args:
            yield from _comparisons(arg, holds)
    else:
        yield from ((part, holds) for part in test.walk() if part.op is Op.COMPARE)


#: Which operand is the larger one where a comparison holds.
_LARGER = {">": 0, ">=": 0, "<": 1, "<=": 1}


def _exceeds(compare: Value, holds: bool, number: Value) -> bool:
    """Whether a comparison that holds, or does not, says that a number is larger than another, or not the one known.

    Whether it `is None` says nothing of how large it is.
    """
    if compare.data in ("is", "is not"):
        return False
    larger = _LARGER.get(compare.data)
    if larger is None:
        return any(same(arg, number) for arg in compare.args)
    return same(compare.args[larger if holds else 1 - larger], number)


def mixed_extreme(value: Value) -> Value | None:
    """The `max(length, position)` inside of `max(length, position) + 1`."""
    for arg in value.args:
        inner = arg
        while not is_extreme(inner) and len(operands(inner)) == 1:
            inner = operands(inner)[0]
        if is_extreme(inner) and inner.callee.data in _LARGER_ONE:
            kinds = {measured(operand) for operand in inner.positional}
            if kinds >= {LengthKind.COUNT, LengthKind.POSITION}:
                return inner
    return None


def has_length_beside(part: Located, table: SizedTable) -> bool:
    """Whether a position only competes with the number of tokens in a `max`: what is packed has fewer positions."""
    for value in table.length.value.walk():
        if is_extreme(value):
            others = [arg for arg in value.positional if not any(inner is part.value for inner in arg.walk())]
            if len(others) < len(value.positional) and any(measured(arg) == LengthKind.COUNT for arg in others):
                return True
    return False
