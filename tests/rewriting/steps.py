"""The same value in more steps, or on more than one way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from rewriting.code import (
    Additions,
    Function,
    Store,
    comment_of,
    is_documentation,
    is_portable,
    mark_of,
    statements,
    stores,
    text_of,
    with_definitions,
    with_imports,
)
from rewriting.rewriting import Kind, Rewriting, codemod

if TYPE_CHECKING:
    from collections.abc import Sequence

_FLAG = 'VERBOSE = bool(os.environ.get("VERBOSE"))'


def _flagged(added: Additions) -> str:
    """The name of something that may be true or false."""
    added.imports.append("import os")
    added.module.append(_FLAG)
    return "VERBOSE"


def _local_first(store: Store, added: Additions) -> str:
    name = store.function.fresh(store.name)
    return f"{name} = {store.code}\n{store.target} = {name}"


def _chain_of_locals(store: Store, added: Additions) -> str:
    first = store.function.fresh(store.name)
    return f"{first} = {store.code}\n{first}2 = {first}\n{first}3 = {first}2\n{store.target} = {first}3"


def _walrus(store: Store, added: Additions) -> str:
    return f"{store.target} = ({store.function.fresh(store.name)} := {store.code})"


def _two_targets(store: Store, added: Additions) -> str:
    return f"{store.function.fresh(store.name)} = {store.target} = {store.code}"


def _unpacked(store: Store, added: Additions) -> str:
    return f"{store.target}, {store.function.fresh(store.name)} = {store.code}, None"


def _on_both_sides(store: Store, added: Additions) -> str:
    line = f"{store.target} = {store.code}"
    return f"if {_flagged(added)}:\n    {line}\nelse:\n    {line}"


def _conditional(store: Store, added: Additions) -> str:
    return f"{store.target} = {store.code} if {_flagged(added)} else {store.code}"


def _conditional_choice(store: Store, added: Additions) -> str | None:
    """Made before, chosen afterwards."""
    name = store.function.fresh(store.name)
    return f"{name} = {store.code}\n{store.target} = {name} if {_flagged(added)} else {name}"


def _first_of_a_list(store: Store, added: Additions) -> str:
    return f"{store.target} = [{store.code}][0]"


def _entry_of_a_dict(store: Store, added: Additions) -> str:
    return f'{store.target} = {{"made": {store.code}}}["made"]'


def _late(store: Store, added: Additions) -> str | None:
    """None first, then what it is."""
    return f"{store.target} = None\n{store.target} = {store.code}" if store.target not in store.code else None


class _Returns(cst.CSTTransformer):
    """A local for each value that is made to be returned."""

    def __init__(self) -> None:
        self._functions: list[Function] = []

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._functions.append(Function(node, False, False))

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        self._functions.pop()
        return node

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, line: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        statement = line.body[0]
        if len(line.body) > 1 or not isinstance(statement, cst.Return) or not self._functions:
            return line
        if statement.value is None or isinstance(statement.value, (cst.Name, cst.SimpleString)):
            return line
        name = self._functions[-1].fresh("result")
        first, second = statements(f"{name} = {text_of(statement.value)}\nreturn {name}", comment_of(line))
        return cst.FlattenSentinel([first.with_changes(leading_lines=line.leading_lines), second])


class _Arguments(_Returns):
    """A local for each call that is an argument of the call that a statement makes."""

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, line: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        statement = line.body[0]
        call = getattr(statement, "value", None)
        if len(line.body) > 1 or not self._functions or not isinstance(call, cst.Call):
            return line
        made, arguments = [], []
        for number, argument in enumerate(call.args):
            if argument.star or not isinstance(argument.value, (cst.Call, cst.BinaryOperation, cst.Subscript)):
                arguments.append(argument)
                continue
            if not is_portable(text_of(argument.value)):
                return line
            name = self._functions[-1].fresh(f"given{number}")
            made.append(f"{name} = {text_of(argument.value)}")
            arguments.append(argument.with_changes(value=cst.Name(name)))
        if not made or "super" in text_of(call):
            return line
        last = line.with_changes(
            body=[statement.with_changes(value=call.with_changes(args=arguments))], leading_lines=[]
        )
        first, *rest = statements("\n".join(made), mark_of(line))
        return cst.FlattenSentinel([first.with_changes(leading_lines=line.leading_lines), *rest, last])


class _Wrapped(cst.CSTTransformer):
    """The bodies of functions inside of a block."""

    head, end = "", ""
    imports: Sequence[str] = ()

    def __init__(self) -> None:
        self._found = False

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        if not isinstance(node.body, cst.IndentedBlock):
            return node
        body = list(node.body.body)
        front = [body.pop(0)] if is_documentation(body[0]) else []
        if not body:
            return node
        self._found = True
        (block,) = statements(f"{self.head}:\n    pass\n{self.end}")
        block = block.with_changes(body=block.body.with_changes(body=body))
        return node.with_changes(body=node.body.with_changes(body=[*front, block]))

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        return with_imports(module, self.imports) if self._found else module


class _InTry(_Wrapped):
    head, end = "try", "finally:\n    pass\n"


class _InWith(_Wrapped):
    head = "with contextlib.nullcontext()"
    imports = ("import contextlib",)


class _UnderFlag(_Wrapped):
    """The body of each function, on one side of a condition and on the other."""

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        if not isinstance(node.body, cst.IndentedBlock):
            return node
        body = list(node.body.body)
        front = [body.pop(0)] if is_documentation(body[0]) else []
        if not body:
            return node
        self._found = True
        (block,) = statements("if VERBOSE:\n    pass\nelse:\n    pass")
        assert isinstance(block, cst.If)
        side = block.body.with_changes(body=body)
        block = block.with_changes(body=side, orelse=cst.Else(body=side.deep_clone()))
        return node.with_changes(body=node.body.with_changes(body=[*front, block]))

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        if not self._found:
            return module
        return with_imports(with_definitions(module, [_FLAG]), ["import os"])


REWRITINGS = (
    Rewriting("a local first", Kind.MOVE, stores(_local_first, attributes_only=True)),
    Rewriting("a chain of locals", Kind.MOVE, stores(_chain_of_locals, attributes_only=True)),
    Rewriting("a walrus", Kind.MOVE, stores(_walrus)),
    Rewriting("two targets of one value", Kind.MOVE, stores(_two_targets)),
    Rewriting("unpacked from a tuple", Kind.MOVE, stores(_unpacked)),
    Rewriting("the first of a list", Kind.MOVE, stores(_first_of_a_list)),
    Rewriting("the entry of a dict", Kind.MOVE, stores(_entry_of_a_dict)),
    Rewriting("None at first", Kind.MOVE, stores(_late, attributes_only=True)),
    Rewriting("the same statement on both sides of a condition", Kind.MOVE, stores(_on_both_sides)),
    Rewriting("the same body on both sides of a condition", Kind.MOVE, codemod(_UnderFlag)),
    Rewriting("a conditional expression with the same on both sides", Kind.MOVE, stores(_conditional)),
    Rewriting("a conditional expression of one value", Kind.MOVE, stores(_conditional_choice)),
    Rewriting("a local for what is returned", Kind.MOVE, codemod(_Returns)),
    Rewriting("a local for each argument that is made", Kind.MOVE, codemod(_Arguments)),
    Rewriting("inside of try and finally", Kind.MOVE, codemod(_InTry)),
    Rewriting("inside of with", Kind.MOVE, codemod(_InWith)),
)
