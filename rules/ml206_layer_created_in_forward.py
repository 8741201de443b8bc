"""ML206: a layer with parameters that is made anew at each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import MadeAnew
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.creations import Creation
    from modellint.link.project import Project
    from modellint.probes import Probe


class LayerCreatedInForward(Rule):
    """A layer with parameters is created in `forward`

    ## What it does
    Looks for constructors of layers with parameters in `forward` and in the methods and functions that it calls,
    where the new layer is called in the same run and nothing keeps it for the next one.

    ## Why is this bad
    Each call makes a new layer with new weights. The optimizer, which got its parameters before, never sees them, and
    no checkpoint holds them: what the layer computes is random noise, in training and after it, and no error says so.

    ## How to fix
    Create the layer in `__init__` and call it in `forward`. Where its size is only known from the first input, use a
    lazy layer (`nn.LazyLinear`).

    ## References
    - [torch.nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    - [torch.nn.LazyLinear](https://pytorch.org/docs/stable/generated/torch.nn.LazyLinear.html)
    """

    code = "ML206"
    name = "layer-created-in-forward"
    severity = Severity.ERROR
    triggers = ("import|def",)
    bad = (
        Example(
            "A projection whose width is read from the input",
            {
                "model.py": """\
from torch import nn


class Pooler(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        proj = nn.Linear(x.size(-1), self.width)  # expect: ML206
        return proj(x.mean(dim=1))
""",
            },
        ),
        Example(
            "Created, moved to the device and called in one expression",
            {
                "model.py": """\
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, padding=1)

    def forward(self, x):
        x = self.conv(x)
        x, _ = nn.GRU(x.size(2), x.size(2), batch_first=True)(x)  # expect: ML206
        return nn.BatchNorm1d(x.size(1)).to(x.device)(x)  # expect: ML206
""",
            },
        ),
        Example(
            "Kept on self, but replaced at each call",
            {
                "model.py": """\
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width, n_classes):
        super().__init__()
        self.width = width
        self.n_classes = n_classes
        self.norm = nn.LayerNorm(width)

    def forward(self, x, return_hidden=False):
        hidden = self.norm(x)
        if return_hidden:
            return hidden
        self.head = nn.Linear(self.width, self.n_classes)  # expect: ML206
        return self.head(hidden)
""",
            },
        ),
        Example(
            "Created behind checks that say nothing of the layer",
            {
                "model.py": """\
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.width, self.rows = width, rows
        self.conv = nn.Conv1d(width, width, 3)
        self.keys = None

    def set_conv(self, conv):
        self.conv = conv

    def reset(self):
        self.keys = None

    def forward(self, memory, query):
        if memory.size(-1) != self.rows * self.conv.stride[0]:
            raise ValueError("unexpected length")
        if self.keys is None:
            self.keys = nn.Linear(self.width, self.width)(memory)  # expect: ML206
        return nn.Linear(self.width, self.width)(query) @ self.keys  # expect: ML206
""",
            },
        ),
        Example(
            "A stack of layers, built in a method that forward calls",
            {
                "model.py": """\
from torch import nn


class Upsampler(nn.Module):
    def __init__(self, scales):
        super().__init__()
        self.scales = scales

    def upsample(self, x):
        stages = []
        for scale in self.scales:
            stages.append(nn.ConvTranspose1d(x.size(1), x.size(1), 2 * scale, scale))  # expect: ML206
            stages.append(nn.ReLU())
        return nn.Sequential(*stages)(x)

    def forward(self, x):
        return self.upsample(x).tanh()
""",
            },
        ),
        Example(
            "A layer of the project, made by a function of another file",
            {
                "layers.py": """\
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return x * self.scale.sigmoid()


def make_gate(width, enabled):
    return Gate(width) if enabled else nn.Identity()  # expect: ML206
""",
                "model.py": """\
from torch import nn

from layers import make_gate


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        gate = make_gate(x.size(-1), True)
        return gate(self.proj(x))
""",
            },
        ),
        Example(
            "Decorators that document the method, or change what it is given, keep nothing",
            {
                "model.py": """\
from functools import wraps

from torch import nn


def documented(text):
    def inner(function):
        lines = function.__doc__.split("\\n")
        lines[0] = text
        function.__doc__ = "\\n".join(lines)
        return function

    return inner


def scaled(key):
    def inner(function):
        @wraps(function)
        def wrapper(self, *args, **kwargs):
            options = dict(kwargs.get(key) or {})
            kwargs[key] = options
            return function(self, *args, **kwargs)

        return wrapper

    return inner


class Classifier(nn.Module):
    def __init__(self, net, width, n_classes):
        super().__init__()
        self.net = net
        self.width = width
        self.n_classes = n_classes

    @documented("Scores of all classes.")
    @scaled("options")
    def forward(self, x, options=None):
        \"\"\"Scores.\"\"\"
        head = nn.Linear(self.width, self.n_classes)  # expect: ML206
        return head(self.net(x))
""",
            },
        ),
        Example(
            "A class that is kept and called later, and an object that builds",
            {
                "model.py": """\
from torch import nn


class Builder:
    def build(self, width):
        return nn.Linear(width, width)  # expect: ML206


class Mixer(nn.Module):
    norm_class = nn.LayerNorm

    def __init__(self, width, is_image):
        super().__init__()
        self.layer_class = nn.Conv2d if is_image else nn.Conv1d
        self.builder = Builder()

    def forward(self, x):
        x = self.norm_class(x.size(-1))(x)  # expect: ML206
        x = self.layer_class(x.size(1), x.size(1), 3)(x)  # expect: ML206
        layer = self.builder.build(x.size(-1))
        return layer(x)
""",
            },
        ),
        Example(
            "A layer of one's own, whose constructor checks what it is given",
            {
                "model.py": """\
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        if width % heads:
            raise ValueError("the heads must share the width")
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * x


class Block(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        return Scale(x.size(-1), self.heads)(x)  # expect: ML206
""",
            },
        ),
        Example(
            "In a method that the `forward` of another file calls",
            {
                "base.py": """\
from torch import nn


class Base(nn.Module):
    def forward(self, x):
        return self.classify(x.mean(dim=1))
""",
                "net.py": """\
from torch import nn

from base import Base


class Net(Base):
    def classify(self, x):
        return nn.Linear(x.size(-1), 10)(x)  # expect: ML206
""",
            },
        ),
    )
    good = (
        Example(
            "Kept after the first call",
            {
                "model.py": """\
from torch import nn


class Lazy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.proj = None
        self.built = False
        self.heads = nn.ModuleDict()

    def build(self, x):
        self.head = nn.Linear(x.size(-1), self.width)
        self.built = True

    def forward(self, x, task):
        if self.proj is None:
            self.proj = nn.Linear(x.size(-1), self.width)
        if not hasattr(self, "norm"):
            self.norm = nn.LayerNorm(self.width)
        if not self.built:
            self.build(x)
        if task not in self.heads:
            self.heads[task] = nn.Linear(self.width, self.width)
        return self.heads[task](self.norm(self.proj(x) + self.head(x)))
""",
            },
        ),
        Example(
            "A table that grows once, its rows taken over",
            {
                "model.py": """\
from torch import nn


class Buckets(nn.Module):
    def __init__(self, rows, heads, expand):
        super().__init__()
        self.rows, self.heads = rows, heads
        self.table = nn.Embedding(rows, heads)
        self.expand = expand

    def forward(self, ids):
        if self.expand:
            larger = nn.Embedding(self.rows + 2, self.heads)
            larger.weight.data[: self.rows] = self.table.weight.data
            self.table = larger
            self.expand = False
        return self.table(ids)
""",
            },
        ),
        Example(
            "A method that returns early once the layer is there",
            {
                "model.py": """\
from torch import nn


class Lazy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self._proj = None

    def proj_for(self, x):
        if self._proj is not None:
            return self._proj
        self._proj = nn.Linear(x.size(-1), self.width)
        return self._proj

    def forward(self, x):
        return self.proj_for(x)(x)
""",
            },
        ),
        Example(
            "Losses, activations, pooling and dropout have no parameters",
            {
                "model.py": """\
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width, n_classes, weight):
        super().__init__()
        self.head = nn.Linear(width, n_classes)
        self.weight = weight

    def forward(self, x, labels):
        x = nn.Dropout(0.1)(nn.GELU()(x))
        x = nn.AdaptiveAvgPool1d(1)(x).squeeze(-1)
        x = nn.LayerNorm(x.size(-1), elementwise_affine=False)(x)
        logits = self.head(x)
        return nn.CrossEntropyLoss(weight=self.weight)(logits, labels)
""",
            },
        ),
        Example(
            "A fixed filter whose weights are written",
            {
                "model.py": """\
import torch
from torch import nn


class Blur(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.register_buffer("kernel", kernel)

    def forward(self, x):
        blur = nn.Conv2d(x.size(1), x.size(1), 3, groups=x.size(1), bias=False)
        blur.weight.data = self.kernel.expand(x.size(1), 1, 3, 3)
        edges = nn.Conv2d(1, 1, 3, bias=False)
        with torch.no_grad():
            edges.weight.copy_(self.kernel)
        copy = nn.Linear(3, 3)
        copy.load_state_dict(self.saved)
        return edges(copy(blur(x)))
""",
            },
        ),
        Example(
            "Constructed once, by what the constructor calls",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([self.make_layer(width) for _ in range(n_layers)])

    def make_layer(self, width):
        return nn.Linear(width, width)

    def resize(self, width):
        self.layers[0] = nn.Linear(width, width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
            },
        ),
        Example(
            "A container of layers that are there already",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        return nn.Sequential(self.first, nn.ReLU(), self.second)(x)
""",
            },
        ),
        Example(
            "A table that is computed, and a layer with buffers only",
            {
                "model.py": """\
import torch
from torch import nn


class Sines(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("table", torch.arange(width).float().sin())
        self.scale = nn.Parameter(torch.ones(width), requires_grad=False)

    def forward(self, x):
        return x + self.table * self.scale


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(Sines(x.size(-1))(x))
""",
            },
        ),
        Example(
            "Trained within the call, or handed to somebody else",
            {
                "model.py": """\
import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, width, registry):
        super().__init__()
        self.width = width
        self.registry = registry

    def forward(self, x, target):
        probe = nn.Linear(self.width, 1)
        optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
        for _ in range(10):
            optimizer.zero_grad()
            (probe(x) - target).square().mean().backward()
            optimizer.step()
        other = nn.Linear(self.width, 1)
        self.registry.keep(other)
        return probe(x) + other(x)
""",
            },
        ),
        Example(
            "A decorator of the project's own that keeps the layer",
            {
                "model.py": """\
from functools import wraps

from torch import nn


def singleton(key):
    def inner(function):
        @wraps(function)
        def wrapper(self, *args):
            instance = getattr(self, key)
            if instance is None:
                instance = function(self, *args)
                setattr(self, key, instance)
            return instance

        return wrapper

    return inner


class Wrapper(nn.Module):
    def __init__(self, net, width):
        super().__init__()
        self.net = net
        self.width = width
        self.projector = None

    @singleton("projector")
    def make_projector(self, hidden):
        return nn.Linear(hidden.shape[-1], self.width).to(hidden)

    def forward(self, x):
        hidden = self.net(x)
        projector = self.make_projector(hidden)
        return projector(hidden)
""",
            },
        ),
        Example(
            "A decorator that keeps the layer in a table of the object",
            {
                "model.py": """\
from functools import wraps

from torch import nn


def kept(function):
    @wraps(function)
    def wrapper(self, *args, **kwargs):
        table = self.layers
        if args[0] not in table:
            table[function] = function(self, *args, **kwargs)
        return table[function]

    return wrapper


class Wrapper(nn.Module):
    def __init__(self, net, width):
        super().__init__()
        self.net = net
        self.width = width
        self.layers = {}

    @kept
    def make_projector(self, width):
        return nn.Linear(width, self.width)

    def forward(self, x):
        hidden = self.net(x)
        projector = self.make_projector(hidden.shape[-1])
        return projector(hidden)
""",
            },
        ),
        Example(
            "A layer for what failed before, and a result that is kept",
            {
                "model.py": """\
import functools

from torch import nn


@functools.lru_cache
def make_proj(width):
    return nn.Linear(width, width)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        try:
            norm = self.norm
        except AttributeError:
            norm = self.norm = nn.LayerNorm(self.width)
        return make_proj(self.width)(norm(x))
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for creation in project.creations.of(module):
            yield self._report(creation)

    def probe(self, claim: MadeAnew, project: Project) -> Probe | None:
        """Call the layer twice: what becomes of the parameters that the first call made?"""
        from modellint.probes import python_probe

        return python_probe(claim, project, claim.entry)

    def _report(self, creation: Creation) -> Finding:
        from modellint.claims.layers import MadeAnew

        module = creation.function.module
        shown = _shown(creation)
        entry = creation.entry
        owner = entry.owner.name if entry.owner is not None else entry.module.name
        related = [
            Related(
                step.function.module.place(step.value),
                f"`{step.function.name}` calls `{_name(step.value)}`",
            )
            for step in creation.route
        ]
        place = module.place(creation.call)
        called = related[0].place if related else place
        related.append(Related(creation.use.function.module.place(creation.use.value), "the new layer is used here"))
        confidence = Confidence.MEDIUM if creation.is_conditional else Confidence.HIGH
        return self.finding(
            place,
            f"`{shown}` is created anew at each call of `{owner}.{entry.name}`: its weights are never trained or saved",
            symbol=f"{owner}.{creation.attribute or shown.rpartition('.')[2]}",
            confidence=confidence if creation.is_certain else Confidence.LOW,
            evidence=tuple(_evidence(creation)),
            related=tuple(related),
            help="create the layer in `__init__`, and only call it here",
            claim=MadeAnew(place, called),
        )


def _evidence(creation: Creation) -> Iterator[str]:
    shown = _shown(creation)
    if creation.is_certain:
        yield f"`{shown}` has parameters, which start at random or at their defaults each time"
    else:
        yield f"`{shown}` has parameters unless its arguments say otherwise"
    if creation.attribute is None:
        yield "the new layer is gone when the call ends"
    else:
        yield f"`self.{creation.attribute}` is replaced without asking if there is one"
    if creation.is_conditional:
        yield "it is created whenever a condition on the arguments holds"


def _shown(creation: Creation) -> str:
    """What the layer's class is called where it is constructed, or by itself where that says nothing."""
    written = creation.function.module.text_of(creation.call.callee)
    name = creation.model.name.rpartition(".")[2]
    return written if written.rpartition(".")[2] == name else name


def _name(call: Value) -> str:
    return str(call.callee.data)
