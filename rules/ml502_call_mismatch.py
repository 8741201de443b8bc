"""ML502: a call whose arguments its callee does not take."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.calls.fitting import Mismatch
    from modellint.link.classes.signatures import Misfit
    from modellint.link.project import Project

_ENCODER = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x)
        return x
"""


class CallMismatch(Rule):
    """A call passes arguments that its callee does not take, or leaves out some that it needs

    ## What it does
    Compares calls with the definition that they reach, where that is one for certain: functions, methods, constructors
    through the bases of a class, `super().m(…)`, and layers that are called (`self.encoder(x)` is its `forward`; `nn`
    types their calls as `Any`, so no type checker looks at them). Reports names that the callee does not know,
    parameters without a value, more positional arguments than there are parameters, and parameters that get two values.

    In tests, demonstrations and under `if __name__ == "__main__"` it is an info.

    ## Why is this bad
    `TypeError` when the call is reached, which may be hours into a training or in an option that nobody tried lately.

    ## How to fix
    Correct the argument's name, add what is missing, or take out what the callee does not know. `--unsafe-fixes`
    renames an argument to the parameter that is written alike.

    ## What it cannot see
    What decorators make of a function is not known, unless torch or the standard library keep its signature; neither
    are functions that something else replaces while the program runs, dataclasses, and classes with `__new__` or a
    metaclass. `*args` and `**kwargs` of the callee take anything. A definition that has several candidates, one in each
    branch of an import, is none.

    ## Confirming
    Not run: whether Python refuses a call follows from its signature alone.

    ## References
    - [Python: calls](https://docs.python.org/3/reference/expressions.html#calls)
    """

    code = "ML502"
    name = "call-mismatch"
    severity = Severity.ERROR
    triggers = ("import|def|class",)
    bad = (
        Example(
            "A layer that is given an argument under another name",
            {
                "encoder.py": _ENCODER,
                "model.py": """\
from torch import nn

from encoder import Encoder


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = Encoder(width, n_depth=4)  # expect: ML502
        self.decoders = nn.ModuleList([Encoder(width) for _ in range(2)])

    def forward(self, x, mask):
        x = self.encoder(x, masks=mask)  # expect: ML502
        for decoder in self.decoders:
            x = decoder(x, mask, x)  # expect: ML502
        return x
""",
            },
            changes=(("n_depth=4", "depth=4"), ("masks=mask", "mask=mask")),
        ),
        Example(
            "A parameter that was added, and callers that were left behind",
            {
                "training.py": """\
import torch


def train_step(model, batch, optimizer, config):
    loss = model(batch, config)
    loss.backward()
    optimizer.step()


class Trainer:
    def __init__(self, model, scheduler, *, clip):
        self.model = model

    @torch.no_grad()
    def validate(self, batches, stage):
        return [self.model(batch, stage) for batch in batches]

    def fit(self, batches, optimizer):
        for batch in batches:
            train_step(self.model, batch, optimizer)  # expect: ML502
        self.validate(batches)  # expect: ML502

    @classmethod
    def of(cls, model):
        return Trainer(model, None)  # expect: ML502


def resume(model, batches):
    trainer = Trainer(model, None, clip=1.0)
    trainer.validate(batches, "valid", 3)  # expect: ML502
    return trainer
""",
            },
        ),
        Example(
            "A constructor that a base class has, and one that it had",
            {
                "blocks.py": """\
from torch import nn


class Block(nn.Module):
    def __init__(self, width, init_method):
        super().__init__()
        self.proj = nn.Linear(width, width, biass=False)  # expect: ML502
        init_method(self.proj.weight)


class Wide(Block):
    def __init__(self, width):
        super().__init__(2 * width)  # expect: ML502


class Narrow(Block):
    def __init__(self, width):
        super(Narrow, self).__init__(width // 2, nn.init.xavier_uniform_, width)  # expect: ML502


class Plain(Block):
    pass


plain = Plain(3)  # expect: ML502
""",
            },
            changes=(("biass=False", "bias=False"),),
        ),
        Example(
            "A parameter that gets two values, and one star too few",
            {
                "quantize.py": """\
import helpers


def quantize(x, scale, stochastic, epsilon=1e-8):
    return helpers.fake(x, scale, 4, False, True)  # expect: ML502


def forward(x, scale, bits, *rest):
    y = quantize(x, scale, bits, stochastic=False)  # expect: ML502
    return quantize(*rest, y, y, y, y, y)  # expect: ML502
""",
                "helpers.py": """\
def fake(x, scale, *, bits):
    return (x / scale).round() * scale * bits
""",
            },
        ),
        Example(
            "What a module does when it is run",
            {
                "model.py": _ENCODER
                + """\


if __name__ == "__main__":
    encoder = Encoder()  # expect: ML502
    encoder.eval()(1, 2, 3)  # expect: ML502
"""
            },
        ),
    )
    good = (
        Example(
            "Decorators that pass other arguments on",
            {
                "train.py": """\
import functools

import hydra
from contextlib import contextmanager


@hydra.main(config_path="configs", config_name="train")
def main(cfg):
    return cfg


def with_seed(function):
    @functools.wraps(function)
    def wrapper(*args, seed=0):
        return function(*args, seed)

    return wrapper


@with_seed
def sample(model, seed):
    return model(seed)


@contextmanager
def muted(stream):
    yield stream


class Net:
    @property
    def head(self):
        return lambda x: x

    @head.setter
    def head(self, value):
        self._head = value

    def __call__(self, x):
        return self.head(x)


if __name__ == "__main__":
    main()
    sample(Net())
""",
            },
        ),
        Example(
            "Stars on either side, defaults, and names that go with anything",
            {
                "model.py": """\
from torch import nn


def pool(x, *sizes, keep=False, **options):
    return x


class Model(nn.Module):
    def __init__(self, width, **kwargs):
        super().__init__()
        self.proj = nn.Linear(width, width, **kwargs)

    def mix(self, x, y, z=None):
        return x

    @staticmethod
    def scale(x, factor):
        return x * factor

    @classmethod
    def small(cls, width=8):
        return cls(width, bias=False)

    def forward(self, x, *more, **options):
        x = self.mix(*more, **options)
        x = pool(x, 1, 2, 3, keep=True, mode="max")
        return self.scale(self.proj(x), 2)


model = Model.small(4)
model(1, 2, 3, four=4)
Model.mix(model, 1, 2)
""",
            },
        ),
        Example(
            "A method that a subclass defines with other parameters, and one that only says so",
            {
                "base.py": """\
from torch import nn


class Base(nn.Module):
    def encode(self, x):
        raise NotImplementedError

    def embed(self, x):
        return x

    def forward(self, x, mask):
        return self.encode(x, mask) + self.embed(x, mask)
""",
                "model.py": """\
from base import Base


class Masked(Base):
    def encode(self, x, mask):
        return x * mask

    def embed(self, x, mask):
        return x + mask
""",
            },
        ),
        Example(
            "Several candidates: an import that an option chooses, and definitions that follow one another",
            {
                "model.py": """\
try:
    from fast import attend
except ImportError:
    from slow import attend

if attend is not None:
    from fast import norm
else:

    def norm(x):
        return x


def mix(x):
    return x


def mix(x, y):
    return x + y


class Model:
    if attend is not None:

        def step(self, x, y):
            return attend(x, y)

    else:

        def step(self, x):
            return attend(x, 1, 2)

    def run(self, x):
        return mix(self.step(x), norm(x, 1e-6))
""",
                "slow.py": "def attend(x):\n    return x\n",
                "fast.py": "def attend(x, y):\n    return x + y\n\n\ndef norm(x, eps):\n    return x\n",
            },
        ),
        Example(
            "What replaces a method, and another start of the order of bases",
            {
                "model.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()


class Middle(Base):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)


class Top(Middle):
    def __init__(self, width):
        super(Middle, self).__init__()
        self.width = width
        self.act = nn.ReLU()
        if width > 3:
            self.act = Middle(width)

    def forward(self, x):
        return self.act(x, x)


def with_cache(model, x, cache):
    return x


def patch(model: Top):
    Middle.forward = with_cache
    return Middle(3)(1, 2)
""",
            },
        ),
        Example(
            "Classes that make their objects in another way",
            {
                "model.py": """\
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Once:
    def __new__(cls, *args):
        return object.__new__(cls)

    def __init__(self):
        self.values = []


class Registered(type):
    def __call__(cls, *args, **kwargs):
        return type.__call__(cls)


class Built(metaclass=Registered):
    def __init__(self):
        self.values = []


@dataclass
class Config:
    width: int
    depth: int = 2


class Mode(Enum):
    TRAIN = "train"


class Pair(NamedTuple):
    left: int
    right: int = 0


made = [Once(1, 2), Built(3), Config(8, depth=3), Mode("train"), Pair(1)]
""",
            },
        ),
        Example(
            "A layer with a `__call__` of its own",
            {
                "model.py": """\
from torch import nn


class Step(nn.Module):
    def __call__(self, x, state, **kwargs):
        return super().__call__(x + state)

    def forward(self, x):
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x):
        return self.step(x, 0)
""",
            },
        ),
        Example(
            "Calls that are meant to fail",
            {
                "test_model.py": """\
import pytest

from model import build


def test_build_needs_a_width():
    with pytest.raises(TypeError):
        build()


def old_and_new(depth):
    try:
        return build(3, depth=depth)
    except TypeError:
        return build(3)
""",
                "model.py": "def build(width):\n    return width\n",
            },
        ),
        Example(
            "A file that another one is generated from",
            {
                "modular_net.py": """\
from modeling_old import OldNet


class Net(OldNet):
    def __init__(self, config):
        super().__init__(config, layer_type="full")
""",
                "modeling_net.py": "# Automatically generated from modular_net.py.\nclass Net:\n    pass\n",
                "modeling_old.py": "class OldNet:\n    def __init__(self, config):\n        self.config = config\n",
            },
        ),
        Example(
            "Another module's function by the name of one's own",
            {
                "package/__init__.py": "",
                "package/model.py": """\
def load(path):
    return path


def restore(path, device):
    from .files import load

    return load(path, device)


def attend(load, path, device):
    return load(path, device)
""",
                "package/files.py": "def load(path, device):\n    return path, device\n",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.calls.fitting import mismatches

        for mismatch in mismatches(module, project):
            for misfit in mismatch.misfits:
                yield self._finding(mismatch, misfit, project)

    def _finding(self, found: Mismatch, misfit: Misfit, project: Project) -> Finding:
        from modellint.link.calls.doubts import is_tried_out

        module, call, reached = found.function.module, found.call, found.reached
        names = [p.name for p in reached.parameters if p.kind in ("positional", "keyword")]
        free = [name for name in names if name not in call.data]
        near = get_close_matches(misfit.unknown, free, n=1, cutoff=0.6) if misfit.unknown else []
        shown = f"`{reached.name}`"
        if reached.attribute is not None and reached.name == "forward":
            shown = f"`self.{reached.attribute}`"
        place = _place(found, misfit)
        related = []
        if place.span.line > call.line:
            related.append(Related(module.place(call.callee), "the call"))
        if reached.function is not None:
            related.append(Related(reached.function.place, "defined here"))
        return self.finding(
            place,
            _message(shown, misfit, call.positional),
            symbol=f"{found.function.qualname}.{misfit.unknown or misfit.doubled or reached.name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if is_tried_out(project, found.function, found.event) else None,
            evidence=(f"{shown} {_described(reached.parameters)}", "the call raises `TypeError`"),
            related=related,
            help=_advice(misfit, near),
            fix=_renamed(found, misfit, near, module),
        )


def _place(found: Mismatch, misfit: Misfit) -> Place:
    """The argument that does not fit; the call, where one is missing."""
    module, call = found.function.module, found.call
    name = misfit.unknown or misfit.doubled
    if name:
        return _keyword(found, name) or module.place(call.keywords[name])
    return module.place(call)


def _keyword(found: Mismatch, name: str) -> Place | None:
    """Where the name of an argument is written."""
    from modellint.edits.python import place_in, written

    module, call = found.function.module, found.call
    node = written(call, module)
    if not isinstance(node, ast.Call):
        return None
    for keyword in node.keywords:
        if keyword.arg == name:
            span = place_in(call, keyword.value, module).span
            start = place_in(call, ast.copy_location(ast.Constant(0), keyword), module).span
            if (start.line, start.column) < (span.line, span.column):
                return Place(module.path, Span(start.line, start.column, start.line, start.column + len(name)))
    return None


def _renamed(found: Mismatch, misfit: Misfit, near: list[str], module: ModuleFacts) -> Fix | None:
    place = _keyword(found, misfit.unknown) if near else None
    if place is None:
        return None
    return Fix(f"Call it `{near[0]}`", Applicability.UNSAFE, (Edit(place, near[0]),))


def _message(shown: str, misfit: Misfit, positional: tuple[object, ...]) -> str:
    if misfit.unknown:
        return f"{shown} takes no argument `{misfit.unknown}`"
    if misfit.doubled:
        return f"{shown} is given `{misfit.doubled}` by position, and again by name"
    if misfit.missing:
        return f"{shown} needs " + " and ".join(f"`{missing}`" for missing in misfit.missing)
    arguments = "argument" if misfit.most == 1 else "arguments"
    return f"{shown} takes at most {misfit.most} {arguments} by position, not {len(positional)}"


def _described(parameters: tuple[object, ...]) -> str:
    stars = {"var-positional": "*", "var-keyword": "**"}
    names = [f"`{stars.get(p.kind, '')}{p.name}`" for p in parameters]  # type: ignore[attr-defined]
    return "takes " + (", ".join(names) if names else "no arguments")


def _advice(misfit: Misfit, near: list[str]) -> str:
    if near:
        return f"did you mean `{near[0]}`?"
    if misfit.unknown or misfit.doubled:
        return f"remove `{misfit.unknown or misfit.doubled}`"
    return "add what is missing" if misfit.missing else "remove what is too much"
