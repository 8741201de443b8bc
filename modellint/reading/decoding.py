"""Files to code: whoever opens one picks its decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.source import NOTEBOOK, SourceFile, decode_python, kind_of

if TYPE_CHECKING:
    from pathlib import Path


def decode_code(path: Path, data: bytes) -> SourceFile:
    """The Python code of a file, which of a notebook is that of its cells. Raises UnreadableError."""
    if kind_of(path.name) != NOTEBOOK:
        return decode_python(path, data)
    from modellint.notebook.reading import read

    return SourceFile(path, read(data).text)
