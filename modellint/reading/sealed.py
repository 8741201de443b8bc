"""JSON files that modellint keeps for itself: the first line is a checksum of the rest, and each is written whole.

JSON, because reading it can run nothing.
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


def read_sealed(path: Path) -> Any:
    """The document in a file. Raises OSError, and ValueError if it was cut or changed in any byte."""
    text = read_file(path)
    data = text.partition(b"\n")[2]
    if text != sealed(data):
        raise ValueError(f"{path} does not fit its checksum")
    return parse_json(data)


def write_sealed(path: Path, document: Any) -> None:
    """Write a document to a file, all of it or nothing. Raises OSError, and ValueError if JSON cannot say it."""
    write_atomically(path, sealed(json.dumps(document, separators=(",", ":")).encode()))
