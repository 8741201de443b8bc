import torch
from torch import nn


class Difference(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("before", torch.zeros(width), persistent=False)  # expect: ML205

    def forward(self, x):
        change = x - self.before
        self.before = x.detach().mean(0)
        return change


class Past(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("past", torch.zeros(1, width), persistent=False)  # expect: ML205

    def forward(self, x):
        both = torch.cat([self.past, x])
        self.past = x[-1:]
        return both


class Leaky(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("state", torch.zeros(width), persistent=False)  # expect: ML205

    def reset(self):
        self.state = torch.zeros_like(self.state)

    def forward(self, x):
        self.state = torch.tanh(x + self.state)
        return self.state
