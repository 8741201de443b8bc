"""Names that are like another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Shorter words are too easily other ones with a letter changed.
_WORD = 4
_VOWELS = frozenset("aeiou")


def get_close_matches(word: str, names: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """As difflib has it, which is imported where a name is looked for: few runs do, and all of them start."""
    import difflib

    return difflib.get_close_matches(word, list(names), n=n, cutoff=cutoff)


def slip(word: str, names: Iterable[str]) -> str | None:
    """The one of the names that a word is a slip of the pen for: nothing else can be meant, so that it may be edited.

    Other underscores or capitals, letters that change places or are left out, doubled or of the wrong vowel inside of a
    word, another number (`mask` of `masks`). Names of other words are none, however alike: `encoder` and `decoder`,
    `encode` and `encoder`, `clear` and `clear_all`, `conv1` and `conv2`.
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
    """Whether one word is another one in which a letter is wrong, or in another number."""
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
