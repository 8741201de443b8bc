"""Queries about calls: what they call, and where their arguments come from, told by the rules of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.flow.queries import Kind, flow
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from conftest import Workspace

    from modellint.flow.queries import Operand, Queries

PAGE = Path(__file__).parents[2] / "docs" / "writing-rules.md"
IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
MODEL = """

class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc = nn.Linear(3, width)
        self.soft = nn.Softmax(dim=1)
        self.loss = nn.CrossEntropyLoss()
"""
PROBABILITIES = {
    "a function": """

def loss(x, y):
    p = F.softmax(x, dim=-1)
    return F.cross_entropy(p, y)  # expect: LAB006
""",
    "by name": """

def loss(x, y):
    return F.cross_entropy(target=y, input=torch.softmax(x, 1))  # expect: LAB006
""",
    "a layer in the constructor": MODEL
    + """
    def forward(self, x, y):
        return self.loss(self.soft(self.fc(x)), y)  # expect: LAB006
""",
    "a helper method and a view": MODEL
    + """
    def probabilities(self, x):
        return torch.softmax(self.fc(x), 1)

    def forward(self, x, y):
        return self.loss(self.probabilities(x).view(-1, 4).to(y.device), y)  # expect: LAB006
""",
    "the layer itself": MODEL
    + """
    def forward(self, x):
        return self.soft(self.fc(x))

    def training_step(self, batch, number):
        x, y = batch
        return self.loss(self(x), y)  # expect: LAB006
""",
    "the end of a container": """

net = nn.Sequential(nn.Linear(3, 4), nn.Softmax(1))
criterion = nn.CrossEntropyLoss()


def train(data):
    for x, y in data:
        criterion(net(x), y).backward()  # expect: LAB006
""",
    "a script": """

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Sequential(nn.Linear(3, 4), nn.Softmax(1))

    def forward(self, x):
        return self.head(x)


model = Model()
criterion = nn.CrossEntropyLoss(reduction="sum")
loss = criterion(model(torch.randn(2, 3)), torch.tensor([0, 1]))  # expect: LAB006
""",
    "a loss of one's own class": """

class Loss(nn.CrossEntropyLoss):
    pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = Loss()

    def forward(self, x, y):
        return self.loss(x.softmax(-1), y)  # expect: LAB006
""",
    "one of two results, and a loss that is passed": MODEL
    + """
    def forward(self, x):
        h = self.fc(x)
        return h, F.softmax(h, dim=1)


def train(data, criterion):
    model = Model()
    for x, y in data:
        h, p = model(x)
        criterion(h, y)
        criterion(p, y)  # expect: LAB006


train([], nn.CrossEntropyLoss())
""",
    "an entry of a dictionary": """

def predict(x):
    return {"scores": x, "probabilities": F.softmax(x, dim=1)}


def loss(x, y):
    out = predict(x)
    F.cross_entropy(out["scores"], y)
    return F.cross_entropy(out["probabilities"], y)  # expect: LAB006
""",
    "one path of two": """

def loss(x, y, normalise=False):
    if normalise:
        x = x.softmax(dim=-1)
    return F.cross_entropy(x, y)  # expect: LAB006
""",
    "another file": {
        "model.py": "from parts import predict\nfrom torch import nn\n\ncriterion = nn.CrossEntropyLoss()\n\n\n"
        "def step(x, y):\n    return criterion(predict(x), y)  # expect: LAB006\n",
        "parts.py": "import torch\n\n\ndef predict(x):\n    return torch.softmax(x, dim=1)\n",
    },
}
SCORES = {
    "scores": "\n\ndef loss(x, y):\n    return F.nll_loss(torch.log(x.softmax(1)), y), F.cross_entropy(x, y)\n",
    "logarithms": "\n\ndef loss(x, y):\n    return F.cross_entropy(torch.log(F.softmax(x, 1)), y)\n",
    "targets": "\n\ndef loss(x, t):\n    return F.cross_entropy(x, F.softmax(t, dim=-1))\n",
    "attention before a layer": MODEL
    + """
    def forward(self, x, y):
        return self.loss(self.fc(torch.softmax(x, 1)), y)
""",
    "a loss that a project defines": """

class CrossEntropyLoss(nn.Module):
    def forward(self, p, y):
        return -(p.log() * y).sum()


def loss(x, y):
    return CrossEntropyLoss()(x.softmax(1), y)
""",
    "one of several losses": """

def loss(x, y, kind):
    criterion = nn.CrossEntropyLoss() if kind else nn.MSELoss()
    return criterion(x.softmax(1), y)
""",
    "a method of another object": """

class Sampler:
    def softmax(self, dim):
        return torch.zeros(3)


def loss(y):
    return F.cross_entropy(Sampler().softmax(1), y)
""",
}


def rule_of_page(code: str) -> str:
    rules = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (rule,) = (text for text in rules if f'code = "{code}"' in text)
    return str(rule)


def written(folder: str, rule: str, bad: dict, good: dict) -> dict[str, str]:
    """The files of a rule with these examples."""
    files = {f"{folder}/__init__.py": rule, f"{folder}/examples.toml": ""}
    for kind, examples in (("bad", bad), ("good", good)):
        files[f"{folder}/examples.toml"] += f"[{kind}]\n"
        for title, text in examples.items():
            name = re.sub(r"\W+", "-", title)
            files[f"{folder}/examples.toml"] += f'{name} = "{title}"\n'
            texts = text if isinstance(text, dict) else {"model.py": f"{IMPORTS}{text}"}
            files |= {f"{folder}/{kind}/{name}/{file}": content for file, content in texts.items()}
    return files


def body_of(rule: str) -> list[str]:
    """The lines of `check_python` and of what follows it."""
    return rule[rule.index("    def check_python") :].rstrip().splitlines()


def test_the_rule_about_probabilities_finds_all_ways_there_are(workspace: Workspace) -> None:
    rule = rule_of_page("LAB006")
    assert len(body_of(rule)) <= 15
    workspace.write(written("house_rules/lab006_probabilities", rule, PROBABILITIES, SCORES))
    result = workspace.run("test-rules", "house_rules")
    first = f"LAB006 probabilities-for-scores: {len(PROBABILITIES)} bad, {len(SCORES)} good: ok"
    assert result.lines[0] == first, result.out


FILE = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, flag):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.act = nn.ReLU if flag else nn.GELU
        self.layers = [nn.Linear(1, 1)]

    def pair(self, x):
        return self.fc(x), 3

    def maybe(self, x, flag):
        if flag:
            return torch.zeros(3)
        return None

    def forward(self, x, flag):
        both = self.pair(x)
        first, second = self.pair(x)
        name = "head" if flag else f"head {flag}"
        ones = torch.ones(2, 3)
        made = self.maybe(x, flag)
        size, layers, head = len(name), self.layers, Head(1)
        report(both, first, second, name, ones, made, self.fc, self.act, layers, x, size, report, head, Head)


def report(*values):
    return values
"""
KINDS = {
    0: {Kind.SEVERAL},
    1: {Kind.TENSOR},
    2: {Kind.NUMBER},
    3: {Kind.TEXT},
    4: {Kind.TENSOR},
    5: {Kind.TENSOR, Kind.NONE},
    6: {Kind.LAYER},
    7: {Kind.CLASS},
    8: {Kind.CONTAINER},
    9: {Kind.UNKNOWN},
    10: {Kind.NUMBER},
    11: {Kind.FUNCTION},
    12: {Kind.LAYER},
    13: {Kind.CLASS},
}


@pytest.fixture
def asked(workspace: Workspace) -> Queries:
    workspace.write({"model.py": FILE})
    project = Project(ProjectOptions(workspace.root))
    module = project.python(workspace.root / "model.py")
    assert module is not None
    return flow(module, project)


def argument(asked: Queries, position: int) -> Operand:
    (call,) = (call for call in asked.calls() if call.callee.text == "report")
    found = call.argument(position)
    assert found is not None
    return found


@pytest.mark.parametrize("position", KINDS)
def test_the_kinds_of_a_value_on_its_paths(asked: Queries, position: int) -> None:
    assert argument(asked, position).kinds() == KINDS[position]


def test_a_value_has_the_place_where_it_is_made_and_the_one_where_it_is_used(asked: Queries) -> None:
    ones = argument(asked, 4)
    assert (ones.place.span.line, ones.place_of_use.span.line) == (25, 28)  # type: ignore[attr-defined]
    assert ones.is_made_only_by("torch.ones")
    assert not argument(asked, 5).is_made_only_by("torch.zeros")
    assert argument(asked, 5).made_by("torch.zeros") is not None


def test_uses_are_the_events_that_have_a_value(asked: Queries) -> None:
    both = argument(asked, 0)
    assert [event.value.callee.data for event in both.uses()] == ["report"]


def test_a_call_tells_what_it_runs(asked: Queries) -> None:
    (call,) = (call for call in asked.calls() if call.callee.text == "self.maybe")
    target = call.target
    assert target is not None
    assert ([parameter.name for parameter in target.parameters], call.misfits(target)) == (["x", "flag"], [])
    assert call.is_certain(target)
    assert asked.calls("torch.nn.Linear")[0].callee.text == "self.fc"
    assert [one.place.span.line for one in asked.constructions("torch.nn.Linear")] == [9, 11]


def test_what_reaches_where(workspace: Workspace) -> None:
    text = """
def step(x, y):
    p = torch.softmax(x, 1)
    q = torch.log(p)
    F.cross_entropy(p.view(-1), y)
    F.cross_entropy(input=p.clone(), target=y)
    F.cross_entropy(q, y)
"""
    workspace.write({"model.py": IMPORTS + text})
    project = Project(ProjectOptions(workspace.root))
    module = project.python(workspace.root / "model.py")
    assert module is not None
    asked, sinks = flow(module, project), ["torch.nn.functional.cross_entropy"]
    found = [
        (source.place.span.line, call.place.span.line) for source, call, _ in asked.reaches(["torch.softmax"], sinks)
    ]
    assert found == [(6, 8), (6, 9)]
    barred = asked.reaches(["torch.softmax"], sinks, ["torch.Tensor.view"])
    assert [call.place.span.line for _, call, _ in barred] == [9]
