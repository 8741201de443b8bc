import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, dim, max_seq_len, scale=1.0):
        super().__init__()
        self.table = nn.Embedding(max_seq_len, dim)
        self.scale = scale

    def forward(self, x):
        return self.scale * self.table(torch.arange(x.shape[1], device=x.device))
