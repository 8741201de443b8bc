"""ML203: a layer that is trained and that no checkpoint holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Fix, Related, Severity
from modellint.link.recipes import queries
from modellint.rule import Rule, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

#: The number of layers that are named among those lost with the layer that holds them.
_MOST_NAMED = 4


class LayerNotSaved(Rule):
    """A layer is trained, but no checkpoint holds it

    ## What it does
    Checks each layer in `modules` that gets gradients and whose parameters an optimizer certainly holds. Reports the
    layer unless the checkpointer saves it: as one of its `recoverables`, as a part of one that registers it (usually
    `model: !new:torch.nn.ModuleList`), or because the script calls `add_recoverable`.

    Skips frozen layers, layers without gradients (a language model that only a search uses), buffers, trainings without
    a checkpointer, scripts that save weights in their own way, and checkpointers whose contents are unknown.

    ## Why is this bad
    Training runs well. When you resume it, or load the best checkpoint for testing or inference, the layer starts from
    random weights, or from its pretrained ones, without an error.

    ## How to fix
    Add the layer to the `ModuleList` that is saved, or to `recoverables`:

    ```yaml
    model: !new:torch.nn.ModuleList
        - [!ref <encoder>, !ref <decoder>]
    ```

    ## References
    - [SpeechBrain: checkpointing](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/checkpointing.html)
    """

    code = "ML203"
    name = "layer-not-saved"
    severity = Severity.ERROR
    requires = ("recipes", "unsaved_layers")
    about = ("torch.nn.Module",)
    probe = staticmethod(recipe_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for recipe in queries.script(module, project).recipes:
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for shortfall in queries.about(recipe, project).unsaved_layers():
            yield self._finding(shortfall)

    def _finding(self, shortfall: queries.Shortfall) -> Finding:
        layer, use = shortfall.layer, shortfall.use
        name = layer.path
        saved = shortfall.registration.saved
        keeper = None if saved is None else saved.checkpointer
        return self.finding(
            layer.place,
            f"{_layer_and_parts(shortfall)} is trained, but no checkpoint holds it",
            symbol=name,
            confidence=Confidence.HIGH if shortfall.is_certain else Confidence.LOW,
            evidence=tuple(_evidence(shortfall)),
            related=[*_related(shortfall), Related(use.place, f"used here, in `{use.function}`")],
            help=_help(shortfall),
            fix=_fix(shortfall),
            claim=None if keeper is None else claims.NotSaved(layer.place, name, keeper.path),
        )


def _layer_and_parts(shortfall: queries.Shortfall) -> str:
    """The layer, and the keys that are lost with it."""
    name = shortfall.layer.path
    others = [part.path for part in shortfall.parts if "[" not in part.path and part is not shortfall.layer]
    if not others:
        return f"`{name}`"
    told = ", ".join(f"`{other}`" for other in others[:_MOST_NAMED])
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    return f"`{name}` ({told}{more})"


def _evidence(shortfall: queries.Shortfall) -> Iterator[str]:
    layer, part, status = shortfall.layer, shortfall.part, shortfall.status
    if layer is not part:
        yield f"`{layer.path}` holds `{part.path}`, and no part of it is saved"
    yield f"`{part.target}` has parameters to train"
    if status.trained is not None:
        yield f"`{status.trained.root.text}` is given the parameters of `{status.trained.root.item.path}`"
    yield f"`{shortfall.use.function}` uses `{shortfall.use.text}` where gradients are computed"
    if not shortfall.use.certain:
        yield "the use depends on a condition that only a run decides"


def _related(shortfall: queries.Shortfall) -> Iterator[Related]:
    saved, status = shortfall.registration.saved, shortfall.status
    if saved is not None and saved.place is not None:
        held = ", ".join(f"`{root.item.path}`" for root in saved.roots if root.certain) or "nothing of the recipe"
        yield Related(saved.place, f"what is saved: {held}")
    if shortfall.siblings is not None:
        yield Related(shortfall.siblings.place, f"`{shortfall.siblings.path}` holds the layers beside it")
    if status.trained is not None:
        yield Related(status.trained.root.place, "trained by this optimizer")


def _help(shortfall: queries.Shortfall) -> str:
    layer, siblings = shortfall.layer, shortfall.siblings
    if siblings is not None:
        return f"add `!ref <{layer.path}>` to `{siblings.path}`"
    return f"add `{layer.name}: !ref <{layer.path}>` to the `recoverables` of the checkpointer"


def _fix(shortfall: queries.Shortfall) -> Fix | None:
    """Add the layer to the list beside the others, or else to `recoverables`, where that stands in this file."""
    recipe, layer, siblings = shortfall.recipe, shortfall.layer, shortfall.siblings
    saved = shortfall.registration.saved
    if layer.recipe is not recipe:
        return None
    if siblings is not None and siblings.recipe is recipe and shortfall.status.loaded is None:
        return edits.add_reference(
            recipe, layer.name, layer.path, siblings.node, to=siblings.path, item=layer.node, in_list=True
        )
    to = None if saved is None else saved.recoverables
    if to is None or to.recipe is not recipe:
        return None
    return edits.add_reference(recipe, layer.name, layer.path, to.node, to="recoverables", item=layer.node)
