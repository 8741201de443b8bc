"""Notebooks for tests."""

from __future__ import annotations

import ast
import itertools
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def notebook(*sources: str, as_text: bool = False, metadata: dict[str, Any] | None = None) -> str:
    """A notebook as Jupyter writes it, of code cells; one whose source begins with `#md` is a Markdown cell."""
    cells = [_cell(source, as_text) for source in sources]
    known = PYTHON if metadata is None else metadata
    document = {"cells": cells, "metadata": known, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _cell(source: str, as_text: bool) -> dict[str, Any]:
    text = source if as_text else source.splitlines(keepends=True)
    if source.startswith("#md"):
        return {"cell_type": "markdown", "metadata": {}, "source": text}
    output = {"name": "stdout", "output_type": "stream", "text": ['{"source": ["not this"]}\n']}
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [output], "source": text}


def sources_of(data: str | bytes) -> list[str]:
    """The source of each cell."""
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


def cut(text: str) -> list[str]:
    """A module in cells, one for each statement with what stands before it; joined, they are the module again."""
    lines = text.splitlines(keepends=True)
    ends = [node.end_lineno or 0 for node in ast.parse(text).body]
    starts = [0, *dict.fromkeys(end for end in ends[:-1] if end < len(lines)), len(lines)]
    return ["".join(lines[start:end]) for start, end in itertools.pairwise(starts)]


def places_in(cells: Iterable[str]) -> dict[tuple[int, int], int]:
    """The line of the whole that each line of a cell (numbered from 1) is."""
    found: dict[tuple[int, int], int] = {}
    for number, cell in enumerate(cells, 1):
        for line in range(1, len(cell.splitlines()) + 1):
            found[number, line] = len(found) + 1
    return found
