"""The pieces of a SentencePiece model, read from the wire format of protobuf without its library.

The fields are those of `sentencepiece_model.proto` (https://github.com/google/sentencepiece): `ModelProto.pieces` is
field 1, and a piece has its text in field 1, its score in field 2 and its type in field 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The most bytes that are read. The largest published models take a quarter of this.
MOST_BYTES: Final = 20_000_000
_PIECES, _TEXT, _TYPE = 1, 1, 3
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
#: A varint has at most ten bytes.
_LONGEST: Final = 70
#: Types of pieces: those that text never gives.
UNKNOWN, CONTROL, UNUSED = 2, 3, 5


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces in the order of their ids, with the places of those that are control symbols or unknown."""

    texts: tuple[str, ...]
    controls: frozenset[int]


def read(data: bytes) -> Pieces:
    """The pieces of a model. Raises ValueError for bytes that are no SentencePiece model, or too many."""
    if len(data) > MOST_BYTES:
        raise ValueError("too large")
    texts: list[str] = []
    controls = set()
    for number, begin, end in _fields(data, 0, len(data)):
        if number != _PIECES or begin == end:
            continue
        text, kind = None, 1
        for inner, first, last in _fields(data, begin, end):
            if inner == _TEXT:
                text = data[first:last].decode("utf-8")
            elif inner == _TYPE:
                kind = last if first < 0 else kind
        if text is None:
            raise ValueError("a piece without text")
        if kind in (UNKNOWN, CONTROL):
            controls.add(len(texts))
        texts.append(text)
    if not texts:
        raise ValueError("no pieces")
    return Pieces(tuple(texts), frozenset(controls))


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of a message: number, begin and end of its bytes; for a varint -1 and its value.

    Raises ValueError if the message is cut short or has an unknown type.
    """
    while at < end:
        key, at = _varint(data, at, end)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at, end)
            yield number, -1, value
            continue
        if kind == _BYTES:
            length, at = _varint(data, at, end)
        elif kind in (_FIXED32, _FIXED64):
            length = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError("an unknown type of field")
        if number == 0 or length > end - at:
            raise ValueError("cut short")
        yield number, at, at + length
        at += length


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= end or shift > _LONGEST:
            raise ValueError("cut short")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
