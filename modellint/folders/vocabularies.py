"""The ids that the files of a tokenizer give, read as data.

Each reader takes the bytes of one file and raises ValueError for bytes that are no such file. The facts were seen in
runs of tokenizers 0.23.3, sentencepiece 0.2.3 and tiktoken 0.14.0; `tests/folders/test_vocabularies.py` repeats them.
"""

from __future__ import annotations

import json
import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: The most bytes that are parsed, and the most commas in them, as each value takes a hundred bytes of memory. The
#: largest published vocabularies have a third of both, without their merges.
MOST_BYTES, MOST_VALUES = 32_000_000, 700_000
#: The largest id that tokenizers can store.
_LARGEST: Final = 2**32 - 1
#: Merges are half of a file or more, and give no id. A quote within a string has a backslash before it.
_KEY: Final = b'"merges"'
_VALUE = re.compile(rb"\s*:\s*\[")
_END = re.compile(rb"\]\s*\}\s*\}\s*\Z")
#: The end is looked for in this many bytes.
_TAIL: Final = 400


class AddedToken(NamedTuple):
    """A token that is added to a vocabulary, and the id that its file states for it."""

    content: str
    stated: int | None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Tokens with the ids that a library gives them when it loads the file.

    `ids` may have fewer tokens than the file, as one text may stand for two ids; `size` is the number of ids that the
    library counts, and `highest` the largest id, -1 without any.
    """

    ids: Mapping[str, int]
    size: int
    highest: int


def as_id(value: object) -> int | None:
    """An id of a token, which a boolean or a negative number is not; None for anything else."""
    return value if type(value) is int and 0 <= value <= _LARGEST else None


def parse(data: bytes) -> Any:
    """The value of a JSON document. Raises ValueError if it is none, is nested too deeply, or has too many bytes."""
    if len(data) > MOST_BYTES or data.count(b",") + data.count(b"[") > MOST_VALUES:
        raise ValueError("too large")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def without_merges(data: bytes) -> bytes:
    """A `tokenizer.json` without its merges where these stand last, as tokenizers writes them."""
    at = data.find(_KEY)
    while at >= 0:
        begin = _VALUE.match(data, at + len(_KEY))
        if begin is not None and data[at - 1 : at] != b"\\":
            end = _END.search(data, max(begin.end(), len(data) - _TAIL))
            return data if end is None else data[: begin.end()] + data[end.start() :]
        at = data.find(_KEY, at + 1)
    return data


def of_tokenizer_json(data: bytes) -> tuple[Vocabulary, list[AddedToken]]:
    """The vocabulary of a `tokenizer.json`, added tokens included, and these.

    tokenizers ignores the `id` of an added token that the vocabulary lacks, and gives it the next id after the number
    of tokens. Raises ValueError for a document that tokenizers would not load.
    """
    document = parse(without_merges(data))
    model = document.get("model") if isinstance(document, dict) else None
    if not isinstance(model, dict):
        raise ValueError("no model")
    entries = document.get("added_tokens")
    added = list(_added_tokens(entries if isinstance(entries, list) else ()))
    return with_added(_of_model(model), (token.content for token in added)), added


def _of_model(model: Mapping[str, Any]) -> Vocabulary:
    """The ids of a model of tokenizers: a mapping, or the list of Unigram, in which the place is the id."""
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, list):
        pieces = [entry[0] for entry in vocabulary if isinstance(entry, list) and entry and isinstance(entry[0], str)]
        if len(pieces) != len(vocabulary):
            raise ValueError("a piece is no pair")
        return Vocabulary({piece: number for number, piece in enumerate(pieces)}, len(pieces), len(pieces) - 1)
    return of_mapping(vocabulary)


def _added_tokens(entries: Iterable[object]) -> Iterator[AddedToken]:
    for entry in entries:
        content = entry.get("content") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(content, str):
            yield AddedToken(content, as_id(entry.get("id")))


def with_added(vocabulary: Vocabulary, contents: Iterable[str]) -> Vocabulary:
    """A vocabulary with tokens added, as `Tokenizer.add_tokens` does: those that it lacks get the next ids."""
    ids, size, highest = dict(vocabulary.ids), vocabulary.size, vocabulary.highest
    for content in contents:
        if content and content not in ids:
            ids[content] = size
            highest = max(highest, size)
            size += 1
    return Vocabulary(ids, size, highest)


def of_mapping(vocabulary: object) -> Vocabulary:
    """The ids of a `vocab.json`, or of the part `vocab` of a `tokenizer.json`. Raises ValueError for other values."""
    if not isinstance(vocabulary, dict) or not set(map(type, vocabulary.values())) <= {int}:
        raise ValueError("no mapping from tokens to ids")
    highest = max(vocabulary.values(), default=-1)
    if min(vocabulary.values(), default=0) < 0 or highest > _LARGEST:
        raise ValueError("an id that tokenizers cannot store")
    return Vocabulary(vocabulary, len(vocabulary), highest)


def _check_lines(data: bytes) -> None:
    """Raise ValueError for a file of too many bytes or lines."""
    if len(data) > MOST_BYTES or data.count(b"\n") + data.count(b"\r") > MOST_VALUES:
        raise ValueError("too large")


def of_lines(data: bytes) -> Vocabulary:
    """The ids of a `vocab.txt`: a token a line, the last one counts where two are equal.

    Raises ValueError for bytes that are no UTF-8.
    """
    _check_lines(data)
    # As a text file is read: other separators of lines are part of a token.
    lines = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    if lines == [""]:
        raise ValueError("empty")
    ids = {line: number for number, line in enumerate(lines)}
    return Vocabulary(ids, len(ids), len(lines) - 1)


def of_tiktoken(data: bytes) -> Vocabulary:
    """The ranks of a file of tiktoken, which are ids: a token in base64 and a number a line. Raises ValueError."""
    _check_lines(data)
    ids: dict[str, int] = {}
    for line in data.splitlines():
        if not line:
            continue
        token, _, rank = line.partition(b" ")
        if not rank.isdigit() or len(rank) > len(str(_LARGEST)):
            raise ValueError("a line without a rank")
        try:
            ids[a2b_base64(token).decode("utf-8", "surrogateescape")] = int(rank)
        except (Base64Error, TypeError) as error:
            raise ValueError(str(error)) from None
    if not ids:
        raise ValueError("empty")
    return Vocabulary(ids, len(ids), max(ids.values()))
