"""The gate only says what cannot matter: with it open, everything that is found is found all the same, and no more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml205_tensor_not_buffer.stranded import stranded
from modellint_rules.ml206_layer_created_in_forward.creations import Creations
from modellint_rules.ml207_parameter_not_registered.parameters import derived, early
from modellint_rules.ml209_layer_not_optimised.optimised import LeftOut, left_out

from modellint.flow.gate import Keepers
from modellint.flow.layer_makers import LayerMakers
from modellint.flow.optimizer_builders import OptimizerBuilders
from modellint.flow.sine_tables import SineTables
from modellint.link.classes.registered import unregistered
from modellint.link.project import Project, ProjectOptions
from modellint.packs import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function

RULES = [rule for rule in load_rules().values() if rule.code in ("ML204", "ML205", "ML206", "ML207", "ML209")]
OF_LENGTHS = [rule for rule in load_rules().values() if rule.code in ("ML301", "ML302")]
#: Folders with packages, in the form of a path.
TREES = [Path(part) for part in os.environ.get("MODELLINT_TREES", "").split(os.pathsep) if part]


def found_in(root: Path) -> Iterator[tuple[str, int, str]]:
    """What the engine says of the classes of a tree."""
    project = Project(ProjectOptions(root=root))
    for path in sorted(root.rglob("*.py")):
        module = project.python(path)
        if module is not None:
            for kept in unregistered(module, project):
                yield path.name, kept.kept.target.line, f"{kept.confidence} {kept.kept.attribute}"
            for tensor in derived(module, project):
                yield path.name, tensor.target.line, f"derived {tensor.attribute}"
            for first in early(module, project):
                yield path.name, first.target.line, f"early {first.attribute}"
            for left in stranded(module, project):
                yield path.name, left.target.line, f"stranded {left.attribute} {left.is_certain}"
            for missing in left_out(module, project):
                is_child = isinstance(missing, LeftOut)
                name, others = (missing.child, missing.listed) if is_child else (missing.name, missing.given)
                yield path.name, missing.optimizer.call.line, f"{name} left out beside {others}"
            for made in project.of(Creations).of(module):
                yield path.name, made.call.line, f"made for {made.entry.qualname}, used at {made.use.value.line}"
            project.release(module)


def said_in(root: Path) -> Iterator[tuple[str, int, str]]:
    """What the rules about lengths of position tables say of a tree."""
    project = Project(ProjectOptions(root=root))
    for path in sorted(root.rglob("*.py")):
        module = project.python(path)
        if module is not None:
            for rule in OF_LENGTHS:
                for finding in rule.check_python(module, project):
                    yield path.name, finding.place.span.line, finding.message
            project.release(module)


def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything through."""
    monkeypatch.setattr(SineTables, "may_say_length", lambda *_: True)
    for name in ("may_keep", "may_derive", "may_store", "may_strand", "method_may_keep", "method_matters"):
        monkeypatch.setattr(Keepers, name, lambda *_: True)
    monkeypatch.setattr(Keepers, "may_store_early", lambda *_: True)
    monkeypatch.setattr(LayerMakers, "may_make", lambda *_: True)
    monkeypatch.setattr(OptimizerBuilders, "speaks_of", staticmethod(lambda *_: True))


@pytest.mark.dear
@pytest.mark.parametrize("rule", [*RULES, *OF_LENGTHS], ids=lambda rule: rule.code)
def test_examples_give_the_same_through_an_open_gate(
    rule: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = said_in if rule in OF_LENGTHS else found_in
    examples = [*type(rule).bad, *type(rule).good]  # type: ignore[attr-defined]
    for number, example in enumerate(examples):
        for name, text in example.files.items():
            file = tmp_path / str(number) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    closed = [list(asked(tmp_path / str(number))) for number in range(len(examples))]
    opened(monkeypatch)
    for number, example in enumerate(examples):
        assert list(asked(tmp_path / str(number))) == closed[number], example.title


#: What the constructor of a layer does, what stands before the class, and whether there is anything to train.
LAYERS = [
    ("self.w = P(torch.ones(3))", "", True),
    ("self.w = nn.Parameter(torch.ones(3), requires_grad=False)", "", False),
    ("self.w = nn.Buffer(torch.ones(3))", "", False),
    ("self.register_parameter('w', nn.Parameter(torch.ones(3)))", "", True),
    ("self.proj = made()", "def made(): return nn.Linear(3, 3)", True),
    ("self.proj = self.kind(3, 3)", "class Base(nn.Module): kind = nn.Linear", True),
    ("self.proj = self.made()", "class Base(nn.Module):\n    def made(self, kind=nn.Linear): return kind(3, 3)", True),
    ("self.proj = getattr(nn, 'Linear')(3, 3)", "", True),
    ("self.proj = Deeper(3, 3)", "class Deeper(nn.Linear): pass", True),
    ("self.scale = 3", "", False),
]


@pytest.mark.parametrize(("does", "before", "is_trained"), LAYERS, ids=[does for does, _, _ in LAYERS])
def test_a_layer_is_told_from_one_with_nothing_to_train(
    does: str, before: str, is_trained: bool, tmp_path: Path
) -> None:
    code = f"""\
import torch
from torch import nn
from torch.nn import Parameter as P


class Base(nn.Module):
    pass


{before}


class Inner(Base):
    def __init__(self):
        super().__init__()
        {does}

    def forward(self, x):
        return x


class Outer(nn.Module):
    def forward(self, x):
        return Inner()(x)
"""
    Path(tmp_path, "model.py").write_text(code, encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert bool(list(project.of(Creations).of(module))) is is_trained
    outer = project.classes.model(module.classes["Outer"])
    forward = outer.method("forward")
    assert forward is not None
    assert project.of(Keepers).makers.may_make(forward, outer) is is_trained


@pytest.mark.skipif(not TREES, reason="set MODELLINT_TREES to folders of packages")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_a_real_tree_gives_the_same_through_an_open_gate(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = [*found_in(tree), *said_in(tree)]
    opened(monkeypatch)
    assert [*found_in(tree), *said_in(tree)] == closed


def test_idle_methods_are_those_that_have_nothing_to_do_with_layers(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        """\
from torch import nn


class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.names = {}

    def note(self, name):
        self.names[name] = len(self.names)
        return self.count()

    def count(self):
        return [self.n, str(self.n)]

    def grow(self):
        self.add(nn.Linear(self.n, self.n))

    def add(self, layer):
        self.last = layer

    def through(self):
        return self.grow()

    def made(self):
        return [nn.Linear(self.n, self.n)]
"""
    )
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    keepers = Keepers(project)
    methods: dict[str, Function] = module.classes["Base"].methods
    assert [name for name, method in methods.items() if keepers.is_idle(method)] == ["__init__", "note", "count", "add"]
