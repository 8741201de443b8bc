"""Guards of a lookup that are written with the number of rows: do they let that number itself through?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.size import excess, is_proved
from modellint.graph.value import Op
from modellint.link.values.limits import is_about
from modellint.link.values.torch_api import CLAMPS, PASSED_BY_METHODS, argument_of, operator_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.link.values.evaluator import Evaluator, Frame

#: What makes other numbers of ids, so that a limit on those says nothing of these.
_SHIFTS = ("+", "-", "%", "//", "*", "/")
#: What counts up to a number without reaching it.
_RANGES = operators.words("counted")


def is_direct(index: Value, compare: Value, event: Event) -> bool:
    """Whether the ids are looked up as they are compared, and only where the comparison lets them through."""
    if any(part.op is Op.BIN and part.data in _SHIFTS for part in index.walk()) or _is_count(compare, index):
        return False
    for condition in event.guard.chain() if event.guard is not None else ():
        parts = list(condition.test.walk())
        if any(part is compare for part in parts):
            negated = sum(part.op is Op.UNARY and part.data in ("not", "~") for part in parts) % 2 == 1
            return (compare.data in ("<=", ">=")) is (condition.truthy is not negated)
    return True


def _is_count(compare: Value, index: Value) -> bool:
    """Whether a comparison is about how many ids there are: the last id of `arange(n)` is n - 1."""
    return not is_about(compare, {id(part): part for part in _above_ranges(index) if part.op is not Op.CONST})


def _above_ranges(index: Value) -> Iterator[Value]:
    """What ids are made from, without what limits the ranges among it."""
    seen: set[int] = set()
    queue = [index]
    for value in queue:
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if value.op is not Op.CALL or value.callee.data not in _RANGES:
            queue.extend(value.args)


def clamp_of(index: Value) -> Value | None:
    """The `clamp` that an index is the result of, but for casts and views."""
    while index.op is Op.CALL:
        name = str(index.callee.data)
        if name in CLAMPS:
            return index
        if name not in PASSED_BY_METHODS or index.callee.op is not Op.ATTR:
            return None
        index = index.callee.args[0]
    return None


def upper_limit(clamp: Value, frame: Frame, evaluator: Evaluator) -> Value | None:
    """The `max` of a `clamp`."""
    target = evaluator.target(clamp, frame)
    row = operator_of(target)
    return None if row is None else argument_of(clamp, row.argument("limit"), target)


def passes_one_too_many(compare: Value, rows: Size, frame: Frame, evaluator: Evaluator) -> bool:
    """Whether a comparison with the number of rows is off by one."""
    left, right = compare.args
    if compare.data in (">", "<="):
        limit = right
    elif compare.data in ("<", ">="):
        limit = left
    else:
        return False
    return limit.op in (Op.CONST, Op.ATTR, Op.GLOBAL, Op.PARAM) and is_as_large(rows, limit, frame, evaluator)


def is_as_large(rows: Size, limit: Value, frame: Frame, evaluator: Evaluator) -> bool:
    """Whether a limit is the number of rows itself."""
    size = evaluator.size(limit, frame)
    return size is not None and excess(size, rows) == 0 and (is_proved(size, rows) or limit.op is Op.CONST)
