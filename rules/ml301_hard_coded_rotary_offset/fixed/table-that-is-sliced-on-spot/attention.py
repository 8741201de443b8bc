import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, longest=4096):
        super().__init__()
        angles = torch.arange(longest)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("cosines", torch.cos(angles))

    def forward(self, q, offset, position_ids):
        cosines = self.cosines[: position_ids.max() + 1]  # expect: ML301
        return q * cosines[position_ids]

    def step(self, q, starts, position_ids):
        return q * self.cosines[: position_ids.max() + 1][position_ids]  # expect: ML301
