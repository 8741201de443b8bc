"""ML505: softmax of a tensor of three dimensions without saying along which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Severity
from modellint.graph.value import EventKind, Op
from modellint.link.names import External
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

_SOFTMAX = {f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin")}


class ImplicitSoftmaxDim(Rule):
    """Softmax of a tensor of three dimensions without `dim` normalises over the batch

    ## What it does
    Looks for `F.softmax(x)`, `F.log_softmax(x)` and `F.softmin(x)` without `dim` where `x` is known to have three
    dimensions: its shape is unpacked into three names, or it comes of something whose shape is, or the comment behind
    it writes down three (`# (B, T, T)`).

    ## Why is this bad
    Without `dim`, torch takes dimension 0 of tensors with three dimensions (and 1 of two or four): the scores of
    different examples of a batch compete with each other, and training goes on as if nothing were wrong.

    ## How to fix
    Say which dimension is meant: `dim=-1` for attention, as `--unsafe-fixes` writes.

    ## What it cannot see
    Tensors whose number of dimensions is not known. One, two and four dimensions are left alone: there it is only
    deprecated.

    ## Confirming
    Not run: which dimension torch takes follows from the number of dimensions.

    ## References
    - [torch.nn.functional.softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    """

    code = "ML505"
    name = "implicit-softmax-dim"
    severity = Severity.ERROR
    triggers = ("import|def",)
    bad = (
        Example(
            "Attention weights",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.key = nn.Linear(width, size)
        self.query = nn.Linear(width, size)

    def forward(self, x, mask=False):
        B, T, C = x.shape
        k = self.key(x)
        q = self.query(x)
        weights = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        if mask:
            weights = weights.masked_fill(self.mask == 0, float("-inf"))
        return F.softmax(weights)  # expect: ML505
""",
            },
            changes=(("F.softmax(weights)", "F.softmax(weights, dim=-1)"),),
        ),
        Example(
            "A result that is indexed along three dimensions",
            {
                "model.py": """\
import torch


def scores(logits):
    return torch.nn.functional.softmax(logits)[:, :, :-1]  # expect: ML505
""",
            },
            changes=(("softmax(logits)", "softmax(logits, dim=-1)"),),
        ),
        Example(
            "A batch of products",
            {
                "model.py": """\
import torch
from torch.nn.functional import log_softmax


def attend(q, k, v):
    weights = log_softmax(torch.bmm(q, k))  # expect: ML505
    return torch.bmm(weights.exp(), v)
""",
            },
            changes=(("log_softmax(torch.bmm(q, k))", "log_softmax(torch.bmm(q, k), dim=-1)"),),
        ),
        Example(
            "A shape that a comment tells",
            {
                "model.py": """\
import torch.nn.functional as F


def attend(q, k):
    weights = q @ k.transpose(-2, -1)
    weights = F.softmax(weights)  # (B, T, T)  # expect: ML505
    return weights
""",
            },
            changes=(("F.softmax(weights)", "F.softmax(weights, dim=-1)"),),
        ),
        Example(
            "A view of three sizes",
            {
                "model.py": """\
import torch.nn.functional as F


def split(x, heads):
    x = x.view(x.size(0), heads, -1)
    return F.softmax(x / 2)  # expect: ML505
""",
            },
            changes=(("F.softmax(x / 2)", "F.softmax(x / 2, dim=-1)"),),
        ),
    )
    good = (
        Example(
            "A dimension that is told",
            {
                "model.py": """\
import torch.nn.functional as F


def scores(x, options):
    a, b, c = x.shape
    return F.softmax(x, -1), F.softmax(x, dim=1), x.softmax(-1), F.softmax(x, **options)
""",
            },
        ),
        Example(
            "Two dimensions",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = x.view(-1, 320)
        return F.log_softmax(self.head(x))
""",
            },
        ),
        Example(
            "Four dimensions",
            {
                "model.py": """\
import torch.nn.functional as F


def scores(x):
    batch, classes, height, width = x.size()
    return F.softmax(x)
""",
            },
        ),
        Example(
            "A number of dimensions that is not known",
            {
                "model.py": """\
import torch.nn.functional as F


def scores(x, is_flat):
    if is_flat:
        x = x.view(-1, 3)
    else:
        x = x.view(2, -1, 3)
    return F.softmax(x), F.softmax(x[0]), F.softmax(x.mean(dim=1))
""",
            },
        ),
        Example(
            "Another function by that name",
            {
                "model.py": """\
def softmax(x):
    return x.softmax(-1)


def scores(x):
    a, b, c = x.shape
    return softmax(x)
""",
            },
        ),
        Example(
            "Another tensor's shape",
            {
                "model.py": """\
import torch.nn.functional as F


def scores(x, y):
    a, b, c = y.shape
    x = x.reshape(a * b, c)
    y = y.reshape(-1)
    return F.softmax(x), F.softmax(y)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.values.kinds import Kinds

        for function in (*module.all_functions(), module.body):
            kinds: Kinds | None = None
            for event in function.flow.of(EventKind.CALL):
                call = event.value
                if len(call.args) != 2 or (call.data and call.data != ("input",)) or call.callee.op is Op.PARAM:
                    continue
                definition = project.names.definition(module, call.callee)
                if not isinstance(definition, External) or definition.name not in _SOFTMAX:
                    continue
                kinds = kinds or Kinds(project, function)
                rank = kinds.rank(call.args[1]) or kinds.rank_by_use(call)
                if rank == 3 or (rank is None and kinds.rank_by_comment(call) == 3):
                    yield self._finding(function, call, is_told=rank is None)

    def _finding(self, function: Function, call: Value, *, is_told: bool) -> Finding:
        module = function.module
        return self.finding(
            module.place(call),
            "without `dim`, this takes dimension 0 of a tensor with three dimensions, the batch",
            symbol=f"{function.qualname}.softmax",
            confidence=Confidence.MEDIUM if is_told else Confidence.HIGH,
            evidence=(
                "torch takes dimension 0 for 0, 1 and 3 dimensions, and 1 otherwise",
                *(("a comment writes down three dimensions",) if is_told else ()),
            ),
            help="say which dimension is meant: `dim=-1`?",
            fix=_fix(call, module),
        )


def _fix(call: Value, module: ModuleFacts) -> Fix | None:
    from modellint.edits.python import argument_place

    place = argument_place(call, 0, "input", module)
    if place is None:
        return None
    span = place.span
    spot = Place(module.path, Span(span.end_line, span.end_column, span.end_line, span.end_column))
    return Fix("Take the last dimension", Applicability.UNSAFE, (Edit(spot, ", dim=-1"),))
