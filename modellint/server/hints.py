"""The shapes of tensors in an editor: hints beside the code, and the tensor at a position."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lsprotocol import types

from modellint.flow.shapes.shown import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.flow.shapes.shown import TensorExpression
    from modellint.source import Span


def has_hint(tensor: TensorExpression) -> bool:
    """True for a tensor that is assigned or returned, and of which a size or the number of dimensions is known."""
    sizes = set(tensor.shape.strip("[]").split(", "))
    is_known = tensor.shape != UNKNOWN and ("*" not in sizes or not sizes <= {"*", "?"})
    return is_known and (tensor.is_target or tensor.is_returned)


def in_lines(tensors: Iterable[TensorExpression], first: int, count: int) -> list[TensorExpression]:
    """The tensors in `count` lines from `first` on, which becomes line 1."""

    def shift(span: Span) -> Span:
        return replace(span, line=span.line - first + 1, end_line=span.end_line - first + 1)

    return [
        one._replace(span=shift(one.span), annotated=one.annotated and shift(one.annotated))
        for one in tensors
        if first <= one.span.line < first + count
    ]


def hints(
    tensors: Iterable[TensorExpression], wanted: types.Range, range_of: Callable[[Span], types.Range]
) -> Iterator[types.InlayHint]:
    """The hints in a range, each where the type of a variable is written, or behind the type or the returned value."""
    for tensor in filter(has_hint, tensors):
        is_annotated, span = tensor.annotated is not None, tensor.annotated or tensor.span
        if not wanted.start.line < span.end_line <= wanted.end.line + 1:
            continue
        end = range_of(span).end
        if _numbers(wanted.start) <= _numbers(end) <= _numbers(wanted.end):
            label = tensor.words if is_annotated else f": {tensor.words}"
            yield types.InlayHint(end, label, types.InlayHintKind.Type, padding_left=is_annotated)


def tensor_at(
    tensors: Iterable[TensorExpression], position: types.Position, range_of: Callable[[Span], types.Range]
) -> tuple[TensorExpression, types.Range] | None:
    """The innermost tensor at a position, with its range; None if there is none. A variable has its new value."""
    around = [
        (tensor, found)
        for tensor in tensors
        if tensor.span.line <= position.line + 1 <= tensor.span.end_line
        for found in [range_of(tensor.span)]
        if _numbers(found.start) <= _numbers(position) < _numbers(found.end)
    ]

    def depth(one: tuple[TensorExpression, types.Range]) -> tuple[int, ...]:
        tensor, found = one
        return *_numbers(found.start), -found.end.line, -found.end.character, tensor.is_target

    return max(around, key=depth, default=None)


def _numbers(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
