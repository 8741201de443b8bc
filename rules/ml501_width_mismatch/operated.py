"""The transfer functions of torch's operators for the dimensions of their operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import External
from modellint.graph.size import Size
from modellint.graph.value import Op

from . import shapes
from .shapes import UNKNOWN, Shape, Width
from .table import POOLS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from modellint.graph.value import Value
    from modellint.rule import Project

    from .evaluator import Activation

    #: An argument of an operator behind its operand, by position and name.
    Given: TypeAlias = Callable[[int, str], Value | None]
    #: The known dimensions of a tensor, and the size of a number.
    ShapeOf: TypeAlias = Callable[[Value], Shape]
    SizeOf: TypeAlias = Callable[[Value], Size | None]

#: Modules of torch that define operators of tensors.
_MODULES = frozenset(("torch", "torch.nn.functional", "torch.functional"))


def operator_of(call: Value, frame: Activation, project: Project) -> tuple[str, Value, Given] | None:
    """The name of an operator of torch, its operand, and its arguments behind that."""
    callee = call.callee
    definition = project.names.definition(frame.module, callee)
    if isinstance(definition, External) and definition.name.rpartition(".")[0] in _MODULES:
        operand = call.argument(0, "input") or call.argument(0, "tensors")
        name, offset = definition.name, 1
    elif definition is None and callee.op is Op.ATTR and callee.args[0].op is not Op.GLOBAL:
        operand, name, offset = callee.args[0], f"Tensor.{callee.data}", 0
        if operand.op is Op.PARAM and operand.data == "self":
            return None
    else:
        return None
    if operand is None or call.has_unpacking:
        return None

    def given(at: int, name: str) -> Value | None:
        return call.argument(at + offset, name)

    return name.rpartition(".")[2], operand, given


def output_shape(name: str, operand: Value, given: Given, shape_of: ShapeOf, size_of: SizeOf) -> Shape:
    """The shape of an operator's result."""
    if name in ("cat", "concat", "concatenate"):
        return _concatenate(operand, whole(given(0, "dim"), 0), shape_of)
    if name in ("view", "reshape"):
        return _view(given, size_of)
    shape = shape_of(operand)
    if shape is UNKNOWN:
        return UNKNOWN
    row = operators.row(f"Tensor.{name}") or operators.row(f"torch.nn.functional.{name}")
    if name in ("add", "sub", "mul", "div"):
        other = given(0, "other")
        return shape if other is None else shapes.broadcast(shape, shape_of(other))
    if row is not None and "same-shape" in row.facets and name not in ("where", "addmm"):
        return shape
    if name in ("transpose", "swapaxes", "swapdims"):
        first, last = (whole(given(at, key), None) for at, key in enumerate(("dim0", "dim1")))
        return UNKNOWN if first is None or last is None else shapes.transpose(shape, first, last)
    if name == "permute":
        order = [whole(part, None) for part in _several(given, "dims")]
        known = [dim for dim in order if dim is not None]
        return shapes.permute(shape, known) if known and len(known) == len(order) else UNKNOWN
    if name == "flatten":
        first, last = whole(given(0, "start_dim"), 0), whole(given(1, "end_dim"), -1)
        return UNKNOWN if first is None or last is None else shapes.flatten(shape, first, last)
    if name == "unsqueeze":
        dim = whole(given(0, "dim"), None)
        return UNKNOWN if dim is None else shapes.with_one(shape, dim)
    if name == "squeeze":
        dim = whole(given(0, "dim"), None)
        place = None if dim is None else shape.place(dim)
        width = None if place is None else shape.at(place)
        is_one = width is not None and width.size.constant == 1
        return shapes.without(shape, [place]) if place is not None and is_one else UNKNOWN
    if name in ("mean", "sum", "amax", "amin"):
        return _reduce(shape, given)
    return _resize(shape, name, given)


def _reduce(shape: Shape, given: Given) -> Shape:
    dims = given(0, "dim")
    kept = given(1, "keepdim")
    if dims is None or (kept is not None and not (kept.op is Op.CONST and kept.data is False)):
        return UNKNOWN
    parts = dims.args if dims.op in (Op.TUPLE, Op.LIST) else (dims,)
    known = [whole(part, None) for part in parts]
    return UNKNOWN if None in known else shapes.without(shape, [dim for dim in known if dim is not None])


def _resize(shape: Shape, name: str, given: Given) -> Shape:
    """The dimensions of an image that pools and resizes keep."""
    for kind, grid in POOLS.items():
        if name == _function_of(kind):
            axes = {place: width for place, width in shape.axes.items() if place < -grid}
            size = given(0, "output_size") if name.startswith("adaptive_avg") else None
            side = whole(size, None)
            ones = {-at: Width(Size.of(side)) for at in range(1, grid + 1)} if side is not None else {}
            return Shape({**axes, **ones}, shape.rank)
    if name in ("interpolate", "upsample") and shape.rank is not None:
        return Shape({place: width for place, width in shape.axes.items() if place <= 1 - shape.rank}, shape.rank)
    return UNKNOWN


def _concatenate(parts: Value, dim: int | None, shape_of: ShapeOf) -> Shape:
    if parts.op not in (Op.LIST, Op.TUPLE) or not parts.args or any(p.op is Op.STARRED for p in parts.args):
        return UNKNOWN
    found = list(map(shape_of, parts.args))
    rank = next((shape.rank for shape in found if shape.rank is not None), None)
    found = [Shape(shape.axes, rank) for shape in found]
    place = None if dim is None else found[0].place(dim)
    if place is None:
        return UNKNOWN
    axes = {p: w for shape in reversed(found) for p, w in shape.axes.items() if p != place}
    total = Size.of(0)
    widths = [shape.at(place) for shape in found]
    for width in widths:
        if width is None:
            return Shape(axes, rank)
        total = total + width.size
    return Shape({**axes, place: Width(total, widths[0].maker if widths[0] is not None else None)}, rank)


def _view(given: Given, size_of: SizeOf) -> Shape:
    parts = _several(given, "shape")
    if len(parts) < 2 or any(part.op is Op.STARRED for part in parts):
        return UNKNOWN
    axes = {}
    for at, part in enumerate(parts):
        size = size_of(part)
        if size is not None and size.constant is not None and size.constant > 0:
            axes[at - len(parts)] = Width(size)
    return Shape(axes, len(parts))


def part_shape(name: str, operand: Value, given: Given, shape_of: ShapeOf) -> Shape:
    """One part of `x.chunk(2, dim=-1)`."""
    if name not in ("chunk", "split", "unbind"):
        return UNKNOWN
    shape = shape_of(operand)
    dim = whole(given(1, "dim"), 0) if name != "unbind" else whole(given(0, "dim"), 0)
    place = None if dim is None else shape.place(dim)
    if place is None or dim is None:
        return UNKNOWN
    if name == "unbind":
        return shapes.without(shape, [dim])
    axes = {other: width for other, width in shape.axes.items() if other != place}
    width, count = shape.at(place), whole(given(0, "chunks"), None)
    if name == "chunk" and width is not None and count:
        part = shapes.divide(width.size, count)
        if part is not None:
            axes[place] = Width(part, width.maker)
    return Shape(axes, shape.rank)


def _function_of(kind: str) -> str:
    """`max_pool2d` of `MaxPool2d`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_").replace("l_p_", "lp_")


def whole(value: Value | None, default: int | None) -> int | None:
    """A whole number that is written down, the default where nothing is given."""
    if value is None:
        return default
    if value.op is Op.UNARY and value.data == "-":
        inner = whole(value.args[0], None)
        return None if inner is None else -inner
    return value.data if value.op is Op.CONST and type(value.data) is int else None


def _several(given: Given, name: str) -> tuple[Value, ...]:
    """Arguments that are passed singly, or as one tuple."""
    first = given(0, name)
    if first is None:
        return ()
    if first.op in (Op.TUPLE, Op.LIST):
        return first.args
    found = [first]
    while (more := given(len(found), "")) is not None:
        found.append(more)
    return tuple(found)
