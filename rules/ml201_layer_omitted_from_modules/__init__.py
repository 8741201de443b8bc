"""ML201: a layer in use that `modules` does not move to the device."""

from __future__ import annotations

from itertools import pairwise
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


class LayerOmittedFromModules(Rule):
    """A recipe's layer is not in `modules`, so it never moves to the device

    ## What it does
    Pairs a recipe with the script that loads it, and checks each layer that the script uses, directly or through a
    searcher or scorer. Reports the layer if neither the `modules` mapping nor a module in it registers the layer. An
    object that is not an `nn.Module` registers nothing: a `ScorerBuilder` does not move the layer of a `CTCScorer` that
    it holds. An inference recipe needs no script: the rule checks it alone.

    Skips layers without parameters and buffers, layers that the script moves itself (`.to(device)`), layers that move
    with their owner or to the device of their input, and objects of unknown classes.

    ## Why is this bad
    The layer stays on the CPU. On a GPU, training fails with `Expected all tensors to be on the same device`. If only a
    searcher uses the layer, training fails at the end of the first epoch. On a CPU nothing fails, but a layer that no
    optimizer holds never learns.

    ## How to fix
    Add the layer to `modules`:

    ```yaml
    modules:
        ctc_lin: !ref <ctc_lin>
    ```

    ## References
    - [SpeechBrain issue 2804](https://github.com/speechbrain/speechbrain/issues/2804)
    """

    code = "ML201"
    name = "layer-omitted-from-modules"
    severity = Severity.ERROR
    requires = ("omitted_layers", "recipes")
    about = ("torch.nn.Module",)
    probe = staticmethod(recipe_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for recipe in queries.script(module, project).recipes:
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for omission in queries.about(recipe, project).omitted_layers():
            yield self._finding(omission)

    def _finding(self, omission: queries.Omission) -> Finding:
        layer = omission.layer
        name = layer.path
        related = []
        if omission.use is not None:
            related.append(Related(omission.use.place, f"used here, in `{omission.use.function}`"))
        if omission.modules is not None:
            related.append(Related(omission.modules.place, f"`modules` does not hold `{name}`"))
        return self.finding(
            layer.place,
            f"`{name}` is used but not in `modules`: it stays on the CPU",
            symbol=name,
            severity=Severity.ERROR if omission.agreed else Severity.WARNING,
            confidence=_confidence(omission),
            evidence=tuple(_evidence(omission)),
            related=related,
            help=f"add `{layer.name}: !ref <{name}>` to `modules:`",
            fix=_fix(omission),
            claim=claims.NotMoved(layer.place, name),
        )


def _confidence(omission: queries.Omission) -> Confidence:
    if not omission.sure:
        return Confidence.LOW
    return Confidence.HIGH if omission.agreed else Confidence.MEDIUM


def _evidence(omission: queries.Omission) -> Iterator[str]:
    layer = omission.layer
    yield f"`{layer.target}` has parameters or buffers"
    if omission.use is not None:
        yield f"`{omission.use.function}` uses `{omission.use.text}`"
    if omission.owners:
        chain = [*omission.owners, layer]
        for owner, held in pairwise(chain):
            yield f"`{owner.path}` (`{owner.target}`) uses `{held.path}`"
    if not omission.sure:
        yield "the use depends on a condition that only a run decides"


def _fix(omission: queries.Omission) -> Fix | None:
    """Add the entry to `modules`, where both stand in this file and the layer has a key of its own."""
    recipe, layer, modules = omission.recipe, omission.layer, omission.modules
    if modules is None or modules.recipe is not recipe:
        return None
    item = layer.node if layer.recipe is recipe else None
    return edits.add_reference(recipe, layer.name, layer.path, modules.node, to="modules", item=item)
