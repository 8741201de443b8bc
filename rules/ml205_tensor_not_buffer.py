"""ML205: a tensor that stays behind when its layer moves to another device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.edits.python import assigned, text_at
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.link.classes.stranded import stranded
from modellint.rule import Example, Rule
from modellint.source import Place, Span, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import LeftBehind
    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.stranded import Stranded
    from modellint.link.project import Project
    from modellint.probes import Probe


class TensorNotBuffer(Rule):
    """A tensor attribute is no buffer

    ## What it does
    Looks for tensors that a layer makes in `__init__` and keeps as plain attributes, where `forward` calculates with
    them and its input (or with parameters), and nothing ever moves them: no `.to(…)`, no `type_as`, no `device=`.

    ## Why is this bad
    `model.to("cuda")` moves parameters and buffers, nothing else. The tensor stays on the CPU, and the first batch on
    a GPU fails with `Expected all tensors to be on the same device`. The state dict does not hold it either.

    ## How to fix
    Register it: `self.register_buffer("window", window)`; with `persistent=False` the state dict stays as it is.

    ## References
    - [torch.nn.Module.register_buffer](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer)
    """

    code = "ML205"
    name = "tensor-not-buffer"
    severity = Severity.WARNING
    triggers = ("class",)
    bad = (
        Example(
            "A table of sines that is added to the input",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, length=1000):
        super().__init__()
        steps = torch.arange(length).unsqueeze(1)
        rates = torch.exp(torch.arange(0, width, 2) * (-9.2 / width))
        table = torch.zeros(length, width)
        table[:, 0::2] = torch.sin(steps * rates)
        table[:, 1::2] = torch.cos(steps * rates)
        self.table = table.unsqueeze(0)  # expect: ML205

    def forward(self, x):
        return x + self.table[:, : x.size(1)]
""",
            },
            changes=(
                (
                    "self.table = table.unsqueeze(0)",
                    'self.register_buffer("table", table.unsqueeze(0), persistent=False)',
                ),
            ),
        ),
        Example(
            "A filter for a convolution, and a window",
            {
                "model.py": """\
import torch
import torch.nn.functional as F
from torch import nn


class Smooth(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.kernel = torch.ones(1, 1, size) / size  # expect: ML205
        self.window = torch.hann_window(size)  # expect: ML205
        self.size = size

    def forward(self, wave):
        smooth = F.conv1d(wave, self.kernel)
        return torch.stft(smooth.squeeze(1), self.size, window=self.window, return_complex=True)
""",
            },
            changes=(
                (
                    "self.kernel = torch.ones(1, 1, size) / size",
                    'self.register_buffer("kernel", torch.ones(1, 1, size) / size, persistent=False)',
                ),
                (
                    "self.window = torch.hann_window(size)",
                    'self.register_buffer("window", torch.hann_window(size), persistent=False)',
                ),
            ),
        ),
        Example(
            "Statistics that a method subtracts from what forward gives it",
            {
                "model.py": """\
import torch
from torch import nn


class Normalise(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)  # expect: ML205
        self.proj = nn.Conv2d(3, 8, 3)

    def normalise(self, image: torch.Tensor):
        return image - self.mean

    def forward(self, image):
        return self.proj(self.normalise(image))
""",
            },
            changes=(
                ("self.mean = torch.tensor(", 'self.register_buffer("mean", torch.tensor('),
                (".view(1, 3, 1, 1)", ".view(1, 3, 1, 1), persistent=False)"),
            ),
        ),
        Example(
            "A table that a method of the class makes, indexed by ids of the input",
            {
                "model.py": """\
import torch
from torch import nn


class Steps(nn.Module):
    def __init__(self, n_steps):
        super().__init__()
        self.scales = self.make_scales(n_steps)  # expect: ML205

    def make_scales(self, n_steps):
        return torch.cumprod(1 - torch.linspace(1e-4, 0.02, n_steps), dim=0)

    def forward(self, x, step):
        return x * self.scales[step].view(-1, 1, 1)
""",
            },
            changes=(
                (
                    "self.scales = self.make_scales(n_steps)",
                    'self.register_buffer("scales", self.make_scales(n_steps), persistent=False)',
                ),
            ),
        ),
        Example(
            "Frequencies that a parameter is multiplied by",
            {
                "model.py": """\
import torch
from torch import nn


class Fourier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.frequencies = 2.0 ** torch.arange(width)  # expect: ML205
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self):
        return self.weight * self.frequencies
""",
            },
            changes=(
                (
                    "self.frequencies = 2.0 ** torch.arange(width)",
                    'self.register_buffer("frequencies", 2.0 ** torch.arange(width), persistent=False)',
                ),
            ),
        ),
        Example(
            "What a method takes in place of a mask where nothing is trained",
            {
                "model.py": """\
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.whole = torch.tensor([1.0])  # expect: ML205

    def mask(self, x):
        if self.training:
            mask = torch.rand_like(x)
        else:
            mask = self.whole
        return mask

    def forward(self, x):
        return self.proj(x) * self.mask(x)
""",
            },
            changes=(
                (
                    "self.whole = torch.tensor([1.0])",
                    'self.register_buffer("whole", torch.tensor([1.0]), persistent=False)',
                ),
            ),
        ),
        Example(
            "A list of tables, one for each level",
            {
                "model.py": """\
import torch
from torch import nn


class Levels(nn.Module):
    def __init__(self, width, levels=3):
        super().__init__()
        self.tables = [torch.ones(width) for _ in range(levels)]  # expect: ML205

    def forward(self, x):
        for table in self.tables:
            x = x * table
        return x
""",
            },
        ),
        Example(
            "Made and used by methods that the constructor and the `forward` of another file call",
            {
                "base.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.build()

    def forward(self, x):
        return self.mix(x)
""",
                "net.py": """\
import torch

from base import Base


class Net(Base):
    def build(self):
        self.scale = torch.linspace(0.0, 1.0, 8)  # expect: ML205

    def mix(self, x):
        return x * self.scale
""",
            },
            changes=(
                (
                    "self.scale = torch.linspace(0.0, 1.0, 8)",
                    'self.register_buffer("scale", torch.linspace(0.0, 1.0, 8), persistent=False)',
                ),
            ),
        ),
    )
    good = (
        Example(
            "Buffers and parameters, registered in any way",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.register_buffer("table", torch.zeros(length, width))
        self.steps = nn.Buffer(torch.arange(length))
        self.scale = nn.Parameter(torch.ones(width))
        self.offset = None
        self.register_buffer("offset", torch.ones(width))
        for name in ("a", "b"):
            self.register_buffer(name, torch.ones(width))

    def forward(self, x):
        return (x + self.table + self.offset) * self.scale * self.steps + self.a + self.b
""",
            },
        ),
        Example(
            "Moved wherever it is used",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = torch.zeros(length, width)
        self.window = torch.ones(width)
        self.bias = torch.ones(width)

    def forward(self, x):
        x = x + self.table[: x.size(1)].to(x.device)
        window = self.window.type_as(x)
        bias = torch.as_tensor(self.bias, device=x.device)
        return x * window + bias
""",
            },
        ),
        Example(
            "Kept on the device of the input",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = torch.zeros(length, width)

    def forward(self, x):
        if self.table.device != x.device:
            self.table = self.table.to(x.device)
        return x + self.table
""",
            },
        ),
        Example(
            "Numbers, which may stay where they are",
            {
                "model.py": """\
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.sqrt(torch.tensor(width).float())
        self.total = torch.arange(width).sum()
        self.rates = torch.linspace(0, 1, 12).tolist()
        self.drop = [rate.item() for rate in torch.linspace(0, 1, 12)]

    def forward(self, x):
        return x / self.scale * self.total * self.rates[0] + self.drop[1]
""",
            },
        ),
        Example(
            "Used as an index, and in Python's own arithmetic",
            {
                "model.py": """\
import torch
from torch import nn


class Bias(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        coords = torch.arange(size)
        self.index = (coords[:, None] - coords[None, :] + size - 1).view(-1)
        self.rates = torch.linspace(0, 0.1, size)
        self.table = nn.Parameter(torch.zeros(2 * size - 1, heads))

    def forward(self, x):
        x = x + self.table[self.index].sum()
        return x * float(self.rates[0]) if int(self.index[0]) else x
""",
            },
        ),
        Example(
            "A schedule of which a number picks one value",
            {
                "model.py": '''\
import torch
from torch import nn


class Diffuser(nn.Module):
    def __init__(self, steps=1000):
        super().__init__()
        self.alphas = torch.linspace(0.1, 0.9, steps)
        self.betas = torch.linspace(0.9, 0.1, steps)

    def forward(self, x, t):
        """Mixes noise in.

        Args:
            x (torch.Tensor): the input
            t (int): the step
        """
        return self.alphas[t] * x + torch.randn_like(x)

    def back(self, x, step: int):
        return x - self.betas[step]
''',
            },
        ),
        Example(
            "A class that moves its attributes itself",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = torch.zeros(length, width)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.table = fn(self.table)
        return self

    def forward(self, x):
        return x + self.table
""",
            },
        ),
        Example(
            "Registered by a class that inherits it, or by a base",
            {
                "model.py": """\
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.zeros(width)

    def forward(self, x):
        return x + self.table


class Derived(Base):
    def __init__(self, width):
        super().__init__(width)
        del self.table
        self.register_buffer("table", torch.ones(width))
""",
            },
        ),
        Example(
            "Made anew before it is used, and set from outside",
            {
                "model.py": """\
import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.state = torch.zeros(width)
        self.mask = torch.ones(width)

    def reset(self, x):
        self.state = x.new_zeros(self.width)

    def forward(self, x):
        self.reset(x)
        return x + self.state * self.mask


def prepare(model: Cache, mask):
    model.mask = mask
    return model
""",
            },
        ),
        Example(
            "Not a layer, and arrays that are no tensors",
            {
                "model.py": """\
import numpy as np
import torch
from torch import nn


class Collate:
    def __init__(self, width):
        self.table = torch.zeros(width)

    def forward(self, x):
        return x + self.table


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rates = np.linspace(0, 1, width)
        self.tables = [torch.zeros(width)]

    def forward(self, x):
        return x * self.rates[0] + self.tables[0].to(x)
""",
            },
        ),
        Example(
            "Made on the device that the caller names",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width, device):
        super().__init__()
        self.table = torch.zeros(length, width, device=device)
        self.steps = torch.arange(length).to(device)

    def forward(self, x):
        return x + self.table[self.steps] * self.steps
""",
            },
        ),
        Example(
            "Made on the device that a context names",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, device):
        super().__init__()
        with torch.device(device):
            self.table = torch.zeros(width)

    def forward(self, x):
        return x + self.table
""",
            },
        ),
        Example(
            "Moved, or its partner, where they are on two devices",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.zeros(width)
        self.rates = torch.ones(width)

    def forward(self, x):
        table = self.table
        if table.is_cuda != x.is_cuda:
            table = table.to(x.device)
        rates = self.rates
        ids = x.argmax(-1)
        if ids.device != rates.device:
            ids = ids.to(rates.device)
        return x + table, rates[ids]
""",
            },
        ),
        Example(
            "Other tensors are moved to where it is",
            {
                "model.py": """\
import torch
from torch import nn


class Lookup(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.codes = torch.arange(rows)

    def forward(self, ids):
        return self.codes[ids.to(self.codes.device)]
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for found in stranded(module, project):
            yield self._report(found)

    def probe(self, claim: LeftBehind, project: Project) -> Probe | None:
        """Move the layer to a device that is not there, and call it: does its tensor meet what has moved?"""
        from modellint.probes import file_probe

        return file_probe(claim, claim.owner)

    def _report(self, found: Stranded) -> Finding:
        from modellint.claims.layers import LeftBehind

        module = found.function.module
        name, met = found.attribute, found.met
        other = "a tensor that has" if met.other is None else f"`{_short(met.function.module.text_of(met.other))}`"
        return self.finding(
            module.place(found.target),
            f"`self.{name}` is a plain tensor: when the layer moves it stays behind, and cannot be used with {other}",
            symbol=f"{found.cls.name}.{name}",
            confidence=Confidence.MEDIUM if found.is_certain else Confidence.LOW,
            evidence=tuple(_evidence(found)),
            related=tuple(_related(found)),
            help=f'register it: `self.register_buffer("{name}", …)`',
            fix=_registered(found),
            claim=LeftBehind(
                module.place(found.target), found.cls.qualname, name, met.function.module.place(met.value)
            ),
        )


def _related(found: Stranded) -> Iterator[Related]:
    met, made = found.met, found.made
    yield Related(met.function.module.place(met.value), f"`{met.function.name}` uses it here")
    if made.function is not None:
        yield Related(made.function.module.place(made.maker), "the tensor is made here")


def _evidence(found: Stranded) -> Iterator[str]:
    made = found.made
    if made.function is not None:
        maker = made.function.module.text_of(made.maker.callee)
        yield f"`{maker}` makes a tensor on the default device, and `.to()` of a layer moves only what is registered"
    users = dict.fromkeys(f"`{meeting.function.name}`" for meeting in found.meetings)
    yield f"{', '.join(users)} calculates with it and what is on the layer's device; nothing moves it there"
    if not found.is_certain:
        yield "a condition or a device given by the caller may change that"


def _registered(found: Stranded) -> Fix | None:
    """Register the tensor in place of the assignment; the state dict stays as it is."""
    module, target = found.function.module, found.target
    stored = assigned(target, module)
    if stored is None or not found.can_register:
        return None
    _, written = stored
    start, end = module.span(target), written.span
    if plain_text(text_at(Place(module.path, _between(start, end)), module)).strip() != "=":
        return None  # an annotation or a parenthesis stands between
    whole = Place(module.path, Span(start.line, start.column, end.end_line, end.end_column))
    call = f'self.register_buffer("{found.attribute}", {text_at(written, module)}, persistent=False)'
    return Fix(f"Register `{found.attribute}` as a buffer", Applicability.SAFE, (Edit(whole, call),))


def _between(first: Span, second: Span) -> Span:
    return Span(first.end_line, first.end_column, second.line, second.column)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
