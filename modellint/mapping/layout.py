"""Draws a graph as lanes: each root is a line that runs down beside the layers and branches off to those it holds.

What a root moves or registers comes from the left, everything else from the right. A hundred layers stay readable,
because no edge ever crosses a layer, and crossings of lines have no round corners where branches have.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.mapping.graph import GROUP, LAYER, ROOT, Graph
from modellint.mapping.text import markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.mapping.graph import Edge, Node

#: All lengths are in CSS pixels.
_ROW, _BOX, _INDENT = 52, 40, 18
_LANE, _STEM, _CLEARANCE = 30, 30, 96
_HEAD, _HEAD_ROW = 24, 32
_MARGIN, _CORNER = 12, 8
_LABEL_WIDTH, _DETAIL_WIDTH, _HEAD_WIDTH = 7.6, 6.3, 7.0
_MIN_BOX, _MAX_BOX, _MAX_HEAD = 150, 360, 280
#: Beyond as many lanes on one side, those with the same verb share one.
_MAX_LANES = 7
_LEFT = ("moves", "registers")


@dataclass(eq=False)
class _Lane:
    """A line beside the layers; `branches` lead to a layer: certainly, perhaps, or not though they should."""

    label: str
    verb: str
    branches: dict[str, Edge] = field(default_factory=dict)
    x: float = 0


@dataclass(frozen=True, eq=False)
class Drawing:
    """The heads of the lanes, which stay in view, and what is below them: two pictures of the same width."""

    width: float
    head: str
    head_height: float
    body: str
    body_height: float


def draw(graph: Graph) -> Drawing:
    """The graph as SVG elements."""
    return _Layout(graph).draw()


class _Layout:
    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.name: node for node in graph.nodes}
        parents = {e.target: e.source for e in graph.edges if self.nodes[e.source].kind == LAYER}
        self.depths: dict[str, int] = {}
        self.order = list(self._ordered_layers(parents))
        lanes = list(_lanes(graph, self.nodes))
        self.left = _merge_lanes([lane for lane in lanes if lane.verb in _LEFT])
        self.right = _merge_lanes([lane for lane in lanes if lane.verb not in _LEFT])
        self.parents = parents
        self.box = self._box_width()

    def _ordered_layers(self, parents: dict[str, str]) -> Iterator[Node]:
        """The layers in the order of the file, each followed by those that it registers."""
        children: dict[str | None, list[Node]] = {}
        for node in self.nodes.values():
            if node.kind == LAYER:
                children.setdefault(parents.get(node.name), []).append(node)
        pending = [(node, 0) for node in reversed(children.get(None, []))]
        while pending:
            node, depth = pending.pop()
            self.depths[node.name] = depth
            yield node
            pending.extend((child, depth + 1) for child in reversed(children.get(node.name, [])))

    def _box_width(self) -> float:
        wanted = [
            max(len(node.label) * _LABEL_WIDTH, len(node.detail) * _DETAIL_WIDTH) + 24 + self._indent(node)
            for node in self.order
        ]
        return min(max([_MIN_BOX, *wanted]), _MAX_BOX + max(self.depths.values(), default=0) * _INDENT)

    def _indent(self, node: Node) -> float:
        return self.depths[node.name] * _INDENT

    def draw(self) -> Drawing:
        heads = {id(lane): min(len(lane.label) * _HEAD_WIDTH + 20, _MAX_HEAD) for lane in (*self.left, *self.right)}
        outer_left = _STEM + len(self.left) * _LANE
        self.box_x: float = _MARGIN + (outer_left + _CLEARANCE if self.left else 0)
        reach = max((heads[id(lane)] - number * _LANE for number, lane in enumerate(self.right)), default=0)
        self.box_x = max(self.box_x, _MARGIN + reach - self.box - _CLEARANCE)
        right_edge = self.box_x + self.box
        for number, lane in enumerate(self.left):
            lane.x = self.box_x - _CLEARANCE - number * _LANE
        for number, lane in enumerate(self.right):
            lane.x = right_edge + _CLEARANCE + number * _LANE
        most_left = max((lane.x + heads[id(lane)] for lane in self.left), default=0)
        most_right = max((lane.x for lane in self.right), default=right_edge) + _STEM
        width = max(most_left, most_right, right_edge) + _MARGIN
        rows = max(len(self.left), len(self.right))
        head_height = rows * _HEAD_ROW + _MARGIN
        head = "".join(self._heads(heads, head_height))
        body_height = len(self.order) * _ROW + _MARGIN
        body = "".join((*self._trunks(), *self._nesting(), *self._layers()))
        return Drawing(width, head, head_height, body, body_height)

    def _heads(self, widths: dict[int, float], height: float) -> Iterator[str]:
        """A staircase of boxes, the innermost lane's box lowest, so that no stem crosses a box."""
        for lanes, direction in ((self.left, 1), (self.right, -1)):
            for number, lane in enumerate(lanes):
                width = widths[id(lane)]
                y = height - (number + 1) * _HEAD_ROW
                x = lane.x - 12 if direction > 0 else lane.x + 12 - width
                text = _clip(lane.label, (width - 20) / _HEAD_WIDTH)
                yield (
                    f'<g class="lane {lane.verb}"><title>{markup(lane.label)}: {markup(lane.verb)}</title>'
                    f'<path class="trunk" d="M{lane.x:g} {y + _HEAD:g}V{height:g}"/>'
                    f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_HEAD}" rx="4"/>'
                    f'<text x="{x + width / 2:g}" y="{y + 16:g}" text-anchor="middle">{markup(text)}</text></g>'
                )

    def _trunks(self) -> Iterator[str]:
        rows = {node.name: number for number, node in enumerate(self.order)}
        for lanes in (self.left, self.right):
            for lane in lanes:
                last = max((rows[name] for name in lane.branches), default=-1)
                if last >= 0:
                    end = _middle(last) + _offset(lane, lanes) - _CORNER
                    yield f'<path class="trunk {lane.verb}" d="M{lane.x:g} 0V{end:g}"/>'

    def _nesting(self) -> Iterator[str]:
        rows = {node.name: number for number, node in enumerate(self.order)}
        for child, parent in self.parents.items():
            if child in rows and parent in rows:
                x = self.box_x + self._indent(self.nodes[parent]) + _INDENT / 2
                top, end = _middle(rows[parent]) + _BOX / 2, _middle(rows[child])
                yield f'<path class="nest" d="M{x:g} {top:g}V{end:g}H{x + _INDENT / 2:g}"/>'

    def _layers(self) -> Iterator[str]:
        for number, node in enumerate(self.order):
            y = _middle(number)
            x = self.box_x + self._indent(node)
            width = self.box_x + self.box - x
            yield f'<g class="layer{" loose" if node.loose else ""}">'
            yield f"<title>{self._title_of(node)}</title>"
            for lanes, side in ((self.left, x), (self.right, x + width)):
                for lane in lanes:
                    edge = lane.branches.get(node.name)
                    if edge is not None:
                        yield _branch(lane, edge, y, _offset(lane, lanes), side)
            label = _clip(node.label, (width - 20) / _LABEL_WIDTH)
            detail = _clip(node.detail, (width - 20) / _DETAIL_WIDTH)
            yield f'<rect x="{x:g}" y="{y - _BOX / 2:g}" width="{width:g}" height="{_BOX}" rx="7"/>'
            yield f'<text class="name" x="{x + 11:g}" y="{y - 3:g}">{markup(label)}</text>'
            yield f'<text class="detail" x="{x + 11:g}" y="{y + 13:g}">{markup(detail)}</text></g>'

    def _title_of(self, node: Node) -> str:
        """The layer in words, with all roots that hold it."""
        parts = [f"{node.label}: {node.detail}"]
        for lane in (*self.left, *self.right):
            edge = lane.branches.get(node.name)
            if edge is not None:
                sure = "left out of" if edge.loose else f"{lane.verb}:" if edge.certain else f"perhaps {lane.verb}:"
                parts.append(f"{sure} {lane.label}")
        return "\n".join(map(markup, parts))


def _lanes(graph: Graph, nodes: dict[str, Node]) -> Iterator[_Lane]:
    """One lane for each root that holds layers itself, and for each container that a root holds."""
    lanes: dict[tuple[str, str], _Lane] = {}
    into: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        if nodes[edge.target].kind == GROUP:
            into.setdefault(edge.target, []).append(edge)
    for edge in graph.edges:
        source, target = nodes[edge.source], nodes[edge.target]
        if target.kind != LAYER or source.kind == LAYER:
            continue
        if source.kind == ROOT:
            lane = lanes.setdefault((source.name, ""), _Lane(source.label, edge.verb))
            lane.branches[target.name] = edge
            continue
        for above in into.get(source.name, []):
            label = f"{nodes[above.source].label} > {source.label}"
            lane = lanes.setdefault((above.source, source.name), _Lane(label, above.verb))
            lane.branches[target.name] = edge if above.certain else above
        if source.name not in into:
            lane = lanes.setdefault(("", source.name), _Lane(source.label, edge.verb))
            lane.branches[target.name] = edge
    _give_lost(lanes)
    yield from (lane for lane in lanes.values() if lane.branches)


def _give_lost(lanes: dict[tuple[str, str], _Lane]) -> None:
    """Move the missing branches of a root to the container through which it holds the most layers."""
    for (root, group), lane in lanes.items():
        containers = [other for (above, below), other in lanes.items() if above == root and below]
        if not group and containers and all(edge.loose for edge in lane.branches.values()):
            largest = max(containers, key=lambda other: len(other.branches))
            largest.branches |= lane.branches
            lane.branches = {}


def _merge_lanes(lanes: list[_Lane]) -> list[_Lane]:
    """The lanes of one side, those with the most branches innermost; too many are joined by verb."""
    if len(lanes) > _MAX_LANES:
        by_verb: dict[str, list[_Lane]] = {}
        for lane in lanes:
            by_verb.setdefault(lane.verb, []).append(lane)
        lanes = [_together(verb, found) for verb, found in by_verb.items()]
    return sorted(lanes, key=lambda lane: -len(lane.branches))


def _together(verb: str, lanes: Sequence[_Lane]) -> _Lane:
    names = [lane.label for lane in lanes]
    label = names[0] if len(names) == 1 else f"{verb}: {', '.join(names[:2])}" + (", …" if len(names) > 2 else "")
    together = _Lane(label, verb)
    for lane in lanes:
        for name, edge in lane.branches.items():
            known = together.branches.get(name)
            if known is None or known.loose or not known.certain:
                together.branches[name] = edge
    return together


def _middle(row: int) -> float:
    return _MARGIN / 2 + row * _ROW + _ROW / 2


def _offset(lane: _Lane, lanes: Sequence[_Lane]) -> float:
    """The offset from a layer's middle at which the branch of a lane ends: the outermost lane's is the highest."""
    distance = min(10.0, (_BOX - 12) / max(len(lanes) - 1, 1))
    return ((len(lanes) - 1) / 2 - lanes.index(lane)) * distance


def _branch(lane: _Lane, edge: Edge, middle: float, offset: float, end: float) -> str:
    """A line from a lane to the side of a layer, with a round corner at the lane and an arrow at the layer."""
    y = middle + offset
    sign = 1 if lane.x < end else -1
    start = f"M{lane.x:g} {y - _CORNER:g}q0 {_CORNER} {sign * _CORNER} {_CORNER}"
    kind = "lost" if edge.loose else lane.verb if edge.certain else f"{lane.verb} perhaps"
    if not edge.loose:
        tip = end - sign * 7
        arrow = f"M{end - sign:g} {y:g}l{-sign * 8} -4v8z"
        return f'<path class="branch {kind}" d="{start}H{tip:g}"/><path class="tip {lane.verb}" d="{arrow}"/>'
    gap = end - sign * 16
    cross = f"M{gap - 5:g} {y - 5:g}l10 10m0 -10l-10 10"
    anchor = "end" if sign > 0 else "start"
    text = y - 6 if offset <= 0 else y + 14
    return (
        f'<path class="branch lost" d="{start}H{gap - sign * 9:g}"/><path class="cross" d="{cross}"/>'
        f'<text class="lost" x="{end - sign * 27:g}" y="{text:g}" text-anchor="{anchor}">left out</text>'
    )


def _clip(text: str, room: float) -> str:
    """A text shortened to the room for it."""
    length = max(int(room), 3)
    return text if len(text) <= length else text[: length - 1] + "…"


def legend(drawn: Iterable[Graph]) -> list[str]:
    """The verbs that occur, in a fixed order."""
    found = {
        edge.verb
        for graph in drawn
        for edge in graph.edges
        if not edge.source.startswith(LAYER)  # what a layer registers stands below it
    }
    return [verb for verb in ("moves", "trains", "saves", "loads", "registers", "uses") if verb in found]
