"""Between our values and the protocol's: positions, diagnostics, edits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

from lsprotocol import types
from pygls.uris import to_fs_path

from modellint.edits.changes import edits_by_path
from modellint.finding import Severity
from modellint.reporters.text import explained
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pygls.workspace import PositionCodec

    from modellint.finding import Edit, Finding
    from modellint.source import SourceFile

SOURCE = "modellint"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def uri_of(path: str) -> str:
    """The URI of an absolute path, whose name need not be UTF-8."""
    return Path(path).as_uri()


def path_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI; None for a document that is no file of this machine."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file":
        return None
    if os.name == "nt":
        path = to_fs_path(uri)  # drives and shares
        return None if path is None else Path(path).as_posix()
    path = os.fsdecode(unquote_to_bytes(parts.path))
    is_here = parts.netloc in ("", "localhost") and path.startswith("/") and "\0" not in path
    return f"/{os.path.normpath(path).lstrip('/')}" if is_here else None


class Converter:
    """Turns places into ranges: lines from 0, columns in the units that client and server agreed on.

    `page_of` gives the address of the page about a code, if there is one.
    """

    def __init__(
        self,
        codec: PositionCodec,
        source_of: Callable[[str], SourceFile],
        uri_of: Callable[[str], str],
        page_of: Callable[[str], str | None] = lambda code: None,
    ) -> None:
        self._codec = codec
        self._page_of = page_of
        self._source_of = source_of
        self._uri_of = uri_of

    def range(self, place: Place) -> types.Range:
        span = place.span
        source = self._source_of(place.path)
        return types.Range(
            self._position(span.line, span.column, source), self._position(span.end_line, span.end_column, source)
        )

    def _position(self, line: int, column: int, source: SourceFile) -> types.Position:
        text = source.lines[line - 1] if 1 <= line <= len(source.lines) else ""
        before = text[: column - 1].rstrip("\r\n")
        if line == 1 and source.bom:
            before = f"\ufeff{before}"
        return types.Position(max(line - 1, 0), self._codec.client_num_units(before))

    def range_of(self, path: str, span: Span) -> types.Range:
        """The range of a span in a file."""
        return self.range(Place(path, span))

    def span(self, path: str, line: int, start: int, end: int) -> types.Range:
        """The range of characters in a line, both from 0."""
        return self.range_of(path, Span(line + 1, start + 1, line + 1, end + 1))

    def column(self, path: str, position: types.Position) -> tuple[int, int]:
        """The line and the character of a position, both from 0; one behind the end of a line is that end."""
        source = self._source_of(path)
        text = source.lines[position.line].rstrip("\r\n") if position.line < len(source.lines) else ""
        mark = "\ufeff" if position.line == 0 and source.bom else ""
        asked = types.Position(0, position.character)
        found = self._codec.position_from_client_units([f"{mark}{text}"], asked).character
        return position.line, min(max(found - len(mark), 0), len(text))

    def uri(self, file: Path) -> str:
        """The URI by which the editor knows a file."""
        return self._uri_of(file.as_posix())

    def location(self, place: Place) -> types.Location:
        return types.Location(self._uri_of(place.path), self.range(place))

    def diagnostic(self, finding: Finding, *, with_related: bool) -> types.Diagnostic:
        related = [
            types.DiagnosticRelatedInformation(self.location(other.place), other.message) for other in finding.related
        ]
        page = self._page_of(finding.code)
        return types.Diagnostic(
            range=self.range(finding.place),
            message=explained(finding),
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=None if page is None else types.CodeDescription(page),
            source=SOURCE,
            related_information=related if with_related and related else None,
            data=finding.fingerprint,
        )

    def workspace_edit(self, edits: Iterable[Edit], version_of: Callable[[str], int | None]) -> types.WorkspaceEdit:
        """Edits of one or more files, for the versions that they were made for."""
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(
                        self._uri_of(path.as_posix()), version_of(path.as_posix())
                    ),
                    [types.TextEdit(self.range(edit.place), edit.text) for edit in of_path],
                )
                for path, of_path in edits_by_path(edits).items()
            ]
        )


def touches(span: Span, first: int, last: int) -> bool:
    """True if a span shares a line with a range of lines, both from 1."""
    return span.line <= last and first <= span.end_line
