"""A map as a graph: the roots that hold layers, the layers, and those that no root holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.mapping.model import ClassMap, FolderMap, RootKind, State
from modellint.mapping.text import class_text, memory_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.mapping.model import FolderPart, Layer, Map, Training

#: The effect of a root on the layers that it holds, as a verb.
VERBS = {
    RootKind.MODULES: "moves",
    RootKind.SCRIPT: "moves",
    RootKind.OPTIMIZER: "trains",
    RootKind.RECOVERABLES: "saves",
    RootKind.PRETRAINER: "loads",
}
#: The roles of roots, shown beside their names.
_ROLES = {RootKind.SCRIPT: "moves by hand", RootKind.OPTIMIZER: "optimizer", RootKind.PRETRAINER: "pretrained"}
ROOT, GROUP, LAYER = "root", "group", "layer"


@dataclass(frozen=True, eq=False)
class Node:
    """A root, a container between a root and layers, or a layer. With `loose` it is shown in red."""

    name: str
    kind: str
    label: str
    detail: str = ""
    loose: bool = False


@dataclass(frozen=True, eq=False)
class Edge:
    """`source` holds `target`; with `loose` it should, but does not."""

    source: str
    target: str
    verb: str
    certain: bool = True
    loose: bool = False


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes by name, in order, and edges between them."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graphs(chart: Map) -> list[Graph]:
    """One graph for a class, for each training of a recipe, or for each model of a folder."""
    if isinstance(chart, FolderMap):
        return [_of_part(part) for part in chart.parts]
    if isinstance(chart, ClassMap):
        return [_of_class(chart)]
    return [_of_training(training) for training in chart.trainings]


class _Drawing:
    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[tuple[str, str, str], Edge] = {}

    def node(self, name: str, kind: str, label: str, detail: str = "", *, loose: bool = False) -> str:
        self.nodes.setdefault(name, Node(name, kind, label, detail, loose))
        return name

    def edge(self, source: str, target: str, verb: str, *, certain: bool = True, loose: bool = False) -> None:
        self.edges.setdefault((source, target, verb), Edge(source, target, verb, certain, loose))

    def graph(self, title: str) -> Graph:
        return Graph(title, tuple(self.nodes.values()), tuple(self.edges.values()))


def _of_training(training: Training) -> Graph:
    drawing = _Drawing()
    names = {layer.name for layer in training.layers}
    if training.layers:
        drawing.node("root modules", ROOT, "modules")
    for layer in training.layers:
        for link in layer.links:
            drawing.node(f"root {link.root}", ROOT, link.root, _ROLES.get(link.kind, ""))
    for layer in training.layers:
        detail = class_text(layer.class_name)
        if layer.parameters.size is not None:
            detail += f", {layer.parameters.text}"
        if layer.frozen.state is State.YES:
            detail += ", frozen"
        if layer.moved.state is State.YES and not any(VERBS[link.kind] == "moves" for link in layer.links):
            detail += f", moved {layer.moved.via}" if layer.within is None else ""
        drawing.node(f"layer {layer.name}", LAYER, layer.name, detail, loose=layer.is_loose)
    for layer in training.layers:
        _draw_layer(drawing, layer, names, training)
    for name in training.missing:
        target = drawing.node(f"missing {name}", LAYER, name, "is used, and not there", loose=True)
        drawing.edge("root modules", target, "moves", loose=True)
    return drawing.graph(f"{training.brain} in {_file_name(training.script)}" if training.script else "")


def _draw_layer(drawing: _Drawing, layer: Layer, names: set[str], training: Training) -> None:
    target = f"layer {layer.name}"
    if layer.within is not None:
        drawing.edge(f"layer {layer.within}", target, "registers")
    for link in layer.links:
        root, verb = f"root {link.root}", VERBS[link.kind]
        if not link.group:
            drawing.edge(root, target, verb, certain=link.certain)
        elif link.group in names:
            drawing.edge(root, f"layer {link.group}", verb, certain=link.certain)
        else:
            group = drawing.node(f"group {link.group}", GROUP, link.group)
            drawing.edge(root, group, verb, certain=link.certain)
            drawing.edge(group, target, "holds")
    for root, verb in _missing_roots(layer, training):
        drawing.node(f"root {root}", ROOT, root)
        drawing.edge(f"root {root}", target, verb, loose=True)


def _missing_roots(layer: Layer, training: Training) -> Iterator[tuple[str, str]]:
    """The roots that should hold a layer and don't."""
    if layer.moved.state is State.LOOSE:
        yield "modules", "moves"
    if layer.trained.state is State.LOOSE:
        for optimizer in training.optimizers[:1]:
            yield optimizer, "trains"
    if layer.saved.state is State.LOOSE:
        yield "recoverables", "saves"


def _file_name(path: str | None) -> str:
    return "" if path is None else path.rpartition("/")[2]


def _of_part(part: FolderPart) -> Graph:
    drawing = _Drawing()
    name = part.class_name or part.name or "weights"
    root = drawing.node("model", ROOT, name, f"{part.parameters:,}")
    for inner, (_, parameters, memory) in part.by_part().items():
        detail = f"{parameters:,}, {memory_text(memory)}"
        drawing.edge(root, drawing.node(f"part {inner}", LAYER, inner, detail), "holds")
    return drawing.graph(part.name or name)


def _of_class(chart: ClassMap) -> Graph:
    drawing = _Drawing()
    name = class_text(chart.name)
    root = drawing.node("class", ROOT, name, ", ".join(chart.bases))
    for attribute in chart.attributes:
        detail = attribute.class_name
        if attribute.parameters.size is not None:
            detail += f", {attribute.parameters.text}"
        target = drawing.node(f"layer {attribute.name}", LAYER, attribute.name, detail, loose=attribute.is_loose)
        if attribute.is_loose:
            drawing.edge(root, target, "registers", loose=True)
        elif attribute.registered.state in (State.YES, State.MAYBE):
            drawing.edge(root, target, "registers", certain=attribute.registered.state is State.YES)
    methods = dict.fromkeys(use.function.rpartition(".")[2] for a in chart.attributes for use in a.uses)
    for method in methods:
        drawing.node(f"method {method}", GROUP, f"{method}()")
    for attribute in chart.attributes:
        for method in dict.fromkeys(use.function.rpartition(".")[2] for use in attribute.uses):
            drawing.edge(f"method {method}", f"layer {attribute.name}", "uses")
    return drawing.graph(name)
