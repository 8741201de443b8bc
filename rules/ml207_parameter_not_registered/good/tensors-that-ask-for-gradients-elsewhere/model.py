import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width), requires_grad=True)
        self.register_parameter("shift", nn.Parameter(torch.zeros(width, requires_grad=True)))

    def forward(self, x):
        return x * self.scale + self.shift

    def penalty(self, x):
        alpha = torch.rand(x.shape[0], 1, device=x.device, requires_grad=True)
        return self(x * alpha).sum()


class Image:
    def __init__(self, size):
        self.pixels = torch.rand(3, size, size, requires_grad=True)
        self.optimizer = torch.optim.LBFGS([self.pixels])

    def step(self, loss):
        return self.optimizer.step(lambda: loss(self.pixels))
