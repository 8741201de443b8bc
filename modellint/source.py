"""Source files and places in them.

Columns exist in two units: UTF-8 bytes (what `ast` reports) and characters (what people and our JSON use). Everything
in modellint counts characters; the conversion lives here and nowhere else.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
import tokenize
import zlib
from array import array
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

PYTHON = "python"
YAML = "yaml"
NOTEBOOK = "notebook"
#: Lines that end with a backslash, and the line that they continue on. A comment is never continued.
_CONTINUED = re.compile(r"^[^#\n]*\\\n(?:[^#\n]*\\\n)*[^\n]*\n?", re.MULTILINE)
_BREAK = re.compile(r"(?<![ \t])[ \t]*\\\n[ \t]*(?=([.,)\]])?)")
#: Patterns of a string (of one or several lines) and of a string or comment; they need `re.DOTALL`.
QUOTED = (
    r'''"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'''
    r"""|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"""
)
QUOTED_OR_COMMENT = rf"{QUOTED}|#[^\n]*"
_QUOTED_OR_COMMENT = re.compile(QUOTED_OR_COMMENT, re.DOTALL)
#: The prefix of an f-string or t-string.
_FORMATTING = re.compile(r"[ftFT]")
_KINDS = {".py": PYTHON, ".pyi": PYTHON, ".yaml": YAML, ".yml": YAML, ".ipynb": NOTEBOOK}


@dataclass(unsafe_hash=True, slots=True, order=True)
class Span:
    """A range in a file: lines and columns start at 1, columns count characters, the end is exclusive.

    Nobody changes one. It is not `frozen`, as each field of such a dataclass is set by a call: a file has thousands.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A span in a file. `path` is absolute, with `/`.

    In a notebook, lines are those of its cells' code as one module; with a `cell` (its number among all cells, from
    1), they are those of that cell.
    """

    path: str
    span: Span
    cell: int = 0

    def as_list(self) -> list[Any]:
        """The path and the numbers of the span."""
        span = self.span
        return [self.path, span.line, span.column, span.end_line, span.end_column]

    @classmethod
    def from_list(cls, values: Iterable[Any]) -> Place:
        """Restore a place from `as_list`. Raises TypeError or ValueError for malformed values."""
        path, *numbers = values
        if type(path) is not str or any(type(number) is not int or number < 0 for number in numbers):
            raise TypeError("expected a path, and numbers from 0 up")
        return cls(path, Span(*numbers))


#: Kinds of files that look like Python 3 or YAML but aren't.
PYTHON_2, PYTHON_3_6 = "written for Python 2", "written for Python 3.6 or older"
TEMPLATE = "a template"


class UnreadableError(Exception):
    """A file, or another `unit` of code, that cannot be decoded or parsed: where, and what was expected.

    `tried` names the grammar. If the text is no mistake but of an `other` kind (`PYTHON_2`, `PYTHON_3_6`, `TEMPLATE`),
    `reason` says how that shows.
    """

    def __init__(
        self, reason: str, span: Span | None = None, unit: str = "file", *, tried: str = "", other: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.unit = unit
        self.span = span or Span(1, 1, 1, 1)
        self.tried = tried
        self.other = other

    def within(self, unit: str, span: Span) -> UnreadableError:
        """The same error for a part of a file, which stands at `span` of the file."""
        return UnreadableError(self.reason, span, unit, tried=self.tried, other=self.other)


#: More bytes than a string takes besides its characters.
_OF_STRING = 128


@dataclass(frozen=True)
class SourceFile:
    """The text of one file and its encoding, so that a rewrite can restore every byte."""

    path: Path
    text: str
    encoding: str = "utf-8"
    bom: bool = False

    def __getattr__(self, name: str) -> Any:
        """Restore `text` after `release`."""
        known = self.__dict__
        if name != "text" or ("_packed" not in known and "_deflated" not in known):
            raise AttributeError(name)
        packed: bytes = known["_packed"] if "_packed" in known else zlib.decompress(known["_deflated"])
        known["text"] = text = packed.decode("utf-8", "surrogatepass")
        return text

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends, split where Python and YAML split them: at LF, CRLF and CR only."""
        return split_lines(self.text)

    @cached_property
    def starts(self) -> array[int]:
        """The index in the text at which each line begins, and, as the last item, the length of the text."""
        return array("L", accumulate(map(len, self.lines), initial=0))

    def text_between(self, line: int, end_line: int) -> str:
        """The text of the lines from the 1-based `line` (0: the first) to `end_line`, both included."""
        starts = self.starts
        return self.text[starts[max(line - 1, 0)] : starts[min(end_line, len(starts) - 1)]]

    def text_of_bytes(self, line: int, offset: int, end_line: int, end_offset: int) -> str:
        """The text of a syntax node: 1-based lines and 0-based UTF-8 byte offsets, as `ast` reports them."""
        return self.text[self._at_byte(line, offset) : self._at_byte(end_line, end_offset)]

    def _at_byte(self, line: int, offset: int) -> int:
        """The index in the text of a byte of a line; the length of the text for a line that doesn't exist."""
        if not 1 <= line < len(self.starts):
            return len(self.text)
        return self.starts[line - 1] + self.column_of_byte(line, offset) - 1

    def text_of(self, span: Span) -> str:
        """The text of a span, as it is written."""
        lines = self.lines[span.line - 1 : span.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "".join(lines)

    @cached_property
    def plain(self) -> SourceFile:
        """The file as normalised Python code for text searches (see `plain_text`), with the same line numbers."""
        text = plain_text(self.text)
        return self if text is self.text else SourceFile(self.path, text)

    def release(self) -> None:
        """Free the lines; the text, too, if its bytes are at hand or an emoji makes each character take four bytes.

        Both are restored on demand. If the text wasn't used since the last release, its bytes are compressed.
        """
        known = self.__dict__
        plain = known.pop("plain", None)
        if plain is not None and plain is not self:
            plain.release()
        known.pop("lines", None)
        text = known.get("text")
        if "_packed" in known or "_deflated" in known:
            known.pop("text", None)
            if text is None and "_packed" in known:
                known["_deflated"] = zlib.compress(known.pop("_packed"), 1)
        elif text is not None and sys.getsizeof(text) > 2 * len(text) + _OF_STRING:
            known["_packed"] = text.encode("utf-8", "surrogatepass")
            del known["text"]

    @cached_property
    def is_ascii(self) -> bool:
        return self.text.isascii()

    def column_of_byte(self, line: int, offset: int) -> int:
        """The 1-based character column of the 0-based UTF-8 byte `offset` in the 1-based `line`."""
        if self.is_ascii or not 1 <= line <= len(self.lines):
            return offset + 1
        text = self.lines[line - 1]
        if text.isascii():
            return offset + 1
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1

    def span_of_bytes(self, line: int, offset: int, end_line: int, end_offset: int) -> Span:
        """The span of a syntax node: 1-based lines and 0-based UTF-8 byte offsets, as `ast` reports them."""
        return Span(line, self.column_of_byte(line, offset), end_line, self.column_of_byte(end_line, end_offset))


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends, as Python and YAML split them."""
    return io.StringIO(text, newline="" if "\r" in text else "\n").readlines()


def unified(text: str) -> str:
    """A text with LF for each end of a line; lines and columns stay as they are."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def plain_text(text: str) -> str:
    """Python code normalised for text searches: lines end with LF, form feeds are dropped, and lines continued by
    backslashes are joined into the first one, followed by as many empty lines."""
    text = unified(text)
    if "\f" in text:
        text = text.replace("\f", "")
    return _CONTINUED.sub(_on_one_line, text) if "\\\n" in text else text


def with_comment(line: str, where: re.Pattern[str]) -> str:
    """A line whose comment counts only if `where` finds it: any other is cut off."""
    at = line.find("#")
    return line if at < 0 or where.search(line, at) else line[:at]


def without_comments(text: str, fold: Callable[[str], str] | None = None) -> str:
    """Python code (with LF line ends) with comments blanked out, and each string replaced by `fold(string)`.

    Returns the text unchanged if it is uncertain what is a comment, as quotes may stand in the braces of an f-string.
    """
    is_certain = True

    def replacement(match: re.Match[str]) -> str:
        nonlocal is_certain
        found, start = match[0], match.start()
        if found[0] == "#":
            return " " * len(found)
        if "{" in found and found.count("{") != found.count("}") and _FORMATTING.search(text, max(start - 2, 0), start):
            is_certain = False
        return found if fold is None else fold(found)

    replaced = _QUOTED_OR_COMMENT.sub(replacement, text)
    return replaced if is_certain else text


def _on_one_line(match: re.Match[str]) -> str:
    lines = match[0]
    return _BREAK.sub(lambda found: "" if found[1] else " ", lines) + "\n" * lines.count("\\\n")


def kind_of(name: str) -> str | None:
    """The kind of a file by its suffix: `python`, `yaml`, `notebook`, or None for any other."""
    dot = name.rfind(".")
    return _KINDS.get(name[dot:].lower()) if dot >= 0 else None


def decode_python(path: Path, data: bytes) -> SourceFile:
    """Decode Python source: BOM, then the PEP 263 declaration, then UTF-8.

    Raises UnreadableError for binary data, an unknown encoding, or bytes that the encoding cannot decode.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    head = data[:1024]
    if b"coding" in head:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except SyntaxError as error:
            raise UnreadableError(f"{error.msg}; expected an encoding that Python knows") from None
    else:
        encoding = "utf-8"
    return _decode(path, data, "utf-8" if encoding == "utf-8-sig" else encoding, bom)


def decode_yaml(path: Path, data: bytes) -> SourceFile:
    """Decode YAML: UTF-16 by its BOM, otherwise UTF-8 (YAML 1.1, section 5.2). Raises UnreadableError."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return _decode(path, data, encoding, True)
    return _decode(path, data, "utf-8", data.startswith(codecs.BOM_UTF8))


def _decode(path: Path, data: bytes, encoding: str, bom: bool) -> SourceFile:
    body = data[len("\ufeff".encode(encoding)) :] if bom else data
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"byte 0x{body[error.start]:02x} is not valid {encoding}; expected text in that encoding",
            _span_behind(body[: error.start].decode(encoding, "replace")),
        ) from None
    nul = text.find("\0")
    if nul >= 0:
        raise UnreadableError("found a NUL character; expected text", _span_behind(text[:nul]))
    source = SourceFile(path, text, encoding, bom)
    if encoding == "utf-8" and not bom:
        source.__dict__["_packed"] = data
    return source


def _span_behind(text: str) -> Span:
    """The span of the first character behind a text."""
    lines = split_lines(text) or [""]
    line, column = (len(lines) + 1, 1) if lines[-1].endswith(("\n", "\r")) else (len(lines), len(lines[-1]) + 1)
    return Span(line, column, line, column + 1)
