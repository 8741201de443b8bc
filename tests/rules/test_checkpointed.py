"""A tensor that asks for gradients is to be learned where what is checkpointed computes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

DEEP = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x, scale):
        return {result}


class Deep(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.scale = torch.ones(width, requires_grad=True)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, {given})
        return x
"""


@pytest.mark.parametrize("given", ["self.scale", "scale=self.scale", "scale=2 * self.scale"])
def test_one_of_several_layers_computes_with_it(workspace: Workspace, given: str) -> None:
    workspace.write({"model.py": DEEP.format(result="self.lin(x) * scale", given=given)})
    assert [code for _, _, code in workspace.places("--select", "ML207")] == ["ML207"]


@pytest.mark.parametrize("given", ["self.scale", "scale=self.scale"])
def test_no_layer_computes_with_it(workspace: Workspace, given: str) -> None:
    workspace.write({"model.py": DEEP.format(result="self.lin(x)", given=given)})
    assert workspace.places("--select", "ML207") == []
