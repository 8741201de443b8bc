"""Sequence or tensor: tells which of them a parameter takes, by its uses."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import roles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_DEPTH = 3


def is_several(function: Callable[..., Any], owner: Any, name: str, depth: int = 0) -> bool | None:
    """Return whether the parameter `name` is iterated over, there or in a callee; False if it is used as a tensor.

    None if no use tells. `owner` is the object whose method the function is.
    """
    tree = tree_of(function)
    if tree is None or depth > _MAX_DEPTH:
        return None
    use = roles.uses(tree, name)
    asked = [hasattr(torch.Tensor, one) and not hasattr(list, one) for one in use.attributes]
    if use.is_computed or (asked and all(asked)):
        return False
    if use.is_iterated:
        return True
    for callee, at in _callees(tree, function, owner, name):
        if isinstance(callee, nn.Module) and type(callee).__module__.startswith("torch.nn."):
            return False
        called = callee.forward if isinstance(callee, nn.Module) else callee
        if not inspect.isroutine(called):
            continue
        other = _parameter(called, at)
        found = None if other is None else is_several(called, getattr(called, "__self__", None), other, depth + 1)
        if found is not None:
            return found
    return None


def tree_of(function: Callable[..., Any]) -> ast.FunctionDef | None:
    """The syntax of a function; None if its source is not known."""
    try:
        lines = inspect.getsource(inspect.unwrap(function))
        node = ast.parse(textwrap.dedent(lines)).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return node if isinstance(node, ast.FunctionDef) else None


def _callees(
    tree: ast.FunctionDef, function: Callable[..., Any], owner: Any, name: str
) -> Iterator[tuple[Any, int | str]]:
    """The callees that get the parameter `name`, each with its position or keyword."""
    layers = dict(_layers(tree, owner))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
        given += [(keyword.arg or "", keyword.value) for keyword in node.keywords]
        for at, part in given:
            if isinstance(part, ast.Name) and part.id == name:
                callee = _owner_attribute(node.func, owner)
                if callee is None and isinstance(node.func, ast.Name):
                    known = getattr(function, "__globals__", {})
                    callee = layers.get(node.func.id) or known.get(node.func.id)
                if callee is not None:
                    yield callee, at


def _layers(tree: ast.FunctionDef, owner: Any) -> Iterator[tuple[str, nn.Module]]:
    """The names of loops over layers of the owner, each with the first layer."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            found = _owner_attribute(node.iter, owner)
            if isinstance(found, nn.ModuleList | nn.Sequential) and len(found):
                yield node.target.id, found[0]


def _owner_attribute(node: ast.expr, owner: Any) -> Any:
    """The owner's attribute that an expression names: `self.layer`, or the first layer of `self.layers[…]`."""
    if isinstance(node, ast.Subscript):
        found = _owner_attribute(node.value, owner)
        return next(iter(found.children()), None) if isinstance(found, nn.Module) else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return getattr(owner, node.attr, None)
    return None


def _parameter(function: Callable[..., Any], at: int | str) -> str | None:
    """The parameter of a function at a position, or with a keyword; None if it has none."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None
    if isinstance(at, str):
        return at if at in names else None
    return names[at] if at < len(names) else None
