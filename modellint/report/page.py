"""The report as a web page: one file that loads nothing, with the findings, the models and the shapes of a project."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from modellint.finding import Severity, Status
from modellint.mapping.html import code_text, table_lines
from modellint.mapping.page import STYLE
from modellint.mapping.text import counted, fact_text, markup, memory_text, use_text
from modellint.mapping.views import tables
from modellint.report.findings import finding_lines
from modellint.report.style import SCRIPT, STYLE_OF_REPORT
from modellint.report.tree import trees
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.finding import Finding
    from modellint.flow.shapes.shown import Shown
    from modellint.report.collected import FileModels
    from modellint.report.tree import Branch
    from modellint.reporters import View
    from modellint.results.report import Report

_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def lines(report: Report, models: Sequence[FileModels], view: View, title: str) -> Iterator[str]:
    """The page. `title` names the project."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{markup(policy)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta name="generator" content="modellint {__version__}">'
    yield f"<title>modellint report of {markup(title)}</title>"
    yield f"<style>{STYLE}{STYLE_OF_REPORT}</style>"
    yield "</head>"
    yield "<body>"
    yield f"<header><h1>modellint report of <code>{markup(title)}</code></h1>"
    yield from _summary(report, models)
    yield "</header>"
    yield "<main>"
    yield from _findings(report.findings, view)
    yield from _models(models, view)
    yield from _shapes(models, view)
    yield "</main>"
    ran = "Code ran in a restricted process" if report.guard is not None else "Nothing was run"
    yield f"<footer>Made by modellint {__version__}. {ran}, and this page loads nothing.</footer>"
    yield f"<script>{SCRIPT}</script>"
    yield "</body>"
    yield "</html>"


def _summary(report: Report, models: Sequence[FileModels]) -> Iterator[str]:
    """The numbers of findings, files and verdicts, and links to the sections."""
    counts = Counter(finding.severity for finding in report.findings)
    parts = [f'<li class="{one.value}"><b>{counts[one]}</b> {_plural(one, counts[one])}</li>' for one in _SEVERITIES]
    verdicts = Counter(finding.verdict.status for finding in report.findings)
    confirmed = verdicts[Status.CONFIRMED]
    if report.guard is not None:
        parts.append(f"<li><b>{confirmed}</b> confirmed by running the code</li>")
    parts.append(f"<li>{counted(report.files_checked, 'file')} checked</li>")
    yield f'<ul class="counts">{"".join(parts)}</ul>'
    links = ['<a href="#findings">Findings</a>']
    links += ['<a href="#models">Models</a>', '<a href="#shapes">Shapes</a>'] if models else []
    yield f'<nav aria-label="Sections">{" ".join(links)}</nav>'


def _plural(severity: Severity, number: int) -> str:
    return severity.value if number == 1 or severity is Severity.INFO else f"{severity.value}s"


# -- findings ----------------------------------------------------------------------------------------------------------


def _findings(findings: Iterable[Finding], view: View) -> Iterator[str]:
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        by_file.setdefault(finding.path, []).append(finding)
    yield '<section aria-labelledby="findings"><h2 id="findings">Findings</h2>'
    if not by_file:
        yield '<p class="fine">No findings.</p></section>'
        return
    yield '<div class="tools" id="tools" hidden>'
    yield '<label for="filter">Filter <input type="search" id="filter" placeholder="code, file, message…"></label>'
    for severity in _SEVERITIES:
        name = severity.value
        yield f'<label><input type="checkbox" data-severity="{name}" checked> {name}</label>'
    yield "</div>"
    for path, found in by_file.items():
        yield '<details class="file" open>'
        yield f"<summary><h3>{markup(view.path(path))}</h3> <span>{len(found)}</span></summary>"
        for finding in found:
            yield from finding_lines(finding, view)
        yield "</details>"
    yield "</section>"


# -- models ------------------------------------------------------------------------------------------------------------


def _models(models: Sequence[FileModels], view: View) -> Iterator[str]:
    if not models:
        return
    yield '<section aria-labelledby="models"><h2 id="models">Models</h2>'
    recipes = [one.recipe for one in models if one.recipe is not None]
    for chart in recipes:
        for table in tables(chart, view):
            yield f"<h3>{markup(table.title)}</h3>"
            yield f'<p class="quiet">{markup(table.subtitle)}</p>'
            yield from (f'<p class="left-out">{code_text(text)}</p>' for text in table.loose)
            yield from table_lines(table, "Layers, and what moves, trains and saves them")
    found = trees(chart for one in models for chart in one.classes)
    if found:
        yield '<p class="quiet">Memory is that of the parameters as float32.</p>'
        yield '<ul class="tree">'
        for branch in found:
            yield from _branch(branch, view)
        yield "</ul>"
    yield "</section>"


def _branch(branch: Branch, view: View) -> Iterator[str]:
    """A module with those in it, which unfold."""
    numbers = "" if branch.text in ("", "0", "?") else f"{branch.text} parameters"
    if branch.memory:
        numbers += f", {memory_text(branch.memory)}"
    facts = [numbers] if numbers else []
    attribute = branch.attribute
    if attribute is None:
        assert branch.chart is not None
        place = branch.chart.place
        named = f"<code>{markup(branch.name)}</code>"
        facts.append(f"{view.path(place.path)}:{place.span.line}")
    else:
        named = f"<code>{markup(branch.name)}</code> <code>{markup(branch.class_name)}</code>"
        facts += [use_text(attribute.uses[0], view, short=True)] if attribute.uses else []
    state = "" if attribute is None else f' class="{attribute.registered.state.value.replace(" ", "-")}"'
    registered = (
        "" if attribute is None else f" <span{state}>{markup(_state_text(fact_text(attribute.registered)))}</span>"
    )
    line = f'{named}{registered} <span class="quiet">{markup(" · ".join(facts))}</span>'
    if not branch.branches:
        yield f"<li>{line}</li>"
        return
    yield f"<li><details><summary>{line}</summary><ul>"
    for inner in branch.branches:
        yield from _branch(inner, view)
    yield "</ul></details></li>"


def _state_text(text: str) -> str:
    return {"yes": "registered", "-": "not registered", "?": "may be registered", "maybe": "may be registered"}.get(
        text, text
    )


# -- shapes ------------------------------------------------------------------------------------------------------------


def _shapes(models: Sequence[FileModels], view: View) -> Iterator[str]:
    known = [one for one in models if one.shapes]
    if not models:
        return
    yield '<section aria-labelledby="shapes"><h2 id="shapes">Shapes</h2>'
    if not known:
        yield '<p class="quiet">No shapes are known.</p>'
    for one in known:
        by_function: dict[str, list[Shown]] = {}
        for shown in one.shapes:
            by_function.setdefault(shown.function.qualname, []).append(shown)
        for name, shapes in by_function.items():
            yield f"<details><summary><code>{markup(view.path(one.path))}::{markup(name)}</code></summary>"
            yield from _source_with_shapes(shapes, one.path, view)
            yield "</details>"
    yield "</section>"


def _source_with_shapes(shapes: Sequence[Shown], path: str, view: View) -> Iterator[str]:
    """The lines of a function that assign or return tensors, each with its shape."""
    source = view.source_lines(path)
    yield '<div class="wide"><table><thead><tr>'
    yield '<th scope="col">line</th><th scope="col">code</th><th scope="col">tensor</th><th scope="col">shape</th>'
    yield "</tr></thead><tbody>"
    for one in shapes:
        text = source[one.line - 1].strip() if 1 <= one.line <= len(source) else ""
        shape = f"{one.shape} {one.dtype}".rstrip()
        yield f'<tr><td class="number">{one.line}</td><td><code>{markup(text)}</code></td>'
        yield f"<td><code>{markup(one.name)}</code></td><td><code>{markup(shape)}</code></td></tr>"
    yield "</tbody></table></div>"
