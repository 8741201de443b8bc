"""ML504: dropout by function, which no `eval()` turns off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Severity
from modellint.graph.value import EventKind, Op, Value, self_attribute
from modellint.link.names import External
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.link.project import Project

#: Functions whose `training` is true unless it is given, and the number of arguments before it.
_ALWAYS_ON = {f"torch.nn.functional.{name}": 2 for name in ("dropout", "dropout1d", "dropout2d", "dropout3d")}
_LOSS = re.compile(r"\w*loss\w*")
#: What says that the noise is wanted.
_WANTED = re.compile(
    r"perturb|corrupt|monte|\bmc\b|mc_|noise|sampl|always|augment|determinis|stochastic", re.IGNORECASE
)


class DropoutAlwaysOn(Rule):
    """Dropout by function is always on, also after `eval()`

    ## What it does
    Looks in layers for `F.dropout(x, p)` (and `dropout1d` to `dropout3d`) without `training`: it is true unless it is
    given. An info where only a loss sees it.

    ## Why is this bad
    `model.eval()` does not reach it: predictions are noisy, and differ from call to call.

    ## How to fix
    Pass `training=self.training`, as `--fix` does, or keep an `nn.Dropout`.

    ## What it cannot see
    Rates that every caller sets to zero. A rate that is an argument of the method is left alone, and so is dropout
    under a condition on `self.training`, or that a comment or the method's name calls a perturbation.

    ## Confirming
    Not run: the default of `training` is a fact about torch.

    ## References
    - [torch.nn.functional.dropout](https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html)
    """

    code = "ML504"
    name = "dropout-always-on"
    severity = Severity.WARNING
    triggers = ("class",)
    bad = (
        Example(
            "In `forward`",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.dropout = dropout

    def forward(self, x):
        return F.dropout(self.proj(x), p=self.dropout)  # expect: ML504
""",
            },
            changes=(("p=self.dropout)", "p=self.dropout, training=self.training)"),),
        ),
        Example(
            "In a method that `forward` calls",
            {
                "model.py": """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = self.step(layer, x, index)
        return x

    def step(self, layer, x, index):
        if index < 2:
            x = torch.tanh(nn.functional.dropout(x))  # expect: ML504
        return layer(x)
""",
            },
            changes=(("dropout(x)", "dropout(x, training=self.training)"),),
        ),
        Example(
            "Where a loss is computed",
            {
                "loss.py": """\
from torch import nn
from torch.nn.functional import cross_entropy, dropout


class Loss(nn.Module):
    def __init__(self, width, classes, rate):
        super().__init__()
        self.head = nn.Linear(width, classes)
        self.rate = rate

    def forward(self, x, y):
        return self.loss(x, y)

    def loss(self, x, y):
        hidden = dropout(x, self.rate)  # expect: ML504
        return cross_entropy(self.head(hidden), y)
""",
            },
            changes=(("dropout(x, self.rate)", "dropout(x, self.rate, training=self.training)"),),
        ),
        Example(
            "Of whole channels",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return F.dropout2d(  # expect: ML504
            self.conv(x),
            0.2,
        )
""",
            },
            changes=(("            0.2,\n", "            0.2, training=self.training,\n"),),
        ),
    )
    good = (
        Example(
            "With `training`, or under a condition on it",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def forward(self, x, options):
        x = F.dropout(x, 0.1, self.training)
        x = F.dropout(x, 0.1, training=self.training)
        x = F.dropout(x, **options)
        if self.training:
            x = F.dropout(x, 0.1)
        rate = 0.1 if self.training else 0.0
        if rate > 0:
            x = F.dropout(x, rate)
        if not self.training:
            return x
        return F.dropout(x, 0.5)
""",
            },
        ),
        Example(
            "A rate that callers choose",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def attend(self, q, k, v, dropout_p=0.0):
        scores = (q @ k.transpose(-2, -1)).softmax(-1)
        return F.dropout(scores, p=dropout_p) @ v

    def forward(self, q, k, v):
        return self.attend(q, k, v, dropout_p=0.1 if self.training else 0.0)
""",
            },
        ),
        Example(
            "`alpha_dropout`, which is off unless it is told",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def forward(self, x):
        return F.alpha_dropout(x, 0.1)
""",
            },
        ),
        Example(
            "A perturbation that is meant",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Masked(nn.Module):
    def corrupt(self, x):
        return F.dropout(x, 0.3)

    def forward(self, x):
        # Monte Carlo dropout: also in evaluation
        x = F.dropout(x, 0.1)
        return self.corrupt(x)
""",
            },
        ),
        Example(
            "A layer, and another function by that name",
            {
                "model.py": """\
from torch import nn


def dropout(x, p):
    return x * p


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return dropout(self.dropout(x), 0.1)
""",
            },
        ),
        Example(
            "A function that is no layer's",
            {
                "noise.py": """\
import torch.nn.functional as F


def noisy(x, rate):
    return F.dropout(x, rate)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        if "dropout" not in module.text:
            return
        for cls in module.classes.values():
            if "dropout" not in cls.text or not project.classes.model(cls).is_module:
                continue
            for function in cls.methods.values():
                if "dropout" in function.text and not _WANTED.search(function.name):
                    for event in function.flow.of(EventKind.CALL):
                        if _is_always_on(event, function, project):
                            yield self._finding(function, event.value)

    def _finding(self, function: Function, call: Value) -> Finding:
        module = function.module
        owner = function.owner
        assert owner is not None
        is_loss = _LOSS.fullmatch(function.name) is not None or "loss" in owner.name.lower() or _makes_loss(function)
        return self.finding(
            module.place(call),
            "this dropout is always on: `eval()` does not turn it off",
            symbol=f"{function.qualname}.dropout",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if is_loss else None,
            evidence=("`training` of the function is true unless it is given",),
            help="pass `training=self.training`",
            fix=_fix(call, module),
        )


def _is_always_on(event: Event, function: Function, project: Project) -> bool:
    call = event.value
    definition = project.names.definition(function.module, call.callee)
    if not isinstance(definition, External) or definition.name not in _ALWAYS_ON:
        return False
    if call.has_unpacking or "training" in call.data or len(call.positional) > _ALWAYS_ON[definition.name]:
        return False
    rate = call.argument(1, "p")
    if rate is not None and any(part.op is Op.PARAM and part.data != "self" for part in rate.walk()):
        return False
    if rate is not None and rate.op is Op.CONST and rate.data in (0, 0.0):
        return False
    tests = [guard.test for guard in event.guard.chain()] if event.guard is not None else []
    if any(map(_asks_training, tests)) or (rate is not None and _asks_training(rate)):
        return False
    lines = function.module.source.lines[max(call.line - 3, 0) : call.end_line]
    comments = " ".join(line.partition("#")[2] for line in lines)
    return not _WANTED.search(comments)


def _asks_training(value: Value) -> bool:
    """Whether a condition or a number depends on `self.training`."""
    return any(
        self_attribute(part) == "training"
        or (part.op is Op.CHOICE and isinstance(part.data, Value) and self_attribute(part.data) == "training")
        for part in value.walk()
    )


def _makes_loss(function: Function) -> bool:
    """Whether a method gives nothing but a loss."""
    returned = [event.value for event in function.flow.of(EventKind.RETURN)]
    return bool(returned) and all("loss" in (value.target or "") for value in returned)


def _fix(call: Value, module: ModuleFacts) -> Fix | None:
    """`training=self.training` behind the last argument."""
    from modellint.edits.python import argument_place

    places = [argument_place(call, index, "", module) for index in range(len(call.positional))]
    places += [argument_place(call, 99, name, module) for name in call.keywords]
    known = [place.span for place in places if place is not None]
    if not known:
        return None
    end = max(known, key=lambda span: (span.end_line, span.end_column))
    spot = Place(module.path, Span(end.end_line, end.end_column, end.end_line, end.end_column))
    return Fix("Pass `training`", Applicability.SAFE, (Edit(spot, ", training=self.training"),))
