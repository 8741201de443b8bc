"""ML213: a trainable layer that is kept and never used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.unused import Unused
    from modellint.link.project import Project


class LayerNeverUsed(Rule):
    """A layer with parameters is kept on a model, and nothing uses it

    ## What it does
    Looks for trainable layers and parameters that a constructor keeps and that nothing reads: no method of the class,
    of its bases or subclasses, no owner, and no function that is given the object. Giving it its first values is no
    use; handing it on is.

    An info; a warning where the project wraps models in `DistributedDataParallel` without `find_unused_parameters`.

    ## Why is this bad
    It takes memory and rows in checkpoints. Under `DistributedDataParallel` the second step stops with "Expected to
    have finished reduction in the prior iteration". And often the layer was meant to be used: a norm that was
    forgotten, a projection whose twin is read twice.

    ## How to fix
    Use the layer, or remove it.

    ## What it cannot see
    Layers of classes that go through all they hold (`children()`), whose base cannot be read, or whose `forward` is
    borrowed from another class. A layer that a comment keeps for checkpoints is left alone.

    ## Confirming
    Not run: that no code reads a layer is a fact about the whole project; one backward pass shows only its own way.

    ## References
    - [DistributedDataParallel](https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    - [pytorch/pytorch#57776](https://github.com/pytorch/pytorch/issues/57776)
    """

    code = "ML213"
    name = "layer-never-used"
    severity = Severity.INFO
    triggers = ("class",)
    bad = (
        Example(
            "A norm that is never applied",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)  # expect: ML213
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        # x = self.norm(x)
        return self.proj(x)
""",
            },
        ),
        Example(
            "A parameter that only gets its first values",
            {
                "model.py": """\
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.ssf_scale_1 = nn.Parameter(torch.ones(width))  # expect: ML213
        self.ssf_scale = nn.Parameter(torch.ones(width))
        self.heads = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))  # expect: ML213
        nn.init.normal_(self.ssf_scale_1, std=0.02)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.normal_(self.ssf_scale_1)
        for head in self.heads:
            head.reset_parameters()

    def forward(self, x):
        return x * self.ssf_scale
""",
            },
        ),
        Example(
            "A layer that a subclass replaces and the base never reads",
            {
                "base.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(10, width)
        self.start = nn.Conv1d(width, width, 1)  # expect: ML213

    def encode(self, ids):
        return self.embed(ids)
""",
                "model.py": """\
from torch import nn

from base import Base


class Model(Base):
    def __init__(self, width):
        super().__init__(width)
        self.first = nn.Conv1d(width, width, 1)

    def forward(self, ids):
        return self.first(self.encode(ids).transpose(1, 2))
""",
            },
        ),
        Example(
            "Made under a flag that `forward` does not ask",
            {
                "model.py": """\
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, concat_after):
        super().__init__()
        self.attend = nn.MultiheadAttention(width, 4)
        if concat_after:
            self.concat = nn.Linear(2 * width, width)  # expect: ML213

    def forward(self, x):
        return self.attend(x, x, x)[0]


def build(width):
    return nn.parallel.DistributedDataParallel(Layer(width, True))
""",
            },
        ),
    )
    good = (
        Example(
            "An inherited method reads it, and a subclass does",
            {
                "base.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.head(x)


class Model(Base):
    def __init__(self, width):
        super().__init__(width)
        self.head = nn.Linear(width, 2)
""",
                "model.py": """\
from base import Model


class Normed(Model):
    def forward(self, x):
        return super().forward(self.norm(x))
""",
            },
        ),
        Example(
            "Handed on in the constructor",
            {
                "model.py": """\
import copy

from torch import nn


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.layer = nn.Linear(width, width)
        self.net = nn.Sequential(self.first, nn.ReLU())
        self.layers = nn.ModuleList(copy.deepcopy(self.layer) for _ in range(depth))
        head = nn.Linear(width, 2)
        self.head = head
        self.heads = [head]

    def forward(self, x):
        x = self.net(x)
        for layer in self.layers:
            x = layer(x)
        return self.heads[0](x)


class Tied(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(10, width)
        self.decoder = nn.Linear(width, 10)
        self.bias = nn.Parameter(self.embed.weight[:, 0].clone())
        self.decoder.bias = self.bias

    def forward(self, ids):
        return self.decoder(self.embed(ids))
""",
            },
        ),
        Example(
            "Read by the owner, by a function that gets the module, and by a script",
            {
                "model.py": """\
from torch import nn

import hooks


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.late = nn.Linear(width, width)

    def forward(self, x):
        return hooks.attend(self, x)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)

    def forward(self, x):
        return self.block(x) * self.block.gate(x)
""",
                "hooks.py": "def attend(layer, x):\n    return layer.proj(x)\n",
                "train.py": """\
from model import Block


def run(x):
    block = Block(3)
    return block.late(x)
""",
            },
        ),
        Example(
            "Read by a computed name, or with all that is held",
            {
                "model.py": """\
from torch import nn


class Named(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj_a = nn.Linear(width, width)
        self.proj_b = nn.Linear(width, width)

    def forward(self, x, which):
        return getattr(self, f"proj_{which}")(x)


class Chained(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        for layer in self.children():
            x = layer(x)
        return x


class Evaluated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, code):
        return eval(code)
""",
            },
        ),
        Example(
            "A `forward` that is borrowed, and a base that cannot be read",
            {
                "model.py": """\
from torch import nn

from elsewhere import Unknown


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, x):
        return self.query(x)


class Quantised(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)

    forward = Attention.forward


class Derived(Unknown, nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, width)
""",
            },
        ),
        Example(
            "Nothing to train, or kept for checkpoints",
            {
                "model.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.act = nn.ReLU()
        self.drop = nn.Dropout(0.1)
        self.register_buffer("scale", torch.ones(width))
        self.frozen = nn.Linear(width, width)
        self.frozen.weight.requires_grad = False
        # not used any more, but older checkpoints hold it
        self.old = nn.Linear(width, width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)
""",
                "test_model.py": """\
from torch import nn


class Fixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(1, 1)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.classes.unused import unused

        for found in unused(module, project):
            yield self._finding(found, project)

    def _finding(self, found: Unused, project: Project) -> Finding:
        from modellint.link.values.callers import mentioning

        module = found.cls.module
        wrapping = [
            one
            for one in mentioning(project, module, "DistributedDataParallel")
            if "find_unused_parameters" not in one.text
        ]
        evidence = ["no method of the class, its bases or subclasses reads it, and no other code that knows the class"]
        if wrapping:
            evidence.append("`DistributedDataParallel` waits for its gradients: the second step raises `RuntimeError`")
        return self.finding(
            module.place(found.target),
            f"`self.{found.name}` is never used: it is trained by nothing, and kept in every checkpoint",
            symbol=f"{found.cls.name}.{found.name}",
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING if wrapping else None,
            evidence=evidence,
            related=(Related(found.cls.place, "the class"),),
            help=f"use `self.{found.name}`, or remove it",
        )
