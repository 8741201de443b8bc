"""Small models, each with a known mistake, or without it: what a probe must say of both."""

from __future__ import annotations

import torch
from torch import nn

# -- devices ---------------------------------------------------------------------------------------------------------


class ScaleLeftBehind(nn.Module):
    """A tensor that is no buffer stays where it was made."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.project = nn.Linear(width, width)
        self.scale = torch.ones(width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.project(hidden) * self.scale


class ScaleThatMoves(ScaleLeftBehind):
    def __init__(self, width: int = 16) -> None:
        nn.Module.__init__(self)
        self.project = nn.Linear(width, width)
        self.register_buffer("scale", torch.ones(width))


class LayersInAList(nn.Module):
    """What a list holds is not moved, and no optimizer has it."""

    def __init__(self, width: int = 16, depth: int = 3) -> None:
        super().__init__()
        self.head = nn.Linear(width, width)
        self.layers = [nn.Linear(width, width) for _ in range(depth)]

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


class LayersInAModuleList(LayersInAList):
    def __init__(self, width: int = 16, depth: int = 3) -> None:
        super().__init__(width, depth)
        self.layers = nn.ModuleList(self.layers)


class MaskOnTheCpu(nn.Module):
    """A tensor that is made in a call lies on the CPU, whatever it is combined with."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def mask(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.ones(hidden.shape[1], hidden.shape[1]).tril()

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.query(hidden) @ self.key(hidden).transpose(1, 2) * self.mask(hidden)


class MaskOfTheInput(MaskOnTheCpu):
    def mask(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.ones(hidden.shape[1], hidden.shape[1], device=hidden.device).tril()


class WeightsForAMask(nn.Module):
    """Only a call with a mask meets the tensor that stays."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.project = nn.Linear(width, width)
        self.weights = torch.tensor([0.5, 1.0])

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        hidden = self.project(hidden)
        return hidden if mask is None else hidden * self.weights[mask.long()][..., None]


class BufferForAMask(WeightsForAMask):
    def __init__(self, width: int = 16) -> None:
        nn.Module.__init__(self)
        self.project = nn.Linear(width, width)
        self.register_buffer("weights", torch.tensor([0.5, 1.0]))


class NoiseInTraining(nn.Module):
    """Only a call in training meets the tensor that stays."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.project = nn.Linear(width, width)
        self.noise = torch.linspace(0, 0.1, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        hidden = self.project(hidden)
        return hidden + self.noise * torch.randn_like(hidden) if self.training else hidden


class NoiseOfTheInput(NoiseInTraining):
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        hidden = self.project(hidden)
        return hidden + self.noise.to(hidden) * torch.randn_like(hidden) if self.training else hidden


# -- widths ----------------------------------------------------------------------------------------------------------


class NormOfTwice(nn.Module):
    """A normalization of twice as many features as there are."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.project, self.norm = nn.Linear(width, width), nn.LayerNorm(2 * width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.norm(self.project(hidden))


class NormOfAll(NormOfTwice):
    def __init__(self, width: int = 16) -> None:
        super().__init__(width)
        self.norm = nn.LayerNorm(width)


class RecurrentOfHalf(nn.Module):
    """A recurrent layer that takes half of what the convolution before it gives."""

    def __init__(self, n_mels: int = 20, width: int = 16) -> None:
        super().__init__()
        self.front = nn.Conv1d(n_mels, 2 * width, 3, padding=1)
        self.recurrent = nn.GRU(width, width, batch_first=True)

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        """mels: (batch, n_mels, time)"""
        return self.recurrent(self.front(mels).transpose(1, 2))[0]


class RecurrentOfAll(RecurrentOfHalf):
    def __init__(self, n_mels: int = 20, width: int = 16) -> None:
        super().__init__(n_mels, width)
        self.recurrent = nn.GRU(2 * width, width, batch_first=True)


# -- lookups ---------------------------------------------------------------------------------------------------------


class FewerRows(nn.Module):
    """A table with one row less than there are ids."""

    def __init__(self, vocab_size: int = 30, width: int = 16) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab_size - 1, width)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.table(input_ids)


class AllRows(FewerRows):
    def __init__(self, vocab_size: int = 30, width: int = 16) -> None:
        nn.Module.__init__(self)
        self.table = nn.Embedding(vocab_size, width)


class ShiftedIds(AllRows):
    """Ids are moved up by one: nothing says that they do not begin below zero."""

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.table(input_ids + 1)


class CodesOfAHead(nn.Module):
    """A head that draws from one class more than the table has rows."""

    def __init__(self, width: int = 16, n_codes: int = 12) -> None:
        super().__init__()
        self.head, self.table = nn.Linear(width, n_codes + 1), nn.Embedding(n_codes, width)

    def forward(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.head(hidden)
        return scores, self.table(scores.argmax(-1))


class CodesOfAHeadThatFits(CodesOfAHead):
    def __init__(self, width: int = 16, n_codes: int = 12) -> None:
        super().__init__(width, n_codes)
        self.table = nn.Embedding(n_codes + 1, width)


class DroppedLabels(nn.Module):
    """Labels that are dropped in training get a class of their own, which has no row."""

    def __init__(self, num_classes: int = 10, width: int = 16) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.table = nn.Embedding(num_classes, width)

    def forward(self, labels: torch.LongTensor) -> torch.Tensor:
        """labels: (batch,)"""
        if self.training:
            labels = torch.where(torch.rand(labels.shape, device=labels.device) < 0.5, self.num_classes, labels)
        return self.table(labels)


class DroppedLabelsWithARow(DroppedLabels):
    def __init__(self, num_classes: int = 10, width: int = 16) -> None:
        super().__init__(num_classes, width)
        self.table = nn.Embedding(num_classes + 1, width)


# -- lengths ---------------------------------------------------------------------------------------------------------


class PositionsFromOne(nn.Module):
    """Positions start with one, and the last of `max_len` has no row."""

    def __init__(self, max_len: int = 24, width: int = 16) -> None:
        super().__init__()
        self.positions, self.project = nn.Embedding(max_len, width), nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(hidden.shape[1], device=hidden.device) + 1
        return self.project(hidden) + self.positions(positions)


class PositionsFromOneWithARow(PositionsFromOne):
    def __init__(self, max_len: int = 24, width: int = 16) -> None:
        super().__init__(max_len, width)
        self.positions = nn.Embedding(max_len + 1, width)


class TwoFrames(nn.Module):
    """A window of two frames: a single one is too short, which is no mistake."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        frames = self.project(frames)
        return frames[:, 1] - frames[:, 0]


# -- gradients -------------------------------------------------------------------------------------------------------


class NobodyUses(nn.Module):
    """A layer that no call reaches."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.project, self.unused = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.project(hidden)


class SomebodyUses(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.project, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.second(self.project(hidden))


class Detached(nn.Module):
    """What is detached learns nothing."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(hidden).detach())


class Attached(Detached):
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(hidden))


class RootOfZero(nn.Module):
    """A root has no finite slope at zero, where the gain starts."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.gain, self.project = nn.Parameter(torch.zeros(width)), nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.project(hidden) * torch.sqrt(self.gain)


class RootOfMore(RootOfZero):
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.project(hidden) * torch.sqrt(self.gain + 1e-3)
