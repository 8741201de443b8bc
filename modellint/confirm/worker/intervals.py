"""Which integers a tensor can hold, carried along while a model runs, and checked at every lookup.

Neither meta nor fake tensors hold values, so an index out of range goes unnoticed on them, and a run on real tensors
shows only the values that one input happens to give. `Intervals` is a `TorchDispatchMode` that follows the *range* of
every integer tensor: `argmax` over n classes gives [0, n - 1], `arange(n)` the same, additions shift it, `clamp` and
comparisons narrow it, views and copies pass it on. What it cannot follow has no range and is never reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from .modes import ObservingMode
from .ranges import Range, RangedInt, RangeLookup, Test, is_integer
from .tensors import storage_of, tensors_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

aten = torch.ops.aten


class Intervals(ObservingMode):
    """Follows ranges through every operator; `lookups` lists what was looked up with a known range, each once."""

    def __init__(self, rules: Mapping[Any, Any]) -> None:
        super().__init__()
        #: The transfer function for ranges of each operator.
        self._rules = rules
        self._ranges: Any = WeakIdKeyDictionary()
        self._tests: Any = WeakIdKeyDictionary()
        #: By scores: the class from which on they are minus infinity.
        self._dead: Any = WeakIdKeyDictionary()
        #: Views that end the last dimension of scores: the scores, and where the view begins.
        self._tails: Any = WeakIdKeyDictionary()
        #: Integer tensors that count 0, 1, 2 … along their last dimension.
        self._counts: Any = WeakIdKeyDictionary()
        #: By storage: the range of the values written in place, through any view; None if not known.
        self._written: dict[int, Range | None] = {}
        self._found: dict[tuple[str, int, Range], RangeLookup] = {}
        #: Look-ups of ids without a known range: the place, and the storage of the ids.
        self.unknown: list[tuple[str, int]] = []
        self.where: Callable[[], str] = lambda: ""
        #: True if Python read numbers from tensors with a range: branches on them are not followed.
        self.were_read = False

    @property
    def lookups(self) -> list[RangeLookup]:
        return list(self._found.values())

    @property
    def failures(self) -> list[RangeLookup]:
        return [lookup for lookup in self._found.values() if lookup.fails]

    def declare(self, tensor: torch.Tensor, low: int, high: int, origin: str) -> torch.Tensor:
        """Say which values a tensor that was just made can have."""
        self._written.pop(storage_of(tensor), None)
        self._ranges[tensor] = Range(low, high, origin)
        return tensor

    def range_of(self, value: object) -> Range | None:
        """The least and the largest value that a tensor or number may have."""
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
        written = self._written.get(storage_of(value), known)
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
        rule = self._rules.get(packet)
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
            if isinstance(part, torch.Tensor) and is_integer(part):
                self._ranges[part] = found

    def _write(self, args: Sequence[Any], written: Range | None) -> None:
        """Note a write through a view, since every other view of the same storage can read it."""
        target = args[0] if args else None
        if isinstance(target, torch.Tensor) and is_integer(target):
            key = storage_of(target)
            before = self._written.get(key, written)
            self._written[key] = None if written is None or before is None else before.united(written)

    def _forget_writes(self, args: Any, kwargs: Any, result: Any) -> None:
        """Forget the writes to storages at whose address a new tensor lies."""
        given = set(map(storage_of, tensors_in((args, kwargs))))
        for part in tree_leaves(result):
            if isinstance(part, torch.Tensor) and self._written and storage_of(part) not in given:
                self._written.pop(storage_of(part), None)

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
        if not ids.numel():
            return
        place = self.where()
        operator = f"{place}: {name}" if place else name
        if known is None:
            self.unknown.append((operator, storage_of(ids)))
            return
        lookup = RangeLookup(operator, int(rows), known, wraps)
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
        self._tests[mask] = Test(subject, low, high)

    def test_of(self, mask: object) -> Test | None:
        """The comparison that a mask was made by; None if it is not known."""
        found: Test | None = self._tests.get(mask) if isinstance(mask, torch.Tensor) else None
        return found

    def narrowed(self, value: object, mask: object, *, truthy: bool) -> Range | None:
        """The range of a value where a mask is true, or, without `truthy`, false."""
        known = self.range_of(value)
        test = self.test_of(mask)
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
        """Copy the dead classes of scores to a result that keeps their order."""
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
        """The class from which on a mask of classes (`arange(n) >= k`) is true; None if it is no such mask."""
        test = self.test_of(mask)
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
        known = self._intervals.range_of(tensor) if is_integer(tensor) else None
        self._intervals.were_read |= known is not None
        return None if known is None else _nested_lists(tensor.shape, RangedInt(known))

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in (torch.Tensor.tolist, torch.Tensor.item):
            numbers = self._numbers(args[0])
            if numbers is not None:
                return numbers
        result = func(*args, **kwargs)
        if func in (torch.tensor, torch.as_tensor) and isinstance(result, torch.Tensor) and is_integer(result):
            numbers = [part for part in tree_leaves(args[:1]) if isinstance(part, int)]
            if any(isinstance(number, RangedInt) for number in numbers):
                found = [r for number in numbers if (r := self._intervals.range_of(number)) is not None]
                united = found[0]
                for other in found[1:]:
                    united = united.united(other)
                self._intervals.declare(result, united.low, united.high, united.origin)
        return result


def _nested_lists(shape: Sequence[int], number: int) -> Any:
    return [_nested_lists(shape[1:], number) for _ in range(shape[0])] if len(shape) else number
