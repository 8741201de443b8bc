"""The values that expressions of a file have while it runs: each is noted as it is computed, and passed on as it is."""

from __future__ import annotations

import ast
import builtins
import os
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType

    from .places import Spot

_NOTE = "__modellint_note__"


class Observed:
    """Notes the values of the expressions at some places, in files that are imported after `install`."""

    def __init__(self, spots: Iterable[Spot]) -> None:
        self._spots = list(dict.fromkeys(spots))
        self._values: dict[Spot, list[Any]] = {spot: [] for spot in self._spots}

    def install(self) -> None:
        """Let each import of a file with such a place compile its source with notes in it."""
        if not self._spots:
            return
        original: Any = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
            name = str(loader.get_filename(fullname))
            path = os.path.realpath(name)
            is_here = any(spot.path == path for spot in self._spots)
            code: CodeType | None = self._compiled(path, name) if is_here else original(loader, fullname)
            return code

        loader: Any = SourceFileLoader
        loader.get_code = get_code
        setattr(builtins, _NOTE, self._note)

    def forget(self) -> None:
        """Begin a new run."""
        for values in self._values.values():
            values.clear()

    def values(self, spot: Spot) -> list[Any]:
        """What the expression was since the last `forget`, in order."""
        return self._values.get(spot, [])

    def _compiled(self, path: str, name: str) -> CodeType:
        with open(path, "rb") as stream:
            text = stream.read()
        tree = ast.parse(text)
        marked = _Marked(text.splitlines(), {i: spot for i, spot in enumerate(self._spots) if spot.path == path})
        code: CodeType = compile(marked.visit(tree), name, "exec", dont_inherit=True)
        return code

    def _note(self, number: int, value: Any) -> Any:
        self._values[self._spots[number]].append(value)
        return value


class _Marked(ast.NodeTransformer):
    """Wraps the expressions at some places into a call that notes their value.

    What an augmented assignment such as `width -= 1` makes of a name is noted after it.
    """

    def __init__(self, lines: list[bytes], spots: dict[int, Spot]) -> None:
        self._lines = lines
        self._spots = spots

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            number = self._number(node)
            self.generic_visit(node)
            if number is None:
                return node
            note = ast.Expr(_noting(number, ast.Name(node.target.id, ast.Load())))
            return [node, ast.fix_missing_locations(ast.copy_location(note, node))]
        if not isinstance(node, ast.expr) or not isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load):
            return self.generic_visit(node)
        number = self._number(node)
        self.generic_visit(node)
        if number is None:
            return node
        return ast.fix_missing_locations(ast.copy_location(_noting(number, node), node))

    def _number(self, node: ast.expr | ast.stmt) -> int | None:
        """The number of the place where a node stands; None if it stands at none of them."""
        place = (node.lineno, self._column(node.lineno, node.col_offset))
        end = (node.end_lineno, self._column(node.end_lineno or 0, node.end_col_offset or 0))
        for number, spot in self._spots.items():
            if place == (spot.line, spot.column) and end == (spot.end_line, spot.end_column):
                return number
        return None

    def _column(self, line: int, offset: int) -> int:
        """The column that a byte offset stands for: columns start at 1 and count characters."""
        return len(self._lines[line - 1][:offset].decode("utf-8", "replace")) + 1


def _noting(number: int, node: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(_NOTE, ast.Load()), [ast.Constant(number), node], [])
