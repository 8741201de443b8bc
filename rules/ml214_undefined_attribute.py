"""ML214: an attribute of a layer that is read, and that nothing sets."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import EventKind, Op
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.attributes import Undefined
    from modellint.link.project import Project

_BASE = """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.proj = nn.Linear(width, width)

    def scale(self, x):
        return x / self.width
"""


class UndefinedAttribute(Rule):
    """A layer reads an attribute of itself that nothing sets

    ## What it does
    Looks in layers for `self.x` that no class of the hierarchy sets, defines or registers, in the bases, in
    subclasses, or in what stands beside them in a subclass, and that nothing in the project sets from outside. Speaks
    only where all bases can be read.

    An error on the way that each call takes; a warning under a condition, in `__repr__` and in messages of errors; an
    info in methods that nothing calls.

    ## Why is this bad
    `AttributeError: 'Model' object has no attribute 'x'` when the line is reached: a misspelt name, a method that was
    copied from another class, an argument that was never kept, or a method that the base no longer has.

    ## How to fix
    Read the attribute that is meant, or set it in the constructor. `--unsafe-fixes` takes the name that is written
    alike.

    ## What it cannot see
    Attributes that are set on one way through the constructor only; classes with a base that cannot be read, with
    `__getattr__`, or whose attributes come from `setattr` with computed names.

    ## Confirming
    Not run: that no code sets the attribute is a fact about the whole project, which building one object does not show.

    ## References
    - [torch.nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "ML214"
    name = "undefined-attribute"
    severity = Severity.ERROR
    triggers = ("class",)
    bad = (
        Example(
            "A misspelt name, and a parameter that was not kept",
            {
                "rotary.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width, base, layers):
        super().__init__()
        wavelengths = base ** (torch.arange(0, width, 2) / width)
        self.register_buffer("wavelengths", wavelengths)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(self.layers))  # expect: ML214

    def forward(self, x):
        for block in self.blocks:
            x = block(x, scale=1 / self.wavelength)  # expect: ML214
        return x
""",
            },
            changes=(("/ self.wavelength)", "/ self.wavelengths)"),),
        ),
        Example(
            "A method that the base no longer has",
            {
                "base.py": _BASE,
                "model.py": """\
from base import Base


class Model(Base):
    def forward(self, src, tgt):
        src_mask, tgt_mask = self.make_masks(src, tgt)  # expect: ML214
        return self.scale(self.proj(src * src_mask))


class Small(Model):
    def forward(self, src, tgt):
        self.half = src / 2
        return super().forward(self.half, tgt)
""",
            },
        ),
        Example(
            "A method that was copied from another class, and what only prints",
            {
                "model.py": """\
from torch import nn


class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in widths)

    def penalty(self, factor):
        return factor * sum(layer.weight.abs().sum() for layer in self.layers)


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3)

    def penalty(self, factor):
        return factor * sum(layer.weight.abs().sum() for layer in self.layers)  # expect: ML214

    def forward(self, x):
        if x.dim() != 3:
            raise ValueError(f"expected {self.channels_axis} dimensions")  # expect: ML214
        return self.conv(x)

    def extra_repr(self):
        return f"width={self.in_channels}"  # expect: ML214
""",
            },
        ),
        Example(
            "Another object's attribute by the same name",
            {
                "model.py": """\
from torch import nn


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.proj = nn.Linear(config.width, config.width)
        self.depth = config.depth

    def forward(self, x):
        steps = 0
        while steps < self.depth:
            x = self.proj(x)
            if self.config.chunk:
                steps += self.chunk  # expect: ML214
        try:
            return x * self.gain  # expect: ML214
        except AttributeError:
            return x


def prepare(config, chunk):
    config.chunk = chunk
    return Block(config)
""",
            },
        ),
    )
    good = (
        Example(
            "What bases have: torch's, and the project's",
            {
                "base.py": _BASE,
                "model.py": """\
from torch import nn

from base import Base


class Scaled(nn.Linear):
    def forward(self, x):
        y = nn.functional.linear(x, self.weight, self.bias)
        return y * self.in_features if self.training else y


class Conv(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, self.weight * self.groups, self.bias)


class Model(Base):
    limit: float = 1.0
    names = ("a", "b")

    class Config:
        depth = 2

    @property
    def half(self):
        return self.width // 2

    def forward(self, x):
        parameters = list(self.parameters())
        return self.scale(self.proj(x)) * self.half * self.limit * self.Config.depth * len(self.names)
""",
            },
        ),
        Example(
            "An abstract base whose subclasses set it, and a mixin whose users do",
            {
                "base.py": """\
from torch import nn


class Encoder(nn.Module):
    def forward(self, x):
        return self.head(self.embed(x))


class Frozen(nn.Module):
    def freeze(self):
        for parameter in self.backbone.parameters():
            parameter.requires_grad = False
""",
                "model.py": """\
from torch import nn

from base import Encoder, Frozen


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(3, 3)


class Model(Frozen, Backbone):
    pass


class Small(Encoder):
    def __init__(self):
        super().__init__()
        self.head, (self.embed, _) = nn.Linear(3, 3), (nn.Embedding(3, 3), None)
""",
            },
        ),
        Example(
            "Registered or set by name",
            {
                "model.py": """\
import torch
from torch import nn


def register(module, name, value):
    module.register_buffer(name, value, persistent=False)


class Tables(nn.Module):
    def __init__(self, betas):
        super().__init__()
        register(self, "betas", betas)

    def forward(self, x):
        return x * self.betas


class Loops(nn.Module):
    def __init__(self, options):
        super().__init__()
        for name, value in options.items():
            setattr(self, name, value)

    def forward(self, x):
        return x * self.gain


class Numbered(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(2):
            self.add_module(f"conv{i}", nn.Conv1d(3, 3, 1))

    def forward(self, x):
        return self.conv1(self.conv0(x))


class Updated(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.__dict__.update(options)

    def forward(self, x):
        return x * self.gain
""",
            },
        ),
        Example(
            "Set from outside",
            {
                "model.py": """\
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return x * self.depth_scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        for index, block in enumerate(self.blocks):
            block.depth_scale = 1 / (index + 1)


class Head(nn.Module):
    def forward(self, x):
        return self.norm(x) * self.gain + self.shift
""",
                "train.py": """\
import torch
from torch import nn

from model import Head


def build(width):
    model = Head()
    model.norm = nn.LayerNorm(width)
    setattr(model, "shift", 1)
    model.register_buffer("gain", torch.ones(width))
    return model
""",
            },
        ),
        Example(
            "A base that cannot be read, and one that is another class by the same name",
            {
                "model.py": """\
import pytorch_lightning as pl
from torch import nn

try:
    from fast import Module
except ImportError:
    from torch.nn import Module


class Trained(pl.LightningModule):
    def training_step(self, batch, index):
        self.log("loss", self.trainer.current_epoch)
        return self.hparams.width


class Fast(Module):
    def forward(self, x):
        return self.fused(x)


class Parsed(nn.Module):
    def __getattr__(self, name):
        return name

    def forward(self, x):
        return self.anything
""",
                "fast.py": """\
class Module:
    def fused(self, x):
        return x
""",
            },
        ),
        Example(
            "Asked for first, set in the first call, or set by an unbound constructor",
            {
                "model.py": """\
from torch import nn


class Cached(nn.Module):
    def forward(self, x):
        if not hasattr(self, "cache"):
            self.reset(x)
        bias = getattr(self, "bias", None)
        return x + self.cache if bias is None else x + self.bias

    def reset(self, x):
        for self.step in range(3):
            self.cache = x * self.step


class Plain:
    def __init__(self, width):
        self.width = width


class Both(nn.Module):
    def __init__(self, width):
        nn.Module.__init__(self)
        Plain.__init__(self, width)

    def forward(self, x):
        # self.nothing(x) was here
        return x / self.width
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.classes.attributes import undefined

        seen: set[tuple[str, str]] = set()
        for found in undefined(module, project):
            if (found.cls.qualname, found.name) not in seen:
                seen.add((found.cls.qualname, found.name))
                yield self._finding(found, project)

    def _finding(self, found: Undefined, project: Project) -> Finding:
        module, name, cls = found.function.module, found.name, found.cls
        near = get_close_matches(name, [one for one in found.known if one != name], n=1, cutoff=0.8)
        constructor = cls.methods.get("__init__")
        is_argument = constructor is not None and constructor.parameter(name) is not None
        evidence = [f"no class of the hierarchy of `{cls.name}` sets it, and nothing outside does"]
        if near:
            evidence.append(f"there is `{near[0]}`")
        if is_argument:
            evidence.append(f"the constructor takes `{name}`, and does not keep it")
        place = module.place(found.value)
        return self.finding(
            place,
            f"`self.{name}` is read, and nothing sets it",
            symbol=f"{cls.name}.{name}",
            confidence=Confidence.HIGH,
            severity=_severity(found, project),
            evidence=evidence,
            related=(Related(cls.place, "the class"),),
            help=f"did you mean `self.{near[0]}`?" if near else "set it in the constructor, or read what is meant",
            fix=_renamed(place, name, near[0]) if near else None,
        )


def _severity(found: Undefined, project: Project) -> Severity:
    from modellint.link.classes.attributes import is_called, is_named_elsewhere

    function = found.function
    is_entered = function.name in ("__init__", "forward")
    if not is_entered and not (is_called(function, project) and is_named_elsewhere(found.cls, project)):
        return Severity.INFO
    is_message = any(
        event.kind is EventKind.RAISE and any(part is found.value for part in event.value.walk())
        for event in function.flow.events
    )
    prints = function.name in ("__repr__", "__str__", "extra_repr")
    if is_message or prints or found.event.guard is not None or found.value.op is not Op.ATTR:
        return Severity.WARNING
    return Severity.ERROR


def _renamed(place: Place, name: str, near: str) -> Fix:
    span = place.span
    start = Span(span.end_line, span.end_column - len(name), span.end_line, span.end_column)
    return Fix(f"Read `self.{near}`", Applicability.UNSAFE, (Edit(Place(place.path, start), near),))
