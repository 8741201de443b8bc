"""Transfer functions for ranges, one per kind of operator: from the arguments to the range of the result.

A function gets the mode, the arguments, the keywords and the result, and gives None for an unknown range. The table
of operators, which checking uses, too, says which operator is of which kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .beside import OPERATORS
from .ranges import Range, is_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .intervals import Intervals

aten = torch.ops.aten

_Rule = Any


def _argument(args: Sequence[Any], kwargs: dict[str, Any], position: int, name: str, default: Any = None) -> Any:
    return args[position] if len(args) > position else kwargs.get(name, default)


def _pass(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    if not isinstance(args[0], torch.Tensor):
        return _join(mode, args[0]) if isinstance(args[0], list | tuple) else None
    mode.pass_scores(args[0], result)
    return mode.range_of(args[0])


def _draw_rule(position: int, name: str, default: int | None) -> _Rule:
    """The rule of `argmax` and `argsort`: indices along a dimension."""

    def rule(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
        return mode.classes(args[0], _argument(args, kwargs, position, name, default))

    return rule


def _pair(position: int, name: str, other: _Rule) -> _Rule:
    """The rule of `max`, `sort`, `topk`: values and indices along a dimension; of two tensors, `other` is the rule."""

    def rule(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
        if isinstance(result, torch.Tensor):
            is_of_two = other is not None and len(args) > 1
            return other(mode, args, kwargs, result) if is_of_two else mode.range_of(args[0])
        values, indices = result
        known = mode.range_of(args[0])
        if known is not None:
            mode.declare(values, known.low, known.high, known.origin)
        drawn = mode.classes(args[0], _argument(args, kwargs, position, name, -1))
        mode.declare(indices, drawn.low, drawn.high, drawn.origin)
        return None

    return rule


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


def _fill_rule(position: int, name: str, *, keeps: bool) -> _Rule:
    """The rule of `full`, `constant_pad_nd`, `pad_sequence`: the filler, joined with the operand's range if `keeps`."""

    def rule(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
        filler = _number(_argument(args, kwargs, position, name, 0))
        kept = args[0] if isinstance(args[0], list | tuple) else [args[0]]
        return _join(mode, [*kept, filler] if keeps else [filler])

    return rule


def _scalar(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return mode.range_of(args[0])


def _constant(number: int) -> _Rule:
    return lambda mode, args, kwargs, result: Range(number, number, f"the constant {number}")


def _zeroed(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    mode.pass_scores(args[0], result)
    return _join(mode, [args[0], 0])


def _scaled_operands(mode: Intervals, args: Any, kwargs: Any) -> tuple[Range, Range] | None:
    left, right = mode.range_of(args[0]), mode.range_of(args[1])
    alpha = kwargs.get("alpha", 1)
    if left is None or right is None or not isinstance(alpha, int):
        return None
    ends = sorted((right.low * alpha, right.high * alpha))
    return left, Range(ends[0], ends[1], right.origin)


def _add(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    mode.pass_scores(args[0], result)
    both = _scaled_operands(mode, args, kwargs)
    if both is None:
        return None
    left, right = both
    origin = left.origin if not left.origin.startswith("the constant") else right.origin
    return Range(left.low + right.low, left.high + right.high, origin)


def _sub(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    both = _scaled_operands(mode, args, kwargs)
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


def _floor_divide(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
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


def _join(mode: Intervals, values: Iterable[Any]) -> Range | None:
    """The join of the ranges of some values; None if one of them is unknown."""
    united: Range | None = None
    for value in values:
        known = mode.range_of(value)
        if known is None:
            return None
        united = known if united is None else united.united(known)
    return united


def _cat(mode: Intervals, args: Any, kwargs: Any, result: Any) -> Range | None:
    return _join(mode, [part for part in args[0] if part.numel()])


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


#: By the name of Python's operator of the same kind.
_ARITHMETIC: dict[str, _Rule] = {
    "+": _add,
    "-": _sub,
    "*": _mul,
    "/": _floor_divide,
    "//": _floor_divide,
    "%": _remainder,
    "neg": _negative,
    "<": _comparison(lambda limit: None, lambda limit: limit.high - 1),
    "<=": _comparison(lambda limit: None, lambda limit: limit.high),
    ">": _comparison(lambda limit: limit.low + 1, lambda limit: None),
    ">=": _comparison(lambda limit: limit.low, lambda limit: None),
    "==": _comparison(lambda limit: limit.low, lambda limit: limit.high),
    "~": _not,
    "&": _and,
}
#: By a facet that determines the rule.
_KINDS: dict[str, _Rule] = {
    "joins": _cat,
    "stacks": _cat,
    "chooses": _where,
    "zeroes": _zeroed,
    "sums-up": _cumsum,
    "one-hot": _one_hot,
    "random": _randint,
    "counted": _arange,
    "casts": _to_copy,
    "scores": _pass,
}
#: By the limits that `clamp` and its like take.
_LIMITS: dict[str, _Rule] = {
    "max@2": _clamp,
    "max@1": _clamp_max,
    "min@1": _clamp_min,
    "other@1": _minimum,
}
#: Operators of `aten` that Python code does not use, or not under that name.
_OF_ATEN: dict[str, _Rule] = {
    **dict.fromkeys(
        """_unsafe_view alias split_with_sizes lift lift_fresh lift_fresh_copy _reshape_alias squeeze_copy _softmax
        _log_softmax""".split(),
        _pass,
    ),
    "scalar_tensor": _scalar,
    "constant_pad_nd": _fill_rule(2, "value", keeps=True),
    "copy": _copy,
    "slice": _slice,
    "index": _index,
    "index_put": _index_put,
    "_to_copy": _to_copy,
}


def _rule_of(row: Any) -> _Rule | None:
    """The rule for an operator, by its row of the table; None if it has none."""
    facets, along, fill = row.facets, row.argument("along"), row.argument("fill")
    other = _maximum if "largest" in facets else _minimum if "smallest" in facets else None
    kind = next((rule for facet, rule in _KINDS.items() if facet in facets), None)
    if kind is not None:
        return kind
    if "pair" in facets:
        return _pair(along[0], along[1], other)
    if "drawn" in facets:
        return _multinomial if along is None else _draw_rule(along[0], along[1], None if "reduces" in facets else -1)
    if "mask" in facets:
        return _masked_fill
    if fill is not None:
        return _fill if "changes" in facets else _fill_rule(fill[0], fill[1], keeps="passed" in facets)
    if "constant" in facets:
        return _constant(int(facets["constant"]))
    if "like" in facets:
        return _ARITHMETIC.get(facets["like"])
    if "limit" in facets or "lift" in facets:
        return _maximum if "lift" in facets and other is _maximum else _LIMITS[facets.get("limit", facets.get("lift"))]
    return _pass if "passed" in facets or "picked" in facets else None


def _rules() -> dict[Any, _Rule]:
    """Rules by operator, for those that this torch has; a name that ends in `_` is the operator in place."""
    named = {row.name.rpartition(".")[2].rstrip("_"): _rule_of(row) for row in OPERATORS.rows() if _is_of_tensors(row)}
    table = {}
    for name, rule in {**named, **_OF_ATEN}.items():
        for variant in (name, f"{name}_") if rule is not None else ():
            packet = getattr(aten, variant, None)
            if packet is not None:
                table[packet] = rule
    return table


def _is_of_tensors(row: Any) -> bool:
    """True if a row is of a function of tensors, or a method; where there are both, the first will do."""
    of = row.name.rpartition(".")[0]
    return of in ("torch.nn.utils.rnn", "torch.nn.functional", "torch", "Tensor") and row.facets.keys() != {"unchecked"}


RULES: dict[Any, _Rule] = _rules()
