"""A folder outside of the work tree that keeps what the tests need not make or find out again, by content.

Each file in it is sealed by a digest of what it holds and of the name that it was kept under. One that is cut, changed,
copied to another name or of another version of this format counts as none.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Any

VARIABLE = "MODELLINT_STORE"
#: Part of each seal: it changes with the format.
_FORMAT = b"modellint checks 1\n"
#: A shelf forgets its oldest notes above these many.
MOST_NOTES = 50_000


class Store:
    """Notes of what passed, and documents that are dear to make. Any process may read and write it at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def chosen(cls) -> Store | None:
        """The store that the environment names, if it names one."""
        folder = os.environ.get(VARIABLE)
        return cls(Path(folder)) if folder else None

    def document(self, name: str) -> Any:
        """What was kept under a name; None if nothing was, or nothing that can be trusted."""
        try:
            data = self._path(name).read_bytes()
            seal, body = data[:32], data[32:]
            return json.loads(zlib.decompress(body)) if seal == _seal(name, body) else None
        except (OSError, ValueError, zlib.error, RecursionError):
            return None

    def keep(self, name: str, document: Any) -> None:
        """Keep a document of JSON under a name: all of it, or what was there before."""
        body = zlib.compress(json.dumps(document, separators=(",", ":")).encode(), 6)
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        temporary.write_bytes(_seal(name, body) + body)
        os.replace(temporary, path)

    def passed(self, shelf: str) -> frozenset[str]:
        """The keys of the checks on a shelf that passed."""
        return frozenset(self._notes(shelf))

    def note(self, shelf: str, keys: list[str]) -> None:
        """Note that checks passed, each known by a key that says all that it rests on."""
        known = dict.fromkeys([*self._notes(shelf), *keys])
        self.keep(_shelf(shelf), [*known][-MOST_NOTES:])

    def _notes(self, shelf: str) -> list[str]:
        notes = self.document(_shelf(shelf))
        is_one = isinstance(notes, list) and all(isinstance(note, str) for note in notes)
        return notes if is_one else []

    def _path(self, name: str) -> Path:
        known = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
        return self._folder / known[:2] / known[2:]


def key(*parts: str) -> str:
    """A key that is another one if any part is."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _shelf(name: str) -> str:
    return f"passed: {name}"


def _seal(name: str, body: bytes) -> bytes:
    return hashlib.blake2b(_FORMAT + name.encode() + b"\0" + body, digest_size=32).digest()
