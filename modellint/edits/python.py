"""Places inside a Python expression, for edits: the value of a name keeps the place where it was created."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Edit, Fix
from modellint.frontends.syntax import tree_of
from modellint.graph.value import EventKind, Op, walk_all
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value

#: Operations that are written where they are used, so that they can be replaced there.
_WRITTEN = frozenset((Op.CONST, Op.GLOBAL, Op.ATTR, Op.UNARY))
#: The most lines in which the end of a statement is looked for.
_MAX_LINES = 80


def written(value: Value, module: ModuleFacts) -> ast.expr | None:
    """The syntax of an expression, from its own text; positions are relative to it."""
    try:
        return tree_of(f"({module.source.text_of(module.span(value))})", "eval").body  # comments in it tell nothing
    except (SyntaxError, ValueError, RecursionError):
        return None


def place_in(value: Value, node: ast.expr, module: ModuleFacts) -> Place:
    """The place in the file of a part of the expression that `written` gave for `value`."""
    start, end = (
        (value.line + line - 1, offset + value.offset - 1 if line == 1 else offset)
        for line, offset in ((node.lineno, node.col_offset), (node.end_lineno or 1, node.end_col_offset or 0))
    )
    return Place(module.path, module.source.span_of_bytes(*start, *end))


def assigned(target: Value, module: ModuleFacts) -> tuple[ast.expr, Place] | None:
    """The syntax of the value that an assignment to one attribute stores, and its place.

    None where a statement stores more than one value, or to more than one place.
    """
    lines = module.source.lines[target.line - 1 : target.line - 1 + _MAX_LINES]
    if not lines:
        return None
    column = module.span(target).column - 1
    before, lines[0] = lines[0][:column], lines[0][column:]
    # Most lines are no statement without the next ones, which is no reason to try newer grammars on each.
    statement = _first_statement(lines, ast.parse) or _first_statement(lines, tree_of)
    count = len(lines) if statement is None else statement.end_lineno or 1
    module.as_written(target.line, target.line + count - 1)
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    node = getattr(statement, "value", None)
    if len(targets) != 1 or not isinstance(targets[0], ast.Attribute) or not isinstance(node, ast.expr):
        return None
    if before.rstrip().endswith((",", "=")):
        return None
    return node, within(target, node, module)


def blocks(module: ModuleFacts) -> Iterator[list[ast.stmt]]:
    """The statement lists of a file: its body, and those of its blocks."""
    for node in ast.walk(tree_of(module.source.text)):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _first_statement(lines: list[str], parse: Callable[[str], ast.Module]) -> ast.stmt | None:
    """The statement that begins with the first line, parsed from as few lines as it takes; None if there is none."""
    text = ""
    for line in lines:
        text += line
        try:
            body = parse(text).body
        except (SyntaxError, ValueError, RecursionError):
            continue
        return body[0] if body else None
    return None


def within(start: Value, node: ast.expr, module: ModuleFacts) -> Place:
    """The place of a node that was parsed from the text at the start of a value."""
    places = (
        (start.line + line - 1, offset + start.offset if line == 1 else offset)
        for line, offset in ((node.lineno, node.col_offset), (node.end_lineno or 1, node.end_col_offset or 0))
    )
    return Place(module.path, module.source.span_of_bytes(*next(places), *next(places)))


def is_atom(text: str) -> bool:
    """True if an expression needs no parentheses to be an operand."""
    try:
        node = tree_of(text.strip(), "eval").body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.List | ast.Tuple)


def argument_place(call: Value, position: int, name: str, module: ModuleFacts) -> Place | None:
    """The place of an argument of a call; None if it is not written."""
    node = written(call, module)
    if not isinstance(node, ast.Call):
        return None
    found = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
    if found is None and position < len(node.args):
        found = node.args[position]
    return None if found is None or isinstance(found, ast.Starred) else place_in(call, found, module)


def constant_places(value: Value, function: Function, number: int | None) -> tuple[Place, Place | None]:
    """The place where a body uses the constant `number`, and the place where it is written and can be changed, or None.

    A parameter is used as the argument of a call; where no caller gives another number, its default is written.
    """
    module = function.module
    if value.op is not Op.PARAM and value.op is not Op.INNER:
        place = module.place(value)
        return place, place if value.op in _WRITTEN else None
    default = _default(value, function)
    is_written = default is not None and default.op is Op.CONST and default.data == number
    return _use(value, function), module.place(default) if default is not None and is_written else None


def _use(parameter: Value, function: Function) -> Place:
    """The place where a parameter is first passed to a call, stored, or listed."""
    module = function.module
    calls = [event.value for event in function.flow.of(EventKind.CALL)]
    for call in calls:
        at = next((at for at, arg in enumerate(call.args[1:]) if arg is parameter), None)
        if at is not None:
            names, count = call.data, len(call.positional)
            return argument_place(call, at, "" if at < count else names[at - count] or "", module) or module.place(call)
    around = (call for call in calls if any(part is parameter for arg in call.args[1:] for part in arg.walk()))
    stored = (event.target for event in function.flow.of(EventKind.STORE) if event.value is parameter)
    listed = (part for part in walk_all(e.value for e in function.flow.events) if part.op is Op.LIST)
    holding = (part for part in listed if any(arg is parameter for arg in part.args))
    return module.place(next(around, None) or next(stored, None) or next(holding, None) or parameter)


def _default(parameter: Value, function: Function) -> Value | None:
    """The default of a parameter of a function, or of a function inside it; None if it has none."""
    if parameter.op is Op.PARAM:
        own = function.parameter(str(parameter.data))
        return None if own is None else own.default
    for nested in function.flow.nested:
        for name, value in nested.parameters.items():
            if value is parameter:
                return next((one.default for one in nested.head if one.name == name), None)
    return None


def swapped(call: Value, first: str, second: str, module: ModuleFacts) -> Fix | None:
    """The first two arguments of a call, `first` and `second` by name, in each other's place."""
    return exchanged(call, (0, first), (1, second), module)


def exchanged(call: Value, first: tuple[int, str], second: tuple[int, str], module: ModuleFacts) -> Fix | None:
    """Two arguments of a call, by position and name, in each other's place."""
    one, other = (argument_place(call, position, name, module) for position, name in (first, second))
    if one is None or other is None:
        return None
    edits = (Edit(one, text_at(other, module)), Edit(other, text_at(one, module)))
    return Fix("Swap the arguments", Applicability.UNSAFE, edits)


def clamped(call: Value, limit: str, module: ModuleFacts) -> Fix | None:
    """The only argument of a call, a tensor by the look of it, limited to `limit`."""
    node = written(call, module)
    if not isinstance(node, ast.Call) or len(node.args) + len(node.keywords) != 1:
        return None
    argument = node.args[0] if node.args else node.keywords[0].value
    if not isinstance(argument, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return None
    end = place_in(call, argument, module).span
    spot = Place(module.path, Span(end.end_line, end.end_column, end.end_line, end.end_column))
    return Fix(f"Clamp the ids to {limit}", Applicability.UNSAFE, (Edit(spot, f".clamp(max={limit})"),))


def text_at(place: Place, module: ModuleFacts) -> str:
    """The text of a place, as it is written."""
    module.as_written(place.span.line, place.span.end_line)
    return module.source.text_of(place.span)


def nn_name(module: ModuleFacts, name: str) -> str | None:
    """The expression by which a file can write `torch.nn.<name>` with its imports; None if it has none."""
    for local, target in module.imports.items():
        if target == f"torch.nn.{name}":
            return local
    for local, target in module.imports.items():
        if target == "torch.nn":
            return f"{local}.{name}"
    return next((f"{local}.nn.{name}" for local, target in module.imports.items() if target == "torch"), None)
