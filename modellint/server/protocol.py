"""Between our values and the protocol's: positions, diagnostics, edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from modellint.finding import Severity
from modellint.fix.edits import edits_by_path
from modellint.reporters.text import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pygls.workspace import PositionCodec

    from modellint.finding import Edit, Finding
    from modellint.source import Place, Span

SOURCE = "modellint"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def uri_of(path: str) -> str:
    """The URI of an absolute path."""
    return from_fs_path(path) or ""


def path_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI; None for a document that is no file."""
    return to_fs_path(uri) if uri.startswith("file:") else None


class Converter:
    """Turns places into ranges: lines from 0, columns in the units that client and server agreed on."""

    def __init__(
        self, codec: PositionCodec, lines_of: Callable[[str], Sequence[str]], uri_of: Callable[[str], str]
    ) -> None:
        self._codec = codec
        self._lines_of = lines_of
        self._uri_of = uri_of

    def range(self, place: Place) -> types.Range:
        span = place.span
        lines = self._lines_of(place.path)
        return types.Range(
            self._position(span.line, span.column, lines), self._position(span.end_line, span.end_column, lines)
        )

    def _position(self, line: int, column: int, lines: Sequence[str]) -> types.Position:
        text = lines[line - 1] if 1 <= line <= len(lines) else ""
        return types.Position(max(line - 1, 0), self._codec.client_num_units(text[: column - 1]))

    def location(self, place: Place) -> types.Location:
        return types.Location(self._uri_of(place.path), self.range(place))

    def diagnostic(self, finding: Finding, *, with_related: bool) -> types.Diagnostic:
        related = [
            types.DiagnosticRelatedInformation(self.location(other.place), other.message) for other in finding.related
        ]
        return types.Diagnostic(
            range=self.range(finding.place),
            message=explained(finding),
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
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
    """Whether a span shares a line with a range of lines, both from 1."""
    return span.line <= last and first <= span.end_line
