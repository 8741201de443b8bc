"""What each operator does to ranges: one function per kind, from the arguments to the range of the result.

A function gets the mode, the arguments, the keywords and the result, and gives None where nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .ranges import Range, is_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .intervals import Intervals

aten = torch.ops.aten

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
    if by is None or by.low != by.high or by.low <= 0 or not is_integer(result):
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
    if low is None or high is None or not is_integer(result):
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
        if first == 0:
            mode.pass_scores(scores, result)
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
    if args[0].dtype is torch.bool and is_integer(result):
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
    test = mode.test_of(args[0])
    if test is not None and test.low is None and test.high is not None:
        mode.note_test(result, test.subject, test.high + 1, None)
    elif test is not None and test.high is None and test.low is not None:
        mode.note_test(result, test.subject, None, test.low - 1)
    return None


def _and(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    left, right = (mode.test_of(arg) for arg in args[:2])
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


RULES: dict[Any, _Rule] = _table(
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
