"""ML507: a statement whose result is all it does, and is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Severity
from modellint.graph.value import Op
from modellint.link.names import External
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.link.values.kinds import Kinds

#: Methods that compute a new tensor, and change nothing.
_PURE = frozenset(
    (
        *("to", "cuda", "cpu", "type", "float", "half", "double", "long", "int", "bool", "bfloat16", "type_as"),
        *(
            "masked_fill",
            "clamp",
            "detach",
            "unsqueeze",
            "squeeze",
            "reshape",
            "transpose",
            "permute",
            "view",
            "expand",
        ),
        *("contiguous", "clone", "flatten", "repeat", "softmax", "sigmoid", "tanh", "relu", "mul", "div", "add", "sub"),
        *(
            "index_select",
            "masked_select",
            "gather",
            "scatter",
            "scatter_add",
            "index_fill",
            "index_add",
            "fill_diagonal",
        ),
        *("swapaxes", "t", "flip", "roll", "tril", "triu", "abs", "exp", "log", "sqrt", "pow", "neg", "nan_to_num"),
    )
)
#: Those that only arrays and tensors have, by a name that says so: whoever has them changes nothing.
_TELLING = frozenset(("masked_fill", "unsqueeze", "index_select", "masked_select", "transpose", "swapaxes", "type_as"))
#: Layers that compute from their input alone.
_STATELESS = (
    *("Linear", "Conv", "LayerNorm", "GroupNorm", "RMSNorm", "Embedding", "Dropout", "ReLU", "GELU", "SiLU", "Sigmoid"),
    *("Tanh", "Softmax", "LogSoftmax", "LeakyReLU", "ELU", "AvgPool", "MaxPool"),
)
_TRYING = re.compile(r"warm|profil|bench|timing|measure", re.IGNORECASE)


class ResultDropped(Rule):
    """The result of an operation is lost: it changes nothing

    ## What it does
    Looks for statements that compute a tensor and drop it: `x.masked_fill(mask, 0)`, `mask.unsqueeze(1)`,
    `torch.transpose(x, 0, 1)`, `x.to(device)` of a tensor, and layers that are called for nothing
    (`self.layer_norm(x)`). An info for `contiguous`.

    ## Why is this bad
    The line looks as if it did something. The mask is not applied, the norm never normalises, the tensor stays where it
    was.

    ## How to fix
    Assign the result, or call the method that changes its operand (`masked_fill_`). `--unsafe-fixes` assigns it to the
    name that it was called on.

    ## What it cannot see
    Methods that other objects have as well (`to`, `type`, `detach`) on what is not known to be a tensor: modules and
    batches move in place.

    ## Confirming
    Not run: that nothing takes the result is written in the code.

    ## References
    - [In-place operations](https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd)
    """

    code = "ML507"
    name = "result-dropped"
    severity = Severity.WARNING
    triggers = ("import|def",)
    bad = (
        Example(
            "A mask that is not applied",
            {
                "model.py": """\
import torch


def masked(scores, padding):
    weights = torch.sigmoid(scores)
    weights.masked_fill(padding, 0)  # expect: ML507
    if padding.dim() == 2:
        padding.unsqueeze(1)  # expect: ML507
    return weights, padding
""",
            },
            changes=(
                ("    weights.masked_fill(padding, 0)", "    weights = weights.masked_fill(padding, 0)"),
                ("        padding.unsqueeze(1)", "        padding = padding.unsqueeze(1)"),
            ),
        ),
        Example(
            "A norm that is called for nothing",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer_norm = nn.LayerNorm(width)
        self.proj = nn.Linear(width, width)

    def forward(self, sequence):
        sequence = self.proj(sequence)
        self.layer_norm(sequence)  # expect: ML507
        return sequence
""",
            },
        ),
        Example(
            "A function of torch",
            {
                "model.py": """\
import torch


def swap(ft):
    torch.transpose(ft, 1, 0)  # expect: ML507
    return ft
""",
            },
        ),
        Example(
            "A tensor that stays where it was",
            {
                "train.py": """\
import torch


def prepare(x, device):
    mask = torch.ones(3)
    mask.to(device)  # expect: ML507
    mask.contiguous()  # expect: ML507
    out = torch.matmul(x, mask).transpose(0, 1)
    out.detach()  # expect: ML507
    return out * mask
""",
            },
            changes=(
                ("    mask.to(device)", "    mask = mask.to(device)"),
                ("    mask.contiguous()", "    mask = mask.contiguous()"),
                ("    out.detach()", "    out = out.detach()"),
            ),
        ),
    )
    good = (
        Example(
            "Modules and batches move in place",
            {
                "train.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def freeze(self):
        self.to("cpu")
        self.proj.to("cpu").float()


def train(model, batch, device):
    model.to(device)
    model.half()
    batch.to(device)
    net = nn.Linear(3, 3)
    net.to(device)
    net.cuda()
    return model(batch), net
""",
            },
        ),
        Example(
            "Other libraries",
            {
                "plot.py": """\
import matplotlib.pyplot as plt
import torch.distributed as dist


def show(ax, xs, ys, parts):
    plt.scatter(xs, ys)
    ax.scatter(xs, ys)
    dist.scatter(xs, parts)
    ax.view(3)
    ax.clamp(3)
""",
            },
        ),
        Example(
            "In place, and results that are used",
            {
                "model.py": """\
import torch


def run(x, padding):
    y = torch.zeros(3)
    y.masked_fill_(padding, 0)
    y.unsqueeze_(0)
    torch.clamp(x, 0, 1, out=y)
    torch.add(x, 1, out=y)
    z = y.masked_fill(padding, 0)
    return z.unsqueeze(0)
""",
            },
        ),
        Example(
            "A norm that keeps statistics, and layers with hooks",
            {
                "model.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)

    def calibrate(self, batches):
        for batch in batches:
            self.norm(batch)
""",
                "hooks.py": """\
from torch import nn


class Watched(nn.Module):
    def __init__(self, width, keep):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.proj.register_forward_hook(keep)

    def forward(self, x):
        self.proj(x)
        return x
""",
            },
        ),
        Example(
            "Warming up",
            {
                "bench.py": """\
import torch
from torch import nn


def warm_up(x):
    layer = nn.Linear(3, 3)
    layer(x)
    torch.matmul(x, x)
    torch.ones(3).to("cuda")


def serve(x):
    torch.zeros((2, 2)).cuda()
    return x
""",
            },
        ),
        Example(
            "A method that the project defines under such a name",
            {
                "table.py": """\
class Table:
    def __init__(self):
        self.rows = []

    def unsqueeze(self, row):
        self.rows.append(row)

    def transpose(self):
        self.rows = list(zip(*self.rows))


def fill(table):
    table.unsqueeze(3)
    table.transpose()
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.values.kinds import Kinds

        for function in (*module.all_functions(), module.body):
            kinds: Kinds | None = None
            if not function.flow.dropped or _TRYING.search(function.name):
                continue
            for event in function.flow.dropped:
                kinds = kinds or Kinds(project, function)
                what = _lost(event, function, kinds, project)
                if what is not None and not _TRYING.search(module.file.name):
                    yield self._finding(function, event.value, what, kinds, project)

    def _finding(self, function: Function, call: Value, what: str, kinds: Kinds, project: Project) -> Finding:
        from modellint.link.calls.doubts import is_tried_out

        module = function.module
        is_weak = what == "contiguous"
        event = next(event for event in function.flow.dropped if event.value is call)
        is_trial = is_tried_out(project, function, event)
        return self.finding(
            module.place(call),
            f"`{what}` changes nothing here: its result is lost",
            symbol=f"{function.qualname}.{what}",
            confidence=Confidence.HIGH if kinds.is_tensor(call) else Confidence.MEDIUM,
            severity=Severity.INFO if is_weak or is_trial else None,
            evidence=("the statement computes a new tensor, and nothing takes it",),
            help="assign the result" + (f", or call `{what}_`" if f"{what}_" in operators.methods("Tensor") else ""),
            fix=_assigned(call, module),
        )


def _lost(event: Event, function: Function, kinds: Kinds, project: Project) -> str | None:
    """What a statement computes for nothing; None if it may do something."""
    call = event.value
    if event.handled or "out" in call.data:
        return None
    callee = call.callee
    definition = project.names.definition(function.module, callee)
    if definition is not None:
        name = definition.name if isinstance(definition, External) else ""
        last = name.rpartition(".")[2]
        is_pure = name.startswith("torch.") and name.count(".") == 1 and last in _PURE
        return last if is_pure and not call.has_unpacking else None
    if callee.op is Op.ATTR and callee.data in _PURE and callee.args[0].op is not Op.GLOBAL:
        name = str(callee.data)
        if kinds.is_tensor(callee.args[0]):
            is_fresh = callee.args[0].op is Op.CALL and callee.args[0].target is None
            return None if is_fresh and name in ("to", "cuda") else name  # which only wakes a device up
        is_shape = name == "reshape" and len(call.positional) > 1 and not call.data
        if (name in _TELLING or is_shape) and call.positional and not _is_defined(name, function.module, project):
            return name
    layer = kinds.layer(callee, _STATELESS)
    if layer is not None and call.positional and "_hook" not in function.module.text:
        return function.module.text_of(callee)
    return None


def _is_defined(name: str, module: ModuleFacts, project: Project) -> bool:
    """Whether a class of the project has a method of this name, which may do anything."""
    from modellint.link.values.callers import mentioning

    defined = re.compile(rf"\bdef\s+{re.escape(name)}\s*\(")
    return any(defined.search(one.text) for one in (module, *mentioning(project, module, "def", name)))


def _assigned(call: Value, module: ModuleFacts) -> Fix | None:
    """The result under the name that the method was called on."""
    if call.callee.op is not Op.ATTR:
        return None
    text = module.text_of(call)
    owner = re.match(r"([A-Za-z_][\w.]*)\s*\.\s*\w+\(", text)
    if owner is None or owner[1].startswith("torch"):
        return None
    name = text[: len(owner[1])]
    if (
        name == "self"
        or name.count(".") > 1
        or (module.text_of(call.callee.args[0]) != name and call.callee.args[0].target != name)
    ):
        return None
    span = module.place(call).span
    spot = Place(module.path, Span(span.line, span.column, span.line, span.column))
    return Fix(f"Assign it to `{name}`", Applicability.UNSAFE, (Edit(spot, f"{name} = "),))
