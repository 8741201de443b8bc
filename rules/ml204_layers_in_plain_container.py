"""ML204: layers that a module keeps in a plain container, where torch does not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Finding, Severity
from modellint.link.classes.registered import type_name, unregistered
from modellint.link.classes.wrapping import without_comma, wrapped
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import NotRegistered
    from modellint.finding import Fix
    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.registered import Unregistered
    from modellint.link.project import Project
    from modellint.probes import Probe


class LayersInPlainContainer(Rule):
    """Layers in a plain list, tuple, set or dict, which `nn.Module` does not register

    ## What it does
    Follows the layers that a constructor makes, through local names, helper functions, loops and base classes, and
    reports those that the object keeps in a plain container and registers in no way: not by `ModuleList`,
    `ModuleDict` or `Sequential`, not by `add_module`, `register_module` or `setattr`, not under another name. Layers
    without parameters or buffers (activations, dropout, pooling) lose nothing by it and are left alone.

    ## Why is this bad
    `nn.Module` sees what is assigned to its attributes, not what lies in a list there. Layers in a plain container are
    not in `parameters()`, so no optimizer trains them; `.to(device)` leaves them on the CPU, where the first batch on
    a GPU fails; `state_dict()` leaves them out, so that a loaded model starts them at random, without a word.
    A comma behind `self.up = nn.Linear(…),` does the same, and the first call fails.

    ## How to fix
    Wrap lists and tuples in `nn.ModuleList(…)`, dicts in `nn.ModuleDict(…)`, and drop the comma.
    A layer that is meant to stay hidden (a parent, a frozen teacher) is better kept by
    `object.__setattr__(self, "teacher", teacher)`, which says so.

    ## References
    - [torch.nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    - [torch.nn.ModuleDict](https://pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html)
    """

    code = "ML204"
    name = "layers-in-plain-container"
    severity = Severity.ERROR
    triggers = ("class",)
    bad = (
        Example(
            "A list of blocks",
            {
                "model.py": """\
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x + self.proj(self.norm(x))


class Encoder(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.blocks = [Block(width) for _ in range(depth)]  # expect: ML204

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
""",
            },
            changes=(("[Block(width) for _ in range(depth)]", "nn.ModuleList([Block(width) for _ in range(depth)])"),),
        ),
        Example(
            "A comma behind a layer",
            {
                "model.py": """\
import torch
import torch.nn as nn


class Upsampler(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.ConvTranspose1d(  # expect: ML204
            width,
            width,
            kernel_size=4,
        ),
        self.act = nn.GELU(),  # expect: ML204

    def forward(self, x):
        return self.act(self.up(x))
""",
            },
            changes=(
                ("        ),", "        )"),
                ("nn.GELU(),", "nn.GELU()"),
            ),
        ),
        Example(
            "Appended in a loop, picked by index; a dict that is filled later, and one that is written out",
            {
                "model.py": """\
import torch
from torch import nn


class Pyramid(nn.Module):
    def __init__(self, widths, out):
        super().__init__()
        self.laterals = []  # expect: ML204
        self.heads = {}  # expect: ML204
        self.stems = {"image": nn.Conv2d(3, out, 3), "depth": nn.Conv2d(1, out, 3)}  # expect: ML204
        for width in widths:
            lateral = nn.Conv2d(width, out, 1)
            self.laterals.append(lateral)
            self.heads[str(width)] = nn.Linear(out, width)

    def forward(self, maps, kind):
        maps = [self.laterals[i](x) for i, x in enumerate(maps)]
        return self.fuse([self.stems[kind](x) for x in maps])

    def fuse(self, maps):
        return {name: head(x) for (name, head), x in zip(self.heads.items(), maps)}
""",
            },
            changes=(
                ("[]", "nn.ModuleList()"),
                ("{}", "nn.ModuleDict()"),
                (
                    '{"image": nn.Conv2d(3, out, 3), "depth": nn.Conv2d(1, out, 3)}',
                    'nn.ModuleDict({"image": nn.Conv2d(3, out, 3), "depth": nn.Conv2d(1, out, 3)})',
                ),
            ),
        ),
        Example(
            "A container of layers in one branch, a plain list in the other",
            {
                "model.py": """\
from torch import nn


class Head(nn.Module):
    def __init__(self, width, depth, compiled=False):
        super().__init__()
        layers = []
        for _ in range(depth):
            layers.append(nn.Linear(width, width))
        if compiled:
            self.layers = nn.ModuleList(layers)
        else:
            self.layers = layers  # expect: ML204

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
            },
            changes=(("self.layers = layers", "self.layers = nn.ModuleList(layers)"),),
        ),
        Example(
            "Made by helpers, of the class and of another file, and kept by a base class",
            {
                "helpers.py": """\
from torch import nn


def make_stages(widths):
    stages = []
    for a, b in zip(widths, widths[1:]):
        stages.append(nn.Sequential(nn.Conv2d(a, b, 3), nn.ReLU()))
    return stages
""",
                "base.py": """\
from torch import nn

from helpers import make_stages


class Base(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.stages = make_stages(widths)  # expect: ML204
        self.skips = self.make_skips(widths)  # expect: ML204

    def make_skips(self, widths):
        return [nn.Conv2d(width, width, 1) for width in widths]
""",
                "model.py": """\
from base import Base


class Model(Base):
    def forward(self, x):
        for stage, skip in zip(self.stages, self.skips):
            x = stage(x) + skip(x)
        return x
""",
            },
            changes=(
                ("self.stages = make_stages(widths)", "self.stages = nn.ModuleList(make_stages(widths))"),
                ("self.skips = self.make_skips(widths)", "self.skips = nn.ModuleList(self.make_skips(widths))"),
            ),
        ),
        Example(
            "A tuple of one among other branches",
            {
                "model.py": """\
import torch


class Encoder(torch.nn.Module):
    def __init__(self, size, width, kind):
        super().__init__()
        if kind == "linear":
            self.embed = torch.nn.Sequential(torch.nn.Linear(size, width), torch.nn.ReLU())
        elif kind == "embed":
            self.embed = (  # expect: ML204
                torch.nn.Embedding(size, width),
            )
        else:
            self.embed = None

    def forward(self, x):
        if self.embed is not None:
            x = self.embed(x)
        return x
""",
            },
            changes=(("torch.nn.Embedding(size, width),", "torch.nn.Embedding(size, width)"),),
        ),
        Example(
            "Copies of a registered layer are layers of their own",
            {
                "model.py": """\
import copy

from torch import nn


class Ensemble(nn.Module):
    def __init__(self, width, members):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.others = tuple(copy.deepcopy(self.first) for _ in range(members))  # expect: ML204

    def forward(self, x):
        return sum(member(x) for member in self.others) + self.first(x)
""",
            },
            changes=(
                (
                    "tuple(copy.deepcopy(self.first) for _ in range(members))",
                    "nn.ModuleList(tuple(copy.deepcopy(self.first) for _ in range(members)))",
                ),
            ),
        ),
        Example(
            "Made first and kept later, by a function that appends in a loop, and with blanks where nobody writes them",
            {
                "model.py": """\
import torch.nn as layers


def make(widths):
    made = []
    for a, b in zip(widths, widths[1:]):
        made.append(layers.Linear(a, b))
    return made


class Stack(layers.Module):
    def __init__(self, widths):
        super().__init__()
        self.stages = make(widths)  # expect: ML204
        heads = [layers.Linear (width, 1) for width in widths]
        self.heads = heads  # expect: ML204
        self.skips = ( # expect: ML204
            [layers . Linear(width, width) for width in widths]
        )

    def forward(self, x):
        for stage, head, skip in zip(self.stages, self.heads, self.skips):
            x = stage(x) + head(x) + skip(x)
        return x
""",
            },
            changes=(
                ("self.stages = make(widths)", "self.stages = layers.ModuleList(make(widths))"),
                ("self.heads = heads", "self.heads = layers.ModuleList(heads)"),
                (
                    "[layers . Linear(width, width) for width in widths]",
                    "layers.ModuleList([layers . Linear(width, width) for width in widths])",
                ),
            ),
        ),
    )
    good = (
        Example(
            "Registered later, by unpacking, in a loop, or by name",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.wrapped = [nn.Linear(width, width) for _ in range(depth)]
        self.wrapped = nn.ModuleList(self.wrapped)
        self.unpacked = [nn.Linear(width, width), nn.ReLU()]
        self.body = nn.Sequential(*self.unpacked)
        self.named = []
        self.added = {}
        for i in range(depth):
            layer = nn.Linear(width, width)
            self.named.append(layer)
            setattr(self, f"layer{i}", layer)
            self.added[i] = nn.Linear(width, width)
            self.add_module(f"added{i}", self.added[i])

    def forward(self, x):
        for a, b, c in zip(self.wrapped, self.named, self.added.values()):
            x = c(b(a(x)))
        for layer in self.unpacked:
            x = layer(x)
        return x
""",
            },
        ),
        Example(
            "A list that registers, filled in a loop under a name that is a plain list elsewhere",
            {
                "model.py": """\
from torch import nn


class Body(nn.Sequential):
    def __init__(self, width):
        layers = [nn.LayerNorm(width)]
        layers.append(nn.Linear(width, width))
        super().__init__(*layers)


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        layers = nn.ModuleList()
        for _ in range(depth):
            layers.append(Body(width))
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
            },
        ),
        Example(
            "Containers of layers that grow by `+=` and by unpacking",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.convs = nn.ModuleList()
        self.norms = nn.ModuleList()
        for _ in range(depth):
            self.convs += [nn.Conv1d(width, width, 3)]
            self.norms = self.norms + [nn.LayerNorm(width)]

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = norm(conv(x))
        return x
""",
            },
        ),
        Example(
            "Other names for layers that are registered",
            {
                "model.py": """\
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.low = nn.Linear(width, width)
        self.high = nn.Linear(width, width)
        self.order = [self.low, self.high]
        first = nn.Linear(width, width)
        self.table = {"first": first}
        self.first = first
        self.modules_by_name = nn.ModuleDict()
        self.sequence = []
        for name in ("a", "b"):
            if name == "a":
                self.sequence.append(len)
            else:
                layer = nn.Linear(width, width)
                self.modules_by_name[name] = layer
                self.sequence.append(layer)

    def forward(self, x):
        for layer in [*self.order, *self.sequence, *self.table.values()]:
            x = layer(x)
        return x
""",
            },
        ),
        Example(
            "Layers without parameters or buffers",
            {
                "model.py": """\
from torch import nn


class Act(nn.Module):
    def forward(self, x):
        return x.relu()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.activations = [nn.ReLU(), nn.GELU(), nn.Dropout(0.1), Act()]
        self.losses = {"l1": nn.L1Loss(), "ce": nn.CrossEntropyLoss()}

    def forward(self, x, target):
        for act in self.activations:
            x = act(self.proj(x))
        return self.losses["l1"](x, target)
""",
            },
        ),
        Example(
            "A parent or a teacher that is hidden on purpose",
            {
                "model.py": """\
from torch import nn


class Adapter(nn.Module):
    def __init__(self, parent, width):
        super().__init__()
        self._parent = [parent]
        object.__setattr__(self, "teacher", [nn.Linear(width, width)])
        self.__dict__["frozen"] = [nn.Linear(width, width)]
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self._parent[0](self.proj(x)) + self.teacher[0](x) + self.frozen[0](x)
""",
            },
        ),
        Example(
            "Classes and functions that make layers are no layers, and neither are lists of settings",
            {
                "model.py": """\
from functools import partial

from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kinds = [nn.Linear, nn.Conv1d]
        self.makers = {"norm": partial(nn.LayerNorm, width), "act": lambda: nn.PReLU()}
        self.sizes = (width, width * 2)
        self.layers = nn.ModuleList(kind(width, width, 1) for kind in self.kinds)

    def forward(self, x):
        for layer, size in zip(self.layers, self.sizes):
            x = layer(x[..., :size])
        return x, [kind.__name__ for kind in self.kinds], list(self.makers)
""",
            },
        ),
        Example(
            "Whoever is no module keeps layers as it likes",
            {
                "trainer.py": """\
from torch import nn


class Trainer:
    def __init__(self, width):
        self.models = [nn.Linear(width, width) for _ in range(2)]

    def forward(self, x):
        return [model(x) for model in self.models]
""",
            },
        ),
        Example(
            "A subclass registers what its base makes, and a method does for the list what torch would do",
            {
                "model.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Model(Base):
    def __init__(self, width):
        super().__init__(width)
        self.layers = nn.ModuleList(self.layers)


class ByHand(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.experts = [nn.Linear(width, width) for _ in range(3)]

    def forward(self, x):
        return sum(expert(x) for expert in self.experts)

    def _apply(self, fn, recurse=True):
        for expert in self.experts:
            expert._apply(fn)
        return super()._apply(fn)

    def parameters(self, recurse=True):
        for expert in self.experts:
            yield from expert.parameters()
""",
            },
        ),
        Example(
            "Registered by a helper, and by the layer that is built from the list",
            {
                "model.py": """\
from torch import nn


def register_all(owner, layers):
    for number, layer in enumerate(layers):
        owner.add_module(str(number), layer)


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class ByHelper(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(3)]
        register_all(self, self.layers)

    def forward(self, x):
        return self.layers[1](x)


class ByOther(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(3)]
        self.stack = Stack(self.layers)

    def forward(self, x):
        return self.stack(x) + self.layers[0](x)
""",
            },
        ),
        Example(
            "A list that is shared, and moved by hand wherever it is used",
            {
                "model.py": """\
from torch import nn


class Filters(nn.Module):
    def __init__(self, filters=None):
        super().__init__()
        self.filters = [nn.Linear(4, 4), nn.Linear(8, 8)] if filters is None else filters
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        for one in self.filters:
            x = one.to(x.device)(x)
        return self.proj(x)
""",
            },
        ),
        Example(
            "Containers that nothing uses, and classes that are not known",
            {
                "model.py": """\
from torch import nn

from somewhere import Layer


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.unused = [nn.Linear(width, width)]
        self.unknown = [Layer(width) for _ in range(3)]

    def forward(self, x):
        for layer in self.unknown:
            x = layer(x)
        return self.proj(x)
""",
            },
        ),
        Example(
            "Put in the place of parts of a layer that is given, and kept by name as well",
            {
                "model.py": """\
from torch import nn


def replace(root, path, layer):
    *parents, name = path.split(".")
    for parent in parents:
        root = getattr(root, parent)
    setattr(root, name, layer)


class Wrapped(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.scale = nn.LayerNorm(4)

    def forward(self, x):
        return self.scale(self.inner(x))


class Adapter(nn.Module):
    def __init__(self, net, paths):
        super().__init__()
        self.net = net
        self.wrappers = {}
        for path in paths:
            wrapper = Wrapped(net.get_submodule(path))
            replace(net, path, wrapper)
            self.wrappers[path] = wrapper

    def forward(self, x):
        for wrapper in self.wrappers.values():
            wrapper.scale.bias.zero_()
        return self.net(x)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for found in unregistered(module, project):
            if found.layers or not found.parameters:
                yield self._finding(found)

    def probe(self, claim: NotRegistered, project: Project) -> Probe | None:
        """Build the class, and look for what the attribute holds in `parameters()` and `state_dict()`."""
        from modellint.probes import file_probe

        return file_probe(claim, claim.owner)

    def _finding(self, found: Unregistered) -> Finding:
        kept = found.kept
        module = kept.function.module
        attribute = f"self.{kept.attribute}"
        if found.is_accident:
            lost = f": {_names(found)} in it is not registered" if found.layers else ", which cannot be called"
            message = f"the comma makes `{attribute}` a tuple of one{lost}"
            remedy = "drop the comma"
        else:
            message = (
                f"`{attribute}` is a plain {kept.kind}: {_names(found)} in it are not registered, "
                "so they are neither moved, trained nor saved"
            )
            remedy = f"use `nn.Module{'Dict' if kept.kind == 'dict' else 'List'}`"
        return self.finding(
            module.place(kept.target),
            message,
            symbol=f"{found.cls.name}.{kept.attribute}",
            confidence=found.confidence,
            evidence=found.evidence,
            related=found.related,
            help=remedy,
            fix=_fix(found),
            claim=found.claim,
        )


def _names(found: Unregistered) -> str:
    names = dict.fromkeys(type_name(layer) for layer in found.layers)
    return f"the {' and '.join(names)}" if found.is_accident else f"the {' and '.join(names)} layers"


def _fix(found: Unregistered) -> Fix | None:
    return without_comma(found.kept) if found.is_accident else wrapped(found, "Module")
