"""A finding in its code: the lines round it, the reasons, the verdict, and the fix as a difference."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Status
from modellint.mapping.html import code_text
from modellint.mapping.text import markup
from modellint.reporters.text import spot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.finding import Edit, Finding
    from modellint.reporters import View
    from modellint.source import Place

#: The lines shown before and after a place.
_CONTEXT = 2
#: Characters of a line.
_WIDEST = 400


def finding_lines(finding: Finding, view: View) -> Iterator[str]:
    """The finding as an article."""
    severity = finding.severity.value
    where = f"{view.path(finding.path)}:{spot(view.place(finding.place))}"
    page = view.page(finding.code)
    code = f'<a href="{markup(page)}">{finding.code}</a>' if page is not None else finding.code
    yield f'<article class="finding {severity}" data-severity="{severity}">'
    yield f'<h4><span class="severity">{severity}</span> {code} {code_text(finding.message)}</h4>'
    yield f'<p class="quiet">{markup(where)} · {finding.confidence.value} confidence</p>'
    yield from _frame(finding.place, view, _CONTEXT)
    if finding.evidence:
        yield f"<ul>{''.join(f'<li>{code_text(fact)}</li>' for fact in finding.evidence)}</ul>"
    if finding.verdict.status is not Status.NOT_RUN:
        status, device = finding.verdict.status.value, finding.verdict.device
        shown = f" ({markup(device)})" if device else ""
        yield f'<p class="verdict {status}"><b>{status}{shown}</b> {code_text(finding.verdict.detail or "")}</p>'
    for related in finding.related:
        place = f"{view.path(related.place.path)}:{spot(view.place(related.place))}"
        yield f"<p><code>{markup(place)}</code> {code_text(related.message)}</p>"
        yield from _frame(related.place, view, 0)
    if finding.help:
        yield f"<p><b>Help:</b> {code_text(finding.help)}</p>"
    yield from _fix(finding, view)
    yield "</article>"


def _frame(place: Place, view: View, context: int) -> Iterator[str]:
    """The lines round a place, with the place marked on its first line."""
    source, span = view.source_lines(place.path, place.cell), place.span
    if not 1 <= span.line <= len(source):
        return
    shown = []
    for number in range(max(1, span.line - context), min(len(source), span.line + context) + 1):
        text = source[number - 1].rstrip("\r\n")
        body = markup(text[:_WIDEST])
        if number == span.line:
            start, end = span.column - 1, span.end_column - 1 if span.end_line == span.line else len(text)
            marked = text[start : max(end, start + 1)]
            body = f"{markup(text[:start])}<mark>{markup(marked)}</mark>{markup(text[end:][:_WIDEST])}"
        shown.append(f'<span class="line"><i>{number}</i>{body}</span>')
    yield f'<pre class="frame">{"".join(shown)}</pre>'


def _fix(finding: Finding, view: View) -> Iterator[str]:
    """The fix of a finding as a difference of lines, for each file that it edits."""
    if finding.fix is None:
        return
    is_safe = finding.fix.applicability is Applicability.SAFE
    option = "--fix" if is_safe else "--fix --unsafe-fixes"
    yield f"<details><summary>Fix: {code_text(finding.fix.message)} (<code>{option}</code>)</summary>"
    paths = dict.fromkeys((edit.place.path, edit.place.cell) for edit in finding.fix.edits)
    for path, cell in paths:
        edits = [edit for edit in finding.fix.edits if (edit.place.path, edit.place.cell) == (path, cell)]
        before = [line.rstrip("\r\n") for line in view.source_lines(path, cell)]
        after = edited_lines(before, edits)
        shown = [f"<b>{markup(view.path(path))}</b>"]
        for line in list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]:
            kind = {"+": "added", "-": "removed"}.get(line[:1], "same")
            shown.append(f'<span class="{kind}">{markup(line)}</span>')
        yield f'<pre class="difference">{"".join(shown)}</pre>'
    yield "</details>"


def edited_lines(before: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    """The lines of a file after edits, which do not overlap. Lines have no ends."""
    text = "\n".join(before)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda edit: (edit.place.span.line, edit.place.span.column), reverse=True):
        span = edit.place.span
        if span.end_line > len(before):
            continue
        start, end = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
        text = text[:start] + edit.text.replace("\r\n", "\n") + text[end:]
    return text.split("\n")
