"""Strings of Jinja, whose escapes are those of Python's strings."""

from __future__ import annotations

import codecs


def text_of(quoted: str) -> str:
    """The text of a string with its quotes. Raises ValueError for an escape that Python refuses."""
    inner = quoted[1:-1]
    if "\\" not in inner:
        return inner
    try:
        # Jinja writes other characters as escapes first.
        return codecs.decode(inner.encode("ascii", "backslashreplace"), "unicode_escape")
    except UnicodeDecodeError as error:
        raise ValueError(f"{error.reason} in a string") from None
