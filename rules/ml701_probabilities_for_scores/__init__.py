"""ML701: a loss that expects scores gets probabilities."""

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

#: What is wrong with each loss, by its last name.
_OWN = {
    "cross_entropy": "applies `log_softmax` itself",
    "CrossEntropyLoss": "applies `log_softmax` itself",
    "binary_cross_entropy_with_logits": "applies the sigmoid itself",
    "BCEWithLogitsLoss": "applies the sigmoid itself",
    "bce_loss": "applies the sigmoid itself",
}
_PROBABILITIES = frozenset(("probabilities", "chances"))


class ProbabilitiesForScores(Rule):
    """A loss that expects scores gets probabilities

    ## What it does
    Follows each tensor from the layer that makes it to the loss: through `forward`, `Sequential`, methods, functions
    and files. Reports the result of `softmax` or `sigmoid` that reaches

    - `CrossEntropyLoss` and `cross_entropy`
    - `BCEWithLogitsLoss` and `binary_cross_entropy_with_logits`
    - `bce_loss` of SpeechBrain

    Of a recipe it runs `compute_forward` and `compute_objectives` with the objects that the recipe makes.

    Views, casts, dropout and elements of a tensor of probabilities are probabilities, too. Anything else that is
    computed of them is not.

    The finding is a warning, and an info in tests and demonstrations.

    ## Why is this bad
    These losses expect scores (logits), and apply `log_softmax` or the sigmoid themselves. Of probabilities, which lie
    between 0 and 1, they make nearly equal ones: the loss of a perfect prediction of three classes is 0.55 and not 0,
    gradients are small, and the model learns slowly or not at all. Nothing raises an error.

    ## How to fix
    Return the scores, and make probabilities of them only where a prediction is shown.

    ```python
    def forward(self, x):
        return self.head(x)  # without softmax


    loss = criterion(model(x), labels)
    probabilities = model(x).softmax(dim=1)
    ```

    ## What it cannot see
    Layers that only a run knows, and losses of a project's own. It is silent where some way to the loss is without
    `softmax`, where no gradients are recorded, and for `log_softmax` before `CrossEntropyLoss`, which changes nothing.

    ## Confirming
    modellint runs the step of training, or the script, with made-up batches, until the loss is called. It looks at the
    numbers that the loss gets: all of a sigmoid are between 0 and 1, and those of a softmax sum to 1 as well. It names
    the range that the loss is in then, whatever the layers give.
    """

    code = "ML701"
    name = "probabilities-for-scores"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for strange in queries.strange_elements(module, project):
            if strange.right in _OWN and strange.left in _PROBABILITIES:
                yield self._finding(strange, strange)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for one in recipes.about(recipe, project).strange_elements():
            if one.refused.right in _OWN and one.refused.left in _PROBABILITIES:
                yield self._finding(one.refused, one)

    def probe(self, claim: claims.Fed, project: Project) -> Probe:
        """Run the step of training: what is the loss given?"""
        from modellint.rule import called_probe, file_probe

        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)

    def _finding(
        self, strange: queries.RefusedOperation, told: queries.RefusedOperation | recipes.JudgedCall
    ) -> Finding:
        """The finding about a loss, told at its call or at the object of a recipe that is called."""
        made = "softmax" if strange.left == "probabilities" else "sigmoid"
        claim = claims.Fed(told.place, strange.right, strange.left, strange.root) if told is strange else None
        return self.finding(
            told.place,
            f"`{strange.right}` expects scores (logits) and gets the probabilities of a {made}",
            symbol=strange.symbol,
            confidence=Confidence.HIGH,
            severity=Severity.INFO if strange.is_tried else None,
            evidence=(f"`{strange.right}` {_OWN[strange.right]}",),
            related=told.related_places(f"the {made} is applied here"),
            help=f"give it the scores, and apply the {made} only where a prediction is shown",
            claim=claim,
        )
