"""ML704: no gradient reaches the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Severity
from modellint.flow import queries
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

#: Why an operator has no gradient, by its last name.
_WHY = {
    "detach": "`detach()` cuts the gradient",
    "data": "`.data` cuts the gradient",
    "grad": "`.grad` has no gradient itself",
    "comparison": "a comparison has no gradient",
    "no_grad": "no gradients are recorded here",
    "batch": "a batch of data has no gradient",
    "tensor": "`torch.tensor` makes a new tensor, which knows nothing of the model",
}


class GradientCut(Rule):
    """No gradient reaches the loss

    ## What it does
    Follows each tensor from the layer that makes it to `backward()`: through `forward`, methods, functions and files.
    Reports `backward()` on a tensor that certainly has no gradient, as each way to it leads through one of those below.
    A method that returns the loss to a library counts as well: `training_step` of Lightning, `compute_loss` of
    transformers, `compute_objectives` of SpeechBrain.

    - `argmax`, a comparison, or a cast to whole numbers
    - `detach()`, `.data`, `torch.tensor(…)`
    - `torch.no_grad()` or `torch.inference_mode()`

    The finding is an error, and an info in tests and demonstrations.

    ## Why is this bad
    `backward()` raises RuntimeError: `element 0 of tensors does not require grad and does not have a grad_fn`. To set
    `requires_grad` on the loss only hides it: no parameter gets a gradient, and the model does not learn.

    ## How to fix
    Compute the loss of the scores, and what has no gradient only for metrics.

    ```python
    loss = criterion(scores, labels)
    accuracy = (scores.argmax(dim=1) == labels).float().mean()
    ```

    ## What it cannot see
    Ways that only a run knows. A tensor that comes from a caller, or from code that modellint cannot read, may have a
    gradient. It is silent where code asks for a gradient itself (`x.requires_grad_()`).

    ```python
    def train(self, batch):
        self.trainer.compute_loss(batch).backward()  # of code that modellint cannot read
    ```

    ## Confirming
    modellint runs the step of training with made-up batches, until `backward()` is called there. PyTorch refuses it, or
    no parameter has a gradient after it.
    """

    code = "ML704"
    name = "gradient-cut"
    severity = Severity.ERROR
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for lost in queries.losses_without_gradient(module, project):
            site = lost.site
            why = _WHY.get(lost.left, f"`{lost.left}` has no gradient")
            subject = "`backward()` on" if lost.right == "backward" else f"`{lost.right}` returns"
            yield self.finding(
                site.place,
                f"{subject} a tensor that no gradient reaches",
                symbol=lost.symbol,
                confidence=Confidence.HIGH,
                severity=Severity.INFO if lost.is_tried else Severity.WARNING if lost.is_open else None,
                evidence=(why,),
                related=lost.related_places(why),
                help="compute the loss of what the layers give, before the gradient is cut",
                claim=claims.NoGradient(site.place, lost.root),
            )

    def probe(self, claim: claims.NoGradient, project: Project) -> Probe:
        """Run the step of training: does `backward` give any parameter a gradient?"""
        from modellint.rule import called_probe, file_probe

        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)
