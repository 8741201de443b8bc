"""What only the user can put right, and the name that was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UsageError(Exception):
    """Something that only the user can put right; the message says what, where and what was expected."""


def closest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `name` was probably meant to be."""
    import difflib

    matches = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return matches[0] if matches else None


def nearest(name: str, names: Iterable[str], otherwise: str) -> str:
    """`; did you mean …?` with the closest of `names`, or `otherwise`."""
    found = closest(name, names)
    return f"; did you mean `{found}`?" if found else otherwise
