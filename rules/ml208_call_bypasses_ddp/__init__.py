"""ML208: a module called around the wrapper that synchronises its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotWrapped
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.probes import Probe

    from .bypasses import Bypass


class CallBypassesDdp(Rule):
    """A module is called as the recipe made it, around the wrapper that synchronises gradients between processes

    ## What it does
    Where a script sets up distributed training, finds the calls `self.hparams.encoder(…)` of objects that are also
    entries of `modules:`, that have parameters to train and that learn from the call: it stands in a method that the
    training loop reaches under this recipe, and not under `torch.no_grad()`.

    Left alone are modules without parameters to train (the framework does not wrap them), frozen ones, calls in
    validation and testing only, and scripts that never join a process group. Confidence is low where the script also
    calls the wrapper: then gradients are expected, whatever way they come.

    ## Why is this bad
    With several processes the framework replaces each entry of `self.modules` with a `DistributedDataParallel` around
    it. A call of `self.hparams.encoder` reaches the module inside: its gradients are never averaged, each process
    trains a copy of its own, and the copy of the first one is saved as if it were the model. Nothing fails, with one
    process everything is right, and with more of them the model has seen only a part of the data.

    ## How to fix
    Call the entry of `self.modules`.

    ## Confirming
    A run builds the recipe, puts a wrapper around each entry of `modules` that learns, and evaluates what stands at the
    place of the call, in the script's own Brain: it is the module inside of a wrapper (confirmed), or a wrapper or
    another object (refuted). Where the module is small, torch's own `DistributedDataParallel` then counts the gradients
    that a call of each exchanges with a second process, which is pretended. That the training comes by this call, with
    gradients, is not run: it is told from the code.

    ## References
    - [SpeechBrain issue 930](https://github.com/speechbrain/speechbrain/issues/930)
    - [DistributedDataParallel](https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "ML208"
    name = "call-bypasses-ddp"
    severity = Severity.ERROR

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .bypasses import bypassing_calls

        for bypass in bypassing_calls(module, project):
            yield self._finding(bypass)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import scripts_of

        from .bypasses import bypassing_calls

        scripts = scripts_of(recipe, project).scripts
        module = project.python(scripts[0]) if len(scripts) == 1 else None
        for bypass in bypassing_calls(module, project) if module is not None else ():
            if any(known.file == recipe.file for known, _ in bypass.recipes):
                yield self._finding(bypass)

    def probe(self, claim: NotWrapped, project: Project) -> Probe | None:
        """Build the recipe, wrap its entries, and see which object is called and which gradients are exchanged."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, bypass: Bypass) -> Finding:
        use, entry = bypass.use, bypass.entry
        name = "one of its entries" if entry is None else f"`self.modules.{entry}`"
        more = len(bypass.recipes) - 1
        return self.finding(
            use.place,
            f"`{use.text}` is called, not {name}: with several processes its gradients are never synchronised",
            symbol=use.item.path,
            confidence=Confidence.HIGH if bypass.is_certain else Confidence.LOW,
            evidence=(
                f"`{use.item.target}` has parameters to train, and is part of `modules` of "
                f"`{bypass.recipes[0][0].file.name}`" + (f" and {more} more" if more else ""),
                f"`{use.function}` computes gradients in the training loop",
                "the script sets up distributed training, which wraps the entries of `self.modules` only",
            ),
            related=[Related(root.place, f"`{root.text}` is `{use.item.path}`") for _, root in bypass.recipes],
            help=f"call {name}" if entry is not None else "call the entry of `self.modules`",
            fix=_fix(bypass),
            claim=_claim(bypass),
        )


def _claim(bypass: Bypass) -> NotWrapped | None:
    from modellint.claims.recipes import NotWrapped

    if not bypass.is_certain or not bypass.brain.classes:
        return None
    (recipe, root), script, brain = bypass.recipes[0], bypass.brain.module.path, bypass.brain.classes[0].qualname
    return NotWrapped(recipe.place(recipe.root.span), bypass.use.item.path, root.text, script, brain, bypass.place)


def _fix(bypass: Bypass) -> Fix | None:
    """The entry of `self.modules` instead of the recipe's own object, where that is written out."""
    from .bypasses import receiver_of

    receiver = receiver_of(bypass.use)
    if receiver is None or bypass.entry is None or not bypass.entry.isidentifier():
        return None
    if not bypass.module.text_of(receiver).startswith("self.hparams"):
        return None
    text = f"self.modules.{bypass.entry}"
    edit = Edit(bypass.module.place(receiver), text)
    return Fix(f"Call `{text}`", Applicability.SAFE, (edit,))
