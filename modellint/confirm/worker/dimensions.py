"""The dimensions of a tensor parameter that code reveals: by unpacking its shape, or in a pattern of einops."""

from __future__ import annotations

import ast
import re

_REARRANGING = frozenset(("rearrange", "reduce", "repeat"))


def dimensions(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> list[str]:
    """The names of the dimensions of the parameter `name`, or none if nothing reveals how many there are.

    `b, t, _ = x.shape`, `b, c = x.size()` and `rearrange(x, "b c (h p) -> …")` count; the first one is taken for the
    input as it is passed.
    """
    for node in sorted(_nodes(function), key=lambda node: (node.lineno, node.col_offset)):
        found = _unpacked_dimensions(node, name) if isinstance(node, ast.Assign) else _pattern_dimensions(node, name)
        if found:
            return found
    return []


def unpacked_names(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> list[str]:
    """The names that the body of the function unpacks the parameter `name` into; none if it does not."""
    for node in function.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and _is(node.value, name) else None
        if isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
            return [part.id for part in target.elts if isinstance(part, ast.Name)]
    return []


def _nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Assign | ast.Call]:
    return [node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.Call)]


def _unpacked_dimensions(node: ast.Assign, name: str) -> list[str]:
    value = node.value
    if isinstance(value, ast.Call) and not value.args and not value.keywords:
        value = value.func
    target = node.targets[0]
    if not (isinstance(value, ast.Attribute) and value.attr in ("shape", "size") and _is(value.value, name)):
        return []
    if not isinstance(target, ast.Tuple) or any(isinstance(part, ast.Starred) for part in target.elts):
        return []
    return [part.id if isinstance(part, ast.Name) else "_" for part in target.elts]


def _pattern_dimensions(node: ast.Call, name: str) -> list[str]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called not in _REARRANGING or len(node.args) < 2 or not _is(node.args[0], name):
        return []
    pattern = node.args[1]
    if not isinstance(pattern, ast.Constant) or not isinstance(pattern.value, str):
        return []
    before = pattern.value.partition("->")[0]
    return [] if "..." in before else re.findall(r"\([^()]*\)|[\w]+", before)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
