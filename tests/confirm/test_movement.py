"""Tensors that stay where they are when their layer moves, on a machine with a GPU that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

LOSS = '''
import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = {value}

    def forward(self, x, is_weighted: bool{default}):
        """Args: x: (batch, 8)"""
        return (x * self.weight if is_weighted else x).sum()
'''


def verdict(workspace: Workspace, **parts: str) -> dict[str, Any]:
    workspace.write({"loss.py": LOSS.format(**parts)})
    options = ("--confirm", "--select", "ML205", "--isolated", "--show-refuted", "--output-format", "json")
    (finding,) = workspace.run("check", *options, "loss.py").json["findings"]
    found: dict[str, Any] = finding["verdict"]
    return found


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("torch.ones(8)", "stayed on `cpu` when the module moved to cuda:0"),
        ('torch.ones(8).to("cuda")', "stayed on `cuda:0` when the module moved to cpu"),
    ],
)
def test_a_tensor_that_is_no_buffer_is_left_on_either_side(workspace: Workspace, value: str, says: str) -> None:
    found = verdict(workspace, value=value, default=" = True")
    assert found["status"] == "confirmed"
    assert says in found["detail"]


def test_what_no_call_reaches_on_cuda_does_not_count_as_moving(workspace: Workspace) -> None:
    found = verdict(workspace, value='torch.ones(8).to("cuda")', default=" = False")
    assert found["status"] == "unconfirmed"
