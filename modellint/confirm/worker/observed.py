"""Instrumentation of a file: notes the values of some expressions, and whether others begin and raise an error.

Notes are calls compiled into the code itself: lines, which are all that Python 3.10 knows of running code, do not
tell a call from the calls that stand in it.
"""

from __future__ import annotations

import ast
import builtins
import os
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, TracebackType

    from .places import Spot

#: The names in the code of `_note`, `_begin` and `_watch`.
_NOTE, _BEGIN, _WATCH = "__modellint_note__", "__modellint_begin__", "__modellint_watch__"
_TORCH, _HERE = (os.path.dirname(os.path.realpath(path)) + os.sep for path in (torch.__file__, __file__))


class Observed:
    """Notes the values of the expressions at some places, in files that are imported after `install`.

    Of others, `acts`, it notes whether their operands were evaluated, so that the call, the reading of an attribute or
    the unpacking itself begins.
    """

    def __init__(self, spots: Iterable[Spot], acts: Iterable[Spot] = ()) -> None:
        self._values: dict[Spot, list[Any]] = {spot: [] for spot in spots}
        #: The acts; those in imported files; those that have begun; and the errors that calls raised.
        self._acts = frozenset(acts)
        self._marked: set[Spot] = set()
        self._begun: set[Spot] = set()
        self._raised: dict[Spot, list[Exception]] = {}
        self._spots = list(dict.fromkeys((*self._values, *self._acts)))

    def install(self) -> None:
        """Let each import of a file with such a place compile its source with notes in it."""
        if not self._spots:
            return
        original: Any = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
            name = str(loader.get_filename(fullname))
            path = os.path.realpath(name)
            is_here = any(spot.path == path for spot in self._spots)
            code: CodeType | None = self._compile(path, name) if is_here else original(loader, fullname)
            return code

        loader: Any = SourceFileLoader
        loader.get_code = get_code
        for name, function in ((_NOTE, self._note), (_BEGIN, self._begin), (_WATCH, self._watch)):
            setattr(builtins, name, function)

    def forget(self) -> None:
        """Begin a new run."""
        for values in self._values.values():
            values.clear()
        self._begun.clear()
        self._raised.clear()

    def values(self, spot: Spot) -> list[Any]:
        """The values of the expression since the last `forget`, in order."""
        return self._values.get(spot, [])

    def is_act(self, spot: Spot) -> bool:
        """True if the act at a place was found in an imported file."""
        return spot in self._marked

    def has_begun(self, spot: Spot) -> bool:
        """True if the act at a place has begun since the last `forget`."""
        return spot in self._begun

    def has_raised(self, spot: Spot, error: Exception) -> bool:
        """True if an error may be the act's own: it began, and its callee's code did not raise the error.

        Of a call it is one that Python or torch raises, and not the code that is called.
        """
        return spot in self._begun and (spot not in self._raised or any(one is error for one in self._raised[spot]))

    def _compile(self, path: str, name: str) -> CodeType:
        with open(path, "rb") as stream:
            text = stream.read()
        tree = ast.parse(text)
        here = {number: spot for number, spot in enumerate(self._spots) if spot.path == path}
        acts = {number: spot for number, spot in here.items() if spot in self._acts}
        marked = _Marked(text.splitlines(), {i: spot for i, spot in here.items() if spot in self._values}, acts)
        code: CodeType = compile(marked.visit(tree), name, "exec", dont_inherit=True)
        self._marked |= {here[number] for number in marked.begun}
        return code

    def _note(self, number: int, value: Any) -> Any:
        self._values[self._spots[number]].append(value)
        return value

    def _begin(self, number: int, value: Any) -> Any:
        self._begun.add(self._spots[number])
        return value

    def _watch(self, number: int, callee: Any) -> Callable[..., Any]:
        """The callee at a place, wrapped to note the call and errors that Python or torch raises in it."""
        spot = self._spots[number]

        def watched(*args: Any, **kwargs: Any) -> Any:
            self._begun.add(spot)
            raised = self._raised.setdefault(spot, [])
            try:
                return callee(*args, **kwargs)
            except Exception as error:
                if error.__traceback__ is not None and _came_through_torch(error.__traceback__.tb_next):
                    raised.append(error)
                raise

        return watched


def is_torchs(code: CodeType) -> bool:
    """True if code is torch's own, or the worker's."""
    return os.path.realpath(code.co_filename).startswith((_TORCH, _HERE))


def _came_through_torch(step: TracebackType | None) -> bool:
    """True if all frames from a traceback entry on are torch's."""
    while step is not None and is_torchs(step.tb_frame.f_code):
        step = step.tb_next
    return step is None


class _Marked(ast.NodeTransformer):
    """Wraps the expressions at some places in a call that notes their value, and the operands of `acts`.

    What an augmented assignment such as `width -= 1` makes of a name is noted after it.
    """

    def __init__(self, lines: list[bytes], spots: dict[int, Spot], acts: dict[int, Spot]) -> None:
        self._lines = lines
        self._spots = spots
        self._acts = acts
        #: The numbers of the acts that were found.
        self.begun: set[int] = set()

    def visit(self, node: ast.AST) -> Any:
        act = self._act(node)
        found = self._with_notes(node)
        if act is not None:
            self.begun.add(act[0])
            self._mark(node, *act)
        return found

    def _act(self, node: ast.AST) -> tuple[int, str] | None:
        """The number of the act that a node is, and the field of its first operand; None for other nodes."""
        place: ast.expr | None
        if isinstance(node, ast.Call):
            # `super()` looks at who calls it.
            field, place = "func", None if isinstance(node.func, ast.Name) and node.func.id == "super" else node
        elif isinstance(node, ast.Attribute):
            field, place = "value", node
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            field, place = "value", node.targets[0]
        else:
            return None
        number = None if place is None else self._number(place, self._acts)
        return None if number is None else (number, field)

    @staticmethod
    def _mark(node: ast.AST, number: int, field: str) -> None:
        """Wrap the operand of an act, so that the act begins only once it is noted."""
        first: ast.expr = getattr(node, field)
        name = _WATCH if field == "func" else _BEGIN
        setattr(node, field, ast.fix_missing_locations(ast.copy_location(_noting(number, first, name), first)))

    def _with_notes(self, node: ast.AST) -> Any:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            number = self._number(node, self._spots)
            self.generic_visit(node)
            if number is None:
                return node
            note = ast.Expr(_noting(number, ast.Name(node.target.id, ast.Load())))
            return [node, ast.fix_missing_locations(ast.copy_location(note, node))]
        if not isinstance(node, ast.expr) or not isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load):
            return self.generic_visit(node)
        number = self._number(node, self._spots)
        self.generic_visit(node)
        if number is None:
            return node
        return ast.fix_missing_locations(ast.copy_location(_noting(number, node), node))

    def _number(self, node: ast.expr | ast.stmt, spots: dict[int, Spot]) -> int | None:
        """The number of the place of a node; None if it is at none of them."""
        place = (node.lineno, self._column(node.lineno, node.col_offset))
        end = (node.end_lineno, self._column(node.end_lineno or 0, node.end_col_offset or 0))
        for number, spot in spots.items():
            if place == (spot.line, spot.column) and end == (spot.end_line, spot.end_column):
                return number
        return None

    def _column(self, line: int, offset: int) -> int:
        """The column of a byte offset: columns start at 1 and count characters."""
        return len(self._lines[line - 1][:offset].decode("utf-8", "replace")) + 1


def _noting(number: int, node: ast.expr, name: str = _NOTE) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(number), node], [])
