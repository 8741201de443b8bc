"""ML209: a layer that is used in training and that no optimizer trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.link.classes.optimised import left_out
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import NotListed
    from modellint.claims.recipes import NotTrained
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.classes.optimised import LeftOut
    from modellint.link.project import Project
    from modellint.link.recipes.shortfalls import Shortfall
    from modellint.probes import Probe

_RECIPE = """\
n_mels: 80
batch_size: 8
encoder: !new:torch.nn.Linear
    in_features: !ref <n_mels>
    out_features: 512
wav2vec2: !new:torch.nn.Conv1d [1, 512, 10, 5]
ctc_lin: !new:torch.nn.Linear{mark}
    in_features: 512
    out_features: 40
modules:
    encoder: !ref <encoder>
    wav2vec2: !ref <wav2vec2>
    ctc_lin: !ref <ctc_lin>
model: !new:torch.nn.ModuleList
    - [{model}]
model_opt_class: !name:torch.optim.Adam
    lr: 0.001
wav2vec_opt_class: !name:torch.optim.Adam
    lr: 0.0001
"""

_SCRIPT = """\
import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        x = self.modules.encoder(self.modules.wav2vec2(batch))
        return self.modules.ctc_lin(x)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()

    def init_optimizers(self):
{body}

if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["batch_size"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(range(10), [], [])
    model.evaluate([])
"""

_TWO = """
self.wav2vec_optimizer = self.hparams.wav2vec_opt_class(self.modules.wav2vec2.parameters())
self.model_optimizer = self.hparams.model_opt_class(self.hparams.model.parameters())
self.optimizers_dict = {"wav2vec": self.wav2vec_optimizer, "model": self.model_optimizer}
"""
_MARK = "  # expect: ML209"


def _project(body: str = _TWO, mark: str = "", model: str = "!ref <encoder>", extra: str = "") -> dict[str, str]:
    lines = ("        " + line if line else line for line in body.strip("\n").split("\n"))
    return {
        "hparams.yaml": _RECIPE.replace("{mark}", mark).replace("{model}", model) + extra,
        "train.py": _SCRIPT.replace("{body}", "\n".join(lines) + "\n"),
    }


class LayerNotOptimised(Rule):
    """A layer is used in training, but no optimizer is given its parameters

    ## What it does
    Where the optimizers of a file list the parameters of a model child by child, compares the list with the children
    that the model registers, and reports the one that is left out though the model calls it, all others are listed and
    nothing freezes it.

    In a recipe, asks the same of each layer in `modules:` that the script computes gradients with, where the Brain
    makes its optimizers itself (`init_optimizers`) and it is known whose parameters each of them is given. Frozen
    layers, layers that a pretrainer fills, and layers used without gradients are left alone.

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
    triggers = ("import",)
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
print(for_generator, for_discriminator)
""",
            },
        ),
        Example(
            "A recipe with an optimizer for each part, and a layer that is in no part",
            _project(mark=_MARK),
        ),
        Example(
            "One optimizer, for some of the modules",
            _project(
                """
parameters = list(self.modules.encoder.parameters()) + list(self.modules.wav2vec2.parameters())
self.optimizer = torch.optim.Adam(parameters, lr=self.hparams.batch_size)
""",
                mark=_MARK,
            ),
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
        Example("In the list of a recipe that is trained", _project(model="!ref <encoder>, !ref <ctc_lin>")),
        Example(
            "All modules of a recipe at once",
            _project("self.optimizer = self.hparams.model_opt_class(self.modules.parameters())"),
        ),
        Example(
            "Frozen before the optimizers of a recipe are made",
            _project("for p in self.modules.ctc_lin.parameters():\n    p.requires_grad = False\n" + _TWO.strip("\n")),
        ),
        Example(
            "Pretrained, and left as it is",
            _project(
                extra="pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer\n"
                "    loadables:\n        ctc_lin: !ref <ctc_lin>\n"
            ),
        ),
        Example(
            "It is unknown whose parameters an optimizer is given",
            _project(
                _TWO + "self.other_optimizer = torch.optim.SGD([p for m in self.trained() for p in m.parameters()])"
            ),
        ),
        Example(
            "Optimizers of a recipe for all modules, made in a loop",
            _project(
                "self.optimizers_dict = {}\n"
                "for name in self.modules:\n"
                "    parameters = self.modules[name].parameters()\n"
                "    self.optimizers_dict[name] = self.hparams.model_opt_class(parameters)"
            ),
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import recipes_of

        for found in left_out(module, project):
            yield self._report(found)
        for recipe in recipes_of(module.file, project):
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import including
        from modellint.link.recipes.shortfalls import untrained_layers

        for whole in including(recipe, project):
            for shortfall in untrained_layers(whole, project):
                if whole is recipe or shortfall.layer.place.path == recipe.path:
                    yield self._untrained(shortfall)

    def probe(self, claim: NotTrained | NotListed, project: Project) -> Probe | None:
        """Make the optimizers as the code does, and look for the layer's parameters among those that they are given."""
        from modellint.claims.layers import NotListed
        from modellint.probes import file_probe, recipe_probe

        return file_probe(claim, claim.owner) if isinstance(claim, NotListed) else recipe_probe(claim, project)

    def _untrained(self, shortfall: Shortfall) -> Finding:
        from modellint.claims.recipes import untrained

        layer, use, trained = shortfall.layer, shortfall.use, shortfall.registration.trained
        optimizers = trained.optimizers if trained is not None else {}
        reach, is_certain = shortfall.registration.reach, shortfall.is_certain
        given = ", ".join(f"`{name}`" for name in optimizers)
        related = [Related(place, "an optimizer is made here") for place in dict.fromkeys(optimizers.values())]
        return self.finding(
            layer.place,
            f"`{layer.path}` is used in training, but no optimizer is given its parameters",
            symbol=layer.path,
            confidence=Confidence.HIGH if is_certain else Confidence.LOW,
            evidence=(
                f"`{layer.target}` has parameters to train, and nothing freezes it",
                f"`{use.function}` uses `{use.text}` where gradients are computed",
                f"the optimizers are made with {given}, all for other modules",
            ),
            related=[*related, Related(use.place, f"used here, in `{use.function}`")],
            help=f"give the parameters of `{layer.path}` to one of the optimizers, or freeze it",
            # If it is not certain, what is in doubt is if this Brain trains it.
            claim=untrained(reach.brain, layer.place, layer.path) if is_certain and reach is not None else None,
        )

    def _report(self, found: LeftOut) -> Finding:
        from modellint.claims.layers import NotListed

        optimizer, start = found.optimizer, found.start
        assert found.made.value is not None
        assert found.made.function is not None
        assert optimizer.function is not None
        module = optimizer.function.module
        function = start if start.module is module and start is not module.body else optimizer.function
        place = module.place(optimizer.call)
        listed = ", ".join(f"`{name}`" for name in found.listed)
        return self.finding(
            found.made.function.module.place(found.made.value),
            f"`{found.child}` is used by `{found.cls.name}`, but no optimizer is given its parameters",
            symbol=f"{found.cls.name}.{found.child}",
            confidence=Confidence.MEDIUM,
            evidence=(f"the other layers are listed one by one: {listed}", "nothing in the file freezes it"),
            related=(Related(place, "the parameters are listed here"),),
            help=f"add the parameters of `{found.child}` to the list, or pass those of the whole model",
            claim=NotListed(place, found.cls.qualname, found.child, function.qualname),
        )
