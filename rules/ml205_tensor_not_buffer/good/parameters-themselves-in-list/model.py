import torch
from torch import nn


class Same(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.both = [self.weight, self.bias]
        self.alias = self.weight
        self.single = self.weight.float()
        self.whole = self.weight.contiguous()
        self.learnt = self.bias.requires_grad_()
        self.names = [f"scale{number}" for number in range(3)]
        for name in self.names:
            self.register_buffer(name, torch.ones(width))

    def forward(self, x):
        for name in self.names:
            x = x * getattr(self, name)
        weight, bias = self.both
        return x * weight + bias + self.alias * self.single * self.whole + self.learnt


class Numbers(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))
        self.logit = nn.Parameter(torch.tensor(1.0))
        self.norm = self.weight.norm()
        self.twice = self.logit * 2
        self.shape = self.weight.shape
        self.rows = self.weight.size(0)

    def forward(self, x):
        return x @ self.weight / self.norm * self.twice * self.rows
