"""The bytes of a file of Python or YAML with edits in them, and the proof that nothing else has changed."""

from __future__ import annotations

import tokenize
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from modellint.edits.changes import EditError, applied, changes_of, moved
from modellint.frontends.syntax import tokens_of, tree_of
from modellint.source import (
    YAML,
    SourceFile,
    UnreadableError,
    decode_python,
    decode_yaml,
    kind_of,
    split_lines,
    unified,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from modellint.edits.changes import Change
    from modellint.finding import Edit

#: Tokens of the layout; parsing the result tells whether they still fit.
_LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}


class Token(NamedTuple):
    """A token with extent, by offsets in characters."""

    start: int
    end: int
    kind: object
    text: str


def decoded(path: Path, data: bytes) -> SourceFile:
    """A file as it was linted. Raises EditError."""
    try:
        return (decode_yaml if kind_of(path.name) == YAML else decode_python)(path, data)
    except UnreadableError as error:
        raise EditError(error.reason) from None


def edited(path: Path, data: bytes, edits: Iterable[Edit]) -> bytes:
    """The content of a file after edits.

    Raises EditError where they do not fit it, where the result cannot be parsed or encoded, or where anything but
    what the edits replace would be different.
    """
    source = decoded(path, data)
    changes = changes_of(source, edits)
    text = applied(source.text, changes)
    result = _encode(source, data, text)
    if kind_of(path.name) == YAML:
        _check_yaml(path, source.text, result, text, changes)
    else:
        _check_python(path, source.text, result, text, changes)
    return result


def _encode(source: SourceFile, data: bytes, text: str) -> bytes:
    """A new text as the file was encoded; only if that encoding gives back the old one byte by byte."""
    mark = "\ufeff".encode(source.encoding) if source.bom else b""
    try:
        if mark + source.text.encode(source.encoding) != data:
            raise EditError(f"{source.encoding} cannot give back the file as it is")
        return mark + text.encode(source.encoding)
    except UnicodeEncodeError:
        raise EditError(f"{source.encoding} cannot express the new text") from None


def _check_python(path: Path, old: str, data: bytes, new: str, changes: Sequence[Change]) -> None:
    try:
        if decode_python(path, data).text != new:
            raise EditError("the result would be decoded in another way")
        tree = tree_of(new)
        before, after = _python_tokens(old), _python_tokens(new)
    except (UnreadableError, SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise EditError(f"the result is no Python ({error})") from None
    _check_tokens(before, after, changes, partial(_touches, changes=changes))
    _check_lossless(tree, new, changes)


def _check_lossless(tree: ast.Module, text: str, changes: Sequence[Change]) -> None:
    """Check that libcst reads the changed statements like Python. Raises EditError if it does not.

    It knows the syntax of fewer releases, and less depth, than Python itself, so what it cannot read says nothing.
    """
    try:
        import libcst
    except ImportError as error:
        raise EditError(f"libcst cannot be imported ({error}); expected `pip install libcst`") from None

    starts = _line_starts(text)
    spots = [moved(change.start, changes[:number]) for number, change in enumerate(changes)]
    for statement in tree.body:
        first = min(
            (decorator.lineno for decorator in getattr(statement, "decorator_list", ())), default=statement.lineno
        )
        start, end = starts[first - 1], starts[statement.end_lineno or first]
        if not any(start <= spot < end for spot in spots):
            continue
        part = unified(text[start:end]).replace("\f", "")  # libcst loses single CRs and form feeds
        try:
            is_same = libcst.parse_module(part).code == part
        except (libcst.ParserSyntaxError, libcst.CSTValidationError, RecursionError):
            continue
        if not is_same:
            raise EditError(f"the statement at line {first} of the result is ambiguous")


def _python_tokens(text: str) -> list[Token]:
    starts = _line_starts(text)
    return [
        Token(
            starts[token.start[0] - 1] + token.start[1],
            starts[token.end[0] - 1] + token.end[1],
            token.type,
            token.string,
        )
        for token in tokens_of(text)
        if token.type not in _LAYOUT
    ]


def _line_starts(text: str) -> list[int]:
    """The offset of each line, and that of the end, as Python splits lines."""
    return list(accumulate(map(len, split_lines(text)), initial=0))


def _touches(token: Token, changes: Sequence[Change]) -> bool:
    """True if a change replaces a part of a token, or inserts into it."""
    return any(token.start < change.end and change.start < token.end for change in changes)


def _check_yaml(path: Path, old: str, data: bytes, new: str, changes: Sequence[Change]) -> None:
    from modellint.frontends import recipe

    try:
        recipe.read(path, data, included=True)
        before, after = list(_yaml_tokens(old)), list(_yaml_tokens(new))
    except UnreadableError as error:
        raise EditError(f"the result is no recipe ({error.reason})") from None

    def replaces(token: Token) -> bool:
        # An insertion behind the last line of a block lies within its extent, and must not change its value.
        return _touches(token, [change for change in changes if change.start < change.end])

    _check_tokens(before, after, changes, replaces)


def _yaml_tokens(text: str) -> Iterator[Token]:
    import yaml

    loader = getattr(yaml, "CLoader", yaml.Loader)
    try:
        for token in yaml.scan(text, Loader=loader):
            start, end = token.start_mark.index, token.end_mark.index
            if end > start:
                yield Token(start, end, type(token), str(getattr(token, "value", "")))
    except yaml.YAMLError as error:
        raise UnreadableError(str(error)) from None


def _check_tokens(
    before: Iterable[Token], after: Iterable[Token], changes: Sequence[Change], is_changed: Callable[[Token], bool]
) -> None:
    """Check that every token which no change replaces is still there, moved as the changes move it."""
    present = {(token.start, token.kind, token.text) for token in after}
    for token in before:
        if not is_changed(token) and (moved(token.start, changes), token.kind, token.text) not in present:
            raise EditError(f"it would change `{token.text.strip()[:40]}`, which it does not speak of")
