"""What runs on a real GPU, where there is one: the same facts as on the one that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from conftest import Workspace

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that torch can use")

MODEL = """
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.mask = torch.ones(width)
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x):
        \"\"\"
        Args:
            x: (batch, time, width)
        \"\"\"
        return self.linear(x) * self.{used}
"""


@pytest.mark.parametrize(("used", "status"), [("mask", "failed"), ("scale", "passed")])
def test_a_model_is_moved_to_the_gpu(workspace: Workspace, used: str, status: str) -> None:
    workspace.write({"model.py": MODEL.replace("{used}", used)})
    result = workspace.run("probe", "model.py::Gate", "--device", "cuda", "--output-format", "json")
    check = next(check for check in result.json["checks"] if check["name"] == "placement")
    assert (check["status"], check["device"]) == (status, "cuda")
    if status == "failed":
        assert "`mask` stayed on `cpu`" in check["detail"]
        assert "Expected all tensors to be on the same device" in check["detail"]


def test_a_tensor_that_is_no_buffer_meets_the_gpu(workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL.replace("{used}", "mask")})
    arguments = ("check", "--confirm", "--device", "cuda", "--select", "ML205", "--output-format", "json", "model.py")
    (finding,) = workspace.run(*arguments).json["findings"]
    assert (finding["verdict"]["status"], finding["verdict"]["device"]) == ("confirmed", "cuda")
