"""The same arguments, given in another way."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers as m

from rewriting.code import Additions, Store, is_portable, stores, text_of, with_definitions
from rewriting.imports import bindings
from rewriting.rewriting import Kind, Rewriting, changed, codemod, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rewriting.marks import Files

#: Parameters of functions and methods that are not written in Python, by the name they are called by.
_BUILT_IN = {
    "torch.arange": (),
    "torch.argmax": ("input", "dim"),
    "torch.cat": ("tensors", "dim"),
    "torch.clamp": ("input", "min", "max"),
    "torch.cumprod": ("input", "dim"),
    "torch.full": ("size", "fill_value"),
    "torch.full_like": ("input", "fill_value"),
    "torch.linspace": ("start", "end", "steps"),
    "torch.matmul": ("input", "other"),
    "torch.multinomial": ("input", "num_samples"),
    "torch.outer": ("input", "vec2"),
    "torch.softmax": ("input", "dim"),
    "torch.stack": ("tensors", "dim"),
    "torch.topk": ("input", "k"),
}
#: Methods that no class has but tensors.
_METHODS = {
    "argmax": ("dim", "keepdim"),
    "chunk": ("chunks", "dim"),
    "clamp": ("min", "max"),
    "cumsum": ("dim",),
    "masked_fill": ("mask", "value"),
    "mean": ("dim",),
    "new_full": ("size", "fill_value"),
    "softmax": ("dim",),
    "squeeze": ("dim",),
    "topk": ("k", "dim"),
    "unsqueeze": ("dim",),
}


@cache
def _parameters_of(path: str) -> tuple[str, ...] | None:
    """The positional parameters of something of torch, None if it is not known."""
    if path in _BUILT_IN:
        return _BUILT_IN[path]
    package, _, name = path.rpartition(".")
    try:
        signature = inspect.signature(getattr(importlib.import_module(package), name))
    except (ImportError, AttributeError, ValueError, TypeError):
        return None
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds:
        return None
    return tuple(
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    )


def _own(files: Files) -> dict[str, tuple[str, ...]]:
    """The parameters of the project's functions and of the constructors of its classes, by names used once."""
    found: dict[str, tuple[str, ...] | None] = {}
    for path, text in files.items():
        if path.endswith(".py") and parsed(text) is not None:
            for name, taken in _definitions(ast.parse(text)):
                found[name] = None if name in found else taken
    return {name: taken for name, taken in found.items() if taken is not None}


def _definitions(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, _taken(node)
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__" and not node.decorator_list:
                    taken = _taken(part)
                    yield node.name, taken and taken[1:]


def _taken(node: ast.FunctionDef) -> tuple[str, ...] | None:
    if node.args.vararg or node.args.kwarg or node.args.posonlyargs or node.decorator_list:
        return None
    return tuple(each.arg for each in node.args.args)


class _Given(cst.CSTTransformer):
    """Arguments of calls whose parameters are known, in another way."""

    def __init__(self, imported: dict[str, str], own: dict[str, tuple[str, ...]]) -> None:
        self._imported = imported
        self._own = own

    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.Call:
        names = self._parameters(original)
        if not names or any(argument.star for argument in call.args):
            return call
        return call.with_changes(args=self.given(list(call.args), names))

    def given(self, arguments: list[cst.Arg], names: tuple[str, ...]) -> list[cst.Arg]:
        raise NotImplementedError

    def _parameters(self, call: cst.Call) -> tuple[str, ...] | None:
        first, dot, rest = text_of(call.func).partition(".")
        if first in self._imported and self._imported[first].startswith("torch"):
            return _parameters_of(f"{self._imported[first]}{dot}{rest}")
        if not dot:
            return self._own.get(first)
        method = m.matches(call.func, m.Attribute(value=~m.Name("torch")))
        return _METHODS.get(rest.rpartition(".")[2]) if method and first not in self._imported else None


_NO_BLANKS = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


class _ByKeyword(_Given):
    def given(self, arguments: list[cst.Arg], names: tuple[str, ...]) -> list[cst.Arg]:
        positional = sum(argument.keyword is None for argument in arguments)
        by_name = {argument.keyword.value for argument in arguments if argument.keyword}
        # A name that is given twice is refused by Python's grammar, and not where the call is reached.
        if positional > len(names) or by_name & set(names[:positional]):
            return arguments
        return [
            argument
            if argument.keyword
            else argument.with_changes(keyword=cst.Name(names[number]), equal=_NO_BLANKS, value=_alone(argument.value))
            for number, argument in enumerate(arguments)
        ]


def _alone(value: cst.BaseExpression) -> cst.BaseExpression:
    """A generator needs brackets where it is not the only argument."""
    if isinstance(value, cst.GeneratorExp) and not value.lpar:
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return value


class _ByKeywordReversed(_ByKeyword):
    """By keyword, the last one first."""

    def given(self, arguments: list[cst.Arg], names: tuple[str, ...]) -> list[cst.Arg]:
        given = super().given(arguments, names)
        if len(given) < 2 or any(argument.keyword is None for argument in given):
            return arguments
        return [argument.with_changes(comma=cst.MaybeSentinel.DEFAULT) for argument in reversed(given)]


class _ByPosition(_Given):
    def given(self, arguments: list[cst.Arg], names: tuple[str, ...]) -> list[cst.Arg]:
        front = [argument for argument in arguments if argument.keyword is None]
        by_name = {argument.keyword.value: argument for argument in arguments if argument.keyword}
        while len(front) < len(names) and names[len(front)] in by_name:
            argument = by_name.pop(names[len(front)])
            front.append(argument.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT))
        rest = [argument for argument in arguments if argument.keyword and argument.keyword.value in by_name]
        return [argument.with_changes(comma=cst.MaybeSentinel.DEFAULT) for argument in (*front, *rest)]


class _ByDict(_ByKeyword):
    """By a dict of keywords."""

    def given(self, arguments: list[cst.Arg], names: tuple[str, ...]) -> list[cst.Arg]:
        given = super().given(arguments, names)
        if not given or any(argument.keyword is None for argument in given):
            return arguments
        entries = [f'"{each.keyword.value}": {text_of(each.value)}' for each in given if each.keyword]
        return [cst.Arg(cst.parse_expression(f"{{{', '.join(entries)}}}"), star="**")]


class _ByTuple(_Given):
    """Positional arguments by a tuple."""

    def given(self, arguments: list[cst.Arg], names: tuple[str, ...]) -> list[cst.Arg]:
        front = [argument for argument in arguments if argument.keyword is None]
        if not front or any(isinstance(argument.value, cst.GeneratorExp) for argument in front):
            return arguments
        values = "".join(f"{text_of(each.value)}, " for each in front)
        return [cst.Arg(cst.parse_expression(f"({values.rstrip()})"), star="*"), *arguments[len(front) :]]


def _given(transformer: type[_Given]) -> Callable[[Files], dict[str, str] | None]:
    def rewrite(files: Files) -> dict[str, str] | None:
        own, result = _own(files), dict(files)
        for path, text in files.items():
            module = parsed(text) if path.endswith(".py") else None
            if module is not None:
                imported = {binding.name: binding.path for binding in bindings(module)}
                local = {name: taken for name, taken in own.items() if name not in imported or imported[name][0] != "t"}
                project = {name: path for name, path in imported.items() if name not in own}
                result[path] = module.visit(transformer(project, local)).code
        return changed(files, result)

    return rewrite


def _partial(store: Store, added: Additions) -> str | None:
    """A constructor that is given its first argument before the others."""
    call = store.value
    if not isinstance(call, cst.Call) or not call.args or not is_portable(store.code):
        return None
    if not text_of(call.func).rpartition(".")[2][:1].isupper() or isinstance(call.args[0].value, cst.GeneratorExp):
        return None
    added.imports.append("import functools")
    first, *rest = (text_of(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for argument in call.args)
    name = store.function.fresh("make")
    return f"{name} = functools.partial({text_of(call.func)}, {first})\n{store.target} = {name}({', '.join(rest)})"


def _by_class(store: Store, added: Additions) -> str | None:
    """A constructor that has been given another name."""
    call = store.value
    if not isinstance(call, cst.Call) or not is_portable(store.code):
        return None
    if not text_of(call.func).rpartition(".")[2][:1].isupper():
        return None
    name = store.function.fresh("kind")
    code = text_of(call.with_changes(func=cst.Name(name)))
    return f"{name} = {text_of(call.func)}\n{store.target} = {code}"


class _Constants(cst.CSTTransformer):
    """Numbers of functions as constants of their module."""

    def __init__(self) -> None:
        self._depth = 0
        self._constants: dict[str, None] = {}

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._depth += 1

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        self._depth -= 1
        return node

    def leave_Integer(self, original: cst.Integer, node: cst.Integer) -> cst.BaseExpression:
        if not self._depth or original.evaluated_value < 4:
            return node
        name = f"NUMBER_{original.evaluated_value}"
        self._constants[f"{name} = {original.value}"] = None
        return cst.Name(name, lpar=node.lpar, rpar=node.rpar)

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        return with_definitions(module, ["\n".join(self._constants)]) if self._constants else module


class _Sums(cst.CSTTransformer):
    """Numbers as sums."""

    def leave_Integer(self, original: cst.Integer, node: cst.Integer) -> cst.BaseExpression:
        if original.evaluated_value < 4:
            return node
        return cst.parse_expression(f"({original.evaluated_value - 1} + 1)")


class _ThroughInt(cst.CSTTransformer):
    """Numbers that are converted to what they are."""

    def leave_Integer(self, original: cst.Integer, node: cst.Integer) -> cst.BaseExpression:
        return node if original.evaluated_value < 4 else cst.parse_expression(f"int({original.value})")


def _annotated(files: Files) -> dict[str, str] | None:
    return codemod(_Annotated)(files)


class _Annotated(cst.CSTTransformer):
    """Attributes with an annotation."""

    def leave_Assign(self, original: cst.Assign, node: cst.Assign) -> cst.Assign | cst.AnnAssign:
        if len(node.targets) != 1 or not m.matches(node.targets[0].target, m.Attribute(value=m.Name("self"))):
            return node
        target = node.targets[0].target
        value = cst.parse_expression(text_of(node.value)) if isinstance(node.value, cst.Tuple) else node.value
        kind = _annotation(value)
        return cst.AnnAssign(target, cst.Annotation(cst.parse_expression(kind)), value)


def _annotation(value: cst.BaseExpression) -> str:
    """A type of a value, as far as its code says."""
    called = text_of(value.func) if isinstance(value, cst.Call) else ""
    if called.rpartition(".")[2][:1].isupper():
        return called
    kinds = {cst.List: "list", cst.ListComp: "list", cst.Dict: "dict", cst.DictComp: "dict", cst.Tuple: "tuple"}
    return next((kind for node, kind in kinds.items() if isinstance(value, node)), "object")


REWRITINGS = (
    Rewriting("annotated attributes", Kind.SYNTAX, _annotated),
    Rewriting("arguments by keyword", Kind.SYNTAX, _given(_ByKeyword)),
    Rewriting("arguments by keyword, the last one first", Kind.SYNTAX, _given(_ByKeywordReversed)),
    Rewriting("arguments by position", Kind.SYNTAX, _given(_ByPosition)),
    Rewriting("arguments by a dict", Kind.MOVE, _given(_ByDict)),
    Rewriting("arguments by a tuple", Kind.MOVE, _given(_ByTuple)),
    Rewriting("functools.partial around constructors", Kind.MOVE, stores(_partial)),
    Rewriting("a local name for the class that is constructed", Kind.MOVE, stores(_by_class)),
    Rewriting("numbers as constants of the file", Kind.MOVE, codemod(_Constants)),
    Rewriting("numbers as sums", Kind.MOVE, codemod(_Sums)),
    Rewriting("numbers through int()", Kind.MOVE, codemod(_ThroughInt)),
)
