"""Sides of images that are rounded down to whole patches, and whether anything keeps the result above zero.

A side is followed backwards from where a size is used (a `reshape`, a `repeat`, the size to resize to) through calls
and returns to the dimension of an image that it comes from. What limits it from below on the way, a `max`, a
comparison, rounding up, an addition, ends the trail: no claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, same, walk_all
from modellint.link.values.evaluator import Located

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.values.evaluator import Evaluator, Frame

#: Calls that need whole patches: they shape, cut up or repeat a tensor.
_SHAPES = operators.words("sizes", "repeats")
#: Calls that make an image of another size.
_RESIZES = operators.words("resamples")
#: Calls that give back a number that is no larger than what they are given, or nearly so.
_ROUNDS = operators.words("rounds:down", "rounds:nearest", "same-number")
#: Builtins that do.
_NUMBERS = operators.functions("number rounds", "same-number")
_DIVIDES = frozenset(("//", "/"))
_SIZES = operators.words("gives:size")
_ORDERS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_MAX_DEPTH = 24
#: Steps that following the sizes of one function may take.
_BUDGET = 2_000


@dataclass(frozen=True, eq=False)
class RoundedSide:
    """`division` rounds `side`, a dimension of an image, down to multiples of `divisor`; `use` is what takes it.

    `numerator` is the side as it is divided, scaled perhaps.
    """

    division: Located
    side: Located
    numerator: Value
    divisor: Value
    use: Located

    @property
    def is_resized_to(self) -> bool:
        """Whether the image is resized to the side, and not only cut."""
        return _name_of(self.use.value) in _RESIZES


@dataclass(frozen=True, eq=False)
class _Step:
    """A value on the way back from its use: what it becomes on that way, and what it is multiplied by next."""

    located: Located
    passed: tuple[Located, ...] = ()
    multiplier: Value | None = None


class Grids:
    """Finds sides that are rounded down; one per project."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._steps = 0
        self._cuts: dict[ModuleFacts, bool] = {}

    def multiples(self, function: Function) -> list[Value]:
        """The divisions of what may be a side, in a function, that are multiplied by the divisor again."""
        if self.is_of_model(function):
            return []
        found: dict[int, Value] = {}
        for value in walk_all(event.value for event in function.flow.events):
            if value.op is not Op.BIN or value.data != "*":
                continue
            for factor, other in zip(value.args, reversed(value.args), strict=True):
                numerator, divisor = _division(factor) or (None, None)
                if numerator is None or divisor is None or not _may_be_side(numerator):
                    continue
                if _is_patch(divisor) and same(divisor, other):
                    found[id(factor)] = factor
        return list(found.values())

    def rounded_sides(self, function: Function) -> Iterator[RoundedSide]:
        """The sides of images that a function uses in whole patches though they may be smaller than one."""
        if self.is_of_model(function):
            return
        frame = self.evaluator.root(function)
        self._steps = 0
        for event in function.flow.of(EventKind.CALL):
            name = _name_of(event.value)
            if name not in _SHAPES and not (name in _RESIZES and self._cuts_patches(function.module)):
                continue
            for arg in event.value.args[1:]:
                for size in _numbers(arg):
                    yield from self._followed(_Step(Located(size, frame)), Located(event.value, frame), 0)

    def is_of_model(self, function: Function) -> bool:
        """Whether a function is a method of a layer: what a model is given has been prepared for it."""
        owner = function.owner
        if owner is None:
            return False
        return any("forward" in cls.methods for cls in self.evaluator.project.members.mro(owner))

    def _cuts_patches(self, module: ModuleFacts) -> bool:
        """Whether a file cuts images into patches: a shape that it gives a tensor has a quotient in it."""
        known = self._cuts.get(module)
        if known is None:
            sizes = (
                arg
                for function in module.all_functions()
                if "//" in function.text and not function.words.isdisjoint(("reshape", "view"))
                for event in function.flow.of(EventKind.CALL)
                if event.value.callee.data in _SHAPES
                for arg in event.value.args[1:]
            )
            known = any(part.op is Op.BIN and part.data == "//" for part in walk_all(sizes))
            self._cuts[module] = known
        return known

    def _followed(self, step: _Step, use: Located, depth: int) -> Iterator[RoundedSide]:
        """The sides behind a number that are rounded down on the way to it."""
        self._steps += 1
        self.evaluator.project.budget.spend()
        if depth > _MAX_DEPTH or self._steps > _BUDGET:
            return
        value, frame = step.located.value, step.located.frame
        division = _division(value)
        if division is not None:
            numerator, divisor = division
            side = self._side(numerator, frame) if _is_patch(divisor) else None
            if side is None:
                yield from self._followed(_next(step, numerator, frame), use, depth + 1)
            elif step.multiplier is None or not same(step.multiplier, divisor):
                return
            elif not self._is_limited(step, numerator, side):
                yield RoundedSide(step.located, side, numerator, divisor, use)
            return
        match value.op:
            case Op.BIN if value.data == "*":
                for factor, other in zip(value.args, reversed(value.args), strict=True):
                    yield from self._followed(_next(step, factor, frame, other), use, depth + 1)
            case Op.CALL if value.callee.data in _ROUNDS and value.positional:
                yield from self._followed(_next(step, value.positional[0], frame, step.multiplier), use, depth + 1)
            case Op.CHOICE:
                for arg in value.args:
                    yield from self._followed(_next(step, arg, frame), use, depth + 2)
            case Op.PARAM:
                bound = self.evaluator.argument(value, frame)
                if bound is not None:
                    yield from self._followed(_next(step, bound.value, bound.frame), use, depth + 1)
            case Op.CALL:
                for found in self.evaluator.returns(value, frame):
                    yield from self._followed(_next(step, found.value, found.frame), use, depth + 1)
            case Op.UNPACK | Op.INDEX:
                for found in self._returned(value, frame):
                    yield from self._followed(_next(step, found.value, found.frame), use, depth + 1)

    def _returned(self, value: Value, frame: Frame) -> list[Located]:
        """What an element of a tuple is, if a function of the project returns the tuple."""
        source = value.args[0]
        if value.op is Op.INDEX:
            key = value.args[1]
            if key.op is not Op.CONST or type(key.data) is not int or key.data < 0:
                return []
            position = key.data
        else:
            position = value.data
        return [
            Located(found.value.args[position], found.frame)
            for found in self.evaluator.returns(source, frame)
            if found.value.op in (Op.TUPLE, Op.LIST) and 0 <= position < len(found.value.args)
        ]

    def _side(self, value: Value, frame: Frame, is_scaled: bool = False, depth: int = 0) -> Located | None:
        """The side of an image that a number is, as it is or scaled so that the area fits.

        Such a scale undoes what a side was enlarged to before.
        """
        if depth > _MAX_DEPTH:
            return None
        match value.op:
            case Op.BIN if value.data in ("*", "/"):
                by_area = _is_area_scale(value.args[1])
                return self._side(value.args[0], frame, True, depth + 1) if by_area or is_scaled else None
            case Op.CALL if f"builtins.{value.callee.data}" in _NUMBERS and value.positional:
                return self._side(value.positional[0], frame, is_scaled, depth + 1)
            case Op.PARAM:
                bound = self.evaluator.argument(value, frame)
                return None if bound is None else self._side(bound.value, bound.frame, is_scaled, depth + 1)
            case Op.CHOICE if is_scaled:
                sides = (self._side(arg, frame, True, depth + 4) for arg in value.args)
                return next((side for side in sides if side is not None), None)
            case Op.UNPACK | Op.INDEX:
                returned = self._returned(value, frame)
                measured = any(_measures(part.value) for part in returned) if returned else _measures(value)
                return Located(value, frame) if measured else None
            case _:
                return None

    def _is_limited(self, step: _Step, numerator: Value, side: Located) -> bool:
        """Whether a comparison looks at a number between the side and its use."""
        frames = {id(part.frame): part.frame for part in (*step.passed, step.located, side)}
        made = {id(part.value) for part in (*step.passed, step.located)}
        plain = not any(part.op is Op.BIN for part in _casts_off(numerator).walk() if part.op is not Op.PARAM)
        sides = (numerator, side.value, _casts_off(numerator)) if plain else ()
        for frame in frames.values():
            for event in frame.function.flow.of(EventKind.COMPARE):
                if event.value.data not in _ORDERS:
                    continue
                looked_at = [part for arg in event.value.args for part in _looked_at(arg)]
                if any(id(part) in made or any(same(part, one) for one in sides) for part in looked_at):
                    return True
        return False


def _next(step: _Step, value: Value, frame: Frame, multiplier: Value | None = None) -> _Step:
    return _Step(Located(value, frame), (*step.passed, step.located), multiplier)


def _name_of(call: Value) -> str:
    """What a call calls, without what that belongs to."""
    return str(call.callee.data).rpartition(".")[2]


def _numbers(value: Value) -> Iterator[Value]:
    """The numbers of a size: itself, the elements of a tuple, the arguments of what holds height and width."""
    if value.op in (Op.TUPLE, Op.LIST):
        for arg in value.args:
            yield from _numbers(arg)
    elif value.op is Op.CALL and value.callee.op is Op.GLOBAL and str(value.callee.data)[:1].isupper():
        yield from value.args[1:]
    elif value.op is Op.DICT:
        yield from value.args
    else:
        yield value


def _division(value: Value) -> tuple[Value, Value] | None:
    """The numerator and the divisor of a division that rounds down: `a // b`, `floor(a / b)`, `int(a / b)`."""
    if value.op is Op.BIN and value.data == "//":
        return value.args[0], value.args[1]
    if value.op is Op.CALL and value.callee.data in _ROUNDS and value.callee.data != "float" and value.positional:
        inner = value.positional[0]
        if inner.op is Op.BIN and inner.data in _DIVIDES:
            return inner.args[0], inner.args[1]
    return None


def _may_be_side(numerator: Value) -> bool:
    """Whether a number may be the side of an image, scaled perhaps."""
    while True:
        if numerator.op is Op.BIN and numerator.data in ("*", "/"):
            numerator = numerator.args[0]
        elif numerator.op is Op.CALL and f"builtins.{numerator.callee.data}" in _NUMBERS and numerator.positional:
            numerator = numerator.positional[0]
        else:
            return numerator.op in (Op.PARAM, Op.UNPACK, Op.INDEX, Op.CHOICE)


def _is_patch(divisor: Value) -> bool:
    """Whether a divisor is a number of pixels: a setting or a literal above 1, or a product of such."""
    if divisor.op is Op.CONST:
        return isinstance(divisor.data, int) and divisor.data > 1
    if divisor.op is Op.BIN and divisor.data == "*":
        return any(_is_patch(arg) for arg in divisor.args)
    return divisor.op in (Op.PARAM, Op.ATTR, Op.GLOBAL)


def _is_area_scale(value: Value) -> bool:
    """Whether a factor is the square root of something, as one is that fits an area and not a side."""
    return any(
        (part.op is Op.CALL and part.callee.data in ("sqrt", "isqrt"))
        or (part.op is Op.BIN and part.data == "**" and part.args[1].op is Op.CONST and part.args[1].data == 0.5)
        for part in value.walk()
    )


def _measures(value: Value) -> bool:
    """Whether a number is a dimension of an image: of a shape or size, or of what a call measures."""
    if value.op not in (Op.UNPACK, Op.INDEX):
        return False
    source = value.args[0]
    while source.op is Op.INDEX and source.args[1].op is Op.SLICE:
        source = source.args[0]
    if source.op is Op.ATTR:
        return source.data in _SIZES
    return source.op is Op.CALL and "size" in str(source.callee.data)


def _casts_off(value: Value) -> Value:
    while value.op is Op.CALL and value.callee.data in ("int", "float") and value.positional:
        value = value.positional[0]
    return value


def _looked_at(value: Value) -> Iterator[Value]:
    """What a comparison looks at: the operand, what it is the minimum of, and what it is a product of."""
    yield value
    if value.op is Op.CALL and value.callee.data == "min":
        for arg in value.positional:
            yield from _looked_at(arg)
    elif value.op is Op.BIN and value.data == "*":
        for arg in value.args:
            yield from _looked_at(arg)
