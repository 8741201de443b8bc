"""JSON files that modellint keeps for itself: the first line is a checksum of the rest, which has one document a line.

Each is written whole. JSON, because reading it can run nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modellint.reading.digest import digest
from modellint.reading.files import parse_json, read_file, write_atomically

if TYPE_CHECKING:
    from pathlib import Path


def sealed(data: bytes) -> bytes:
    """What a file holds that keeps `data`."""
    return digest(data).encode() + b"\n" + data


def read_lines(path: Path) -> list[bytes]:
    """The documents in a file, as they are written. Raises OSError, and ValueError if any byte of it was changed."""
    text = read_file(path)
    data = text.partition(b"\n")[2]
    if text != sealed(data):
        raise ValueError(f"{path} does not fit its checksum")
    return data.split(b"\n")


def read_sealed(path: Path) -> Any:
    """The one document in a file. Raises OSError, and ValueError if it was cut or changed in any byte."""
    (line,) = read_lines(path)
    return parse_json(line)


def write_sealed(path: Path, *documents: Any) -> None:
    """Write documents to a file, all of it or nothing. Raises OSError, and ValueError if JSON cannot say them."""
    lines = (json.dumps(document, separators=(",", ":")).encode() for document in documents)
    write_atomically(path, sealed(b"\n".join(lines)))
