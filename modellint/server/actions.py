"""Code actions: fix a finding, fix all findings of a file, ignore a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from modellint.edits.changes import EditError, changes_of, edits_by_path
from modellint.finding import Applicability
from modellint.fix.ignoring import ignore_edit
from modellint.server.notebooks import without_magics
from modellint.server.protocol import path_of, touches
from modellint.source import NOTEBOOK, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modellint.finding import Edit, Finding
    from modellint.server.editor import Server
    from modellint.source import SourceFile


def actions(ls: Server, path: str, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The code actions for the selected lines: fix a finding, fix all of the file, ignore a finding."""
    shown = ls.shown
    findings = shown.findings.get(path, [])
    text, document = shown.texts.get(path), ls.documents.document_at(params.text_document.uri)
    if text is None or document is None or text.version != document.version:
        return []
    converter = ls.converter(shown)
    wanted = params.context.only

    def is_wanted(kind: str) -> bool:
        return wanted is None or any(kind == only or kind.startswith(f"{only}.") for only in wanted)

    def edit(edits: Iterable[Edit]) -> types.WorkspaceEdit:
        return converter.workspace_edit(edits, shown.version)

    offered: list[types.CodeAction] = []
    first, last = params.range.start.line + 1, params.range.end.line + 1
    source = shown.source(path)
    is_cell = path_of(params.text_document.uri) is None
    commented = without_magics(source) if is_cell else source
    has_comments = is_cell or kind_of(path) not in (NOTEBOOK, None)  # JSON has none
    for finding in findings if is_wanted(types.CodeActionKind.QuickFix) else ():
        if not touches(finding.span, first, last):
            continue
        about = [converter.diagnostic(finding, with_related=True)]
        if finding.fix is not None:
            is_safe = finding.fix.applicability is Applicability.SAFE
            offered.append(
                types.CodeAction(
                    f"{finding.fix.message}" + ("" if is_safe else " (unsafe: needs a look)"),
                    types.CodeActionKind.QuickFix,
                    about,
                    is_preferred=is_safe,
                    edit=edit(finding.fix.edits),
                )
            )
        comment = ignore_edit(commented, finding) if has_comments else None
        if comment is not None:
            title = f"Ignore {finding.code} on this line"
            offered.append(types.CodeAction(title, types.CodeActionKind.QuickFix, about, edit=edit([comment])))
    all_edits = fix_all(findings, shown.source) if is_wanted(types.CodeActionKind.SourceFixAll) else []
    if all_edits:
        offered.append(
            types.CodeAction(
                "Fix all that modellint can fix safely", types.CodeActionKind.SourceFixAll, edit=edit(all_edits)
            )
        )
    return offered


def fix_all(findings: Iterable[Finding], source_of: Callable[[str], SourceFile]) -> list[Edit]:
    """The edits of all safe fixes that do not touch one another."""
    chosen: list[Edit] = []
    for finding in findings:
        if finding.fix is None or finding.fix.applicability is not Applicability.SAFE:
            continue
        together = list(dict.fromkeys((*chosen, *finding.fix.edits)))
        try:
            for path, edits in edits_by_path(together).items():
                changes_of(source_of(path.as_posix()), edits)
        except EditError:
            continue
        chosen = together
    return chosen
