"""ML703: an activation gets what another one has squashed."""

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

#: Activations by their last names, as messages call them.
_NAMES = {
    "softmax": "softmax",
    "Softmax": "softmax",
    "Softmax2d": "softmax",
    "softmin": "softmin",
    "Softmin": "softmin",
    "gumbel_softmax": "gumbel_softmax",
    "log_softmax": "log_softmax",
    "LogSoftmax": "log_softmax",
    "sigmoid": "sigmoid",
    "Sigmoid": "sigmoid",
    "logsigmoid": "logsigmoid",
    "LogSigmoid": "logsigmoid",
    "tanh": "tanh",
    "Tanh": "tanh",
}
_MADE = {"probabilities": "a softmax", "chances": "a sigmoid", "positives": "a ReLU"}


class SquashedTwice(Rule):
    """An activation gets what another one has squashed

    ## What it does
    Follows each tensor from one activation to the next: through `forward`, `Sequential`, methods, functions and files.
    Reports

    - `softmax`, `log_softmax` and `sigmoid` of the result of `softmax`, and `sigmoid` of the result of `sigmoid`
    - `softmax`, `log_softmax`, `sigmoid` and `tanh` of the result of a ReLU that stands right behind a layer
    - `softmax` and `log_softmax` of the result of a sigmoid that stands right behind a layer
    - `nn.Linear` of the result of `nn.Linear`, in one function or `Sequential`, as an info

    Views, casts, dropout and elements of a tensor change nothing. A ReLU or a sigmoid of something else than the result
    of a layer, such as a product of embeddings, may be a design: it bounds weights.

    Two linear layers with fewer features between them than on either side make a map of low rank, which is meant.

    The finding is a warning, and an info in tests and demonstrations.

    ## Why is this bad
    A second `softmax` makes nearly equal probabilities: of three classes the best gets 0.58 at most, and gradients are
    small. A sigmoid of a ReLU is never below 0.5, and `tanh` of one never below 0: half of what the activation can give
    is lost, and where the layer gives a number below 0 no gradient flows. Two linear maps in a row are one: the second
    layer costs memory and time, and the network is no deeper.

    ## How to fix
    Drop the first of the two.

    ```python
    gate = torch.sigmoid(self.gate(x))  # without ReLU
    ```

    ## What it cannot see
    Activations of a project's own, and layers that only a run knows. It is silent where some way is right.

    ## Confirming
    modellint builds the layer and calls it, or runs the function, until the second activation is called. It looks at
    the numbers that this one gets: those of a softmax sum to 1, those of a sigmoid are between 0 and 1, and those of a
    ReLU are not below 0. It names the range of the result. A run cannot tell if the code means this.
    """

    code = "ML703"
    name = "squashed-twice"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for strange in queries.strange_elements(module, project):
            if strange.is_second_map:
                yield self._of_linear_layers(strange)
            name, made = _NAMES.get(strange.right), _MADE.get(strange.left)
            if name is None or made is None:
                continue
            site = strange.site
            yield self.finding(
                site.place,
                f"`{name}` gets the result of {made}, which has squashed it before",
                symbol=strange.symbol,
                confidence=Confidence.HIGH,
                severity=Severity.INFO if strange.is_tried else None,
                evidence=(_effect(name, strange.left),),
                related=strange.related_places(f"{made} is applied here"),
                help="apply only the last of the two",
                claim=claims.Fed(site.place, strange.right, strange.left, strange.root),
            )

    def probe(self, claim: claims.Fed, project: Project) -> Probe:
        """Run the step of training: what is the activation given?"""
        from modellint.rule import called_probe, file_probe

        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)

    def _of_linear_layers(self, strange: queries.RefusedOperation) -> Finding:
        return self.finding(
            strange.site.place,
            "`nn.Linear` gets what another one gives, and nothing stands between them",
            symbol=strange.symbol,
            confidence=Confidence.HIGH,
            severity=Severity.INFO,
            evidence=("two linear maps in a row are one: a single layer can do all that both can",),
            related=strange.related_places("the other layer is called here"),
            help="put an activation between them, or drop one of the two",
        )


def _effect(name: str, kind: str) -> str:
    if kind == "positives":
        least = {"sigmoid": "0.5", "tanh": "0"}.get(name)
        return f"the result is never below {least}" if least else "all scores below 0 count the same"
    return "the results are nearly equal, whatever the layer gives"
