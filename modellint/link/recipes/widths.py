"""Operations that torch refuses for the numbers of a recipe: in its layers, and in the Brain that calls them.

The layers are made on paper, with the arguments that the recipe gives, and called with tensors of unknown shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.queries.shapes import refused_in_calls, refused_operations
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import Dialect
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.made import MadeObjects
from modellint.link.recipes.moved import layers_of
from modellint.link.recipes.training_steps import judged_calls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.flow.queries.shapes import RefusedOperation
    from modellint.graph.python import Function
    from modellint.graph.recipe import Recipe
    from modellint.graph.size import Size
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project
    from modellint.source import Place

#: The most objects of a recipe that are made.
_MAX_MADE = 200


@dataclass(frozen=True, slots=True)
class RefusedNumber:
    """An operation that torch refuses for the numbers that a recipe gives.

    `item` is the object whose layer is called, `place` the argument that says how wide the input of that layer is, or
    else the object. `numbers` are the places of the numbers that do not fit, if they are arguments of the object.
    `made` is the object whose `forward` was run; None in a training step.
    """

    refused: RefusedOperation
    item: Item
    place: Place
    numbers: tuple[tuple[Size | None, Place], ...]
    made: Item | None = None


def refused_numbers(recipe: Recipe, project: Project) -> list[RefusedNumber]:
    """The operations that torch refuses for the numbers of a recipe, but for those that it refuses for any."""
    return project.once(("refused numbers", recipe.file), lambda: list(_search(recipe, project)))


def _search(recipe: Recipe, project: Project) -> Iterator[RefusedNumber]:
    layers = layers_of(project)
    made = own_objects(recipe, project)
    models = {id(item): model for item in made if item.kind is ItemKind.NEW and (model := layers.model(item))}
    if len(made) > _MAX_MADE or not any(model.is_module for model in models.values()):
        return
    for item in made:
        model = models.get(id(item))
        forward = None if model is None or model.cls is None or not model.is_module else model.method("forward")
        if forward is not None and model is not None and _depends_on_numbers(model, project):
            parts = list(item.walk())
            for refused, number in _refused_in(forward, item, parts, project):
                yield replace(_describe(refused, parts[number]), made=item)
    for judged in judged_calls(recipe, project) if recipe.dialect is Dialect.HYPERPYYAML else ():
        if judged.item is not None and _depends(judged.refused, project):
            yield _describe(judged.refused, judged.item)


def own_objects(recipe: Recipe, project: Project) -> Sequence[Item]:
    """The objects of a recipe, or those for which a file of another dialect has content.

    None of a configuration that others inherit: they may change its numbers, and have its objects.
    """
    if recipe.dialect is Dialect.OPENMMLAB:
        from modellint.dialects.openmmlab import inheritors

        if recipe.file in inheritors(project):
            return ()
    evaluation = evaluate(recipe, project)
    return evaluation.objects if recipe.dialect is Dialect.HYPERPYYAML else evaluation.own


def _depends_on_numbers(model: ClassModel, project: Project) -> bool:
    """True if what a class computes may be refused for some numbers and not for others."""
    files = dict.fromkeys(one.cls.module for one in model.mro() if one.cls is not None)
    return any(one.doubt for module in files for one in refused_operations(module, project))


def _refused_in(
    forward: Function, item: Item, parts: list[Item], project: Project
) -> list[tuple[RefusedOperation, int]]:
    """The operations that torch refuses in a call of an object, each with the number of the part that is the layer.

    Recipes that make the same object with the same numbers share the answer.
    """
    numbers = {id(part): number for number, part in enumerate(parts)}
    form = tuple(
        (part.kind, part.target, part.value, tuple((name, numbers[id(child)]) for name, child in part.children()))
        for part in parts
    )

    def search() -> list[tuple[RefusedOperation, int]]:
        return [(refused, numbers[id(part)]) for refused, part in _refusals_in(forward, item, project)]

    return project.once(("refused with numbers", forward, item.recipe.file.parent, form), search)


def _refusals_in(function: Function, layer: Item, project: Project) -> Iterator[tuple[RefusedOperation, Item]]:
    """The operations that torch refuses in a call of a method on a layer of the recipe."""
    objects = MadeObjects(project)
    for refused, called in refused_in_calls([function], lambda run: objects.layer(layer, run), project):
        item = None if called is None else objects.maker(called)
        if item is not None and _depends(refused, project):
            yield refused, item


def _depends(refused: RefusedOperation, project: Project) -> bool:
    """True if torch refuses the operation for the numbers of the recipe, and not for all."""
    return not refused.doubt and not refused.is_strange and not _is_told(refused, project)


def _describe(refused: RefusedOperation, item: Item) -> RefusedNumber:
    given, taken = _arguments(item, refused.given), _arguments(item, refused.taken)
    numbers = [(refused.given, one.place) for one in given.values()]
    numbers += ((refused.taken, one.place) for one in taken.values())
    written = [place for place in taken if len(taken) == 1]
    return RefusedNumber(refused, item, written[0] if written else item.place, tuple(numbers))


def _is_told(refused: RefusedOperation, project: Project) -> bool:
    """True if torch refuses the operation whatever the numbers are."""
    known = refused_operations(refused.site.module, project)
    return any(one.site.value is refused.site.value and not one.doubt for one in known)


def _arguments(item: Item, size: object) -> dict[Place, Item]:
    """The arguments of an object that are a number, by the places where they are passed."""
    found: dict[Place, Item] = {}
    for name, child in item.children():
        if child.number is None or str(child.number) != str(size):
            continue
        entry = item.recipe.argument(item.node, name) if isinstance(name, str) else None
        written = entry.key if entry is not None else item.node.elements[name] if isinstance(name, int) else child.node
        home = child.recipe if child.key is written else item.recipe
        found[home.place(written.span)] = child
    return found
