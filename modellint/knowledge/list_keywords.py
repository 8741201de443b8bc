"""The fate of a function's `**kwargs`, for `list_parameters`: names that it takes out, and calls that get the rest.

An argument that the function does not name is refused in the end where the whole of `**kwargs` certainly reaches a call
that refuses it, or a `raise` under `if kwargs`. Nothing may take unknown names out before.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.knowledge.list_modules import Named

#: Methods of dictionaries that leave their keys alone.
_READING = frozenset(("get", "items", "keys", "values", "copy"))
#: Functions that leave the dictionary alone that they are given.
_HARMLESS = frozenset(
    ("len", "sorted", "list", "str", "repr", "print", "isinstance", "bool", "set", "tuple", "dict", "any")
)
_HARMLESS |= frozenset(("all", "type"))
_MAX_DEPTH = 4


@dataclass(frozen=True)
class PassedOn:
    """A call that gets `**kwargs`: how many arguments stand before them (None: a list), and the names of others."""

    node: ast.Call
    positional: int | None
    named: frozenset[str]
    #: It gets `*args` too.
    has_rest: bool
    #: It is always reached.
    is_certain: bool


@dataclass
class Work:
    """The names that a function takes out of `**kwargs`, and the calls that get them."""

    taken: set[str] = field(default_factory=set)
    passed_on: list[PassedOn] = field(default_factory=list)
    #: Names that the function does not know are not certainly refused.
    is_open: bool = False
    #: It puts arguments of its own into them.
    may_fill: bool = False


def keyword_work(node: ast.FunctionDef, name: str, resolve: Callable[[str], Named | None]) -> Work:
    """The fate of the `**name` among the parameters of a function."""
    reading = _Reading(name, resolve)
    reading.read(node)
    work = reading.work
    is_refused = reading.refuses or any(one.is_certain for one in work.passed_on)
    work.is_open = work.is_open or not is_refused
    return work


class _Reading:
    def __init__(self, name: str, resolve: Callable[[str], Named | None], depth: int = 0) -> None:
        self.work = Work()
        self.refuses = False
        self._name = name
        self._resolve = resolve
        self._depth = depth
        self._parents: dict[ast.AST, ast.AST] = {}

    def read(self, node: ast.FunctionDef) -> None:
        for outer in ast.walk(node):
            for inner in ast.iter_child_nodes(outer):
                self._parents[inner] = outer
        self._certain = set(_certain_statements(node.body))
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id == self._name:
                self._use(one)

    def _use(self, one: ast.Name) -> None:
        parent = self._parents[one]
        if not isinstance(one.ctx, ast.Load):
            self._rebind(parent)
            return
        match parent:
            case ast.keyword(arg=None):
                self._pass_on(parent)
            case ast.Attribute(attr=method):
                self._method(method, self._parents[parent])
            case ast.Subscript(slice=key, ctx=context):
                if isinstance(context, ast.Del):
                    self._remove(key)
                elif isinstance(context, ast.Store):
                    self.work.may_fill = True
                elif isinstance(key, ast.Constant):
                    self.work.taken.add(str(key.value))
            case ast.Compare(left=ast.Constant(value=str(key))):
                self.work.taken.add(key)
            case ast.If(test=test) if test is one:
                self.refuses |= isinstance(parent.body[-1], ast.Raise) and parent in self._certain
            case ast.Call(func=ast.Name(id=function)) if one in parent.args and function in _HARMLESS:
                self._count_test(parent)
            case ast.Call() if not self._is_raised(parent):
                self._hand_over(parent, one)
            case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.Yield() | ast.NamedExpr() | ast.Lambda():
                target = parent.targets[0] if isinstance(parent, ast.Assign) else None
                is_kept = isinstance(target, ast.Attribute | ast.Subscript)
                self.work.is_open |= not is_kept or not self._depth

    def _is_raised(self, node: ast.AST) -> bool:
        """True of a part of an error that is raised."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return isinstance(node, ast.Raise)

    def _count_test(self, call: ast.Call) -> None:
        """`if len(kwargs) > 0: raise`."""
        test: ast.AST = call
        while isinstance(self._parents[test], ast.Compare):
            test = self._parents[test]
        outer = self._parents[test]
        if isinstance(outer, ast.If) and outer.test is test and outer in self._certain:
            self.refuses |= isinstance(outer.body[-1], ast.Raise)

    def _rebind(self, parent: ast.AST) -> None:
        """`kwargs = …`: all names remain where it is made of the whole."""
        value = parent.value if isinstance(parent, ast.Assign | ast.AnnAssign) else None
        is_whole = isinstance(value, ast.Dict) and any(
            key is None and isinstance(one, ast.Name) and one.id == self._name
            for key, one in zip(value.keys, value.values, strict=True)
        )
        self.work.may_fill = True
        self.work.is_open |= not is_whole

    def _method(self, method: str, call: ast.AST) -> None:
        first = call.args[0] if isinstance(call, ast.Call) and call.args else None
        constant = str(first.value) if isinstance(first, ast.Constant) else None
        if method in ("pop", "get") and constant is not None:
            self.work.taken.add(constant)
        elif method in ("update", "setdefault"):
            self.work.may_fill = True
        elif method not in _READING:
            self.work.is_open = True

    def _remove(self, key: ast.expr) -> None:
        if isinstance(key, ast.Constant):
            self.work.taken.add(str(key.value))
        else:
            self.work.is_open = True

    def _pass_on(self, parent: ast.keyword) -> None:
        call = self._parents[parent]
        if not isinstance(call, ast.Call):
            return
        if isinstance(call.func, ast.Name) and call.func.id == "dict":
            return
        is_starred = any(isinstance(one, ast.Starred) for one in call.args)
        named = frozenset(one.arg for one in call.keywords if one.arg is not None)
        before = len(call.args) - self._receivers(call)
        found = PassedOn(call, None if is_starred else before, named, is_starred, self._is_certain(call))
        self.work.passed_on.append(found)

    @staticmethod
    def _receivers(call: ast.Call) -> int:
        """`Base.__init__(self, …)` gives the object by position."""
        function = call.func
        is_base = isinstance(function, ast.Attribute) and not isinstance(function.value, ast.Call)
        return int(is_base and isinstance(function, ast.Attribute) and function.attr == "__init__" and bool(call.args))

    def _is_certain(self, node: ast.AST) -> bool:
        """True if a call is made whenever the function is run."""
        while not isinstance(node, ast.stmt):
            outer = self._parents[node]
            if isinstance(outer, ast.IfExp | ast.BoolOp | ast.Lambda | ast.comprehension):
                return False
            node = outer
        return node in self._certain

    def _hand_over(self, call: ast.Call, one: ast.Name) -> None:
        """The dictionary is an argument: a function of the package may have it that takes no unknown names out."""
        named = self._resolve(call.func.id) if isinstance(call.func, ast.Name) else None
        node = None if named is None else named.node
        if not isinstance(node, ast.FunctionDef) or one not in call.args or self._depth > _MAX_DEPTH:
            self.work.is_open = True
            return
        at = call.args.index(one)
        if at >= len(node.args.args):
            self.work.is_open = True
            return
        inner = _Reading(node.args.args[at].arg, lambda _: None, self._depth + 1)
        inner.read(node)
        self.work.is_open |= inner.work.is_open
        self.work.may_fill = True
        self.work.taken |= inner.work.taken


def _certain_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that are always run, up to the first that may leave the function."""
    for one in body:
        yield one
        if isinstance(one, ast.With | ast.Try):
            yield from _certain_statements(one.body)
        if not isinstance(one, ast.FunctionDef | ast.ClassDef) and any(
            isinstance(n, ast.Return) for n in ast.walk(one)
        ):
            return
