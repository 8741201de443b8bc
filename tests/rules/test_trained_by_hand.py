"""Tensors with `requires_grad` that a layer passes to an optimizer itself are trained, but nobody saves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

LATENT = """
import torch
from torch import nn


class Latent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.code = torch.zeros(width, requires_grad=True)
        self.fc = nn.Linear(width, width)

    def {method}(self, x):
        return self.fc(x + self.code)

    def fit(self, x):
        optimizer = {optimizer}
        self.{method}(x).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("optimizer", "severity"),
    [
        ("torch.optim.Adam([self.code])", "info"),
        ('torch.optim.Adam([{"params": [self.code], "lr": 0.1}])', "info"),
        ("torch.optim.Adam(self.fc.parameters())", "warning"),
    ],
)
@pytest.mark.parametrize("method", ["forward", "reconstruct"])
def test_what_an_optimizer_of_the_layer_trains_is_an_info(
    workspace: Workspace, method: str, optimizer: str, severity: str
) -> None:
    workspace.write({"model.py": LATENT.format(method=method, optimizer=optimizer)})
    told = workspace.run("check", "--output-format", "json", "--select", "ML207").json["findings"]
    assert [(one["line"], one["severity"]) for one in told] == [(9, severity)]
