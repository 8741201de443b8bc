import torch
from torch import nn


class Scales(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.gains = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(depth)])  # expect: ML207
        self.biases = nn.ParameterDict()  # expect: ML207
        for name in ("low", "high"):
            self.biases[name] = nn.Parameter(torch.zeros(width))
        self.gamma = nn.Parameter(torch.ones(width))  # expect: ML207

    def forward(self, x, name):
        for gain in self.gains:
            x = x * gain
        return x * self.gamma[0] + self.biases[name]
