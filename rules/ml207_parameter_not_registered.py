"""ML207: parameters that a module does not register."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.edits import python as python_edit
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import Op
from modellint.link.classes.parameters import Derived, Early, derived, early
from modellint.link.classes.registered import unregistered
from modellint.link.classes.wrapping import without_comma, wrapped
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import NotRegistered
    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.registered import Unregistered
    from modellint.link.project import Project
    from modellint.probes import Probe


class ParameterNotRegistered(Rule):
    """A parameter that is stored in a way which `nn.Module` does not register

    ## What it does
    Reports attributes that get the result of an operation on a new parameter (`nn.Parameter(…).to(device)`,
    `nn.Parameter(…) * 0.02`) rather than the parameter, parameters in plain lists, tuples and dicts that are
    registered in no other way, and layers or parameters that are assigned before the constructor of `nn.Module` has
    run.

    ## Why is this bad
    `nn.Module` registers attributes that *are* an `nn.Parameter`. What `.to(device)`, `.cuda()` or a product gives is a
    plain tensor: it looks and computes the same, but no optimizer updates it and no checkpoint holds it. With
    `.to(device)` this even depends on the machine: on the CPU, where there is nothing to move, the parameter comes
    back as it is. Before `nn.Module.__init__` a layer or a parameter cannot be assigned at all: `AttributeError: cannot
    assign module before Module.__init__() call`.

    ## How to fix
    Do the operation on the tensor: `nn.Parameter(torch.zeros(n, device=device))`,
    `nn.Parameter(0.02 * torch.randn(n))`. Keep several parameters in `nn.ParameterList` or `nn.ParameterDict`. Call
    `super().__init__()` first.

    ## References
    - [torch.nn.parameter.Parameter](https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)
    - [torch.nn.ParameterList](https://pytorch.org/docs/stable/generated/torch.nn.ParameterList.html)
    """

    code = "ML207"
    name = "parameter-not-registered"
    severity = Severity.ERROR
    triggers = ("class",)
    bad = (
        Example(
            "Moved and scaled after it became a parameter",
            {
                "model.py": """\
import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, length, width, device):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(length, width)).to(device)  # expect: ML207
        self.bias = nn.Parameter(torch.zeros(1, width), requires_grad=False).cuda()  # expect: ML207
        self.scale = nn.Parameter(torch.ones(width)) * 0.1  # expect: ML207
        self.shift = 0.5 * nn.Parameter(torch.rand(length) + torch.ones(length))  # expect: ML207

    def forward(self, x):
        return self.scale * torch.cat([self.tokens, x + self.bias]) + self.shift[:, None]
""",
            },
            changes=(
                (
                    "nn.Parameter(torch.randn(length, width)).to(device)",
                    "nn.Parameter(torch.randn(length, width).to(device))",
                ),
                (
                    "nn.Parameter(torch.zeros(1, width), requires_grad=False).cuda()",
                    "nn.Parameter(torch.zeros(1, width).cuda(), requires_grad=False)",
                ),
                ("nn.Parameter(torch.ones(width)) * 0.1", "nn.Parameter(torch.ones(width) * 0.1)"),
                (
                    "0.5 * nn.Parameter(torch.rand(length) + torch.ones(length))",
                    "nn.Parameter(0.5 * (torch.rand(length) + torch.ones(length)))",
                ),
            ),
        ),
        Example(
            "Through a local name",
            {
                "model.py": """\
import torch
from torch.nn import Module, Parameter


class Gate(Module):
    def __init__(self, width, half=False):
        super().__init__()
        weight = Parameter(torch.empty(width, width))
        torch.nn.init.xavier_uniform_(weight.data)
        if half:
            weight = weight.half()
        self.weight = weight  # expect: ML207

    def forward(self, x):
        return x @ self.weight
""",
            },
        ),
        Example(
            "A list, a dict and a tuple of parameters",
            {
                "model.py": """\
import torch
from torch import nn


class Scales(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.gains = [nn.Parameter(torch.ones(width)) for _ in range(depth)]  # expect: ML207
        self.biases = {}  # expect: ML207
        for name in ("low", "high"):
            self.biases[name] = nn.Parameter(torch.zeros(width))
        self.gamma = nn.Parameter(torch.ones(width)),  # expect: ML207

    def forward(self, x, name):
        for gain in self.gains:
            x = x * gain
        return x * self.gamma[0] + self.biases[name]
""",
            },
            changes=(
                (
                    "[nn.Parameter(torch.ones(width)) for _ in range(depth)]",
                    "nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(depth)])",
                ),
                ("{}", "nn.ParameterDict()"),
                ("nn.Parameter(torch.ones(width)),", "nn.Parameter(torch.ones(width))"),
            ),
        ),
        Example(
            "Before the constructor of the module",
            {
                "base.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
""",
                "model.py": """\
import torch
from torch import nn

from base import Base


class Model(Base):
    def __init__(self, width):
        self.depth = 3
        self.embed = nn.Linear(width, width)  # expect: ML207
        self.scale = nn.Parameter(torch.ones(width))  # expect: ML207
        super().__init__(width)

    def forward(self, x):
        return self.embed(x) * self.scale
""",
            },
        ),
    )
    good = (
        Example(
            "The operation is done to the tensor",
            {
                "model.py": """\
import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, length, width, device):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(length, width).to(device))
        self.scale = nn.Parameter(torch.ones(width) * 0.1)
        self.frozen = nn.Parameter(torch.ones(width)).requires_grad_(False)

    def forward(self, x):
        return self.scale * torch.cat([self.tokens, x]) * self.frozen
""",
            },
        ),
        Example(
            "The parameter itself is registered, and what is made of it is something else",
            {
                "model.py": """\
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width, device):
        super().__init__()
        weight = nn.Parameter(torch.ones(width))
        self.weight = weight
        self.start = weight.to(device)
        bias = nn.Parameter(torch.ones(width))
        self.register_parameter("bias", bias)
        self.initial_bias = bias * 2
        self.size = nn.Parameter(torch.ones(width)).numel()
        self.dtype = nn.Parameter(torch.ones(width)).dtype

    def forward(self, x):
        return x * self.weight - self.start + self.initial_bias + self.size
""",
            },
        ),
        Example(
            "The moved tensor becomes a parameter again",
            {
                "model.py": """\
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width, device):
        super().__init__()
        self.weight = nn.Parameter(nn.Parameter(torch.ones(width)).to(device))
        weight = nn.Parameter(torch.ones(width))
        self.other = weight.to(device)
        self.other = nn.Parameter(self.other)

    def forward(self, x):
        return x * self.weight * self.other
""",
            },
        ),
        Example(
            "Lists of parameters that are registered",
            {
                "model.py": """\
import torch
from torch import nn


class Scales(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.gains = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(depth)])
        self.biases = []
        for number in range(depth):
            bias = nn.Parameter(torch.zeros(width))
            self.register_parameter(f"bias{number}", bias)
            self.biases.append(bias)
        self.first = nn.Parameter(torch.zeros(width))
        self.second = nn.Parameter(torch.zeros(width))
        self.both = [self.first, self.second]

    def forward(self, x):
        for gain, bias, other in zip(self.gains, self.biases, self.both):
            x = x * gain + bias + other
        return x
""",
            },
        ),
        Example(
            "Whoever is no module may keep tensors",
            {
                "optimize.py": """\
import torch
from torch import nn


class Attack:
    def __init__(self, shape, device):
        self.delta = nn.Parameter(torch.zeros(shape)).to(device)
        self.deltas = [nn.Parameter(torch.zeros(shape))]
        self.layer = nn.Linear(3, 3)
        super().__init__()

    def step(self, x):
        return self.layer(x + self.delta + self.deltas[0])
""",
            },
        ),
        Example(
            "Numbers before the constructor, and layers once it has run",
            {
                "model.py": """\
import torch
from torch import nn


class Mixin:
    def __init__(self, width):
        self.width = width


class Model(Mixin, nn.Module):
    def __init__(self, width):
        self.sizes = [width, width]
        self.kind = nn.Linear
        nn.Module.__init__(self)
        self.embed = nn.Linear(width, width)
        Mixin.__init__(self, width)

    def forward(self, x):
        return self.embed(x)
""",
            },
        ),
        Example(
            "Initialised by a method that is called first, or by a class that makes its objects itself",
            {
                "model.py": """\
from torch import nn


class Lazy(nn.Module):
    def __init__(self, width):
        self.prepare()
        self.embed = nn.Linear(width, width)
        super(Lazy, self).extra_repr()

    def prepare(self):
        nn.Module.__init__(self)

    def forward(self, x):
        return self.embed(x)


class Ready(nn.Module):
    def __new__(cls, *args):
        made = super().__new__(cls)
        nn.Module.__init__(made)
        return made

    def __init__(self, width):
        self.embed = nn.Linear(width, width)
        super().__init__()

    def forward(self, x):
        return self.embed(x)
""",
            },
        ),
        Example(
            "A file that is never run: another one is generated from it, in which the constructor comes first",
            {
                "modular_model.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width


class Model(Base):
    def __init__(self, width):
        self.embed = nn.Linear(width, width)
        super().__init__(width)

    def forward(self, x):
        return self.embed(x)
""",
                "modeling_model.py": """\
# This file was generated from modular_model.py. Do not edit it.
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.embed = nn.Linear(width, width)

    def forward(self, x):
        return self.embed(x)
""",
            },
        ),
        Example(
            "One branch calls the constructor, the other one assigns",
            {
                "model.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self, width, base=None):
        if base is None:
            super().__init__()
            self.embed = nn.Linear(width, width)
        else:
            nn.Module.__init__(self)
            self.embed = base

    def forward(self, x):
        return self.embed(x)
""",
            },
        ),
        Example(
            "A conversion that changes nothing where parameters are made as usual",
            {
                "model.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width)).float()

    def forward(self, x):
        return self.weight * x
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for tensor in derived(module, project):
            yield self._derived(tensor)
        for first in early(module, project):
            yield self._early(first)
        for found in unregistered(module, project):
            if found.parameters and not found.layers:
                yield self._contained(found)

    def probe(self, claim: NotRegistered, project: Project) -> Probe | None:
        """Build the class, and look for what the attribute holds in `parameters()` and `state_dict()`."""
        from modellint.probes import file_probe

        return file_probe(claim, claim.owner)

    def _derived(self, found: Derived) -> Finding:
        from modellint.claims.layers import NotRegistered

        place = found.function.module.place(found.target)
        if found.is_rare:
            confidence = Confidence.LOW
        else:
            confidence = Confidence.HIGH if found.is_certain and found.use is not None else Confidence.MEDIUM
        related = [Related(found.maker.module.place(found.call), "the parameter is made here")]
        if found.use is not None:
            related.append(Related(found.use.function.module.place(found.use.value), "used here"))
        return self.finding(
            place,
            f"{found.operation} makes a plain tensor of the parameter: `self.{found.attribute}` is not registered",
            symbol=f"{found.cls.name}.{found.attribute}",
            confidence=confidence,
            evidence=(
                "`nn.Module` registers what is an `nn.Parameter` itself; the result of an operation on one is a tensor "
                "that no optimizer updates and no checkpoint holds",
            ),
            related=related,
            help="apply it to the tensor inside `nn.Parameter(…)`",
            fix=_moved_inside(found),
            claim=None if found.is_rare else NotRegistered(place, found.cls.qualname, found.attribute),
        )

    def _early(self, found: Early) -> Finding:
        from modellint.claims.layers import NotRegistered

        module = found.function.module
        place = module.place(found.target)
        kind, refused = ("layer", "module") if found.is_layer else ("parameter", "parameters")
        return self.finding(
            place,
            f"`self.{found.attribute}` is a {kind}, assigned before `nn.Module.__init__` has run",
            symbol=f"{found.cls.name}.{found.attribute}",
            confidence=Confidence.HIGH if found.is_certain else Confidence.MEDIUM,
            evidence=(f"torch raises `AttributeError: cannot assign {refused} before Module.__init__() call`",),
            related=(Related(module.place(found.later), "the base's constructor is called here"),),
            help="call `super().__init__()` first",
            claim=NotRegistered(place, found.cls.qualname, found.attribute),
        )

    def _contained(self, found: Unregistered) -> Finding:
        kept = found.kept
        module = kept.function.module
        if found.is_accident:
            message = f"the comma makes `self.{kept.attribute}` a tuple: the parameter in it is not registered"
            help = "drop the comma"
        else:
            message = f"`self.{kept.attribute}` is a plain {kept.kind}: the parameters in it are not registered"
            help = f"use `nn.Parameter{'Dict' if kept.kind == 'dict' else 'List'}`"
        return self.finding(
            module.place(kept.target),
            message,
            symbol=f"{found.cls.name}.{kept.attribute}",
            confidence=found.confidence,
            evidence=found.evidence,
            related=found.related,
            help=help,
            fix=without_comma(kept) if found.is_accident else wrapped(found, "Parameter"),
            claim=found.claim,
        )


def _moved_inside(found: Derived) -> Fix | None:
    """The operation on the parameter, done to the tensor that it is made from."""
    module = found.function.module
    value, call = found.value, found.call
    if found.maker is not found.function:
        return None
    tensor = python_edit.argument_place(call, 0, "data", module)
    outer, inner = module.place(value), module.place(call)
    if tensor is None or outer == inner or outer.span.line > inner.span.line or value.op is Op.UNARY:
        return None
    before = python_edit.text_at(Place(module.path, _between(outer.span, inner.span)), module)
    behind = python_edit.text_at(Place(module.path, _behind(outer.span, inner.span)), module)
    text = python_edit.text_at(tensor, module)
    made = python_edit.text_at(inner, module)
    if made not in python_edit.text_at(outer, module) or before.count("(") != before.count(")"):
        return None
    changed = f"{before}{text if python_edit.is_atom(text) else f'({text})'}{behind}"
    at = python_edit.text_at(Place(module.path, _between(inner.span, tensor.span)), module)
    rest = python_edit.text_at(Place(module.path, _behind(inner.span, tensor.span)), module)
    is_conversion = not before and behind.lstrip().startswith(".")
    applicability = Applicability.SAFE if is_conversion else Applicability.UNSAFE
    return Fix("Apply it to the tensor inside", applicability, (Edit(outer, f"{at}{changed}{rest}"),))


def _between(outer: Span, inner: Span) -> Span:
    return Span(outer.line, outer.column, inner.line, inner.column)


def _behind(outer: Span, inner: Span) -> Span:
    return Span(inner.end_line, inner.end_column, outer.end_line, outer.end_column)
