"""ML702: a loss that expects probabilities gets something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Severity
from modellint.flow import queries
from modellint.link.recipes import queries as recipes
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project

#: What a loss expects, by its last name.
_EXPECTED = {
    "binary_cross_entropy": "probabilities",
    "BCELoss": "probabilities",
    "nll_loss": "log-probabilities",
    "NLLLoss": "log-probabilities",
    "kl_div": "log-probabilities",
    "KLDivLoss": "log-probabilities",
    "kldiv_loss": "log-probabilities",
    "ctc_loss": "log-probabilities",
    "CTCLoss": "log-probabilities",
    "binary_cross_entropy_with_logits": "scores (logits)",
    "BCEWithLogitsLoss": "scores (logits)",
    "bce_loss": "scores (logits)",
}
_LOGARITHMS = frozenset(("log-probabilities", "log-chances"))
_WORDS = {
    "scores": "raw scores",
    "chances": "probabilities",
    "log-chances": "logarithms of probabilities",
    "positives": "the result of a ReLU",
}
_HELP = {
    "probabilities": "apply a sigmoid before the loss, or use `BCEWithLogitsLoss`, which applies it itself",
    "log-probabilities": "apply `log_softmax` before the loss",
    "scores (logits)": "give it the scores",
}


class ScoresForProbabilities(Rule):
    """A loss that expects probabilities gets something else

    ## What it does
    Follows each tensor from the layer that makes it to the loss: through `forward`, `Sequential`, methods, functions
    and files. Reports

    - `BCELoss` and `binary_cross_entropy` of the scores of a layer, or of logarithms of probabilities
    - `NLLLoss`, `KLDivLoss`, `CTCLoss` and their functions, of torch or of SpeechBrain, of scores or of probabilities,
      where they expect log-probabilities
    - `BCEWithLogitsLoss` and `binary_cross_entropy_with_logits` of logarithms of probabilities

    The scores of a layer are what `Linear`, `Bilinear` and convolutions give, without an activation behind them.

    Of a recipe it runs `compute_forward` and `compute_objectives` with the objects that the recipe makes.

    The finding is an error for `BCELoss`, else a warning, and an info in tests and demonstrations.

    ## Why is this bad
    `BCELoss` refuses numbers below 0 and above 1: on the CPU it raises RuntimeError (`all elements of input should be
    between 0 and 1`), on a GPU a device-side assertion fails. `NLLLoss` takes any numbers. Without `log_softmax` it
    only makes one score larger, and the loss falls below 0 without end.

    ## How to fix
    Give the loss what it expects, or use the loss that expects scores.

    ```python
    loss = F.binary_cross_entropy_with_logits(scores, target)
    loss = F.nll_loss(scores.log_softmax(dim=1), labels)
    ```

    ## What it cannot see
    Layers that only a run knows, and losses of a project's own. It is silent where the scores are computed with before
    they reach the loss, where some way to the loss is right, and where no gradients are recorded.

    ## Confirming
    modellint runs the step of training, or the script, with made-up batches, until the loss is called. `BCELoss`
    refuses the numbers itself. For `NLLLoss` and `KLDivLoss` the exponentials of log-probabilities sum to 1, and those
    of other numbers do not.
    """

    code = "ML702"
    name = "scores-for-probabilities"
    severity = Severity.ERROR
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for strange in queries.strange_elements(module, project):
            yield from self._findings(strange, strange)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for one in recipes.about(recipe, project).strange_elements():
            yield from self._findings(one.refused, one)

    def probe(self, claim: claims.Fed, project: Project) -> Probe:
        """Run the step of training: what is the loss given?"""
        from modellint.rule import called_probe, file_probe

        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)

    def _findings(
        self, strange: queries.RefusedOperation, told: queries.RefusedOperation | recipes.JudgedCall
    ) -> Iterator[Finding]:
        """The findings about a loss, told at its call or at the object of a recipe that is called."""
        expected = _EXPECTED.get(strange.right)
        if expected is None or (expected.startswith("scores") and strange.left not in _LOGARITHMS):
            return
        words = _WORDS.get(strange.left, strange.left)
        severity = Severity.ERROR if expected == "probabilities" else Severity.WARNING
        claim = claims.Fed(told.place, strange.right, strange.left, strange.root) if told is strange else None
        yield self.finding(
            told.place,
            f"`{strange.right}` expects {expected} and gets {words}",
            symbol=strange.symbol,
            confidence=Confidence.HIGH,
            severity=Severity.INFO if strange.is_tried else severity,
            evidence=("nothing stands between this layer and the loss",) if strange.left == "scores" else (),
            related=told.related_places(f"{words} are made here"),
            help=_HELP[expected],
            claim=claim,
        )
