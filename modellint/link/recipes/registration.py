"""Layers that recipes, scripts and classes leave behind on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Evaluation, Item, ItemKind
from modellint.link.recipes.moved import Layers, Moved, UsedLayer, layers_of
from modellint.link.recipes.pairing import is_inference, scripts_of
from modellint.link.recipes.reach import ItemUse, ModuleUse, Reach, reach
from modellint.link.recipes.scripts import read_script
from modellint.link.recipes.used import computations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.source import Place


@dataclass(frozen=True, eq=False)
class Omission:
    """A layer in use that does not follow `modules` of a loaded `recipe` to the device.

    `use` is where the script uses the layer or the outermost of its `owners`; None for an inference recipe.
    `modules` is the mapping that lacks it. `sure`: the use is certain under this recipe; `agreed`: the recipe has
    only one script, and that is not in doubt.
    """

    recipe: Recipe
    layer: Item
    owners: tuple[Item, ...]
    use: ItemUse | ModuleUse | None
    modules: Item | None
    sure: bool
    agreed: bool

    @property
    def place(self) -> Place:
        return self.layer.place


def omitted_layers(recipe: Recipe, project: Project) -> tuple[Omission, ...]:
    """The layers of `recipe` that are used and left behind."""
    return project.once(("omitted", recipe.file), lambda: tuple(_find_omitted(recipe, project)))


def _find_omitted(recipe: Recipe, project: Project) -> Iterator[Omission]:
    pairing = scripts_of(recipe, project)
    scripts, agreed = pairing.scripts, len(pairing.scripts) == 1 and not pairing.is_doubtful
    if not scripts:
        if is_inference(recipe):
            yield from _omitted_from_inference(evaluate(recipe, project), project)
        return
    found: list[dict[int, Omission]] = []
    for path in scripts:
        reached = reached_from(recipe, path, project)
        if reached is not None:
            omissions = _omitted_from_training(evaluate(recipe, project), reached, project, agreed)
            found.append({id(omission.layer): omission for omission in omissions})
    if found:
        common = set(found[0]).intersection(*found)
        yield from (omission for key, omission in found[0].items() if key in common)


def reached_from(recipe: Recipe, script: Path, project: Project) -> tuple[Reach, ...] | None:
    """The uses of each Brain of a script under a recipe; None if the script builds no Brain."""
    module = project.python(script)
    read = read_script(module, project) if module is not None else None
    if read is None or not read.brains:
        return None
    evaluation = evaluate(recipe, project)
    return tuple(reach(read, brain, evaluation, project) for brain in read.brains)


def _omitted_from_training(
    evaluation: Evaluation, reached: tuple[Reach, ...], project: Project, agreed: bool
) -> Iterator[Omission]:
    if any(one.modules is None or not one.modules.closed for one in reached):
        return
    recipe, layers = evaluation.recipe, layers_of(project)
    # Entries that the script misses in `modules` are another rule's findings, with all layers that they hold.
    absent = {use.name for one in reached for use in one.absent_modules if use.certain}
    wanted = (evaluation.keys[name] for name in absent if name in evaluation.keys)
    moved = layers.moved_with([*_starts(reached), *wanted])
    found: dict[int, Omission] = {}
    for one in reached:
        source = one.modules.source if one.modules is not None else None
        for use, item in computations(one, layers):
            for used in layers.used_with(item, moved):
                layer, owners = _whole(used, item, moved, layers)
                if layer.name in absent:
                    continue
                known = found.get(id(layer))
                if known is None or (use.certain and not known.sure):
                    found[id(layer)] = Omission(recipe, layer, owners, use, source, use.certain, agreed)
    yield from _outermost(found, layers)


def _whole(used: UsedLayer, item: Item, moved: Moved, layers: Layers) -> tuple[Item, tuple[Item, ...]]:
    """The layer that is left behind, or the whole module that it is a part of, with the owners.

    A layer that is written inside of its owner is part of it. So are layers with keys of their own when the module
    that is called registers several of them and not one has moved.
    """
    layer, owners = used.layer, used.owners
    while owners and layer.path.startswith(f"{owners[-1].path}[") and layers.takes_along(owners[-1], layer):
        layer, owners = owners[-1], owners[:-1]
    if owners and owners[0] is item and item not in moved:
        parts = [other.layer for other in layers.used_with(item) if layers.takes_along(item, other.layer)]
        if len(parts) > 1 and used.layer in parts and not any(part in moved for part in parts):
            return item, ()
    return layer, owners


def _outermost(found: dict[int, Omission], layers: Layers) -> Iterator[Omission]:
    """The omissions without those that the repair of another one would repair."""
    for key, omission in found.items():
        others = [other for name, other in found.items() if name != key]
        if not any(layers.takes_along(other.layer, omission.layer) for other in others):
            yield omission


def _starts(reached: Iterable[Reach]) -> Iterator[Item]:
    for one in reached:
        if one.modules is not None:
            yield from (item for item in one.modules.entries.values() if item is not None)
        yield from one.moved


def _omitted_from_inference(evaluation: Evaluation, project: Project) -> Iterator[Omission]:
    """The layers that a module in `modules` reaches only through an object that is no module."""
    modules = evaluation.keys.get("modules")
    if modules is None or modules.kind is not ItemKind.MAPPING:
        return
    layers = layers_of(project)
    moved = layers.moved_with(modules.fields.values())
    seen: set[int] = set()
    for entry in modules.fields.values():
        for used in layers.used_with(entry, moved):
            if id(used.layer) not in seen and _is_hidden(used, layers):
                seen.add(id(used.layer))
                yield Omission(evaluation.recipe, used.layer, used.owners, None, modules, True, True)


def _is_hidden(used: UsedLayer, layers: Layers) -> bool:
    """True if an owner of a layer is certainly no module."""
    models = [layers.model(owner) for owner in used.owners]
    return any(model is not None and model.is_module is False for model in models)
