"""Function bodies to value graphs: every local name replaced by the value it holds, events in order.

The lowering follows control flow as far as it decides what a name holds. Branches that meet give a CHOICE, loops a
CHOICE that leads back to itself, and each event carries the conditions under which it happens, those left behind by
an early `return`, `raise`, `continue`, `break` or `assert` included.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modellint.graph.value import Event, EventKind, Flow, InPlace, Loop, Nested, Op, PathCondition, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
#: `try` with `except` or, since Python 3.11, with `except*`.
TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))

# Members of an enumeration are slow to reach by name, and these are made for most nodes.
_CONST, _GLOBAL, _ATTR, _PARAM, _CALL = Op.CONST, Op.GLOBAL, Op.ATTR, Op.PARAM, Op.CALL

#: Methods that change a list, dict or set in place.
_MUTATORS = frozenset(
    ("append", "extend", "insert", "add", "update", "setdefault", "appendleft", "pop", "remove", "clear")
)
_BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_IN_PLACE = {operator: InPlace(name) for operator, name in _BINARY.items()}
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Not: "not", ast.Invert: "~"}
_COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def lower_expression(node: ast.expr) -> Value:
    """The value of an expression that stands outside of any function: names are globals."""
    lowering = _Lowering(None)
    value = lowering.expression(node)
    for function in lowering.inner:
        function.flow = lowering.flow
    return value


def lower_statements(body: Sequence[ast.stmt]) -> Flow:
    """The flow of module-level statements. What they define and import stays global; bodies are not theirs."""
    lowering = _Lowering(None, is_module=True)
    lowering.block(body)
    return lowering.flow


def lower_function(node: FunctionNode, parameters: Sequence[str], receiver: str | None) -> Flow:
    """The flow of a function body. `receiver` is the parameter that stands for the object: it becomes `self`."""
    lowering = _Lowering(receiver)
    for name in parameters:
        lowering.names[name] = lowering.value(Op.PARAM, (), "self" if name == receiver else name, node)
    lowering.block(node.body)
    return lowering.flow


class _Lowering:
    """The state of lowering one body: what each name holds now, and under which condition we are."""

    def __init__(self, receiver: str | None, *, is_module: bool = False) -> None:
        self.receiver = receiver
        self.is_module = is_module
        #: What local names hold; attributes of the receiver under `self.x`.
        self.names: dict[str, Value] = {}
        self.events: list[Event] = []
        self.unpackings: list[Event] = []
        self.reads: list[Event] = []
        self.dropped: list[Event] = []
        self.imported: list[str] = []
        self.guard: PathCondition | None = None
        self.loops = 0
        self.contexts: tuple[Value, ...] = ()
        self.handled: tuple[str, ...] = ()
        #: Return values of the nested function that is being lowered, None outside of one.
        self.nested_returns: list[Value] | None = None
        self.carried: list[Value] = []
        self.turned: list[Loop] = []
        #: The functions inside of this one.
        self.inner: list[Nested] = []
        #: Whether the innermost loop has been left by `break`, and how often a block was left other than by an error.
        self.is_left = False
        self.exits = 0

    @property
    def flow(self) -> Flow:
        return Flow(
            tuple(self.events),
            tuple(self.carried),
            tuple(self.turned),
            tuple(self.inner),
            tuple(self.unpackings),
            tuple(self.reads),
            tuple(self.dropped),
            tuple(self.imported),
        )

    # -- building blocks ---------------------------------------------------------------------------------------

    def value(self, op: Op, args: tuple[Value, ...], data: Any, node: ast.AST) -> Value:
        return Value(op, args, data, node)  # type: ignore[arg-type]

    def event(self, kind: EventKind, value: Value, target: Value | None = None) -> None:
        self.events.append(Event(kind, value, target, self.guard, self.loops, self.contexts, self.handled))

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
        changed = self.value(Op.BIN, (old, value), _IN_PLACE[type(node.op)], node)
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
        """What names hold where two paths join."""
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
        """Whether `return`, or an error that is caught, leaves a loop without an end, or each turn gives something."""
        events = self.events[loop.first : loop.last]
        is_given = any(event.kind in (EventKind.RETURN, EventKind.YIELD) for event in events)
        return is_given or self.nested_returns is not None or bool(self.handled or self.contexts)

    def turn(self, turns: tuple[tuple[Value, Value], ...]) -> Loop:
        """Note that a loop begins here."""
        loop = Loop(len(self.events), len(self.events), turns)
        self.turned.append(loop)
        return loop

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
        self.handled = (*handled, *_caught(node))
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
            self.names[node.name] = self.nested(node, node.args, node.body)
        return False

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

    # -- assignment --------------------------------------------------------------------------------------------

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            if value.target is None:
                value.target = target.id
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value)
        elif isinstance(target, ast.Attribute):
            place = self.expression(target)
            self.event(EventKind.STORE, value, place)
            if place.args[0].op is Op.PARAM and place.args[0].data == "self":
                self.names[f"self.{target.attr}"] = value
        elif isinstance(target, ast.Subscript):
            owner = self.expression(target.value)
            index = self.expression(target.slice)
            place = self.value(Op.INDEX, (owner, index), None, target)
            self.event(EventKind.STORE, value, place)
            self.rebind(target.value, self.value(Op.UPDATE, (owner, index, value), "[]=", target))
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value)

    def unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        elements = target.elts
        plain = not any(isinstance(e, ast.Starred) for e in elements)
        if (
            plain
            and value.op in (Op.TUPLE, Op.LIST)
            and len(value.args) == len(elements)
            and not any(arg.op is Op.STARRED for arg in value.args)
        ):
            for element, part in zip(elements, value.args, strict=True):
                self.assign(element, part)
            return
        parts: list[Value] = []
        after_star = False
        for number, element in enumerate(elements):
            after_star = after_star or isinstance(element, ast.Starred)
            index = -1 if after_star else number
            parts.append(self.value(Op.UNPACK, (value,), index, element))
            self.assign(element, parts[-1])
        if plain:
            names = self.value(Op.TUPLE, tuple(parts), None, target)
            self.unpackings.append(
                Event(EventKind.UNPACK, value, names, self.guard, self.loops, self.contexts, self.handled)
            )

    def rebind(self, target: ast.expr, value: Value) -> None:
        """`target` now holds a changed version of what it held."""
        if isinstance(target, ast.Name):
            # A method of the object itself may be called `append`: the object stays what it is.
            if target.id in self.names and target.id != self.receiver:
                value.target = target.id
                self.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            if isinstance(target.value, ast.Name) and target.value.id == self.receiver:
                self.names[f"self.{target.attr}"] = value
        elif isinstance(target, ast.Subscript):
            owner = self.again(target.value)
            index = self.again(target.slice)
            self.rebind(target.value, self.value(Op.UPDATE, (owner, index, value), "[]=", target))

    # -- expressions -------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Value:
        """The value of an expression."""
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            return self.value(Op.UNKNOWN, (), None, node)
        return handler(self, node)

    def again(self, node: ast.expr) -> Value:
        """The value of an expression that was lowered before: without its events."""
        events, self.events = self.events, []
        reads, self.reads = self.reads, []
        turned, self.turned = self.turned, []
        inner, self.inner = self.inner, []
        value = self.expression(node)
        for function in self.inner:
            function.first, function.last, function.loops = 0, 0, ()
        self.events, self.turned, self.inner, self.reads = events, turned, inner, reads
        return value

    def under(self, test: Value, truthy: bool, node: ast.expr) -> Value:
        """The value of an expression that is evaluated only if `test` is truthy (or falsy)."""
        outer = self.guard
        self.guard = PathCondition(test, truthy, outer)
        value = self.expression(node)
        self.guard = outer
        return value

    def _constant(self, node: ast.Constant) -> Value:
        return Value(_CONST, (), node.value, node)

    def _name(self, node: ast.Name) -> Value:
        held = self.names.get(node.id)
        return Value(_GLOBAL, (), node.id, node) if held is None else held

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.expression(node.value)
        if owner.op is _PARAM and owner.data == "self":
            held = self.names.get(f"self.{node.attr}")
            # What this body stored there before stands beside the receiver.
            read = Value(_ATTR, (owner,) if held is None else (owner, held), node.attr, node)
            if type(node.ctx) is ast.Load:
                self.reads.append(
                    Event(EventKind.READ, read, None, self.guard, self.loops, self.contexts, self.handled)
                )
            return read
        return Value(_ATTR, (owner,), node.attr, node)

    def _call(self, node: ast.Call) -> Value:
        callee = self.expression(node.func)
        args = [callee, *[self.expression(arg) for arg in node.args]]
        if node.keywords:
            args.extend([self.expression(keyword.value) for keyword in node.keywords])
        keywords = tuple([k.arg for k in node.keywords]) if node.keywords else ()
        call = Value(_CALL, tuple(args), keywords, node)
        self.event(EventKind.CALL, call)
        if isinstance(node.func, ast.Attribute):
            self.update_in_place(node.func, call)
        return call

    def update_in_place(self, func: ast.Attribute, call: Value) -> None:
        name = func.attr
        owner = call.callee.args[0]
        if name in _MUTATORS:
            update = self.value(Op.UPDATE, (owner, *call.args[1:]), name, func)
            update.guard = self.guard
            self.rebind(func.value, update)
        elif name.endswith("_") and not name.endswith("__"):
            self.rebind(func.value, call)

    def _binary(self, node: ast.BinOp) -> Value:
        return self.value(
            Op.BIN, (self.expression(node.left), self.expression(node.right)), _BINARY[type(node.op)], node
        )

    def _unary(self, node: ast.UnaryOp) -> Value:
        operand = self.expression(node.operand)
        name = _UNARY[type(node.op)]
        if name == "-" and operand.op is Op.CONST and isinstance(operand.data, int | float):
            return self.value(Op.CONST, (), -operand.data, node)
        return self.value(Op.UNARY, (operand,), name, node)

    def _compare(self, node: ast.Compare) -> Value:
        left = self.expression(node.left)
        parts: list[Value] = []
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.expression(comparator)
            part = self.value(Op.COMPARE, (left, right), _COMPARE[type(operator)], node)
            self.event(EventKind.COMPARE, part)
            parts.append(part)
            left = right
        return parts[0] if len(parts) == 1 else self.value(Op.BOOL, tuple(parts), "and", node)

    def _bool(self, node: ast.BoolOp) -> Value:
        truthy = isinstance(node.op, ast.And)
        outer = self.guard
        values: list[Value] = []
        for operand in node.values:
            value = self.expression(operand)
            values.append(value)
            self.guard = PathCondition(value, truthy, self.guard)
        self.guard = outer
        return self.value(Op.BOOL, tuple(values), "and" if truthy else "or", node)

    def _conditional(self, node: ast.IfExp) -> Value:
        test = self.expression(node.test)
        body = self.under(test, True, node.body)
        orelse = self.under(test, False, node.orelse)
        return self.value(Op.CHOICE, (body, orelse), test, node)

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.value(Op.INDEX, (self.expression(node.value), self.expression(node.slice)), None, node)
        if isinstance(node.ctx, ast.Load):
            self.event(EventKind.INDEX, value)
        return value

    def _slice(self, node: ast.Slice) -> Value:
        parts = tuple(
            self.value(Op.CONST, (), None, node) if part is None else self.expression(part)
            for part in (node.lower, node.upper, node.step)
        )
        return self.value(Op.SLICE, parts, None, node)

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        op = {ast.Tuple: Op.TUPLE, ast.List: Op.LIST, ast.Set: Op.SET}[type(node)]
        return self.value(op, tuple(self.expression(e) for e in node.elts), None, node)

    def _dict(self, node: ast.Dict) -> Value:
        keys = tuple(None if key is None else self.expression(key) for key in node.keys)
        return self.value(Op.DICT, tuple(self.expression(v) for v in node.values), keys, node)

    def _starred(self, node: ast.Starred) -> Value:
        return self.value(Op.STARRED, (self.expression(node.value),), None, node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        names, guard = dict(self.names), self.guard
        loop = self.turn(())
        self.loops += len(node.generators)
        for generator in node.generators:
            iterable = self.expression(generator.iter)
            item = self.value(Op.ITEM, (iterable,), None, generator.target)
            loop.turns += ((item, iterable),)
            self.assign(generator.target, item)
            for condition in generator.ifs:
                self.guard = PathCondition(self.expression(condition), True, self.guard)
        if isinstance(node, ast.DictComp):
            elements: tuple[Value, ...] = (self.expression(node.key), self.expression(node.value))
        else:
            elements = (self.expression(node.elt),)
        filters = self.guard
        self.loops -= len(node.generators)
        self.names, self.guard = names, guard
        kind = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict"}.get(type(node), "generator")
        value = self.value(Op.COMPREHENSION, elements, kind, node)
        if filters is not guard:
            value.guard = filters
        loop.last, loop.result, loop.guard = len(self.events), value, guard
        return value

    def _formatted(self, node: ast.JoinedStr) -> Value:
        parts = [p for p in node.values if isinstance(p, ast.FormattedValue)]
        is_plain = all(part.conversion < 0 and part.format_spec is None for part in parts)
        texts = tuple(p.value if isinstance(p, ast.Constant) else None for p in node.values) if is_plain else None
        return self.value(Op.STRING, tuple(self.expression(p.value) for p in parts), texts, node)

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.nested(node, node.args, node.body)

    def nested(
        self, node: ast.Lambda | FunctionNode, arguments: ast.arguments, body: ast.expr | list[ast.stmt]
    ) -> Value:
        """A function inside this one: it sees our names, and its events are ours, under no known condition."""
        function = Nested(0)
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        written = [*arguments.posonlyargs, *arguments.args]
        stated = [*zip(written[len(written) - len(arguments.defaults) :], arguments.defaults, strict=True)]
        stated.extend((a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None)
        function.defaults = {parameter.arg: self.expression(default) for parameter, default in stated}
        names, guard, loops, returns = dict(self.names), self.guard, self.loops, self.nested_returns
        turned = len(self.turned)
        if arguments.vararg is not None:
            function.variadic = arguments.vararg.arg
        if arguments.kwarg is not None:
            function.options = arguments.kwarg.arg
        for parameter in (*parameters, *(extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None)):
            value = self.value(Op.UNKNOWN, (), parameter.arg, parameter)
            self.names[parameter.arg] = function.parameters[parameter.arg] = value
        self.loops += 1
        function.first = len(self.events)
        self.inner.append(function)
        if isinstance(body, list):
            self.nested_returns = []
            self.guard = PathCondition(self.value(Op.UNKNOWN, (), "nested", node), True, guard)
            self.block(body)
            function.returns = tuple(self.nested_returns)
        else:
            function.returns = (self.expression(body),)
        function.last = len(self.events)
        self.names, self.guard, self.loops, self.nested_returns = names, guard, loops, returns
        function.loops = tuple(self.turned[turned:])
        del self.turned[turned:]
        return self.value(Op.LAMBDA, function.returns, function, node)

    def _named(self, node: ast.NamedExpr) -> Value:
        value = self.expression(node.value)
        self.assign(node.target, value)
        return value

    def _await(self, node: ast.Await) -> Value:
        return self.expression(node.value)

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        value = self.expression(node.value) if node.value else self.value(Op.CONST, (), None, node)
        each = value if isinstance(node, ast.Yield) else self.value(Op.STARRED, (value,), None, node)
        self.event(EventKind.YIELD, each)
        return self.value(Op.UNKNOWN, (), None, node)


def _caught(node: ast.Try) -> tuple[str, ...]:
    """The names of what the handlers of a `try` catch; `BaseException` for a bare `except`, or what has no name."""
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
            if name in _MUTATORS or (name[-1] == "_" and not name.endswith("__")):
                _add_root(node.func.value, receiver, changed)  # type: ignore[attr-defined]
        pending.extend(ast.iter_child_nodes(node))
    return sorted(changed)


def _add_root(node: ast.expr, receiver: str | None, changed: dict[str, None]) -> None:
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        if node.id != receiver:
            changed[node.id] = None
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver:
        changed[f"self.{node.attr}"] = None


_STATEMENTS: dict[type[ast.stmt], Callable[[_Lowering, Any], bool]] = {
    ast.Expr: _Lowering._expr,
    ast.Assign: _Lowering._assign,
    ast.AnnAssign: _Lowering._ann_assign,
    ast.AugAssign: _Lowering._aug_assign,
    ast.Return: _Lowering._return,
    ast.Raise: _Lowering._raise,
    ast.Continue: _Lowering._leave,
    ast.Break: _Lowering._leave,
    ast.Assert: _Lowering._assert,
    ast.Delete: _Lowering._delete,
    ast.If: _Lowering._if,
    ast.For: _Lowering._for,
    ast.AsyncFor: _Lowering._for,
    ast.While: _Lowering._while,
    ast.With: _Lowering._with,
    ast.AsyncWith: _Lowering._with,
    **dict.fromkeys(TRY, _Lowering._try),
    ast.Match: _Lowering._match,
    ast.FunctionDef: _Lowering._define,
    ast.AsyncFunctionDef: _Lowering._define,
    ast.ClassDef: _Lowering._define_class,
    ast.Import: _Lowering._import,
    ast.ImportFrom: _Lowering._import,
}

_EXPRESSIONS: dict[type[ast.expr], Callable[[_Lowering, Any], Value]] = {
    ast.Constant: _Lowering._constant,
    ast.Name: _Lowering._name,
    ast.Attribute: _Lowering._attribute,
    ast.Call: _Lowering._call,
    ast.BinOp: _Lowering._binary,
    ast.UnaryOp: _Lowering._unary,
    ast.Compare: _Lowering._compare,
    ast.BoolOp: _Lowering._bool,
    ast.IfExp: _Lowering._conditional,
    ast.Subscript: _Lowering._subscript,
    ast.Slice: _Lowering._slice,
    ast.Tuple: _Lowering._sequence,
    ast.List: _Lowering._sequence,
    ast.Set: _Lowering._sequence,
    ast.Dict: _Lowering._dict,
    ast.Starred: _Lowering._starred,
    ast.ListComp: _Lowering._comprehension,
    ast.SetComp: _Lowering._comprehension,
    ast.GeneratorExp: _Lowering._comprehension,
    ast.DictComp: _Lowering._comprehension,
    ast.JoinedStr: _Lowering._formatted,
    ast.Lambda: _Lowering._lambda,
    ast.NamedExpr: _Lowering._named,
    ast.Await: _Lowering._await,
    ast.Yield: _Lowering._yield,
    ast.YieldFrom: _Lowering._yield,
}
