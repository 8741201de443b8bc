"""How the length of a position table is written so that it covers every position."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint import operators
from modellint.edits.python import place_in, written
from modellint.finding import Applicability, Edit, Fix
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value

_EXTREMES = operators.words("extreme largest")


def one_inside(value: Value, operand: int, module: ModuleFacts) -> Fix | None:
    """`max(length, last) + 1` as `max(length, last + 1)`: the 1 moves to one of the operands of the maximum."""
    node = written(value, module)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or not _is_one(node.right):
        return None
    calls = [part for part in _spine(node.left) if isinstance(part, ast.Call) and _name(part.func) in _EXTREMES]
    if len(calls) != 1 or calls[0].keywords or operand >= len(calls[0].args):
        return None
    inner = calls[0].args[operand]
    if not isinstance(inner, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return None
    spot, left, whole = (place_in(value, part, module).span for part in (inner, node.left, node))
    edits = (
        Edit(_between(spot, spot, module), " + 1"),
        Edit(_between(left, whole, module), ""),
    )
    return Fix("Move the 1 into the maximum", Applicability.UNSAFE, edits)


def maximum_of_all(value: Value, module: ModuleFacts) -> Fix | None:
    """`ids[:, -1]` as `ids.max()`, and `ids[:, -1].max()` too."""
    node = written(value, module)
    found = [part for part in ast.walk(node) if _takes_last(part)] if node is not None else []
    if node is None or len(found) != 1 or not isinstance(found[0], ast.Subscript):
        return None
    inner, outer = (place_in(value, part, module).span for part in (found[0].value, found[0]))
    text = "" if any(_takes_maximum(part, found[0]) for part in ast.walk(node)) else ".max()"
    return Fix("Take the maximum", Applicability.UNSAFE, (Edit(_between(inner, outer, module), text),))


def _spine(node: ast.expr) -> Iterator[ast.expr]:
    """An expression, and the expressions inside its conversions to a number: `int(x)`, `x.item()`."""
    yield node
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not node.args:
            yield from _spine(node.func.value)
        elif isinstance(node.func, ast.Name) and node.func.id not in _EXTREMES and len(node.args) == 1:
            yield from _spine(node.args[0])


def _name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _takes_last(node: ast.AST) -> bool:
    """True if an expression is the last element, of a vector or of each row."""
    if not isinstance(node, ast.Subscript):
        return False
    index = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    return isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and _is_one(index.operand)


def _takes_maximum(node: ast.AST, of: ast.expr) -> bool:
    """True if an expression is the largest element of another: `of.max()`, `torch.max(of)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "max":
        return False
    return (node.args or [node.func.value]) == [of] and not node.keywords


def _between(first: Span, second: Span, module: ModuleFacts) -> Place:
    """The place from the end of one part to the end of another."""
    return Place(module.path, Span(first.end_line, first.end_column, second.end_line, second.end_column))
