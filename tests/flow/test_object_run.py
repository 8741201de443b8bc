"""What an object holds after its constructor has been run on paper."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from modellint.flow.domain import Constant, Derived, FunctionRef, SymbolicInput, Unknown
from modellint.flow.gate import Keepers
from modellint.flow.heap import Shell
from modellint.flow.object_run import ObjectRun
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.flow.domain import Atom, Atoms

HEAD = """\
import copy
import itertools
from collections import defaultdict, OrderedDict
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple

import torch
from torch import nn
"""


def life_of(folder: Path, text: str, name: str = "Net") -> ObjectRun:
    (folder / "model.py").write_text(HEAD + text, encoding="utf-8")
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "model.py")
    assert module is not None
    object_run = ObjectRun(project.classes.model(module.classes[name]), project, Keepers(project))
    object_run.begin()
    assert object_run.run.is_complete
    return object_run


def shown(atoms: Atoms | None) -> str:
    """A value in few words: `list[Linear, Linear | None]`."""
    return "nothing" if atoms is None else " | ".join(sorted(_one(atom) for atom in atoms))


def _one(atom: Atom) -> str:
    if isinstance(atom, Shell):
        name = atom.kind if atom.model is None else atom.model.name.rpartition(".")[2]
        inside = ", ".join(shown(entry.atoms) for entry in atom.entries)
        return f"{name}[{inside}]" if atom.entries else name
    if isinstance(atom, Constant):
        return repr(atom.value)
    if isinstance(atom, Derived):
        return f"{atom.operation} of {_one(atom.parameter)}"
    if isinstance(atom, SymbolicInput):
        return atom.name
    return "?" if isinstance(atom, Unknown) else "a function" if isinstance(atom, FunctionRef) else "plain"


def held(folder: Path, body: str, before: str = "", methods: str = "") -> str:
    """What `self.x` holds after a constructor with that body."""
    text = f"{before}\n\nclass Net(nn.Module):\n    def __init__(self, n, flag=None):\n        super().__init__()\n"
    text += textwrap.indent(body, " " * 8) + "\n" + textwrap.indent(methods, " " * 4)
    return shown(life_of(folder, text).shell.get("x"))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("self.x = nn.Linear(n, n)", "Linear"),
        ("self.x = [nn.Linear(n, n), nn.ReLU()]", "list[Linear, ReLU]"),
        ("m = len(str(n))\nself.x = nn.Linear(m * m, n)", "Linear"),
        ("a = b = [nn.Linear(n, n)]\nself.x = b\na.append(nn.ReLU())", "list[Linear, ReLU]"),
        ("self.x = []\nx = self.x\nx.append(nn.Linear(n, n))", "list[Linear]"),
        ("self.x = x = []\nx += [nn.Linear(n, n)]", "list[Linear]"),
        ("x = []\nself.x = x\nfor i in range(n):\n    x.extend([nn.Linear(i, i)])", "list[Linear]"),
        ("self.x = [nn.Linear(n, n) for _ in range(n)]", "list[Linear]"),
        ("self.x = list(map(lambda i: nn.Linear(i, i), range(n)))", "list[Linear]"),
        ("self.x = [*[nn.Linear(n, n)], *(nn.ReLU(),)]", "list[Linear, ReLU]"),
        ("self.x = [None] * 3\nself.x[n] = nn.Linear(n, n)", "list[None, Linear]"),
        ("self.x = {'a': nn.Linear(n, n)}['a']", "Linear"),
        ("self.x = dict(a=nn.Linear(n, n)).get('a')", "Linear"),
        ("a, (b, *c) = nn.ReLU(), (nn.Linear(n, n), nn.GELU())\nself.x = c", "list[GELU | Linear]"),
        ("x = defaultdict(list)\nx['a'].append(nn.Linear(n, n))\nself.x = x", "dict[list[Linear]]"),
        ("self.x = [a for a, b in zip([nn.Linear(n, n)], [nn.ReLU()])]", "list[Linear]"),
        ("for i, layer in enumerate((nn.Linear(n, n),)):\n    self.x = layer", "Linear"),
        ("self.x = next(iter([nn.Linear(n, n)]))", "Linear"),
        ("self.x = list(itertools.chain([nn.Linear(n, n)], [nn.ReLU()]))", "list[Linear, ReLU]"),
        ("self.x = sum([[nn.Linear(n, n)], [nn.ReLU()]], [])", "list[Linear, ReLU]"),
        ("self.x = nn.ModuleList()\nself.x += [nn.Linear(n, n)]", "ModuleList[Linear]"),
        ("self.x = nn.Sequential(OrderedDict([('a', nn.Linear(n, n))]))", "Sequential[Linear]"),
        ("self.x = nn.ModuleList([nn.Linear(n, n)])[0]", "Linear"),
        ("make = partial(nn.Linear, n)\nself.x = make(n)", "Linear"),
        ("make = nn.Linear if n else nn.Conv1d\nself.x = make(n, n)", "Conv1d | Linear"),
        ("self.x = nn.Linear(n, n) if True else nn.ReLU()", "Linear"),
        ("flag = 'a'\nif flag == 'a':\n    self.x = nn.Linear(n, n)\nelse:\n    self.x = None", "Linear"),
        ("setattr(self, 'x', nn.Linear(n, n))", "Linear"),
        ("me = self\nme.x = nn.Linear(n, n)", "Linear"),
        ("self.add_module('x', nn.Linear(n, n))", "Linear"),
        ("nn.Module.add_module(self, 'x', nn.Linear(n, n))", "Linear"),
        ("self._modules['x'] = nn.Linear(n, n)", "Linear"),
        ("self.a = nn.Linear(n, n)\nself.x = getattr(self, 'a')", "Linear"),
        ("def make(k, kind=nn.Linear):\n    return kind(k, k)\nself.x = make(n)", "Linear"),
        ("def make(*n, **m):\n    return [m['k'](s, s) for s in n]\nself.x = make(n, k=nn.Linear)", "list[Linear]"),
        ("def f():\n    yield nn.Linear(n, n)\n    yield from (nn.GELU(),)\nself.x = [*f()]", "list[Linear, GELU]"),
        ("self.x = (lambda k: nn.Linear(k, k))(n)", "Linear"),
        ("with torch.no_grad():\n    self.x = nn.Linear(n, n)", "Linear"),
        ("try:\n    self.x = nn.Linear(n, n)\nfinally:\n    pass", "Linear"),
        ("self.x = nn.Parameter(torch.ones(n)).to('cuda')", "`.to()` of parameter"),
        ("self.x = -(2 * nn.Parameter(torch.ones(n)))", "`-` of parameter | plain"),
        ("self.x = copy.deepcopy(nn.Linear(n, n))", "Linear"),
        ("self.x = reduce(lambda a, b: a + [b], [nn.Linear(n, n)], [nn.ReLU()])", "list[ReLU, Linear] | list[ReLU]"),
        ("self.x = unknown(n)", "?"),
        ("self.x = n.width", "n.width"),
    ],
)  # fmt: skip
def test_a_constructor_leaves_what_python_would(tmp_path: Path, body: str, wanted: str) -> None:
    assert held(tmp_path, body) == wanted


def test_layers_come_from_wherever_they_are_made(tmp_path: Path) -> None:
    before = """
class Carrier(NamedTuple):
    layers: list


@dataclass
class Kept:
    layer: object = None


class Factory:
    def __init__(self, n):
        self.n = n

    def __call__(self):
        return nn.Linear(self.n, self.n)


def fill(owner, layers):
    owner.x = layers
    layers.append(nn.GELU())
"""
    methods = """
@property
def made(self):
    return nn.Linear(4, 4)

@classmethod
def of(cls, n):
    return nn.Conv1d(n, n, 1)

@staticmethod
def other(n):
    return nn.ReLU()
"""
    body = """
carrier = Carrier([self.made, self.of(n)])
carrier.layers.append(Kept(self.other(n)).layer)
carrier[0].append(Factory(n)())
fill(self, carrier.layers)
"""
    assert held(tmp_path, body, before, methods) == "list[Linear, Conv1d, ReLU, Linear, GELU]"


def test_methods_are_those_of_the_class_that_is_built(tmp_path: Path) -> None:
    text = """

class Mixin:
    def build(self):
        self.x = [nn.ReLU()]


class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.build()

    def build(self):
        self.x = [nn.Linear(self.n, self.n)]


class Net(Mixin, Base):
    def build(self):
        super().build()
        Base.build(self)
        self.x = [*self.x, nn.GELU()]
"""
    assert shown(life_of(tmp_path, text).shell.get("x")) == "list[Linear, GELU]"
    assert shown(life_of(tmp_path, text, "Base").shell.get("x")) == "list[Linear]"


def test_branches_are_kept_apart(tmp_path: Path) -> None:
    text = """

class Net(nn.Module):
    def __init__(self, flag):
        super().__init__()
        self.x = None
        if flag:
            self.x = []
            self.x.append(nn.Linear(1, 1))
        else:
            self.x = nn.ModuleList()
            self.x.append(nn.ReLU())
"""
    assert shown(life_of(tmp_path, text).shell.get("x")) == "ModuleList[ReLU] | None | list[Linear]"


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("if n % 2:\n    raise ValueError", True),
        ("assert n % 2", True),
        ("if n % 2:\n    pass\nelse:\n    raise ValueError", True),
        ("if n % 2:\n    return", False),
        ("if n % 2:\n    pass\nelse:\n    return", False),
    ],
)
def test_what_stands_behind_a_check_that_raises_is_in_every_object(check: str, expected: bool, tmp_path: Path) -> None:
    text = "class Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
    text += textwrap.indent(check + "\nself.x = nn.Linear(n, n)\n", " " * 8)
    (store,) = life_of(tmp_path, text).shell.stores
    assert (store.path == ()) is expected


def test_a_function_in_what_is_changed_in_place_runs_nothing_else(tmp_path: Path) -> None:
    body = "table = {}\ntable[(lambda: 1)()][0] = nn.ReLU()\nself.x = [nn.Linear(n, n)]"
    assert held(tmp_path, body) == "list[Linear]"


def test_functions_in_tables_of_a_module_run_as_well(tmp_path: Path) -> None:
    before = 'MAKERS = {"a": lambda n: [nn.Linear(n, n)], "b": nn.ReLU}\n'
    assert held(tmp_path, 'self.x = MAKERS["a"](n)', before) == "list[Linear]"


def test_copies_are_objects_of_their_own(tmp_path: Path) -> None:
    text = """

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a = nn.Linear(n, n)
        self.b = self.a
        self.c = copy.deepcopy(self.a)
"""
    shell = life_of(tmp_path, text).shell
    assert shell.get("a") == shell.get("b") != shell.get("c")


def test_functions_that_call_themselves_come_to_an_end(tmp_path: Path) -> None:
    before = "def make(n):\n    return [make(n - 1), nn.Linear(n, n)]\n"
    assert "Linear" in held(tmp_path, "self.x = make(n)", before)


def test_what_is_registered_is_found_in_what_holds_it(tmp_path: Path) -> None:
    text = """

class Stack(nn.Module):
    def __init__(self, layers, spare):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.spare = [spare]


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a = [nn.Linear(n, n)]
        self.b = [nn.ReLU()]
        self.c = [nn.GELU()]
        self.stack = Stack(self.a, self.b[0])
        self.other = unknown(self.c)
"""
    object_run = life_of(tmp_path, text)
    kept = {name: object_run.shell.get(name)[0].entries[0].atoms[0] for name in "abc"}  # type: ignore[index, union-attr]
    registered = object_run.registered(set(kept.values()))  # type: ignore[arg-type]
    assert [name for name, layer in kept.items() if layer in registered] == ["a", "c"]
