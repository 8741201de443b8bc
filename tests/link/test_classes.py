"""Class models say what a constructor registers, keeps and moves, and None where that cannot be known."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from modellint.flow.built import Child, children, has_state, is_device_lazy, moves, registers, stores
from modellint.flow.domain import NO_ARGUMENTS, Arguments, ClassRef, Constant
from modellint.flow.heap import Shell
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.flow.domain import Atom
    from modellint.link.classes.models import ClassModel

    Read = Callable[..., ClassModel]

HEAD = "import copy, functools\nimport torch\nimport torch.nn as nn\nfrom unknown import Stranger\n"


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """The model of the class `A` in a file with this text."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def run(text: str, name: str = "A") -> ClassModel:
        path = tmp_path / "main.py"
        path.write_text(HEAD + text, encoding="utf-8")
        project = Project(ProjectOptions(tmp_path))
        module = project.python(path)
        assert module is not None
        model = project.classes.resolve(name, module)
        assert model is not None
        return model

    return run


def layer(body: str, parameters: str = "", *, base: str = "nn.Module") -> str:
    """A class `A` whose constructor has this body."""
    lines = "\n".join(f"        {line}" for line in ["super().__init__()", *body.splitlines()])
    return f"class A({base}):\n    def __init__(self{parameters and ', ' + parameters}):\n{lines}\n"


def given(**values: Atom) -> Arguments:
    """Arguments by name."""
    return Arguments((), {name: (value,) for name, value in values.items()})


def made(model: ClassModel) -> Shell:
    """An object of a class that is given nothing."""
    return Shell("instance", None, (), model)


def listed(*values: Atom) -> Shell:
    found = Shell("list", None, ())
    found.fill(tuple((value,) for value in values))
    return found


# -- what is a layer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A(nn.Module): pass", True),
        ("class B(nn.Linear): pass\nclass A(B): pass", True),
        ("class A: pass", False),
        ("class A(dict): pass", False),
        ("class A(torch.utils.data.Dataset): pass", False),
        ("class A(torch.autograd.Function): pass", False),
        ("class A(Stranger): pass", None),
        ("class A(Stranger, nn.Module): pass", True),
        ("from lightning import LightningModule\nclass A(LightningModule): pass", True),
        ("from typing import Generic, TypeVar\nT = TypeVar('T')\nclass A(nn.Module, Generic[T]): pass", True),
        ("class A(B): pass\nclass B(A): pass", None),
        ("class A(A): pass", None),
        ("class A(make()): pass", None),
        ("class A(metaclass=type): pass", False),
    ],
)
def test_what_is_a_layer(read: Read, text: str, expected: bool | None) -> None:
    assert read(text).is_module is expected


def test_bases_come_in_the_order_of_method_resolution(read: Read) -> None:
    text = "class T: pass\nclass L(T): pass\nclass R(T): pass\nclass A(L, R): pass\n"
    assert [model.name.rpartition(".")[2] for model in read(text).mro()] == ["A", "L", "R", "T"]


# -- state -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.w = nn.Parameter(torch.zeros(3))", True),
        ("self.register_parameter('w', nn.Parameter(torch.zeros(3)))", True),
        ("self.register_parameter('w', None)", False),
        ("self.register_buffer('w', torch.zeros(3))", True),
        ("self.w = nn.Buffer(torch.zeros(3))", True),
        ("self.w = torch.zeros(3)", False),
        # Moving a parameter makes a plain tensor of it.
        ("self.w = nn.Parameter(torch.zeros(3)).to('cuda')", False),
        ("self.w = nn.Linear(3, 4)", True),
        ("self.w = nn.Linear(3, 4).to('cuda').eval()", True),
        ("self.w = nn.ReLU()", False),
        ("self.w = nn.Linear", False),
        ("self.w = nn.CrossEntropyLoss()", False),
        ("self.w = nn.CrossEntropyLoss(weight=torch.ones(3))", True),
        ("self.w = nn.BatchNorm1d(3)", True),
        ("self.w = nn.BatchNorm1d(3, affine=False, track_running_stats=False)", False),
        ("self.w = nn.LayerNorm(3, elementwise_affine=False)", False),
        ("self.w = nn.LSTM(3, 4)", True),
        ("self.w = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)", True),
        ("self.w = [nn.Linear(3, 4)]", False),
        ("self.w = nn.ModuleList([nn.Linear(3, 4)])", True),
        ("self.w = nn.ModuleList(nn.Linear(3, 4) for _ in range(3))", True),
        ("self.w = nn.ModuleList([nn.ReLU()])", False),
        ("self.w = nn.ModuleList()", False),
        ("self.w = nn.ModuleList()\nself.w.append(nn.Linear(3, 4))", True),
        ("self.w = nn.ModuleDict({'a': nn.Linear(3, 4)})", True),
        ("self.w = nn.ModuleDict()\nself.w['a'] = nn.Linear(3, 4)", True),
        ("self.w = nn.Sequential(nn.ReLU(), nn.Linear(3, 4))", True),
        ("layers = []\nfor _ in range(3):\n    layers.append(nn.Linear(3, 4))\nself.w = nn.Sequential(*layers)", True),
        ("layers = [nn.ReLU()]\nlayers += [nn.Linear(3, 4)]\nself.w = nn.Sequential(*layers)", True),
        ("for i in range(3):\n    self.add_module(f'w{i}', nn.Linear(3, 4))", True),
        ("for i in range(3):\n    setattr(self, f'w{i}', nn.Linear(3, 4))", True),
        ("self.w = copy.deepcopy(nn.Linear(3, 4))", True),
        ("self.w = functools.partial(nn.Linear, 3)(4)", True),
        ("self.w = {'a': nn.ReLU, 'b': nn.GELU}['a']()", False),
        ("self.w = getattr(nn, 'PReLU')()", True),
        ("self.w = nn.utils.weight_norm(nn.Linear(3, 4))", True),
        ("object.__setattr__(self, 'w', nn.Linear(3, 4))", False),
        ("self.w = Stranger()", None),
        ("self.w = nn.ReLU()\nself.w = nn.Linear(3, 4)", True),
        ("self.w = nn.Linear(3, 4)\nself.w = None", False),
        ("self.build()", None),
    ],
)
def test_state(read: Read, body: str, expected: bool | None) -> None:
    unknown = "    def build(self):\n        self.w = Stranger(3)\n" if "build" in body else ""
    assert has_state(read(layer(body) + unknown), NO_ARGUMENTS) is expected


@pytest.mark.parametrize(
    ("parameters", "body", "expected"),
    [
        ("flag", "if flag:\n    self.w = nn.Linear(3, 4)\nelse:\n    self.w = nn.GRU(3, 4)", True),
        ("flag", "if flag:\n    self.w = nn.Linear(3, 4)", None),
        ("kind", "if kind == 'a':\n    self.w = nn.GRU(3, 4)\nelse:\n    raise ValueError(kind)", True),
        ("kind", "assert kind in ('a', 'b')\nself.w = nn.GRU(3, 4)", True),
        ("kind", "if not kind:\n    self.w = nn.GRU(3, 4)\nif kind:\n    self.w = nn.LSTM(3, 4)", True),
        ("kind", "self.w = nn.GRU(3, 4) if kind else nn.LSTM(3, 4)", True),
        ("kind", "self.w = nn.GRU(3, 4) if kind else None", None),
        ("flag=False", "if flag:\n    self.w = nn.Linear(3, 4)", None),
        ("width: int", "self.w = width", False),
        ("inner", "self.w = inner", None),
    ],
)
def test_state_whatever_the_arguments(read: Read, parameters: str, body: str, expected: bool | None) -> None:
    assert has_state(read(layer(body, parameters))) is expected


FREEZE = layer("self.freeze = freeze\nif not self.freeze:\n    self.w = nn.Parameter(torch.zeros(3))", "freeze=True")


@pytest.mark.parametrize(("freeze", "expected"), [(True, False), (False, True)])
def test_arguments_decide(read: Read, freeze: bool, expected: bool) -> None:
    model = read(FREEZE)
    assert has_state(model, given(freeze=Constant(freeze))) is expected
    assert has_state(model, Arguments(((Constant(freeze),),))) is expected


def test_a_class_passed_uncalled_is_no_state_until_it_is_called(read: Read) -> None:
    linear, relu = (ClassRef(read("", f"nn.{name}")) for name in ("Linear", "ReLU"))
    called = read(layer("self.w = make(3, 4)", "make"))
    kept = read(layer("self.w = make", "make"))
    assert (has_state(called, given(make=linear)), has_state(called, given(make=relu))) == (True, False)
    assert has_state(kept, given(make=linear)) is False


def test_a_layer_given_counts(read: Read) -> None:
    model = read(layer("self.w = nn.ModuleList(layers)", "layers"))
    linear, relu = (made(read("", f"nn.{name}")) for name in ("Linear", "ReLU"))
    assert has_state(model, given(layers=listed(relu, linear))) is True
    assert has_state(model, given(layers=listed(relu))) is False


def test_each_of_several_layers_is_registered_in_a_loop(read: Read) -> None:
    model = read(layer("for name, part in parts.items():\n    self.add_module(name, part)", "**parts"))
    linear, relu = (made(read("", f"nn.{name}")) for name in ("Linear", "ReLU"))
    assert has_state(model, given(a=relu, b=linear)) is True
    assert has_state(model, given(a=relu)) is False
    assert has_state(model, NO_ARGUMENTS) is False


def test_what_is_no_layer_has_no_state_of_its_own(read: Read) -> None:
    text = layer("self.w = nn.Linear(3, 4)", base="object")
    assert has_state(read(text), NO_ARGUMENTS) is False


@pytest.mark.parametrize(
    "text",
    [
        "class B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Linear(3, 4)\n"
        "class A(B): pass\n",
        "class B(nn.Module):\n    def __init__(self, make):\n        super().__init__()\n        self.w = make(3, 4)\n"
        "class A(B):\n    def __init__(self):\n        super().__init__(nn.Linear)\n",
        "class B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.build()\n"
        "class A(B):\n    def build(self):\n        self.w = nn.Linear(3, 4)\n",
        "class A(nn.Sequential):\n    def __init__(self):\n        super().__init__(nn.Linear(3, 4))\n",
        "class A(nn.Module):\n    def __init__(self):\n        nn.Module.__init__(self)\n        self.w = self.make()\n"
        "    def make(self):\n        layers = [nn.Linear(3, 4)]\n        return nn.Sequential(*layers)\n",
        "def clones(layer, n):\n    return nn.ModuleList([copy.deepcopy(layer) for _ in range(n)])\n"
        + layer("self.w = clones(nn.Linear(3, 4), 2)"),
        "class A(nn.Module):\n    make = nn.Linear\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = self.make(3, 4)\n",
        "class C:\n    def __init__(self, width=3):\n        self.make = nn.Linear\n"
        + layer("c = C()\nself.w = c.make(3, 4)"),
        "KINDS = {'a': nn.Linear, 'b': nn.GRU}\n" + layer("self.w = KINDS[kind](3, 4)", "kind: str"),
    ],
    ids=[
        "base",
        "base argument",
        "own method",
        "container",
        "returned",
        "function",
        "class attribute",
        "config",
        "table",
    ],
)
def test_state_is_followed_through(read: Read, text: str) -> None:
    assert has_state(read(text)) is True


@pytest.mark.parametrize(
    "text",
    [
        layer("self.w = A()"),
        layer("self.w = self.f()") + "    def f(self):\n        return self.f()\n",
        layer("self.f()") + "    def f(self):\n        self.g()\n    def g(self):\n        self.f()\n",
        "def f(x):\n    return f(x)\n" + layer("self.w = f(1)"),
        "X = [X]\n" + layer("self.w = X"),
        layer("x = 1\nwhile x:\n    x = [x, x]\nself.w = x"),
    ],
    ids=["itself", "method", "methods", "function", "constant", "loop"],
)
def test_circles_end_unknown_or_stateless(read: Read, text: str) -> None:
    assert has_state(read(text)) is not True


# -- what happens to an argument ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.lm = lm", True),
        ("self.parts = nn.ModuleList([lm])", True),
        ("self.parts = nn.ModuleDict({'lm': lm})", True),
        ("self.parts = nn.Sequential(nn.ReLU(), lm)", True),
        ("self.add_module('lm', lm)", True),
        ("if lm is not None:\n    self.lm = lm", True),
        ("self.lm = lm or nn.Identity()", True),
        ("self.lm = lm.eval()", True),
        ("self.parts = [lm]", False),
        ("self.__dict__['lm'] = lm", False),
        ("object.__setattr__(self, 'lm', lm)", False),
        ("self.width = lm.width", False),
        ("self.copy = copy.deepcopy(lm)", True),
    ],
)
def test_which_arguments_are_registered(read: Read, body: str, expected: bool) -> None:
    assert registers(read(layer(body, "lm")), "lm") is expected


def test_registration_reaches_through_base_and_child(read: Read) -> None:
    keeper = layer("self.inner = inner", "inner").replace("class A", "class Keeper")
    base = "class A(Keeper):\n    def __init__(self, lm):\n        super().__init__(lm)\n"
    assert registers(read(keeper + base), "lm") is True
    assert registers(read(keeper + layer("self.child = Keeper(lm)", "lm")), "lm") is True
    plain = keeper.replace("(nn.Module)", "").replace("super().__init__()", "pass")
    assert registers(read(plain + layer("self.child = Keeper(lm)", "lm")), "lm") is False


def test_what_is_no_layer_registers_nothing(read: Read) -> None:
    model = read(layer("self.lm = lm", "lm", base="object"))
    assert (registers(model, "lm"), stores(model, "lm")) == (False, ("lm",))


def test_an_unknown_base_leaves_registration_open(read: Read) -> None:
    assert registers(read(layer("self.lm = lm", "lm", base="Stranger")), "lm") is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def start(self, x):\n    self.lm.to(x.device)", True),
        ("def start(self, x):\n    self.lm = self.lm.cuda()", True),
        ("def start(self, x):\n    for part in self.parts:\n        part.to(x.device)", True),
        ("def start(self, x):\n    return self.lm(x).to(x.device)", False),
        ("def start(self, x):\n    return x.to(self.lm.device)", False),
    ],
)
def test_who_moves_an_argument(read: Read, body: str, expected: bool) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = layer("self.lm = lm\nself.parts = [lm]", "lm", base="object") + lines
    assert moves(read(text), "lm") is expected
    assert moves(read(layer("self.lm = nn.ModuleList([lm]).to('cuda')", "lm", base="object")), "lm") is True


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.to(x.device)", True),
        ("self.w = self.w.to(x.device)", True),
        ("self.other = self.other.to(x.device)", False),
        ("return self.w(x)", False),
        ("return x.to('cpu')", False),
    ],
)
def test_layers_that_follow_their_input(read: Read, body: str, expected: bool) -> None:
    text = layer("self.w = nn.Linear(3, 4)\nself.other = torch.zeros(3)")
    assert is_device_lazy(read(f"{text}    def forward(self, x):\n        {body}\n")) is expected


# -- the rest of the interface -----------------------------------------------------------------------------------------


def test_signatures(read: Read) -> None:
    model = read(layer("pass", "width, *rest, bias=True, **options"))
    assert [p.name for p in model.signature or ()] == ["width", "rest", "bias", "options"]
    assert read("class A: pass").signature == ()
    text = "from dataclasses import dataclass\n@dataclass\nclass A:\n    width: int = 3\n"
    assert [p.name for p in read(text).signature or ()] == ["width"]


def test_layers_keep_the_name_that_is_given_where_another_path_makes_one_of_it(read: Read) -> None:
    text = dedent(
        """
        class Layers(nn.ModuleDict):
            def append(self, layer, name):
                if name in self:
                    name = f"{name}_1"
                self.add_module(name, layer)

        class A(Layers):
            def __init__(self):
                super().__init__()
                self.append(nn.Linear(3, 4), name="first")
        """
    )
    assert children(read(text)) == {"first": Child(True, True)}


def test_children_and_stored_attributes(read: Read) -> None:
    text = (
        "class B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(3, 4)\n"
    )
    text += (
        "class A(B):\n    def __init__(self, c):\n        super().__init__()\n        self.b = 3\n        self.c = c\n"
    )
    text += "    def forward(self, x):\n        return self.c(x)\n    def reset(self):\n        self.a = None\n"
    model = read(text)
    assert children(model) == {"a": Child(True, True), "c": Child(None, None)}
    method = model.method("forward")
    assert method is not None
    assert method.qualname == "A.forward"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.weight = nn.Parameter(torch.zeros(3))", True),
        ("self.weight = nn.Parameter(torch.zeros(3), requires_grad=False)", False),
        ("self.weight = nn.Parameter(torch.zeros(3), False)", False),
        ("self.register_parameter('weight', nn.Parameter(torch.zeros(3)))", True),
        ("self.register_buffer('table', torch.zeros(3))", False),
        ("self.table = nn.Buffer(torch.zeros(3))", False),
        ("self.norm = nn.BatchNorm1d(3, affine=False)", False),
        ("self.norm = nn.BatchNorm1d(3)", True),
    ],
)
def test_buffers_and_frozen_parameters_are_state_that_is_not_trained(read: Read, body: str, expected: bool) -> None:
    model = read(layer(body))
    assert has_state(model, NO_ARGUMENTS) is True
    assert has_state(model, NO_ARGUMENTS, trained=True) is expected
