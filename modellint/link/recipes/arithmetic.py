"""The arithmetic of `!ref <a> * 2`: HyperPyYAML's value of a string once its references are filled in."""

from __future__ import annotations

import ast
import operator
import re
import warnings
from typing import TYPE_CHECKING, Any

from modellint.graph.recipe import read_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.graph.recipe import Scalar

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
}

#: Results longer than this are no hyperparameters; computing them could take for ever.
_MAX_BITS = 4096
_MAX_TEXT = 1000


class IncomputableError(Exception):
    """HyperPyYAML would raise (`is_certain`), or the result is too large or no scalar."""

    def __init__(self, reason: str, *, is_certain: bool = False) -> None:
        super().__init__(reason)
        self.is_certain = is_certain


def parse_arithmetic(text: str) -> Scalar:
    """The result of `text` as constants joined by + - * / // ** %, or `text` itself for anything else.

    A leading minus is returned as text: HyperPyYAML knows no unary operators.
    """
    if len(text) > _MAX_TEXT:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
        result = _evaluate(tree.body)
    except (SyntaxError, TypeError, KeyError):
        return text
    except ZeroDivisionError as error:
        raise IncomputableError(str(error), is_certain=True) from None
    except (ArithmeticError, ValueError, RecursionError, MemoryError) as error:
        raise IncomputableError(str(error)) from None
    if result is not None and not isinstance(result, str | int | float):
        raise IncomputableError(f"`{text}` is no number")
    return result


def _evaluate(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp):
        function = _OPERATORS[type(node.op)]
        left, right = _evaluate(node.left), _evaluate(node.right)
        _refuse_giants(node.op, left, right)
        return function(left, right)
    raise TypeError(node)


def _refuse_giants(op: ast.operator, left: Any, right: Any) -> None:
    if isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        too_big = left.bit_length() * abs(right) > _MAX_BITS
    elif isinstance(op, ast.Mult) and (isinstance(left, str | bytes) or isinstance(right, str | bytes)):
        lengths = [len(x) for x in (left, right) if isinstance(x, str | bytes)]
        counts = [x for x in (left, right) if isinstance(x, int)]
        too_big = bool(counts) and lengths[0] * counts[0] > _MAX_TEXT
    else:
        too_big = isinstance(left, int) and left.bit_length() > _MAX_BITS
    if too_big:
        raise IncomputableError("the result is too large")


_TUPLE = re.compile(r"\(.*\)")
_ITEM = re.compile(r"""\s*(?:"([^"\\]*)"|'([^']*)'|([^\[\]{}(),'"]+?))\s*""")


def read_tuple(text: str) -> tuple[Scalar, ...] | None:
    """The elements of a flat `(3, 4)`; None for other texts, or elements that are no scalars."""
    if not _TUPLE.fullmatch(text):
        return None
    inner = text[1:-1].strip()
    parts = inner.split(",")
    if parts[-1].strip() == "":
        parts.pop()
    elements: list[Scalar] = []
    for part in parts:
        match = _ITEM.fullmatch(part)
        if match is None:
            return None
        quoted = match[1] if match[1] is not None else match[2]
        elements.append(quoted if quoted is not None else read_scalar(match[3]))
    return tuple(elements)
