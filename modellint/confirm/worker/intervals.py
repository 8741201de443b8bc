"""Which integers a tensor can hold, carried along while a model runs, and checked at every lookup.

Neither meta nor fake tensors hold values, so an index out of range goes unnoticed on them, and a run on real tensors
shows only the values that one input happens to give. `Intervals` is a `TorchDispatchMode` that follows the *range* of
every integer tensor: `argmax` over n classes gives [0, n - 1], `arange(n)` the same, additions shift it, `clamp` and
comparisons narrow it, views and copies pass it on. What it cannot follow has no range and is never reported.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

aten = torch.ops.aten


@dataclass(frozen=True)
class Range:
    """The integers from `low` to `high`, both included, and what first gave rise to them."""

    low: int
    high: int
    origin: str

    def __str__(self) -> str:
        return f"[{self.low}, {self.high}]"

    def shifted(self, low: int, high: int) -> Range:
        return Range(self.low + low, self.high + high, self.origin)

    def united(self, other: Range) -> Range:
        """The range of values that may come from either."""
        origin = self.origin if (self.high, -self.low) >= (other.high, -other.low) else other.origin
        return Range(min(self.low, other.low), max(self.high, other.high), origin)

    def within(self, low: int | None, high: int | None) -> Range:
        """What is left between two limits."""
        least = self.low if low is None else max(self.low, low)
        most = self.high if high is None else min(self.high, high)
        return Range(min(least, most), max(least, most), self.origin)


@dataclass(frozen=True)
class Lookup:
    """A lookup: `ids` that can be out of range index `rows` rows."""

    operator: str
    rows: int
    ids: Range
    #: Whether negative ids count from the end (indexing) or fail (`embedding`).
    wraps: bool

    @property
    def fails(self) -> bool:
        lowest = -self.rows if self.wraps else 0
        return self.ids.high >= self.rows or self.ids.low < lowest

    def __str__(self) -> str:
        return f"ids {self.ids} of {self.ids.origin} look up {self.rows} rows in `{self.operator}`"


@dataclass(frozen=True)
class _Test:
    """A mask that compares a tensor with a number: true where the values are between two limits."""

    subject: object
    low: int | None
    high: int | None


class RangedInt(int):
    """A number that was read out of a tensor: it computes as the largest that it can be, and remembers the range."""

    range: Range

    def __new__(cls, found: Range) -> RangedInt:
        number = super().__new__(cls, found.high)
        number.range = found
        return number


def _arithmetic(name: str) -> Callable[[RangedInt, Any], Any]:
    compute = getattr(operator, name)

    def method(self: RangedInt, other: Any) -> Any:
        result = compute(int(self), other)
        if type(other) is int and isinstance(result, int):
            ends = sorted((compute(self.range.low, other), result))
            return RangedInt(Range(ends[0], ends[1], self.range.origin))
        return result

    return method


for _name in ("add", "sub", "mul", "floordiv"):
    setattr(RangedInt, f"__{_name}__", _arithmetic(_name))
for _name in ("add", "mul"):
    setattr(RangedInt, f"__r{_name}__", _arithmetic(_name))


class Intervals(TorchDispatchMode):
    """Follows ranges through every operator; `lookups` lists what was looked up with a known range, each once."""

    def __init__(self) -> None:
        super().__init__()
        self._ranges: Any = WeakIdKeyDictionary()
        self._tests: Any = WeakIdKeyDictionary()
        #: From which class on the scores of a tensor are minus infinity.
        self._dead: Any = WeakIdKeyDictionary()
        #: Views that end the last dimension of scores: the scores, and where the view begins.
        self._tails: Any = WeakIdKeyDictionary()
        #: Whether an integer tensor counts 0, 1, 2 … along its last dimension.
        self._counts: Any = WeakIdKeyDictionary()
        #: What was written in place into a storage, through any view: None if that is not known.
        self._written: dict[int, Range | None] = {}
        self._found: dict[tuple[str, int, Range], Lookup] = {}
        self.where: Callable[[], str] = lambda: ""
        #: Whether Python read numbers out of tensors with a range: what it decides by them is not followed.
        self.were_read = False

    @property
    def lookups(self) -> list[Lookup]:
        return list(self._found.values())

    @property
    def failures(self) -> list[Lookup]:
        return [lookup for lookup in self._found.values() if lookup.fails]

    def declare(self, tensor: torch.Tensor, low: int, high: int, origin: str) -> torch.Tensor:
        """Say which values a tensor that was just made can have."""
        self._written.pop(_storage(tensor), None)
        self._ranges[tensor] = Range(low, high, origin)
        return tensor

    def range_of(self, value: object) -> Range | None:
        """What is known of a tensor or a number."""
        if isinstance(value, RangedInt):
            return value.range
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            return Range(int(value), int(value), f"the constant {int(value)}")
        if not isinstance(value, torch.Tensor):
            return None
        known: Range | None = self._ranges.get(value)
        if known is None:
            return None
        written = self._written.get(_storage(value), known)
        return None if written is None else known.united(written)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        packet = func.overloadpacket
        self._check(packet, args)
        if packet is aten._local_scalar_dense:
            known = self.range_of(args[0])
            if known is not None and not args[0].dtype.is_floating_point:
                self.were_read = True
                return RangedInt(known)
        result = func(*args, **kwargs)
        rule = _RULES.get(packet)
        found = None if rule is None else rule(self, args, kwargs, result)
        if found is not None:
            self._record(result, found)
        if func._schema.is_mutable:
            self._write(args, found)
        else:
            self._forget_writes(args, kwargs, result)
        return result

    def _record(self, result: Any, found: Range) -> None:
        for part in tree_leaves(result):
            if isinstance(part, torch.Tensor) and _is_integer(part):
                self._ranges[part] = found

    def _write(self, args: Sequence[Any], written: Range | None) -> None:
        """What is written through a view can be read through every other view of the same storage."""
        target = args[0] if args else None
        if isinstance(target, torch.Tensor) and _is_integer(target):
            key = _storage(target)
            before = self._written.get(key, written)
            self._written[key] = None if written is None or before is None else before.united(written)

    def _forget_writes(self, args: Any, kwargs: Any, result: Any) -> None:
        """A new tensor may lie where one that is gone was."""
        given = {_storage(part) for part in tree_leaves((args, kwargs)) if isinstance(part, torch.Tensor)}
        for part in tree_leaves(result):
            if isinstance(part, torch.Tensor) and self._written and _storage(part) not in given:
                self._written.pop(_storage(part), None)

    # -- lookups ----------------------------------------------------------------------------------------------------

    def _check(self, packet: Any, args: Sequence[Any]) -> None:
        if packet is aten.embedding:
            self._look_up("embedding", args[0].shape[0], args[1], wraps=False)
        elif packet in (aten._embedding_bag, aten.embedding_bag, aten._embedding_bag_forward_only):
            self._look_up("embedding_bag", args[0].shape[0], args[1], wraps=False)
        elif packet in (aten.index, aten._unsafe_index):
            for size, ids in zip(args[0].shape, args[1], strict=False):
                if isinstance(ids, torch.Tensor) and ids.dtype is not torch.bool:
                    self._look_up("index", size, ids, wraps=True)
        elif packet in (aten.index_select, aten.gather):
            if args[0].dim():
                self._look_up(str(packet).rpartition(".")[2], args[0].shape[args[1]], args[2], wraps=False)
        elif packet is aten.take:
            self._look_up("take", args[0].numel(), args[1], wraps=True)

    def _look_up(self, name: str, rows: int, ids: Any, *, wraps: bool) -> None:
        known = self.range_of(ids)
        if known is not None and ids.numel():
            place = self.where()
            lookup = Lookup(f"{place}: {name}" if place else name, int(rows), known, wraps)
            self._found.setdefault((lookup.operator, lookup.rows, known), lookup)

    # -- where ranges come from -------------------------------------------------------------------------------------

    def classes(self, scores: torch.Tensor, dim: int | None) -> Range:
        """The range of ids drawn from scores along `dim`."""
        if dim is None:
            return Range(0, scores.numel() - 1, f"`argmax` over {scores.numel()} numbers")
        size = scores.shape[dim]
        alive = self._dead.get(scores, size) if dim in (-1, scores.dim() - 1) else size
        return Range(0, max(min(size, alive) - 1, 0), f"a choice among {size} classes")

    def note_test(self, mask: torch.Tensor, subject: object, low: int | None, high: int | None) -> None:
        self._tests[mask] = _Test(subject, low, high)

    def narrowed(self, value: object, mask: object, *, truthy: bool) -> Range | None:
        """What a value can be where a mask is true (or false)."""
        known = self.range_of(value)
        test: _Test | None = self._tests.get(mask) if isinstance(mask, torch.Tensor) else None
        if known is None or test is None or test.subject is not value:
            return known
        if truthy:
            return known.within(test.low, test.high)
        if test.low is None and test.high is not None:
            return known.within(test.high + 1, None)
        if test.high is None and test.low is not None:
            return known.within(None, test.low - 1)
        return known

    def pass_scores(self, source: object, result: object) -> None:
        """Scores keep their dead classes through what does not move them."""
        if isinstance(source, torch.Tensor) and isinstance(result, torch.Tensor) and source in self._dead:
            self._dead[result] = self._dead[source]

    def kill(self, scores: torch.Tensor, start: int) -> None:
        """The scores from class `start` on are minus infinity."""
        self._dead[scores] = min(start, self._dead.get(scores, start))

    def tail(self, view: torch.Tensor) -> tuple[torch.Tensor, int] | None:
        found: tuple[torch.Tensor, int] | None = self._tails.get(view)
        return found

    def note_tail(self, view: torch.Tensor, scores: torch.Tensor, start: int) -> None:
        self._tails[view] = (scores, start)

    def note_count(self, tensor: torch.Tensor) -> None:
        self._counts[tensor] = True

    def first_counted(self, mask: torch.Tensor) -> int | None:
        """From which class on a mask of classes (`arange(n) >= k`) is true."""
        test: _Test | None = self._tests.get(mask)
        if test is None or test.low is None or test.high is not None or test.subject not in self._counts:
            return None
        return test.low


class ReadNumbers(TorchFunctionMode):
    """`tolist` gives numbers that remember their range, and `torch.tensor` of such numbers gets it back."""

    def __init__(self, intervals: Intervals) -> None:
        super().__init__()
        self._intervals = intervals
        self._tolist = FakeTensor.tolist

    def __enter__(self) -> Any:
        FakeTensor.tolist = self._read  # fake tensors have a `tolist` of their own, which no mode sees
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        FakeTensor.tolist = self._tolist
        super().__exit__(*error)

    @property
    def _read(self) -> Callable[[FakeTensor], Any]:
        def tolist(tensor: FakeTensor) -> Any:
            numbers = self._numbers(tensor)
            return self._tolist(tensor) if numbers is None else numbers

        return tolist

    def _numbers(self, tensor: torch.Tensor) -> Any:
        """The numbers in an integer tensor, as lists of its shape; None if nothing is known of them."""
        known = self._intervals.range_of(tensor) if _is_integer(tensor) else None
        self._intervals.were_read |= known is not None
        return None if known is None else _nested(tensor.shape, RangedInt(known))

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in (torch.Tensor.tolist, torch.Tensor.item):
            numbers = self._numbers(args[0])
            if numbers is not None:
                return numbers
        result = func(*args, **kwargs)
        if func in (torch.tensor, torch.as_tensor) and isinstance(result, torch.Tensor) and _is_integer(result):
            numbers = [part for part in tree_leaves(args[:1]) if isinstance(part, int)]
            if any(isinstance(number, RangedInt) for number in numbers):
                found = [r for number in numbers if (r := self._intervals.range_of(number)) is not None]
                united = found[0]
                for other in found[1:]:
                    united = united.united(other)
                self._intervals.declare(result, united.low, united.high, united.origin)
        return result


def _nested(shape: Sequence[int], number: int) -> Any:
    return [_nested(shape[1:], number) for _ in range(shape[0])] if len(shape) else number


def _storage(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):  # a sparse tensor has none
        return id(tensor)


def _is_integer(tensor: torch.Tensor) -> bool:
    return not (tensor.dtype.is_floating_point or tensor.dtype.is_complex or tensor.dtype is torch.bool)


# -- one function per kind of operator: (mode, args, kwargs, result) → the range of the result, or None --------------

_Rule = Any


def _argument(args: Sequence[Any], kwargs: dict[str, Any], position: int, name: str, default: Any = None) -> Any:
    return args[position] if len(args) > position else kwargs.get(name, default)


def _pass(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    mode.pass_scores(args[0], result)
    return mode.range_of(args[0])


def _argmax(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return mode.classes(args[0], _argument(args, kwargs, 1, "dim"))


def _best(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    """`max`, `min`, `sort`, `median` along a dimension: values, and where they were."""
    if isinstance(result, torch.Tensor):
        return mode.range_of(args[0])
    dims = [arg for arg in (*args[1:], *kwargs.values()) if type(arg) is int]
    _values_and_indices(mode, args[0], result, dims[0] if dims else -1)
    return None


def _topk(mode: Intervals, args: Any, kwargs: Any, result: Any) -> None:
    _values_and_indices(mode, args[0], result, _argument(args, kwargs, 2, "dim", -1))


def _values_and_indices(mode: Intervals, scores: torch.Tensor, result: Any, dim: int) -> None:
    values, indices = result
    known = mode.range_of(scores)
    if known is not None:
        mode.declare(values, known.low, known.high, known.origin)
    drawn = mode.classes(scores, dim)
    mode.declare(indices, drawn.low, drawn.high, drawn.origin)


def _multinomial(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return mode.classes(args[0], -1)


def _randint(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    numbers = [arg for arg in args if isinstance(arg, int)]
    low, high = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    return Range(low, high - 1, f"`randint` below {high}")


def _arange(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    numbers = [arg for arg in args if isinstance(arg, int | float)]
    if not numbers or not result.numel() or not all(isinstance(n, int) for n in numbers):
        return None
    start, end = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    step = numbers[2] if len(numbers) > 2 else 1
    last = start + (result.numel() - 1) * step
    if start == 0 and step == 1:
        mode.note_count(result)
    return Range(min(start, last), max(start, last), f"`arange` up to {end}")


def _full(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    value = _argument(args, kwargs, 1, "fill_value")
    return mode.range_of(value)


def _scalar(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return mode.range_of(args[0])


def _new_full(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return mode.range_of(_argument(args, kwargs, 2, "fill_value"))


def _zeros(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return Range(0, 0, "the constant 0")


def _ones(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return Range(1, 1, "the constant 1")


def _scaled(mode: Intervals, args: Any, kwargs: Any) -> tuple[Range, Range] | None:
    left, right = mode.range_of(args[0]), mode.range_of(args[1])
    alpha = kwargs.get("alpha", 1)
    if left is None or right is None or not isinstance(alpha, int):
        return None
    ends = sorted((right.low * alpha, right.high * alpha))
    return left, Range(ends[0], ends[1], right.origin)


def _add(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    mode.pass_scores(args[0], result)
    both = _scaled(mode, args, kwargs)
    if both is None:
        return None
    left, right = both
    origin = left.origin if not left.origin.startswith("the constant") else right.origin
    return Range(left.low + right.low, left.high + right.high, origin)


def _sub(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    both = _scaled(mode, args, kwargs)
    if both is None:
        return None
    left, right = both
    return Range(left.low - right.high, left.high - right.low, left.origin)


def _mul(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    if isinstance(args[1], torch.Tensor) and args[1].dtype is torch.bool:
        kept = mode.narrowed(args[0], args[1], truthy=True)
        return None if kept is None else kept.united(Range(0, 0, kept.origin))
    left, right = mode.range_of(args[0]), mode.range_of(args[1])
    if left is None or right is None:
        return None
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return Range(min(ends), max(ends), left.origin)


def _divided(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    mode.pass_scores(args[0], result)
    left, by = mode.range_of(args[0]), mode.range_of(args[1])
    rounded = kwargs.get("rounding_mode", "floor")
    if left is None or by is None or by.low != by.high or by.low <= 0 or rounded is None:
        return None
    return Range(left.low // by.low, left.high // by.low, left.origin)


def _remainder(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    left, by = mode.range_of(args[0]), mode.range_of(args[1])
    if by is None or by.low != by.high or by.low <= 0 or not _is_integer(result):
        return None
    if left is not None and left.low >= 0 and left.high < by.low:
        return left
    return Range(0, by.low - 1, f"the remainder of {by.low}")


def _clamp(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    low = mode.range_of(_argument(args, kwargs, 1, "min"))
    high = mode.range_of(_argument(args, kwargs, 2, "max"))
    known = mode.range_of(args[0])
    if known is not None:
        return known.within(None if low is None else low.low, None if high is None else high.high)
    if low is None or high is None or not _is_integer(result):
        return None
    return Range(low.low, high.high, "`clamp`")


def _clamp_min(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return _clamp(mode, (args[0], args[1], None), {}, result)


def _clamp_max(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return _clamp(mode, (args[0], None, args[1]), {}, result)


def _minimum(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    left, right = mode.range_of(args[0]), mode.range_of(args[1])
    if left is None or right is None:
        return None
    return Range(min(left.low, right.low), min(left.high, right.high), left.origin)


def _maximum(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    left, right = mode.range_of(args[0]), mode.range_of(args[1])
    if left is None or right is None:
        return None
    return Range(max(left.low, right.low), max(left.high, right.high), left.origin)


def _negative(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    known = mode.range_of(args[0])
    return None if known is None else Range(-known.high, -known.low, known.origin)


def _united(mode: Intervals, values: Iterable[Any]) -> Range | None:
    """The range of values that come from any of several tensors; None if one of them is unknown."""
    united: Range | None = None
    for value in values:
        known = mode.range_of(value)
        if known is None:
            return None
        united = known if united is None else united.united(known)
    return united


def _cat(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return _united(mode, [part for part in args[0] if part.numel()])


def _padded(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    known, filler = mode.range_of(args[0]), mode.range_of(_number(_argument(args, kwargs, 2, "value", 0)))
    return None if known is None or filler is None else known.united(filler)


def _pad_sequence(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    filler = _argument(args, kwargs, 2, "padding_value", 0)
    return _united(mode, [*args[0], filler])


def _where(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    if len(args) < 3:
        return None
    chosen, other = mode.narrowed(args[1], args[0], truthy=True), mode.narrowed(args[2], args[0], truthy=False)
    return None if chosen is None or other is None else chosen.united(other)


def _masked_fill(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    scores, mask, filler = args[:3]
    if scores.dtype.is_floating_point:
        mode.pass_scores(scores, result)
        first = mode.first_counted(mask) if _is_minus_infinity(filler) else None
        if first is not None:
            mode.kill(result, first)
        return None
    kept, filled = mode.narrowed(scores, mask, truthy=False), mode.range_of(_number(filler))
    return None if kept is None or filled is None else kept.united(filled)


def _fill(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    tail = mode.tail(args[0])
    if tail is not None and _is_minus_infinity(args[1]):
        mode.kill(*tail)
    return mode.range_of(_number(args[1]))


def _copy(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    tail = mode.tail(args[0])
    if tail is not None and _is_minus_infinity(args[1]):
        mode.kill(*tail)
    return mode.range_of(args[1])


def _is_minus_infinity(value: Any) -> bool:
    number = _number(value)
    return isinstance(number, int | float) and number <= -1e4


def _number(value: Any) -> Any:
    """The number in a tensor without dimensions that holds one."""
    if isinstance(value, torch.Tensor) and value.dim() == 0:
        constant = getattr(value, "constant", None)
        real = constant if isinstance(constant, torch.Tensor) else value if type(value) is torch.Tensor else None
        if real is not None and real.device.type == "cpu":
            with torch.utils._python_dispatch._disable_current_modes():
                return real.item()
    return value


def _slice(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    scores = args[0]
    dim, start = _argument(args, kwargs, 1, "dim", 0), _argument(args, kwargs, 2, "start") or 0
    if scores.dtype.is_floating_point and scores.dim() and dim in (-1, scores.dim() - 1):
        size = scores.shape[dim]
        first = start if start >= 0 else start + size
        if result.shape[dim] == size - first:
            mode.note_tail(result, scores, first)
        if first == 0 and scores in mode._dead:
            mode.kill(result, mode._dead[scores])
    elif scores.dtype.is_floating_point:
        mode.pass_scores(scores, result)
        tail = mode.tail(scores)
        if tail is not None:
            mode.note_tail(result, *tail)
    return mode.range_of(scores)


def _index(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    masks = [ids for ids in args[1] if ids is not None]
    if len(masks) == 1 and masks[0].dtype is torch.bool:
        return mode.narrowed(args[0], masks[0], truthy=True)
    return mode.range_of(args[0])


def _index_put(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    masks = [ids for ids in args[1] if ids is not None]
    kept = mode.range_of(args[0])
    if len(masks) == 1 and masks[0].dtype is torch.bool:
        kept = mode.narrowed(args[0], masks[0], truthy=False)
    filled = mode.range_of(_number(args[2]))
    return None if kept is None or filled is None else kept.united(filled)


def _cumsum(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    known = Range(0, 1, "a mask") if args[0].dtype is torch.bool else mode.range_of(args[0])
    if known is None:
        return None
    length = args[0].shape[_argument(args, kwargs, 1, "dim")] if args[0].dim() else 1
    return Range(min(known.low, known.low * length), max(known.high, known.high * length), f"a sum over {length} steps")


def _to_copy(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    mode.pass_scores(args[0], result)
    if args[0].dtype is torch.bool and _is_integer(result):
        return Range(0, 1, "a mask")
    return mode.range_of(args[0])


def _one_hot(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return Range(0, 1, "`one_hot`")


def _comparison(low_of: Any, high_of: Any) -> _Rule:
    def rule(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
        limit = mode.range_of(_number(args[1]))
        if limit is not None:
            mode.note_test(result, args[0], low_of(limit), high_of(limit))
        return None

    return rule


def _not(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    test: _Test | None = mode._tests.get(args[0])
    if test is not None and test.low is None and test.high is not None:
        mode.note_test(result, test.subject, test.high + 1, None)
    elif test is not None and test.high is None and test.low is not None:
        mode.note_test(result, test.subject, None, test.low - 1)
    return None


def _and(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    left, right = (mode._tests.get(arg) if isinstance(arg, torch.Tensor) else None for arg in args[:2])
    if left is not None and right is not None and left.subject is right.subject:
        lows = [t.low for t in (left, right) if t.low is not None]
        highs = [t.high for t in (left, right) if t.high is not None]
        mode.note_test(result, left.subject, max(lows, default=None), min(highs, default=None))
    return None


def _table(pairs: dict[str, _Rule]) -> dict[Any, _Rule]:
    """Rules by operator, for those that this torch has; `_` at the end of a name means the one in place."""
    table = {}
    for names, rule in pairs.items():
        for name in names.split():
            for variant in (name, f"{name}_"):
                packet = getattr(aten, variant, None)
                if packet is not None:
                    table[packet] = rule
    return table


_RULES: dict[Any, _Rule] = _table(
    {
        "view _unsafe_view reshape expand transpose t permute squeeze unsqueeze select clone detach alias contiguous "
        "flatten unbind split split_with_sizes chunk index_select gather repeat repeat_interleave flip roll diagonal "
        "unfold narrow lift_fresh_copy lift_fresh lift fmax masked_select view_as expand_as amax amin "
        "tril triu _reshape_alias movedim swapaxes squeeze_copy take": _pass,
        "softmax _softmax log_softmax _log_softmax": _pass,
        "max min sort median kthvalue mode": _best,
        "argmax argmin": _argmax,
        "topk": _topk,
        "multinomial": _multinomial,
        "randint randint_like": _randint,
        "arange": _arange,
        "full full_like": _full,
        "scalar_tensor": _scalar,
        "new_full": _new_full,
        "zeros zeros_like new_zeros zero": _zeros,
        "ones ones_like new_ones": _ones,
        "add": _add,
        "sub": _sub,
        "mul": _mul,
        "div true_divide floor_divide": _divided,
        "remainder fmod": _remainder,
        "clamp clip": _clamp,
        "clamp_min": _clamp_min,
        "clamp_max": _clamp_max,
        "minimum": _minimum,
        "maximum": _maximum,
        "neg": _negative,
        "cat stack": _cat,
        "constant_pad_nd": _padded,
        "pad_sequence": _pad_sequence,
        "where": _where,
        "masked_fill": _masked_fill,
        "fill": _fill,
        "copy": _copy,
        "slice": _slice,
        "index": _index,
        "index_put": _index_put,
        "cumsum": _cumsum,
        "_to_copy": _to_copy,
        "one_hot": _one_hot,
        "lt": _comparison(lambda limit: None, lambda limit: limit.high - 1),
        "le": _comparison(lambda limit: None, lambda limit: limit.high),
        "gt": _comparison(lambda limit: limit.low + 1, lambda limit: None),
        "ge": _comparison(lambda limit: limit.low, lambda limit: None),
        "eq": _comparison(lambda limit: limit.low, lambda limit: limit.high),
        "logical_not bitwise_not": _not,
        "logical_and bitwise_and": _and,
    }
)
