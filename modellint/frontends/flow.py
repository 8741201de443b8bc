"""Function bodies to value graphs: every local name replaced by the value it holds, events in order.

The lowering follows control flow as far as it decides what a name holds. Branches that meet give a CHOICE, loops a
CHOICE that leads back to itself, and each event carries the conditions under which it happens, those left behind by
an early `return`, `raise`, `continue`, `break` or `assert` included.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modellint.frontends.expressions import ARRANGERS, BINARY, MUTATORS, Expressions, FunctionNode
from modellint.graph.value import EventKind, InPlace, Loop, Op, PathCondition, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: `try` with `except` or, since Python 3.11, with `except*`.
TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))

_IN_PLACE = {operator: InPlace(name) for operator, name in BINARY.items()}
_CALL = Op.CALL  # members of an enumeration are slow to reach by name


def lower_expression(node: ast.expr) -> Value:
    """The value of an expression that stands outside of any function: names are globals."""
    lowering = Expressions(None)
    value = lowering.expression(node)
    for function in lowering.inner:
        function.flow = lowering.flow
    return value


def lower_statements(body: Sequence[ast.stmt], kind: type[Lowering] | None = None) -> Lowering:
    """Lower module-level statements. What they define and import stays global; bodies are not theirs."""
    lowering = (kind or Lowering)(None, is_module=True)
    lowering.block(body)
    return lowering


def lower_function(
    node: FunctionNode, parameters: Sequence[str], receiver: str | None, kind: type[Lowering] | None = None
) -> Lowering:
    """Lower a function body. `receiver` is the parameter that stands for the object: it becomes `self`."""
    lowering = (kind or Lowering)(receiver)
    for name in parameters:
        lowering.names[name] = lowering.value(Op.PARAM, (), "self" if name == receiver else name, node)
    lowering.block(node.body)
    return lowering


class Lowering(Expressions):
    """Lowers the statements of one body."""

    # -- statements --------------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt]) -> bool:
        """Lower statements; True if they always leave the block (return, raise, continue, break)."""
        for node in body:
            handler = _STATEMENTS.get(type(node))
            if handler is not None and handler(self, node):
                return True
        return False

    def branch(self, body: Iterable[ast.stmt], guard: PathCondition | None) -> bool:
        """Lower a block under a condition; conditions that it adds end with it."""
        outer, self.guard = self.guard, guard
        left = self.block(body)
        self.guard = outer
        return left

    def _expr(self, node: ast.Expr) -> bool:
        value = self.expression(node.value)
        if value.op is _CALL and type(node.value) is ast.Call and self.events[-1].value is value:
            self.dropped.append(self.events[-1])
            if _is_arranging(node):
                self.update_in_place(node.value.func, value, ARRANGERS)  # type: ignore[arg-type]
        return False

    def _assign(self, node: ast.Assign) -> bool:
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)
        return False

    def _ann_assign(self, node: ast.AnnAssign) -> bool:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))
        return False

    def _aug_assign(self, node: ast.AugAssign) -> bool:
        old = self.expression(_as_load(node.target))
        value = self.expression(node.value)
        changed = self.compute((old, value), _IN_PLACE[type(node.op)], node)
        if isinstance(node.target, ast.Name):
            self.event(EventKind.AUGMENT, changed)
        self.assign(node.target, changed)
        return False

    def _return(self, node: ast.Return) -> bool:
        value = self.value(Op.CONST, (), None, node) if node.value is None else self.expression(node.value)
        if self.nested_returns is None:
            self.event(EventKind.RETURN, value)
        else:
            self.nested_returns.append(value)
        self.exits += 1
        return True

    def _raise(self, node: ast.Raise) -> bool:
        value = self.expression(node.exc) if node.exc else self.value(Op.UNKNOWN, (), None, node)
        self.event(EventKind.RAISE, value)
        return True

    def _leave(self, node: ast.stmt) -> bool:
        self.is_left = self.is_left or type(node) is ast.Break
        self.exits += 1
        return True

    def _assert(self, node: ast.Assert) -> bool:
        test = self.expression(node.test)
        self.guard = PathCondition(test, True, self.guard, early=True, raised=True)
        return False

    def _delete(self, node: ast.Delete) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names.pop(target.id, None)
            else:
                value = self.expression(_as_load(target))
                self.event(EventKind.DELETE, value, value)
        return False

    def _if(self, node: ast.If) -> bool:
        test = self.expression(node.test)
        before, exits = dict(self.names), self.exits
        body_left = self.branch(node.body, PathCondition(test, True, self.guard))
        body_exits, (after_body, self.names) = self.exits, (self.names, before)
        else_left = self.branch(node.orelse, PathCondition(test, False, self.guard)) if node.orelse else False
        if body_left and else_left:
            return True
        if body_left:
            self.guard = PathCondition(test, False, self.guard, early=True, raised=body_exits == exits)
        elif else_left:
            self.names = after_body
            self.guard = PathCondition(test, True, self.guard, early=True, raised=self.exits == body_exits)
        else:
            self.names = self.meet(after_body, self.names, test, node)
        return False

    def meet(
        self, first: dict[str, Value], second: dict[str, Value], test: Value | None, node: ast.AST
    ) -> dict[str, Value]:
        """The values of names where two paths join."""
        merged = dict(first)
        for name, value in second.items():
            other = first.get(name)
            if other is None:
                merged[name] = value
            elif other is not value:
                choice = self.value(Op.CHOICE, (other, value), test, node)
                choice.target = name
                merged[name] = choice
        return merged

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        iterable = self.expression(node.iter)
        carried = self.open_loop(node)
        item = self.value(Op.ITEM, (iterable,), None, node.target)
        loop = self.turn(((item, iterable),))
        self.loops += 1
        outer, left = self.guard, self.is_left
        self.is_left = False
        self.assign(node.target, item)
        self.branch(node.body, self.guard)
        self.guard = outer
        self.loops -= 1
        self.close_loop(carried)
        loop.last, loop.carried, loop.is_left = len(self.events), tuple(carried.values()), self.is_left
        self.is_left = left
        self.block(node.orelse)
        return False

    def _while(self, node: ast.While) -> bool:
        carried = self.open_loop(node)
        loop, left = self.turn(()), self.is_left
        self.loops += 1
        self.is_left = False
        test = self.expression(node.test)
        forever = test.op is Op.CONST and bool(test.data)
        self.branch(node.body, self.guard if forever else PathCondition(test, True, self.guard))
        self.loops -= 1
        self.close_loop(carried)
        loop.last, loop.carried = len(self.events), tuple(carried.values())
        self.is_left, is_broken = left, self.is_left
        self.block(node.orelse)
        if not forever or is_broken or self.loops or self._may_end(loop):
            return False
        self.event(EventKind.RAISE, self.value(Op.UNKNOWN, (), None, node))
        return True

    def _may_end(self, loop: Loop) -> bool:
        """True if a loop without an end may be left by `return` or a caught error, or yields in each turn."""
        events = self.events[loop.first : loop.last]
        is_given = any(event.kind in (EventKind.RETURN, EventKind.YIELD) for event in events)
        return is_given or self.nested_returns is not None or bool(self.handled or self.contexts)

    def open_loop(self, node: ast.For | ast.AsyncFor | ast.While) -> dict[str, Value]:
        """Make each name that the loop body changes a choice between its value before and after a turn."""
        carried: dict[str, Value] = {}
        for name in _changed_names(node, self.receiver):
            before = self.names.get(name)
            if before is not None:
                choice = self.value(Op.CHOICE, (before,), None, node)
                choice.target = name
                carried[name] = self.names[name] = choice
                self.carried.append(choice)
        return carried

    def close_loop(self, carried: dict[str, Value]) -> None:
        for name, choice in carried.items():
            after = self.names.get(name)
            if after is not None and after is not choice:
                choice.args = (*choice.args, after)
            self.names[name] = choice

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        outer = self.contexts
        for item in node.items:
            context = self.expression(item.context_expr)
            self.contexts = (*self.contexts, context)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, context)
        left = self.block(node.body)
        self.contexts = outer
        return left

    def _try(self, node: ast.Try) -> bool:
        before = dict(self.names)
        unknown = self.value(Op.UNKNOWN, (), "except", node)
        handled = self.handled
        self.handled = (*handled, *_caught_names(node))
        body_left = self.branch(node.body, self.guard)
        self.handled = handled
        body_left = body_left or self.branch(node.orelse, self.guard)
        after = None if body_left else self.names
        for handler in node.handlers:
            self.names = dict(before)
            if handler.name:
                self.names[handler.name] = self.value(Op.UNKNOWN, (), None, handler)
            left = self.branch(handler.body, PathCondition(unknown, True, self.guard))
            if not left:
                after = self.names if after is None else self.meet(after, self.names, None, node)
        self.names = before if after is None else after
        return self.block(node.finalbody) or after is None

    def _match(self, node: ast.Match) -> bool:
        subject = self.expression(node.subject)
        before = self.names
        after: dict[str, Value] | None = None
        for case in node.cases:
            self.names = dict(before)
            test = self.value(Op.UNKNOWN, (subject,), "case", case.pattern)
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    self.names[name] = self.value(Op.UNKNOWN, (subject,), None, case.pattern)
            left = self.branch(case.body, PathCondition(test, True, self.guard))
            if not left:
                after = self.names if after is None else self.meet(after, self.names, None, node)
        self.names = before if after is None else self.meet(after, before, None, node)
        return False

    def _define(self, node: FunctionNode) -> bool:
        if self.is_module:
            self.names.pop(node.name, None)
        else:
            function = self.lower_nested(node, node.args, lambda: self._return_values(node))
            function.target = node.name
            heads = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
            function.data.decorators = tuple(map(self.expression, heads))
            self.names[node.name] = function
        return False

    def _return_values(self, node: FunctionNode) -> tuple[Value, ...]:
        """The return values of a function inside this one, which is lowered under an unknown condition."""
        self.nested_returns = []
        self.guard = PathCondition(self.value(Op.UNKNOWN, (), "nested", node), True, self.guard)
        self.block(node.body)
        return tuple(self.nested_returns)

    def _define_class(self, node: ast.ClassDef) -> bool:
        if self.is_module:
            self.names.pop(node.name, None)
        else:
            self.names[node.name] = self.value(Op.UNKNOWN, (), node.name, node)
        return False

    def _import(self, node: ast.Import | ast.ImportFrom) -> bool:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            full = alias.name if isinstance(node, ast.Import) else f"{node.module or ''}.{alias.name}"
            dotted_name = full if alias.asname or isinstance(node, ast.ImportFrom) else name
            if self.is_module or (isinstance(node, ast.ImportFrom) and node.level):
                self.names.pop(name, None)
                self.imported += () if self.is_module else (name,)
                continue
            self.names[name] = self.value(Op.GLOBAL, (), dotted_name, node)
        return False


def _caught_names(node: ast.Try) -> tuple[str, ...]:
    """The names of the exceptions that a `try` catches; `BaseException` for a bare `except`, or for an unnamed type."""
    types = [
        part
        for handler in node.handlers
        for part in (handler.type.elts if isinstance(handler.type, ast.Tuple) else (handler.type,))
    ]
    return tuple(getattr(part, "attr", getattr(part, "id", "BaseException")) for part in types)


def _as_load(target: ast.expr) -> ast.expr:
    """The same target, as an expression that reads it."""
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


def _changed_names(loop: ast.For | ast.AsyncFor | ast.While, receiver: str | None) -> list[str]:
    """The names, and attributes of the receiver as `self.x`, that a loop assigns or changes in place."""
    changed: dict[str, None] = {}
    pending: list[ast.AST] = [loop]
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:  # type: ignore[attr-defined]
                changed[node.id] = None  # type: ignore[attr-defined]
            continue
        if kind is ast.Constant:
            continue
        if kind is ast.Attribute or kind is ast.Subscript:
            if type(node.ctx) is ast.Store:  # type: ignore[attr-defined]
                _add_root(node, receiver, changed)  # type: ignore[arg-type]
        elif kind is ast.Call and type(node.func) is ast.Attribute:  # type: ignore[attr-defined]
            name = node.func.attr  # type: ignore[attr-defined]
            if name in MUTATORS or (name[-1] == "_" and not name.endswith("__")):
                _add_root(node.func.value, receiver, changed)  # type: ignore[attr-defined]
        elif kind is ast.Expr and _is_arranging(node):  # type: ignore[arg-type]
            _add_root(node.value.func.value, receiver, changed)  # type: ignore[attr-defined]
        pending.extend(ast.iter_child_nodes(node))
    return sorted(changed)


def _is_arranging(statement: ast.Expr) -> bool:
    """True for `xs.sort()`, whose result nothing takes."""
    call = statement.value
    return type(call) is ast.Call and type(call.func) is ast.Attribute and call.func.attr in ARRANGERS


def _add_root(node: ast.expr, receiver: str | None, changed: dict[str, None]) -> None:
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        if node.id != receiver:
            changed[node.id] = None
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver:
        changed[f"self.{node.attr}"] = None


_STATEMENTS: dict[type[ast.stmt], Callable[[Lowering, Any], bool]] = {
    ast.Expr: Lowering._expr,
    ast.Assign: Lowering._assign,
    ast.AnnAssign: Lowering._ann_assign,
    ast.AugAssign: Lowering._aug_assign,
    ast.Return: Lowering._return,
    ast.Raise: Lowering._raise,
    ast.Continue: Lowering._leave,
    ast.Break: Lowering._leave,
    ast.Assert: Lowering._assert,
    ast.Delete: Lowering._delete,
    ast.If: Lowering._if,
    ast.For: Lowering._for,
    ast.AsyncFor: Lowering._for,
    ast.While: Lowering._while,
    ast.With: Lowering._with,
    ast.AsyncWith: Lowering._with,
    **dict.fromkeys(TRY, Lowering._try),
    ast.Match: Lowering._match,
    ast.FunctionDef: Lowering._define,
    ast.AsyncFunctionDef: Lowering._define,
    ast.ClassDef: Lowering._define_class,
    ast.Import: Lowering._import,
    ast.ImportFrom: Lowering._import,
}
