"""Imports of modules that torch does not have: `from torch._six import container_abcs`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from modellint.flow import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts

_IMPORT = re.compile(r"\b(?:from|import)\b.*")
_NAME = re.compile(r"\btorch\s*\.\s*(\w+)")
_NO_CODE = (SyntaxError, RecursionError, MemoryError, ValueError)


def missing_modules(module: ModuleFacts) -> Iterator[tuple[str, ast.stmt]]:
    """The full names of modules of torch that a file imports and that are not there, each with the statement.

    Imports under a condition, or whose error a handler may catch, are left out: they may be for other releases.
    """
    names = {name for line in _IMPORT.findall(module.text) for name in _NAME.findall(line)}
    missing = {name for name in names if not queries.has_module(name)}
    if not missing:
        return
    try:
        tree = ast.parse(module.source.text)
    except _NO_CODE:
        return
    for name, statement in _certain_imports(tree.body):
        if name.split(".")[1] in missing:
            yield ".".join(name.split(".")[:2]), statement


def _certain_imports(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """The modules of torch that a block imports if it runs, whatever its conditions are, each with the statement."""
    for statement in body:
        yield from ((name, statement) for name in _imported(statement))
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.With | ast.For):
            yield from _certain_imports(statement.body)
        elif isinstance(statement, ast.Try) and not statement.handlers:
            yield from _certain_imports([*statement.body, *statement.finalbody])
        elif isinstance(statement, ast.If):
            others = {name for name, _ in _certain_imports(statement.orelse)}
            yield from (found for found in _certain_imports(statement.body) if found[0] in others)


def _imported(statement: ast.stmt) -> list[str]:
    """The names of the modules of torch that a statement imports."""
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        names = [statement.module or ""]
    else:
        return []
    return [name for name in names if name.startswith("torch.")]
