"""A move that comes too late, put before the optimizer: its result is made a tensor that can be trained."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint import edits
from modellint.finding import Applicability, Edit, Fix, Place, Span

if TYPE_CHECKING:
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value

    from .moved import Moved

#: Calls that make the moved tensor a new leaf, which an optimizer takes.
_AS_LEAF = ".detach().requires_grad_()"


def moved_sooner(found: Moved) -> Fix | None:
    """The move's statement before that of the optimizer; None where something between them depends on either."""
    module = found.move.function.module
    steps = (found.made, found.optimizer, found.move)
    if any(step.function is not found.move.function for step in steps):
        return None
    for block in edits.blocks(module):
        made, optimizer, move = (_statement(step.value, block) for step in steps)
        if made is not None and optimizer is not None and move is not None and made < optimizer < move:
            return _move_up(block[made : move + 1], optimizer - made, module)
    return None


def _statement(value: Value, block: list[ast.stmt]) -> int | None:
    """The number of the simple statement of a block that a value is written in."""
    for number, statement in enumerate(block):
        if isinstance(statement, ast.Assign) and statement.lineno <= value.line <= (statement.end_lineno or 0):
            return number
    return None


def _move_up(block: list[ast.stmt], optimizer: int, module: ModuleFacts) -> Fix | None:
    """Move the last of some statements before the one at index `optimizer`."""
    move, before = block[-1], block[optimizer]
    names = _names(move)
    if not isinstance(move, ast.Assign) or len(move.targets) != 1 or not isinstance(move.value, ast.Call):
        return None
    name = ast.unparse(move.targets[0])
    called = move.value.func
    if not isinstance(called, ast.Attribute) or ast.unparse(called.value) != name or name not in _names(before):
        return None
    between = [*block[1:optimizer], *block[optimizer + 1 : -1]]
    if any(name in _names(one) for one in between) or any(_stored_names(one) & names for one in block[optimizer:-1]):
        return None
    whole = Place(module.path, module.source.span_of_bytes(*_start(move), *_end(move)))
    module.as_written(before.lineno, whole.span.end_line)
    line, text = module.source.lines[whole.span.line - 1], edits.text_at(whole, module)
    rest = module.source.lines[whole.span.end_line - 1][whole.span.end_column - 1 :]
    if whole.span.end_line == len(module.source.lines):
        return None
    if line[: whole.span.column - 1].strip() or (rest.strip() and not rest.strip().startswith("#")):
        return None
    put = _start(before)
    place = module.source.span_of_bytes(*put, *put)
    indent = module.source.lines[before.lineno - 1][: place.column - 1]
    if indent.strip():
        return None
    gone = Span(whole.span.line, 1, whole.span.end_line + 1, 1)
    changes = (
        Edit(Place(module.path, place), f"{text}{_AS_LEAF}{rest}{indent}"),
        Edit(Place(module.path, gone), ""),
    )
    return Fix("Move it before the optimizer is made", Applicability.SAFE, changes)


def _start(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.col_offset


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or 0, statement.end_col_offset or 0


def _names(statement: ast.stmt) -> set[str]:
    """The names, and attributes of names, in a statement."""
    return {ast.unparse(node) for node in ast.walk(statement) if isinstance(node, ast.Name | ast.Attribute)}


def _stored_names(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement stores."""
    return {
        ast.unparse(node)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
