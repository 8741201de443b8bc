"""The training step of a Brain under a recipe: operations that torch refuses, and losses of the wrong elements.

`compute_forward` and `compute_objectives` are run on paper, with the objects of the recipe and a batch of which nothing
is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Related
from modellint.flow.queries.shapes import refused_in_calls
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.made import MadeObjects
from modellint.link.recipes.overview import registrations_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.flow.domain import Site
    from modellint.flow.queries.shapes import RefusedOperation
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.items import Evaluation, Item
    from modellint.link.recipes.overview import Registration

#: The methods that make a step, each of which is given what the one before computes.
_STEP = ("compute_forward", "compute_objectives")


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """An operation in the training step under a recipe that torch refuses, or that is seldom meant.

    `item` is the object of the recipe that is called there, and `behind` the one that made its operand; each is None if
    the script makes it.
    """

    refused: RefusedOperation
    item: Item | None
    behind: Item | None

    @property
    def place(self) -> Place:
        """The place of the object that is called, or else of the one behind it, or of the call in the script."""
        known = self.item or self.behind
        return self.refused.site.place if known is None else known.place

    def related_places(self, words: str) -> list[Related]:
        """The call in the script, and the object that makes the operand, which `words` describe."""
        site = self.refused.site
        made = self.refused.related_places(words) if self.behind is None else [Related(self.behind.place, words)]
        return [Related(site.place, f"`{site.name}` is called here"), *(one for one in made if one.place != self.place)]


def judged_calls(recipe: Recipe, project: Project) -> list[JudgedCall]:
    """The operations in the training steps under a recipe that torch refuses, or that are seldom meant."""
    return project.once(("judged calls", recipe.file), lambda: list(_search(recipe, project)))


def _search(recipe: Recipe, project: Project) -> Iterator[JudgedCall]:
    for registration in registrations_of(recipe, project):
        if registration.reach is not None:
            yield from _judge(registration, evaluate(recipe, project), project)


def _judge(registration: Registration, evaluation: Evaluation, project: Project) -> Iterator[JudgedCall]:
    reach = registration.reach
    assert reach is not None
    functions = [method for name in _STEP if (method := reach.brain.method(name)) is not None]
    objects = MadeObjects(project)
    if not functions or functions[0].name != _STEP[0]:
        return
    for refused, layer in refused_in_calls(functions, lambda run: objects.brain(reach, evaluation, run), project):
        item = None if layer is None else objects.maker(layer)
        behind = next((_called_key(one.site, evaluation) for one in refused.made), None)
        yield JudgedCall(refused, item or _called_key(refused.site, evaluation), behind)


def _called_key(site: Site, evaluation: Evaluation) -> Item | None:
    """The object of the recipe that a call `self.hparams.key(…)` calls."""
    callee = site.value.callee if site.value.op is Op.CALL else None
    owner = callee.args[0] if callee is not None and callee.op is Op.ATTR else None
    is_key = owner is not None and owner.op is Op.ATTR and owner.data == "hparams"
    return evaluation.keys.get(str(callee.data)) if callee is not None and is_key else None
