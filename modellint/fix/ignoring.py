"""Comments that silence findings: the edit that writes one, and `check --add-ignore`, which writes one for each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modellint.edits.changes import EditError, applied, changes_of
from modellint.finding import Edit
from modellint.fix.documents import decoded, edited
from modellint.fix.writing import Rewrite, write_together
from modellint.results.suppressions import in_python, in_yaml
from modellint.source import NOTEBOOK, YAML, Place, SourceFile, Span, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modellint.finding import Finding
    from modellint.reading.files import Files
    from modellint.results.suppressions import Suppression


def ignore_edit(source: SourceFile, finding: Finding, reason: str = "") -> Edit | None:
    """The edit that silences a finding on its line; None if no comment can stand there.

    An ignore comment that is there already gets the code added. Otherwise the comment is put at the end of the first of
    the finding's lines that can hold one: the end of a line inside of a string cannot.
    """
    comments = _comments(source)
    lines = range(finding.span.line, min(finding.span.end_line, len(source.lines)) + 1)
    for comment in comments:
        if comment.span.line in lines and comment.codes and not (comment.whole_file or comment.is_noqa):
            edit = _with_code(source, comment.span, finding)
            if edit is not None and _silences(source, edit, finding):
                return edit
    text = f"# modellint: ignore[{finding.code}]" + (f"  {reason}" if reason else "")
    for number in lines:
        line = source.lines[number - 1].rstrip("\r\n")
        kept = line.rstrip()
        place = Place(finding.path, Span(number, len(kept) + 1, number, len(line) + 1))
        edit = Edit(place, f"  {text}" if kept else text)
        if _silences(source, edit, finding):
            return edit
    return None


def add_ignores(findings: Iterable[Finding], files: Files, reason: str = "") -> tuple[int, list[Finding]]:
    """Write a comment for each finding; gives the number silenced, and the findings that no comment can silence.

    Each file is replaced as a whole. Raises WriteError for one that cannot be.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    silenced, left = 0, []
    for path, found in by_path.items():
        file = Path(path)
        if kind_of(path) is None:  # JSON and weights have no comments
            left += found
            continue
        before = files.read(file) or b""
        data = before
        for finding in found:
            try:
                source, inner, outer = _alone(file, data, finding)
                if any(comment.covers(inner) for comment in _comments(source)):
                    silenced += 1
                    continue
                edit = ignore_edit(source, inner, reason)
                if edit is None:
                    left.append(finding)
                    continue
                data = edited(file, data, [outer(edit)])
                silenced += 1
            except EditError:
                left.append(finding)
        if data != before:
            write_together([Rewrite(file, before, data)])
    return silenced, left


def _alone(file: Path, data: bytes, finding: Finding) -> tuple[SourceFile, Finding, Callable[[Edit], Edit]]:
    """The text of a finding's file, the finding in it, and the map from edits of the text to edits of the file.

    That is the file, but for a file that a cell of a notebook writes. Raises EditError.
    """
    if kind_of(file.name) == NOTEBOOK:
        from modellint.notebook.places import alone

        return alone(file, data, finding)
    return decoded(file, data), finding, lambda edit: edit


def _comments(source: SourceFile) -> Sequence[Suppression]:
    return in_yaml(source) if kind_of(source.path.name) == YAML else in_python(source)


def _with_code(source: SourceFile, span: Span, finding: Finding) -> Edit | None:
    """`ignore[ML101]` with one more code before the bracket."""
    line = source.lines[span.line - 1]
    end = line.find("]", span.column - 1, span.end_column)
    if end < 0:
        return None
    return Edit(Place(finding.path, Span(span.line, end + 1, span.line, end + 1)), f", {finding.code}")


def _silences(source: SourceFile, edit: Edit, finding: Finding) -> bool:
    """True if the text with the edit has a comment that covers the finding."""
    text = applied(source.text, changes_of(source, [edit]))
    changed = SourceFile(source.path, text, source.encoding, source.bom)
    return any(comment.covers(finding) for comment in _comments(changed))
