"""Lower expressions to values, and assignments to the environment: each name is replaced by the value that it holds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modellint.graph.value import Event, EventKind, Flow, Loop, Nested, Op, Parameter, PathCondition, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

# Members of an enumeration are slow to reach by name, and these are made for most nodes.
_CONST, _GLOBAL, _ATTR, _PARAM, _CALL = Op.CONST, Op.GLOBAL, Op.ATTR, Op.PARAM, Op.CALL

#: Methods that change a list, dict or set in place.
MUTATORS = frozenset(
    ("append", "extend", "insert", "add", "update", "setdefault", "appendleft", "pop", "remove", "clear")
)
#: Methods that change a list in place and give nothing; those of a tensor give another one.
ARRANGERS = frozenset(("reverse", "sort"))
BINARY = {
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


def parameters_of(arguments: ast.arguments) -> Iterator[tuple[ast.arg, str, ast.expr | None]]:
    """The parameters of a function, in order, each with its kind (that of a `Parameter`) and its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    needed = len(positional) - len(arguments.defaults)
    for number, arg in enumerate(positional):
        yield arg, "positional", arguments.defaults[number - needed] if number >= needed else None
    if arguments.vararg:
        yield arguments.vararg, "var-positional", None
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield arg, "keyword", default
    if arguments.kwarg:
        yield arguments.kwarg, "var-keyword", None


class Expressions:
    """The state of lowering one body: the value of each name, and the present path condition."""

    def __init__(self, receiver: str | None, *, is_module: bool = False) -> None:
        self.receiver = receiver
        self.is_module = is_module
        #: The values of local names; those of the receiver's attributes under `self.x`.
        self.names: dict[str, Value] = {}
        self.events: list[Event] = []
        self.unpackings: list[Event] = []
        self.reads: list[Event] = []
        self.computed: list[Event] = []
        self.dropped: list[Event] = []
        self.imported: list[str] = []
        self.guard: PathCondition | None = None
        self.loops = 0
        self.contexts: tuple[Value, ...] = ()
        self.handled: tuple[str, ...] = ()
        #: The return values of the nested function that is being lowered; None outside of one.
        self.nested_returns: list[Value] | None = None
        self.carried: list[Value] = []
        self.turned: list[Loop] = []
        #: The functions inside of this one.
        self.inner: list[Nested] = []
        #: True if `break` has left the innermost loop; and how often a block was left other than by an error.
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
            tuple(self.computed),
        )

    # -- building blocks ---------------------------------------------------------------------------------------

    def value(self, op: Op, args: tuple[Value, ...], data: Any, node: ast.AST) -> Value:
        return Value(op, args, data, node)  # type: ignore[arg-type]

    def event(self, kind: EventKind, value: Value, target: Value | None = None) -> None:
        self.events.append(Event(kind, value, target, self.guard, self.loops, self.contexts, self.handled))

    def compute(self, operands: tuple[Value, ...], operator: object, node: ast.AST) -> Value:
        """The result of a binary operator, which is noted with its circumstances."""
        value = self.value(Op.BIN, operands, operator, node)
        self.computed.append(Event(EventKind.READ, value, None, self.guard, self.loops, self.contexts, self.handled))
        return value

    def turn(self, turns: tuple[tuple[Value, Value], ...]) -> Loop:
        """Note that a loop begins here."""
        loop = Loop(len(self.events), len(self.events), turns)
        self.turned.append(loop)
        return loop

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
        """Bind `target` to a changed version of its value."""
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
        computed, self.computed = self.computed, []
        turned, self.turned = self.turned, []
        inner, self.inner = self.inner, []
        value = self.expression(node)
        for function in self.inner:
            function.first, function.last, function.loops = 0, 0, ()
        self.events, self.turned, self.inner, self.reads = events, turned, inner, reads
        self.computed = computed
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
            # A value that this body stored there before follows the receiver.
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

    def update_in_place(self, func: ast.Attribute, call: Value, changing: frozenset[str] = MUTATORS) -> None:
        name = func.attr
        owner = call.callee.args[0]
        if name in changing:
            update = self.value(Op.UPDATE, (owner, *call.args[1:]), name, func)
            update.guard = self.guard
            self.rebind(func.value, update)
        elif name.endswith("_") and not name.endswith("__"):
            self.rebind(func.value, call)

    def _binary(self, node: ast.BinOp) -> Value:
        operands = self.expression(node.left), self.expression(node.right)
        return self.compute(operands, BINARY[type(node.op)], node)

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
        return self.lower_nested(node, node.args, lambda: (self.expression(node.body),))

    def lower_nested(
        self, node: ast.Lambda | FunctionNode, arguments: ast.arguments, lower: Callable[[], tuple[Value, ...]]
    ) -> Value:
        """A function inside this one: it sees our names, its events join ours, and `lower` gives its return values."""
        function = Nested(0)
        written = list(parameters_of(arguments))
        function.head = tuple(
            Parameter(arg.arg, kind, None if default is None else self.expression(default), None)
            for arg, kind, default in written
        )
        names, guard, loops, returns = dict(self.names), self.guard, self.loops, self.nested_returns
        turned = len(self.turned)
        for arg, _, _ in written:
            self.names[arg.arg] = function.parameters[arg.arg] = self.value(Op.INNER, (), arg.arg, arg)
        self.loops += 1
        function.first = len(self.events)
        self.inner.append(function)
        function.returns = lower()
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


_EXPRESSIONS: dict[type[ast.expr], Callable[[Expressions, Any], Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._bool,
    ast.IfExp: Expressions._conditional,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.Tuple: Expressions._sequence,
    ast.List: Expressions._sequence,
    ast.Set: Expressions._sequence,
    ast.Dict: Expressions._dict,
    ast.Starred: Expressions._starred,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.JoinedStr: Expressions._formatted,
    ast.Lambda: Expressions._lambda,
    ast.NamedExpr: Expressions._named,
    ast.Await: Expressions._await,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield,
}
