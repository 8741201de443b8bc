"""Guesses of the releases that a recipe is written for, by names that only some releases have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.knowledge.catalogue import catalogue
from modellint.link.requirements import required

if TYPE_CHECKING:
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project


def is_for_earlier(recipe: Recipe, package: str, project: Project) -> bool:
    """True if no release is pinned and the recipe has names that only earlier releases have, and no new ones."""
    return project.once(("for earlier", recipe.file, package), lambda: _guess(recipe, package, project))


def _guess(recipe: Recipe, package: str, project: Project) -> bool:
    known = catalogue(package)
    earlier = None if known is None else known.earlier
    wanted = required(package, project)
    if known is None or earlier is None or (wanted is not None and wanted.is_particular):
        return False
    names = {node.tag.target for node in recipe.nodes() if node.tag.target.startswith(f"{package}.")}
    is_gone = any(earlier.is_gone(name) and known.redirected(name) == name for name in names)
    return is_gone and not any(map(earlier.is_new, names))
