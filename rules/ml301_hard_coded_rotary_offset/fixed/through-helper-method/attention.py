import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def table(self, length, device):
        frequencies = 10000.0 ** -(torch.arange(0, self.dim, 2, device=device) / self.dim)
        angles = torch.arange(length, device=device)[:, None] * frequencies
        return angles.cos(), angles.sin()

    def rotate(self, q, length, positions):
        cos, sin = self.table(length, q.device)
        return q * cos[positions] + q.flip(-1) * sin[positions]

    def forward(self, q, positions):
        length = positions.max() + 1  # expect: ML301
        return self.rotate(q, length, positions)

    def rows(self, q):
        return q.size(1) + 12  # expect: ML301

    def again(self, q, positions):
        return self.rotate(q, self.rows(q), positions)
