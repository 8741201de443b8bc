"""Recognise Python 3.6 and older by `async` and `await` as names, which Python 3.7 made keywords."""

from __future__ import annotations

import tokenize
from itertools import pairwise
from typing import TYPE_CHECKING

from modellint.frontends.syntax import tokens_of
from modellint.source import unified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SKIPPED = frozenset((tokenize.COMMENT, tokenize.NL))
#: What stands behind the keyword `async`.
_BEHIND_ASYNC = frozenset(("def", "for", "with"))
#: What no operand begins with: behind it, `await` is a name.
_NO_OPERAND = frozenset("= , ) ] } : . += -= == != < > <= >= and or if else for in is".split())


def keyword_as_name(text: str, parses: Callable[[str], bool]) -> str | None:
    """The keyword that a text has as a name, if it `parses` with another name in its place; else None."""
    try:
        found = list(_names(text))
    except (SyntaxError, tokenize.TokenError, IndentationError):
        return None
    if not found:
        return None
    lines = unified(text).split("\n")
    for word, line, column in reversed(found):
        at = column + len(word)
        lines[line - 1] = f"{lines[line - 1][:at]}_{lines[line - 1][at:]}"
    return found[0][0] if parses("\n".join(lines)) else None


def _names(text: str) -> Iterator[tuple[str, int, int]]:
    """The keywords that stand where only a name can, each with its line (from 1) and column (from 0)."""
    tokens = [token for token in tokens_of(text) if token.type not in _SKIPPED]
    for token, following in pairwise(tokens):
        is_async = token.string == "async" and following.string not in _BEHIND_ASYNC
        is_await = token.string == "await" and (following.string in _NO_OPERAND or following.type == tokenize.NEWLINE)
        if token.type == tokenize.NAME and (is_async or is_await):
            yield token.string, *token.start
