"""The width of a subscripted tensor: `logits[:, -1]`, `logits[..., :n]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Constant, Tensor, constant, size_of
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Op

if TYPE_CHECKING:
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.value import Value

#: The owner of symbols for unknown values of a body.
_LOCAL = "<local>"


class Subscripts:
    """Subscripts of tensors in one run."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run

    def width(self, tensor: Tensor, parts: tuple[Value, ...], frame: Frame) -> Size | None:
        """The size of the last dimension after subscripts, as of `logits[..., :n]`; None if unknown."""
        has_ellipsis = any(p.op is Op.CONST and p.data is Ellipsis for p in parts)
        last = parts[-1]
        if has_ellipsis and last.op is not Op.SLICE and not (last.op is Op.CONST and last.data is Ellipsis):
            return None
        is_cut = [p.op is Op.SLICE and not is_whole(p) for p in parts]
        if not any(is_cut):
            keeps = all(p.op in (Op.CONST, Op.SLICE, Op.UNARY) or self._is_number(p, frame) for p in parts)
            return tensor.width if keeps else None
        if sum(is_cut) > 1 or not is_cut[-1]:
            return tensor.width if last.op is Op.SLICE and not is_cut[-1] else None
        if not has_ellipsis or constant(self._run.evaluate(last.args[2], frame)) != Constant(None):
            return None
        return self._cut(tensor.width, last.args[0], last.args[1], frame)

    def _cut(self, width: Size | None, lower: Value, upper: Value, frame: Frame) -> Size | None:
        """The width after a slice `[lower:upper]`: `n` for `logits[..., n * i : n * (i + 1)]`; None if unknown."""
        first, last = self._offset(lower, frame), self._offset(upper, frame)
        if first is None:
            first = Size.of(0)
        if last is None or is_negative(last) is not is_negative(first):
            if width is None or (last is None and is_negative(first)):
                return -first if last is None and is_negative(first) else None
            last = width if last is None else last + width if is_negative(last) else last
            first = first + width if is_negative(first) else first
        found = last - first
        return None if any(symbol.owner == _LOCAL for symbol in found.symbols) or is_negative(found) else found

    def _offset(self, value: Value, frame: Frame) -> Size | None:
        """The bound of a slice, with symbols for unknown values; None if it is omitted."""
        atoms = self._run.evaluate(value, frame)
        if constant(atoms) == Constant(None):
            return None
        size = size_of(atoms)
        if size is not None:
            return size
        if value.op is Op.BIN and value.data in ("+", "-", "*"):
            left, right = (self._offset(arg, frame) for arg in value.args)
            if left is not None and right is not None:
                return left.calculated(value.data, right)
        return Size.symbol(Symbol(_LOCAL, str(id(value))))

    def _is_number(self, part: Value, frame: Frame) -> bool:
        """True if a subscript is a single number, not a mask or an index tensor."""
        return not any(isinstance(atom, Tensor) for atom in self._run.evaluate(part, frame))


def is_whole(part: Value) -> bool:
    """True for a full slice, `[:]`."""
    return all(arg.op is Op.CONST and arg.data is None for arg in part.args)


def is_negative(size: Size) -> bool:
    return size.number is not None and size.number < 0
