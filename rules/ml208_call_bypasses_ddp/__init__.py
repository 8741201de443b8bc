"""ML208: a module called around the wrapper that synchronises its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.link.recipes import queries
from modellint.rule import Rule, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

    from .bypasses import Bypass
    from .wrappers import Around


class CallBypassesDdp(Rule):
    """A call around a wrapper leaves gradients unsynchronised

    ## What it does
    In a script that sets up distributed training, reports calls such as `self.hparams.encoder(…)` of objects that are
    also entries of `modules`, have parameters to train and learn from the call: the training loop reaches the method
    with this recipe, and the call is not under `torch.no_grad()`.

    In Python code, reports calls of the layer inside of a `DistributedDataParallel` or `FullyShardedDataParallel`, and
    of its methods that use parameters (`model.module.loss(x)`), if a loss with their result goes `backward()` and the
    function and its helpers call the wrapper nowhere. Also reports a method of a layer that `torch.compile` has
    compiled (`model.generate(x)`), if nothing calls the compiled layer: methods are not compiled. These are warnings.

    Skips modules without parameters to train (the framework does not wrap them), frozen modules, calls in validation
    and testing only, and scripts that never join a process group. If the script also calls the wrapper, the report has
    low confidence: the gradients may be synchronised there.

    ## Why is this bad
    With several processes, the framework replaces each entry of `self.modules` with a `DistributedDataParallel`
    wrapper. `self.hparams.encoder` is still the module inside. A call of it never averages gradients: each process
    trains its own copy, and the checkpoint holds the copy of the first process, which has seen only a part of the data.
    No error appears, and with one process everything is right.

    ## How to fix
    Call the entry of `self.modules`:

    ```python
    self.modules.encoder(feats)
    ```

    Elsewhere, call the wrapper, and let `forward` call the method. `model.compile()` compiles a layer in place, so that
    its methods call compiled code.

    ## Confirming
    A run builds the recipe, wraps each entry of `modules` that learns, and evaluates the called object in the script's
    own Brain. The verdict is *confirmed* if it is the module inside a wrapper, and *refuted* if it is a wrapper or
    another object. For a small module, torch's own `DistributedDataParallel` then counts the gradients that each call
    exchanges with a simulated second process. The run does not show that training reaches this call with gradients: the
    code says so. modellint does not confirm findings outside of recipes.

    ## References
    - [SpeechBrain issue 930](https://github.com/speechbrain/speechbrain/issues/930)
    - [DistributedDataParallel](https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "ML208"
    name = "call-bypasses-ddp"
    severity = Severity.ERROR
    requires = ("callees", "holds", "recipes", "registrations", "script")
    about = ("torch.nn.parallel.DistributedDataParallel",)
    probe = staticmethod(recipe_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .bypasses import bypassing_calls

        for bypass in bypassing_calls(module, project):
            yield self._finding(bypass)
        if "torch" not in module.text or not {"module", "compile"} & module.body.words:
            return
        from .wrappers import calls_around_compiled, calls_around_wrappers

        for around in calls_around_wrappers(module, project):
            yield self._report_around(around)
        for around in calls_around_compiled(module, project):
            yield self._report_uncompiled(around)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .bypasses import bypassing_calls

        script = queries.about(recipe, project).script
        for bypass in bypassing_calls(script, project) if script is not None else ():
            if any(known.file == recipe.file for known, _ in bypass.recipes):
                yield self._finding(bypass)

    def _report_around(self, around: Around) -> Finding:
        module, loss = around.function.module, around.loss
        assert loss is not None
        return self.finding(
            module.place(around.value),
            f"`{around.name}` is called, not the wrapper: with several processes its gradients are never synchronised",
            symbol=f"{around.function.qualname}.{around.name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if loss.is_tried else Severity.WARNING,
            evidence=(f"`{around.wrapper}` synchronises gradients of calls of the wrapper only",),
            related=(
                Related(around.made.place, f"the layer is wrapped in `{around.wrapper}` here"),
                Related(loss.place, "the loss goes backward here"),
            ),
            help="call the wrapper, and let `forward` call the method",
        )

    def _report_uncompiled(self, around: Around) -> Finding:
        return self.finding(
            around.function.module.place(around.value),
            f"`{around.name}` is not compiled: `torch.compile` compiles calls of the layer only",
            symbol=f"{around.function.qualname}.{around.name}",
            confidence=Confidence.HIGH,
            severity=Severity.WARNING,
            evidence=("nothing calls the compiled layer itself",),
            related=(Related(around.made.place, "the layer is compiled here"),),
            help="call `layer.compile()`, or compile the method",
        )

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


def _claim(bypass: Bypass) -> claims.NotWrapped | None:
    if not bypass.is_certain or not bypass.brain.classes:
        return None
    (recipe, root), script, brain = bypass.recipes[0], bypass.brain.module.path, bypass.brain.classes[0].qualname
    return claims.NotWrapped(
        recipe.place(recipe.root.span), bypass.use.item.path, root.text, script, brain, bypass.place
    )


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
