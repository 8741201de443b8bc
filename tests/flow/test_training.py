"""Which layers optimizers are given, in whatever way that is said, and what else may train a layer or freeze it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
from effort import calls_of
from modellint_rules.ml209_layer_not_optimised.optimised import left_out

from modellint.flow.optimizer_builders import OptimizerBuilders
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

MODEL = """\
import copy
import functools
import itertools

import torch
from torch import nn
from torch.optim import SGD, Adam


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])

"""
MAKES = "self.head = nn.Linear(width, 10)"
WORKS = "self.head(self.encoder(self.embed(ids))[0])"
BOTH = "[*net.embed.parameters(), *net.encoder.parameters()]"
OPTIMIZER = f"optimizer = Adam({BOTH})\n"


def found_in(folder: Path, text: str) -> list[tuple[str, str]]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "train.py")
    assert module is not None
    return [(found.cls.name, found.child) for found in left_out(module, project)]


def after(body: str, model: str = MODEL) -> str:
    """A file in which `main` makes a `net` and does something with it."""
    head = "\n\ndef main(args):\n    net = Net()\n"
    return model + head + textwrap.indent(body, "    ")


def of_model(text: str, model: str = MODEL) -> str:
    """A file with methods of the model, or more definitions after it."""
    return model + text


FORGOTTEN = {
    "a chain": after("Adam(itertools.chain(net.embed.parameters(), net.encoder.parameters()))"),
    "a filter": after(f"Adam(filter(lambda p: p.ndim > 0, {BOTH}))"),
    "a loop": after(
        "params = []\nfor part in (net.embed, net.encoder):\n    params.extend(part.parameters())\nAdam(params)"
    ),
    "a comprehension": after("Adam([p for part in [net.embed, net.encoder] for p in part.parameters()])"),
    "a sum of lists": after("Adam(sum([list(m.parameters()) for m in (net.embed, net.encoder)], []))"),
    "a map": after("Adam(itertools.chain(*map(lambda part: part.parameters(), [net.embed, net.encoder])))"),
    "groups with rates": after(
        "pairs = [(net.embed, 1e-3), (net.encoder, 1e-4)]\n"
        "Adam([{'params': part.parameters(), 'lr': lr} for part, lr in pairs])"
    ),
    "groups that are appended": after(
        "groups = [{'params': net.embed.parameters()}]\n"
        "groups.append({'params': net.encoder.parameters()})\nAdam(groups)"
    ),
    "parts by name": after(
        "parts = {'embed': net.embed, 'encoder': net.encoder}\n"
        "Adam([{'params': parts[name].parameters()} for name in ('embed', 'encoder')])"
    ),
    "parameters by name": after(
        "parts = {'embed': net.embed.parameters(), 'encoder': net.encoder.parameters()}\n"
        "Adam([{'params': params} for params in parts.values()])"
    ),
    "an optimizer for each": after(
        "parts = {'embed': list(net.embed.parameters()), 'encoder': list(net.encoder.parameters())}\n"
        "optimizers = {name: Adam(params) for name, params in parts.items()}"
    ),
    "with their names": after(
        "params = [p for _, p in net.embed.named_parameters()]\n"
        "params += [p for _, p in net.encoder.named_parameters()]\nAdam(params)"
    ),
    "biases apart": after(
        """\
decayed, rest = [], []
for part in (net.embed, net.encoder):
    for name, p in part.named_parameters():
        if name.endswith("bias"):
            rest.append(p)
        else:
            decayed.append(p)
Adam([{"params": decayed, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}])
"""
    ),
    "groups by name": after(
        "groups = [{'params': [p for name, p in net.named_parameters() if name.startswith(part)]}"
        " for part in ('embed.',)]\n"
        "groups.append({'params': [p for name, p in net.named_parameters() if 'encoder' in name]})\nAdam(groups)"
    ),
    "parameters sorted by name": after(
        """\
slow, fast = [], []
for name, p in net.named_parameters():
    if name.split(".")[0] == "embed":
        slow.append(p)
    elif any(key in name for key in ("encoder", "decoder")) and not name.endswith("unused"):
        fast.append(p)
Adam([{"params": slow, "lr": 1e-5}, {"params": fast}])
""",
        MODEL.replace("nn.GRU(width, width)", "nn.Sequential(nn.Linear(width, width), nn.ReLU())"),
    ),
    "two optimizers by name": after(
        "one = Adam([p for name, p in net.named_parameters() if name.startswith('embed')])\n"
        "other = SGD([p for name, p in net.named_parameters() if name.startswith('encoder')], lr=0.1)"
    ),
    "another head, once there is an optimizer": after("optimizer = Adam(net.parameters())\nnet.head = nn.Linear(8, 5)"),
    "a layer that is made after the optimizer": MODEL.replace(
        MAKES, f"self.optimizer = Adam(self.parameters())\n        {MAKES}"
    ),
    "a nested generator": after(
        """\
def params():
    for part in (net.embed, net.encoder):
        yield from part.parameters()

Adam(params())
"""
    ),
    "two optimizers": after("one = Adam(net.embed.parameters())\nother = SGD(net.encoder.parameters(), lr=0.1)"),
    "one of two optimizers": after(f"optimizer = SGD({BOTH}, lr=0.1) if args.sgd else Adam({BOTH})"),
    "an optimizer by name": after(f"{{'adam': Adam, 'sgd': SGD}}[args.name]({BOTH}, lr=0.1)"),
    "a partial": after(f"functools.partial(torch.optim.Adam, lr=0.1)({BOTH})"),
    "an optimizer of one's own": after(f"Mine({BOTH})") + "\n\nclass Mine(torch.optim.Optimizer):\n    pass\n",
    "an early return": after(f"if args.dry:\n    return\n{OPTIMIZER}"),
    "clipped and counted": after(
        f"print(sum(p.numel() for p in net.parameters()))\n{OPTIMIZER}nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    ),
    "in parallel": after(f"parallel = nn.DataParallel(net)\n{OPTIMIZER}parallel(args.ids)"),
    "an annotated argument": of_model(f"\ndef build(net: Net):\n    return Adam({BOTH})\n"),
    "an argument that a caller gives": after("build(net)") + f"\n\ndef build(net):\n    return Adam({BOTH})\n",
    "a global model": of_model(f"\nnet = Net()\n\ndef main():\n    return Adam({BOTH})\n"),
    "an import in the function": after(
        f"from torch.optim import Adam as A\nA({BOTH})", MODEL.replace("from torch.optim import SGD, Adam\n", "")
    ),
    "a method of the model": of_model(
        """\
    def configure_optimizers(self):
        return Adam([{"params": self.embed.parameters(), "lr": 0.1}, {"params": self.encoder.parameters()}])
"""
    ),
    "a method that is given the parts": of_model(
        """\
    def params_of(self, *parts):
        for part in parts:
            yield from part.parameters()

    def configure_optimizers(self):
        return Adam(self.params_of(self.embed, self.encoder))
"""
    ),
    "a method that gives groups": after(
        "Adam(net.cuda().groups())",
        MODEL
        + """\
    def groups(self):
        return [{"params": self.embed.parameters()}, {"params": self.encoder.parameters()}]
""",
    ),
    "a trainer that makes the model": of_model(
        """\

class Trainer:
    def __init__(self, lr):
        self.net = Net()
        self.optimizer = SGD([*self.net.embed.parameters(), *self.net.encoder.parameters()], lr=lr)
"""
    ),
    "a trainer that is given the model": after("Trainer(net).step(args.ids)")
    + """

class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = self.made()

    def made(self):
        return SGD([*self.net.embed.parameters(), *self.net.encoder.parameters()], lr=0.1)

    def step(self, ids):
        self.net(ids).sum().backward()
        self.optimizer.step()
""",
    "a trainer that fills a list": of_model(
        """\

class Trainer:
    def __init__(self):
        self.net = Net()
        self.groups = []
        self.fill()
        self.optimizer = Adam(self.groups)

    def fill(self):
        self.groups.append({"params": self.net.embed.parameters()})
        self.groups.append({"params": self.net.encoder.parameters()})
"""
    ),
    "a base that lists": MODEL.replace("class Net(nn.Module)", "class Net(Base)").replace(
        "class Net",
        """\
class Base(nn.Module):
    def configure_optimizers(self):
        return Adam([*self.embed.parameters(), *self.encoder.parameters()])


class Net""",
    ),
    "a mixin that works and lists": """\
import torch
from torch import nn


class Working:
    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])

    def configure_optimizers(self):
        return torch.optim.Adam([*self.embed.parameters(), *self.encoder.parameters()])


class Net(Working, nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, 10)
""",
    "layers one by one": after(
        "params = list(net.embed.parameters())\n"
        "for layer in net.encoder:\n    params += layer.parameters()\nAdam(params)",
        MODEL.replace("nn.GRU(width, width)", "nn.ModuleList([nn.GRU(width, width) for _ in range(3)])").replace(
            "self.encoder(", "self.encoder[0]("
        ),
    ),
}
#: What is found instead of the head of the model.
OTHERS = {
    "parts that are made first": (
        """\
import torch
from torch import nn


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)


class Whole(nn.Module):
    def __init__(self, first, last):
        super().__init__()
        self.first = first
        self.middle = nn.Linear(3, 3)
        self.last = last

    def forward(self, x):
        return self.last(self.middle(self.first(x)))


first, last = Part(), Part()
whole = Whole(first, last)
optimizer = torch.optim.Adam(list(first.parameters()) + list(last.parameters()))
""",
        ("Whole", "middle"),
    ),
    "what a subclass adds": (
        after(
            "big = Bigger()\nAdam([*big.embed.parameters(), *big.encoder.parameters(), *big.head.parameters()])",
            MODEL
            + """\

class Bigger(Net):
    def __init__(self):
        super().__init__(16)
        self.extra = nn.Linear(10, 10)

    def forward(self, ids):
        return self.extra(super().forward(ids))
""",
        ),
        ("Bigger", "extra"),
    ),
}


@pytest.mark.parametrize("title", FORGOTTEN)
def test_a_head_that_nobody_trains(title: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, FORGOTTEN[title]) == [("Net", "head")]


@pytest.mark.parametrize("title", OTHERS)
def test_a_layer_that_nobody_trains(title: str, tmp_path: Path) -> None:
    text, expected = OTHERS[title]
    assert found_in(tmp_path, text) == [expected]


ALL_THREE = "(net.embed, net.encoder, net.head)"
TRAINED = {
    "the whole": after("Adam(net.parameters())"),
    "each": after(f"Adam([*{BOTH}, *net.head.parameters()])"),
    "what learns of the whole": after("Adam(filter(lambda p: p.requires_grad, net.parameters()))"),
    "by their names": after("Adam([p for name, p in net.named_parameters() if 'head' not in name])"),
    "a map over all": after(f"Adam(itertools.chain(*map(lambda part: part.parameters(), {ALL_THREE})))"),
    "a map of the method": after(f"Adam(itertools.chain.from_iterable(map(nn.Module.parameters, {ALL_THREE})))"),
    "a sum over all": after(f"Adam(sum([list(part.parameters()) for part in {ALL_THREE}], []))"),
    "reduced": after(f"Adam(functools.reduce(lambda a, b: a + b, [list(part.parameters()) for part in {ALL_THREE}]))"),
    "children": after("Adam([p for part in net.children() for p in part.parameters()])"),
    "some of the children": after("Adam([p for part in list(net.children())[:2] for p in part.parameters()])"),
    "children but one": after("Adam([p for c in net.children() if c is not net.head for p in c.parameters()])"),
    "modules": after("params = []\nfor m in net.modules():\n    params += m.parameters(recurse=False)\nAdam(params)"),
    "named in an option": after("Adam([p for name in args.names for p in getattr(net, name).parameters()])"),
    "named one by one": after(
        "Adam([p for name in ('embed', 'encoder', 'head') for p in getattr(net, name).parameters()])"
    ),
    "by name, the rest apart": after(
        "rest = [p for name, p in net.named_parameters() if not name.startswith(('embed', 'encoder'))]\n"
        "embed = [p for name, p in net.named_parameters() if name.startswith('embed')]\n"
        "encoder = [p for name, p in net.named_parameters() if name.startswith('encoder')]\n"
        "Adam([{'params': rest}, {'params': embed, 'lr': 1e-5}, {'params': encoder, 'lr': 1e-5}])"
    ),
    "by name, but for one": after(
        "embed = [p for name, p in net.named_parameters() if 'embed' in name]\n"
        "others = [p for name, p in net.named_parameters() if 'embed' not in name and 'head' not in name]\n"
        "Adam([{'params': embed, 'lr': 1e-5}, {'params': others}])"
    ),
    "all that has one of some names": after(
        "Adam([p for name, p in net.named_parameters() if any(key in name for key in ('embed', 'encoder'))])"
    ),
    "by what the name of a part may hold": after(
        "embed = [p for name, p in net.named_parameters() if 'embed' in name]\n"
        "layers = [p for name, p in net.named_parameters() if 'l0' in name]\n"
        "Adam([{'params': embed, 'lr': 1e-5}, {'params': layers}])"
    ),
    "by names that are not known": after(
        "embed = [p for name, p in net.named_parameters() if 'embed' in name]\n"
        "encoder = [p for name, p in net.named_parameters() if 'encoder' in name]\n"
        "others = [p for name, p in net.named_parameters() if name.startswith(args.prefix)]\n"
        "Adam([{'params': embed}, {'params': encoder}, {'params': others}])"
    ),
    "each weight by its whole name": after(
        "embed = [p for name, p in net.named_parameters() if name == 'embed.weight']\n"
        "encoder = [p for name, p in net.named_parameters() if name.startswith('encoder.')]\n"
        "head = [p for name, p in net.named_parameters() if name in ('head.weight', 'head.bias')]\n"
        "Adam([{'params': embed}, {'params': encoder}, {'params': head}])"
    ),
    "another head, then another optimizer": after(
        "optimizer = Adam(net.parameters())\noptimizer.step()\nnet.head = nn.Linear(8, 5)\n"
        "optimizer = Adam(net.parameters())"
    ),
    "another head with a group of its own": after(
        "optimizer = Adam(net.parameters())\nnet.head = nn.Linear(8, 5)\n"
        "optimizer.add_param_group({'params': net.head.parameters()})"
    ),
    "another head in each turn": after(
        "for width in args.widths:\n    optimizer = Adam(net.parameters())\n    optimizer.step()\n"
        "    net.head = nn.Linear(8, width)"
    ),
    "another head where there is no optimizer": after(
        "if args.train:\n    optimizer = Adam(net.parameters())\nelse:\n    net.head = nn.Linear(8, 5)"
    ),
    "a copy that is made after the optimizer": MODEL.replace(
        MAKES, f"{MAKES}\n        self.optimizer = Adam(self.parameters())\n        self.old = copy.deepcopy(self.head)"
    ).replace(WORKS, f"{WORKS} - self.old(ids)"),
    "a layer without parameters, made after the optimizer": MODEL.replace(
        MAKES, f"{MAKES}\n        self.optimizer = Adam(self.parameters())\n        self.drop = nn.Dropout()"
    ).replace(WORKS, f"self.drop({WORKS})"),
    "groups by the first name": after(
        "groups = {}\nfor name, p in net.named_parameters():\n    groups.setdefault(name[0], []).append(p)\n"
        "Adam([{'params': params} for params in groups.values()])"
    ),
    "what is left of the whole": after(
        "head = set(net.head.parameters())\nrest = set(net.parameters()) - head\n"
        "Adam([{'params': list(head)}, {'params': list(rest)}])"
    ),
    "by its weights": after(f"Adam([*{BOTH}, net.head.weight, net.head.bias])"),
    "a group that is added": after(OPTIMIZER + "optimizer.add_param_group({'params': net.head.parameters()})"),
    "another optimizer": after(OPTIMIZER + "other = SGD(net.head.parameters(), lr=1)"),
    "another optimizer, by an alias": after(OPTIMIZER + "head = net.head\nother = SGD(head.parameters(), lr=1)"),
    "another optimizer, by getattr": after(OPTIMIZER + "other = SGD(getattr(net, 'head').parameters(), lr=1)"),
    "another optimizer of something": after(OPTIMIZER + "other = SGD(args.layer.parameters(), lr=1)"),
    "an unknown optimizer": after(OPTIMIZER + "other = args.optimizer(net.parameters())"),
    "an optimizer of another library": after(
        f"from fused import FusedAdam\n{OPTIMIZER}other = FusedAdam(net.head.parameters())"
    ),
    "an optimizer by a helper that is unknown": after(
        f"from lib import add_optimizer\nadd_optimizer(net)\n{OPTIMIZER}"
    ),
    "more than is known": after(f"Adam([*{BOTH}, *args.more])"),
    "without what is below": after(f"Adam([*{BOTH}, *net.head.parameters(False)])"),
    "under a condition": after(f"params = {BOTH}\nif args.head:\n    params += net.head.parameters()\nAdam(params)"),
    "under a condition that never holds": after(
        f"params = {BOTH}\nif False:\n    params += list(net.head.parameters())\nAdam(params)"
    ),
    "one stage or the other": after(
        "if args.stage == 1:\n    Adam(net.embed.parameters())\nelse:\n    Adam(net.encoder.parameters())"
    ),
    "one list or the other": after(
        "Adam(list(net.embed.parameters()) if args.stage == 1 else list(net.encoder.parameters()))"
    ),
    "collected by somebody": after(f"from lib import collect\nparams = {BOTH}\ncollect(net, params)\nAdam(params)"),
    "collected by a helper": after(f"params = []\nfor part in {ALL_THREE}:\n    collect(part, params)\nAdam(params)")
    + "\n\ndef collect(layer, params):\n    params.extend(layer.parameters())\n",
    "frozen": after("net.head.requires_grad_(False)\n" + OPTIMIZER),
    "frozen one by one": after("for p in net.head.parameters():\n    p.requires_grad = False\n" + OPTIMIZER),
    "frozen by a helper": after("stop(net.head)\n" + OPTIMIZER)
    + "\n\ndef stop(layer):\n    for p in layer.parameters():\n        p.requires_grad = False\n",
    "frozen by somebody": after("args.prepare(net.head)\n" + OPTIMIZER),
    "frozen by what is applied": after(
        "net.head.apply(lambda m: [p.requires_grad_(False) for p in m.parameters()])\n" + OPTIMIZER
    ),
    "at rest": after("net.head.eval()\n" + OPTIMIZER),
    "without gradients": after(
        OPTIMIZER,
        MODEL.replace("import copy", "import copy\nfrom torch import no_grad as quiet").replace(
            f"return {WORKS}", f"with quiet():\n            return {WORKS}"
        ),
    ),
    "detached": after(OPTIMIZER, MODEL.replace(WORKS, "self.encoder(self.embed(self.head(ids).detach()))")),
    "filled": after("load(net)\n" + OPTIMIZER) + "\n\ndef load(net):\n    net.load_state_dict(torch.load('net.pt'))\n",
    "trained by hand": after(OPTIMIZER + "for p in net.head.parameters():\n    p.data -= 0.1 * p.grad"),
    "written by hand": after(
        OPTIMIZER, MODEL + "    def update(self, x):\n        self.head.weight.data.mul_(0.9).add_(x)\n"
    ),
    "replaced": after("net.head = nn.Linear(8, 2)\n" + OPTIMIZER),
    "a copy": after(OPTIMIZER, MODEL.replace(MAKES, "self.head = copy.deepcopy(self.encoder)")),
    "tied": after(OPTIMIZER, MODEL.replace(MAKES, f"{MAKES}\n        self.head.weight = self.embed.weight")),
    "tied by a helper": after(OPTIMIZER, MODEL.replace(MAKES, f"{MAKES}\n        tie(self.head, self.embed)"))
    + "\n\ndef tie(one, other):\n    one.weight = other.weight\n",
    "tied by a helper, the other way": after(
        OPTIMIZER, MODEL.replace(MAKES, f"{MAKES}\n        tie(self.embed, self.head)")
    )
    + "\n\ndef tie(one, other):\n    one.weight = other.weight\n",
    "tied elsewhere": after("net.head.weight = net.embed.weight\n" + OPTIMIZER),
    "made under a condition": after(
        OPTIMIZER,
        MODEL.replace("width=8", "width=8, with_head=True").replace(MAKES, f"if with_head:\n            {MAKES}"),
    ),
    "not used": after(OPTIMIZER, MODEL.replace(WORKS, "self.encoder(self.embed(ids))")),
    "nothing to train": after(OPTIMIZER, MODEL.replace(MAKES, "self.head = nn.ReLU()")),
    "the last ones, by choice": after(
        "Adam([*net.head.parameters(), *net.norm.parameters()])",
        MODEL.replace(MAKES, f"{MAKES}\n        self.norm = nn.LayerNorm(10)").replace(WORKS, f"self.norm({WORKS})"),
    ),
    "a layer that is unknown": after(
        "from lib import vgg\n" + OPTIMIZER,
        MODEL.replace(MAKES, f"{MAKES}\n        self.loss = vgg()").replace(WORKS, f"self.loss({WORKS})"),
    ),
    "by a property": after(
        f"Adam([*{BOTH}, *net.heads.parameters()])",
        MODEL + "    @property\n    def heads(self):\n        return nn.ModuleList([self.head])\n",
    ),
    "by a method": after(
        "Adam([p for part in net.parts() for p in part.parameters()])",
        MODEL + "    def parts(self):\n        return [self.embed, self.encoder, self.head]\n",
    ),
    "parameters by a method of its own": after(
        "Adam(net.parameters())\nSGD([*net.encoder.parameters(), *net.head.parameters()], lr=0.1)",
        MODEL + "    def parameters(self, recurse=True):\n        return self.embed.parameters()\n",
    ),
    "a part of a part": after(
        "outer = Outer()\n"
        "Adam([*outer.net.embed.parameters(), *outer.net.encoder.parameters(), *outer.last.parameters()])",
        MODEL
        + """\

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.last = nn.Linear(10, 10)

    def forward(self, ids):
        return self.last(self.net(ids))
""",
    ),
    "a part of another part": after(
        f"Adam([*{BOTH}, *net.decoder.parameters()])",
        MODEL.replace(MAKES, f"{MAKES}\n        self.decoder = Decoder(self.head)").replace(
            WORKS, f"self.decoder({WORKS})"
        )
        + """\

class Decoder(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, x):
        return self.head(x)
""",
    ),
    "what a subclass gives": of_model(
        """\
    def params(self):
        return [*self.embed.parameters(), *self.encoder.parameters(), *self.head.parameters()]

    def configure_optimizers(self):
        return Adam(self.params())


class Bigger(Net):
    def __init__(self):
        super().__init__()
        self.extra = nn.Linear(10, 10)

    def params(self):
        return super().params() + list(self.extra.parameters())

    def forward(self, ids):
        return self.extra(super().forward(ids))
"""
    ),
    "another function that takes all": after(OPTIMIZER)
    + "\n\ndef other(net: Net):\n    return Adam(net.parameters())\n",
    "another function that takes anything": after(OPTIMIZER)
    + "\n\ndef other(net):\n    return Adam(net.parameters())\n",
    "a parameter of its own": after(
        f"Adam([*{BOTH}, *net.head.parameters(), net.scale])",
        MODEL.replace(MAKES, f"{MAKES}\n        self.scale = nn.Parameter(torch.ones(3))"),
    ),
    "a list that others fill": of_model(
        """\

class Trainer:
    def __init__(self):
        self.net = Net()
        self.groups = []

    def add(self, layer):
        self.groups.append({"params": layer.parameters()})

    def build(self):
        self.groups.append({"params": self.net.embed.parameters()})
        self.groups.append({"params": self.net.encoder.parameters()})
        self.optimizer = Adam(self.groups)
"""
    ),
    "layers that others add": of_model(
        """\

class Trainer:
    def __init__(self):
        self.net = Net()
        self.layers = []

    def add(self, layer):
        self.layers.append(layer)

    def build(self):
        params = [*self.net.embed.parameters(), *self.net.encoder.parameters()]
        for layer in self.layers:
            params += list(layer.parameters())
        self.optimizer = Adam(params)
"""
    ),
    "a trainer that is given more": of_model(
        """\

class Trainer:
    def __init__(self, more):
        self.net = Net()
        self.optimizer = Adam([*self.net.embed.parameters(), *self.net.encoder.parameters(), *more])
"""
    ),
}


@pytest.mark.parametrize("title", TRAINED)
def test_a_head_that_may_be_trained(title: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, TRAINED[title]) == []


def test_comments_and_docstrings_decide_nothing(tmp_path: Path) -> None:
    text = after(
        f'"""Freeze the pretrained head: requires_grad, no_grad."""\n# net.head.requires_grad_(False)\n{OPTIMIZER}'
    )
    assert found_in(tmp_path, text) == [("Net", "head")]


HELPERS = """\
import torch


def made(*parts):
    return torch.optim.Adam([p for part in parts for p in part.parameters()])
"""


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from helpers import made", "made(net.embed, net.encoder)"),
        ("from helpers import made as optimizer_of", "optimizer_of(net.embed, net.encoder)"),
        ("from helpers import *", "made(net.embed, net.encoder)"),
        ("import helpers", "helpers.made(net.embed, net.encoder)"),
    ],
)
def test_optimizers_that_another_file_builds(imports: str, call: str, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    text = imports + "\n" + after(call, MODEL.replace("from torch.optim import SGD, Adam\n", ""))
    assert found_in(tmp_path, text) == [("Net", "head")]


def builders(text: str, tmp_path: Path) -> list[str]:
    """The functions of a file that are asked for optimizers."""
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "train.py")
    assert module is not None
    return [function.name for function in OptimizerBuilders(module, project).first]


@pytest.mark.parametrize(
    "said",
    [
        '"""Steps a `torch.optim` optimizer, made by `build`."""',
        "self.optim.step(list(net.parameters()))",
        "self.log('optim', net.parameters())",
        "schedule: LRScheduler = self.schedule",
        "optim = self.rate\n        return optim, net.parameters()",
    ],
)
def test_a_function_that_only_speaks_of_optimizers_is_not_run(said: str, tmp_path: Path) -> None:
    text = (
        "import torch\nfrom torch.optim.lr_scheduler import LRScheduler\n\n\n"
        "def build(net):\n    return torch.optim.Adam(net.parameters())\n\n\n"
        f"class Trainer:\n    def work(self, net):\n        {said}\n\n    def again(self, net):\n"
        "        return self.work(net.parameters())\n"
    )
    assert builders(text, tmp_path) == ["build"]


@pytest.mark.parametrize(
    "said",
    [
        "return torch.optim.Adam(net.parameters())",
        "return getattr(torch.optim, self.kind)(net.parameters())",
        "return build(net.parameters())",
        "def inner():\n            return optim.SGD(net.parameters())\n        return inner()",
        "return (lambda: optim.SGD(net.parameters()))()",
        "make = {'sgd': optim.SGD}\n        return make['sgd'](net.parameters())",
        "return importlib.import_module('torch.optim').SGD(net.parameters())",
    ],
)
def test_a_function_that_may_build_an_optimizer_is_run(said: str, tmp_path: Path) -> None:
    text = (
        "import importlib\nimport torch\nfrom torch import optim\n\n\n"
        "def build(parameters):\n    return torch.optim.Adam(parameters)\n\n\n"
        f"class Trainer:\n    def work(self, net):\n        {said}\n"
    )
    assert "work" in builders(text, tmp_path)


def test_optimizers_are_built_three_files_away(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    (tmp_path / "two.py").write_text("import helpers  # optim\n\n\ndef two(*parts):\n    return helpers.made(*parts)\n")
    (tmp_path / "one.py").write_text("import two  # optim\n\n\ndef one(*parts):\n    return two.two(*parts)\n")
    text = "from one import one\n" + after(
        "one(net.embed, net.encoder)", MODEL.replace("from torch.optim import SGD, Adam\n", "")
    )
    assert found_in(tmp_path, text) == [("Net", "head")]


def test_a_file_beside_it_may_train_the_rest(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        "import torch\nfrom train import main\n\nnet = main()\ntorch.optim.SGD(net.head.parameters(), lr=0.1)\n",
        encoding="utf-8",
    )
    assert found_in(tmp_path, after(f"{OPTIMIZER}return net")) == []


def test_super_of_something_that_is_no_object(tmp_path: Path) -> None:
    text = after(
        "net.place({})\n" + OPTIMIZER,
        MODEL + "    def place(self, parts):\n        return super(Net, parts or self).half()\n",
    )
    assert found_in(tmp_path, text) == [("Net", "head")]


def test_nothing_more_is_followed_once_something_was_left_out(tmp_path: Path) -> None:
    """More calls under way than are followed, one of which may train the rest: nothing is said of any layer."""
    chain = "".join(f"\n\ndef reach{i}(net):\n    return reach{i + 1}(net)\n" for i in range(30))
    work = "\n\ndef work(net, at):\n    sizes = at.sizes\n" + "    at.add(sizes, net.head(at))\n" * 40

    def check(times: int) -> None:
        body = "reach0(net)\n" + "".join(f"work(net, {OPTIMIZER.split()[0]}.at{i})\n" for i in range(times))
        assert found_in(tmp_path, after(OPTIMIZER + body) + chain + "    net.parameters()\n" + work) == []

    check(1)  # what is imported counts for neither
    few = calls_of(lambda: check(5))
    assert calls_of(lambda: check(40)) < 2 * few


@pytest.mark.timeout(60)
def test_a_lambda_in_a_decorator_is_read_once(workspace: Workspace) -> None:
    """Its code is the code around it, the lambda among it: the search for names in it has to end."""
    marked = "@pytest.mark.parametrize('scale', [lambda epoch: 0.9])\ndef test_step(scale):\n"
    body = "    return torch.optim.SGD([torch.zeros(1)], lr=scale(1))\n"
    workspace.write({"test_steps.py": f"import pytest\nimport torch\n\n\n{marked}{body}"})
    assert workspace.run("check", "--no-cache").code == 0
