import torch
from torch import nn


class LearnedPositions(nn.Embedding):
    def __init__(self, longest, width):
        self.offset = 2
        super().__init__(longest + self.offset, width)

    def forward(self, ids, past=0):
        positions = torch.arange(past, past + ids.shape[1], device=ids.device)
        return super().forward(positions + self.offset)


class SinusoidalPositions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def table(self, rows):
        angles = torch.arange(rows)[:, None] / 10000.0 ** (torch.arange(0, self.width, 2) / self.width)
        return torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1)

    def forward(self, ids, positions):
        weights = self.table(ids.shape[1] + 2)
        return weights[positions + 2]
