"""Keys that stand twice in one mapping of a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Entry, Node, Recipe
    from modellint.rule import Project


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """A key that stands twice in one mapping (`owner`) of a recipe, or of a plain file that a recipe includes.

    `path` leads to the mapping, empty for that of the whole file.
    """

    recipe: Recipe
    owner: Node
    path: str
    first: Entry
    second: Entry


def repeated_keys(recipe: Recipe, project: Project) -> Iterator[RepeatedKey]:
    """The keys that stand twice in a recipe, or in a file that it includes and that is no recipe of its own."""
    asked = queries.about(recipe, project)
    dialect = asked.dialect
    if not (dialect.repeated or dialect.overwritten) or (dialect.is_composed and not asked.is_composed):
        return  # another loader may take the last one
    evaluation = asked.evaluation
    for part in evaluation.recipes:
        is_plain = not dialect.is_plain and project.recipe(part.file) is None
        if part is recipe or is_plain:
            for node in part.nodes():
                for first, second in node.repeated():
                    item = evaluation.item(node)
                    yield RepeatedKey(part, node, "" if item is None else item.path, first, second)
