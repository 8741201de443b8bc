"""The one way from text to a syntax tree, in the grammar of this interpreter or of a newer one."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tokenize
import warnings
from typing import TYPE_CHECKING, Literal, cast, overload

from modellint.source import unified

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The newest Python whose grammar is read, whatever runs modellint.
NEWEST = (3, 14)

_FORMATTED = re.compile(r"""[fFtT][rR]?["']""")


@overload
def tree_of(text: str) -> ast.Module: ...
@overload
def tree_of(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def tree_of(text: str, mode: str = "exec") -> ast.AST:
    """The syntax tree of a text. Raises SyntaxError, ValueError, RecursionError or MemoryError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return cast("ast.AST", ast.parse(text, mode=mode))
        except SyntaxError as error:
            if sys.version_info >= NEWEST:
                raise
            own = error
        from modellint.frontends import newer

        try:
            return newer.parse(text, mode)
        except SyntaxError as error:
            # The parser that got further was not stopped by syntax that is merely new.
            raise max(own, error, key=_place) from None


def tokens_of(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text, where they stand in it; of formatted strings those of the code in them.

    Raises SyntaxError or tokenize.TokenError where it stops being Python.
    """
    text = unified(text)
    if sys.version_info < (3, 12) and _FORMATTED.search(text):
        from modellint.frontends.levelling import levelled

        with contextlib.suppress(SyntaxError):
            text = levelled(text).aligned
    return tokenize.generate_tokens(io.StringIO(text).readline)


def grammars() -> str:
    """The grammars with which a text was tried, as a sentence."""
    version = sys.version_info[:2]
    newest = "" if version >= NEWEST else f", and of Python {NEWEST[0]}.{NEWEST[1]}"
    return f"tried the grammar of Python {version[0]}.{version[1]}, which runs modellint{newest}"


def _place(error: SyntaxError) -> tuple[int, int]:
    return error.lineno or 0, error.offset or 0
