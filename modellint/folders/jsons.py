"""JSON documents of model folders: the value of a part, and the place of a key.

A tokenizer of thirty megabytes is not made into objects to learn one of its ids: `get` finds a part by its quotes and
brackets alone, and decodes no more than that. Nothing is assumed of a document but that it is a file: one that is too
large, nested too deeply or no JSON is an `UnreadableError`.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from modellint.source import Place, Span, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The most bytes of a document, and of a part that is made into objects; an object takes about a hundred.
LARGEST, _LARGEST_PART = 100_000_000, 24_000_000
#: The most objects that a part may have, and the most brackets of a document.
_OBJECTS, _BRACKETS = 700_000, 4_000_000
#: Documents up to this size are read as a whole at once, so that a mistake anywhere in them is told.
_SMALL = 1_000_000
_DEEPEST = 400
_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_OTHER = rb'[^"{}\[\]]'
#: A list or object of a few plain values, and what lies between brackets that are followed.
_FLAT = rb"[\[{]" + _OTHER + rb"{0,60}(?:" + _STRING + _OTHER + rb"{0,60}){0,8}[\]}]"
_RUN_OR_BRACKET = re.compile(rb"(?:" + _OTHER + rb"+|" + _STRING + rb"|" + _FLAT + rb"){1,500}|[{}\[\]]", re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*")
_KEY = re.compile(_STRING, re.DOTALL)
_PLAIN = re.compile(rb"[^ \t\r\n,:\]}\[{\"]+")
_MISSING = object()


class Json:
    """A JSON document: its bytes, the values of its parts, and the places of its keys.

    `path` is the document's own, absolute, with `/`. Raises UnreadableError for a document that cannot be read.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        #: The keys that an object has twice; of documents of more than a megabyte, none are told.
        self.repeated: tuple[str, ...] = ()
        if len(data) > LARGEST:
            raise UnreadableError(f"it has {len(data)} bytes; expected at most {LARGEST}")
        if len(data) <= _SMALL:
            self._known: dict[tuple[str | int, ...], Any] = {(): self._decode(0, len(data), is_whole=True)}
        else:
            if data.count(b"[") + data.count(b"{") > _BRACKETS:
                raise UnreadableError("it has millions of lists and objects")
            self._known = {}
            ends = data[:100].lstrip()[:1] + data[-100:].rstrip()[-1:]
            if ends not in (b"{}", b"[]"):
                raise self._unreadable(len(data), "a list or an object does not end; expected JSON")

    @cached_property
    def value(self) -> Any:
        """All of the document. Raises UnreadableError if it is too large to be made into objects."""
        return self.get()

    def get(self, *keys: str | int, default: Any = None) -> Any:
        """The value at some keys (and positions of lists); the default if it isn't there.

        Raises UnreadableError if the part is too large to be made into objects, or is no JSON.
        """
        if () in self._known:
            value = self._known[()]
            for key in keys:
                if isinstance(value, dict):
                    value = value.get(key, _MISSING)
                elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
                    value = value[key]
                else:
                    return default
                if value is _MISSING:
                    return default
            return value
        if keys not in self._known:
            span = self.span(*keys)
            self._known[keys] = _MISSING if span is None else self._decode(*span)
        value = self._known[keys]
        return default if value is _MISSING else value

    def table(self, *keys: str | int) -> dict[str, Any]:
        """The object at some keys; empty if there is none, or something else."""
        value = self.get(*keys)
        return value if isinstance(value, dict) else {}

    def integer(self, *keys: str | int) -> int | None:
        """The whole number at some keys; None if there is none."""
        value = self.get(*keys)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, *keys: str | int) -> str | None:
        """The string at some keys; None if there is none."""
        value = self.get(*keys)
        return value if isinstance(value, str) else None

    def has(self, *keys: str | int) -> bool:
        """True if there is a value at these keys."""
        return self.get(*keys, default=_MISSING) is not _MISSING if () in self._known else self.span(*keys) is not None

    def span(self, *keys: str | int) -> tuple[int, int] | None:
        """The bytes of the value at some keys, as start and end; None if it isn't there."""
        found = self._find(keys)
        return None if found is None else found[1]

    def place(self, *keys: str | int) -> Place:
        """The place of a key, or of an item of a list; of the nearest one around it that is there."""
        while keys:
            found = self._find(keys)
            if found is not None:
                return Place(self.path, self._span_of(*found[0]))
            keys = keys[:-1]
        return Place(self.path, self._span_of(0, 0))

    def value_place(self, *keys: str | int) -> Place:
        """The place of the value at some keys; of the nearest key around it that is there."""
        found = self._find(keys)
        return self.place(*keys) if found is None else Place(self.path, self._span_of(*found[1]))

    def _span_of(self, start: int, end: int) -> Span:
        line, column = self._position(start)
        end_line, end_column = self._position(end)
        return Span(line, column, end_line, end_column)

    def _position(self, at: int) -> tuple[int, int]:
        """The line and column of a byte."""
        data = self.data
        line = data.count(b"\n", 0, at) + 1
        begin = data.rfind(b"\n", 0, at) + 1
        return line, len(data[begin:at].decode("utf-8", "replace")) + 1

    def _decode(self, start: int, end: int, *, is_whole: bool = False) -> Any:
        data = self.data
        if end - start > _LARGEST_PART or data.count(b",", start, end) + data.count(b"[", start, end) > _OBJECTS:
            raise self._unreadable(start, "it holds too much to be read")
        part = data if is_whole else data[start:end]
        try:
            text = part.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = f"byte 0x{part[error.start]:02x} is not valid utf-8; expected text in that encoding"
            raise self._unreadable(start + error.start, reason) from None
        repeated: list[str] = []

        def table_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            table = dict(pairs)
            if len(table) < len(pairs):
                keys = [key for key, _ in pairs]
                repeated.extend(key for key in table if keys.count(key) > 1)
            return table

        try:
            value = json.loads(text, object_pairs_hook=table_of) if len(part) <= _SMALL else json.loads(text)
        except json.JSONDecodeError as error:
            at = start + len(text[: error.pos].encode("utf-8", "surrogatepass"))
            raise self._unreadable(at, f"{error.msg[:1].lower()}{error.msg[1:]}; expected JSON") from None
        except RecursionError:
            raise self._unreadable(start, "nested too deeply") from None
        except ValueError as error:  # a number of thousands of digits
            raise self._unreadable(start, str(error)) from None
        self.repeated += tuple(repeated)
        return value

    def _unreadable(self, at: int, reason: str) -> UnreadableError:
        return UnreadableError(reason, self._span_of(at, at))

    # -- finding parts ---------------------------------------------------------------------------------------------

    def _find(self, keys: tuple[str | int, ...]) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The bytes of the last of some keys (of an item of a list, all of it) and of its value."""
        start = self._behind_space(0)
        own = value = (start, self._end_of(start) if keys else len(self.data.rstrip()))
        for key in keys:
            inside = self._members(value[0]) if isinstance(key, str) else self._items(value[0])
            found = None
            for name, own_span, value_span in inside:
                if name == key:
                    found = own_span, value_span
                    if isinstance(key, int):
                        break
            if found is None:
                return None
            own, value = found
        return own, value

    def _members(self, start: int) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
        """The members of an object: key, the bytes of the key, the bytes of the value; none of anything else."""
        data = self.data
        if data[start : start + 1] != b"{":
            return
        at = self._behind_space(start + 1)
        while (quoted := _KEY.match(data, at)) is not None:
            at = self._behind_space(quoted.end())
            if data[at : at + 1] != b":":
                raise self._unreadable(at, "expected `:` behind a key")
            begin = self._behind_space(at + 1)
            end = self._end_of(begin)
            body = quoted[0][1:-1]
            try:
                name = json.loads(quoted[0]) if b"\\" in body else body.decode("utf-8")
            except ValueError:
                raise self._unreadable(quoted.start(), "a key is no text; expected JSON") from None
            yield name, quoted.span(), (begin, end)
            at = self._behind_space(end)
            if data[at : at + 1] != b",":
                break
            at = self._behind_space(at + 1)
        if data[at : at + 1] != b"}":
            raise self._unreadable(at, "expected `}` or a key in quotes")

    def _items(self, start: int) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
        """The items of a list: number, and twice the bytes; none of anything else."""
        data = self.data
        if data[start : start + 1] != b"[":
            return
        at, number = self._behind_space(start + 1), 0
        while data[at : at + 1] not in (b"]", b""):
            end = self._end_of(at)
            yield number, (at, end), (at, end)
            number += 1
            at = self._behind_space(end)
            if data[at : at + 1] == b",":
                at = self._behind_space(at + 1)
            elif data[at : at + 1] != b"]":
                raise self._unreadable(at, "expected `,` or `]` behind an item")

    def _behind_space(self, at: int) -> int:
        match = _SPACE.match(self.data, at)
        return at if match is None else match.end()

    def _end_of(self, start: int) -> int:
        """The end of the value that begins at a byte."""
        first = self.data[start : start + 1]
        if first == b'"':
            quoted = _KEY.match(self.data, start)
            if quoted is None:
                raise self._unreadable(start, "a string does not end")
            return quoted.end()
        if first not in (b"{", b"["):
            plain = _PLAIN.match(self.data, start)
            if plain is None:
                raise self._unreadable(start, "expected a value")
            return plain.end()
        depth = 1
        for token in _RUN_OR_BRACKET.finditer(self.data, start + 1):
            one = self.data[token.start()] if token.end() - token.start() == 1 else 0
            if one in b"{[":
                depth += 1
                if depth > _DEEPEST:
                    raise self._unreadable(start, "nested too deeply")
            elif one in b"}]":
                depth -= 1
                if not depth:
                    return token.end()
        raise self._unreadable(start, "a list or an object does not end")
