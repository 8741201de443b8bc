"""The tokens of a Jinja template: text, and within `{{ }}` and `{% %}` names, strings, numbers and operators.

The grammar is that of Jinja 3.1 with its usual delimiters (https://jinja.palletsprojects.com/en/stable/templates/).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

#: The most characters of a template that are read.
MOST_CHARACTERS: Final = 1_000_000
_OPEN = re.compile(r"\{([{%#])([-+]?)")
_RAW = re.compile(r"\{%[-+]?\s*raw\s*-?%\}")
_END_RAW = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_COMMENT_END = re.compile(r"[-+]?#\}")
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
    |(?P<float>(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+))
    |(?P<int>0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*)
    |(?P<name>[^\W\d]\w*)
    |(?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    |(?P<operator>//|\*\*|==|!=|>=|<=|[-+/*%~\[\](){}><=.:|,;])
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}


class TemplateError(ValueError):
    """A template that Jinja refuses: the reason, and the number of the character at which it shows."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


class Token(NamedTuple):
    """A token: its kind, its text, and the number of its first character.

    Kinds are `text`, `open` and `close` (the delimiters `{{`, `{%`, `}}`, `%}`), `name`, `string`, `int`, `float`,
    `operator` and `end`. The text of a string has its quotes.
    """

    kind: str
    text: str
    at: int


def tokens_of(template: str) -> Iterator[Token]:
    """The tokens of a template. Raises TemplateError for a character or a delimiter that Jinja refuses."""
    if len(template) > MOST_CHARACTERS:
        raise TemplateError("too large", 0)
    at, length = 0, len(template)
    while at < length:
        opened = _OPEN.search(template, at)
        if opened is None:
            break
        if opened.start() > at:
            yield Token("text", template[at : opened.start()], at)
        raw = _RAW.match(template, opened.start())
        if raw is not None:
            end = _END_RAW.search(template, raw.end())
            if end is None:
                raise TemplateError("`raw` has no `endraw`", opened.start())
            yield Token("text", template[raw.end() : end.start()], raw.end())
            at = end.end()
        elif opened[1] == "#":
            end = _COMMENT_END.search(template, opened.end())
            if end is None:
                raise TemplateError("a comment has no `#}`", opened.start())
            at = end.end()
        else:
            yield Token("open", "{" + opened[1], opened.start())
            at = yield from _inside(template, opened.end(), "}}" if opened[1] == "{" else "%}", opened.start())
    if at < length:
        yield Token("text", template[at:], at)
    yield Token("end", "", length)


def _inside(template: str, at: int, closer: str, begin: int) -> Generator[Token, None, int]:
    """The tokens up to the closing delimiter, and this; the generator returns the number of the character behind."""
    close = re.compile(r"[-+]?" + re.escape(closer)) if closer == "%}" else re.compile(r"-?" + re.escape(closer))
    open_brackets: list[str] = []
    while True:
        ended = close.match(template, at) if not open_brackets else None
        if ended is not None:
            yield Token("close", closer, at)
            return ended.end()
        match = _TOKEN.match(template, at)
        if match is None or match.lastgroup is None:
            if at >= len(template):
                raise TemplateError(f"`{'{{' if closer == '}}' else '{%'}` has no `{closer}`", begin)
            raise TemplateError(f"unexpected character {template[at]!r}", at)
        kind, text = match.lastgroup, match[0]
        if kind == "operator" and text in _CLOSERS:
            open_brackets.append(_CLOSERS[text])
        elif kind == "operator" and text in ")]}" and (not open_brackets or open_brackets.pop() != text):
            raise TemplateError(f"unexpected `{text}`", at)
        if kind != "space":
            yield Token(kind, text, at)
        at = match.end()
