"""The expressions of a body as they are written, each with its value in the body's value graph.

The graph itself knows no variables: `x` in `f(x)` is the value that was assigned to it, in another line. Whoever speaks
about a line of code asks here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint.frontends.flow import Lowering
from modellint.frontends.python import lower
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.frontends.expressions import FunctionNode
    from modellint.graph.python import Function
    from modellint.graph.value import Nested, PathCondition


@dataclass(frozen=True, eq=False, slots=True)
class Written:
    """An expression at a place of a file, and the value that it has there.

    `end` is the line and offset behind it, and `annotated_end` those behind the annotation of a variable. `is_target`:
    something is assigned to it. `is_used`: it is an argument or the result of a call, a subscript or its result, or
    what a function returns. `is_returned`: a function returns it, alone or in a tuple. `guard` is its path condition;
    `inner` the nested function that it stands in, if that has parameters.
    """

    text: str
    line: int
    offset: int
    end: tuple[int, int]
    annotated_end: tuple[int, int] | None
    value: Value
    guard: PathCondition | None
    inner: Nested | None
    is_target: bool
    is_used: bool
    is_returned: bool


def written_expressions(function: Function) -> list[Written]:
    """The expressions of a body, in order. Their values belong to the flow that the function has from now on."""
    lowering, tree = lower(function, _Recording)
    assert isinstance(lowering, _Recording)
    function.__dict__["flow"] = lowering.flow
    module = function.module
    module.lowered.append(function)
    nodes = list(ast.walk(tree))
    used = {id(part) for node in nodes for part in _parts_of_interest(node) if not _is_literal(part)}
    returned = {id(part) for node in nodes if isinstance(node, ast.Return) for part in _parts_of_interest(node)}
    annotations = {id(node.target): node.annotation for node in nodes if isinstance(node, ast.AnnAssign)}
    parameters = ((one, lowering.first.get(one.arg), None, None, True) for one in _parameters(tree))
    found: list[Written] = []
    for node, value, guard, inner, is_target in (*parameters, *lowering.found):
        if value is None:
            continue
        place = Value(Op.UNKNOWN, (), None, node)
        if isinstance(node, ast.arg):
            text, annotation = node.arg, node.annotation
            end = place.line, place.offset + len(text.encode())
        else:
            text, annotation = module.text_of(place), annotations.get(id(node))
            end = place.end_line, place.end_offset
        found.append(
            Written(
                text,
                place.line,
                place.offset,
                end,
                None if annotation is None else _end_of(annotation),
                value,
                guard,
                inner,
                is_target,
                id(node) in used,
                id(node) in returned,
            )
        )
    return sorted(found, key=lambda one: (one.line, one.offset))


def _end_of(node: ast.expr) -> tuple[int, int]:
    place = Value(Op.UNKNOWN, (), None, node)
    return place.end_line, place.end_offset


class _Recording(Lowering):
    """Lowers a body, and records the value of each expression."""

    def __init__(self, receiver: str | None, *, is_module: bool = False) -> None:
        super().__init__(receiver, is_module=is_module)
        self.found: list[tuple[ast.expr | ast.arg, Value, PathCondition | None, Nested | None, bool]] = []
        #: The values of the parameters.
        self.first: dict[str, Value] = {}
        #: The functions with parameters that are being lowered inside of this one, and if expressions are recorded.
        self._inside: list[Nested] = []
        self._is_silent = False

    def block(self, body: Iterable[ast.stmt]) -> bool:
        self.first = self.first or dict(self.names)
        return super().block(body)

    def expression(self, node: ast.expr) -> Value:
        value = super().expression(node)
        if not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            self._record(node, value, is_target=False)
        return value

    def assign(self, target: ast.expr, value: Value) -> None:
        super().assign(target, value)
        if not isinstance(target, ast.Tuple | ast.List | ast.Starred):
            self._record(target, value, is_target=True)

    def again(self, node: ast.expr) -> Value:
        outer, self._is_silent = self._is_silent, True
        value = super().again(node)
        self._is_silent = outer
        return value

    def lower_nested(
        self, node: ast.Lambda | FunctionNode, arguments: ast.arguments, lower: Callable[[], tuple[Value, ...]]
    ) -> Value:
        def lower_inside() -> tuple[Value, ...]:
            function = self.inner[-1]
            if function.parameters:
                self._inside.append(function)
            for parameter in _parameters(node):
                self._record(parameter, function.parameters[parameter.arg], is_target=True)
            returns = lower()
            if function.parameters:
                self._inside.pop()
            return returns

        return super().lower_nested(node, arguments, lower_inside)

    def _record(self, node: ast.expr | ast.arg, value: Value, *, is_target: bool) -> None:
        if not self._is_silent:
            inner = self._inside[-1] if self._inside else None
            self.found.append((node, value, self.guard, inner, is_target))


def _parameters(node: ast.AST) -> Iterator[ast.arg]:
    """The parameters of a function, in order."""
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        yield from (*arguments.posonlyargs, *arguments.args)
        yield from () if arguments.vararg is None else (arguments.vararg,)
        yield from arguments.kwonlyargs
        yield from () if arguments.kwarg is None else (arguments.kwarg,)


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and _is_literal(node.operand))


def _parts_of_interest(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a node uses, and itself, where that is of interest in its line."""
    if isinstance(node, ast.Call):
        given = (part.value if isinstance(part, ast.Starred) else part for part in node.args)
        yield from (node, *given, *(keyword.value for keyword in node.keywords))
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node
        yield from () if isinstance(node.slice, ast.Slice | ast.Tuple) else (node.slice,)
    elif isinstance(node, ast.Return | ast.Yield) and node.value is not None:
        yield from node.value.elts if isinstance(node.value, ast.Tuple) else (node.value,)
