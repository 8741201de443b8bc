import torch
from torch import nn


def angles(width, length):
    steps = 1 / 10_000 ** (torch.arange(0, width, 2).float() / width)
    return torch.outer(torch.arange(length, device=steps.device), steps)


def rotated(x: torch.Tensor, table: torch.Tensor):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * table[:, None, :]).flatten(-2)


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, table: torch.Tensor):
        return rotated(self.query(x), table)


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.attention = Attention(width)
        self._table: torch.Tensor | None = None

    @property
    def device(self):
        return next(self.parameters()).device

    @property
    def table(self):
        if self._table is None:
            self._table = angles(self.width, 128)
        if self._table.device != self.device:
            self._table = self._table.to(device=self.device)
        return self._table

    def forward(self, x: torch.Tensor):
        return self.attention(x, self.table[: x.shape[0]])
