import torch
from torch import nn


class Registered(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))
        self.register_buffer("scale", torch.ones(width))
        self.register_buffer("half", self.scale / 2)
        self.register_buffer("later", None)
        self.later = self.scale * 3
        self.scale = self.scale * 4
        self.turned = nn.Parameter(self.weight.T.clone())
        self.start = self.weight.detach().clone()
        self.sum = self.weight.sum(0)

    def forward(self, x):
        y = (x * self.half + self.later) @ self.turned * self.scale
        return y + self.start.to(x.device).mean(0) + self.sum.to(x.device)


class Switched(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(width, width))
        self.register_buffer("mixture", None, persistent=False)
        self.steps = 0

    def train(self, mode=True):
        super().train(mode)
        self.mixture = None if mode else self.logits.softmax(-1)
        self.steps = self.steps + 1
        return self

    def forward(self, x):
        return x @ (self.logits.softmax(-1) if self.mixture is None else self.mixture)
