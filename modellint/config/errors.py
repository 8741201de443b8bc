"""Errors that only the user can correct, and guesses of the intended name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UsageError(Exception):
    """An error that only the user can correct; the message says what, where and what was expected."""


def closest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `name` was probably meant to be."""
    import difflib

    matches = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return matches[0] if matches else None


def nearest(name: str, names: Iterable[str], otherwise: str) -> str:
    """`; did you mean …?` with the closest of `names`, or `otherwise`."""
    found = closest(name, names)
    return f"; did you mean `{found}`?" if found else otherwise


def closest_code(text: str, codes: Iterable[str]) -> str | None:
    """The code that `text` was probably meant to be: one character is wrong, missing or too many, or two are swapped.

    Codes share most of their characters, so that others which have many in common are no likelier than any.
    """
    text = text.upper()
    return closest(text, (code for code in codes if _is_one_slip(text, code)))


def _is_one_slip(text: str, meant: str) -> bool:
    least = min(len(text), len(meant))
    start = next((at for at in range(least) if text[at] != meant[at]), least)
    text, meant = text[start:], meant[start:]
    if text[1:] == meant[1:] or text[1:] == meant or text == meant[1:]:
        return True
    return text[2:] == meant[2:] and text[:2] == meant[:2][::-1]
