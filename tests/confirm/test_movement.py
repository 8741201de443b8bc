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


HEAD = "import torch\nfrom torch import nn\n\n\n"
TABLES = """class Levels(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tables = [torch.ones(width) for _ in range(3)]

    def forward(self, x):
        for table in self.tables:
            x = x * table
        return x
"""
MASK = """class Masked(nn.Linear):
    def __init__(self, width, mask):
        super().__init__(width, width)
        self.mask = mask

    def forward(self, x):
        return nn.functional.linear(x, self.weight * self.mask, self.bias)


def build(width):
    return Masked(width, torch.ones(width))
"""
WINDOW = """class Spectrum:
    def __init__(self, size):
        self.window = torch.hann_window(size)

    def __call__(self, x):
        return x * self.window


class Loss(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.spectrum = Spectrum(size)

    def forward(self, x, y):
        return (self.spectrum(x) - self.spectrum(y)).abs().mean()
"""


def verdict(workspace: Workspace, **parts: str) -> dict[str, Any]:
    return judged(workspace, LOSS.format(**parts))


def judged(workspace: Workspace, code: str) -> dict[str, Any]:
    workspace.write({"loss.py": code})
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


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (TABLES, "`tables` stayed on `cpu` when the module moved to cuda:0; `forward` raises"),
        (MASK, "`mask` stayed on `cpu` when the module moved to cuda:0; `forward` raises"),
        (WINDOW, "`window` stayed on `cpu` as no model moves what is no layer; `__call__` raises"),
    ],
    ids=["a list of tensors", "an argument that is kept", "an object that is no layer"],
)
def test_what_keeps_a_tensor_may_be_a_list_an_argument_or_an_object(workspace: Workspace, code: str, says: str) -> None:
    found = judged(workspace, HEAD + code)
    assert (found["status"], found["detail"][: len(says)]) == ("confirmed", says)
