"""What an object keeps where `nn.Module` does not see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from effort import calls_of
from modellint_rules.ml207_parameter_not_registered.parameters import derived, early

from modellint.finding import Confidence
from modellint.flow import interp
from modellint.flow.gate import Keepers
from modellint.link.classes.registered import unregistered
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.registered import Unregistered

FORWARD = """
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""


def linked(folder: Path, *texts: str, newline: str = "\n") -> tuple[ModuleFacts, Project]:
    """The last text as `model.py`, those before it as `part0.py`, `part1.py`, …"""
    names = [f"part{number}.py" for number in range(len(texts) - 1)] + ["model.py"]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_bytes(text.replace("\n", newline).encode())
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "model.py")
    assert module is not None
    return module, project


def kept_in(folder: Path, body: str, *, newline: str = "\n") -> list[Unregistered]:
    """What a module with that constructor keeps unregistered, where `forward` goes over `self.layers`."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = f"""\
import copy
from collections import OrderedDict
from torch import nn


class Net(nn.Module):
    def __init__(self, n, flag, other=None):
        super().__init__()
{lines}{FORWARD}"""
    return list(unregistered(*linked(folder, text, newline=newline)))


@pytest.mark.parametrize(
    "body",
    [
        "self.layers = [nn.Linear(n, n), nn.ReLU()]",
        "self.layers = tuple(nn.Linear(n, n) for _ in range(n))",
        "self.layers = {nn.Linear(n, n)}",
        "self.layers = OrderedDict(first=nn.Linear(n, n))",
        "self.layers = list(map(lambda i: nn.Linear(i, n), range(n)))",
        "self.layers = [[nn.Linear(n, n)], [nn.ReLU()]]",
        "self.layers = [nn.Linear(n, n)] * n",
        "self.layers = None if flag else [nn.Linear(n, n) for _ in range(n)]",
        "self.layers: list = []\nfor i in range(n):\n    self.layers.append(nn.Linear(n, n))",
        "self.layers = []\nself.layers += [nn.Linear(n, n), nn.Linear(n, n)]",
        "layers = [nn.Linear(n, n)]\nlayers.insert(0, nn.Linear(n, n))\nself.layers = layers",
        "first, second = nn.Linear(n, n), nn.Linear(n, n)\nself.layers = [first, second]",
        "self.first = nn.Linear(n, n)\nself.layers = [copy.deepcopy(self.first) for _ in range(n)]",
        "self.layers = [nn.Sequential(nn.Linear(n, n), nn.ReLU()) if flag else nn.Identity() for _ in range(n)]",
    ],
)
def test_layers_in_plain_containers_are_found(body: str, tmp_path: Path) -> None:
    (found,) = kept_in(tmp_path, body)
    assert found.kept.attribute == "layers"
    assert found.layers
    assert not found.doubts
    assert found.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    "body",
    [
        "self.layers = nn.ModuleList([nn.Linear(n, n)])",
        "layers = [nn.Linear(n, n)]\nself.layers = layers\nself.body = nn.Sequential(*layers)",
        "self.a = nn.Linear(n, n)\nself.b = nn.Linear(n, n)\nself.layers = [self.a, self.b]",
        "self.layers = [nn.Linear(n, n) for _ in range(n)]\nfor i, l in enumerate(self.layers):\n"
        "    self.register_module(f'l{i}', l)",
        "self.layers = [nn.Linear(n, n)]\nself.layers = None",
        "layers = [nn.Linear(n, n)]\nself.layers = layers\nif flag:\n    self.x = nn.ModuleList(layers)\n"
        "else:\n    self.y = nn.ModuleList(layers)",
        "stage = nn.Module()\nstage.block = nn.Linear(n, n)\nself.stage = stage\nself.layers = [stage.block]",
        "self.layers = [other, lambda x: x, nn.Linear, nn.ReLU()]",
        "self.layers = [layer for layer in other]",
    ],
)
def test_what_is_registered_some_way_or_unknown_is_left_alone(body: str, tmp_path: Path) -> None:
    assert kept_in(tmp_path, body) == []


def test_a_registration_under_a_condition_raises_doubts(tmp_path: Path) -> None:
    body = (
        "layers = [nn.Linear(n, n)] + [nn.Linear(n, n)]\nself.layers = layers\n"
        "if flag:\n    self.m = nn.ModuleList(layers)"
    )
    (found,) = kept_in(tmp_path, body)
    assert found.confidence is Confidence.LOW


def test_a_branch_that_registers_says_nothing_of_the_other(tmp_path: Path) -> None:
    body = (
        "layers = [nn.Linear(n, n) for _ in range(n)]\nif flag:\n    self.layers = nn.ModuleList(layers)\n"
        "else:\n    self.layers = layers"
    )
    (found,) = kept_in(tmp_path, body)
    assert found.kept.target.line == 13
    assert found.confidence is Confidence.HIGH


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_stray_comma_is_seen_whatever_ends_a_line(newline: str, tmp_path: Path) -> None:
    (found,) = kept_in(tmp_path, "self.layers = nn.Linear(\n    n, n\n),", newline=newline)
    assert found.is_accident


def test_a_container_that_nothing_reads_is_unsure(tmp_path: Path) -> None:
    (found,) = kept_in(tmp_path, "self.layers = nn.ModuleList()\nself.spare = [nn.Linear(n, n), nn.Linear(n, n)]")
    assert not found.uses
    assert found.confidence is Confidence.LOW


def test_lists_of_numbers_are_not_worth_a_construction(tmp_path: Path) -> None:
    text = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, config, width, height):
        super().__init__()
        self.size = (width, height)
        self.dims = [config.dim] + config.dims
        self.names = ["a", "b"]
        self.steps = [int(width / 2 ** i) for i in range(3)]
        self.cache = {}
        self.layers = nn.ModuleList([nn.Linear(d, d) for d in self.dims])

    def forward(self, x):
        self.cache["x"] = x
        return x
"""
    module, project = linked(tmp_path, text)
    assert not Keepers(project).may_keep(module.classes["Net"])


def test_classes_that_lead_back_to_themselves_come_to_an_end(tmp_path: Path) -> None:
    text = f"""\
from torch import nn
from model import Loop


class Loop(Loop, nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = [Loop(depth - 1), self.make(depth)]

    def make(self, depth):
        return [self.make(depth), Loop(depth)]
{FORWARD}"""
    assert isinstance(list(unregistered(*linked(tmp_path, text))), list)


def test_many_containers_in_a_large_file_are_followed_in_bounded_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lower limit is reached by fewer containers; from there on the work grows as their number does."""
    monkeypatch.setattr(interp, "MAX_STEPS", 100)
    head = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"

    def follow(containers: int) -> None:
        stores = "".join(f"        self.a{i} = [nn.Linear({i}, n)]\n" for i in range(containers))
        found = unregistered(*linked(tmp_path, head + stores))
        assert {one.confidence for one in found} == {Confidence.LOW}

    assert calls_of(lambda: follow(800)) < 4 * calls_of(lambda: follow(200))


def test_operations_on_parameters_are_told_from_questions_about_them(tmp_path: Path) -> None:
    text = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n, device):
        super().__init__()
        self.moved = nn.Parameter(torch.ones(n)).half().to(device)
        self.negative = -(nn.Parameter(torch.ones(n)) * 2)
        self.frozen = nn.Parameter(torch.ones(n)).requires_grad_(False)
        self.size = nn.Parameter(torch.ones(n)).size(0)
        self.either = nn.Parameter(torch.ones(n)).cuda() if device else nn.Parameter(torch.ones(n))
"""
    found = {one.attribute: one.operation for one in derived(*linked(tmp_path, text))}
    assert found == {"moved": "`.to()`", "negative": "`-`", "either": "`.cuda()`"}


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("self.a = nn.Linear(n, n)\n        super().__init__()", ["a"]),
        ("self.a = nn.Linear(n, n)\n        nn.Module.__init__(self)", ["a"]),
        ("super().__init__()\n        self.a = nn.Linear(n, n)", []),
        ("self.a = [nn.Linear(n, n)]\n        super().__init__()", []),
        ("self.a = nn.Linear(n, n)", []),
        ("self.__dict__['a'] = nn.Linear(n, n)\n        super().__init__()", []),
    ],
)
def test_what_comes_before_the_constructor_of_the_module(head: str, wanted: list[str], tmp_path: Path) -> None:
    text = f"from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, n):\n        {head}\n"
    assert [one.attribute for one in early(*linked(tmp_path, text))] == wanted
