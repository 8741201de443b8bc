"""Outlines of Python files: definitions and their places as JSON values, less than a tenth of a syntax tree.

A place is the span of a node: line, offset, last line, offset behind it, as `ast` has them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from modellint.frontends.expressions import FunctionNode
from modellint.frontends.flow import TRY

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")
Place: TypeAlias = tuple[int, int, int, int]
Outline: TypeAlias = dict[str, Any]
#: Those of functions by line and offset, of expressions by their places, and that of the file as WHOLE; those of
#: functions without their bodies by line, offset and HEAD.
Trees: TypeAlias = dict[tuple[int, ...], object]
#: Where the tree of the file is.
WHOLE = (0, 0)
HEAD = -1


def of_tree(tree: ast.Module, package: str, stubs: frozenset[int] | None = None) -> tuple[Outline, Trees]:
    """The outline of a file in a package, and the trees whose places it tells.

    `stubs` are the lines of the functions whose bodies the tree does not have, if it is not that of a whole file.
    """
    builder = _Builder(package, stubs)
    return builder.read(tree), builder.trees


class _Builder:
    """Collects what a module defines at its top level, through `if`, `try` and `with`."""

    def __init__(self, package: str, stubs: frozenset[int] | None) -> None:
        self.trees: Trees = {}
        self._package = package
        self._stubs = stubs
        self._imports: dict[str, str] = {}
        self._relative: set[str] = set()
        self._stars: list[str] = []
        self._constants: dict[str, Place] = {}
        self._functions: dict[str, list[Any]] = {}
        self._classes: dict[str, list[Any]] = {}
        self._bound: set[str] = set()
        self._rebound: set[str] = set()

    def read(self, tree: ast.Module) -> Outline:
        if not self._stubs or not any(map(self._has_stub, tree.body)):
            self.trees[WHOLE] = tree
        self._statements(tree.body)
        return {
            "whole": self._stubs is None,
            "imports": self._imports,
            "relative": sorted(self._relative),
            "stars": self._stars,
            "rebound": sorted(self._rebound),
            "constants": self._constants,
            "functions": list(self._functions.values()),
            "classes": list(self._classes.values()),
            "definitions": [
                (min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.end_lineno or n.lineno, n.lineno, n.name)
                for n in tree.body
                if isinstance(n, FunctionNode | ast.ClassDef)
            ],
        }

    def _has_stub(self, node: ast.stmt) -> bool:
        """True if a statement at module level has a function without its body in one of its blocks."""
        if isinstance(node, FunctionNode | ast.ClassDef) or self._stubs is None:
            return False
        return not self._stubs.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def _bind(self, name: str) -> None:
        if name in self._bound:
            self._rebound.add(name)
        self._bound.add(name)

    def _statements(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                self._class(node, "")
            elif isinstance(node, FunctionNode):
                self._functions[node.name] = self._function(node)
                self._bind(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                for name in self._assignment(node, self._constants):
                    self._bind(name)
            elif isinstance(node, ast.If | ast.For | ast.While):
                self._statements(node.body)
                self._statements(node.orelse)
            elif isinstance(node, TRY):
                self._statements(node.body)
                for handler in node.handlers:
                    self._fallbacks(handler.body)
                self._statements(node.orelse)
                self._statements(node.finalbody)
            elif isinstance(node, ast.With):
                self._statements(node.body)

    def _fallbacks(self, body: list[ast.stmt]) -> None:
        """Definitions of an `except` branch count only where the `try` branch gave none."""
        imports, functions = dict(self._imports), dict(self._functions)
        classes, constants = dict(self._classes), dict(self._constants)
        self._statements(body)
        self._imports.update(imports)
        self._functions.update(functions)
        self._classes.update(classes)
        self._constants.update(constants)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        imports = self._imports
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    imports[alias.asname] = alias.name
                    self._bind(alias.asname)
                else:
                    top = alias.name.partition(".")[0]
                    if imports.get(top) != top:  # `import a.b` after `import a` binds the same
                        self._bind(top)
                    imports[top] = top
            return
        base = node.module or ""
        if node.level:
            parts = self._package.split(".") if self._package else []
            parts = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
            base = ".".join([*parts, base] if base else parts)
        for alias in node.names:
            if alias.name == "*":
                self._stars.append(base)
            else:
                name, full = alias.asname or alias.name, f"{base}.{alias.name}" if base else alias.name
                if imports.get(name) != full:
                    self._bind(name)
                imports[name] = full
                if node.level:
                    self._relative.add(name)

    def _class(self, node: ast.ClassDef, outer: str) -> None:
        qualname = f"{outer}{node.name}"
        attributes: dict[str, Place] = {}
        annotations: dict[str, Place] = {}
        methods: dict[str, list[Any]] = {}
        hidden: list[list[Any]] = []
        record: list[Any] = [
            qualname,
            (node.lineno, node.end_lineno or node.lineno, node.col_offset),
            (
                self._places(node.bases),
                [(k.arg, self._place(k.value)) for k in node.keywords if k.arg],
                self._places(node.decorator_list),
                self._docstring(node),
            ),
            attributes,
            annotations,
        ]
        self._classes[qualname] = record
        if not outer:
            self._bind(qualname)
        bound: set[str] = set()
        rebound: set[str] = set()
        pending = list(reversed(node.body))
        while pending:
            item = pending.pop()
            if isinstance(item, FunctionNode):
                (rebound if item.name in bound else bound).add(item.name)
                existing = methods.get(item.name)
                function = self._function(item)
                if existing is None:
                    methods[item.name] = function
                elif _is_accessor(item):
                    hidden.append(function)
                else:
                    methods[item.name] = function
                    hidden.append(existing)
            elif isinstance(item, ast.ClassDef):
                self._class(item, f"{qualname}.")
            elif isinstance(item, ast.Assign | ast.AnnAssign):
                for name in self._assignment(item, attributes):
                    (rebound if name in bound else bound).add(name)
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    annotations[item.target.id] = self._place(item.annotation)
            elif isinstance(item, ast.If):
                pending.extend(reversed([*item.body, *item.orelse]))
        record += (list(methods.values()), hidden, sorted(rebound))

    def _function(self, node: FunctionNode) -> list[Any]:
        is_stub = self._stubs is not None and node.lineno in self._stubs
        place = node.lineno, node.col_offset
        self.trees[(*place, HEAD) if is_stub else place] = node
        return [
            node.name,
            (node.lineno, node.end_lineno or node.lineno, node.col_offset),
            _cut(node),
            self._docstring(node),
            self._places(node.decorator_list),
        ]

    def _assignment(self, node: ast.Assign | ast.AnnAssign, into: dict[str, Place]) -> list[str]:
        """Note the values that an assignment binds; gives the names."""
        names: list[str] = []
        if node.value is None:
            return names
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                into[target.id] = self._place(node.value)
                names.append(target.id)
            elif (
                isinstance(target, ast.Tuple)
                and isinstance(node.value, ast.Tuple)
                and len(target.elts) == len(node.value.elts)
            ):
                for name, value in zip(target.elts, node.value.elts, strict=True):
                    if isinstance(name, ast.Name):
                        into[name.id] = self._place(value)
                        names.append(name.id)
        return names

    def _docstring(self, node: ast.ClassDef | FunctionNode) -> Place | None:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            return self._place(first.value)
        return None

    def _places(self, nodes: list[ast.expr]) -> list[Place]:
        return [self._place(node) for node in nodes]

    def _place(self, node: ast.expr) -> Place:
        place = node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0
        self.trees[place] = node
        return place


def _cut(node: FunctionNode) -> tuple[int, int]:
    """Where a function's head ends: before the line of its first statement, or before that if it has no own line."""
    first = node.body[0]
    line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
    arguments = node.args
    parts: list[ast.expr | ast.arg | None] = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parts += [*arguments.defaults, *arguments.kw_defaults, arguments.vararg, arguments.kwarg, node.returns]
    end = max([node.lineno, *((part.end_lineno or 0) for part in parts if part is not None)])
    return (line, 0) if line > end else (line, first.col_offset)


def _is_accessor(node: FunctionNode) -> bool:
    """`@x.setter` and `@x.deleter` redefine a property's name; `@overload` declares it again."""
    return any(
        (isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter", "overload"))
        or (isinstance(d, ast.Name) and d.id == "overload")
        for d in node.decorator_list
    )


# -- reading an outline that was kept --------------------------------------------------------------------------------


def typed(value: Any, kind: type[T]) -> T:
    """A value of a type. Raises TypeError for another one."""
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, not {value!r}")
    return value


def items(value: Any) -> list[Any] | tuple[Any, ...]:
    """A list."""
    if type(value) is not list and type(value) is not tuple:
        raise TypeError(f"expected a list, not {value!r}")
    known: list[Any] | tuple[Any, ...] = value
    return known


def text(value: Any) -> str:
    """A string."""
    return typed(value, str)


def texts(value: Any) -> tuple[str, ...]:
    """A list of strings."""
    return tuple(map(text, items(value)))


def span(value: Any) -> Place:
    """A place."""
    line, offset, end_line, end_offset = value
    if not type(line) is type(offset) is type(end_line) is type(end_offset) is int:
        raise TypeError(f"expected four numbers, not {value!r}")
    if min(line, offset, end_line, end_offset) < 0:
        raise ValueError(f"expected numbers from 0 up, not {value!r}")
    return line, offset, end_line, end_offset


def spans(value: Any) -> tuple[Place, ...]:
    """A list of places."""
    return tuple(map(span, items(value)))
