import torch
from torch import nn


class Reset(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.state = torch.zeros(width)

    def reset(self, x):
        self.state = torch.zeros_like(x)

    def forward(self, x):
        y = x - self.state
        self.state = y
        return y


class First(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.is_new = True
        self.state = torch.zeros(width)
        self.mean = torch.zeros(width)

    def forward(self, x):
        self.mean = x.mean(0)
        y = x if self.is_new else x - self.state
        self.state = x[0]
        self.is_new = False
        return y - self.mean


class Moving(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.state = torch.zeros(width)

    def forward(self, x):
        y = x - self.state.to(x)
        self.state = y
        return y
