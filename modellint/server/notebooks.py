"""Notebooks in an editor: one file that is checked, and a document for each of its cells."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from lsprotocol import types

from modellint.finding import Edit
from modellint.notebook.magics import code_of
from modellint.notebook.places import Locator, with_places
from modellint.notebook.reading import read
from modellint.source import NOTEBOOK, Place, SourceFile, kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modellint.finding import Finding
    from modellint.reading.files import Files
    from modellint.server.documents import Workspace

SYNC = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithCells([types.NotebookCellLanguage("python")], "jupyter-notebook")]
)


@dataclass(frozen=True, slots=True)
class CellDocument:
    """A cell of a notebook in the editor."""

    uri: str
    is_code: bool
    language: str
    version: int | None
    text: str


def cells_of(workspace: Workspace, uri: str) -> tuple[CellDocument, ...] | None:
    """The cells of a notebook that is open; None if it is not."""
    notebook = workspace.get_notebook_document(notebook_uri=uri)
    if notebook is None:
        return None
    found = []
    for cell in notebook.cells:
        document = workspace.document_at(cell.document)
        is_code = cell.kind == types.NotebookCellKind.Code
        if document is not None:
            language = document.language_id or "python"
            found.append(CellDocument(cell.document, is_code, language, document.version, document.source))
    return tuple(found)


def as_file(cells: Sequence[CellDocument]) -> bytes:
    """The content of a notebook file with these cells, as far as checking needs it."""
    listed = [
        {
            "cell_type": "code" if cell.is_code else "markdown",
            "metadata": {"vscode": {"languageId": cell.language}},
            "source": cell.text,
        }
        for cell in cells
    ]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def key_of(path: str, cell: CellDocument) -> str:
    """The key of a cell among paths of files."""
    return f"{path}#{quote(cell.uri, safe='')}"


class Placed:
    """Places in notebooks as the editor knows them: in the documents of cells, or in the JSON of one that is a text."""

    def __init__(self, files: Files, notebooks: Mapping[str, Sequence[CellDocument]]) -> None:
        self._locator = Locator(files)
        self._notebooks = notebooks

    def finding(self, finding: Finding) -> Finding:
        return with_places(self._locator.finding(finding), self._place, self._edit)

    def _place(self, place: Place) -> Place:
        if not place.cell:
            return place
        cells = self._notebooks.get(place.path)
        if cells is None:
            return self._locator.on_disk(place)
        return Place(key_of(place.path, cells[place.cell - 1]), place.span)

    def _edit(self, edit: Edit) -> Edit:
        edit = self._locator.edit(edit)
        if edit.place.cell and edit.place.path not in self._notebooks:
            return self._locator.edit_on_disk(edit)
        return Edit(self._place(edit.place), edit.text)


def without_magics(source: SourceFile) -> SourceFile:
    """A cell as the Python code, or the file, within its comments; every character keeps its place."""
    code = code_of(source.lines)
    if code.writes is None:
        return SourceFile(source.path, "".join(code.lines))
    first = code.writes.first
    return SourceFile(Path(code.writes.name), "".join((*code.lines[:first], *source.lines[first:])))


def line_in_module(path: str, number: int, line: int, files: Files) -> int:
    """The line of a notebook's module for a line of a cell (from 1)."""
    data = files.read(Path(path)) if kind_of(path) == NOTEBOOK else None
    for cell in () if data is None else read(data).cells:
        if cell.number == number:
            return cell.first + line - 1
    return line
