"""A rule makes the same findings alone as beside others, which ask the same runs more questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from pathlib import Path

#: A plain table, for which ML205 runs all methods, and a method of arguments without types, which makes a tensor.
SCORER = """
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.steps = torch.arange(width)

    def forward(self, x):
        return self.proj(x) * self.steps

    def infer(self, texts):
        mask = torch.zeros(len(texts), 8)
        return self.weighed(mask)

    def weighed(self, mask):
        return self.proj.weight[:8] * mask
"""


@pytest.mark.parametrize("code", ["ML205", "ML211"])
def test_a_rule_finds_the_same_alone(tmp_path: Path, code: str) -> None:
    (tmp_path / "scorer.py").write_text(SCORER, encoding="utf-8")

    def lines(*select: str) -> list[int]:
        found = modellint.check([tmp_path], isolated=True, cache=False, select=select)
        return [finding.place.span.line for finding in found if finding.code == code]

    assert lines(code) == lines("ML2")
