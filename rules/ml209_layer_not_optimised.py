"""ML209: a layer that is used in training and that no optimizer trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.link.classes.optimised import left_out
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.optimised import LeftOut
    from modellint.link.project import Project


class LayerNotOptimised(Rule):
    """A layer is used in training, but no optimizer is given its parameters

    ## What it does
    Where the optimizers of a file list the parameters of a model child by child, compares the list with the children
    that the model registers, and reports the one that is left out though the model calls it, all others are listed and
    nothing freezes it.

    ## Why is this bad
    The layer keeps its random initial weights: gradients are computed for it, and nobody applies them. Nothing fails,
    the loss goes down as far as the other layers can take it, and the model stays worse than it should be.

    ## How to fix
    Add the layer's parameters to the list, pass `model.parameters()`, or freeze the layer where that is meant.

    ## References
    - [Per-parameter options](https://pytorch.org/docs/stable/optim.html#per-parameter-options)
    """

    code = "ML209"
    name = "layer-not-optimised"
    severity = Severity.WARNING
    triggers = (r"\.parameters\(\)", "optim", "import torch|from torch")
    bad = (
        Example(
            "A head that is in no group",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, classes)  # expect: ML209

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


def train(batches):
    model = Model(64, 10)
    optimizer = torch.optim.AdamW(
        [
            {"params": model.embed.parameters(), "lr": 1e-4},
            {"params": model.encoder.parameters()},
        ],
        lr=1e-3,
    )
    for ids, labels in batches:
        nn.functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten()).backward()
        optimizer.step()
""",
            },
        ),
        Example(
            "Lists that are added",
            {
                "train.py": """\
from torch import nn
from torch.optim import SGD


class Codec(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Conv1d(1, width, 7)
        self.bottleneck = nn.Linear(width, 8)  # expect: ML209
        self.decoder = nn.ConvTranspose1d(8, 1, 7)

    def forward(self, x):
        return self.decoder(self.bottleneck(self.encoder(x).mT).mT)


def optimizer_for(codec: Codec):
    return SGD(list(codec.encoder.parameters()) + list(codec.decoder.parameters()), lr=0.1)
""",
            },
        ),
        Example(
            "A model that configures its own optimizer",
            {
                "model.py": """\
import itertools

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(80, width), nn.ReLU(), nn.Linear(width, width))
        self.norm = nn.LayerNorm(width)  # expect: ML209
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.dropout(self.norm(self.backbone(x))))

    def configure_optimizers(self):
        parameters = itertools.chain(self.backbone.parameters(), self.head.parameters())
        return torch.optim.Adam(parameters, lr=1e-3)
""",
            },
        ),
        Example(
            "Two optimizers that together miss a layer",
            {
                "train.py": """\
import torch
from torch import nn


class Adversarial(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.generator = nn.Linear(width, width)
        self.condition = nn.Embedding(10, width)  # expect: ML209
        self.discriminator = nn.Linear(width, 1)

    def generate(self, noise, label):
        return self.generator(noise + self.condition(label))

    def forward(self, noise, label):
        return self.discriminator(self.generate(noise, label))


model = Adversarial(64)
for_generator = torch.optim.Adam([*model.generator.parameters()], lr=1e-4)
for_discriminator = torch.optim.Adam(model.discriminator.parameters(), lr=4e-4)
""",
            },
        ),
    )
    good = (
        Example(
            "Every layer with parameters is in a group",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.dropout(self.encoder(self.embed(ids))[0]))


model = Model(64, 10)
optimizer = torch.optim.AdamW(
    [
        {"params": model.embed.parameters(), "lr": 1e-4},
        {"params": [*model.encoder.parameters(), *model.head.parameters()]},
    ]
)
""",
            },
        ),
        Example(
            "The whole model",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.encoder = nn.GRU(80, width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.encoder(x)[0])


model = Model(64, 10)
optimizer = torch.optim.AdamW(model.parameters())
""",
            },
        ),
        Example(
            "A backbone that is frozen",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.backbone = nn.GRU(80, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        with torch.no_grad():
            x = self.backbone(x)[0]
        return self.head(self.norm(x))


model = Model(64, 10)
optimizer = torch.optim.AdamW([{"params": model.norm.parameters()}, {"params": model.head.parameters()}])
""",
            },
        ),
        Example(
            "Only the heads of a model are trained, by choice of several layers",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.stem = nn.Linear(80, width)
        self.encoder = nn.GRU(width, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.norm(self.encoder(self.stem(x))[0]))


model = Model(64, 10)
optimizer = torch.optim.AdamW([{"params": model.norm.parameters()}, {"params": model.head.parameters()}])
""",
            },
        ),
        Example(
            "An optimizer of another library takes the rest",
            {
                "train.py": """\
import torch
from torch import nn

from fused import FusedAdam


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


model = Model(64, 10)
optimizer = torch.optim.AdamW([*model.encoder.parameters(), *model.head.parameters()])
others = FusedAdam(p for name, p in model.named_parameters() if "embed" in name)
""",
            },
        ),
        Example(
            "A head whose weight is that of the table",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, 1000, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


model = Model(64)
optimizer = torch.optim.AdamW([*model.embed.parameters(), *model.encoder.parameters()])
""",
            },
        ),
        Example(
            "A layer that training does not use",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.probe = nn.Linear(width, classes)
        self.norm = nn.LayerNorm(width, elementwise_affine=False)

    def forward(self, ids):
        return self.norm(self.encoder(self.embed(ids))[0])


model = Model(64, 10)
optimizer = torch.optim.AdamW([*model.embed.parameters(), *model.encoder.parameters()])
""",
            },
        ),
        Example(
            "A network that comes with its weights",
            {
                "train.py": """\
import torch
from torch import nn

from features import Features


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Conv2d(3, width, 3)
        self.decoder = nn.ConvTranspose2d(width, 3, 3)
        self.features = Features()

    def forward(self, x):
        y = self.decoder(self.encoder(x))
        return (self.features(x) - self.features(y)).abs().mean()


model = Model(64)
optimizer = torch.optim.AdamW([*model.encoder.parameters(), *model.decoder.parameters()])
""",
                "features.py": """\
import torch
from torch import nn


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU())
        self.load_state_dict(torch.load("features.pt"))

    def forward(self, x):
        return self.layers(x)
""",
            },
        ),
        Example(
            "A group that is added later",
            {
                "train.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


model = Model(64, 10)
optimizer = torch.optim.AdamW([*model.embed.parameters(), *model.encoder.parameters()])
optimizer.add_param_group({"params": model.head.parameters(), "lr": 1e-2})
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for found in left_out(module, project):
            yield self._report(found)

    def _report(self, found: LeftOut) -> Finding:
        made, optimizer = found.made, found.optimizer
        listed = ", ".join(f"`{name}`" for name in found.listed)
        return self.finding(
            found.cls.module.place(made.value),
            f"`{found.child}` is used by `{found.cls.name}`, but no optimizer is given its parameters",
            symbol=f"{found.cls.name}.{found.child}",
            confidence=Confidence.MEDIUM,
            evidence=(f"the other layers are listed one by one: {listed}", "nothing in the file freezes it"),
            related=(Related(optimizer.frame.module.place(optimizer.value), "the parameters are listed here"),),
            help=f"add the parameters of `{found.child}` to the list, or pass those of the whole model",
        )
