"""Edits in files of any kind: those of a notebook are applied to its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.edits import files
from modellint.edits.changes import EditError
from modellint.reading.decoding import decode_code
from modellint.source import NOTEBOOK, UnreadableError, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from modellint.finding import Edit
    from modellint.source import SourceFile


def decoded(path: Path, data: bytes) -> SourceFile:
    """A file as it is checked. Raises EditError."""
    if kind_of(path.name) != NOTEBOOK:
        return files.decoded(path, data)
    try:
        return decode_code(path, data)
    except UnreadableError as error:
        raise EditError(error.reason) from None


def edited(path: Path, data: bytes, edits: Iterable[Edit]) -> bytes:
    """The content of a file after edits. Raises EditError, as `modellint.edits.files.edited` does."""
    if kind_of(path.name) != NOTEBOOK:
        return files.edited(path, data, edits)
    from modellint.notebook.edits import edited_notebook

    return edited_notebook(path, data, edits)
