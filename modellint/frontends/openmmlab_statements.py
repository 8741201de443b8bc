"""Follows the statements of a configuration that is a Python file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint.frontends.openmmlab_values import BASE, READ_BASE, Base, Dict, List, Values, is_of_base
from modellint.graph.recipe import NO_TAG, Entry, Node, NodeKind, TagKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.source import Span

_MAX_ELEMENTS = 1_000


class Reader(Values):
    """Follows the statements of a configuration; `read` gives the mapping of its names."""

    @property
    def other_names(self) -> frozenset[str]:
        """The names that stand for modules, classes and functions."""
        return frozenset(self._others)

    def read(self, tree: ast.Module) -> Node:
        self._run(tree.body)
        entries = tuple(
            Entry(key, self._node(value)) for name, (key, value) in self._names.items() if not name.startswith("__")
        )
        return Node(NodeKind.MAPPING, NO_TAG, self._span_of_text(), entries=entries)

    def _span_of_text(self) -> Span:
        first = next((key for key, _ in self._names.values()), None)
        return first.span if first is not None else self.source.span_of_bytes(1, 0, 1, 0)

    # -- statements --------------------------------------------------------------------------------------------

    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign():
                self._assign(statement)
            case ast.AnnAssign() if statement.value is not None:
                self._bind(statement.target, self._value(statement.value))
            case ast.AugAssign():
                self._augment(statement)
            case ast.Expr():
                self._value(statement.value)
            case ast.Import() | ast.ImportFrom():
                self._import(statement)
            case ast.With() if self._is_read_base(statement):
                self.is_lazy = True
                for inner in statement.body:
                    if isinstance(inner, ast.ImportFrom):
                        self._inherit(inner)
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
                self._names.pop(statement.name, None)
                self._others[statement.name] = ""
            case ast.Delete():
                for target in statement.targets:
                    self._delete(target)
            case ast.Pass():
                pass
            case _:
                self._blur(statement)

    def _is_read_base(self, statement: ast.With) -> bool:
        expression = statement.items[0].context_expr
        return isinstance(expression, ast.Call) and ast.unparse(expression.func).rpartition(".")[2] == READ_BASE

    def _assign(self, statement: ast.Assign) -> None:
        first = statement.targets[0]
        if isinstance(first, ast.Name) and first.id == BASE:
            self._add_bases(statement.value)
            return
        value = self._value(statement.value)
        for target in statement.targets:
            self._bind(target, value)

    def _add_bases(self, value: ast.expr) -> None:
        parts = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for part in parts:
            found = self._value(part)
            if isinstance(found, Node) and isinstance(found.scalar, str) and found.tag is NO_TAG:
                self.bases.append(Base(found.scalar, self._span(part)))
            else:
                self.bases.append(Base("", self._span(part)))

    def _augment(self, statement: ast.AugAssign) -> None:
        target, added = statement.target, self._value(statement.value)
        value = self._value(target)
        if isinstance(value, List) and isinstance(statement.op, ast.Add) and isinstance(added, List):
            value.elements += added.elements[:_MAX_ELEMENTS]
            value.is_whole = value.is_whole and added.is_whole
        elif isinstance(value, List | Dict):
            self._open(value)
        else:
            self._bind(target, self._compute(statement, value, statement.op, added))

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._names.pop(target.id, None)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            value = self._value(target)
            if isinstance(value, Node) and value.tag.kind is TagKind.REF and is_of_base(target):
                self.changed[value.text] = True
                return
            holder, key = self._own_value(target.value), self._subscript(target)
            if isinstance(holder, Dict) and not holder.merges and key in holder.entries:
                del holder.entries[key]
            elif holder is not None:
                self._open(holder)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.Import):
            for one in statement.names:
                name = one.asname or one.name.partition(".")[0]
                self._others[name] = one.name if one.asname else name
            return
        if statement.level:
            self.is_lazy = True
        prefix = "." * statement.level + (f"{statement.module}." if statement.module else "")
        for one in statement.names:
            if one.name == "*":
                self.is_whole = False
                self._has_star = True
            else:
                self._names.pop(one.asname or one.name, None)
                self._others[one.asname or one.name] = f"{prefix}{one.name}"

    def _inherit(self, statement: ast.ImportFrom) -> None:
        """Inherit what an import in `with read_base():` names."""
        names = None
        if all(one.name != "*" for one in statement.names):
            names = tuple((one.asname or one.name, one.name) for one in statement.names)
            self._inherited.update(names)
        else:
            self._has_star = True
        self.bases.append(Base(statement.module or "", self._span(statement), True, statement.level, names))

    def _blur(self, statement: ast.stmt) -> None:
        """A statement whose outcome is not followed: what it may bind or change is unknown."""
        for part in ast.walk(statement):
            if isinstance(part, ast.Name):
                if isinstance(part.ctx, ast.Store):
                    span = self._span(part)
                    self._names[part.id] = (self._key(part.id, span), self._unknown(span))
                elif part.id in self._names:
                    self._open_all(self._names[part.id][1])
                elif part.id in self._inherited or (self._has_star and part.id not in self._others):
                    span = self._span(part)
                    self._names[part.id] = (self._key(part.id, span), self._unknown(span))
            elif isinstance(part, ast.FunctionDef | ast.ClassDef):
                self._others[part.name] = ""
            elif isinstance(part, ast.Import | ast.ImportFrom):
                self._import(part)
