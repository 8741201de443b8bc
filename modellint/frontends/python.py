"""Python files to outlines: imports, constants, classes and functions, with bodies lowered on demand."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from modellint.frontends import flow, outline
from modellint.frontends.expressions import FunctionNode, parameters_of
from modellint.frontends.outline import items, span, spans, text, texts, typed
from modellint.frontends.stubs import without_bodies
from modellint.frontends.syntax import grammars, tree_of
from modellint.graph.python import Class, ClassHead, Function, LazyValues, ModuleFacts, Signature
from modellint.graph.value import Parameter
from modellint.source import PYTHON_2, PYTHON_3_6, TEMPLATE, Span, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from modellint.frontends.outline import Outline, Place, Trees
    from modellint.graph.value import Flow, Value
    from modellint.source import SourceFile

#: The errors of parsing a part of a file again if an outline is not that of the file.
_NO_CODE = (SyntaxError, RecursionError, MemoryError, ValueError)
#: Of most classes: that of their annotations.
_NO_VALUES: Mapping[str, Value] = MappingProxyType({})
#: `except A, b:`, which Python 3.14 reads in another way than Python 2.
_NAMED_BY_COMMA = re.compile(r"except[^:\r\n]{0,300},\s*[^\W\d]\w*\s*:")


def read(source: SourceFile, exists: Callable[[Path], bool]) -> ModuleFacts:
    """The facts of a Python file; whether files exist tells where its package begins.

    Raises UnreadableError, with the place, for text that does not parse.
    """
    name, is_package = module_name(source.path, exists)
    return facts(source, name, is_package, *outlined(source, name, is_package))


def outlined(source: SourceFile, name: str, is_package: bool) -> tuple[Outline, Trees]:
    """The outline of a Python file with a dotted name, and the syntax trees at the places in it.

    Raises UnreadableError, with the place, for text that does not parse.
    """
    return outline.of_tree(parse(source), _package(name, is_package=is_package))


def sketched(source: SourceFile, name: str, is_package: bool) -> tuple[Outline, Trees]:
    """The same for an imported file: the bodies of functions are left out before parsing."""
    stubs = None if _NAMED_BY_COMMA.search(source.text) else without_bodies(source.text)
    if stubs is not None:
        with suppress(*_NO_CODE):
            return outline.of_tree(tree_of(stubs[0]), _package(name, is_package=is_package), stubs[1])
    return outlined(source, name, is_package)


def _package(name: str, *, is_package: bool) -> str:
    return name if is_package else name.rpartition(".")[0]


def facts(source: SourceFile, name: str, is_package: bool, known: Outline, trees: Trees) -> ModuleFacts:
    """The facts of a file with a known outline. Parts without a tree are parsed when they are first needed.

    Raises TypeError, ValueError or KeyError for what is no outline.
    """
    module = ModuleFacts(source, name, is_package, trees=trees)
    _Facts(module).read(known)
    return module


def module_name(path: Path, exists: Callable[[Path], bool]) -> tuple[str, bool]:
    """The dotted name of a file in its package (folders with an `__init__.py`), and if it is a package itself.

    A package called `torch` is part of the folder around it, a namespace, as otherwise it would hide torch.
    """
    is_package = path.stem == "__init__"
    parts = [] if is_package else [path.stem]
    folder = path.parent
    while exists(folder / "__init__.py") and folder.name:
        parts.append(folder.name)
        folder = folder.parent
    if parts[-1:] == ["torch"] and folder != path.parent and folder.name.isidentifier():
        parts.append(folder.name)
    return ".".join(reversed(parts)) or path.stem, is_package


def parse(source: SourceFile) -> ast.Module:
    """The syntax tree of Python source. Raises UnreadableError, with the place."""
    try:
        tree = tree_of(source.text)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), max(len(source.lines), 1))
        column = max(error.offset or 1, 1)
        reason, other = _other_than_python(source, source.starts[line - 1] + column - 1, error)
        reason = reason or (error.msg if "syntax" in error.msg else f"syntax error: {error.msg}")
        span = Span(line, column, line, column + 1)
        raise UnreadableError(reason, span, tried=grammars(), other=other) from None
    except (RecursionError, MemoryError):
        raise UnreadableError("nested too deeply to parse") from None
    except ValueError as error:
        raise UnreadableError(str(error)) from None
    if _NAMED_BY_COMMA.search(source.text):
        _check_handlers(source, tree)
    return tree


def _other_than_python(source: SourceFile, stop: int, error: SyntaxError) -> tuple[str, str]:
    """The sign that a file is no Python of today, and its kind (a template, Python 2); two empty texts for an error."""
    from modellint.frontends import old_names, python2, templates

    tag = templates.tag_in(source.text, stop, _parses, is_python=True)
    if tag is not None:
        return f"`{tag}` is filled in before it is Python", TEMPLATE
    tag = templates.tag_in_path(source.path)
    if tag is not None:
        return f"`{tag}` in its path is filled in before it is Python", TEMPLATE
    sign = python2.sign_in(source.text, error)
    if sign is not None:
        return sign, PYTHON_2
    name = old_names.keyword_as_name(source.text, _parses)
    return ("", "") if name is None else (f"the name `{name}`", PYTHON_3_6)


def _parses(text: str) -> bool:
    try:
        tree_of(text)
    except _NO_CODE:
        return False
    return True


def _check_handlers(source: SourceFile, tree: ast.Module) -> None:
    from modellint.frontends import python2

    handler = python2.handler_in(source.text, tree)
    if handler is not None:
        start, end = handler.col_offset, handler.col_offset + len("except")
        span = source.span_of_bytes(handler.lineno, start, handler.lineno, end)
        raise UnreadableError("`except` with a comma before a name", span, tried=grammars(), other=PYTHON_2)


class _Facts:
    """Builds the facts of an outline."""

    def __init__(self, module: ModuleFacts) -> None:
        self._module = module
        self._last = max(len(module.source.starts) - 1, 1)
        self._lower = partial(_lowered_at, module)

    def read(self, known: Outline) -> None:
        module = self._module
        module.is_whole = typed(known["whole"], bool)
        module.imports = {text(name): text(full) for name, full in typed(known["imports"], dict).items()}
        module.relative = set(texts(known["relative"]))
        module.star_imports = texts(known["stars"])
        module.rebound = set(texts(known["rebound"]))
        module.definitions = [(*self._where(where), text(name)) for *where, name in items(known["definitions"])]
        module.constants = self._values(known["constants"])
        for cls in items(known["classes"]):
            self._class(*cls)
        module.functions = {f.name: f for f in self._functions(known["functions"], None)}
        module.body = Function(
            "<module>",
            "<module>",
            module,
            None,
            0,
            self._last,
            0,
            _lower_module_signature,
            _lower_body,
            _no_docstring,
        )

    def _where(self, known: Any) -> tuple[int, int, int]:
        """Three numbers, of which the first two are lines: the last line is not before the first."""
        line, end_line, offset = known
        if not type(line) is type(end_line) is type(offset) is int:
            raise TypeError(f"expected three numbers, not {known!r}")
        if not 1 <= line <= end_line <= self._last or offset < 0:
            raise ValueError(f"no lines of the file: {line} to {end_line}")
        return line, end_line, offset

    def _class(
        self,
        qualname: Any,
        where: Any,
        head: Any,
        attributes: Any,
        annotations: Any,
        own: Any,
        hidden: Any,
        rebound: Any,
    ) -> None:
        line, end_line, offset = self._where(where)
        bases, keywords, decorators, docstring = items(head)
        methods: dict[str, Function] = {}
        name = text(qualname).rpartition(".")[2]
        cls = Class(
            name,
            qualname,
            self._module,
            line,
            end_line,
            offset,
            self._values(attributes),
            self._values(annotations),
            methods,
            partial(
                _lower_head,
                spans(bases),
                tuple((text(word), span(place)) for word, place in items(keywords)),
                spans(decorators),
            ),
            _docstring_at(docstring),
            frozenset(texts(rebound)),
        )
        methods.update((f.name, f) for f in self._functions(own, cls))
        cls.hidden = tuple(self._functions(hidden, cls))
        self._module.classes[qualname] = cls

    def _functions(self, known: Any, owner: Class | None) -> Iterator[Function]:
        outer = "" if owner is None else f"{owner.qualname}."
        for name, where, cut, docstring, decorators in items(known):
            line, end_line, offset = self._where(where)
            cut_line, cut_offset = cut
            if not type(cut_line) is type(cut_offset) is int:
                raise TypeError(f"expected two numbers, not {cut!r}")
            yield Function(
                text(name),
                f"{outer}{name}",
                self._module,
                owner,
                line,
                end_line,
                offset,
                partial(_lower_signature, (cut_line, cut_offset), spans(decorators)),
                _lower_body,
                _docstring_at(docstring),
            )

    def _values(self, known: Any) -> Mapping[str, Value]:
        places = {text(name): span(place) for name, place in typed(known, dict).items()}
        return LazyValues(places, self._lower) if places else _NO_VALUES


def _lowered_at(module: ModuleFacts, place: Place) -> Value:
    return flow.lower_expression(_expression(module, place))


def _expression(module: ModuleFacts, place: Place) -> ast.expr:
    """The syntax tree of an expression outside of functions: the one held, or its text parsed again."""
    held = module.trees.get(place)
    return _expression_parsed_again(module, place) if held is None else cast("ast.expr", held)


def _expression_parsed_again(module: ModuleFacts, place: Place) -> ast.expr:
    code = module.source.text_of_bytes(*place)
    node = _between_parentheses(code, *place[:2])
    if node is None and code.startswith("*"):  # which needs a tuple to stand in
        tuple_of_it = _between_parentheses(f"{code}\n,", *place[:2])
        node = tuple_of_it.elts[0] if isinstance(tuple_of_it, ast.Tuple) else None
    node = node or ast.Name("_", ast.Load())
    node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = place
    return node


def _between_parentheses(code: str, line: int, offset: int) -> ast.expr | None:
    """The syntax tree of an expression, parsed in parentheses at its own line and offset; None if that fails."""
    lead = "\n" * (line - 2) + "(\n" + " " * offset if line > 1 else "(" + " " * (offset - 1)
    try:
        return tree_of(f"{lead}{code}\n)", "eval").body
    except _NO_CODE:
        return None


def _node_of(function: Function) -> FunctionNode:
    """The syntax tree of a function: the one held, or its own lines parsed again."""
    trees, place = function.module.trees, (function.line, function.offset)
    if place not in trees:
        trees[place] = _parsed_again(function)
    return cast("FunctionNode", trees[place])


def _parsed_again(function: Function) -> FunctionNode:
    code = function.module.source.text_between(function.line, function.end_line)
    node = _statement(function.line, code)
    return node if isinstance(node, FunctionNode) else _unknown(function)


def _statement(line: int, code: str) -> ast.stmt | None:
    """The syntax tree of a statement whose text begins in a line, with its indentation; None if it is none."""
    # Lines above keep the lines as they are, and a block of its own the columns of an indented definition.
    is_indented = code.lstrip("\f")[:1].isspace()
    try:
        tree = tree_of("\n" * (line - 2) + "if 1:\n" + code if is_indented else "\n" * (line - 1) + code)
    except _NO_CODE:
        return None
    body = cast("ast.If", tree.body[0]).body if is_indented and tree.body else tree.body
    return body[0] if body else None


def _unknown(function: Function) -> FunctionNode:
    """A function with an empty body, for one whose code does not parse."""
    node = cast("FunctionNode", tree_of("\n" * (function.line - 1) + "def f(*_, **__): ...").body[0])
    node.body.clear()
    return node


def _anything(line: int, names: list[str]) -> list[ast.stmt]:
    """A body that may do anything with some parameters."""
    return tree_of("\n" * (line - 1) + f"return exec({', '.join(names)})").body


def _head_of(function: Function, cut: tuple[int, int]) -> FunctionNode:
    """The syntax tree of a function's head: that of the whole if it is held, or the text up to its body parsed."""
    trees, place = function.module.trees, (function.line, function.offset)
    held = trees.get(place) or trees.get((*place, outline.HEAD))
    if held is None:
        code = function.module.source.text_of_bytes(function.line, 0, *cut)
        # A cut at the start of the body's first line takes off its indentation, too.
        held = _statement(function.line, code + ("pass" if cut[1] else f"{' ' * (function.offset + 1)}pass"))
    return held if isinstance(held, FunctionNode) else _node_of(function)


def _lower_body(function: Function) -> Flow:
    return lower(function)[0].flow


def lower(function: Function, kind: type[flow.Lowering] | None = None) -> tuple[flow.Lowering, ast.AST]:
    """Lower a body, by a class that derives from `Lowering` if one is given; and its syntax tree."""
    module = function.module
    if function is module.body:
        tree = module.trees.pop(outline.WHOLE, None) or _outline_parsed_again(module)
        return flow.lower_statements(cast("ast.Module", tree).body, kind), cast("ast.Module", tree)
    node = _node_of(function)  # first, as its head is read from it, too
    names = [p.name for p in function.parameters]
    receiver = names[0] if function.owner is not None and names and not function.is_static else None
    node.body = node.body or _anything(function.line, names)
    lowering = flow.lower_function(node, names, receiver, kind)
    del module.trees[function.line, function.offset]
    return lowering, node


def _lower_signature(cut: tuple[int, int], decorators: tuple[Place, ...], function: Function) -> Signature:
    """The signature; the decorators stand above the lines of the function."""
    module = function.module
    node = _head_of(function, cut)
    return Signature(
        tuple(_parameter(*one) for one in parameters_of(node.args)),
        _annotation(node.returns) if node.returns else None,
        tuple(_lowered_at(module, decorator) for decorator in decorators),
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


def _docstring_at(known: Any) -> Callable[[ModuleFacts], str | None]:
    """A function that reads the docstring at a known place."""
    return _no_docstring if known is None else partial(_string, span(known))


def _no_docstring(_: ModuleFacts) -> None:
    """The docstring of a definition without one: None."""


def _string(place: Place, module: ModuleFacts) -> str | None:
    """The text that a constant holds."""
    node = _expression(module, place)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _lower_head(
    bases: tuple[Place, ...],
    keywords: tuple[tuple[str, Place], ...],
    decorators: tuple[Place, ...],
    cls: Class,
) -> ClassHead:
    value = partial(_lowered_at, cls.module)
    return ClassHead(
        tuple(map(value, bases)),
        {name: value(place) for name, place in keywords},
        tuple(map(value, decorators)),
    )


def _lower_module_signature(_: Function) -> Signature:
    return Signature((), None, (), False)


def _outline_parsed_again(module: ModuleFacts) -> ast.Module:
    """The tree of a file's statements, in which functions and classes are reduced to their names, each in its line."""
    lines = list(module.source.lines)
    for first, last, line, name in module.definitions:
        lines[first - 1 : last] = ["\n"] * (last - first + 1)
        lines[line - 1] = f"class {name}: pass\n"
    try:
        return tree_of("".join(lines))
    except _NO_CODE:
        return ast.Module([], [])
