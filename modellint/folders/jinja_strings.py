"""Strings of Jinja, whose escapes are those of Python's strings."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[\da-fA-F]{2})|u(?P<short>[\da-fA-F]{4})|U(?P<long>[\da-fA-F]{8})"
    r"|N\{(?P<name>[^}]*)\}|(?P<one>.))",
    re.DOTALL,
)
_ONE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": ""}


def text_of(quoted: str) -> str:
    """The text of a string with its quotes. Raises ValueError for an escape that Python refuses."""
    return _ESCAPE.sub(_character, quoted[1:-1])


def _character(match: re.Match[str]) -> str:
    kind, body = match.lastgroup, match[match.lastgroup or 0]
    if kind == "one":
        if body in "xuUN":
            raise ValueError(f"`{match[0]}` is no whole escape of a string")
        return _ONE.get(body, body if body in "\\'\"" else match[0])
    try:
        return unicodedata.lookup(body) if kind == "name" else chr(int(body, 8 if kind == "octal" else 16))
    except (KeyError, ValueError, OverflowError):
        raise ValueError(f"`{match[0]}` is no character") from None
