"""Recognises templates of code (Jinja, as cookiecutter and copier fill them in) by the tags that no parser takes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from modellint.source import QUOTED_OR_COMMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: The most characters of a tag, and those that are shown.
_LONGEST, _SHOWN = 500, 60
#: The beginnings of `{% if x %}` and of `{{ x }}`, which Python reads as a set of a set.
_START = r"\{%[-+]?\s*(?P<word>\w+)|(?P<braces>\{\{)"
_STARTS = re.compile(_START)
_STARTS_IN_CODE = re.compile(rf"{_START}|{QUOTED_OR_COMMENT}", re.DOTALL)
_WORD = re.compile(r"\w*\Z")
#: A name that any tag is filled in with: it may be a part of a longer one.
_FILLED = "T"
_OPEN, _OTHERWISE, _CLOSE = ("if", "for"), ("elif", "else"), ("endif", "endfor")


class _Tag(NamedTuple):
    start: int
    end: int
    text: str
    #: `if` of `{% if x %}`, nothing of `{{ x }}`.
    word: str

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def tag_in_path(path: Path) -> str | None:
    """A tag in the names of a file and its folders."""
    return next(map(str, _tags(path.as_posix(), _STARTS)), None)


def tag_in(text: str, stop: int, parses: Callable[[str], bool], *, is_python: bool) -> str | None:
    """The tag at which parsing stopped (`stop`), or the first one if the filled-in text parses; None for neither.

    Tags in strings and comments of Python do not count, nor do errors beside a tag.
    """
    if "}}" not in text and "%}" not in text:
        return None
    tags = list(_tags(text, _STARTS_IN_CODE if is_python else _STARTS))
    for tag in tags:
        glued = _WORD.search(text, max(tag.start - _LONGEST, 0), tag.start)
        if (glued.start() if glued else tag.start) <= stop <= tag.end:
            return str(tag)
    return str(tags[0]) if tags and parses(_fill_tags(text, tags)) else None


def _tags(text: str, starts: re.Pattern[str]) -> Iterator[_Tag]:
    """The tags of a text, without those inside other matches of `starts`."""
    found = starts.search(text)
    while found:
        start, after, word = found.start(), found.end(), found["word"] or ""
        if word or found["braces"]:
            last = text.find("%}" if word else "}}", after, start + _LONGEST)
            if last >= 0 and (word or _is_value(text[after:last])):
                after = last + 2
                yield _Tag(start, after, text[start:after], word)
            else:
                after = start + 1
        found = starts.search(text, after)


def _is_value(text: str) -> bool:
    """True if a text in two braces can be an expression of a template: one value that mentions a name."""
    if "{" in text:
        return False
    try:
        value = ast.parse(text.strip("-+ \t\r\n"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not isinstance(value, ast.Tuple) and any(isinstance(node, ast.Name) for node in ast.walk(value))


def _fill_tags(text: str, tags: list[_Tag]) -> str:
    """The text with its tags filled in; of alternatives, the first."""
    parts: list[str] = []
    start, depth, dropped = 0, 0, 0
    for tag in tags:
        word = tag.word
        if not dropped:
            parts += (text[start : tag.start], "" if word else _FILLED)
        start = tag.end
        if word in _OPEN:
            depth += 1
        elif word in _OTHERWISE:
            dropped = dropped or depth
        elif word in _CLOSE:
            dropped = 0 if dropped == depth else dropped
            depth -= 1
    return "".join((*parts, text[start:]))
