"""Look-ups whose sizes the arguments of an object decide that a recipe or configuration describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.size import excess
from modellint.link.recipes import queries as recipes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.recipe import Recipe
    from modellint.rule import Project


@dataclass(frozen=True, eq=False, slots=True)
class Written:
    """A look-up of ids of `classes` classes in a table of `rows` rows, in the class of an object."""

    item: recipes.Item
    lookup: queries.Lookup
    rows: int
    classes: int
    #: The argument that the number of classes depends on, or else the object.
    place: Place


def written_beyond_rows(recipe: Recipe, project: Project) -> Iterator[Written]:
    """The look-ups, in classes whose objects a file describes, with more classes than rows for its numbers."""
    asked = recipes.about(recipe, project)
    for item, cls in asked.made_objects():
        constructor = cls.methods.get("__init__")
        if constructor is None:
            continue
        for lookup in queries.flow(cls.module, project).lookups():
            holder = None if lookup.table.function is None else lookup.table.function.owner
            ids, rows = lookup.element, lookup.rows
            if holder is not cls or lookup.is_conditional or not isinstance(ids, queries.Ids) or ids.excluded:
                continue
            if rows is None or excess(ids.bound, rows) is not None:
                continue
            count, bound = (asked.written_size(size, item, constructor) for size in (rows, ids.bound))
            if count is not None and bound is not None and bound > count > 0:
                yield Written(item, lookup, count, bound, asked.size_place(ids.bound, item))
                break
