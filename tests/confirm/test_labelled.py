"""Tensors on the CPU that say they lie on a GPU: their numbers are real, and devices do not meet."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from modellint.confirm.worker.labelled import labelled  # noqa: E402
from modellint.confirm.worker.placement import DEVICE, left_behind  # noqa: E402

CUDA = torch.device(DEVICE)
Use = Callable[[Any], Any]


def packed(x: Any, device: str = "cpu") -> Any:
    whole = pack_padded_sequence(x, torch.tensor([5, 3], device=device), batch_first=True)
    return pad_packed_sequence(nn.LSTM(8, 4, batch_first=True).cuda()(whole)[0], batch_first=True)[0]


def lost(x: Any) -> Any:
    lengths = torch.tensor([5, 5], device=DEVICE)
    return F.ctc_loss(x.transpose(0, 1).log_softmax(-1), torch.ones(2, 3, device=DEVICE).long(), lengths, lengths - 3)


def inverted(x: Any) -> Any:
    window = torch.hann_window(64, device=x.device)
    spectrum = torch.stft(x.repeat(1, 1, 50).view(2, -1), 64, window=window, return_complex=True)
    return torch.istft(spectrum, 64, window=window)


def chosen(x: Any) -> Any:
    return x[:, : int(x.abs().argmax(1).max().item()) + 1] if (x * x).sum() > 0 else None


@pytest.mark.parametrize(
    "use",
    [
        chosen, packed, lost, inverted,
        lambda x: torch.unique(x, return_inverse=True)[1],
        lambda x: nn.init.trunc_normal_(torch.empty_like(x)),
        lambda x: nn.GRU(8, 4).cuda()(x)[0],
        lambda x: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 1).to(x.device)(x),
        lambda x: F.one_hot(x.argmax(-1), 8),
        lambda x: x[torch.tensor([1, 0])] + x[x.new_tensor([1, 0], dtype=torch.long)],
        lambda x: x + torch.tensor(2.0),
        lambda x: torch.zeros(8).to(x) + torch.as_tensor([1.0] * 8, device=x.device) + torch.ones(8).type(x.type()),
        lambda x: copy.deepcopy(x) + copy.deepcopy(nn.Linear(8, 8).cuda())(x),
        lambda x: x.masked_fill(torch.ones(5, 8, dtype=torch.bool, device=x.device).triu(), 0.0),
        lambda x: torch.zeros(2, 5, 8).copy_(x).cuda() + torch.tensor(x.tolist()).to(0),
    ],
)  # fmt: skip
def test_what_is_computed_there_stays_there(use: Use) -> None:
    with labelled():
        result = use(torch.randn(2, 5, 8).to(DEVICE))
        assert (result.device, result.is_cuda, result.is_cpu, result.get_device()) == (CUDA, True, False, 0)
        assert result.cpu().device.type == "cpu"
    assert result.device.type == "cpu"


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda x: x + torch.ones(8), "found at least two devices, cuda:0 and cpu!"),
        (lambda x: torch.ones(8) + x, "found at least two devices, cpu and cuda:0!"),
        (lambda x: torch.ones(8) * x.sum(), "found at least two devices"),
        (lambda x: nn.Linear(8, 8)(x), "Expected all tensors to be on the same device"),
        (lambda x: torch.cat([x[0, 0], torch.ones(3)]), "found at least two devices"),
        (lambda x: torch.ones(9)[x.argmax(-1)], "indices should be either on cpu"),
        (lambda x: nn.Embedding(9, 2).cuda()(torch.tensor([1])), "found at least two devices"),
        (lambda x: x.masked_fill(torch.ones(5, 8, dtype=torch.bool), 0.0), "found at least two devices"),
        (lambda x: nn.GRU(8, 4).cuda()(x, torch.zeros(1, 5, 4)), "found at least two devices"),
        (lambda x: packed(x, DEVICE), "'lengths' argument should be a 1D CPU int64 tensor"),
        (lambda x: x.numpy(), "can't convert cuda:0 device type tensor to numpy"),
    ],
)  # fmt: skip
def test_devices_do_not_meet(use: Use, says: str) -> None:
    with labelled(), pytest.raises((RuntimeError, TypeError), match=says):
        use(torch.randn(2, 5, 8).cuda())


def test_devices_meet_where_nobody_minds() -> None:
    with labelled(is_strict=False):
        assert (torch.randn(2, 8).cuda() + torch.ones(8)).device == CUDA
        assert torch.cuda.is_available()
    assert not torch.zeros(1).is_cuda


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4, device="cuda")
        self.tied.weight = self.linear.weight
        self.register_buffer("steps", torch.zeros(3))
        self.hidden = [nn.Linear(4, 3)]
        self.table = torch.arange(4.0)


def test_what_stays_behind_when_a_model_moves() -> None:
    with labelled():
        model = Model()
        weight = model.linear.weight
        assert (weight.device.type, model.tied.bias.device) == ("cpu", CUDA)
        model.to(DEVICE)
        assert [path for path, _ in left_behind(model)] == ["hidden[0].weight", "hidden[0].bias", "table"]
        assert model.linear.weight is weight is model.tied.weight
        assert not left_behind(nn.Linear(3, 3).cuda())
        with torch.device("cuda"):
            assert nn.Linear(2, 2).weight.device == torch.zeros(3).device == CUDA


def test_a_label_is_not_taken_over_by_what_is_made_later() -> None:
    with labelled():
        for number in range(200):
            assert not torch.zeros(64).is_cuda
            assert torch.zeros(64).cuda().add(number).is_cuda


def test_what_was_made_earlier_keeps_its_label() -> None:
    with labelled():
        table = torch.zeros(3).cuda()
    with labelled():
        assert (table + table).device == CUDA


def test_gradients_lie_where_their_parameters_do() -> None:
    with labelled():
        model = nn.GRU(4, 4).cuda()
        model(torch.randn(3, 2, 4).cuda())[0].sum().backward()
        assert {parameter.grad.device for parameter in model.parameters()} == {CUDA}
        with pytest.raises(RuntimeError, match="found at least two devices"):
            model(torch.randn(3, 2, 4).cuda())[0].backward(torch.ones(3, 2, 4))
