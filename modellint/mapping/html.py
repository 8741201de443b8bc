"""Maps as a web page: one file, nothing is loaded, the graph above and the same as a table below."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

from modellint.mapping import layout
from modellint.mapping.graph import graphs
from modellint.mapping.model import ClassMap, FolderMap, State
from modellint.mapping.page import SCRIPT, STYLE
from modellint.mapping.text import class_text, counted, markup
from modellint.mapping.views import tables
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.mapping.graph import Graph
    from modellint.mapping.model import Map
    from modellint.mapping.views import Cell, Table
    from modellint.reporters import View

_WORDS = {
    "moves": "moves to the device",
    "trains": "trains",
    "saves": "saves",
    "loads": "fills with pretrained weights",
    "registers": "registers",
    "uses": "uses",
}


def lines(chart: Map, view: View) -> Iterator[str]:
    """The page."""
    title = class_text(chart.name) if isinstance(chart, ClassMap) else view.path(chart.path)
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{markup(policy)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta name="generator" content="modellint {__version__}">'
    heading = "Weights" if isinstance(chart, FolderMap) else "Registration map"
    yield f"<title>{heading} of {markup(title)}</title>"
    yield f"<style>{STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield f"<h1>{heading} of <code>{markup(title)}</code></h1>"
    yield from _tools(has_layers=not isinstance(chart, FolderMap))
    if isinstance(chart, FolderMap):
        for number, table in enumerate(tables(chart, view)):
            yield from _plain_section(table, number)
    else:
        drawn, listed = graphs(chart), tables(chart, view)
        for number, (graph, table) in enumerate(zip(drawn, listed, strict=True)):
            yield from _section(graph, table, number)
    yield f"<footer>Made by modellint {__version__}. Nothing was run, and this page loads nothing.</footer>"
    yield f"<script>{SCRIPT}</script>"
    yield "</body>"
    yield "</html>"


def _tools(*, has_layers: bool) -> Iterator[str]:
    yield '<div class="tools" id="tools" hidden>'
    yield '<label for="filter">Filter <input type="search" id="filter" placeholder="layer, class, file…"></label>'
    hidden = "" if has_layers else " hidden"
    yield f'<label{hidden}><input type="checkbox" id="loose"> only what hangs loose</label>'
    yield "</div>"


def _section(graph: Graph, table: Table, number: int) -> Iterator[str]:
    yield f'<section aria-labelledby="title{number}">'
    yield f'<h2 id="title{number}">{markup(table.subtitle)}</h2>'
    yield from (f'<p class="quiet">{markup(note)}</p>' for note in table.notes)
    if table.loose:
        yield f'<div class="alarm"><h3>{counted(len(table.loose), "thing")} {_hang(len(table.loose))} loose</h3><ul>'
        yield from (f"<li>{code_text(text)}</li>" for text in table.loose)
        yield "</ul></div>"
    elif table.rows:
        yield '<p class="fine">Nothing hangs loose.</p>'
    if table.rows:
        yield from _figure(graph, table, number)
        yield from table_lines(table)
    yield "</section>"


def _plain_section(table: Table, number: int) -> Iterator[str]:
    """A section with a table alone."""
    yield f'<section aria-labelledby="title{number}">'
    yield f'<h2 id="title{number}">{markup(": ".join(filter(None, (table.title, table.subtitle))))}</h2>'
    yield from (f'<p class="quiet">{code_text(note)}</p>' for note in table.notes)
    if table.loose:
        yield '<div class="alarm"><h3>Files that could not be read</h3><ul>'
        yield from (f"<li>{code_text(text)}</li>" for text in table.loose)
        yield "</ul></div>"
    if table.rows:
        yield from table_lines(table, "")
    yield "</section>"


def code_text(text: str) -> str:
    """Text for a web page, with what stands in backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", markup(text))


def _hang(number: int) -> str:
    return "hangs" if number == 1 else "hang"


def _figure(graph: Graph, table: Table, number: int) -> Iterator[str]:
    drawing = layout.draw(graph)
    described = f"What holds each of {counted(len(table.rows), 'layer')}; the table below says the same"
    width = f"{drawing.width:g}"
    yield f'<figure aria-label="{described}">'
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="Graph {number + 1}">'
    for part, height, kind in (
        (drawing.head, drawing.head_height, "heads"),
        (drawing.body, drawing.body_height, "layers"),
    ):
        yield f'<div class="{kind}"><svg role="img" aria-label="{described}" width="{width}" height="{height:g}"'
        yield f' viewBox="0 0 {width} {height:g}">{part}</svg></div>'
    yield "</div>"
    yield '<ul class="legend">'
    for verb in layout.legend([graph]):
        yield f'<li class="{verb}"><i></i>{_WORDS[verb]}</li>'
    if any(not edge.certain for edge in graph.edges):
        yield '<li><i class="perhaps"></i>perhaps: the run decides</li>'
    if any(edge.loose for edge in graph.edges):
        yield '<li><i class="lost"></i>left out: should be held, and is not</li>'
    yield "</ul></figure>"


def table_lines(table: Table, caption: str = "The same as a table") -> Iterator[str]:
    """A table of a map."""
    yield f'<div class="wide"><table><caption>{caption}</caption><thead><tr>'
    yield "".join(f'<th scope="col">{markup(column)}</th>' for column in table.columns)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        mark = ' class="loose"' if any(cell.state is State.LOOSE for cell in row) else ""
        yield f"<tr{mark}>{''.join(map(_cell, row))}</tr>"
    yield "</tbody></table></div>"


def _cell(cell: Cell) -> str:
    kinds = [cell.state.value.replace(" ", "-")] if cell.state is not None else []
    kinds += ["number"] if cell.is_number else []
    mark = f' class="{" ".join(kinds)}"' if kinds else ""
    if len(cell.every) > 1:
        items = "".join(f"<li>{markup(text)}</li>" for text in cell.every)
        return f"<td{mark}><ul>{items}</ul></td>"
    return f"<td{mark}>{markup(cell.every[0] if cell.every else cell.text)}</td>"
