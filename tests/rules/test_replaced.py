"""A first value that each object replaces meets nothing: the constructor refuses what no branch is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

SCORE = """
import torch
from torch import nn


class Kept(nn.Module):
    def __init__(self, width, mode="sum"):
        super().__init__()
        self.mode = mode
        self.query = nn.Linear(width, width)
{check}


class Score(Kept):
    def forward(self, x):
        query = self.query(x)
        score = torch.ones(1, 1)
        if self.mode == "sum":
            score = torch.relu(query + x)
        {second} self.mode == "product":
            score = query * x
        return query * score.view(-1)
"""
REFUSING = {
    "two comparisons": ('if self.mode != "sum" and mode != "product":', "    raise ValueError(mode)"),
    "a list": ('if mode not in ["sum", "product"]:', "    raise ValueError(mode)", "self.size = width"),
    "an assertion": ('assert mode in ("sum", "product")', "self.size = width"),
    "an assertion of either": ('assert self.mode == "sum" or self.mode == "product"', "self.size = width"),
    "a negation": ('if not (mode == "sum" or mode == "product"):', "    raise ValueError(mode)"),
    "one of two": ('if mode != "sum":', "    raise ValueError(mode)", "self.size = width"),
}
LEAVING = {
    "a third one": ('assert mode in ("sum", "product", "none")', "self.size = width"),
    "only a warning": ('if mode not in ("sum", "product"):', "    print(mode)"),
    "under a flag": ("if width > 8:", '    assert mode in ("sum", "product")', "self.size = width"),
    "another name": ('assert width in ("sum", "product")', "self.size = width"),
    "what is set later": ('assert mode in ("sum", "product")', "", "def use(self, mode):", "    self.mode = mode"),
    "an error that is caught": (
        "try:",
        '    if mode not in ("sum", "product"):',
        "        raise ValueError(mode)",
        "except ValueError:",
        "    pass",
    ),
}


def found(workspace: Workspace, lines: tuple[str, ...], second: str) -> list[str]:
    check = "\n".join(
        f"{'    ' if 'def ' in ''.join(lines[: n + 1]) else '        '}{line}" for n, line in enumerate(lines)
    )
    workspace.write({"model.py": SCORE.format(check=check, second=second)})
    return [code for _, _, code in workspace.places("--select", "ML211")]


@pytest.mark.parametrize("second", ["if", "elif"])
@pytest.mark.parametrize("lines", REFUSING.values(), ids=REFUSING)
def test_what_the_constructor_refuses_meets_nothing(workspace: Workspace, lines: tuple[str, ...], second: str) -> None:
    assert found(workspace, lines, second) == []


@pytest.mark.parametrize("second", ["if", "elif"])
@pytest.mark.parametrize("lines", LEAVING.values(), ids=LEAVING)
def test_what_it_lets_through_does(workspace: Workspace, lines: tuple[str, ...], second: str) -> None:
    assert found(workspace, lines, second) == ["ML211"]
