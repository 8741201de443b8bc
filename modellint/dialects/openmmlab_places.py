"""The places of a configuration of OpenMMLab: nodes of several files, merged."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.frontends.openmmlab_values import OPTIONAL, TYPE, type_tag, unpacked_nodes
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import MERGE, NO_TAG, Entry, Node, NodeKind, Tag, TagKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe, Scalar

#: Names can multiply a few lines to any number of places.
_MOST_SPOTS = 50_000


@dataclass(eq=False, slots=True)
class Spot:
    """A node at one place of a configuration, in the file `recipe`; `children` are those of a mapping or sequence.

    `is_open`: there may be more children than these. `merged` are the nodes that were merged here, each with its file
    and its key. `is_partial`: an unknown mapping may add to a mapping that names its type.
    """

    node: Node
    recipe: Recipe
    path: str = ""
    key: Node | None = None
    parent: Spot | None = None
    children: dict[Scalar, Spot] = field(default_factory=dict)
    is_open: bool = False
    merged: list[tuple[Node, Recipe, Node | None]] = field(default_factory=list)
    is_partial: bool = False

    def below(self) -> Iterator[Spot]:
        """This place and all places below it."""
        pending = [self]
        for spot in pending:
            yield spot
            pending.extend(spot.children.values())


def spot_at(inherited: Spot | None, text: str) -> Spot | None:
    """The inherited place that a reference leads to; None if it is unknown."""
    spot = inherited
    for key in text.split(".") if text else ():
        if spot is None:
            return None
        name: Scalar = key
        if spot.node.kind is NodeKind.SEQUENCE:
            if not key.lstrip("-").isdigit() or spot.is_open:
                return None
            name = int(key) if int(key) >= 0 else len(spot.children) + int(key)
        spot = spot.children.get(name)
    return spot


def change(inherited: Spot, text: str, is_removed: bool) -> None:
    """Note that a file changes an inherited value, or removes it."""
    found = spot_at(inherited, text)
    if found is not None and is_removed and found.parent is not None:
        found.parent.children = {name: one for name, one in found.parent.children.items() if one is not found}
    elif found is not None:
        for one in found.below() if found is not inherited else (found,):
            one.is_open = True


def fill(spot: Spot, inherited: Spot | None, count: list[int]) -> None:
    """Give a place the places of what is in its node."""
    count[0] += 1
    if count[0] > _MOST_SPOTS:
        spot.is_open = True
        return
    node = spot.node
    if node.kind is NodeKind.SEQUENCE:
        spot.is_open = node.tag.kind is TagKind.OTHER
        for index, element in enumerate(node.elements):
            spot.children[index] = _place(element, spot, None, inherited, count)
    elif node.kind is NodeKind.MAPPING:
        for one in unpacked_nodes(node):
            found = spot_at(inherited, one.text) if one.tag.kind is TagKind.REF else None
            if one.tag.text == OPTIONAL and _is_lacking(inherited, one.text):
                continue
            if found is not None and found.node.kind is NodeKind.SEQUENCE:
                _change_elements(spot, found, inherited, count)
                return
            if found is None or found.node.kind is not NodeKind.MAPPING:
                spot.is_open = True
                continue
            spot.is_open = spot.is_open or found.is_open
            for name, child in found.children.items():
                spot.children[name] = copy_of(child, spot)
            spot.merged = [*spot.merged, (found.node, found.recipe, found.key)]
        for entry in node.entries:
            if not (entry.key.plain and entry.key.text == MERGE):
                spot.children[entry.name] = _place(entry.value, spot, entry.key, inherited, count)
        if spot.merged:
            spot.merged.append((node, spot.recipe, spot.key))


def _change_elements(spot: Spot, found: Spot, inherited: Spot | None, count: list[int]) -> None:
    """Give a place, which its file takes from an inherited sequence and changes, the elements of that sequence.

    The entries of its node with a number replace elements, unless others move within the sequence.
    """
    node, total = spot.node, len(found.children)
    is_moved = found.is_open or len(list(unpacked_nodes(node))) > 1
    tag = Tag(TagKind.OTHER, "", "", node.span) if is_moved else NO_TAG
    spot.node = Node(NodeKind.SEQUENCE, tag, node.span, elements=found.node.elements)
    spot.is_open = is_moved
    if is_moved:
        return
    for name, child in found.children.items():
        spot.children[name] = copy_of(child, spot)
    for entry in node.entries:
        if isinstance(entry.name, int) and -total <= entry.name < total:
            spot.children[entry.name % total] = _place(entry.value, spot, None, inherited, count)


def _is_lacking(inherited: Spot | None, text: str) -> bool:
    """True if a reference certainly leads to no mapping."""
    found, (holder, _, key) = spot_at(inherited, text), text.rpartition(".")
    if found is not None:
        return not found.is_open and found.node.kind is not NodeKind.MAPPING
    around = spot_at(inherited, holder)
    return around is not None and not around.is_open and key not in around.children


def _place(node: Node, parent: Spot, key: Node | None, inherited: Spot | None, count: list[int]) -> Spot:
    if node.tag.kind is TagKind.REF:
        found = spot_at(inherited, node.text)
        if found is not None:
            same = copy_of(found, parent)
            same.key = key or same.key
            if found.node.kind is not NodeKind.MAPPING:  # it stands where it is asked for
                one = found.node
                same.node = Node(one.kind, one.tag, node.span, one.text, one.plain, elements=one.elements)
                same.recipe = parent.recipe
            return same
        return Spot(node, parent.recipe, key=key, parent=parent, is_open=True)
    spot = Spot(node, parent.recipe, key=key, parent=parent)
    fill(spot, inherited, count)
    return spot


def copy_of(spot: Spot, parent: Spot) -> Spot:
    """The same place, and those below it, elsewhere."""
    same = Spot(spot.node, spot.recipe, "", spot.key, parent, {}, spot.is_open, spot.merged, spot.is_partial)
    same.children = {name: copy_of(child, same) for name, child in spot.children.items()}
    return same


def settle(root: Spot, recipe: Recipe) -> None:
    """Give each place its path, and each mapping that was merged a node with all its entries."""
    root.node = Node(NodeKind.MAPPING, NO_TAG, recipe.root.span, entries=root.node.entries)
    pending = [(root, "")]
    for spot, path in pending:
        spot.path = path
        if len(spot.merged) > 1:
            _join(spot)
        pending.extend((child, f"{path}[{name}]" if path else str(name)) for name, child in spot.children.items())


def _join(spot: Spot) -> None:
    """Give a merged mapping a node with all its entries, in the file that names what it builds."""
    own, recipe, key = spot.merged[-1]
    entries = tuple(Entry(child.key, child.node) for child in spot.children.values() if child.key is not None)
    tag = type_tag(entries)
    target = spot.children.get(TYPE)
    if target is not None and tag is not NO_TAG:
        own, recipe, key = next((one for one in reversed(spot.merged) if one[1] is target.recipe), (own, recipe, key))
    spot.recipe, spot.key = recipe, key or spot.key
    spot.node = Node(NodeKind.MAPPING, tag, own.span, entries=entries)
