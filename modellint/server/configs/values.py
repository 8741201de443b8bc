"""The values of references in a configuration, for an editor to show beside them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from modellint.graph.interpolation import OPEN
from modellint.graph.recipe import Dialect, NodeKind
from modellint.server.configs.cursor import nodes_in
from modellint.server.configs.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.source import Span

#: The most references of a file whose values are worked out.
_MOST = 2_000


def values_of(recipe: Recipe, project: Project) -> list[tuple[Span, str]]:
    """The scalars with references, each with its value in words, where that is known and does not stand there."""
    return list(islice(_values(recipe, project), _MOST))


def _values(recipe: Recipe, project: Project) -> Iterator[tuple[Span, str]]:
    nodes = [one for one in nodes_in(recipe) if one[0].references and one[0].kind is NodeKind.SCALAR and not one[3]]
    tree = tree_of(recipe, project) if nodes else None
    around = tree.path_in(()) if tree is not None else ()
    sign = "<" if recipe.dialect is Dialect.HYPERPYYAML else OPEN
    for node, path, _, _ in nodes:
        key = tree.key((*around, *path)) if tree is not None else None
        if key is not None and key.value and sign not in key.value and key.place.path == recipe.path:
            yield node.span, key.value
