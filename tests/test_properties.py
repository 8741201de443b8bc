"""Properties that rules give tensors: they reach calls by all ways, several at once, and change no other finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.operators.properties import Property, check

if TYPE_CHECKING:
    from conftest import Workspace

#: Two packs: what is a probability must not be given to a loss that takes scores; images are not scaled twice.
PROBABILITIES = '''
from modellint.finding import Confidence, Severity
from modellint.flow import queries
from modellint.operators.properties import Property
from modellint.rule import Rule

LOSSES = ("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss")


class SoftmaxInLoss(Rule):
    """A loss that applies softmax is given probabilities"""

    code = "LAB201"
    name = "softmax-in-loss"
    severity = Severity.WARNING
    properties = (Property("probability", made_by=("softmax", "torch.nn.Softmax", "model.normalised")),)

    def check_python(self, module, project):
        for call in queries.flow(module, project).calls_with("probability", *LOSSES):
            given = call.argument(0, "input")
            if given.may_have("probability"):
                sure = Confidence.HIGH if given.has("probability") else Confidence.LOW
                yield self.finding(call.place, "probabilities", symbol=call.function.qualname, confidence=sure)
'''
IMAGES = '''
from modellint.finding import Confidence, Severity
from modellint.flow import queries
from modellint.operators.properties import Property
from modellint.rule import Rule


class ScaledTwice(Rule):
    """An image is scaled twice"""

    code = "LAB202"
    name = "scaled-twice"
    severity = Severity.WARNING
    properties = (
        Property("scaled", ("lab.scale", "/"), kept_by=("passed", "picked", "joins"), ended_by=("Tensor.byte",)),
    )

    def check_python(self, module, project):
        for call in queries.flow(module, project).calls_with("scaled", "lab.scale"):
            if queries.has_property(call.argument(0, "image").atoms, "scaled"):
                yield self.finding(call.place, "twice", symbol=call.function.qualname, confidence=Confidence.HIGH)
'''
HEADER = """\
import lab
import torch
from torch import nn
from torch.nn import functional as F


def normalised(x):
    return x / x.sum()


"""
SETTINGS = 'rule-paths = ["packs"]\nexclude = ["packs"]\nmin-confidence = "low"\n'


def found(workspace: Workspace, code: str, *, select: str = "LAB") -> list[tuple[int, str, str]]:
    """The findings about code: line in it, code, and confidence."""
    packs = {"packs/one.py": PROBABILITIES, "packs/two.py": IMAGES}
    workspace.write({**packs, "modellint.toml": SETTINGS, "model.py": HEADER + code})
    result = workspace.run("check", "--no-cache", "--output-format", "json", "--select", select)
    assert not result.json["errors"]
    skipped = HEADER.count("\n")
    return sorted((one["line"] - skipped, one["code"], one["confidence"]) for one in result.json["findings"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    p = x.softmax(-1)\n    return F.cross_entropy(p, y)\n", [(3, "high")]),
        (
            "    p = torch.softmax(x, -1)\n    return nn.CrossEntropyLoss()(p.float().reshape(8, -1), y)\n",
            [(3, "high")],
        ),
        ("    p = nn.Softmax(-1)(x)\n    return F.cross_entropy(p[:, 1:], y)\n", [(3, "high")]),
        (
            "    net = nn.Sequential(nn.Linear(8, 8), nn.Softmax(-1))\n    return F.cross_entropy(net(x), y)\n",
            [(3, "high")],
        ),
        ("    p = F.softmax(x, -1)\n    return F.cross_entropy(p * 2, y)\n", []),
        ("    p = F.softmax(x, -1)\n    return F.cross_entropy(p.log(), y)\n", []),
        ("    p = x.softmax(-1) if y.any() else x\n    return F.cross_entropy(p, y)\n", [(3, "low")]),
        ("    kept = {'p': x.softmax(-1)}\n    return F.cross_entropy(kept['p'], y)\n", [(3, "high")]),
        ("    p = x.softmax(-1)\n    p[0] = 3\n    return F.cross_entropy(p, y)\n", []),
        ("    return F.cross_entropy(x, x.softmax(-1))\n", []),
        ("    return F.cross_entropy(normalised(x).float(), y)\n", [(2, "high")]),
        ("    q = lab.scale(x)\n    return lab.scale(torch.cat([q, q]).float())\n", [(3, "high")]),
        ("    q = lab.scale(x)\n    return lab.scale(torch.cat([q, x]))\n", []),
        ("    q = x / 255\n    return lab.scale(q), lab.scale(q.byte())\n", [(3, "high")]),
    ],
)
def test_a_property_reaches_a_call_or_ends(workspace: Workspace, body: str, expected: list[tuple[int, str]]) -> None:
    told = found(workspace, f"def loss(x, y):\n{body}")
    assert [(line, sure) for line, _, sure in told] == expected


MODEL = """\
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.out = nn.Linear(8, 20)
        self.last = nn.Softmax(-1)
        self.criterion = nn.CrossEntropyLoss()

    def probabilities(self, x):
        return self.last(self.out(x))

    def forward(self, x, y):
        p = self.probabilities(lab.scale(lab.scale(x)))
        self.table(p.argmax(-1))
        return self.criterion(p, y)
"""


def test_properties_of_two_packs_are_followed_together_and_built_in_findings_stay(workspace: Workspace) -> None:
    """The ids of `argmax` are known to be too large for the table, with and without a property of the scores."""
    built_in = found(workspace, MODEL, select="ML103")
    assert built_in == [(14, "ML103", "high")]
    own = [(13, "LAB202", "high"), (15, "LAB201", "high")]
    assert found(workspace, MODEL, select="LAB,ML103") == sorted((*own, *built_in))
    assert found(workspace, MODEL, select="LAB202") == own[:1]


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ((Property("p", ("sofmax",)),), "`p`: there is no operator or facet `sofmax`; did you mean `softmax`?"),
        ((Property("p", ("softmax",)), Property("p", ("tanh",))), "`p` is described twice, in different ways"),
        (("probability",), "'probability' is no property; expected a `Property`"),
    ],
)
def test_what_cannot_be_followed_is_refused(rows: tuple[object, ...], error: str) -> None:
    with pytest.raises(ValueError, match=r"no property|twice|no operator") as raised:
        check(rows)
    assert str(raised.value).startswith(error)
    check((Property("p", ("lab.softmax", "*", "Tensor.softmax"), ("passed",)),) * 2)


def test_a_pack_with_a_property_of_unknown_operators_is_refused(workspace: Workspace) -> None:
    workspace.write({"packs/one.py": PROBABILITIES.replace('"softmax", ', '"sofmax", '), "modellint.toml": SETTINGS})
    result = workspace.run("check")
    assert result.code == 2
    assert "`properties` of `softmax-in-loss`: `probability`: there is no operator or facet `sofmax`" in result.err


BROKEN = """
from modellint.finding import Severity
from modellint.flow.theory import Theory
from modellint.rule import Rule


class Faulty(Theory):
    def function(self, name, arguments, frame, value):
        if name == "lab.scale":
            raise ValueError("no scale")


class Own(Rule):
    code = "LAB203"
    name = "own"
    severity = Severity.INFO
    theories = (Faulty,)
"""


def test_a_theory_that_fails_while_properties_are_followed_is_named(workspace: Workspace) -> None:
    packs = {"packs/one.py": IMAGES, "packs/two.py": BROKEN}
    workspace.write({**packs, "modellint.toml": SETTINGS, "model.py": f"{HEADER}lab.scale(lab.scale(lab.image))\n"})
    result = workspace.run("check", "--no-cache", "--output-format", "json", "--select", "LAB")
    told = [(error["part"], error["error"]) for error in result.json["errors"]]
    assert told == [("theory `Faulty` of packs/two.py", "ValueError: no scale")]
    assert [one["code"] for one in result.json["findings"]] == ["LAB202"]
