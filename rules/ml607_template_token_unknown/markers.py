"""Markers of chat templates that a tokenizer does not have as one token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from modellint import folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.folders.jinja import Template
    from modellint.folders.tokenizers import Tokenizer

#: Markers by the kind of their brackets, the kind of `<|im_end|>` first: other brackets are those of plain text, too.
_SPECIAL = re.compile(r"<([|\uff5c])[^<>|\uff5c\s{}]{1,48}\1>")
_BRACKETED = re.compile(r"</?[A-Za-z][\w-]{3,40}>|\[/?[A-Z][A-Z_]{3,40}\]")


#: The names that transformers gives a template, and those that Jinja has itself.
_GIVEN = frozenset(
    "messages tools documents add_generation_prompt bos_token eos_token unk_token sep_token pad_token cls_token "
    "mask_token raise_exception strftime_now range dict lipsum cycler joiner namespace loop caller varargs kwargs "
    "true false none True False None".split()
)


#: The fewest letters of names whose spelling is compared.
_SHORTEST = 5


class Unknown(NamedTuple):
    """A marker that is no token: its first place, the tokens of its kind that the template has, and one like it."""

    marker: str
    at: int
    known: tuple[str, ...]
    near: str | None


def unknown_markers(template: Template, tokenizer: Tokenizer) -> Iterator[Unknown]:
    """The markers of a template that the tokenizer lacks, each once, where this is a mistake for certain."""
    places: dict[str, int] = {}
    for text in template.texts:
        for pattern in (_SPECIAL, _BRACKETED):
            for match in pattern.finditer(text.text):
                # A string begins with its quote.
                places.setdefault(match[0], text.at + match.start() + (not text.is_written))
    known = {marker for marker in places if marker in tokenizer.ids}
    own = {token.content for name, token in tokenizer.roles.items() if name in folders.ROLES}
    unknown = [marker for marker in places if marker not in known and _bar(marker) is not None]
    # Begin and end are tokens in any template, also in one whose turns are marked by plain text.
    is_plain = len(unknown) > 1 and not any(_bar(marker) is not None for marker in known - own)
    for marker, at in places.items():
        if marker in known:
            continue
        near = next((one for one in sorted(tokenizer.special) if is_misspelling(marker, one)), None)
        bar = _bar(marker)
        alike = [one for one in places if bar is not None and one in known and _bar(one) == bar and not is_plain]
        if alike or near is not None:
            yield Unknown(marker, at, tuple(alike), near)


def unknown_names(template: Template) -> Iterator[tuple[str, int, str]]:
    """The names that a template reads and nothing sets, if one that is set has nearly the same spelling.

    Each once, with the number of its first character and the other name. Programs may give more names.
    """
    told = set()
    known = sorted(_GIVEN | template.bound)
    for name, at in template.reads:
        if name in _GIVEN or name in template.bound or name in told or len(name) < _SHORTEST:
            continue
        near = next((one for one in known if len(one) >= _SHORTEST and is_misspelling(name, one)), None)
        if near is not None:
            told.add(name)
            yield name, at, near


def _bar(marker: str) -> str | None:
    match = _SPECIAL.fullmatch(marker)
    return None if match is None else match[1]


def is_misspelling(marker: str, token: str) -> bool:
    """True if one letter differs, is missing, is added, or has changed places with the next one.

    An added `/`, an `s` at the end, or another digit makes another marker.
    """
    if marker == token or abs(len(marker) - len(token)) > 1 or marker.count("/") != token.count("/"):
        return False
    begin = 0
    while begin < min(len(marker), len(token)) and marker[begin] == token[begin]:
        begin += 1
    own, other = marker[begin:], token[begin:]
    if len(own) == len(other):
        is_near = own[1:] == other[1:] or (own[:2] == other[1::-1] and own[2:] == other[2:])
        changed = own[:1] + other[:1]
    elif len(own) > len(other):
        is_near, changed = own[1:] == other, own[:1]
    else:
        is_near, changed = own == other[1:], other[:1]
    shorter = min(own, other, key=len)
    is_plural = len(own) != len(other) and changed == "s" and not any(letter.isalpha() for letter in shorter)
    return is_near and changed.isalpha() and not is_plural
