"""A parameter stays one where it is moved to the CPU, which all that make the object have to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

LAYER = """
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, place):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1)).to(place)

    def forward(self, x):
        return x * self.scale
"""
DERIVED = """
import torch
from net.scale import Scale


class Wide(Scale):
    def forward(self, x):
        return super().forward(x) + x
"""
HOST = "import torch\nfrom net.scale import Scale\n\n\ndef main():\n    return Scale(torch.device('cpu'))\n"
CUDA = "from net.scale import Scale\n\n\ndef main():\n    return Scale('cuda:0')\n"
ASKED = "from net.scale import Scale\n\n\ndef main(place):\n    return Scale(place)\n"
OF_DERIVED = "from net.wide import Wide\n\n\ndef main(place):\n    return Wide({})\n"
KEPT = "from net.scale import Scale\n\nKINDS = [Scale]\n"


@pytest.mark.parametrize(
    ("files", "is_said"),
    [
        pytest.param({}, True, id="nobody makes it"),
        pytest.param({"tools/run.py": HOST}, False, id="on the CPU"),
        pytest.param({"tools/run.py": HOST, "train.py": CUDA}, True, id="one of two on CUDA"),
        pytest.param({"tools/run.py": HOST, "train.py": ASKED}, True, id="one of two where its caller says"),
        pytest.param({"train.py": HOST, "kinds.py": KEPT}, True, id="kept in a table"),
        pytest.param(
            {"train.py": HOST, "net/wide.py": DERIVED, "run.py": OF_DERIVED.format("'cpu'")},
            False,
            id="derived on the CPU",
        ),
        pytest.param(
            {"train.py": HOST, "net/wide.py": DERIVED, "run.py": OF_DERIVED.format("place")},
            True,
            id="derived elsewhere",
        ),
    ],
)
def test_all_that_make_it_count(workspace: Workspace, files: dict[str, str], is_said: bool) -> None:
    workspace.write({"net/scale.py": LAYER, **files})
    outcome = workspace.run("check", "--output-format", "json", "--select", "ML207", "--no-cache", ".")
    assert bool(outcome.json["findings"]) is is_said
