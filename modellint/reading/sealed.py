"""Files that modellint keeps for itself: the first line is a checksum of the rest, compressed JSON documents.

Each is written whole. JSON, because reading it can run nothing; compressed, since its lines are long: who searches a
project with its caches would drown in them.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from modellint.reading.digest import digest
from modellint.reading.files import parse_json, read_file, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The fastest level: data takes a seventh of its size.
_LEVEL = 1


def sealed(*documents: bytes) -> bytes:
    """The content of a sealed file of documents."""
    data = b"".join(zlib.compress(document, _LEVEL) for document in documents)
    return digest(data).encode() + b"\n" + data


def documents_in(text: bytes) -> Iterator[bytes]:
    """The documents in the content of a sealed file, each decompressed when it is asked for.

    Raises ValueError if any byte of it was changed, or a document is cut.
    """
    checksum, _, data = text.partition(b"\n")
    if checksum != digest(data).encode():
        raise ValueError("it does not fit its checksum")
    while data:
        stream = zlib.decompressobj()
        try:
            document = stream.decompress(data)
        except zlib.error as error:
            raise ValueError(str(error)) from None
        if not stream.eof:
            raise ValueError("a document is cut")
        yield document
        data = stream.unused_data


def read_sealed(path: Path) -> Any:
    """The one document in a file. Raises OSError, and ValueError if it was cut or changed in any byte."""
    (document,) = documents_in(read_file(path))
    return parse_json(document)


def write_sealed(path: Path, *documents: Any) -> None:
    """Write documents to a file, all of it or nothing. Raises OSError, and ValueError if JSON cannot say them."""
    write_atomically(path, sealed(*(json.dumps(document, separators=(",", ":")).encode() for document in documents)))
