"""Merges the files of a composed configuration, as `OmegaConf.merge` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.defaults import Refusal, Trouble
from modellint.dialects.hydra_nodes import HYDRA, nodes_below
from modellint.dialects.spots import DEFAULTS, Merging, Spot, layer_of
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.dialects.spots import Layer
    from modellint.dialects.structured import Schema
    from modellint.graph.recipe import Recipe, Scalar

_LEFT_OUT: frozenset[Scalar] = frozenset((DEFAULTS,))


@dataclass(eq=False, slots=True)
class Part:
    """The content of a file, for a package."""

    recipe: Recipe
    package: str


def merge(parts: list[Part], opened: list[str], clashes: list[Refusal]) -> Spot:
    """The parts of a composition, one merged into the other; the packages `opened` may have any keys.

    `clashes` grow as places are asked for. Source: OmegaConf 2.3.1, `OmegaConf.merge`: mappings are merged key by key,
    other values replace those that were there, and a list over a mapping, or a mapping over a list, is refused.
    """

    def clash(name: Scalar, earlier: Layer, later: Layer) -> None:
        place = later.recipe.place((later.key or later.node).span)
        clashes.append(Refusal(Trouble.LIST_AND_MAPPING, place, str(name), earlier.recipe.file.name))

    def refuse(name: Scalar, later: Layer, schema: Schema) -> None:
        is_value = name in schema.keys
        trouble = Trouble.NO_VALUE if is_value else Trouble.NO_FIELD
        place = later.recipe.place((later.node if is_value else later.key or later.node).span)
        names = (schema.types[str(name)][0],) if is_value else tuple(sorted(schema.keys))
        clashes.append(Refusal(trouble, place, str(name), schema.name, names))

    packages = frozenset(tuple(filter(None, package.split("."))) for package in opened)
    whole = (part for part in parts if part.recipe.root.kind is NodeKind.MAPPING)
    layers = tuple(layer_of(part.recipe, part.package, _LEFT_OUT) for part in whole)
    root = Spot(layers, parts[0].recipe, Merging(packages, clash, refuse), is_open=() in packages)
    root.settle()
    return root


def unknown_nodes(root: Spot) -> Iterator[Refusal]:
    """The keys of a configuration's `hydra` node that Hydra's own one, which is structured, does not have."""
    own = root.get(HYDRA)
    for spot in own.below() if own is not None else ():
        known = nodes_below([HYDRA, *map(str, spot.keys[1:])])
        for key, child in spot.children.items() if known else ():
            if known is not None and str(key) not in known and child.key is not None:
                place = child.recipe.place(child.key.span)
                yield Refusal(Trouble.NO_NODE, place, str(key), ".".join(map(str, spot.keys)), tuple(known))
