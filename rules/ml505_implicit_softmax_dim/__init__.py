"""ML505: softmax of a tensor of three dimensions without saying along which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from modellint.flow import queries
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_SOFTMAX = {f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin")}


class ImplicitSoftmaxDim(Rule):
    """Softmax without `dim` normalises a 3-D tensor over the batch

    ## What it does
    Reports `F.softmax(x)`, `F.log_softmax(x)` and `F.softmin(x)` without `dim` if `x` has three dimensions. The rule
    knows that from a shape that is unpacked into three names, from an operator such as `torch.bmm` or `view(a, b, c)`,
    from an index of three slices, or from a comment on the line (`# (B, T, T)`).

    ## Why is this bad
    Without `dim`, PyTorch normalises a 3-D tensor over dimension 0, and a 2-D or 4-D tensor over dimension 1. The
    scores of different examples of a batch compete with each other. You get only a
    `UserWarning: Implicit dimension choice for softmax has been deprecated`, and training goes on.

    ## How to fix
    Pass the dimension that you mean. For attention, that is the last one, as `--unsafe-fixes` writes:

    ```python
    weights = F.softmax(scores, dim=-1)
    ```

    ## What it cannot see
    Tensors with an unknown number of dimensions. The rule ignores one, two and four dimensions: leaving `dim` out is
    only deprecated there.

    ```python
    def attend(scores):
        return F.softmax(scores)  # two dimensions, or three?
    ```

    ## Confirming
    modellint calls the function with inputs that it takes, and looks at the number of dimensions of the tensor and at
    `dim`. If nothing tells what the inputs are, a tensor with another number of dimensions shows nothing.

    ## References
    - [torch.nn.functional.softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    """

    code = "ML505"
    name = "implicit-softmax-dim"
    severity = Severity.ERROR
    requires = ("calls",)
    about = ("torch.nn.Softmax",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for call in queries.flow(module, project).calls(*_SOFTMAX):
            scores = call.argument(0, "input")
            if len(call.value.args) != 2 or call.value.data not in ((), ("input",)):
                continue
            rank = (None if scores is None else scores.rank) or call.result.rank
            if rank == 3 or (rank is None and call.result.commented_rank == 3):
                yield self._finding(call, is_told=rank is None)

    def _finding(self, call: queries.Call, *, is_told: bool) -> Finding:
        return self.finding(
            call.place,
            "without `dim`, this normalises a tensor of three dimensions over dimension 0, the batch",
            symbol=f"{call.symbol}.softmax",
            confidence=Confidence.MEDIUM if is_told else Confidence.HIGH,
            evidence=(
                "without `dim`, torch takes dimension 0 of tensors of 0, 1 or 3 dimensions, and dimension 1 of others",
                *(("a comment gives the tensor three dimensions",) if is_told else ()),
            ),
            help="pass the dimension that you mean, such as `dim=-1`",
            fix=_fix(call.value, call.module),
            claim=claims.OverBatch(call.place),
        )


def _fix(call: Value, module: ModuleFacts) -> Fix | None:

    place = edits.argument_place(call, 0, "input", module)
    if place is None:
        return None
    span = place.span
    spot = Place(module.path, Span(span.end_line, span.end_column, span.end_line, span.end_column))
    return Fix("Take the last dimension", Applicability.UNSAFE, (Edit(spot, ", dim=-1"),))
