"""A device that is not there: what moves to it, what stays, and what torch says when both meet."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from modellint.confirm.worker.placement import DEVICE, left_behind, pretended, tensors  # noqa: E402


class Searcher:
    """No module: what it holds is not moved with it."""

    def __init__(self, layer: nn.Module) -> None:
        self.layers = {"out": [layer]}
        self.step = lambda x: layer(x)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.linear.weight
        self.hidden = [nn.Linear(4, 3)]
        self.table = torch.arange(4.0)
        self.scale = torch.tensor(2.0)
        self.register_buffer("steps", torch.zeros(3))
        self.searcher = Searcher(nn.Linear(4, 2))
        self.size = int(torch.prod(torch.tensor([4, 5])))

    def forward(self, x: Any) -> Any:
        return self.hidden[0](self.linear(x) * self.scale)


@pytest.mark.parametrize("move", ["to", "cuda", "to like"])
def test_what_stays_behind(move: str) -> None:
    with pretended():
        model = Model()
        if move == "to":
            model.to(torch.device("cuda", 0), torch.float16)
        elif move == "cuda":
            model.cuda()
        else:
            model.to(torch.empty(1, device=DEVICE))
        assert [path for path, _ in left_behind(model, "model")] == [
            "model.hidden[0].weight",
            "model.hidden[0].bias",
            "model.table",
            "model.searcher.layers['out'][0].weight",
            "model.searcher.layers['out'][0].bias",
        ]
        assert model.tied.weight is model.linear.weight
        assert model.linear.weight.device == torch.device(DEVICE)
        assert model.size == 20


def test_mixed_devices_raise_torch_s_own_error() -> None:
    with pretended():
        model = Model().to(DEVICE)
        with pytest.raises(Exception, match="same device, but found at least two devices, cuda:0 and cpu"):
            model(torch.zeros(2, 4).cuda())


def test_nothing_stays_when_everything_is_registered() -> None:
    with pretended():
        model = nn.Sequential(nn.LSTM(4, 4), nn.BatchNorm1d(4), nn.Embedding(3, 4)).to(DEVICE)
        assert left_behind(model) == []
        assert len(list(tensors(model))) == 4 + 5 + 1
        model[2](torch.zeros(2, dtype=torch.long).to(DEVICE))


def test_torch_is_as_it_was_afterwards() -> None:
    apply, available = nn.Module._apply, torch.cuda.is_available()
    with pretended():
        assert torch.cuda.is_available()
    assert nn.Module._apply is apply
    assert torch.cuda.is_available() == available
    layer = nn.Linear(2, 2).double()
    assert layer.weight.dtype is torch.float64
    assert layer.weight.requires_grad
