import torch
from torch import nn


class Streaming(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(width, width)
        self.state = None
        self.attention = None
        self.last = None

    def reset(self):
        self.state = self.last = None

    def forward(self, x, keep=False):
        self.state = self.cell(x, self.state)
        if keep:
            self.attention = self.state.detach()
        if self.last is None:
            self.last = self.state
        return self.last + self.state


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.order = None
        self.peak = None

    def forward(self, x):
        if self.order is None:
            self.order = torch.arange(x.shape[1]).flip(0)
        if self.peak is None:
            self.peak = x.abs().max().item()
        return x[:, self.order] / self.peak
