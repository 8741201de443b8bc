"""ML521: shapes that broadcast, or leave nothing to compare, by accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project


class BroadcastByAccident(Rule):
    """Shapes broadcast, or leave one class to compare, by accident

    ## What it does
    Follows the shape of each tensor, as ML520 does. Reports

    - a loss of a tensor of shape `[n]` and one of shape `[n, 1]`, such as `MSELoss`, `L1Loss` and `HuberLoss` take
    - a difference of such tensors whose squares or magnitudes are added up, or averaged
    - `softmax`, `log_softmax`, `argmax`, `argmin`, and `max` and `min` with a dimension, along a dimension of 1 that a
      layer makes: a head with a single output

    Sizes are numbers or symbols, and count as equal if they are the same number or the same symbol.

    The finding is a warning, and an info in tests and demonstrations.

    ## Why is this bad
    `[n]` and `[n, 1]` broadcast to `[n, n]`: each prediction is compared with each target. The loss falls until all
    predictions are the mean of the targets, and stays there. PyTorch warns of this for some of its losses. `softmax` of
    a single number is 1 and `argmax` is 0, whatever the layer computes, and no gradient flows.

    ## How to fix
    Give both tensors the same shape, and use a sigmoid for a single score.

    ```python
    loss = F.mse_loss(prediction.squeeze(1), target)
    probability = torch.sigmoid(score)
    ```

    ## What it cannot see
    Shapes that only a run knows, and two different symbols that may be equal. The rule ignores differences whose
    operands get a dimension in place (`a[:, None] - b`), as code compares all pairs that way. It ignores sizes of 1
    that no layer makes, such as that of a sequence with one token.

    ```python
    def loss(prediction, target):
        return ((prediction - target) ** 2).mean()  # shapes that callers in sight do not tell
    ```

    ## Confirming
    modellint does not confirm the finding: nothing raises an error, and a run cannot tell what the code means.
    """

    code = "ML521"
    name = "broadcast-by-accident"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for doubted in queries.doubtful_operations(module, project):
            yield self._of_pairs(doubted) if doubted.kind == "doubt-pairs" else self._of_one(doubted)

    def _of_pairs(self, doubted: queries.RefusedOperation) -> Finding:
        value = doubted.site.value
        name = "the difference" if value.op is Op.BIN else f"`{doubted.name}`"
        return self._finding(
            doubted,
            f"{name} compares all pairs: shapes `{doubted.left}` and `{doubted.right}` broadcast",
            "each element of one tensor meets each of the other, not only its own",
            "give both the same shape: `squeeze(1)` one of them, or `unsqueeze(1)` the other",
        )

    def _of_one(self, doubted: queries.RefusedOperation) -> Finding:
        name = doubted.name.lower()
        what = "the result is always 0" if "arg" in name else "the ids that it gives are always 0"
        what = "the result is always the same" if "soft" in name else what
        return self._finding(
            doubted,
            f"`{doubted.name}` goes along a dimension of size 1: {doubted.right} of a tensor of shape `{doubted.left}`",
            f"{what}, whatever the layer computes",
            "use a sigmoid (`torch.sigmoid`), or `score > 0`, for a single score; or another dimension",
        )

    def _finding(self, doubted: queries.RefusedOperation, message: str, evidence: str, advice: str) -> Finding:
        site = doubted.site
        return self.finding(
            site.place,
            message,
            symbol=doubted.symbol,
            confidence=Confidence.HIGH,
            severity=Severity.INFO if doubted.is_tried else None,
            evidence=(evidence,),
            related=doubted.related_places("a shape comes from here"),
            help=advice,
        )
