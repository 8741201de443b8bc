"""ML502: a method whose place a copy of it takes is called as before, and one whose place another takes is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Workspace

CODE = """\
import types

import torch
from torch import nn


def copied(function):
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def export(self, path, opset):
        torch.onnx.export(self, torch.rand(1, 8), path, opset_version=opset)

    def forward(self, x):
        return self.project(x)


Encoder.export = copied(Encoder.export)
Encoder.export.__doc__ = "Write the encoder as ONNX."


def release(folder):
    encoder = Encoder(8)
    encoder.export(folder / "encoder.onnx", version=17)
"""


def test_a_copy_takes_what_its_original_takes(workspace: Workspace) -> None:
    workspace.write({"model.py": CODE})
    assert workspace.places() == [("model.py", 29, "ML502")]


def test_what_takes_the_place_of_a_method_may_take_anything(workspace: Workspace) -> None:
    for other in ("copied(Encoder.forward)", "wrapped(Encoder.export)", "copied"):
        workspace.write(
            {
                "model.py": CODE.replace("copied(Encoder.export)", other).replace(
                    "import types", "import types\nfrom tools import wrapped"
                )
            }
        )
        assert workspace.places() == [], other
