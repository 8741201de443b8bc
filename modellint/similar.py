"""Names that are like another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def get_close_matches(word: str, names: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """As difflib has it, which is imported where a name is looked for: few runs do, and all of them start."""
    import difflib

    return difflib.get_close_matches(word, list(names), n=n, cutoff=cutoff)
