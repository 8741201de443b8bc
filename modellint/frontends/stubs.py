"""Python text without the bodies of its functions, all else in its place: a third of the text, and of its tree."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from modellint.source import QUOTED, QUOTED_OR_COMMENT

#: Characters for which lines do not tell where a body ends.
_ODD = re.compile(r"[\r\f]")
#: Each way to match begins with one of few letters, which makes a search three times as fast.
_DEFINITION = re.compile(rf"{QUOTED_OR_COMMENT}|\\\n|\n( *)(?:async +)?def\b", re.DOTALL)
_HEAD = re.compile(r""" +\w+\([^()\[\]{}"'#\\]*\)(?: *-> *[\w.]+)? *: *\n""")
_PART_OF_HEAD = re.compile(rf"{QUOTED_OR_COMMENT}|[()\[\]{{}}:\n\\]", re.DOTALL)
_REST_OF_LINE = re.compile(r" *(?:#[^\n]*)?\n")
_NO_CODE = re.compile(r"(?: *(?:#[^\n]*)?\n)*")
_STRING = re.compile(rf"""[rRuUbBfF]{{0,2}}(?:{QUOTED}) *(?:#[^\n]*)?(?:\n|\Z)""", re.DOTALL)
_MAYBE_STRING = re.compile(r"""[rRuUbBfF]{0,2}["'(]""")
#: A body of fewer characters stays.
_LEAST = 250


def without_bodies(text: str) -> tuple[str, frozenset[int]] | None:
    """A text with `pass` in the first and last line of long bodies, whose docstrings stay; and the lines of these
    functions. None if no body is long, or if the extent of a body is not certain.
    """
    if _ODD.search(text):
        return None
    parts: list[str] = []
    lines: set[int] = set()
    text = f"\n{text}"
    line, counted, copied, at = 0, 0, 1, 0
    while (found := _DEFINITION.search(text, at)) is not None:
        at = found.end()
        if found[1] is None:
            if found[0] == "\\\n":
                return None
            continue
        code = _body_behind(text, at)
        if code is None:
            continue
        body = _body(text, code, len(found[1])) if code else None
        if body is None:
            return None
        at = max(body.after - 1, code)
        if body.end - body.start >= _LEAST:
            line += text.count("\n", counted, found.start(1))
            counted = found.start(1)
            lines.add(line)
            parts += (text[copied : body.start], _stub(text, code, body))
            copied = body.end
    return ("".join((*parts, text[copied:])), frozenset(lines)) if lines else None


def _body_behind(text: str, at: int) -> int | None:
    """The offset of the first line of code in the body of a function whose head continues at `at`; None if it is in the
    head, 0 where that is not certain.
    """
    simple = _HEAD.match(text, at)
    if simple is not None:
        return _after_comments(text, simple.end())
    depth = 0
    for part in _PART_OF_HEAD.finditer(text, at):
        sign = part[0]
        if sign in ("(", "[", "{"):
            depth += 1
        elif sign in (")", "]", "}"):
            depth -= 1
        elif sign == ":" and not depth:
            rest = _REST_OF_LINE.match(text, part.end())
            return None if rest is None else _after_comments(text, rest.end())
        elif sign in ("\n", "\\") and not depth:
            return 0
    return 0


def _after_comments(text: str, at: int) -> int:
    found = _NO_CODE.match(text, at)
    return at if found is None else found.end()


class _Body(NamedTuple):
    """The part of a body that may be left out: the offset of its start, the start and end of its last line of code, and
    the end of the block. A body that begins with what may be a docstring and more cannot be left out.
    """

    start: int
    last: int
    end: int
    after: int


def _body(text: str, code: int, indent: int) -> _Body | None:
    """The body whose first line of code begins at a place; None if it is not certain where it ends."""
    start = code
    first = code + _indent_at(text, code)
    if first <= code + indent:
        return None
    if _MAYBE_STRING.match(text, first) is not None:
        string = _STRING.match(text, first)
        start = -1 if string is None else string.end()
    after, string_end = len(text), 0
    begin = max(start, code)
    for part in _end_of_block(indent).finditer(text, begin - (text[begin - 1] == "\n")):
        sign = part[0][0]
        if sign == "\n":
            after = part.end()
            break
        if sign == "\\":
            return None
        if sign != "#":
            string_end = part.end()
    if start < 0:
        return _Body(after, after, after, after)
    end = last = after
    while end > start:
        last = max(text.rfind("\n", start, end - 1) + 1, start)
        written = text[last:end].strip()
        if string_end > last or (written and written[0] != "#"):
            break
        end = last
    return _Body(start, last, end, after)


@cache
def _end_of_block(indent: int) -> re.Pattern[str]:
    """Finds the end of the line before the one that ends a block, and strings, comments and continued lines."""
    return re.compile(rf"\n(?= {{0,{indent}}}[^ \n#])|{QUOTED_OR_COMMENT}|\\\n", re.DOTALL)


def _indent_at(text: str, at: int) -> int:
    end = at
    while text[end : end + 1] == " ":
        end += 1
    return end - at


def _stub(text: str, code: int, body: _Body) -> str:
    """The replacement of a body: as many lines, with `pass` in the last one, and in the first one if it is left out."""
    indent = " " * _indent_at(text, code)
    final = f"{indent}pass" + ("\n" if text.endswith("\n", body.start, body.end) else "")
    between = text.count("\n", body.start, body.last)
    if body.start == code and between:
        return f"{indent}pass\n" + "\n" * (between - 1) + final
    return "\n" * between + final
