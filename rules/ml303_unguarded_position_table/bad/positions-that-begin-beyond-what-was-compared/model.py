import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.longest = longest
        self.table = nn.Embedding(longest, width)  # expect: ML303

    def forward(self, x, positions=None, offset=None):
        length = x.shape[1]
        assert length <= self.longest, f"at most {self.longest} tokens"
        if positions is None:
            positions = torch.arange(length, device=x.device)
        if offset is not None:
            positions = positions + offset[..., None]
        return x + self.table(positions)


class Continued(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Embedding(512, width)  # expect: ML303

    def forward(self, x, past: int = 0):
        return x + self.table(torch.arange(past, past + x.size(1)))
