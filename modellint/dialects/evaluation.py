"""The objects of a configuration: in what a program composes of it, or else in the file alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects import torchtune
from modellint.dialects.hydra_nodes import HYDRA
from modellint.dialects.lone import configuration, cycles_in, evaluate_alone, is_stored
from modellint.dialects.omegaconf import Configuration
from modellint.dialects.placing import all_composed_with, composed_with, is_added, is_option
from modellint.dialects.spots import spots_of
from modellint.edits.similar import get_close_matches
from modellint.graph.recipe import Dialect
from modellint.link.recipes.items import Evaluation, Item, ItemKind, Problem, ProblemKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.dialects.omegaconf import Asked
    from modellint.dialects.placing import Composed
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project


def evaluate_config(recipe: Recipe, project: Project) -> Evaluation:
    """The objects of a configuration, and the interpolations that certainly have no target."""
    if recipe.dialect is Dialect.TORCHTUNE:
        return _evaluate_torchtune(recipe, project)
    if recipe.dialect is Dialect.LIGHTNING_CLI:
        return _evaluate_cli(recipe)
    composed = composed_with(recipe.file, project)
    if composed is None:
        return evaluate_alone(recipe, project)
    composition = composed.composition
    run = composition.configuration
    own = run.built_in(next((one for one in composition.files if one.file == recipe.file), recipe))
    problems = (*_missing_references(recipe, composed, project), *cycles_in(run, recipe))
    return Evaluation(recipe, lambda: run.root_item, problems, composition.files, run.items, own)


def _evaluate_torchtune(recipe: Recipe, project: Project) -> Evaluation:
    """The objects of a configuration of torchtune, which is a whole but for what a command line gives."""
    run = configuration(recipe, project)
    root, problems = run.root_item, []
    for gap in run.gaps.values():
        asked = [one for key, one in gap.asked.items() if key not in run.led]
        is_near = bool(get_close_matches(gap.key, gap.available, n=1, cutoff=0.6))
        where = ".".join(map(str, gap.holder.keys))
        is_added = torchtune.is_given(where, gap.key, project) or is_stored(gap.key, recipe, project, is_near=is_near)
        if asked and not is_added:
            first, times = asked[0], len(asked)
            problem = Problem(ProblemKind.UNDEFINED, first.place, first.expression, gap.key, gap.available, times)
            problems.append(problem)
    problems += cycles_in(run, recipe)
    return Evaluation(recipe, root, tuple(problems), (recipe,), run.items)


def _evaluate_cli(recipe: Recipe) -> Evaluation:
    """The objects of a configuration of LightningCLI, those of groups included."""
    run = Configuration(spots_of(recipe))
    for keys, name in recipe.groups:
        item: Item | None = run.root_item
        for key in keys:
            item = None if item is None else item.fields.get(key)
        if item is not None and item.kind is ItemKind.MAPPING:
            item.kind, item.target = ItemKind.NEW, name
    return Evaluation(recipe, run.root_item, (), (recipe,), run.items)


def _missing_references(recipe: Recipe, composed: Composed, project: Project) -> Iterator[Problem]:
    """The interpolations in a file that have no target in any configuration that it is a part of."""
    run = composed.composition.configuration
    for gap in run.gaps.values():
        asked = [one for key, one in gap.asked.items() if key not in run.led and one.recipe.file == recipe.file]
        is_near = bool(get_close_matches(gap.key, gap.available, n=1, cutoff=0.6))
        if not asked or (not gap.depth and gap.key == HYDRA) or (not composed.is_chosen and not is_near):
            continue
        if not composed.is_chosen and _leads_alone(asked[0], recipe, project):
            continue  # `--config-name` may name the file
        keys = (*gap.holder.keys, gap.key)
        if is_option(keys, composed, project) or is_added(keys, project):
            continue
        if is_stored(gap.key, recipe, project, is_near=is_near) or _is_led_elsewhere(asked[0], recipe, project):
            continue
        kind = ProblemKind.UNDEFINED
        yield Problem(kind, asked[0].place, asked[0].expression, gap.key, gap.available, len(asked))


def _leads_alone(asked: Asked, recipe: Recipe, project: Project) -> bool:
    """True if an interpolation has a target where its file is the whole configuration."""
    run = configuration(recipe, project)
    _ = run.root_item  # which follows all
    return not any(asked.same(other) for other in _asked_in(run))


def _is_led_elsewhere(asked: Asked, recipe: Recipe, project: Project) -> bool:
    """True if an interpolation has a target, or may have one, in another configuration that its file is a part of."""
    for one in all_composed_with(recipe.file, project):
        run = one.composition.configuration
        run.built_in(recipe)
        if not any(asked.same(other) for other in _asked_in(run)):
            return True
    return False


def _asked_in(run: Configuration) -> Iterator[Asked]:
    """The interpolations without a target."""
    return (one for gap in run.gaps.values() for one in gap.asked.values())
