"""A tensor on the CPU may meet numbers, and tensors that are brought there, however the code tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

SCHEDULE = """
import torch
from torch import Tensor, nn


class Schedule(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.levels = torch.linspace(1, 0, steps)

    def forward(self, x, time):
{telling}
        at = torch.argmin((self.levels - time).abs())
        return x * self.levels[at]
"""
TELLING = {
    "an if": ("if isinstance(time, torch.Tensor):", "    time = time.cpu()"),
    "an else": ("if not torch.is_tensor(time):", "    x = x + 1", "else:", "    time = time.cpu()"),
    "one of several kinds": ("if isinstance(time, (Tensor, list)):", "    time = time.cpu()"),
}
NOT_TELLING = {
    "the other way round": ("if not isinstance(time, torch.Tensor):", "    time = float(time)"),
    "of something else": ("if isinstance(x, torch.Tensor):", "    time = time + 1"),
    "of its numbers": ("if time.any():", "    time = time.cpu()"),
    "of another kind": ("if isinstance(time, float):", "    time = time + 1"),
}


def found(workspace: Workspace, lines: tuple[str, ...]) -> list[str]:
    telling = "\n".join(f"        {line}" for line in lines)
    workspace.write({"model.py": SCHEDULE.format(telling=telling)})
    return [code for _, _, code in workspace.places("--select", "ML205")]


@pytest.mark.parametrize("lines", TELLING.values(), ids=TELLING)
def test_a_number_or_a_tensor_that_is_brought_to_the_cpu_is_no_mistake(
    workspace: Workspace, lines: tuple[str, ...]
) -> None:
    assert found(workspace, lines) == []


@pytest.mark.parametrize("lines", NOT_TELLING.values(), ids=NOT_TELLING)
def test_a_tensor_that_may_be_anywhere_is_one(workspace: Workspace, lines: tuple[str, ...]) -> None:
    assert found(workspace, lines) == ["ML205"]


MASKS = """
import torch
from torch import nn


class Mask(nn.Module):
    def forward(self, lengths, most):
        return torch.arange(most)[None] < lengths[:, None]

    def weights(self, counts: torch.Tensor):
        return counts.float() / torch.ones(counts.shape)


class Pooled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.mask = Mask()

    def forward(self, x, lengths, texts):
        counts = torch.tensor([len(text) for text in texts])
        known = lengths.long(){brought}
        mask = self.mask(known, x.size(1)).to(x.device)
        return self.proj(x) * mask[..., None] * self.mask.weights(counts).to(x.device)
"""


def test_a_tensor_is_used_with_what_all_callers_give_from_the_cpu(workspace: Workspace) -> None:
    workspace.write({"model.py": MASKS.format(brought=".cpu()")})
    assert workspace.places("--select", "ML211") == []


def test_a_caller_that_gives_what_may_be_anywhere_is_told(workspace: Workspace) -> None:
    workspace.write({"model.py": MASKS.format(brought="")})
    assert workspace.places("--select", "ML211") == [("model.py", 8, "ML211")]
