import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, width, max_len=5000):
        super().__init__()
        self.register_buffer("table", torch.zeros(1, max_len, width))

    def forward(self, x):
        return x + self.table[:, : x.size(1)]
