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


def test_a_convolution_mixes_devices_like_any_other_operator() -> None:
    with pretended():
        sound, kernel = torch.zeros(2, 1, 9).cuda(), torch.ones(1, 1, 3)
        for use in (torch.conv1d, nn.functional.conv_transpose1d, lambda x, w: nn.functional.conv1d(x, weight=w)):
            with pytest.raises(RuntimeError, match="same device, but found at least two devices, cuda:0 and cpu"):
                use(sound, kernel)
            assert use(sound, kernel.cuda()).device == torch.device(DEVICE)


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


IDS, MASK = torch.tensor([[0, 2], [1, 1]]), torch.tensor([[True] * 4] * 3)
INDICES = [
    0,
    -1,
    None,
    ...,
    True,
    slice(1, None),
    slice(None, None, 2),
    [0, 2],
    (slice(None), None, slice(0, 2)),
    (..., None),
    (None, ..., 0),
    (0, slice(None), 1),
    IDS,
    (IDS, 0),
    (slice(None), IDS),
    (IDS, slice(None), IDS),
    (0, IDS),
    (..., IDS),
    MASK,
    (MASK, 0),
    (slice(None), MASK[0]),
    torch.tensor(2),
    (torch.tensor([0, 1]), [1, 0], 0),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_a_tensor_that_is_not_there_is_indexed_like_one_that_is(index: Any) -> None:
    real = torch.zeros(3, 4, 5)
    expected = real[index].shape
    real[index] = torch.ones(expected[-1:])
    with pretended():
        here = tuple(_moved(part) for part in index) if isinstance(index, tuple) else _moved(index)
        fake = torch.zeros(3, 4, 5, device=DEVICE)
        assert fake[here].shape == expected
        assert fake[here].device == torch.device(DEVICE)
        fake[here] = 1
        fake[here] = torch.ones(expected[-1:], device=DEVICE)
        assert fake.shape == (3, 4, 5)


def _moved(part: Any) -> Any:
    return part.to(DEVICE) if isinstance(part, torch.Tensor) and part.dim() else part


def test_what_models_do_to_tensors_works_on_the_device() -> None:
    with pretended():
        x = torch.zeros(3, 4, device=DEVICE)
        made = [
            torch.tensor([1, 2], device=DEVICE),
            torch.as_tensor([1.0], device="cuda"),
            x.new_tensor([1]),
            x.t().contiguous(),
            x.clone().copy_(torch.zeros(4)),
            torch.nn.init.kaiming_uniform_(torch.empty(3, 4, device=DEVICE)),
            nn.Linear(4, 2, device=DEVICE)(x),
        ]
        with torch.autocast("cuda"):
            made.append(nn.LSTM(4, 4).cuda()(x)[0])
        assert {tensor.device for tensor in made} == {torch.device(DEVICE)}
        assert (torch.cuda.current_device(), torch.cuda.device_count()) == (0, 1)
