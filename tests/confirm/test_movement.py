"""Tensors that stay where they are when their layer moves, on a machine with a GPU that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.layers import MadeAside
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

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
SAMPLED = """class Noisy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.shift = torch.zeros(width)

    def sample(self, batch: torch.Tensor):
        return self.lin(batch) + self.shift
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
        (SAMPLED, "`shift` stayed on `cpu` when the module moved to cuda:0; `sample` raises"),
    ],
    ids=["a list of tensors", "an argument that is kept", "an object that is no layer", "a layer without `forward`"],
)
def test_what_keeps_a_tensor_may_be_a_list_an_argument_or_an_object(workspace: Workspace, code: str, says: str) -> None:
    found = judged(workspace, HEAD + code)
    assert (found["status"], found["detail"][: len(says)]) == ("confirmed", says)


MAKER = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=8, device="cpu"):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.place = device

    def forward(self, x):
        scale = torch.ones(x.size(1), {scale})
        x = x * scale[:, None]
        shift = torch.ones(x.size(1), {shift})
        return self.lin(x) + shift[:, None]
"""


@pytest.mark.parametrize(
    ("scale", "shift", "is_kept", "status"),
    [
        ("device=None", "device=None", False, Status.CONFIRMED),
        ("device=x.device", "device=self.place", True, Status.CONFIRMED),
        ("device=None", "device=x.device", False, Status.UNCONFIRMED),
        ("device=x.device", "device=x.device", True, Status.REFUTED),
    ],
    ids=["the second of two", "the device of the constructor", "the other one alone", "the device of the input"],
)
def test_a_tensor_on_another_device_is_not_hidden_by_one_before_it(
    tmp_path: Path, scale: str, shift: str, is_kept: bool, status: Status
) -> None:
    path, lines = tmp_path / "model.py", MAKER.format(scale=scale, shift=shift).splitlines()
    path.write_text("\n".join(lines))
    made, used = (
        next(number for number, line in enumerate(lines, 1) if text in line) for text in ("shift =", "+ shift")
    )
    place, use = (Place(path.as_posix(), Span(line, 1, line, 80)) for line in (made, used))
    target = Target(path, "Model")
    probe = Probe(target, MadeAside(place, "Model", use, is_kept))
    verdict = answer(Group(target, ((0, probe),)), served())[0]
    assert verdict.status is status, verdict
