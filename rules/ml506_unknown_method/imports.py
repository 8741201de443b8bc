"""Imports of modules that torch does not have: `from torch._six import container_abcs`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from modellint.flow import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+torch[ \t]*\.[ \t]*(\w+)", re.MULTILINE)
_NO_CODE = (SyntaxError, RecursionError, MemoryError, ValueError)


def missing_modules(module: ModuleFacts) -> Iterator[tuple[str, ast.stmt]]:
    """The full names of modules of torch that a file imports and that are not there, each with the statement.

    Imports under a condition, or in a `try` statement, are left out: they may be for other releases.
    """
    missing = {name for name in set(_IMPORT.findall(module.text)) if not queries.has_module(name)}
    if not missing:
        return
    try:
        pending: list[ast.stmt] = list(ast.parse(module.text).body)
    except _NO_CODE:
        return
    while pending:
        statement = pending.pop(0)
        for name in _imported(statement):
            if name.split(".")[1] in missing:
                yield ".".join(name.split(".")[:2]), statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.With | ast.For):
            pending += statement.body


def _imported(statement: ast.stmt) -> list[str]:
    """The names of the modules of torch that a statement imports."""
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        names = [statement.module or ""]
    else:
        return []
    return [name for name in names if name.startswith("torch.")]
