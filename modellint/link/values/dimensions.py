"""The dimensions of tensors that a constructor makes: from factories, through what keeps or reorders dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import Op
from modellint.link.values.evaluator import Located
from modellint.link.values.torch_api import operator_of, sizes_of

if TYPE_CHECKING:
    from modellint.graph.value import Value
    from modellint.link.values.evaluator import Evaluator, Frame
    from modellint.operators import Operator

#: One entry for each dimension: the number that sizes it, None for one that is not known.
Dimensions = tuple[Located | None, ...]

_MAX_DEPTH = 24


def dimensions(value: Value, frame: Frame, evaluator: Evaluator, depth: int = 0) -> Dimensions | None:
    """The dimensions of a tensor, None if even their number is not known."""
    if depth > _MAX_DEPTH:
        return None
    match value.op:
        case Op.CALL:
            return _of_call(value, frame, evaluator, depth + 1)
        case Op.BIN:
            sides = [dimensions(arg, frame, evaluator, depth + 1) for arg in value.args]
            numbers = [_is_number(arg) for arg in value.args]
            if value.data == "@":
                return None
            if None not in sides:
                return _broadcast(sides[0] or (), sides[1] or ())
            return next((side for side, other in zip(sides, reversed(numbers), strict=True) if side and other), None)
        case Op.UPDATE if value.data == "[]=":
            return dimensions(value.args[0], frame, evaluator, depth + 1)
        case Op.INDEX:
            return _of_index(value, frame, evaluator, depth + 1)
        case Op.PARAM:
            bound = evaluator.argument(value, frame)
            return None if bound is None else dimensions(bound.value, bound.frame, evaluator, depth + 1)
        case Op.ATTR if len(value.args) > 1:
            return dimensions(value.args[1], frame, evaluator, depth + 1)
        case Op.UNARY if value.data == "-":
            return dimensions(value.args[0], frame, evaluator, depth + 1)
        case _:
            return None


def _of_call(call: Value, frame: Frame, evaluator: Evaluator, depth: int) -> Dimensions | None:
    target = evaluator.target(call, frame)
    if target.frame is not None:
        returned = list(evaluator.returns(call, frame))
        if len(returned) != 1:
            return None
        return dimensions(returned[0].value, returned[0].frame, evaluator, depth + 4)
    row = operator_of(target)
    if row is None:
        return None
    if "subscripts" in row.facets:
        return _of_outer(call, frame, evaluator, depth) if _is_outer(call) else None
    if target.method is not None and target.owner is not None:
        return _of_operator(row, target.owner, call.positional, frame, evaluator, depth)
    sizes = sizes_of(row.name, call)
    if sizes is not None:
        return tuple(Located(size, frame) for size in sizes)
    if row.name == "torch.arange" and call.positional and len(call.positional) < 3:
        return _counted(call, frame)
    if "flat" in row.facets:
        return (None,)
    if not call.positional:
        return None
    if row.name == "torch.outer":
        return _of_outer(call, frame, evaluator, depth)
    if "joins" in row.facets or "stacks" in row.facets:
        return _joined(row, call, frame, evaluator, depth)
    return _of_operator(row, call.positional[0], call.positional[1:], frame, evaluator, depth)


def _of_outer(call: Value, frame: Frame, evaluator: Evaluator, depth: int) -> Dimensions | None:
    parts = [dimensions(arg, frame, evaluator, depth) for arg in call.positional[-2:]]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    return (*parts[0], *parts[1])


def _counted(call: Value, frame: Frame) -> Dimensions:
    """`arange(n)`, `arange(0, n)`."""
    *start, end = call.positional
    if start and not (start[0].op is Op.CONST and start[0].data == 0):
        return (None,)
    return (Located(end, frame),)


def _of_operator(
    row: Operator, owner: Value, given: tuple[Value, ...], frame: Frame, evaluator: Evaluator, depth: int
) -> Dimensions | None:
    found = dimensions(owner, frame, evaluator, depth)
    if found is None or "same-shape" in row.facets:
        return found
    name = row.name.rpartition(".")[2]
    places = [_place(arg) for arg in given]
    if any(place is None for place in places):
        return None
    whole = [place for place in places if place is not None]
    count = len(found)
    if "unsqueezes" in row.facets and len(whole) == 1:
        at = whole[0] % (count + 1)
        return (*found[:at], None, *found[at:])
    if name == "transpose" and len(whole) == 2 and count:
        order = list(found)
        first, second = whole[0] % count, whole[1] % count
        order[first], order[second] = order[second], order[first]
        return tuple(order)
    if name == "permute" and len(whole) == count:
        return tuple(found[place % count] for place in whole)
    return found[::-1] if name == "t" and count == 2 else None


def _of_index(value: Value, frame: Frame, evaluator: Evaluator, depth: int) -> Dimensions | None:
    """`x[:, None]`, `x[None]`, `x[..., None]`."""
    found = dimensions(value.args[0], frame, evaluator, depth)
    if found is None:
        return None
    subscript = value.args[1]
    rest = list(found)
    result: list[Located | None] = []
    parts = subscript.args if subscript.op is Op.TUPLE else (subscript,)
    for number, part in enumerate(parts):
        if part.op is Op.CONST and part.data is None:
            result.append(None)
        elif part.op is Op.CONST and part.data is Ellipsis:
            after = sum(not (later.op is Op.CONST and later.data is None) for later in parts[number + 1 :])
            result.extend(rest[: len(rest) - after])
            del rest[: len(rest) - after]
        elif not rest:
            return None
        elif part.op is Op.SLICE:
            whole = all(arg.op is Op.CONST and arg.data is None for arg in part.args)
            result.append(rest.pop(0) if whole else rest.pop(0) and None)
        elif part.op is Op.CONST and isinstance(part.data, int):
            rest.pop(0)
        else:
            return None
    return (*result, *rest)


def _joined(row: Operator, call: Value, frame: Frame, evaluator: Evaluator, depth: int) -> Dimensions | None:
    parts = call.positional[0]
    dim = call.argument(1, "dim")
    along = 0 if dim is None else _place(dim)
    if parts.op not in (Op.LIST, Op.TUPLE) or not parts.args or along is None:
        return None
    found = dimensions(parts.args[0], frame, evaluator, depth)
    if found is None:
        return None
    if "stacks" in row.facets:
        at = along % (len(found) + 1)
        return (*found[:at], None, *found[at:])
    at = along % len(found) if found else 0
    return (*found[:at], None, *found[at + 1 :])


def _broadcast(first: Dimensions, second: Dimensions) -> Dimensions:
    """The dimensions of a sum; of two numbers for the same dimension the one that is known."""
    if len(first) < len(second):
        first, second = second, first
    padded = (*([None] * (len(first) - len(second))), *second)
    return tuple(a if a is not None else b for a, b in zip(first, padded, strict=True))


def _is_outer(call: Value) -> bool:
    """`einsum("i,j->ij", a, b)`."""
    equation = call.positional[0]
    if equation.op is not Op.CONST or not isinstance(equation.data, str) or len(call.positional) != 3:
        return False
    left, _, right = equation.data.replace(" ", "").partition("->")
    first, _, second = left.partition(",")
    return len(first) == len(second) == 1 and right == first + second


def _place(value: Value) -> int | None:
    """A dimension's number."""
    return value.data if value.op is Op.CONST and type(value.data) is int else None


def _is_number(value: Value) -> bool:
    """Whether an operand is a plain number, as far as its form tells."""
    if value.op is Op.BIN:
        return all(_is_number(arg) for arg in value.args)
    if value.op is Op.UNARY:
        return _is_number(value.args[0])
    if value.op is Op.CALL:
        return value.callee.op is Op.ATTR and value.callee.args[0].data in ("math", "np") and len(value.positional) == 1
    return value.op in (Op.CONST, Op.PARAM, Op.GLOBAL, Op.ATTR)
