"""Places in source files, found again on the stack of a run."""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType, TracebackType

    from modellint.source import Place


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True)
class Spot:
    """A range in a file: lines and columns start at 1, columns count characters."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, place: Place) -> Spot:
        span = place.span
        return cls(os.path.realpath(place.path), span.line, span.column, span.end_line, span.end_column)

    @property
    def name(self) -> str:
        return f"{os.path.basename(self.path)}:{self.line}"

    def holds(self, code: CodeType, line: int, instruction: int) -> bool:
        """True if an instruction belongs to this expression, or to one inside it that ends where it ends."""
        if not self.line <= line <= self.end_line or os.path.realpath(code.co_filename) != self.path:
            return False
        if sys.version_info < (3, 11):
            return True
        start, end, column, end_column = next(islice(code.co_positions(), instruction // 2, None))
        if start is None or end is None or column is None or end_column is None:
            return True
        inside = (start, column + 1) >= (self.line, self.column)
        return inside and (end, end_column + 1) == (self.end_line, self.end_column)

    def has_line(self, frame: FrameType) -> bool:
        """True if a frame is at one of its lines."""
        inside = self.line <= frame.f_lineno <= self.end_line
        return inside and os.path.realpath(frame.f_code.co_filename) == self.path

    def is_running(self, frame: FrameType | None) -> bool:
        """True if the expression is being evaluated in a frame or in one of its callers."""
        while frame is not None:
            if self.line <= frame.f_lineno <= self.end_line and self.holds(frame.f_code, frame.f_lineno, frame.f_lasti):
                return True
            frame = frame.f_back
        return False

    def raised_on_line(self, error: BaseException) -> bool:
        steps = _steps(error.__traceback__)
        return any(
            self.line <= line <= self.end_line and os.path.realpath(code.co_filename) == self.path
            for code, line, _ in steps
        )


def _steps(traceback: TracebackType | None) -> Iterator[tuple[CodeType, int, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code, traceback.tb_lineno, traceback.tb_lasti
        traceback = traceback.tb_next


def innermost(frame: FrameType | None) -> str:
    """The place of the user's code that is being run, as `file.py:12`."""
    while frame is not None:
        if _is_users(frame.f_code.co_filename):
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def raised_at(error: BaseException) -> str:
    """The innermost place of the user's code that an error was raised at, as `file.py:12`."""
    places = [(code.co_filename, line) for code, line, _ in _steps(error.__traceback__)]
    return next((f"{os.path.basename(path)}:{line}" for path, line in reversed(places) if _is_users(path)), "")


def _is_users(path: str) -> bool:
    return "site-packages" not in path and os.sep + "worker" + os.sep not in path and "<" not in path


def is_written_out(tree: ast.AST, spot: Spot) -> bool:
    """True if the expression at a place is a constant, perhaps with a sign."""
    found = expression(tree, spot)
    return isinstance(found.operand if isinstance(found, ast.UnaryOp) else found, ast.Constant)


def names_in_call(tree: ast.AST, spot: Spot) -> list[str]:
    """The names of the arguments of a call at a place: those that are names or attributes."""
    found = expression(tree, spot)
    if not isinstance(found, ast.Call):
        return []
    given = [*found.args, *(keyword.value for keyword in found.keywords)]
    names = [part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in given]
    return [name for name in names if name]


def expression(tree: ast.AST, spot: Spot) -> ast.expr | None:
    """The expression at a place; None if there is none."""
    place = (spot.line, spot.column, spot.end_line, spot.end_column)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            end_line, end = node.end_lineno or 0, (node.end_col_offset or 0) + 1
            if (node.lineno, node.col_offset + 1, end_line, end) == place:
                return node
    return None


def definitions(tree: ast.AST, name: str) -> list[Definition]:
    """The definitions with a dotted name in a file, by `__qualname__`: more than one where branches define it."""
    wanted, _, rest = name.removeprefix("<locals>.").partition(".")
    found: list[Definition] = []
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, Definition):
            found += definitions(node, name) if isinstance(node, _BLOCKS) else []
        elif node.name == wanted:
            found += definitions(node, rest) if rest else [node]
    return found
