"""The text of documents as the protocol edits it: lines end at LF, CRLF and CR, and nowhere else.

pygls (2.1.1) splits lines where Python's `str.splitlines` does, at form feeds and U+2028 as well, and takes positions
behind the end of a line for the character before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types
from pygls import workspace

from modellint.source import split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The bytes of a unit of columns, and the encoding with such units.
_UNITS = {
    types.PositionEncodingKind.Utf8: (1, "utf-8"),
    types.PositionEncodingKind.Utf16: (2, "utf-16-le"),
    types.PositionEncodingKind.Utf32: (4, "utf-32-le"),
}


class TextDocument(workspace.TextDocument):
    """A document, or a cell of a notebook."""

    @property
    def lines(self) -> Sequence[str]:
        return split_lines(self.source)

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        self._source = replace_range(self.source, change.range, change.text, self.position_codec.encoding)


class Workspace(workspace.Workspace):
    """The documents that the editor has open."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return TextDocument(doc_uri, source, version, language_id, position_codec=self.position_codec)

    def document_at(self, uri: str) -> workspace.TextDocument | None:
        """An open document or cell; None if it is not open. pygls would read it from disk."""
        document: workspace.TextDocument | None = self.text_documents.get(unquote(uri))
        return document

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        if self.document_at(text_doc.uri) is not None:
            super().update_text_document(text_doc, change)

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        if self.get_notebook_document(notebook_uri=params.notebook_document.uri) is not None:
            super().update_notebook_document(params)


def replace_range(text: str, place: types.Range, new: str, encoding: str | None) -> str:
    """The text with a range replaced; a position that does not exist is clipped to the nearest one before it."""
    lines = split_lines(text)
    start, end = sorted((place.start, place.end), key=lambda position: (position.line, position.character))
    before, _ = _text_around(lines, start, encoding)
    _, after = _text_around(lines, end, encoding)
    joined = before + new + after
    if before[-1:].isascii() and after[:1].isascii() and new.isascii():
        return joined
    # Columns that count halves of a character can part it, and bring halves together.
    return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _text_around(lines: Sequence[str], position: types.Position, encoding: str | None) -> tuple[str, str]:
    """The text before a position, and the text after it."""
    if position.line >= len(lines):
        return "".join(lines), ""
    line = lines[position.line]
    content = line.rstrip("\r\n")
    before, after = _split(content, position.character, encoding)
    return (
        "".join((*lines[: position.line], before)),
        "".join((after, line[len(content) :], *lines[position.line + 1 :])),
    )


def _split(line: str, column: int, encoding: str | None) -> tuple[str, str]:
    if line.isascii():
        return line[:column], line[column:]
    size, name = _UNITS[types.PositionEncodingKind(encoding or types.PositionEncodingKind.Utf16)]
    data = line.encode(name, "surrogatepass")
    at = min(size * column, len(data))
    while name == "utf-8" and at < len(data) and data[at] & 0xC0 == 0x80:  # in the middle of a character
        at -= 1
    return data[:at].decode(name, "surrogatepass"), data[at:].decode(name, "surrogatepass")
