"""Python files to outlines: imports, constants, classes and functions, with bodies lowered on demand."""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING, cast

from modellint.frontends import flow
from modellint.frontends.flow import FunctionNode
from modellint.frontends.syntax import grammars, tree_of
from modellint.graph.python import Class, ClassHead, Function, LazyValues, ModuleFacts, Parameter, Signature
from modellint.source import Span, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from modellint.graph.value import Flow, Value
    from modellint.source import SourceFile

#: `except A, b:`, which Python 3.14 reads in another way than Python 2.
_NAMED_BY_COMMA = re.compile(r"except[^:\r\n]{0,300},\s*[^\W\d]\w*\s*:")


def read(source: SourceFile, exists: Callable[[Path], bool]) -> ModuleFacts:
    """The outline of a Python file; whether files exist tells where its package begins.

    Raises UnreadableError, with the place, for text that does not parse.
    """
    tree = parse(source)
    name, is_package = module_name(source.path, exists)
    module = ModuleFacts(source, name, is_package)
    _Outline(module).read(tree)
    return module


def module_name(path: Path, exists: Callable[[Path], bool]) -> tuple[str, bool]:
    """The dotted name of a file in its package (folders with an `__init__.py`), and if it is a package itself."""
    is_package = path.stem == "__init__"
    parts = [] if is_package else [path.stem]
    folder = path.parent
    while exists(folder / "__init__.py") and folder.name:
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts)) or path.stem, is_package


def parse(source: SourceFile) -> ast.Module:
    """The syntax tree of Python source. Raises UnreadableError, with the place."""
    try:
        tree = tree_of(source.text)
    except SyntaxError as error:
        from modellint.frontends import python2

        sign = python2.sign_in(source.text, error)
        line = min(max(error.lineno or 1, 1), max(len(source.lines), 1))
        column = max(error.offset or 1, 1)
        reason = sign or (error.msg if "syntax" in error.msg else f"syntax error: {error.msg}")
        span = Span(line, column, line, column + 1)
        raise UnreadableError(reason, span, tried=grammars(), is_python2=sign is not None) from None
    except (RecursionError, MemoryError):
        raise UnreadableError("nested too deeply to parse") from None
    except ValueError as error:
        raise UnreadableError(str(error)) from None
    if _NAMED_BY_COMMA.search(source.text):
        _check_handlers(source, tree)
    return tree


def _check_handlers(source: SourceFile, tree: ast.Module) -> None:
    from modellint.frontends import python2

    handler = python2.handler_in(source.text, tree)
    if handler is not None:
        start, end = handler.col_offset, handler.col_offset + len("except")
        span = source.span_of_bytes(handler.lineno, start, handler.lineno, end)
        raise UnreadableError("`except` with a comma before a name", span, tried=grammars(), is_python2=True)


class _Outline:
    """Collects what a module defines at its top level, through `if`, `try` and `with`."""

    def __init__(self, module: ModuleFacts) -> None:
        self.module = module
        self.package = module.name if module.is_package else module.name.rpartition(".")[0]
        self.constants: dict[str, ast.expr | ast.stmt] = {}
        self.bound: set[str] = set()

    def _bind(self, name: str) -> None:
        if name in self.bound:
            self.module.rebound.add(name)
        self.bound.add(name)

    def read(self, tree: ast.Module) -> None:
        self._statements(tree.body)
        module = self.module
        last = max(len(module.source.lines), 1)
        module.trees[0, 0] = tree
        module.definitions = [
            (min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.lineno, n.end_lineno or n.lineno, n.name)
            for n in tree.body
            if isinstance(n, FunctionNode | ast.ClassDef)
        ]
        module.constants = _lazy_values(module, self.constants)
        module.body = Function(
            "<module>", "<module>", module, None, 0, last, 0, _lower_module_signature, _lower_module_body
        )

    def _statements(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                self._class(node, "")
            elif isinstance(node, FunctionNode):
                function = _function(self.module, node, None, node.name)
                self.module.functions[node.name] = function
                self._bind(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                for name in _collect_assignment(node, self.constants):
                    self._bind(name)
            elif isinstance(node, ast.If | ast.For | ast.While):
                self._statements(node.body)
                self._statements(node.orelse)
            elif isinstance(node, flow.TRY):
                self._statements(node.body)
                for handler in node.handlers:
                    self._fallbacks(handler.body)
                self._statements(node.orelse)
                self._statements(node.finalbody)
            elif isinstance(node, ast.With):
                self._statements(node.body)

    def _fallbacks(self, body: list[ast.stmt]) -> None:
        """Definitions of an `except` branch count only where the `try` branch gave none."""
        module = self.module
        imports, functions = dict(module.imports), dict(module.functions)
        classes, constants = dict(module.classes), dict(self.constants)
        self._statements(body)
        module.imports.update(imports)
        module.functions.update(functions)
        module.classes.update(classes)
        self.constants.update(constants)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        imports = self.module.imports
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    imports[alias.asname] = alias.name
                    self._bind(alias.asname)
                else:
                    top = alias.name.partition(".")[0]
                    if imports.get(top) != top:  # `import a.b` after `import a` binds the same
                        self._bind(top)
                    imports[top] = top
            return
        base = node.module or ""
        if node.level:
            parts = self.package.split(".") if self.package else []
            parts = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
            base = ".".join([*parts, base] if base else parts)
        for alias in node.names:
            if alias.name == "*":
                self.module.star_imports += (base,)
            else:
                name, full = alias.asname or alias.name, f"{base}.{alias.name}" if base else alias.name
                if imports.get(name) != full:
                    self._bind(name)
                imports[name] = full
                if node.level:
                    self.module.relative.add(name)

    def _class(self, node: ast.ClassDef, outer: str) -> None:
        qualname = f"{outer}{node.name}"
        attributes: dict[str, ast.expr | ast.stmt] = {}
        annotations: dict[str, ast.expr | ast.stmt] = {}
        methods: dict[str, Function] = {}
        module = self.module
        cls = Class(
            node.name,
            qualname,
            module,
            node.lineno,
            node.end_lineno or node.lineno,
            node.col_offset,
            _lazy_values(module, attributes),
            _lazy_values(module, annotations),
            methods,
            partial(_lower_head, node.bases, node.keywords, node.decorator_list, _raw_docstring(node)),
        )
        module.classes[qualname] = cls
        if not outer:
            self._bind(qualname)
        bound: set[str] = set()
        rebound: set[str] = set()
        hidden: list[Function] = []
        pending = list(reversed(node.body))
        while pending:
            item = pending.pop()
            if isinstance(item, FunctionNode):
                (rebound if item.name in bound else bound).add(item.name)
                existing = methods.get(item.name)
                function = _function(module, item, cls, f"{qualname}.{item.name}")
                if existing is None:
                    methods[item.name] = function
                elif _is_accessor(item):
                    hidden.append(function)
                else:
                    methods[item.name] = function
                    hidden.append(existing)
            elif isinstance(item, ast.ClassDef):
                self._class(item, f"{qualname}.")
            elif isinstance(item, ast.Assign | ast.AnnAssign):
                for name in _collect_assignment(item, attributes):
                    (rebound if name in bound else bound).add(name)
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    annotations[item.target.id] = item.annotation
            elif isinstance(item, ast.If):
                pending.extend(reversed([*item.body, *item.orelse]))
        cls.rebound = frozenset(rebound)
        cls.hidden = tuple(hidden)
        cls.attributes = _lazy_values(module, attributes)
        cls.annotations = _lazy_values(module, annotations)


def _is_accessor(node: FunctionNode) -> bool:
    """`@x.setter` and `@x.deleter` redefine a property's name; `@overload` declares it again."""
    return any(
        (isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter", "overload"))
        or (isinstance(d, ast.Name) and d.id == "overload")
        for d in node.decorator_list
    )


def _collect_assignment(node: ast.Assign | ast.AnnAssign, into: dict[str, ast.expr | ast.stmt]) -> list[str]:
    """Note what an assignment binds to names; the names."""
    names: list[str] = []
    if node.value is None:
        return names
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Name):
            into[target.id] = node.value
            names.append(target.id)
        elif (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(target.elts) == len(node.value.elts)
        ):
            for name, value in zip(target.elts, node.value.elts, strict=True):
                if isinstance(name, ast.Name):
                    into[name.id] = value
                    names.append(name.id)
    return names


def _lazy_values(module: ModuleFacts, nodes: dict[str, ast.expr | ast.stmt]) -> LazyValues:
    def lower(name: str) -> Value:
        return flow.lower_expression(cast("ast.expr", nodes.pop(name)))

    return LazyValues(tuple(nodes), lower)


def _function(module: ModuleFacts, node: FunctionNode, owner: Class | None, qualname: str) -> Function:
    module.trees[node.lineno, node.col_offset] = node
    return Function(
        node.name,
        qualname,
        module,
        owner,
        node.lineno,
        node.end_lineno or node.lineno,
        node.col_offset,
        partial(_lower_signature, tuple(node.decorator_list)),
        _lower_body,
    )


def _node_of(function: Function) -> FunctionNode:
    """The syntax tree of a function: the one held, or its own lines parsed again."""
    trees, place = function.module.trees, (function.line, function.offset)
    if place not in trees:
        trees[place] = _parsed_again(function)
    return cast("FunctionNode", trees[place])


def _parsed_again(function: Function) -> ast.stmt:
    # Lines above keep the lines as they are, and a block of its own the columns of an indented definition.
    text = function.module.source.text_between(function.line, function.end_line)
    if not text.lstrip("\f")[:1].isspace():
        return tree_of("\n" * (function.line - 1) + text).body[0]
    block = tree_of("\n" * (function.line - 2) + "if 1:\n" + text).body[0]
    return cast("ast.If", block).body[0]


def _lower_body(function: Function) -> Flow:
    names = [p.name for p in function.parameters]
    receiver = names[0] if function.owner is not None and names and not function.is_static else None
    return flow.lower_function(_node_of(function), names, receiver)


def _lower_signature(decorators: tuple[ast.expr, ...], function: Function) -> Signature:
    """The signature; the decorators stand above the lines of the function."""
    node = _node_of(function)
    arguments = node.args
    parameters: list[Parameter] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults.extend(arguments.defaults)
    for arg, default in zip(positional, defaults, strict=True):
        parameters.append(_parameter(arg, "positional", default))
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, "var-positional", None))
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(_parameter(arg, "keyword", default))
    if arguments.kwarg:
        parameters.append(_parameter(arguments.kwarg, "var-keyword", None))
    return Signature(
        tuple(parameters),
        _annotation(node.returns) if node.returns else None,
        tuple(flow.lower_expression(d) for d in decorators),
        _raw_docstring(node),
        isinstance(node, ast.AsyncFunctionDef),
    )


def _parameter(arg: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
    return Parameter(
        arg.arg,
        kind,
        flow.lower_expression(default) if default else None,
        _annotation(arg.annotation) if arg.annotation else None,
    )


def _annotation(node: ast.expr) -> Value:
    """The value of an annotation; one that is written as a string is read as the expression it holds."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            inner = tree_of(node.value, "eval").body
        except (SyntaxError, RecursionError, MemoryError, ValueError):
            return flow.lower_expression(node)
        for part in ast.walk(inner):
            ast.copy_location(part, node)
        return flow.lower_expression(inner)
    return flow.lower_expression(node)


def _raw_docstring(node: ast.ClassDef | FunctionNode) -> str | None:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first.value.value
    return None


def _lower_head(
    bases: list[ast.expr],
    keywords: list[ast.keyword],
    decorators: list[ast.expr],
    docstring: str | None,
    _: Class,
) -> ClassHead:
    return ClassHead(
        tuple(flow.lower_expression(base) for base in bases),
        {k.arg: flow.lower_expression(k.value) for k in keywords if k.arg},
        tuple(flow.lower_expression(d) for d in decorators),
        docstring,
    )


def _lower_module_signature(_: Function) -> Signature:
    return Signature((), None, (), None, False)


def _lower_module_body(function: Function) -> Flow:
    trees = function.module.trees
    if (0, 0) not in trees:
        trees[0, 0] = _outline_parsed_again(function.module)
    return flow.lower_statements(cast("ast.Module", trees[0, 0]).body)


def _outline_parsed_again(module: ModuleFacts) -> ast.Module:
    """The statements of a file, of functions and classes nothing but their names, each in its line."""
    lines = list(module.source.lines)
    for first, line, last, name in module.definitions:
        lines[first - 1 : last] = ["\n"] * (last - first + 1)
        lines[line - 1] = f"class {name}: pass\n"
    return tree_of("".join(lines))
