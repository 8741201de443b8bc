"""An attribute that nothing sets is an error on the way that each call takes, and a warning under a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x, state=None):
        {forward}
        return self.proj(x)

    def _earlier(self, state):
        return self._taken(state)

    def _taken(self, state):
        return self.held(state, "keys")

    def _again(self, x, state):
        {again}


def main(x, model):
    {main}
    return Attention()(x)
"""


@pytest.mark.parametrize(
    ("parts", "severity"),
    [
        pytest.param({"forward": "x = self._taken(x)"}, "error", id="always"),
        pytest.param({"forward": "x = self._earlier(x)"}, "error", id="always, by another one"),
        pytest.param({"forward": "x = x if state is None else self._taken(state)"}, "warning", id="under a condition"),
        pytest.param(
            {"forward": "if state is not None:\n            x = self._earlier(state)"}, "warning", id="by another one"
        ),
        pytest.param(
            {"forward": "x = self._earlier(x) if state else self._again(x, state)", "again": "return self._taken(x)"},
            "warning",
            id="two ways, each under a condition",
        ),
        pytest.param(
            {"forward": "x = self._again(x, state)", "again": "return self._taken(x) or self._earlier(x)"},
            "error",
            id="one of two ways",
        ),
        pytest.param(
            {"forward": "if state:\n            x = self._taken(state)", "main": "x = model._taken(x)"},
            "error",
            id="by somebody else",
        ),
    ],
)
def test_a_condition_before_the_call_counts(workspace: Workspace, parts: dict[str, str], severity: str) -> None:
    filled = {"forward": "pass", "again": "return x", "main": "pass", **parts}
    workspace.write({"model.py": MODEL.format(**filled)})
    outcome = workspace.run("check", "--output-format", "json", "--select", "ML214", "--no-cache", "model.py")
    assert [(one["line"], one["severity"]) for one in outcome.json["findings"] if "held" in one["message"]] == [
        (MODEL.format(**filled).splitlines().index('        return self.held(state, "keys")') + 1, severity)
    ]


def test_a_base_calls_what_its_subclass_has(workspace: Workspace) -> None:
    workspace.write(
        {
            "base.py": "from torch import nn\n\n\nclass Base(nn.Module):\n"
            "    def forward(self, x):\n        return self.encode(x)\n",
            "model.py": "from base import Base\n\n\nclass Model(Base):\n"
            "    def encode(self, x):\n        return self.held(x)\n\n\nMODEL = Model()\n",
        }
    )
    outcome = workspace.run("check", "--output-format", "json", "--select", "ML214", "--no-cache", ".")
    assert [one["severity"] for one in outcome.json["findings"]] == ["error"]
