"""Problems of loading a recipe with HyperPyYAML, and the nodes of a fragment that are not overridden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Node, Recipe, Scalar, TagKind, below
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.pairing import includers_of, including, is_inference, scripts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from modellint.link.project import Project
    from modellint.link.recipes.items import Problem, ProblemKind


@dataclass(frozen=True, slots=True)
class FoundProblem:
    """A problem of a whole recipe. `is_loaded`: a script or an interface is known to load it."""

    recipe: Recipe
    problem: Problem
    is_loaded: bool


def problems(recipe: Recipe, project: Project, kinds: Collection[ProblemKind]) -> Iterator[FoundProblem]:
    """The problems of some kinds in `recipe` and its includes, when it or a recipe that includes it is loaded."""
    for whole in including(recipe, project):
        is_loaded = bool(scripts_of(whole, project).scripts) or is_inference(whole)
        for problem in evaluate(whole, project).problems:
            if problem.kind in kinds and (whole is recipe or problem.place.path == recipe.path):
                yield FoundProblem(whole, problem, is_loaded)


def live_nodes(recipe: Recipe, project: Project) -> Iterator[Node]:
    """The nodes of a recipe that not every including recipe overrides."""
    replaced = _overridden_keys(recipe, project)
    live = [entry for entry in recipe.root.entries if entry.name not in replaced]
    return below(*(node for entry in live for node in (entry.key, entry.value)))


def _overridden_keys(recipe: Recipe, project: Project) -> frozenset[Scalar]:
    """The top-level keys of a fragment that every recipe which includes it overrides."""
    found = (project.recipe(path) for path in includers_of(recipe, project))
    groups = [
        frozenset(node.items())
        for includer in found
        if includer is not None
        for node in includer.nodes()
        if node.tag.kind is TagKind.INCLUDE and includer.included(node) == recipe.file
    ]
    return frozenset.intersection(*groups) if groups else frozenset()
