"""Examples of a class in use: the arguments of its constructor and of its first call.

Examples are `if __name__ == "__main__":`, functions of the file without parameters, and docstrings. Only statements
that the arguments depend on are run.
"""

from __future__ import annotations

import ast
import doctest
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .sources import Source

#: Positional arguments, and those by name.
Arguments = tuple[list[Any], dict[str, Any]]
_KEPT = "__kept__"
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom)


@dataclass
class Example:
    """One use of a class: the arguments of its constructor, and those of the first call."""

    made_with: Arguments
    called_with: Arguments | None = None
    #: The names that the object goes by.
    names: set[str] = field(default_factory=set)


def examples_of(source: Source, cls: type) -> Iterator[Example]:
    """The uses of a class in examples of its file and of its documentation."""
    for body in _bodies(source.tree, cls):
        if any(isinstance(node, ast.Name) and node.id == cls.__name__ for part in body for node in ast.walk(part)):
            found = _example_in(body, cls.__name__, dict(vars(source.module)))
            if found is not None:
                yield found


def _bodies(tree: ast.Module, cls: type) -> Iterator[list[ast.stmt]]:
    for node in tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            yield node.body
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not (node.args.args or node.args.kwonlyargs or node.args.posonlyargs):
            yield node.body
    for text in (cls.__doc__, getattr(getattr(cls, "forward", None), "__doc__", None)):
        yield _docstring_code(text or "")


def _docstring_code(text: str) -> list[ast.stmt]:
    """The code of the examples in a docstring; none if they cannot be read."""
    try:
        found = doctest.DocTestParser().get_examples(inspect.cleandoc(text))
        return ast.parse("".join(example.source for example in found)).body
    except (ValueError, SyntaxError):
        return []


def _example_in(body: list[ast.stmt], name: str, names: dict[str, Any]) -> Example | None:
    """The first use of the class `name` in a body, whose globals are `names`; None if it is not used."""
    found: Example | None = None
    for number, statement in enumerate(body):
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        if found is not None and (call := next((call for call in calls if _calls(call.func, found.names)), None)):
            found.called_with = _evaluate_arguments(call, body[:number], names)
            return found
        made = next((call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name), None)
        if made is not None:
            arguments = _evaluate_arguments(made, body[:number], names)
            if arguments is None:
                return found
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            found = Example(arguments, names={target.id for target in targets if isinstance(target, ast.Name)})
    return found


def _calls(function: ast.expr, names: set[str]) -> bool:
    """True if a call's function is an object with one of these names, or its `forward`."""
    if isinstance(function, ast.Attribute) and function.attr == "forward":
        function = function.value
    return isinstance(function, ast.Name) and function.id in names


def _evaluate_arguments(
    call: ast.Call, before: list[ast.stmt], names: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call, evaluated after only those statements before it that they need; None if that fails."""
    kept: list[Arguments] = []
    names = {**names, _KEPT: lambda *args, **kwargs: kept.append((list(args), kwargs))}
    call = ast.Call(ast.Name(_KEPT, ast.Load()), call.args, call.keywords)
    needed, statements = _read(call), list[ast.stmt]()
    for statement in reversed(before):
        if isinstance(statement, _SIMPLE) and _bound_names(statement) & needed:
            statements.insert(0, statement)
            needed |= _read(statement)
    try:
        for statement in (*statements, ast.Expr(call)):
            if not all(_is_plain(node, names) for node in ast.walk(statement)):
                return None
            exec(compile(ast.fix_missing_locations(ast.Module([statement], [])), "<example>", "exec"), names)
    except (Exception, SystemExit):
        return None
    return kept[0]


def _read(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _bound_names(statement: ast.stmt) -> set[str]:
    """The names that a simple statement binds."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    stored = [part for part in ast.walk(statement) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    return {part.id for part in stored}


def _is_plain(node: ast.AST, names: dict[str, Any]) -> bool:
    """True unless the node calls a method on a class: those load pretrained weights."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return True
    return not (isinstance(node.func.value, ast.Name) and isinstance(names.get(node.func.value.id), type))
