"""Maps for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.mapping.graph import GROUP, ROOT, graphs
from modellint.reporters.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.mapping.graph import Edge, Graph, Node
    from modellint.mapping.model import Map
    from modellint.reporters import View

_SHAPES = {ROOT: "box", GROUP: "ellipse"}
_RED = "#c62828"
_COLOURS = {"moves": "#1565c0", "trains": "#6a1b9a", "saves": "#2e7d32", "loads": "#8d6e00"}
_GREY = "#616161"


def lines(chart: Map, view: View) -> Iterator[str]:
    """One directed graph; several trainings are clusters of it."""
    yield f"digraph {_quoted(view.path(chart.path))} {{"
    yield "  rankdir=LR;"
    yield '  node [fontname="sans-serif", fontsize=11];'
    yield '  edge [fontname="sans-serif", fontsize=9];'
    every = graphs(chart)
    for number, graph in enumerate(every):
        if len(every) == 1:
            yield from _body(graph, number, "  ")
        else:
            yield f"  subgraph cluster_{number} {{"
            yield f"    label={_quoted(graph.title)};"
            yield from _body(graph, number, "    ")
            yield "  }"
    yield "}"


def _body(graph: Graph, number: int, indent: str) -> Iterator[str]:
    names = {node.name: f"n{number}_{position}" for position, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        yield f"{indent}{names[node.name]} [{_node(node)}];"
    for edge in graph.edges:
        yield f"{indent}{names[edge.source]} -> {names[edge.target]} [{_edge(edge)}];"


def _node(node: Node) -> str:
    label = "\n".join(filter(None, (node.label, node.detail)))
    parts = [f"label={_quoted(label)}", f"shape={_SHAPES.get(node.kind, 'box')}"]
    style = "bold" if node.kind == ROOT else "rounded"
    parts.append(f"style={style}")
    if node.loose:
        parts.append(f'color="{_RED}", fontcolor="{_RED}"')
    return ", ".join(parts)


def _edge(edge: Edge) -> str:
    if edge.loose:
        return f'label="left out", style=dashed, color="{_RED}", fontcolor="{_RED}"'
    style = "solid" if edge.certain else "dashed"
    colour = _COLOURS.get(edge.verb, _GREY)
    return f'label={_quoted(edge.verb)}, style={style}, color="{colour}", fontcolor="{colour}"'


def _quoted(text: str) -> str:
    """A quoted string; `\\n` is the one escape of ours in it."""
    lines = (printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n"))
    return '"' + "\\n".join(lines) + '"'
