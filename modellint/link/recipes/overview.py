"""The registration of a recipe's layers at a glance: where each is used, and what moves, trains and saves it.

Rules and the registration map only read this.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.recipes.closures import Closure, Root, Via
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Evaluation, Item, ItemKind
from modellint.link.recipes.moved import layers_of
from modellint.link.recipes.pairing import is_inference, scripts_of
from modellint.link.recipes.registration import reached_from
from modellint.link.recipes.saved import saved_by
from modellint.link.recipes.trained import frozen_by, trained_by
from modellint.link.recipes.used import Used

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.moved import Layers
    from modellint.link.recipes.reach import Reach
    from modellint.link.recipes.saved import Saved
    from modellint.link.recipes.trained import Trained
    from modellint.link.recipes.used import LayerUse

_PRETRAINER = ".Pretrainer"


@dataclass(frozen=True, eq=False)
class LayerStatus:
    """The status of one layer in one training.

    `moved`, `trained`, `saved`, `loaded` (from a pretrained model) and `frozen` name the root, or are None. A layer
    whose own arguments freeze it is `frozen_by_itself`.
    """

    item: Item
    layers: Layers
    uses: tuple[LayerUse, ...]
    moved: Via | None
    trained: Via | None
    saved: Via | None
    loaded: Via | None
    frozen: Via | None
    frozen_by_itself: bool | None

    @property
    def has_parameters(self) -> bool | None:
        """True if it has trainable parameters of its own, those of layers among its arguments left out.

        None if unknown. It takes a run of the constructor, so ask for it last.
        """
        return self.layers.has_own_parameters(self.item)

    @property
    def may_be_frozen(self) -> bool:
        return self.frozen is not None or self.frozen_by_itself is not False


class Registration:
    """One Brain under one recipe, or an inference recipe: then there is no `reach`."""

    def __init__(
        self,
        recipe: Recipe,
        evaluation: Evaluation,
        reach: Reach | None,
        project: Project,
        *,
        is_only_script: bool = True,
    ) -> None:
        self.recipe = recipe
        self.evaluation = evaluation
        self.reach = reach
        #: True if the script is certainly that of the recipe, not one of several candidates.
        self.is_only_script = is_only_script
        self._project = project
        self._layers: Layers = layers_of(project)

    @cached_property
    def moved(self) -> Closure:
        """The layers that follow `modules` to the device, and those that the script moves itself."""
        reach = self.reach
        if reach is None:
            modules = self.evaluation.keys.get("modules")
            children = modules.fields if modules is not None else {}
            roots = [Root(child, f"modules[{name}]", child.place) for name, child in children.items()]
            return Closure(roots, self._layers, closed=True)
        roots = list(self._entries(reach))
        roots += (Root(item, item.path, item.place, certain=False) for item in reach.moved)
        closed = reach.modules is not None and reach.modules.closed
        return Closure(roots, self._layers, closed=closed)

    @cached_property
    def modules(self) -> Closure:
        """The layers that `modules=` holds."""
        roots = self._entries(self.reach) if self.reach is not None else self.moved.roots
        return Closure(roots, self._layers, closed=self.moved.closed)

    @staticmethod
    def _entries(reach: Reach) -> Iterator[Root]:
        modules = reach.modules
        for name, item in modules.entries.items() if modules is not None else ():
            if item is not None and modules is not None:
                yield Root(item, f"modules[{name}]", modules.home)

    @cached_property
    def trained(self) -> Trained | None:
        """The layers whose parameters optimizers hold."""
        return None if self.reach is None else trained_by(self.reach, self._layers)

    @cached_property
    def frozen(self) -> Closure:
        """The layers that the script freezes."""
        return Closure((), self._layers, closed=True) if self.reach is None else frozen_by(self.reach, self._layers)

    @cached_property
    def saved(self) -> Saved | None:
        """The layers that the checkpointer saves."""
        return None if self.reach is None else saved_by(self.reach, self._layers)

    @cached_property
    def loaded(self) -> Closure:
        """The layers that pretrainers of the recipe fill with the weights of a trained model."""
        roots = [
            Root(child, f"{pretrainer.path}[loadables][{name}]", child.place, certain=False)
            for pretrainer in self.evaluation.objects
            if pretrainer.kind is ItemKind.NEW and pretrainer.target.endswith(_PRETRAINER)
            for argument in ("loadables",)
            if argument in pretrainer.fields
            for name, child in pretrainer.fields[argument].children()
        ]
        return Closure(roots, self._layers, closed=True)

    @cached_property
    def used(self) -> Used | None:
        """The uses of layers."""
        return None if self.reach is None else Used(self.reach, self._layers)

    @cached_property
    def objects(self) -> tuple[LayerStatus, ...]:
        """All layers of the recipe as they are written, those without parameters and buffers included."""
        return tuple(self.status(item) for item in self.evaluation.objects if self._is_layer(item))

    @cached_property
    def layers(self) -> tuple[LayerStatus, ...]:
        """All layers of the recipe that have, or may have, parameters or buffers of their own, as they are written."""
        known = self._layers
        return tuple(
            status
            for status in self.objects
            if status.has_parameters is not False or known.has_own_state(status.item) is not False
        )

    def _is_layer(self, item: Item) -> bool:
        model = self._layers.model(item)
        return model is not None and model.is_module is True

    def status(self, item: Item) -> LayerStatus:
        """The status of one layer: its uses, and what moves, trains, saves, loads and freezes it."""
        return LayerStatus(
            item=item,
            layers=self._layers,
            uses=() if self.used is None else self.used.of(item),
            moved=self.moved.via(item),
            trained=None if self.trained is None else self.trained.via(item),
            saved=None if self.saved is None else self.saved.via(item),
            loaded=self.loaded.via(item),
            frozen=self.frozen.via(item),
            frozen_by_itself=self._layers.freezes(item),
        )


def registrations_of(recipe: Recipe, project: Project) -> tuple[Registration, ...]:
    """One registration for each Brain that a script of the recipe builds; one without for an inference recipe."""
    return project.once(("registrations", recipe.file), lambda: tuple(_registrations(recipe, project)))


def _registrations(recipe: Recipe, project: Project) -> Iterator[Registration]:
    pairing = scripts_of(recipe, project)
    if not pairing.scripts and is_inference(recipe):
        yield Registration(recipe, evaluate(recipe, project), None, project)
    for path in pairing.scripts:
        is_only = len(pairing.scripts) == 1 and not pairing.is_doubtful
        yield from registrations_under(recipe, path, project, is_only_script=is_only)


def registrations_under(
    recipe: Recipe, script: Path, project: Project, *, is_only_script: bool = True
) -> Iterator[Registration]:
    """The registrations of a recipe under one script."""
    for reach in reached_from(recipe, script, project) or ():
        yield Registration(recipe, evaluate(recipe, project), reach, project, is_only_script=is_only_script)
