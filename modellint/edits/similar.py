"""Similar names: suggestions, and slips of the pen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The length of words below which a changed letter makes another word too easily.
_WORD = 4
_VOWELS = frozenset("aeiou")


def get_close_matches(word: str, names: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Like `difflib.get_close_matches`; imports `difflib` on first use, as few runs need it."""
    import difflib

    return difflib.get_close_matches(word, list(names), n=n, cutoff=cutoff)


def slip(word: str, names: Iterable[str]) -> str | None:
    """The one name that a word is a slip of the pen for, safe enough for an edit; None if there is none, or several.

    Slips are other underscores or capitals; letters swapped, left out, doubled, or a wrong vowel inside of a word; and
    singular or plural (`mask` for `masks`). Different words are none, however alike: `encoder` and `decoder`, `encode`
    and `encoder`, `clear` and `clear_all`, `conv1` and `conv2`.
    """
    found = {name for name in names if name != word and _is_slip(word, name)}
    return found.pop() if len(found) == 1 else None


def _is_slip(word: str, name: str) -> bool:
    ours, theirs = (one.lower().lstrip("_").split("_") for one in (word, name))
    if word.endswith("_") is not name.endswith("_"):  # a method that changes its object
        return False
    if "".join(ours) == "".join(theirs):
        return True
    differing = [(a, b) for a, b in zip(ours, theirs, strict=False) if a != b]
    return len(ours) == len(theirs) and len(differing) == 1 and _is_misspelt(*differing[0])


def _is_misspelt(part: str, meant: str) -> bool:
    """True if two words differ by one letter that is wrong, swapped, missing or doubled, or by a plural `s`."""
    shorter, longer = sorted((part, meant), key=len)
    if len(longer) < _WORD or len(longer) - len(shorter) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    if len(shorter) < len(longer):
        is_there = shorter[at:] == longer[at + 1 :] and longer[at].isalpha()
        is_doubled = longer[at] in (longer[at - 1 : at], longer[at + 1 : at + 2])
        is_inside = 0 < at < len(longer) - 1 and len(longer) > _WORD + 1
        return is_there and (is_doubled or is_inside or (longer[at] == "s" and at == len(shorter)))
    a, b = part[at : at + 2], meant[at : at + 2]
    if part[at + 2 :] == meant[at + 2 :] and a.isalpha() and a == b[::-1] and len(part) > _WORD:
        return True
    is_vowel = part[at] in _VOWELS and meant[at] in _VOWELS
    return is_vowel and part[at + 1 :] == meant[at + 1 :] and at > 0 and len(part) > _WORD + 1
