"""One mistake is one finding: where two rules could report it, the more specific one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from pathlib import Path

PADDED = """
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, labels=1000, width=64):
        super().__init__()
        self.labels = nn.Embedding(labels, width)

    def forward(self, rows):
        return self.labels(pad_sequence(rows, padding_value={filler}))
"""
COMMA = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = {made},

    def forward(self, x):
        return self.fc(x)
"""


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (PADDED.format(filler=-100), ["ML304"]),
        (PADDED.format(filler=-1), ["ML104"]),
        (PADDED.format(filler=1000), ["ML104"]),
        (PADDED.format(filler=0), []),
        (COMMA.format(made="nn.Linear(2, 2)"), ["ML204"]),
        (COMMA.format(made="nn.ReLU()"), ["ML204"]),
        (COMMA.format(made="nn.functional.relu"), ["ML512"]),
    ],
)
def test_one_rule_reports_it(text: str, codes: list[str], tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(text)
    assert [finding.code for finding in modellint.check([tmp_path], isolated=True, jobs=1)] == codes


@pytest.mark.parametrize(
    ("held", "said"), [("nn.Module", "the layers in it"), ("nn.Linear", "the `Linear` layers in it")]
)
def test_a_container_of_any_layers_names_no_class(held: str, said: str, tmp_path: Path) -> None:
    text = f"""
from torch import nn


class Net(nn.Module):
    def __init__(self, layers: list[{held}]):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
    (tmp_path / "model.py").write_text(text)
    (finding,) = modellint.check([tmp_path], isolated=True, jobs=1)
    assert said in finding.message
    assert ("an annotation says that it holds `nn.Module`" in finding.evidence) is (held == "nn.Module")
    assert not any("`Module` has" in line for line in finding.evidence)
