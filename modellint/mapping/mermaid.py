"""Maps for Mermaid, as GitHub and GitLab show them in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.mapping.graph import GROUP, ROOT, graphs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.mapping.graph import Edge, Graph, Node
    from modellint.mapping.model import Map
    from modellint.reporters import View

_RED = "#c62828"
#: Everything else is written as the number of its character.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:/+*()=")


def lines(chart: Map, view: View) -> Iterator[str]:
    """One flowchart; several trainings are subgraphs of it."""
    yield "flowchart LR"
    every = graphs(chart)
    edges: list[Edge] = []
    for number, graph in enumerate(every):
        if len(every) == 1:
            yield from _body(graph, number, "  ")
        else:
            yield f'  subgraph g{number}["{_escaped(graph.title)}"]'
            yield from _body(graph, number, "    ")
            yield "  end"
        edges += graph.edges
    yield "  classDef root font-weight:bold"
    yield f"  classDef loose stroke:{_RED},color:{_RED}"
    loose = [str(number) for number, edge in enumerate(edges) if edge.loose]
    if loose:
        yield f"  linkStyle {','.join(loose)} stroke:{_RED},color:{_RED}"


def _body(graph: Graph, number: int, indent: str) -> Iterator[str]:
    names = {node.name: f"n{number}_{position}" for position, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        yield f"{indent}{names[node.name]}{_node(node)}"
    for edge in graph.edges:
        yield f"{indent}{names[edge.source]} {_arrow(edge)} {names[edge.target]}"


def _node(node: Node) -> str:
    label = "<br/>".join(_escaped(text) for text in (node.label, node.detail) if text)
    opening, closing = {ROOT: ("[", "]"), GROUP: ("([", "])")}.get(node.kind, ("(", ")"))
    mark = ":::loose" if node.loose else ":::root" if node.kind == ROOT else ""
    return f'{opening}"{label}"{closing}{mark}'


def _arrow(edge: Edge) -> str:
    if edge.loose:
        return '-. "left out" .->'
    if edge.certain:
        return f'-- "{edge.verb}" -->'
    return f'-. "{edge.verb}" .->'


def _escaped(text: str) -> str:
    """Text without any character that Mermaid, Markdown or HTML would read as markup."""
    return "".join(char if char in _PLAIN else " " if ord(char) < 32 else f"#{ord(char)};" for char in text)
