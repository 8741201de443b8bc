import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self, width, few):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.register_buffer("scale", torch.ones(width))
        self.turned = self.lin.weight.T  # expect: ML205
        self.half = self.scale / 2  # expect: ML205
        self.first = self.lin.weight[:few]  # expect: ML205
        self.minus = -self.lin.bias  # expect: ML205

    def forward(self, x):
        y = (self.lin(x) * self.half + self.minus) @ self.turned
        return torch.cat([y, self.first])


class Several(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(width, width)) for _ in range(count)])
        self.transposes = [weight.t() for weight in self.weights]  # expect: ML205

    def forward(self, x):
        for transpose in self.transposes:
            x = x @ transpose
        return x


class Logarithm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(width))])
        self._take_logarithms()

    def _take_logarithms(self):
        self.logarithm = self.weights[0].data.log()  # expect: ML205

    def forward(self, x):
        return x + self.logarithm
