"""Merges the files of a composed configuration, as `OmegaConf.merge` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.defaults import Refusal, Trouble
from modellint.dialects.hydra_nodes import HYDRA, nodes_below
from modellint.dialects.omegaconf import DEFAULTS, MOST_SPOTS, Spot, spots_of
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING, OPEN
from modellint.graph.recipe import NO_TAG, TARGET, Entry, Node, NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe


@dataclass(eq=False, slots=True)
class Part:
    """The content of a file, for a package."""

    recipe: Recipe
    package: str


def merge(parts: list[Part], opened: list[str], clashes: list[Refusal]) -> Spot:
    """The parts of a composition, one merged into the other; the packages `opened` may have any keys."""
    first = parts[0].recipe
    root = Spot(Node(NodeKind.MAPPING, NO_TAG, first.root.span), first)
    for part in parts:
        if part.recipe.root.kind is NodeKind.MAPPING:
            own = spots_of(part.recipe, frozenset((DEFAULTS,)))
            for key in reversed(list(filter(None, part.package.split(".")))):
                around = Spot(Node(NodeKind.MAPPING, NO_TAG, part.recipe.root.span), part.recipe)
                own.parent, around.children[key] = around, own
                own = around
            _merge_into(root, own, clashes)
    for package in opened:
        spot = root
        for key in filter(None, package.split(".")):
            spot = spot.children.setdefault(
                key, Spot(Node(NodeKind.MAPPING, NO_TAG, first.root.span), first, parent=spot)
            )
        spot.is_open = True
    _settle(root)
    return root


def _merge_into(spot: Spot, other: Spot, clashes: list[Refusal]) -> None:
    """Merge a mapping into another one: mappings key by key, other values replace those that were there.

    Source: OmegaConf 2.3.1, `OmegaConf.merge`; it refuses a list over a mapping, and a mapping over a list.
    """
    spot.merged = [*(spot.merged or [(spot.node, spot.recipe, spot.key)]), (other.node, other.recipe, other.key)]
    for key, child in other.children.items():
        known = spot.children.get(key)
        kinds = {one.node.kind for one in (known, child) if one is not None}
        if known is not None and kinds == {NodeKind.MAPPING}:
            _merge_into(known, child, clashes)
        elif known is not None and child.node.kind is NodeKind.SCALAR and child.node.text == MISSING:
            continue
        else:
            if known is not None and kinds == {NodeKind.MAPPING, NodeKind.SEQUENCE}:
                place = child.recipe.place((child.key or child.node).span)
                clashes.append(Refusal(Trouble.LIST_AND_MAPPING, place, str(key), known.recipe.file.name))
            if known is not None and NodeKind.MAPPING in kinds and OPEN in known.node.text:
                child.is_open = True  # what the interpolation leads to is merged as well
            child.parent = spot
            spot.children[key] = child


def unknown_nodes(root: Spot) -> Iterator[Refusal]:
    """The keys of a configuration's `hydra` node that Hydra's own one, which is structured, does not have."""
    own = root.children.get(HYDRA)
    for spot in own.below() if own is not None else ():
        known = nodes_below([HYDRA, *map(str, spot.keys[1:])])
        for key, child in spot.children.items() if known else ():
            if known is not None and str(key) not in known and child.key is not None:
                place = child.recipe.place(child.key.span)
                yield Refusal(Trouble.NO_NODE, place, str(key), ".".join(map(str, spot.keys)), tuple(known))


def _settle(root: Spot) -> None:
    """Give each place its path, and each merged mapping a node with all its entries."""
    pending = [root]
    for number, spot in enumerate(pending):
        if number > MOST_SPOTS:
            root.is_open = True
            break
        parent = spot.parent
        if parent is not None:
            key = next(key for key, child in parent.children.items() if child is spot)
            spot.path = f"{parent.path}[{key}]" if parent.path else str(key)
        if spot.merged:
            _join_nodes(spot)
        pending.extend(spot.children.values())


def _join_nodes(spot: Spot) -> None:
    """Give a merged mapping a node with all its entries, in the file that names what it builds."""
    target = spot.children.get(TARGET)
    found = [one for one in spot.merged if target is not None and one[1] is target.recipe and one[0].get(TARGET)]
    own, spot.recipe, key = (found or spot.merged)[-1]
    spot.key = key or spot.key
    entries = tuple(Entry(child.key, child.node) for child in spot.children.values() if child.key is not None)
    spot.node = Node(NodeKind.MAPPING, own.tag if found else NO_TAG, own.span, entries=entries)
