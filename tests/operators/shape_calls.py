"""Calls of operators that torch runs and that the transfer functions of shapes see, as a whole or in part."""

from __future__ import annotations

import importlib
import itertools
import math
import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from modellint.flow.shapes.shape import ANY, Dim, Refused, Shape, Star
from modellint.graph.size import Quotient, Size, Symbol
from modellint.operators import Operator, spellings

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Hashable, Iterator, Sequence


@dataclass(frozen=True)
class T:
    """A tensor among the arguments: its sizes, its type of elements, and the number that all of them are."""

    sizes: tuple[int, ...]
    dtype: str = "float32"
    value: float = 1.0

    def made(self) -> torch.Tensor:
        return torch.full(self.sizes, self.value, dtype=getattr(torch, self.dtype))


def t(*sizes: int) -> T:
    return T(sizes)


def i(*sizes: int) -> T:
    """A tensor of ids, all 0."""
    return T(sizes, "int64", 0)


def b(*sizes: int) -> T:
    return T(sizes, "bool")


@dataclass(frozen=True)
class Sample:
    """One call: its arguments, and for a layer those of the constructor."""

    args: tuple[Any, ...] = ()
    names: dict[str, Any] = field(default_factory=dict)
    made: tuple[tuple[Any, ...], dict[str, Any]] | None = None
    #: True if torch raises an error.
    is_bad: bool = False
    #: True if `Refused` is wanted: torch raises an error for the shapes, and this is one that should be seen.
    is_refused: bool = False
    #: True if the transfer function need not know the shape.
    is_open: bool = False
    #: True if it is called as a function only, not as a method.
    is_function: bool = False

    @property
    def opened(self) -> Sample:
        return replace(self, is_open=True)

    @property
    def function(self) -> Sample:
        return replace(self, is_function=True)

    def __str__(self) -> str:
        shown = ", ".join([*map(_shown, self.args), *(f"{key}={_shown(one)}" for key, one in self.names.items())])
        if self.made is None:
            return f"({shown})"
        args, names = self.made
        made = ", ".join([*map(_shown, args), *(f"{key}={_shown(one)}" for key, one in names.items())])
        return f"({made})({shown})"


def _shown(value: Any) -> str:
    if isinstance(value, T):
        kind = {"float32": "", "int64": "i", "bool": "b"}.get(value.dtype, value.dtype)
        return f"{kind}{list(value.sizes)}"
    if isinstance(value, list | tuple):
        shown = ", ".join(map(_shown, value))
        return f"[{shown}]" if isinstance(value, list) else f"({shown},)"
    return repr(value)


def s(*args: Any, **names: Any) -> Sample:
    """A call that torch carries out, and whose shape is known."""
    return Sample(args, names)


def bad(*args: Any, **names: Any) -> Sample:
    """A call that torch refuses, for a reason that the transfer function sees."""
    return Sample(args, names, is_bad=True, is_refused=True)


def odd(*args: Any, **names: Any) -> Sample:
    """A call that torch refuses, for a reason that need not be seen."""
    return Sample(args, names, is_bad=True)


def layer(*args: Any, **names: Any) -> Callable[..., Sample]:
    """A layer of these arguments, to be called with tensors."""
    return lambda *given, **keywords: Sample(given, keywords, (args, names))


def bad_layer(*args: Any, **names: Any) -> Callable[..., Sample]:
    return lambda *given, **keywords: Sample(given, keywords, (args, names), is_bad=True, is_refused=True)


def odd_layer(*args: Any, **names: Any) -> Callable[..., Sample]:
    return lambda *given, **keywords: Sample(given, keywords, (args, names), is_bad=True)


# -- what torch does -------------------------------------------------------------------------------------------------


def concrete(value: Any) -> Any:
    if isinstance(value, T):
        return value.made()
    if isinstance(value, list | tuple):
        return type(value)(map(concrete, value))
    return value


def found_in_torch(name: str) -> Any:
    """The function, class, method or attribute of this full name."""
    if name.startswith("Tensor."):
        return getattr(torch.Tensor, name.partition(".")[2])
    home, _, short = name.rpartition(".")
    return getattr(importlib.import_module(home), short)


def run(name: str, sample: Sample) -> Any:
    """The result that torch gives. Raises what torch raises."""
    target = found_in_torch(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = [concrete(one) for one in sample.args]
        names = {key: concrete(one) for key, one in sample.names.items()}
        if sample.made is not None:
            made_args, made_names = sample.made
            made = target(*map(concrete, made_args), **{key: concrete(one) for key, one in made_names.items()})
            return made(*args, **names)
        return target(*args, **names) if callable(target) else target.__get__(args[0])


def shapes_of(value: Any) -> Any:
    """The shape of a tensor, a list of those of several, or None for anything else."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, list | tuple) and not isinstance(value, torch.nn.utils.rnn.PackedSequence | torch.Size):
        return [shapes_of(one) for one in value]
    return None


# -- what the transfer function sees ---------------------------------------------------------------------------------


class Sight:
    """All is seen as it is."""

    def dim(self, number: int) -> Dim:
        return Dim.of(number)

    def dims(self, numbers: Sequence[Any]) -> list[Dim | Star | None] | None:
        return [self.dim(one) if _is_whole(one) else None for one in numbers]

    def shape(self, sizes: tuple[int, ...]) -> Shape:
        return Shape(tuple(map(self.dim, sizes)))

    def value(self, value: Any) -> Any:
        """A number, flag or text, or None where it is not known."""
        return value

    def is_known(self) -> bool:
        return True


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def hidden_star(sizes: tuple[int, ...], name: str = "") -> Star:
    return Star(("hidden", sizes, name), name)


@dataclass
class PartialSight(Sight):
    """Sizes are symbols or unknown, and stars stand for some of the dimensions, as chance has it."""

    chance: random.Random

    def dim(self, number: int) -> Dim:
        way = self.chance.randrange(9)
        if number < 1 or way < 3:
            return Dim.of(number)
        if way == 3:
            return ANY
        return Dim(self.size(number, way))

    def size(self, number: int, way: int) -> Size:
        """An expression that has this value."""
        letter = self.chance.choice("nm")
        if way == 4 and number > 1:
            return self.symbol(letter, number - 1) + Size.of(1)
        if way == 5 and number % 2 == 0:
            return self.symbol(letter, number // 2) * Size.of(2)
        if way == 6:
            return self.symbol(letter, 2 * number + self.chance.randrange(2)).floor(Size.of(2))
        if way == 7:
            for factor in (2, 3):
                if number % factor == 0:
                    return self.symbol("n", factor) * self.symbol("m", number // factor)
        return self.symbol(letter, number)

    def symbol(self, letter: str, number: int) -> Size:
        return Size.symbol(Symbol("a test", f"{letter}{number}"))

    def dims(self, numbers: Sequence[Any]) -> list[Dim | Star | None] | None:
        if self.chance.randrange(12) == 0:
            return None
        found: list[Dim | Star | None] = []
        start, end = self.cut(len(numbers)) if self.chance.randrange(3) == 0 else (0, 0)
        for place, number in enumerate(numbers):
            if start < end and place == start and all(_is_whole(one) and one > 0 for one in numbers[start:end]):
                found.append(self.star(tuple(numbers[start:end])))
                start = -1
            elif start >= 0 or place >= end:
                whole = _is_whole(number) and self.chance.randrange(12)
                found.append(self.dim(number) if whole else None)
        return found

    def cut(self, count: int) -> tuple[int, int]:
        one, other = self.chance.randint(0, count), self.chance.randint(0, count)
        return min(one, other), max(one, other)

    def star(self, sizes: tuple[int, ...]) -> Star:
        name = "" if self.chance.randrange(2) else f"x{'_'.join(map(str, sizes))}of"
        return hidden_star(sizes, name)

    def shape(self, sizes: tuple[int, ...]) -> Shape:
        if self.chance.randrange(2):
            return super().shape(sizes)
        start, end = self.cut(len(sizes))
        head, tail = (tuple(map(self.dim, side)) for side in (sizes[:start], sizes[end:]))
        return Shape(head, self.star(sizes[start:end]), tail)

    def value(self, value: Any) -> Any:
        return value if self.chance.randrange(8) else None

    def is_known(self) -> bool:
        return bool(self.chance.randrange(8))


class SampleCall:
    """A `Call` of the transfer functions."""

    def __init__(self, row: Operator, sample: Sample, sight: Sight) -> None:
        self.row = row
        self.takes = None
        self.taken: list[object] = []
        self.key: Hashable = ("call", next(_keys))
        self.sample = sample
        self.sight = sight
        args: list[Any] = list(sample.args)
        names = dict(sample.names)
        if not args:
            first = next((key for key in names if key in ("input", "tensors") or sample.made is not None), None)
            args = [] if first is None else [names.pop(first)]
        self.args: Sequence[Any] = args if sample.made is None else sample.made[0]
        self.names = names if sample.made is None else sample.made[1]
        self.given = args, names
        self._shapes: dict[int, Shape] = {}
        operand = args[0] if args else None
        self.operand = self._shape(operand) if isinstance(operand, T) else None

    def _shape(self, tensor: T) -> Shape:
        if id(tensor) not in self._shapes:
            self._shapes[id(tensor)] = self.sight.shape(tensor.sizes)
        return self._shapes[id(tensor)]

    def _argument(self, position: int, name: str) -> tuple[bool, Any]:
        if position < len(self.args):
            return True, self.args[position]
        for spelt in spellings(name):
            if spelt in self.names:
                return True, self.names[spelt]
        return False, None

    def tensors(self) -> list[Shape]:
        args, names = self.given
        return [self._shape(one) for one in _flat([*args, *names.values()]) if isinstance(one, T)]

    def tensor(self, position: int, name: str) -> Shape | None:
        value = self._argument(position, name)[1]
        return self._shape(value) if isinstance(value, T) and self.sight.is_known() else None

    def parts(self) -> tuple[list[Shape], bool] | None:
        args, _ = self.given
        if not args or not isinstance(args[0], list | tuple) or not self.sight.is_known():
            return None
        return [self._shape(one) for one in args[0] if isinstance(one, T)], False

    def is_given(self, position: int, name: str) -> bool:
        is_there, value = self._argument(position, name)
        return is_there and (value is not None or not self.sight.is_known())

    def size(self, position: int, name: str) -> Dim:
        value = self._argument(position, name)[1]
        return self.sight.dim(value) if _is_whole(value) else ANY

    def whole(self, position: int, name: str, default: int | None = None) -> int | None:
        is_there, value = self._argument(position, name)
        if not is_there:
            return default
        return self.sight.value(value) if _is_whole(value) else None

    def flag(self, position: int, name: str, *, default: bool = False) -> bool | None:
        is_there, value = self._argument(position, name)
        if not is_there:
            return default
        return self.sight.value(value) if isinstance(value, bool) else None

    def text(self, position: int, name: str) -> str | None:
        value = self._argument(position, name)[1]
        return self.sight.value(value) if isinstance(value, str) else None

    def sizes(self, position: int, name: str) -> list[Dim | Star | None] | None:
        is_there, value = self._argument(position, name)
        if isinstance(value, list | tuple):
            return self.sight.dims(value)
        if not is_there:
            return []
        given = self.args[position:] if position < len(self.args) else [value]
        return self.sight.dims(given) if all(map(_is_whole, given)) else None

    def many(self, position: int, name: str) -> list[Dim | Star | None] | Dim | None:
        value = self._argument(position, name)[1]
        if isinstance(value, list | tuple):
            return self.sight.dims(value)
        return self.sight.dim(value) if _is_whole(value) else None

    def doubt(self, refused: Refused) -> None:
        """Symbols of a sample stand for sizes that fit."""

    def keywords(self) -> dict[str, Dim]:
        return {key: self.sight.dim(one) for key, one in self.names.items() if _is_whole(one)}


_keys = itertools.count()


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(value)
        else:
            yield value


# -- if both agree ---------------------------------------------------------------------------------------------------


def value_of(size: Size) -> int | None:
    """The number that a size of a `PartialSight` stands for; None if it holds other symbols."""
    total = 0
    for symbols, factor in size.terms:
        values = [_value_of(symbol) for symbol in symbols]
        if None in values:
            return None
        total += factor * math.prod(value for value in values if value is not None)
    return total


def _value_of(symbol: Symbol) -> int | None:
    if isinstance(symbol, Quotient):
        assert symbol.numerator is not None
        assert symbol.denominator is not None
        one, other = value_of(symbol.numerator), value_of(symbol.denominator)
        return None if one is None or not other else one // other
    if symbol.owner == "a test":
        return int(symbol.name[1:])
    sizes, is_star, place = symbol.name.partition("of_")
    if not is_star:
        return None
    hidden = tuple(int(one) for one in sizes[1:].split("_") if one)
    at = int(place)
    is_own = symbol == hidden_star(hidden, f"{sizes}of").symbol(at)
    return hidden[at] if is_own and -len(hidden) <= at < len(hidden) else None


#: The dimensions that each star stands for, wherever it is met.
_stars: dict[Star, tuple[int, ...]] = {}


def contradiction(found: Any, real: Any) -> str | None:
    """Why a shape, or a list of them, cannot be what torch gives; None if it can."""
    if found is None:
        return None
    if isinstance(found, list):
        if not isinstance(real, list) or len(real) != len(found):
            return f"{len(found)} shapes"
        pairs = [(one, each) for one, part in zip(found, real, strict=True) for each in _states(part)]
        return next((text for one, part in pairs if (text := _contradiction(one, part)) is not None), None)
    return _contradiction(found, real)


def _states(real: Any) -> list[Any]:
    """The shapes of the two states of an LSTM, or one shape."""
    return real if isinstance(real, list) else [real]


def _contradiction(found: Shape, real: Any) -> str | None:
    if not isinstance(real, tuple):
        return None if found.star is not None and not found.least_rank else "no tensor"
    if found.least_rank > len(real) or (found.star is None and len(found.head) != len(real)):
        return "number of dimensions"
    end = len(real) - len(found.tail)
    pairs = [*zip(found.head, real, strict=False), *zip(found.tail, real[end:], strict=True)]
    for dim, size in pairs:
        value = None if dim.size is None else value_of(dim.size)
        if value is not None and value != size:
            return f"{dim} for {size}"
    if found.star is not None and found.star.is_definite:
        hidden = real[len(found.head) : end]
        seen = _stars.setdefault(found.star, hidden)
        if isinstance(found.star.key, tuple) and found.star.key[0] == "hidden":
            seen = found.star.key[1]
        if seen != hidden:
            return f"{found.star} stands for {seen} elsewhere"
    return None


def is_whole_known(found: Any) -> bool:
    if isinstance(found, list):
        return all(one.is_known for one in found)
    return found is not None and bool(found.is_known)


# -- other calls -----------------------------------------------------------------------------------------------------


def respelt(row: Operator, sample: Sample) -> Iterator[Sample]:
    """The same call with an argument by name, and by its other names."""
    args, names = (sample.args, sample.names) if sample.made is None else sample.made

    def again(args: tuple[Any, ...], names: dict[str, Any]) -> Sample:
        return replace(sample, args=args, names=names) if sample.made is None else replace(sample, made=(args, names))

    by_place = {}
    for value in row.facets.values():
        for part in value.split(","):
            name, at, place = part.partition("@")
            if at:
                by_place[int(place)] = name
    last = len(args) - 1
    if last in by_place and (sample.made is not None or last > 0):
        yield again(args[:last], {**names, by_place[last]: args[last]})
    for name in names:
        for other in spellings(name)[1:]:
            yield again(args, {other if key == name else key: one for key, one in names.items()})


def changed(sample: Sample, chance: random.Random) -> Sample:
    """The call with some of its sizes and numbers changed by chance; torch may refuse it."""

    def change(value: Any) -> Any:
        if isinstance(value, T):
            sizes = list(value.sizes)
            if chance.randrange(2) == 0:
                way = chance.randrange(5)
                if way < 2 and sizes:
                    sizes[chance.randrange(len(sizes))] = chance.choice((1, 2, 3, 4, 6))
                elif way == 2 and sizes:
                    del sizes[chance.randrange(len(sizes))]
                elif way == 3 and len(sizes) < 6:
                    sizes.insert(chance.randint(0, len(sizes)), chance.choice((1, 2, 3)))
                elif len(sizes) > 1:
                    sizes.append(sizes.pop(chance.randrange(len(sizes))))
            return replace(value, sizes=tuple(sizes))
        if isinstance(value, list | tuple):
            return type(value)(map(change, value))
        if isinstance(value, bool):
            return value if chance.randrange(4) else not value
        if isinstance(value, int) and chance.randrange(5) == 0:
            return chance.choice((-3, -2, -1, 1, 2, 3, 4))
        return value

    args, names = tuple(map(change, sample.args)), {key: change(one) for key, one in sample.names.items()}
    if sample.made is None:
        return replace(sample, args=args, names=names)
    made = tuple(map(change, sample.made[0])), {key: change(one) for key, one in sample.made[1].items()}
    return replace(sample, args=args, names=names, made=made)
