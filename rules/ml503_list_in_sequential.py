"""ML503: `nn.Sequential` of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import EventKind, Op
from modellint.link.names import External
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

_SEQUENTIAL = External("torch.nn.Sequential")


class ListInSequential(Rule):
    """A list of layers is given to `nn.Sequential` instead of the layers

    ## What it does
    Looks for `nn.Sequential(layers)` where `layers` is a list or a tuple: a display, a comprehension, or a name that
    holds one on every path.

    ## Why is this bad
    `TypeError: list is not a Module subclass` when the model is built.

    ## How to fix
    Unpack it: `nn.Sequential(*layers)`. `--fix` adds the star.

    ## Confirming
    Not run: torch's constructor refuses every list.

    ## References
    - [torch.nn.Sequential](https://pytorch.org/docs/stable/generated/torch.nn.Sequential.html)
    """

    code = "ML503"
    name = "list-in-sequential"
    severity = Severity.ERROR
    triggers = ("import|def",)
    bad = (
        Example(
            "A list",
            {
                "model.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            [  # expect: ML503
                nn.Linear(width, width),
                *[nn.Linear(width, width) for _ in range(3)],
            ]
        )

    def forward(self, x):
        return self.net(x)
""",
            },
            changes=(("            [  #", "            *[  #"),),
        ),
        Example(
            "A comprehension",
            {
                "model.py": """\
import torch.nn as nn

net = nn.Sequential([nn.Linear(3, 3) for _ in range(2)])  # expect: ML503
""",
            },
            changes=(("Sequential([", "Sequential(*["),),
        ),
        Example(
            "A name that holds a list",
            {
                "model.py": """\
from torch.nn import Linear, ReLU, Sequential


def build(width, depth, is_deep):
    layers = [Linear(width, width)]
    for _ in range(depth):
        layers.append(ReLU())
    if is_deep:
        layers += [Linear(width, width)]
    return Sequential(layers)  # expect: ML503
""",
            },
            changes=(("Sequential(layers)", "Sequential(*layers)"),),
        ),
        Example(
            "A tuple",
            {
                "model.py": """\
from torch import nn


def build(width):
    return nn.Sequential((nn.Linear(width, width), nn.ReLU()))  # expect: ML503
""",
            },
            changes=(("nn.Sequential((", "nn.Sequential(*("),),
        ),
    )
    good = (
        Example(
            "Layers, and a list that is unpacked",
            {
                "model.py": """\
from torch import nn

layers = [nn.Linear(3, 3), nn.ReLU()]
net = nn.Sequential(*layers)
other = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
""",
            },
        ),
        Example(
            "An ordered dictionary",
            {
                "model.py": """\
from collections import OrderedDict

from torch import nn


def build(width):
    blocks = OrderedDict()
    blocks["proj"] = nn.Linear(width, width)
    layers = OrderedDict([("act", nn.ReLU()), ("norm", nn.LayerNorm(width))])
    return nn.Sequential(nn.Sequential(blocks), nn.Sequential(layers))
""",
            },
        ),
        Example(
            "One module that a call returns, or an argument",
            {
                "model.py": """\
from torch import nn


def build(kind, layers):
    return nn.Sequential(nn.Sequential(make(kind)), nn.Sequential(layers))


def make(kind):
    return kind(3)
""",
            },
        ),
        Example(
            "A list on one way only",
            {
                "model.py": """\
from torch import nn


def build(layers, is_plain):
    found = [nn.ReLU()] if is_plain else layers
    return nn.Sequential(found)
""",
            },
        ),
        Example(
            "Another class by that name",
            {
                "model.py": """\
from torch import nn


class Sequential(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)


net = Sequential([nn.Linear(3, 3)])
""",
            },
        ),
        Example(
            "A list of modules for `ModuleList`",
            {
                "model.py": """\
from torch import nn

net = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])
pairs = nn.ModuleDict([["first", nn.Linear(3, 3)]])
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in (*module.all_functions(), module.body):
            for event in function.flow.of(EventKind.CALL):
                call = event.value
                if len(call.args) != 2 or call.data or not _is_list(call.args[1]):
                    continue
                if project.names.definition(module, call.callee) == _SEQUENTIAL and "TypeError" not in event.handled:
                    yield self._finding(function, call)

    def _finding(self, function: Function, call: Value) -> Finding:
        from modellint.edits.python import argument_place

        module, held = function.module, call.args[1]
        place = argument_place(call, 0, "", module) or module.place(call)
        made = module.place(held)
        spot = Place(module.path, Span(place.span.line, place.span.column, place.span.line, place.span.column))
        kind = "tuple" if held.op is Op.TUPLE else "list"
        return self.finding(
            place,
            f"`nn.Sequential` takes layers, not a {kind} of them",
            symbol=f"{function.qualname}.Sequential",
            confidence=Confidence.HIGH,
            evidence=(f"torch raises `TypeError: {kind} is not a Module subclass`",),
            related=(Related(made, f"the {kind} is made here"),) if made.span.line < place.span.line else (),
            help="unpack it with a star",
            fix=Fix("Unpack it", Applicability.SAFE, (Edit(spot, "*"),)),
        )


def _is_list(value: Value, depth: int = 0) -> bool:
    """Whether a value is a list or a tuple on every path, whatever was added to it."""
    if depth > 30:
        return False
    if value.op in (Op.LIST, Op.TUPLE):
        return True
    if value.op is Op.COMPREHENSION:
        return bool(value.data == "list")
    if value.op is Op.UPDATE:
        return _is_list(value.args[0], depth + 1)
    if value.op is Op.BIN and value.data == "+":
        return any(_is_list(part, depth + 1) for part in value.args)
    if value.op is Op.CHOICE:
        parts = value.args[:1] if value.data is None else value.args
        return bool(parts) and all(_is_list(part, depth + 1) for part in parts)
    return False
