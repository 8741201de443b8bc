"""The tables of a recipe, the keys that size them, and other objects that take the same key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.recipe import Dialect
from modellint.link.recipes import queries

from .shapes import COUNTS_IDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

#: The layers that are tables.
_EMBEDDINGS = operators.functions("padding")
#: Names of numbers of features, and arguments that take the width of an input.
_COUNTS_FEATURES = re.compile(
    r"n_?mels?|n_?mfccs?|num_mel_bins|n_?fft|feat\w*_(?:dim|size)|(?:n|num)_feat\w*|features?_dim"
)
_TAKES_WIDTH = frozenset(
    ("in_features", "in_channels", "input_size", "input_dim", "n_mels", "d_model", "normalized_shape")
)


def tables_of(
    recipe: Recipe, project: Project
) -> Iterator[tuple[queries.Item, queries.Item, list[tuple[str, queries.Item, str]]]]:
    """The tables that a recipe builds, the size of each, and the feature extractors and layers that take it as well.

    Each of these uses has a text, the object, and how that object takes the number.
    """
    for whole in queries.about(recipe, project).wholes():
        for table in whole.evaluation.own:
            rows = _row_argument(table) if table.kind is queries.ItemKind.NEW and table.recipe is recipe else None
            if rows is not None and rows.number not in (None, 0, 1, 2):
                objects = [item for item in whole.evaluation.objects if item.kind is queries.ItemKind.NEW]
                node = rows.node  # a name in Python and an anchor in YAML stand for one node at several places
                rows = next((one for one in whole.evaluation.keys.values() if one.node is node), rows)
                yield table, rows, list(_uses(table, rows, objects, whole))


def _names(known: queries.Evaluation) -> Iterator[str]:
    """The names of a recipe's values: its keys, and in a plain configuration, which nests them, all that it has."""
    holders = [known.root] if known.recipe.dialect is Dialect.HYPERPYYAML else known.objects
    return (str(name) for holder in holders for name in holder.fields)


def _row_argument(item: queries.Item) -> queries.Item | None:
    """The number of rows of the table that an object is; None for no table."""
    if item.target in _EMBEDDINGS and item.elements:
        return item.elements[0]
    return item.fields.get("num_embeddings")


def _uses(
    table: queries.Item, rows: queries.Item, objects: list[queries.Item], whole: queries.Queries
) -> Iterator[tuple[str, queries.Item, str]]:
    """The key that sizes a table feeds a feature extractor beside a vocabulary, or is the width of a layer's input."""
    names = _names(whole.evaluation)
    vocabulary = next((name for name in names if COUNTS_IDS.search(name) or name == "output_neurons"), None)
    is_feature = is_width = False
    for item in objects:
        for name, value in whole.arguments(item) if item is not table else ():
            if value.node is not rows.node or name is None:
                continue
            how = f"`{item.target}` takes it as `{name}`"
            if _COUNTS_FEATURES.fullmatch(name) and vocabulary is not None and not is_feature:
                is_feature = True
                text = (
                    f"`{rows.path}` configures feature extraction, in `{item.path}`; the vocabulary is `{vocabulary}`"
                )
                yield text, item, how
            elif name in _TAKES_WIDTH and not is_width:
                is_width = True
                yield f"`{rows.path}` is the `{name}` of `{item.path}`", item, how
