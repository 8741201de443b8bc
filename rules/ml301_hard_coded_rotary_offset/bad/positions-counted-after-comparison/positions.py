import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.longest = longest
        self.frequencies = nn.Parameter(torch.arange(0, width, 2) / width)

    def forward(self, length=None, position=None):
        if position is None and length is None:
            raise ValueError("either positions or their number")
        if length > self.longest:
            raise ValueError("too long")
        if position is None:
            position = torch.arange(length + 10).unsqueeze(0)  # expect: ML301
        angles = position[..., None] * self.frequencies
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Grid(nn.Module):
    def __init__(self, width, patch):
        super().__init__()
        self.patch = patch
        self.frequencies = nn.Parameter(torch.arange(0, width, 2) / width)

    def forward(self, pixels):
        columns = pixels.shape[-1] // self.patch
        angles = torch.arange(columns - 32)[:, None] * self.frequencies  # expect: ML301
        return torch.cat([angles.sin(), angles.cos()], dim=-1)
