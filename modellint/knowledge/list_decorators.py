"""The effects of a decorator on the parameters of a function or class, for `list_parameters`, by its source.

A decorator that gives back what it is given changes nothing. One that wraps a function may take more: by position, and
by the names that it takes out of `**kwargs`, which stand in its own source or in the decorator's arguments.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.knowledge.list_modules import Module, Source

#: Decorators of other packages after which a function takes what it took.
_KEEPING = frozenset(
    (
        *("staticmethod", "classmethod", "final", "override", "wraps", "abstractmethod", "lru_cache", "cache"),
        *(
            "no_grad",
            "inference_mode",
            "enable_grad",
            "contextmanager",
            "total_ordering",
            "runtime_checkable",
            "script",
        ),
        *("deprecated", "unused", "export", "ignore", "wrap", "custom_fwd", "custom_bwd", "singledispatch", "compile"),
        *("rank_zero_only", "disable", "copy_func", "experimental"),
    )
)


@dataclass(frozen=True)
class Wrapping:
    """The changes by decorators: `wraps` by a function that passes its arguments on, `names` that it takes besides.

    `is_open`: it may take any name.
    """

    wraps: bool = False
    names: frozenset[str] = frozenset()
    is_open: bool = False

    def with_more(self, other: Wrapping) -> Wrapping:
        return Wrapping(self.wraps or other.wraps, self.names | other.names, self.is_open or other.is_open)


def wrapping(decorator: ast.expr, module: Module, source: Source) -> Wrapping | None:
    """The changes by a decorator; None if they cannot be known."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    named = source.resolve_expression(module, function)
    node = None if named is None else named.node
    if not isinstance(node, ast.FunctionDef):
        is_method = isinstance(function, ast.Attribute) and function.attr in ("register_module", "register", "setter")
        return Wrapping() if is_method or _last(function) in _KEEPING else None
    inner = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef) and one is not node]
    if any(isinstance(one, ast.ClassDef) for one in ast.walk(node)):
        return None
    found = Wrapping()
    for one in inner:
        if one.args.kwarg is not None:
            found = found.with_more(_of_wrapper(one, one.args.kwarg.arg, [node, decorator]))
        elif one.args.vararg is not None or _calls_outer(one, [node, *inner]):
            return None
    return found


def _of_wrapper(node: ast.FunctionDef, name: str, sources: list[ast.AST]) -> Wrapping:
    """The changes by a function that takes `**name` and calls the decorated one."""
    own = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)} - {"self", "cls"}
    removes = any(_removes(one, name) for one in ast.walk(node))
    is_open = any(_replaces(one, name) for one in ast.walk(node))
    words = set().union(*(_words(one) for one in sources)) if removes else set()
    return Wrapping(wraps=True, names=frozenset(own | words), is_open=is_open)


def _removes(node: ast.AST, name: str) -> bool:
    """True of `kwargs.pop(…)` and `del kwargs[…]`."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("pop", "popitem", "clear") and _is(node.value, name)
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Del) and _is(node.value, name)


def _replaces(node: ast.AST, name: str) -> bool:
    """True of an assignment to `kwargs` that may leave names out."""
    if not isinstance(node, ast.Assign) or not any(_is(target, name) for target in node.targets):
        return False
    text = ast.unparse(node.value)
    whole = f"{name}.items()" in text or f"**{name}" in text
    return not whole or any(isinstance(one, ast.comprehension) for one in ast.walk(node.value))


def _words(node: ast.AST) -> Iterator[str]:
    """The strings in source that can be names of arguments."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier():
            yield one.value
        elif isinstance(one, ast.keyword) and one.arg is not None:
            yield one.arg


def _calls_outer(node: ast.FunctionDef, outer: list[ast.FunctionDef]) -> bool:
    """True if an inner function calls a parameter of the functions around it: it stands for the decorated one."""
    names = {one.arg for function in outer if function is not node for one in function.args.args}
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in names for one in ast.walk(node)
    )


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _last(expression: ast.expr) -> str:
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")
