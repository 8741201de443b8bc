"""Python in a grammar that is newer than the interpreter: the syntax trees that a newer interpreter makes of it.

Read are formatted strings of Python 3.12 (PEP 701), type parameters and their defaults and the `type` statement (PEP
695 and 696), exceptions without parentheses (PEP 758), template strings (PEP 750), and for Python 3.10 stars in
subscripts and annotations (PEP 646) and `except*` (PEP 654). The interpreter's own parser reads all the rest, and the
expressions in what is new: it is given a text of the same shape (`modellint.frontends.levelling`), so that places, and
the reasons for what is wrong elsewhere, are its own.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from modellint.frontends.formatted import Field, Part
from modellint.frontends.levelling import levelled
from modellint.source import unified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.frontends.formatted import Joined, Text
    from modellint.frontends.levelling import Levelled


_Placed = TypeVar("_Placed", ast.expr, ast.stmt)


def _node(name: str, base: type[ast.AST], *fields: str) -> Callable[..., Any]:
    """A class of nodes, also where the interpreter has none of that name yet."""
    return getattr(ast, name, None) or type(name, (base,), {"_fields": fields})


_COMMENT = re.compile(r"#[^\n]*")

_type_alias = _node("TypeAlias", ast.stmt, "name", "type_params", "value")
_template = _node("TemplateStr", ast.expr, "values")
_interpolation = _node("Interpolation", ast.expr, "value", "str", "conversion", "format_spec")

#: Where a star may stand before an expression.
_STARRED = {(ast.Subscript, "slice"), (ast.Tuple, "elts"), (ast.List, "elts"), (ast.arg, "annotation")}


def parse(text: str, mode: str = "exec") -> ast.AST:
    """The syntax tree of a text; without the type parameters. Raises what `ast.parse` raises."""
    older = levelled(unified(text))
    tree: ast.AST = ast.parse(older.text, mode=mode)
    graft = _Graft(older)
    graft.into(tree)
    if graft.is_left:
        raise SyntaxError("invalid syntax")
    return tree


class _Graft:
    """The new syntax of a text, to be grafted onto the tree of the older text."""

    def __init__(self, older: Levelled) -> None:
        self._older = older
        self._joined = {(older.place(j.start), older.place(j.end)): j for j in older.joined}
        self._aliases = set(map(older.place, older.aliases))
        self._stars = set(map(older.place, older.stars))
        self._handlers = {older.place(start): (end, count) for start, end, count in older.handlers}

    @property
    def is_left(self) -> bool:
        """True if a piece of new syntax was not found in the tree."""
        return bool(self._joined or self._aliases or self._stars or self._handlers)

    def into(self, tree: ast.AST) -> None:
        """Graft the new syntax onto a tree."""
        pending = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.ExceptHandler) and node.type is not None and self._handlers:
                node.type = self._exceptions(node.type)
            for name, value in ast.iter_fields(node):
                if isinstance(value, list):
                    if self._aliases and value and isinstance(value[0], ast.stmt):
                        value[:] = self._statements(value)
                    value[:] = (self._expression(item, node, name) for item in value)
                    pending += (item for item in value if isinstance(item, ast.AST))
                elif isinstance(value, ast.AST):
                    new = self._expression(value, node, name)
                    if isinstance(new, ast.Starred) and isinstance(node, ast.Subscript):
                        new = _like(new, ast.Tuple([new], ast.Load()))
                    if new is not value:
                        setattr(node, name, new)
                    pending.append(new)

    def _expression(self, node: Any, parent: ast.AST, name: str) -> Any:
        if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
            joined = self._joined.pop(_extent(node), None)
            return node if joined is None else self._string(joined, node)
        if isinstance(node, ast.UnaryOp) and _extent(node)[0] in self._stars and (type(parent), name) in _STARRED:
            self._stars.remove(_extent(node)[0])
            return _like(node, ast.Starred(node.operand, ast.Load()))
        return node

    def _statements(self, body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        first: ast.stmt | None = None
        for node in body:
            if first is not None and isinstance(node, ast.Assign):
                target = node.targets[0]
                name = target.value if isinstance(target, ast.Subscript) else target
                if isinstance(name, ast.Name):
                    name.ctx = ast.Store()
                alias: ast.stmt = _type_alias(name=name, type_params=[], value=node.value)
                yield _set_place(alias, _extent(first)[0], _extent(node)[1])
                first = None
            elif _extent(node)[0] in self._aliases:
                self._aliases.remove(_extent(node)[0])
                first = node
            else:
                yield node

    def _exceptions(self, node: ast.expr) -> ast.expr:
        """`A | B` to the tuple of `A` and `B`."""
        start = _extent(node)[0]
        if start not in self._handlers:
            return node
        end, count = self._handlers.pop(start)
        found = []
        for _ in range(count - 1):
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.BitOr):
                raise SyntaxError("invalid syntax")
            found.append(node.right)
            node = node.left
        elements = [node, *reversed(found)]
        return _set_place(ast.Tuple(elements, ast.Load()), start, self._older.place(end))

    # -- strings ---------------------------------------------------------------------------------------------------

    def _string(self, joined: Joined, node: ast.Tuple) -> ast.expr:
        expressions = iter(node.elts)
        values = [
            value
            for part in joined.parts
            for value in (
                [self._constant(_value_of(part, self._older), part.start, part.end, part.prefix == "u")]
                if part.pieces is None
                else self._values(part.pieces, part, expressions, is_template=joined.is_template)
            )
        ]
        made = _template if joined.is_template else ast.JoinedStr
        return _like(node, made(values=_merge_constants(values)))

    def _values(
        self, pieces: Iterable[Text | Field], part: Part, expressions: Iterator[ast.expr], *, is_template: bool
    ) -> Iterator[ast.expr]:
        text = self._older.original
        for piece in pieces:
            if not isinstance(piece, Field):
                yield self._constant(_decode_escapes(text[piece.start : piece.end], part), piece.start, piece.end)
                continue
            shown = ""
            if piece.shown is not None:
                shown = text[piece.start + 1 : piece.stop] + _COMMENT.sub("", text[piece.stop : piece.shown])
                yield self._constant(shown, piece.start + 1, piece.shown)
            value = self._value(piece, expressions)
            spec: ast.expr | None = None
            if piece.spec is not None:
                inner = _merge_constants(self._values(piece.spec.pieces, part, expressions, is_template=False))
                spec = self._at(ast.JoinedStr(values=inner), piece.spec.start, piece.spec.end)
            conversion = ord("r") if shown and spec is None and piece.conversion < 0 else piece.conversion
            made: ast.expr
            if is_template:
                written = text[piece.start + 1 : piece.stop].strip()
                made = _interpolation(value=value, str=written, conversion=conversion, format_spec=spec)
            else:
                made = ast.FormattedValue(value=value, conversion=conversion, format_spec=spec)
            yield self._at(made, piece.start, piece.end)

    def _value(self, field: Field, expressions: Iterator[ast.expr]) -> ast.expr:
        elements = [item for _, item in zip(range(field.elements or 1), expressions, strict=False)]
        if not elements:
            raise SyntaxError("invalid syntax")
        if not field.elements:
            return elements[0]
        text = self._older.original[field.start + 1 : field.stop]
        end = field.start + 1 + len(text.rstrip()) if field.trails else None
        node = ast.Tuple(elements, ast.Load())
        start = elements[0].lineno, elements[0].col_offset
        return _set_place(node, start, _extent(elements[-1])[1] if end is None else self._older.place(end))

    def _constant(self, value: str, start: int, end: int, is_unicode: bool = False) -> ast.expr:
        return self._at(ast.Constant(value, kind="u" if is_unicode else None), start, end)

    def _at(self, node: ast.expr, start: int, end: int) -> ast.expr:
        return _set_place(node, self._older.place(start), self._older.place(end))


def _value_of(part: Part, older: Levelled) -> str:
    if "b" in part.prefix:
        raise SyntaxError("cannot mix bytes and nonbytes literals")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(ast.literal_eval(older.original[part.start : part.end]))


def _decode_escapes(text: str, part: Part) -> str:
    """The characters of the text between the fields of a formatted string, with escapes decoded."""
    text = text.replace("{{", "{").replace("}}", "}")
    if "r" in part.prefix or "\\" not in text:
        return text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The text may end with a quote, or with a backslash before the brace of a field.
        return str(ast.literal_eval(f"{part.quote}{text} {part.quote}"))[:-1]


def _merge_constants(values: Iterable[ast.expr]) -> list[ast.expr]:
    """The values with adjacent constants merged, and empty ones dropped."""
    result: list[ast.expr] = []
    for value in values:
        last = result[-1] if result else None
        if not isinstance(value, ast.Constant):
            result.append(value)
        elif isinstance(last, ast.Constant):
            kept = ast.Constant(str(last.value) + str(value.value), kind=last.kind)
            result[-1] = _set_place(kept, _extent(last)[0], _extent(value)[1])
        else:
            result.append(value)
    return [value for value in result if not isinstance(value, ast.Constant) or value.value]


def _extent(node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _like(old: ast.expr, new: ast.expr) -> ast.expr:
    return _set_place(new, *_extent(old))


def _set_place(node: _Placed, start: tuple[int, int], end: tuple[int, int]) -> _Placed:
    node.lineno, node.col_offset = start
    node.end_lineno, node.end_col_offset = end
    return node
