import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.rnn = nn.GRU(width, width, num_layers=2)

    def project(self, x):
        return self.qkv(x).reshape(*x.shape[:2], 3, -1).permute(2, 0, 1, 3)

    def forward(self, x):
        q, k, v = self.project(x)
        y, (first, last) = self.rnn(x)
        a, b = torch.max(q, dim=0)
        c, d, e = torch.max(q)
        f, g = q.chunk(2, dim=-1)
        return q, k, v
